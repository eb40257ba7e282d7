import { ZERO, min, overDown, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import type { Exchange } from '../tables/exchange/exchange.ts'
import { opposite, type FinishAs, type OrderRow } from '../tables/exchange/order.ts'
import type { Charge } from '../tables/exchange/trades.ts'

/** What an engine must know of a market: its name, and the step of its amounts. */
export interface Listed {
  readonly id: string
  readonly lot: Amount
}
/** The order that is being matched: a row that is written on until it rests or ends, and then put. */
export interface Taker<M extends Listed = Listed> {
  readonly order: OrderRow
  readonly market: M
  /** The worst price it takes; undefined: any. */
  readonly bound: Price | undefined
  /** A market buy that names what it spends: `left` is quote, not base. */
  readonly byQuote: boolean
}
/** What a fill was worth, and what each side paid for it. */
export interface Settled {
  readonly value: Amount
  readonly taker: Charge
  readonly maker: Charge
}
/**
 * What one venue does in its own way. The engine knows prices, time and who is whom; money, margin and what ends with
 * an order are the venue's.
 */
export interface Venue<T extends Taker> {
  exchange(state: State): Exchange
  /** Counts its orders, and their places in the queue. */
  readonly counter: string
  /** Whether the ledger holds money for orders. */
  readonly holds: boolean
  /** How much of a fill the resting order may take part in; none: it has ended instead. Left out: all of it. */
  admit?(ctx: Ctx, taker: T, maker: OrderRow, amount: Amount): Amount
  /** Moves the money of a fill and writes its records. */
  settle(ctx: Ctx, taker: T, maker: OrderRow, amount: Amount, sequence: number): Settled
  /** What an order still holds goes back to its owner. */
  release(ctx: Ctx, market: T['market'], order: OrderRow): void
  /** What follows when an order has ended, however it did. */
  ended(ctx: Ctx, market: T['market'], order: OrderRow): void
}

/** Why a sweep ended: nothing is left, the book is empty, the next price is beyond the bound, or an own order. */
export type SweepEnd = 'filled' | 'empty' | 'bound' | 'stp'

const within = ({ bound, order }: Taker, price: Price): boolean =>
  bound === undefined || (order.side === 'buy' ? price <= bound : price >= bound)

/** How much base the taker can still take at a price; 0 when its remainder buys not even one lot. */
function wanted(taker: Taker, left: Amount, price: Price): Amount {
  if (!taker.byQuote) return left
  const affordable = overDown(left, price)
  return (affordable - (affordable % taker.market.lot)) as Amount
}

/** Price, then time: takes from the best level's head until something stops it. */
export function sweep<T extends Taker>(ctx: Ctx, venue: Venue<T>, taker: T): SweepEnd {
  const { order, market } = taker
  const { stp_id, stp_act } = order
  const exchange = venue.exchange(ctx.state)
  const book = exchange.book(market.id)
  let { sequence } = exchange.figuresOf(market.id)
  let last: Price | undefined
  let volume: bigint = ZERO
  let end: SweepEnd = 'filled'
  while (order.left > 0n) {
    const level = book.facing(order.side)
    if (level === undefined || !within(taker, level.price)) {
      end = level === undefined ? 'empty' : 'bound'
      break
    }
    const maker = level.head!.row!
    if (stp_id !== 0 && maker.stp_id === stp_id) {
      if (stp_act === 'co' || stp_act === 'cb') endOrder(ctx, venue, market, maker, 'stp')
      if (stp_act === 'co') continue
      end = 'stp'
      break
    }
    let amount = min(wanted(taker, order.left, maker.price), maker.shown)
    if (amount === 0n) break
    if (venue.admit !== undefined) {
      amount = venue.admit(ctx, taker, maker, amount)
      if (amount === 0n) continue
    }
    const { value, taker: charge, maker: makerCharge } = venue.settle(ctx, taker, maker, amount, ++sequence)
    last = maker.price
    volume += amount
    order.left = (order.left - (taker.byQuote ? value : amount)) as Amount
    count(order, venue.holds, amount, value, charge)
    fillMaker(ctx, venue, market, maker, amount, value, makerCharge)
  }
  if (last !== undefined) {
    const figures = exchange.writeFigures(ctx.tx, market.id)
    figures.sequence = sequence
    figures.last = last
    figures.volume = (figures.volume + volume) as Amount
  }
  return end
}

function count(
  order: OrderRow,
  holds: boolean,
  amount: Amount,
  value: Amount,
  { fee, gt, points }: Charge,
): void {
  order.filled = (order.filled + amount) as Amount
  order.filled_total = (order.filled_total + value) as Amount
  if (holds) order.held = (order.held - (order.side === 'buy' ? value : amount)) as Amount
  if (fee !== 0n) order.fee = (order.fee + fee) as Amount
  if (gt > 0n) order.gt_fee = (order.gt_fee + gt) as Amount
  if (points > 0n) order.point_fee = (order.point_fee + points) as Amount
}

function fillMaker<T extends Taker>(
  ctx: Ctx,
  venue: Venue<T>,
  market: T['market'],
  maker: OrderRow,
  amount: Amount,
  value: Amount,
  charge: Charge,
): void {
  const { tx, state } = ctx
  const filled = maker.copy()
  filled.left = (maker.left - amount) as Amount
  filled.shown = (maker.shown - amount) as Amount
  filled.update_at = ctx.at
  count(filled, venue.holds, amount, value, charge)
  const done = filled.left === 0n
  if (done) {
    filled.status = 'closed'
    filled.finish_as = 'filled'
  } else if (filled.shown === 0n) {
    // The next part of an iceberg appears, behind everybody who was waiting.
    filled.shown = min(maker.iceberg, filled.left)
    filled.rank = nextRank(ctx, venue)
    filled.refreshed = true
  }
  tx.replace(venue.exchange(state).orders, filled.id, maker, filled)
  if (done) venue.ended(ctx, market, filled)
}

/** A newcomer's rank is its id; who goes to the end of the queue later takes the next number of them. */
export const nextRank = ({ tx, state }: Ctx, { counter }: { readonly counter: string }): number =>
  nextId(tx, state.counters, counter)

/** Whether a post-only order would match at once. */
export function wouldTake(exchange: Exchange, { order, market }: Taker): boolean {
  const facing = exchange.book(market.id).facing(order.side)
  if (facing === undefined) return false
  return order.side === 'buy' ? facing.price <= order.price : facing.price >= order.price
}
/** Whether everything could be taken at once, own orders and hidden parts seen as the sweep would see them. */
export function canFill(exchange: Exchange, taker: Taker): boolean {
  const { order } = taker
  let left: bigint = order.left
  let price: Price | undefined
  // Of the level: hidden parts come behind all that it shows, so an own order there is met before them.
  let hidden: bigint = 0n
  for (const maker of exchange.book(taker.market.id).queue(opposite(order.side))) {
    if (maker.price !== price) {
      if (hidden > 0n && takes(hidden, price!)) return true
      hidden = 0n
      price = maker.price
    }
    if (!within(taker, price)) return false
    if (order.stp_id !== 0 && maker.stp_id === order.stp_id) {
      if (order.stp_act === 'co') continue
      return false
    }
    if (takes(maker.shown, price)) return true
    hidden += maker.left - maker.shown
  }
  return hidden > 0n && takes(hidden, price!)

  /** True when that is enough. */
  function takes(amount: bigint, at: Price): boolean {
    if (!taker.byQuote) return (left -= amount) <= 0n
    if (wanted(taker, left as Amount, at) <= amount) return true
    left -= timesDown(amount as Amount, at)
    return false
  }
}

/** Takes an open order off the book before it is filled; what it still holds goes back. */
export function endOrder<T extends Taker>(
  ctx: Ctx,
  venue: Venue<T>,
  market: T['market'],
  order: OrderRow,
  finish_as: FinishAs,
): OrderRow {
  venue.release(ctx, market, order)
  const ended = order.copy()
  ended.held = ZERO
  ended.status = 'cancelled'
  ended.finish_as = finish_as
  ended.update_at = ctx.at
  ctx.tx.put(venue.exchange(ctx.state).orders, ended)
  venue.ended(ctx, market, ended)
  return ended
}

/** After the sweep the order rests with what is left of it, or has ended with a word for it. */
export function settleDown<T extends Taker>(
  ctx: Ctx,
  venue: Venue<T>,
  { order, market }: T,
  finish_as: FinishAs,
  rank: number,
): OrderRow {
  const { left, iceberg } = order
  const rests = finish_as === 'open'
  order.shown = iceberg === 0n ? left : min(iceberg, left)
  order.rank = rests ? rank : 0
  order.status = rests ? 'open' : finish_as === 'filled' ? 'closed' : 'cancelled'
  order.finish_as = finish_as
  ctx.tx.put(venue.exchange(ctx.state).orders, order)
  if (!rests) venue.ended(ctx, market, order)
  return order
}

/** The book of a market has changed: its id counts that. */
export function bookChanged(ctx: Ctx, exchange: Exchange, pair: string): void {
  const figures = exchange.writeFigures(ctx.tx, pair)
  figures.book_id++
  figures.update_at = ctx.at
}
