import type { Amount } from '../../money/amount.ts'
import { bookChanged, endOrder, type Venue } from '../exchange/engine.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { moneyOf, repayBorrowed } from './accounts.ts'
import type { FinishAs, Order, OrderRow } from '../tables/exchange/order.ts'
import { settleFill, type SpotTaker } from './settle.ts'
import { placeAttachedStops } from './price-orders.ts'

/** Spot: the ledger holds what an order pays with, and a fill swaps two currencies. */
export const SPOT: Venue<SpotTaker> = {
  exchange: (state) => state.spot,
  counter: 'order',
  holds: true,
  settle: settleFill,
  release: (ctx, market, order) => release(ctx, order, market, order.held, 'cancel_order'),
  ended: afterEnd,
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

/** What follows when an order has ended, however it did. */
export function afterEnd(ctx: Ctx, market: Market, order: Order): void {
  if (order.more === null && order.account !== 'margin') return
  if (order.more !== null && order.filled > 0n) placeAttachedStops(ctx, market, order)
  repayBorrowed(ctx, order)
}

/** Ends an open order, and the book is another one. */
export function takeOff(ctx: Ctx, market: Market, order: OrderRow, finish_as: FinishAs): OrderRow {
  const ended = endOrder(ctx, SPOT, market, order, finish_as)
  bookChanged(ctx, ctx.state.spot, market.id)
  return ended
}
