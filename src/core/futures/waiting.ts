import type { Price } from '../../money/amount.ts'
import { trailPrice, trailTrigger } from '../contracts/trails.ts'
import { unschedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import type { Order } from '../tables/exchange/order.ts'
import type { ContractPriceOrder, PriceOrderEnd } from '../tables/futures/price-orders.ts'
import type { TrailOrder } from '../tables/futures/trails.ts'
import { accountOfContract } from '../tables/world/contracts.ts'

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
    // The order that it protects may open another one: one that rests, or that takes its owner's own orders just now.
    const { me_order_id: of } = order
    if (of !== 0 && (waiting.matching === of || orders.get(of)?.status === 'open'))
      ctx.tx.put(waiting.prices.table, {
        ...order,
        status: 'inactive',
        initial: { ...order.initial, size: '0' },
      })
    else endPriceOrder(ctx, order, 'cancelled', 'position_closed')
  }
  const { trails } = waiting
  if (trails.countIn(contract) === 0) return
  for (const trail of trails.of(userId, accountOfContract(contract)))
    if (trail.position_related && trail.contract === contract && trail.amount < 0n === long)
      endTrail(ctx, trail, 'cancelled', { reason: 'position_closed' })
}

/** One that waits for a price, of whichever kind. */
export type WaitingOrder =
  | { readonly kind: 'price'; readonly order: ContractPriceOrder }
  | { readonly kind: 'trail'; readonly order: TrailOrder }
const asPrice = (order: ContractPriceOrder): WaitingOrder => ({ kind: 'price', order })
const asTrail = (order: TrailOrder): WaitingOrder => ({ kind: 'trail', order })
/** All that waits for a price, of an account (group/settle) or of all of a user's. */
export const waitingOf = ({ futures }: State, userId: number, account?: string): WaitingOrder[] => [
  ...futures.waiting.prices.of(userId, account).map(asPrice),
  ...futures.waiting.trails.of(userId, account).map(asTrail),
]
/** The same in one contract, whoever's. */
export const waitingIn = ({ futures }: State, contract: string): WaitingOrder[] => [
  ...futures.waiting.prices.in(contract).map(asPrice),
  ...futures.waiting.trails.in(contract).map(asTrail),
]
export function cancelWaiting(ctx: Ctx, some: readonly WaitingOrder[], reason: string): void {
  for (const one of some)
    if (one.kind === 'price') endPriceOrder(ctx, one.order, 'cancelled', reason)
    else endTrail(ctx, one.order, 'cancelled', { reason })
}
export const onlyReduces = (one: WaitingOrder): boolean =>
  one.kind === 'price' ? one.order.initial.reduce_only : one.order.reduce_only

/** Where a trailing order stands: the best price since it was activated, and the price at which it fires. 0: nowhere yet. */
export function trailFigures(
  state: State,
  trail: TrailOrder,
): { readonly extremum: Price; readonly trigger: Price } {
  const { groups } = state.futures.waiting.trails
  const group = trail.status === 'active' ? groups.get(trail.group_id) : undefined
  if (group === undefined) return { extremum: trail.extremum_price, trigger: trail.trigger_price }
  const { tick } = state.world.mustContract(trail.contract)
  const price = trailPrice(group.buys, group.extremum, { kind: trail.offset_kind, by: trail.offset })
  return { extremum: group.extremum, trigger: trailTrigger(group.buys, price, tick) }
}
export function endTrail(
  ctx: Ctx,
  trail: TrailOrder,
  status: 'success' | 'cancelled' | 'failed',
  { reason = '', error_label = '' }: { reason?: string; error_label?: string } = {},
): TrailOrder {
  const { extremum, trigger } = trailFigures(ctx.state, trail)
  const ended: TrailOrder = {
    ...trail,
    status,
    group_id: 0,
    extremum_price: extremum,
    trigger_price: trigger,
    reason,
    error_label,
    ended_at: ctx.at,
    updated_at: ctx.at,
  }
  ctx.tx.put(ctx.state.futures.waiting.trails.table, ended)
  forgetGroup(ctx, trail.group_id)
  return ended
}
/** A group that nobody is in any more. */
export function forgetGroup(ctx: Ctx, groupId: number): void {
  const { groups, lines } = ctx.state.futures.waiting.trails
  if (groupId !== 0 && lines.sizeOf(groupId) === 0) ctx.tx.remove(groups, groupId)
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
const CHASE = 'chase_order:'
/** How the order of a chase says whose it is. */
export const chaseOrigin = (id: number): string => `${CHASE}${id}`
/** An order has ended: where it was a chase's, that has ended too. */
export function chaseEnded(ctx: Ctx, order: Order): void {
  const origin = order.more?.origin
  if (origin?.startsWith(CHASE) !== true) return
  const { table } = ctx.state.futures.waiting.chases
  const chase = table.get(Number(origin.slice(CHASE.length)))
  if (chase?.status !== 'active') return
  const { id, price, finish_as, filled, filled_total } = order
  const failed = chase.error_label !== '' || (finish_as !== 'filled' && finish_as !== 'cancelled')
  ctx.tx.put(table, {
    ...chase,
    status: failed ? 'failed' : finish_as === 'filled' ? 'success' : 'cancelled',
    suborder_id: id,
    suborder_price: price,
    suborder_finish_as: finish_as,
    filled,
    filled_total,
    reason: failed && chase.reason === '' ? finish_as : chase.reason,
    ended_at: ctx.at,
    updated_at: ctx.at,
  })
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
