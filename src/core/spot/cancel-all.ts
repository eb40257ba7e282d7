import { ZERO } from '../../money/amount.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { isMeant } from './accounts.ts'
import { cancelOpen } from './cancel.ts'
import type { OrderAccount, OrderRow, Side } from './order.ts'

/** Orders that one command ends; the others wait their turn, so that nobody waits long for a turn of his own. */
const PORTION = 100
/** Whoever asked drives the portions; if he is gone (a restart), they are due this much later. */
const LEFT_ALONE = 5e6

/** Which orders: null is left out, and means all. */
export interface CancelAll {
  readonly user_id: number
  readonly currency_pair: string | null
  readonly side: Side | null
  readonly account: OrderAccount | null
  /** The currency that the markets' prices are in. */
  readonly trade_quote?: string | null
}
/** The intent as it is kept: what is placed after it has a higher id, and is not touched. */
export interface CancelRest extends CancelAll {
  readonly upto: number
}

function meant(ctx: Ctx, input: CancelRest): OrderRow[] {
  const { world, spot } = ctx.state
  const pair = input.currency_pair === null ? undefined : world.market(input.currency_pair).id
  const { trade_quote = null } = input
  const quote = trade_quote === null ? null : world.currency(trade_quote).currency
  return spot
    .openOrders(input.user_id, pair)
    .filter(({ id, side }) => id <= input.upto && (input.side === null || side === input.side))
    .filter((order) => isMeant(ctx.state, order, input.account))
    .filter((order) => quote === null || world.market(order.pair).quote === quote)
}

/** Ends the first portion and records the rest as due work. `due_id` 0: nothing is left. */
function cancelPortion(ctx: Ctx, input: CancelRest, wait: number): { ids: number[]; due_id: number } {
  const orders = meant(ctx, input)
  cancelOpen(ctx, orders.slice(0, PORTION))
  const more = orders.length > PORTION
  const { user_id, currency_pair, side, account, trade_quote = null, upto } = input
  const rest = { user_id, currency_pair, side, account, trade_quote, upto }
  return {
    ids: orders.map(({ id }) => id),
    due_id: more ? schedule(ctx, ctx.at + wait, 'spot.cancel_rest', rest) : 0,
  }
}
const lastOrderId = ({ state }: Ctx): number => state.counters.get('order')?.value ?? 0

/** Answers the ids of all that are meant, ended by now or in the portions to come, and the intent for those. */
export function cancelAll(ctx: Ctx, input: CancelAll): { ids: number[]; due_id: number; rest: CancelRest } {
  ctx.state.spot.activity.add(ctx.tx, input.user_id, ctx.at, 1, ZERO)
  const rest = { ...input, upto: lastOrderId(ctx) }
  return { ...cancelPortion(ctx, rest, LEFT_ALONE), rest }
}
/** The next portion, for whoever waits for the end; the ticker may have done some in between. */
export function cancelNext(ctx: Ctx, input: { due_id: number; rest: CancelRest }): { due_id: number } {
  unschedule(ctx, input.due_id)
  return { due_id: cancelPortion(ctx, input.rest, LEFT_ALONE).due_id }
}
/** Due: nobody waits for it, so the next portion follows at once. */
export function cancelRest(ctx: Ctx, input: CancelRest): null {
  cancelPortion(ctx, input, 0)
  return null
}
/** For rules that end all orders of an account by themselves. */
export function cancelAllOf(ctx: Ctx, user_id: number, currency_pair: string | null): void {
  cancelPortion(ctx, { user_id, currency_pair, side: null, account: null, upto: lastOrderId(ctx) }, 0)
}
