import { Refusal, notFound, type Label } from '../../labels.ts'
import { ZERO } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'
import { amendOrder, type Amendment } from './amend.ts'

export type { Amendment } from './amend.ts'
import { cancelOrder, openOrderAt } from './cancel.ts'
import type { Order, OrderAccount, OrderRow } from '../tables/exchange/order.ts'
import { placeOrder, wholeOrder, type SentOrder } from './place.ts'
import { fireLeft, fireTriggers } from './triggers.ts'

/** What became of one item of a batch. */
export type ItemResult = { readonly order: Order } | { readonly label: Label; readonly message: string }

function counted(ctx: Ctx, userId: number): void {
  ctx.state.spot.activity.add(ctx.tx, userId, ctx.at, 1, ZERO)
}
/** One item may fail without the others. */
function attempt(ctx: Ctx, item: () => Order): ItemResult {
  const mark = ctx.tx.mark()
  try {
    return { order: item() }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
    return { label: error.label, message: error.message }
  }
}
/** The row as it is now: a trigger that fired after it was placed may have changed it. */
const current = (ctx: Ctx, order: Order): Order => ctx.state.spot.orders.get(order.id) ?? order

export function place(ctx: Ctx, input: { user_id: number; order: SentOrder }): Order {
  const order = placeOrder(ctx, input.user_id, wholeOrder(input.order))
  counted(ctx, input.user_id)
  fireTriggers(ctx, order.pair)
  return current(ctx, order)
}

export function placeBatch(ctx: Ctx, input: { user_id: number; orders: readonly SentOrder[] }): ItemResult[] {
  counted(ctx, input.user_id)
  return input.orders.map((item) =>
    attempt(ctx, () => {
      const order = placeOrder(ctx, input.user_id, wholeOrder(item))
      fireTriggers(ctx, order.pair)
      return current(ctx, order)
    }),
  )
}

export interface Named {
  /** Or the text that the client gave it. */
  readonly id: number | string
  readonly currency_pair: string
  readonly account?: OrderAccount | null
}
function openOrder({ state }: Ctx, userId: number, { id, currency_pair, account = null }: Named): OrderRow {
  return openOrderAt(state, userId, id, { pair: state.world.market(currency_pair).id, account })
}
function ended(ctx: Ctx, order: OrderRow): Order {
  const cancelled = cancelOrder(ctx, order)
  fireLeft(ctx, [cancelled])
  return cancelled
}
const cancelOne = (ctx: Ctx, userId: number, item: Named): Order => ended(ctx, openOrder(ctx, userId, item))
export function cancel(ctx: Ctx, input: { user_id: number } & Named): Order {
  counted(ctx, input.user_id)
  return cancelOne(ctx, input.user_id, input)
}
/** An operator ends an order, whoever's it is. */
export function cancelAny(ctx: Ctx, input: { order_id: number; actor: string }): Order {
  const order = ctx.state.spot.orders.get(input.order_id)
  if (order?.status !== 'open')
    return notFound(
      'ORDER_NOT_FOUND',
      `no order ${input.order_id} is open; GET /operator/v1/orders lists those that are`,
    )
  const { id, user_id, pair } = order
  audit(ctx, input.actor, 'order.cancel', { order_id: id, user_id, currency_pair: pair })
  counted(ctx, user_id)
  return ended(ctx, order)
}
export function cancelBatch(ctx: Ctx, input: { user_id: number; orders: readonly Named[] }): ItemResult[] {
  counted(ctx, input.user_id)
  return input.orders.map((item) => attempt(ctx, () => cancelOne(ctx, input.user_id, item)))
}
export interface NamedAmendment extends Named, Amendment {}
function amendOne(ctx: Ctx, userId: number, input: NamedAmendment): Order {
  const order = amendOrder(ctx, openOrder(ctx, userId, input), input)
  fireTriggers(ctx, order.pair)
  return current(ctx, order)
}
export function amend(ctx: Ctx, input: { user_id: number } & NamedAmendment): Order {
  counted(ctx, input.user_id)
  return amendOne(ctx, input.user_id, input)
}
export function amendBatch(
  ctx: Ctx,
  input: { user_id: number; orders: readonly NamedAmendment[] },
): ItemResult[] {
  counted(ctx, input.user_id)
  return input.orders.map((item) => attempt(ctx, () => amendOne(ctx, input.user_id, item)))
}
