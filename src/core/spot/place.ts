import { type FreeName } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import { ZERO, format, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Mutable } from '../../machine/table.ts'
import { refuseShortage } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { guardOrder } from '../unified/guard.ts'
import type { User } from '../tables/users.ts'
import type { Market } from '../tables/world/markets.ts'
import { borrowMissing, freeName, orderAccount } from './accounts.ts'
import { SPOT, hold, release } from './venue.ts'
import * as engine from '../exchange/engine.ts'
import type { SpotTaker } from './settle.ts'
import {
  OrderRow,
  stopsIn,
  type Placed,
  type AttachedStop,
  type FinishAs,
  type Order,
  type OrderAccount,
  type SpotAccount,
  type OrderExtras,
  type OrderType,
  type Side,
  type StpAct,
  type TimeInForce,
} from '../tables/exchange/order.ts'
import {
  CROSS_LIQUIDATE,
  checkBuysLot,
  checkMarketCap,
  checkOpen,
  checkPriceOrderRoom,
  checkProtected,
  checkRoom,
  checkSize,
  checkStops,
  checkText,
  checkTradeQuote,
  checkUnused,
  marketBound,
  readBase,
  readIceberg,
  readPrice,
  readQuote,
} from './rules.ts'

/** An order as a client sends it; null is left out. */
export interface NewOrder {
  readonly text: string | null
  readonly currency_pair: string
  readonly type: OrderType
  readonly account: SpotAccount | null
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
  /** The currency that the price is in, where the client names it. */
  readonly trade_quote?: string
}
/** The same as it is recorded: what its client left out takes no room there, for ever. */
export type SentOrder = Pick<NewOrder, 'currency_pair' | 'type' | 'side' | 'amount'> & Partial<NewOrder>
/** Members one by one: this is done for every order. */
export function wholeOrder(sent: SentOrder): NewOrder {
  const order: Mutable<NewOrder> = {
    text: sent.text ?? null,
    currency_pair: sent.currency_pair,
    type: sent.type,
    account: sent.account ?? null,
    side: sent.side,
    amount: sent.amount,
    price: sent.price ?? null,
    time_in_force: sent.time_in_force ?? null,
    iceberg: sent.iceberg ?? null,
    auto_borrow: sent.auto_borrow ?? null,
    auto_repay: sent.auto_repay ?? null,
    stp_act: sent.stp_act ?? null,
    slippage: sent.slippage ?? null,
    stop_profit: sent.stop_profit ?? null,
    stop_loss: sent.stop_loss ?? null,
  }
  if (sent.channel !== undefined) order.channel = sent.channel
  if (sent.trade_quote !== undefined) order.trade_quote = sent.trade_quote
  return order
}
/** What most orders leave out. */
export const PLAIN = {
  text: null,
  account: null,
  iceberg: null,
  auto_borrow: null,
  auto_repay: null,
  stp_act: null,
  slippage: null,
  stop_profit: null,
  stop_loss: null,
} as const satisfies Partial<NewOrder>
/** What a liquidation's order has of its own. */
export interface LiquidationTerms {
  readonly text: string
  /** The worst price. */
  readonly bound: Price
}
/** The same, checked and in numbers. */
interface Draft {
  readonly user: User
  readonly market: Market
  readonly account: OrderAccount
  readonly side: Side
  readonly placed: Placed
  readonly bound: Price | undefined
  /** Price x amount, or a market buy's amount. */
  readonly value: Amount
  readonly more: OrderExtras | null
}

/**
 * Checks an order, holds its money, matches it, and leaves it resting or ended. `liquidation` is what an order that
 * the platform places to liquidate an account has instead of a client's text and of a bound by our own last price.
 */
export function placeOrder(
  ctx: Ctx,
  userId: number,
  input: NewOrder,
  origin?: string,
  liquidation?: LiquidationTerms,
): Order {
  const draft = readDraft(ctx, userId, input, origin, liquidation)
  return liquidation === undefined
    ? guardOrder(ctx, userId, draft, () => matchDraft(ctx, draft))
    : matchDraft(ctx, draft)
}
function matchDraft(ctx: Ctx, draft: Draft): Order {
  const { market, placed, side, value } = draft
  let taker: SpotTaker = {
    order: OrderRow.first(placed, side === 'sell' ? placed.amount : value),
    market,
    terms: undefined,
    bound: draft.bound,
    byQuote: placed.type === 'market' && side === 'buy',
  }
  refuseAtOnce(ctx, taker)
  const borrowed = borrowMissing(ctx, draft, taker.order.held)
  if (borrowed > 0n) {
    // When it ends unfilled it gives back this, and none of what its owner had.
    const more = { ...placed.more, borrowed: format(borrowed) }
    taker = { ...taker, order: taker.order.amended({ more }) }
  }
  hold(ctx, taker.order, market, taker.order.held)
  const end = engine.sweep(ctx, SPOT, taker)
  const order = settleDown(ctx, taker, finishAs(placed, end), placed.id)
  engine.bookChanged(ctx, ctx.state.spot, market.id)
  return order
}

