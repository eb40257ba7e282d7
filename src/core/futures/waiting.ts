import { unschedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import type { Order } from '../tables/exchange/order.ts'
import type { ContractPriceOrder, PriceOrderEnd } from '../tables/futures/price-orders.ts'

/** How orders that wait for a price end without firing. Nothing here places an order. */

export function endPriceOrder(
  ctx: Ctx,
  order: ContractPriceOrder,
  finish_as: PriceOrderEnd,
  reason: string,
): ContractPriceOrder {
  unschedule(ctx, order.due_id)
  const ended: ContractPriceOrder = { ...order, status: 'finished', finish_as, reason, ended_at: ctx.at }
  ctx.tx.put(ctx.state.futures.waiting.prices.table, ended)
  return ended
}

/** A position is gone: what would close it goes with it, so that it does not close the next one. */
export function positionEnded(ctx: Ctx, userId: number, contract: string, long: boolean): void {
  const { orders, waiting } = ctx.state.futures
  for (const order of waiting.prices.closing(userId, contract, long)) {
    if (order.status !== 'open') continue
    // The order that it protects may open another one.
    if (order.me_order_id !== 0 && orders.get(order.me_order_id)?.status === 'open')
      ctx.tx.put(waiting.prices.table, {
        ...order,
        status: 'inactive',
        initial: { ...order.initial, size: '0' },
      })
    else endPriceOrder(ctx, order, 'cancelled', 'position_closed')
  }
}

/** All that waits for a price, of an account (group/settle) or of all of a user's; lowest id first. */
export const waitingOf = ({ futures }: State, userId: number, account?: string): ContractPriceOrder[] =>
  futures.waiting.prices.of(userId, account)
/** The same in one contract, whoever's. */
export const waitingIn = ({ futures }: State, contract: string): ContractPriceOrder[] =>
  futures.waiting.prices.in(contract)
export function cancelWaiting(ctx: Ctx, some: readonly ContractPriceOrder[], reason: string): void {
  for (const order of some) endPriceOrder(ctx, order, 'cancelled', reason)
}

/** An order has opened more contracts: what protects them waits from now on, for as many. */
export function stopsFilled(ctx: Ctx, order: Pick<Order, 'id' | 'side'>, opened: bigint): void {
  const { prices } = ctx.state.futures.waiting
  for (const stop of prices.ofOrder(order.id)) {
    const size = BigInt(stop.initial.size) + (order.side === 'buy' ? -opened : opened)
    ctx.tx.put(prices.table, {
      ...stop,
      status: 'open',
      initial: { ...stop.initial, size: String(size) },
    })
  }
}
/** An order has ended: what still waits for its fills waits in vain. */
export function stopsEnded(ctx: Ctx, order: Pick<Order, 'id' | 'filled'>): void {
  const { prices } = ctx.state.futures.waiting
  for (const stop of prices.ofOrder(order.id)) {
    if (stop.status !== 'inactive') continue
    if (order.filled > 0n) endPriceOrder(ctx, stop, 'cancelled', 'position_closed')
    else ctx.tx.put(prices.table, { ...stop, status: 'invalid', reason: 'order_ended', ended_at: ctx.at })
  }
}
