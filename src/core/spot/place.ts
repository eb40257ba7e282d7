import { refuse } from '../../labels.ts'
import { ZERO, min, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import { guardOrder } from '../unified/guard.ts'
import type { User } from '../users/users.ts'
import type { Market } from '../world/markets.ts'
import { borrowMissing, orderAccount } from './accounts.ts'
import { afterEnd, bookChanged, canFill, hold, release, sweep, type SweepEnd, type Taker } from './match.ts'
import {
  type AttachedStop,
  type FinishAs,
  type Order,
  type OrderAccount,
  type OrderExtras,
  type OrderType,
  type Side,
  type StpAct,
  type TimeInForce,
} from './order.ts'
import {
  checkBuysLot,
  checkMarketCap,
  checkOpen,
  checkProtected,
  checkSize,
  checkStops,
  checkText,
  checkUnused,
  marketBound,
  readBase,
  readIceberg,
  readPrice,
  readQuote,
} from './rules.ts'
import { termsOf } from './settle.ts'

/** An order as a client sends it; null is left out. */
export interface NewOrder {
  readonly text: string | null
  readonly currency_pair: string
  readonly type: OrderType
  readonly account: OrderAccount | null
  readonly side: Side
  readonly amount: string
  readonly price: string | null
  readonly time_in_force: TimeInForce | null
  readonly iceberg: string | null
  readonly auto_borrow: boolean | null
  readonly auto_repay: boolean | null
  readonly stp_act: StpAct | null
  readonly slippage: string | null
  readonly stop_profit: AttachedStop | null
  readonly stop_loss: AttachedStop | null
  /** The program that sent it, as its header tells. */
  readonly channel?: string
}
/** The same, checked and in numbers. */
interface Draft {
  readonly user: User
  readonly market: Market
  readonly account: OrderAccount
  readonly side: Side
  readonly type: OrderType
  readonly time_in_force: TimeInForce
  readonly text: string
  readonly price: Price
  readonly amount: Amount
  readonly iceberg: Amount
  readonly bound: Price | undefined
  readonly stp_id: number
  readonly stp_act: StpAct | '-'
  readonly more: OrderExtras | null
}

/** Checks an order, holds its money, matches it, and leaves it resting or ended. */
/** `liquidation` is the text of an order that the platform places to liquidate an account. */
export function placeOrder(
  ctx: Ctx,
  userId: number,
  input: NewOrder,
  origin?: string,
  liquidation?: string,
): Order {
  const draft = readDraft(ctx, userId, input, origin, liquidation)
  return liquidation === undefined
    ? guardOrder(ctx, userId, draft, () => matchDraft(ctx, draft))
    : matchDraft(ctx, draft)
}
function matchDraft(ctx: Ctx, draft: Draft): Order {
  const { market } = draft
  const id = nextId(ctx.tx, ctx.state.counters, 'order')
  const taker = takerOf(ctx, draft, id)
  refuseAtOnce(ctx, draft, taker)
  borrowMissing(ctx, draft, taker.held)
  hold(ctx, taker, market, taker.held)
  const end = sweep(ctx, taker)
  const order = finish(ctx, draft, taker, end)
  bookChanged(ctx, market)
  return order
}

function readDraft(
  ctx: Ctx,
  userId: number,
  input: NewOrder,
  origin: string | undefined,
  liquidation: string | undefined,
): Draft {
  const { state, at } = ctx
  const user = state.users.must(userId)
  const market = state.world.market(input.currency_pair)
  const text = liquidation ?? checkText(input.text)
  const { side, type } = input
  const time_in_force = checkTimeInForce(type, input.time_in_force)
  const account = orderAccount(state, user, input.account)
  checkOpen(market, side, at)
  const figures = type === 'limit' ? limitFigures(state, market, input) : marketFigures(state, market, input)
  if (figures.iceberg > 0n && (time_in_force === 'ioc' || time_in_force === 'fok'))
    refuse(
      'INVALID_PARAM_VALUE',
      `iceberg: an order of time_in_force ${time_in_force} never rests; leave it out`,
    )
  const stp_id = state.stp.groupOf(userId)
  if (input.stp_act !== null && stp_id === 0)
    refuse(
      'INVALID_PARAM_VALUE',
      `stp_act: "${input.stp_act}" needs an account in an STP group; POST /account/stp_groups makes one`,
    )
  checkUnused(state, userId, text)
  return {
    user,
    market,
    account,
    side,
    type,
    time_in_force,
    text,
    ...figures,
    stp_id,
    stp_act: input.stp_act ?? '-',
    more: extrasOf(market, input, origin),
  }
}

function checkTimeInForce(type: OrderType, given: TimeInForce | null): TimeInForce {
  if (type === 'limit') return given ?? 'gtc'
  if (given === 'gtc' || given === 'poc')
    refuse('INVALID_PARAM_VALUE', `time_in_force: a market order is ioc or fok, not ${given}`)
  return given ?? 'ioc'
}

type Figures = Pick<Draft, 'price' | 'amount' | 'iceberg' | 'bound'>
function limitFigures(state: State, market: Market, input: NewOrder): Figures {
  if (input.price === null)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: price (of a limit order)')
  const price = readPrice(market, input.price)
  const amount = readBase(market, input.amount)
  checkSize(market, amount, timesDown(amount, price))
  checkProtected(state, market, input.side, price)
  return { price, amount, iceberg: readIceberg(market, input.iceberg, amount), bound: price }
}
function marketFigures(state: State, market: Market, input: NewOrder): Figures {
  const { side } = input
  const amount = side === 'buy' ? readQuote(market, input.amount) : readBase(market, input.amount)
  if (input.iceberg !== null && readIceberg(market, input.iceberg, amount) > 0n)
    refuse('INVALID_PARAM_VALUE', 'iceberg: a market order never rests; leave it out')
  const best = state.spot.book(market.id).facing(side)
  if (best === undefined)
    refuse(
      'ORDER_BOOK_NOT_FOUND',
      `there is nothing to ${side} on the ${market.id} book; place a limit order, or try again later`,
    )
  if (side === 'buy') {
    checkSize(market, undefined, amount)
    checkBuysLot(market, amount, best.price)
  }
  if (side === 'sell') checkSize(market, amount, timesDown(amount, best.price))
  checkMarketCap(market, side, amount)
  return {
    price: 0n as Price,
    amount,
    iceberg: ZERO,
    bound: marketBound(state, market, side, input.slippage),
  }
}

function extrasOf(market: Market, input: NewOrder, origin: string | undefined): OrderExtras | null {
  const { stop_profit, stop_loss, slippage, auto_borrow, auto_repay, channel } = input
  if (
    stop_profit === null &&
    stop_loss === null &&
    slippage === null &&
    auto_borrow !== true &&
    auto_repay !== true &&
    origin === undefined &&
    channel === undefined
  )
    return null
  checkStops(market, { stop_profit, stop_loss })
  return {
    ...(slippage !== null && { slippage }),
    ...(auto_borrow === true && { auto_borrow }),
    ...(auto_repay === true && { auto_repay }),
    ...(stop_profit !== null && { stop_profit }),
    ...(stop_loss !== null && { stop_loss }),
    ...(origin !== undefined && { origin }),
    ...(channel !== undefined && { channel }),
  }
}

function takerOf(ctx: Ctx, draft: Draft, id: number): Taker {
  const { market, side, amount, price } = draft
  const byQuote = draft.type === 'market' && side === 'buy'
  return {
    id,
    user_id: draft.user.user_id,
    side,
    account: draft.account,
    text: draft.text,
    amend_text: '-',
    market,
    terms: termsOf(ctx.state, draft.user.user_id, market),
    bound: draft.bound,
    byQuote,
    stp_id: draft.stp_id,
    stp_act: draft.stp_act,
    left: amount,
    filled: ZERO,
    filled_total: ZERO,
    held: side === 'sell' || byQuote ? amount : timesDown(amount, price),
    fee: ZERO,
    gt_fee: ZERO,
    point_fee: ZERO,
  }
}

/** Post-only that would take, and fill-or-kill that can't be filled, leave no order behind. */
export function refuseAtOnce(
  ctx: Ctx,
  order: Pick<Order, 'time_in_force' | 'side' | 'price'>,
  taker: Taker,
): void {
  if (order.time_in_force === 'poc') {
    const facing = ctx.state.spot.book(taker.market.id).facing(order.side)
    if (
      facing !== undefined &&
      (order.side === 'buy' ? facing.price <= order.price : facing.price >= order.price)
    )
      refuse(
        'POC_FILL_IMMEDIATELY',
        'a post-only order (time_in_force poc) would match at once; choose a price on your own side of the book',
      )
  }
  if (order.time_in_force === 'fok' && !canFill(ctx, taker))
    refuse('FOK_NOT_FILL', 'a fill-or-kill order (time_in_force fok) can not be filled at once and in full')
}

/** How a matched order goes on: resting with what is left, or ended with a word for it. */
function outcome(draft: Draft, end: SweepEnd): FinishAs {
  if (end === 'filled') return 'filled'
  if (end === 'stp') return 'stp'
  if (draft.type === 'market' && end === 'bound') return 'price_protect_cancelled'
  return draft.time_in_force === 'ioc' || draft.time_in_force === 'fok' ? 'ioc' : 'open'
}
function finish(ctx: Ctx, draft: Draft, taker: Taker, end: SweepEnd): Order {
  const { state, tx, at } = ctx
  const { market, side, price } = draft
  const finish_as = outcome(draft, end)
  const rests = finish_as === 'open'
  const needed = !rests ? ZERO : side === 'buy' ? timesDown(taker.left, price) : taker.left
  release(
    ctx,
    taker,
    market,
    (taker.held - needed) as Amount,
    rests || finish_as === 'filled' ? 'order_fill' : 'cancel_order',
  )
  const order: Order = {
    id: taker.id,
    user_id: taker.user_id,
    pair: market.id,
    side,
    type: draft.type,
    account: draft.account,
    time_in_force: draft.time_in_force,
    text: draft.text,
    amend_text: '-',
    price,
    amount: draft.amount,
    left: taker.left,
    filled: taker.filled,
    filled_total: taker.filled_total,
    held: needed,
    fee: taker.fee,
    gt_fee: taker.gt_fee,
    point_fee: taker.point_fee,
    iceberg: draft.iceberg,
    shown: draft.iceberg === 0n ? taker.left : min(draft.iceberg, taker.left),
    refreshed: false,
    rank: rests ? nextId(tx, state.counters, 'rank') : 0,
    stp_id: draft.stp_id,
    stp_act: draft.stp_act,
    status: rests ? 'open' : finish_as === 'filled' ? 'closed' : 'cancelled',
    finish_as,
    create_at: at,
    update_at: at,
    more: draft.more,
  }
  tx.put(state.spot.orders, order)
  if (!rests) afterEnd(ctx, market, order)
  return order
}
