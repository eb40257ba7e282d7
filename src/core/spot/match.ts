import { ZERO, min, overDown, timesDown, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../world/markets.ts'
import { freeName, heldName, repayBorrowed } from './accounts.ts'
import { opposite, type FinishAs, type Order, type StpAct } from './order.ts'
import { settleFill, type Party, type Terms } from './settle.ts'
import { placeAttachedStops } from './price-orders.ts'

/** The order that is being matched: its figures change until it rests or ends, then they become its row. */
export interface Taker extends Party {
  readonly market: Market
  readonly terms: Terms
  /** The worst price it takes; undefined: any. */
  readonly bound: Price | undefined
  /** A market buy: `left` is quote, not base. */
  readonly byQuote: boolean
  readonly stp_id: number
  readonly stp_act: StpAct | '-'
  left: Amount
  filled: Amount
  filled_total: Amount
  held: Amount
  fee: Amount
  gt_fee: Amount
  point_fee: Amount
}
/** Why a sweep ended: nothing is left, the book is empty, the next price is beyond the bound, or an own order. */
export type SweepEnd = 'filled' | 'empty' | 'bound' | 'stp'

const within = (taker: Taker, price: Price): boolean =>
  taker.bound === undefined || (taker.side === 'buy' ? price <= taker.bound : price >= taker.bound)

/** How much base the taker can still take at a price; 0 when its remainder buys not even one lot. */
function wanted(taker: Taker, price: Price): Amount {
  if (!taker.byQuote) return taker.left
  const affordable = overDown(taker.left, price)
  return (affordable - (affordable % taker.market.lot)) as Amount
}

/** Price, then time: takes from the best level's head until something stops it. */
export function sweep(ctx: Ctx, taker: Taker): SweepEnd {
  const { spot } = ctx.state
  const book = spot.book(taker.market.id)
  const before = spot.figuresOf(taker.market.id)
  let { sequence, last } = before
  let end: SweepEnd = 'filled'
  while (taker.left > 0n) {
    const level = book.facing(taker.side)
    if (level === undefined || !within(taker, level.price)) {
      end = level === undefined ? 'empty' : 'bound'
      break
    }
    const maker = level.head!.order
    if (taker.stp_id !== 0 && maker.stp_id === taker.stp_id) {
      if (taker.stp_act === 'co' || taker.stp_act === 'cb') endOrder(ctx, taker.market, maker, 'stp')
      if (taker.stp_act === 'co') continue
      end = 'stp'
      break
    }
    const amount = min(wanted(taker, maker.price), maker.shown)
    if (amount === 0n) break
    const {
      value,
      taker: charge,
      maker: makerCharge,
    } = settleFill(ctx, taker.market, taker, maker, amount, ++sequence)
    last = maker.price
    taker.left = (taker.left - (taker.byQuote ? value : amount)) as Amount
    taker.filled = (taker.filled + amount) as Amount
    taker.filled_total = (taker.filled_total + value) as Amount
    taker.held = (taker.held - (taker.side === 'buy' ? value : amount)) as Amount
    taker.fee = (taker.fee + charge.fee) as Amount
    taker.gt_fee = (taker.gt_fee + charge.gt) as Amount
    taker.point_fee = (taker.point_fee + charge.points) as Amount
    fillMaker(ctx, taker.market, maker, amount, value, makerCharge)
  }
  if (sequence !== before.sequence) ctx.tx.put(spot.figures, { ...before, sequence, last, update_at: ctx.at })
  return end
}

function fillMaker(
  ctx: Ctx,
  market: Market,
  maker: Order,
  amount: Amount,
  value: Amount,
  charge: { fee: Amount; gt: Amount; points: Amount },
): void {
  const { tx, state, at } = ctx
  const left = (maker.left - amount) as Amount
  let shown = (maker.shown - amount) as Amount
  let { rank, refreshed } = maker
  if (shown === 0n && left > 0n) {
    // The next part of an iceberg appears, behind everybody who was waiting.
    shown = min(maker.iceberg, left)
    rank = nextId(tx, state.counters, 'rank')
    refreshed = true
  }
  const filled: Order = {
    ...maker,
    left,
    shown,
    rank,
    refreshed,
    filled: (maker.filled + amount) as Amount,
    filled_total: (maker.filled_total + value) as Amount,
    held: (maker.held - (maker.side === 'buy' ? value : amount)) as Amount,
    fee: (maker.fee + charge.fee) as Amount,
    gt_fee: (maker.gt_fee + charge.gt) as Amount,
    point_fee: (maker.point_fee + charge.points) as Amount,
    status: left === 0n ? 'closed' : 'open',
    finish_as: left === 0n ? 'filled' : 'open',
    update_at: at,
  }
  tx.put(state.spot.orders, filled)
  if (left === 0n) afterEnd(ctx, market, filled)
}

/** Whether everything could be taken at once, own orders and hidden parts seen as the sweep would see them. */
export function canFill(ctx: Ctx, taker: Taker): boolean {
  let left: bigint = taker.left
  for (const maker of ctx.state.spot.book(taker.market.id).queue(opposite(taker.side))) {
    if (!within(taker, maker.price)) return false
    if (taker.stp_id !== 0 && maker.stp_id === taker.stp_id) {
      if (taker.stp_act === 'co') continue
      return false
    }
    if (taker.byQuote) {
      const affordable = wanted({ ...taker, left: left as Amount }, maker.price)
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
export function hold(ctx: Ctx, party: Party, market: Market, amount: Amount): void {
  if (amount === 0n) return
  transferHold(ctx, party, market, amount, 'new_order')
}
/** held → free, with the word for why. */
export function release(
  ctx: Ctx,
  party: Party,
  market: Market,
  amount: Amount,
  kind: 'order_fill' | 'cancel_order',
): void {
  if (amount > 0n) transferHold(ctx, party, market, amount, kind)
}
function transferHold(ctx: Ctx, party: Party, market: Market, amount: Amount, kind: string): void {
  const { state, tx, at } = ctx
  const free = { owner: party.user_id, name: freeName(party.account, market.id) }
  const held = { owner: party.user_id, name: heldName(party.account, market.id) }
  const currency = party.side === 'buy' ? market.quote : market.base
  state.ledger.post(
    { tx, at, counters: state.counters },
    {
      kind,
      ref: `order:${party.id}`,
      lines: kind === 'new_order' ? move(free, held, currency, amount) : move(held, free, currency, amount),
    },
  )
}

/** Takes an open order off the book before it is filled; what it still holds goes back. */
export function endOrder(ctx: Ctx, market: Market, order: Order, finish_as: FinishAs): Order {
  release(ctx, order, market, order.held, 'cancel_order')
  const ended: Order = { ...order, held: ZERO, status: 'cancelled', finish_as, update_at: ctx.at }
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
  const { spot } = ctx.state
  const figures = spot.figuresOf(market.id)
  const { pair, book_id, sequence, last } = figures
  ctx.tx.put(spot.figures, { pair, book_id: book_id + 1, sequence, last, update_at: ctx.at })
}
