import { refuse } from '../../labels.ts'
import { ZERO, min, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import { guardOrder } from '../unified/guard.ts'
import type { Market } from '../world/markets.ts'
import { afterEnd, bookChanged, endOrder, hold, release, sweep, type Taker } from './match.ts'
import type { AttachedStop, FinishAs, Order } from './order.ts'
import { refuseAtOnce } from './place.ts'
import { checkOpen, checkProtected, checkSize, checkStops, readBase, readPrice } from './rules.ts'
import { termsOf } from './settle.ts'

export interface Amendment {
  readonly amount: string | null
  readonly price: string | null
  readonly amend_text: string | null
  readonly stop_profit: AttachedStop | null
  readonly stop_loss: AttachedStop | null
}

/**
 * A smaller amount keeps its place; another price or a larger amount goes to the end of the queue, and may
 * match on the way there. The amount is the new total, with what is filled in it.
 */
export function amendOrder(ctx: Ctx, order: Order, change: Amendment): Order {
  const market = ctx.state.world.market(order.pair)
  const stops = change.stop_profit !== null || change.stop_loss !== null
  if (change.amount === null && change.price === null && !stops)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: amount or price (at least one of them)')
  if (order.type === 'market')
    refuse('INVALID_PARAM_VALUE', 'a market order never rests, so it can not be amended')
  checkStops(market, { stop_profit: change.stop_profit, stop_loss: change.stop_loss })
  const amount = change.amount === null ? order.amount : readBase(market, change.amount)
  const price = change.price === null ? order.price : readPrice(market, change.price)
  if (amount === order.amount && price === order.price && !stops)
    refuse('NO_CHANGE', `order ${order.id} has this amount and price already`)
  const named = withStops({ ...order, amend_text: change.amend_text ?? '-', update_at: ctx.at }, change)
  if (amount < order.filled) return cancelled(ctx, market, named)
  if (price !== order.price || amount !== order.amount) {
    checkSize(market, amount, timesDown(amount, price))
    checkProtected(ctx.state, market, order.side, price)
  }
  const { account, side } = order
  return guardOrder(ctx, order.user_id, { account, side, market }, () =>
    price === order.price && amount <= order.amount
      ? shrink(ctx, market, named, amount)
      : requeue(ctx, market, named, amount, price),
  )
}

function withStops(order: Order, { stop_profit, stop_loss }: Amendment): Order {
  if (stop_profit === null && stop_loss === null) return order
  return {
    ...order,
    more: {
      ...order.more,
      ...(stop_profit !== null && { stop_profit }),
      ...(stop_loss !== null && { stop_loss }),
    },
  }
}
function cancelled(ctx: Ctx, market: Market, order: Order): Order {
  const ended = endOrder(ctx, market, order, 'cancelled')
  bookChanged(ctx, market)
  return ended
}

const needs = (order: Order, left: Amount, price: Price): Amount =>
  order.side === 'buy' ? timesDown(left, price) : left

/** Less to do at the same price: the place in the queue stays. */
function shrink(ctx: Ctx, market: Market, order: Order, amount: Amount): Order {
  const left = (amount - order.filled) as Amount
  const held = needs(order, left, order.price)
  release(ctx, order, market, (order.held - held) as Amount, 'cancel_order')
  const done = left === 0n
  const shrunk: Order = {
    ...order,
    amount,
    left,
    held,
    shown: order.iceberg === 0n ? left : min(order.shown, left),
    status: done ? 'closed' : 'open',
    finish_as: done ? 'filled' : 'open',
  }
  ctx.tx.put(ctx.state.spot.orders, shrunk)
  if (done) afterEnd(ctx, market, shrunk)
  bookChanged(ctx, market)
  return shrunk
}

/** Off the book, matched as a newcomer would be, and back at the end of its queue with what is left. */
function requeue(ctx: Ctx, market: Market, order: Order, amount: Amount, price: Price): Order {
  const { state, tx } = ctx
  checkOpen(market, order.side, ctx.at)
  const left = (amount - order.filled) as Amount
  const held = needs(order, left, price)
  if (held > order.held) hold(ctx, order, market, (held - order.held) as Amount)
  else release(ctx, order, market, (order.held - held) as Amount, 'cancel_order')
  const off: Order = { ...order, amount, price, left, held, rank: 0 }
  tx.put(state.spot.orders, off)
  const taker = takerOf(ctx, market, off)
  refuseAtOnce(ctx, off, taker)
  const end = sweep(ctx, taker)
  const finish_as: FinishAs = end === 'filled' ? 'filled' : end === 'stp' ? 'stp' : 'open'
  const rests = finish_as === 'open'
  const needed = rests ? needs(off, taker.left, price) : ZERO
  release(
    ctx,
    taker,
    market,
    (taker.held - needed) as Amount,
    finish_as === 'stp' ? 'cancel_order' : 'order_fill',
  )
  const { filled, filled_total, fee, gt_fee, point_fee } = taker
  const amended: Order = {
    ...off,
    left: taker.left,
    filled,
    filled_total,
    fee,
    gt_fee,
    point_fee,
    held: needed,
    shown: off.iceberg === 0n ? taker.left : min(off.iceberg, taker.left),
    rank: rests ? nextId(tx, state.counters, 'rank') : 0,
    status: rests ? 'open' : finish_as === 'filled' ? 'closed' : 'cancelled',
    finish_as,
  }
  tx.put(state.spot.orders, amended)
  if (!rests) afterEnd(ctx, market, amended)
  bookChanged(ctx, market)
  return amended
}

function takerOf(ctx: Ctx, market: Market, order: Order): Taker {
  const { id, user_id, side, account, text, amend_text, stp_id, stp_act } = order
  const { left, filled, filled_total, held, fee, gt_fee, point_fee } = order
  return {
    ...{ id, user_id, side, account, text, amend_text, stp_id, stp_act },
    ...{ left, filled, filled_total, held, fee, gt_fee, point_fee },
    market,
    terms: termsOf(ctx.state, user_id, market),
    bound: order.price,
    byQuote: false,
  }
}
