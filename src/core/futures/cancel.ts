import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import type { Order, OrderRow } from '../tables/exchange/order.ts'
import { accountOfContract } from '../tables/world/contracts.ts'
import { countRequest } from './activity.ts'
import { reducesOnly } from './figures.ts'
import { followBook, followBooks } from './follow.ts'
import type { AccountPath, CancelAllInput } from './inputs.ts'
import { contractNamed, openOrderOf } from './rules.ts'
import { takeOff } from './venue.ts'

export function cancelOne(ctx: Ctx, path: AccountPath, name: number | string): Order {
  const order = takeOff(ctx, openOrderOf(ctx.state, path, name), 'cancelled')
  followBook(ctx, ctx.state.world.mustContract(order.pair))
  return order
}

/** Orders that one command ends; the others wait their turn, so that nobody waits long for a turn of his own. */
export const PORTION = 100
/** Whoever asked drives the portions; if he is gone (a restart), they are due this much later. */
const LEFT_ALONE = 5e6

/** The intent as it is kept: what is placed after it has a higher id, and is not touched. */
export interface CancelRest extends CancelAllInput {
  readonly upto: number
}
function meant(ctx: Ctx, input: CancelRest, most: number): OrderRow[] {
  const { state } = ctx
  const account = `${input.group}/${input.settle}`
  // In one that has ended since the first portion nothing is left.
  const only =
    input.contract === null
      ? undefined
      : state.world.contractNamed(input.group, input.settle, input.contract)?.id
  if (input.contract !== null && only === undefined) return []
  const found: OrderRow[] = []
  for (const id of only === undefined ? state.futures.openPairs(input.user_id) : [only]) {
    if (found.length >= most) break
    if (accountOfContract(id) !== account) continue
    for (const order of state.futures.openOrders(input.user_id, id))
      if (
        order.id <= input.upto &&
        (input.side === null || order.side === input.side) &&
        (input.text === null || order.text === input.text) &&
        !(input.exclude_reduce_only && reducesOnly(order))
      )
        found.push(order)
  }
  return found
}
/** Ends a portion of these and records the rest as due work: 0 when nothing is left. */
function cancelPortion(ctx: Ctx, orders: readonly OrderRow[], input: CancelRest, wait: number): number {
  const touched = new Set<string>()
  for (const order of orders.slice(0, PORTION)) {
    takeOff(ctx, order, 'cancelled')
    touched.add(order.pair)
  }
  followBooks(ctx, touched)
  if (orders.length <= PORTION) return 0
  const { user_id, group, settle, contract, side, exclude_reduce_only, text, upto } = input
  const rest = { user_id, group, settle, contract, side, exclude_reduce_only, text, upto }
  return schedule(ctx, ctx.at + wait, 'futures.cancel_rest', rest)
}
const lastOrderId = ({ state }: Ctx): number => state.counters.get('contract_order')?.value ?? 0

/** Answers the ids of all that are meant, ended by now or in the portions to come, and the intent for those. */
export function cancelAll(
  ctx: Ctx,
  input: CancelAllInput,
): { ids: number[]; due_id: number; rest: CancelRest } {
  if (input.contract !== null) contractNamed(ctx.state, input, input.contract)
  countRequest(ctx, input)
  const rest = { ...input, upto: lastOrderId(ctx) }
  const orders = meant(ctx, rest, Infinity)
  return { ids: orders.map(({ id }) => id), due_id: cancelPortion(ctx, orders, rest, LEFT_ALONE), rest }
}
/** The next portion, for whoever waits for the end; the ticker may have done some in between. */
export function cancelNext(ctx: Ctx, input: { due_id: number; rest: CancelRest }): { due_id: number } {
  unschedule(ctx, input.due_id)
  const { rest } = input
  return { due_id: cancelPortion(ctx, meant(ctx, rest, PORTION + 1), rest, LEFT_ALONE) }
}
/** Due: nobody waits for it, so the next portion follows at once. */
export function cancelRest(ctx: Ctx, input: CancelRest): null {
  cancelPortion(ctx, meant(ctx, input, PORTION + 1), input, 0)
  return null
}
/** For rules that end all orders of an account by themselves. */
export function cancelAllOf(ctx: Ctx, path: AccountPath, contract: string | null): void {
  cancelRest(ctx, {
    ...path,
    contract,
    side: null,
    exclude_reduce_only: false,
    text: null,
    upto: lastOrderId(ctx),
  })
}