function readDraft(
  ctx: Ctx,
  userId: number,
  input: NewOrder,
  origin: string | undefined,
  liquidation: LiquidationTerms | undefined,
): Draft {
  const { state, at } = ctx
  const user = state.users.must(userId)
  const market = state.world.market(input.currency_pair)
  checkTradeQuote(market, input.trade_quote)
  const text = liquidation?.text ?? checkText(input.text)
  const { side, type } = input
  const time_in_force = checkTimeInForce(type, input.time_in_force)
  const account = orderAccount(state, user, input.account)
  if (origin !== CROSS_LIQUIDATE) checkOpen(market, side, at)
  const figures =
    type === 'limit'
      ? limitFigures(state, market, input)
      : marketFigures(state, market, input, userId, freeName(account, market.id))
  if (figures.iceberg > 0n && (time_in_force === 'ioc' || time_in_force === 'fok'))
    refuse(
      'INVALID_PARAM_VALUE',
      `iceberg: an order of time_in_force ${time_in_force} never rests; leave it out`,
    )
  // Nobody escapes his liquidation behind an order of his own group.
  const stp_id = liquidation === undefined ? state.stp.groupOf(userId) : 0
  if (input.stp_act !== null && stp_id === 0)
    refuse(
      'INVALID_PARAM_VALUE',
      `stp_act: "${input.stp_act}" needs an account in an STP group; POST /account/stp_groups makes one`,
    )
  checkUnused(state, userId, text)
  if (time_in_force === 'gtc' || time_in_force === 'poc') checkRoom(state, userId, market)
  const more = extrasOf(market, input, origin)
  if (more !== null) checkPriceOrderRoom(state, userId, stopsIn(more))
  const placed: Placed = {
    id: nextId(ctx.tx, state.counters, 'order'),
    user_id: userId,
    pair: market.id,
    side,
    type,
    account,
    time_in_force,
    text,
    amend_text: '-',
    price: figures.price,
    amount: figures.amount,
    iceberg: figures.iceberg,
    stp_id,
    stp_act: input.stp_act ?? '-',
    create_at: at,
    more,
    row: undefined,
    rank: 0,
    level: undefined,
    previous: undefined,
    next: undefined,
    openIndex: 0,
    openList: undefined,
  }
  const bound = liquidation?.bound ?? figures.bound
  return { user, market, account, side, placed, bound, value: figures.value, more }
}

function checkTimeInForce(type: OrderType, given: TimeInForce | null): TimeInForce {
  if (type === 'limit') return given ?? 'gtc'
  if (given === 'gtc' || given === 'poc')
    refuse('INVALID_PARAM_VALUE', `time_in_force: a market order is ioc or fok, not ${given}`)
  return given ?? 'ioc'
}

type Figures = Pick<Placed, 'price' | 'amount' | 'iceberg'> & Pick<Draft, 'bound' | 'value'>
function limitFigures(state: State, market: Market, input: NewOrder): Figures {
  if (input.price === null)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: price (of a limit order)')
  const price = readPrice(market, input.price)
  const amount = readBase(market, input.amount)
  const value = timesDown(amount, price)
  checkSize(market, amount, value)
  checkProtected(state, market, input.side, price)
  return { price, amount, iceberg: readIceberg(market, input.iceberg, amount), bound: price, value }
}
function marketFigures(
  state: State,
  market: Market,
  input: NewOrder,
  userId: number,
  from: FreeName,
): Figures {
  const { side } = input
  const amount = side === 'buy' ? readQuote(market, input.amount) : readBase(market, input.amount)
  if (input.iceberg !== null && readIceberg(market, input.iceberg, amount) > 0n)
    refuse('INVALID_PARAM_VALUE', 'iceberg: a market order never rests; leave it out')
  const best = state.spot.book(market.id).facing(side)
  if (best === undefined) {
    // Whoever lacks the money is told that first: it would be so on a full book, too.
    const currency = side === 'buy' ? market.quote : market.base
    const available = state.ledger.balance(userId, from, currency)
    if (available < amount && input.auto_borrow !== true) refuseShortage(from, currency, available, amount)
    refuse(
      'ORDER_BOOK_NOT_FOUND',
      `there is nothing to ${side} on the ${market.id} book; place a limit order, or try again later`,
    )
  }
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
    value: amount,
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

/** Post-only that would take, and fill-or-kill that can't be filled, leave no order behind. */
export function refuseAtOnce(ctx: Ctx, taker: SpotTaker): void {
  const { time_in_force } = taker.order
  if (time_in_force === 'poc' && engine.wouldTake(ctx.state.spot, taker))
    refuse(
      'POC_FILL_IMMEDIATELY',
      'a post-only order (time_in_force poc) would match at once; choose a price on your own side of the book',
    )
  if (time_in_force === 'fok' && !engine.canFill(ctx.state.spot, taker))
    refuse('FOK_NOT_FILL', 'a fill-or-kill order (time_in_force fok) can not be filled at once and in full')
}

/** How a matched order goes on: resting with what is left, or ended with a word for it. */
function finishAs({ type, time_in_force }: Placed, end: engine.SweepEnd): FinishAs {
  if (end === 'filled') return 'filled'
  if (end === 'stp') return 'stp'
  if (type === 'market' && end === 'bound') return 'price_protect_cancelled'
  return time_in_force === 'ioc' || time_in_force === 'fok' ? 'ioc' : 'open'
}

/** What an order must hold for what is left of it. */
function neededFor({ side, filled, held, left, price }: OrderRow): Amount {
  if (filled === 0n) return held
  return side === 'buy' ? timesDown(left, price) : left
}

/** After the sweep: what it no longer needs goes back, and the order rests or has ended. */
export function settleDown(ctx: Ctx, taker: SpotTaker, finish_as: FinishAs, rank: number): OrderRow {
  const { order, market } = taker
  const rests = finish_as === 'open'
  const needed = rests ? neededFor(order) : ZERO
  const word = rests || finish_as === 'filled' ? 'order_fill' : 'cancel_order'
  release(ctx, order, market, (order.held - needed) as Amount, word)
  order.held = needed
  return engine.settleDown(ctx, SPOT, taker, finish_as, rank)
}
