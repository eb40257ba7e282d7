import { notFound, refuse } from '../../labels.ts'
import type { Ctx, State } from '../state.ts'
import { isMeant } from './accounts.ts'
import { takeOff } from './venue.ts'
import type { FinishAs, Order, OrderAccount, OrderRow } from '../tables/exchange/order.ts'
import type { Spot } from '../tables/spot/spot.ts'

/** Where an order must be: what a call names beside its id. Null is left out. */
export interface Place {
  readonly pair: string
  readonly account: OrderAccount | null
}
/** The words that tell where an order was looked for. */
export const placeWords = ({ pair, account }: Place): string =>
  ` in ${pair}${account === null ? '' : `, account ${account}`}`

/** Orders have ids of digits; anything else is a text that the client chose. */
export const isOrderId = (name: string): boolean => /^\d+$/.test(name)
/** An order in memory by its id, or an open one by the text that its owner gave it. */
export function orderNamed(spot: Spot, userId: number, name: string): OrderRow | undefined {
  return isOrderId(name) ? spot.orders.get(Number(name)) : spot.openWithText(userId, name)
}
/** An order that can still change, by id or text; the labels tell what became of one that can't. */
export function openOrderAt(state: State, userId: number, name: number | string, place: Place): OrderRow {
  const order = typeof name === 'number' ? state.spot.orders.get(name) : orderNamed(state.spot, userId, name)
  if (order === undefined && typeof name === 'string' && !isOrderId(name))
    return notFound('CLIENT_ID_NOT_FOUND', `Order with client ID ${name} not found${placeWords(place)}`)
  const id = order?.id ?? name
  if (order?.user_id !== userId || order.pair !== place.pair || !isMeant(state, order, place.account))
    return notFound('ORDER_NOT_FOUND', `this account has no order ${id}${placeWords(place)}`)
  refuseEnded(order)
  return order
}
export function refuseEnded(order: Order): void {
  if (order.status === 'closed')
    refuse('ORDER_CLOSED', `order ${order.id} is filled; there is nothing left to change`)
  if (order.status === 'cancelled')
    refuse('ORDER_CANCELLED', `order ${order.id} has ended already (${order.finish_as})`)
}

export function cancelOpen(
  ctx: Ctx,
  orders: readonly OrderRow[],
  finish_as: FinishAs = 'cancelled',
): Order[] {
  return orders.map((order) => cancelOrder(ctx, order, finish_as))
}
export function cancelOrder(ctx: Ctx, order: OrderRow, finish_as: FinishAs = 'cancelled'): Order {
  const market = ctx.state.world.market(order.pair)
  return takeOff(ctx, market, order, finish_as)
}
