import { refuse } from '../../labels.ts'
import { min, timesDown, type Amount, type Price } from '../../money/amount.ts'
import type { Ctx } from '../state.ts'
import { guardOrder } from '../unified/guard.ts'
import type { Market } from '../tables/world/markets.ts'
import { bookChanged, nextRank, sweep } from '../exchange/engine.ts'
import { SPOT, afterEnd, hold, release, takeOff } from './venue.ts'
import type { SpotTaker } from './settle.ts'
import {
  stopsIn,
  type AttachedStop,
  type Order,
  type OrderExtras,
  type OrderRow,
} from '../tables/exchange/order.ts'
import { refuseAtOnce, settleDown } from './place.ts'
import {
  checkOpen,
  checkPriceOrderRoom,
  checkProtected,
  checkSize,
  checkStops,
  readBase,
  readPrice,
} from './rules.ts'

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
export function amendOrder(ctx: Ctx, order: OrderRow, change: Amendment): Order {
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
  const more = withStops(order.more, change)
  if (stops) checkPriceOrderRoom(ctx.state, order.user_id, stopsIn(more) - stopsIn(order.more))
  const named = order.amended({ amend_text: change.amend_text ?? '-', more })
  named.update_at = ctx.at
  if (amount < order.filled) return takeOff(ctx, market, named, 'cancelled')
  // Of one that is filled by it nothing is left to be measured.
  if (amount > order.filled && (price !== order.price || amount !== order.amount)) {
    checkSize(market, amount, timesDown(amount, price))
    checkProtected(ctx.state, market, order.side, price)
  }
  // Less of the same is part of a cancellation: it always passes.
  if (price === order.price && amount <= order.amount) return shrink(ctx, market, named, amount)
  const { account, side, id } = order
  const placed = { type: order.type, amount: (amount - order.filled) as Amount }
  return guardOrder(ctx, order.user_id, { account, side, market, bound: price, placed, replaces: id }, () =>
    requeue(ctx, market, named, amount, price),
  )
}

function withStops(more: OrderExtras | null, { stop_profit, stop_loss }: Amendment): OrderExtras | null {
  if (stop_profit === null && stop_loss === null) return more
  return {
    ...more,
    ...(stop_profit !== null && { stop_profit }),
    ...(stop_loss !== null && { stop_loss }),
  }
}

const needs = (order: Order, left: Amount, price: Price): Amount =>
  order.side === 'buy' ? timesDown(left, price) : left

/** Less to do at the same price: the place in the queue stays. */
function shrink(ctx: Ctx, market: Market, order: OrderRow, amount: Amount): Order {
  const left = (amount - order.filled) as Amount
  const held = needs(order, left, order.price)
  release(ctx, order, market, (order.held - held) as Amount, 'cancel_order')
  const done = left === 0n
  const shrunk = order.amended({ amount })
  shrunk.left = left
  shrunk.held = held
  shrunk.shown = order.iceberg === 0n ? left : min(order.shown, left)
  if (done) {
    shrunk.status = 'closed'
    shrunk.finish_as = 'filled'
  }
  ctx.tx.put(ctx.state.spot.orders, shrunk)
  if (done) afterEnd(ctx, market, shrunk)
  bookChanged(ctx, ctx.state.spot, market.id)
  return shrunk
}

/** Off the book, matched as a newcomer would be, and back at the end of its queue with what is left. */
function requeue(ctx: Ctx, market: Market, order: OrderRow, amount: Amount, price: Price): Order {
  const { state, tx } = ctx
  checkOpen(market, order.side, ctx.at)
  const left = (amount - order.filled) as Amount
  const held = needs(order, left, price)
  if (held > order.held) hold(ctx, order, market, (held - order.held) as Amount)
  else release(ctx, order, market, (order.held - held) as Amount, 'cancel_order')
  const off = order.amended({ amount, price })
  off.left = left
  off.held = held
  off.rank = 0
  tx.put(state.spot.orders, off)
  const taker: SpotTaker = {
    order: off.copy(),
    market,
    terms: undefined,
    bound: price,
    byQuote: false,
  }
  refuseAtOnce(ctx, taker)
  const end = sweep(ctx, SPOT, taker)
  const amended = settleDown(
    ctx,
    taker,
    end === 'filled' || end === 'stp' ? end : 'open',
    nextRank(ctx, SPOT),
  )
  bookChanged(ctx, ctx.state.spot, market.id)
  return amended
}
