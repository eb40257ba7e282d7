import { Refusal } from '../../labels.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import type { Order } from '../tables/exchange/order.ts'
import { countRequest } from './activity.ts'
import { amendOrder } from './amend.ts'
import { cancelAllOf, cancelOne } from './cancel.ts'
import {
  wholeOrder,
  type AmendBatchInput,
  type AmendInput,
  type CancelBatchInput,
  type CancelInput,
  type CountdownInput,
  type ItemResult,
  type PlaceBatchInput,
  type PlaceInput,
} from './inputs.ts'
import { fireWaiting } from './fire.ts'
import { placeOrder } from './place.ts'
import { contractNamed } from './rules.ts'

/** One item may fail without the others; what it moved a price to fires before the next one moves it again. */
function attempt(ctx: Ctx, item: () => Order): ItemResult {
  const mark = ctx.tx.mark()
  try {
    const order = item()
    fireWaiting(ctx)
    return { order }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
    return { label: error.label, message: error.message }
  }
}

export function place(ctx: Ctx, input: PlaceInput): Order {
  const order = placeOrder(ctx, input, wholeOrder(input.order))
  countRequest(ctx, input)
  return order
}
export function placeBatch(ctx: Ctx, input: PlaceBatchInput): ItemResult[] {
  countRequest(ctx, input)
  return input.orders.map((order) => attempt(ctx, () => placeOrder(ctx, input, wholeOrder(order))))
}
export function amend(ctx: Ctx, input: AmendInput): Order {
  const order = amendOrder(ctx, input, input)
  countRequest(ctx, input)
  return order
}
export function amendBatch(ctx: Ctx, input: AmendBatchInput): ItemResult[] {
  countRequest(ctx, input)
  return input.orders.map((item) => attempt(ctx, () => amendOrder(ctx, input, item)))
}
export function cancel(ctx: Ctx, input: CancelInput): Order {
  const order = cancelOne(ctx, input, input.id)
  countRequest(ctx, input)
  return order
}
export function cancelBatch(ctx: Ctx, input: CancelBatchInput): ItemResult[] {
  countRequest(ctx, input)
  return input.ids.map((id) => attempt(ctx, () => cancelOne(ctx, input, id)))
}

/** Answers when it will strike, in milliseconds; 0 when it was stopped. */
export function countdown(ctx: Ctx, input: CountdownInput): { triggerTime: number } {
  const { state, tx, at } = ctx
  const { table } = state.futures.countdowns
  const account = `${input.group}/${input.settle}`
  const pair = input.contract === null ? account : contractNamed(state, input, input.contract).id
  const id = `${input.user_id}/${pair}`
  const running = table.get(id)
  if (running !== undefined) {
    unschedule(ctx, running.due_id)
    tx.remove(table, id)
  }
  if (input.timeout === 0) return { triggerTime: 0 }
  const strikes = at + input.timeout * 1e6
  const due_id = schedule(ctx, strikes, 'futures.countdown.strike', { id })
  tx.put(table, { id, user_id: input.user_id, pair, due_id })
  return { triggerTime: Math.floor(strikes / 1000) }
}
/** Due. */
export function strikeCountdown(ctx: Ctx, input: { id: string }): null {
  const { table } = ctx.state.futures.countdowns
  const set = table.get(input.id)
  if (set === undefined) return null
  ctx.tx.remove(table, input.id)
  const [group, settle, contract] = set.pair.split('/') as [
    'futures' | 'delivery',
    string,
    string | undefined,
  ]
  // One that has ended meanwhile has no orders left, and no name to ask for.
  if (contract !== undefined && !ctx.state.world.allContracts.some(({ id }) => id === set.pair)) return null
  cancelAllOf(ctx, { user_id: set.user_id, group, settle }, contract ?? null)
  return null
}
