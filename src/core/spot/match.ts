import { ZERO, min, overDown, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { moneyOf, repayBorrowed } from './accounts.ts'
import { opposite, type FinishAs, type Order, type OrderRow } from '../tables/spot/order.ts'
import { settleFill, type Taker } from './settle.ts'
import type { Charge } from '../tables/spot/trades.ts'
import { placeAttachedStops } from './price-orders.ts'

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
export function sweep(ctx: Ctx, taker: Taker): SweepEnd {
  const { order, market } = taker
  const { stp_id, stp_act } = order
  const { spot } = ctx.state
  const book = spot.book(market.id)
  let { sequence } = spot.figuresOf(market.id)
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
      if (stp_act === 'co' || stp_act === 'cb') endOrder(ctx, market, maker, 'stp')
      if (stp_act === 'co') continue
      end = 'stp'
      break
    }
    const amount = min(wanted(taker, order.left, maker.price), maker.shown)
    if (amount === 0n) break
    const { value, taker: charge, maker: makerCharge } = settleFill(ctx, taker, maker, amount, ++sequence)
    last = maker.price
    volume += amount
    order.left = (order.left - (taker.byQuote ? value : amount)) as Amount
    count(order, amount, value, charge)
    fillMaker(ctx, market, maker, amount, value, makerCharge)
  }
  if (last !== undefined) {
    const figures = spot.writeFigures(ctx.tx, market.id)
    figures.sequence = sequence
    figures.last = last
    figures.volume = (figures.volume + volume) as Amount
  }
  return end
}

function count(order: OrderRow, amount: Amount, value: Amount, { fee, gt, points }: Charge): void {
  order.filled = (order.filled + amount) as Amount
  order.filled_total = (order.filled_total + value) as Amount
  order.held = (order.held - (order.side === 'buy' ? value : amount)) as Amount
  if (fee > 0n) order.fee = (order.fee + fee) as Amount
  if (gt > 0n) order.gt_fee = (order.gt_fee + gt) as Amount
  if (points > 0n) order.point_fee = (order.point_fee + points) as Amount
}

function fillMaker(
  ctx: Ctx,
  market: Market,
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
  count(filled, amount, value, charge)
  const done = filled.left === 0n
  if (done) {
    filled.status = 'closed'
    filled.finish_as = 'filled'
  } else if (filled.shown === 0n) {
    // The next part of an iceberg appears, behind everybody who was waiting.
    filled.shown = min(maker.iceberg, filled.left)
    filled.rank = nextRank(ctx)
    filled.refreshed = true
  }
  tx.replace(state.spot.orders, filled.id, maker, filled)
  if (done) afterEnd(ctx, market, filled)
}

/** A newcomer's rank is its id; who goes to the end of the queue later takes the next number of them. */
export const nextRank = ({ tx, state }: Ctx): number => nextId(tx, state.counters, 'order')

/** Whether everything could be taken at once, own orders and hidden parts seen as the sweep would see them. */
export function canFill(ctx: Ctx, taker: Taker): boolean {
  const { order } = taker
  let left: bigint = order.left
  for (const maker of ctx.state.spot.book(taker.market.id).queue(opposite(order.side))) {
    if (!within(taker, maker.price)) return false
    if (order.stp_id !== 0 && maker.stp_id === order.stp_id) {
      if (order.stp_act === 'co') continue
      return false
    }
    if (taker.byQuote) {
      const affordable = wanted(taker, left as Amount, maker.price)
      if (affordable <= maker.left) return true
      left -= timesDown(maker.left, maker.price)
    } else {
      left -= maker.left
      if (left <= 0n) return true
    }
  }
  return false
}

/** free → held. Refuses when there is not enough. */
export function hold(ctx: Ctx, order: Order, market: Market, amount: Amount): void {
  if (amount > 0n) transferHold(ctx, order, market, -amount as Amount, 'new_order')
}
/** held → free, with the word for why. */
export function release(
  ctx: Ctx,
  order: Order,
  market: Market,
  amount: Amount,
  kind: 'order_fill' | 'cancel_order',
): void {
  if (amount > 0n) transferHold(ctx, order, market, amount, kind)
}
/** `freed` is below zero when money is taken from the free side. */
function transferHold(ctx: Ctx, order: Order, market: Market, freed: Amount, kind: string): void {
  const { state } = ctx
  const money = moneyOf(state, order.account, market)
  const buys = order.side === 'buy'
  const free = buys ? money.freeQuote : money.freeBase
  const held = buys ? money.heldQuote : money.heldBase
  const locked = -freed as Amount
  const entry = state.ledger.open(ctx, kind, 'order', order.id)
  // The side that pays first: it may refuse.
  if (freed < 0n) entry.line(order.user_id, free, freed)
  entry.line(order.user_id, held, locked)
  if (freed > 0n) entry.line(order.user_id, free, freed)
  entry.close()
}

/** Takes an open order off the book before it is filled; what it still holds goes back. */
export function endOrder(ctx: Ctx, market: Market, order: OrderRow, finish_as: FinishAs): OrderRow {
  release(ctx, order, market, order.held, 'cancel_order')
  const ended = order.copy()
  ended.held = ZERO
  ended.status = 'cancelled'
  ended.finish_as = finish_as
  ended.update_at = ctx.at
  ctx.tx.put(ctx.state.spot.orders, ended)
  afterEnd(ctx, market, ended)
  return ended
}

/** What follows when an order has ended, however it did. */
export function afterEnd(ctx: Ctx, market: Market, order: Order): void {
  if (order.more === null && order.account !== 'margin') return
  if (order.more !== null && order.filled > 0n) placeAttachedStops(ctx, market, order)
  repayBorrowed(ctx, order)
}

/** The book of a market has changed: its id counts that. */
export function bookChanged(ctx: Ctx, market: Market): void {
  const figures = ctx.state.spot.writeFigures(ctx.tx, market.id)
  figures.book_id++
  figures.update_at = ctx.at
}
