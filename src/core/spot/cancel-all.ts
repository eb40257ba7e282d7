import { ZERO } from '../../money/amount.ts'
import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { isMeant } from './accounts.ts'
import { cancelOpen } from './cancel.ts'
import { fireLeft } from './triggers.ts'
import type { SpotAccount, OrderRow, Side } from '../tables/exchange/order.ts'

/** Orders that one command ends; the others wait their turn, so that nobody waits long for a turn of his own. */
export const PORTION = 100
/** Whoever asked drives the portions; if he is gone (a restart), they are due this much later. */
const LEFT_ALONE = 5e6

/** Which orders: null is left out, and means all. */
export interface CancelAll {
  readonly user_id: number
  readonly currency_pair: string | null
  readonly side: Side | null
  readonly account: SpotAccount | null
  /** The currency that the markets' prices are in. */
  readonly trade_quote?: string | null
}
/** The intent as it is kept: what is placed after it has a higher id, and is not touched. */
export interface CancelRest extends CancelAll {
  readonly upto: number
}

/** Market by market, oldest first; `most` is enough. */
function meant(ctx: Ctx, input: CancelRest, most: number): OrderRow[] {
  const { world, spot } = ctx.state
  const pair = input.currency_pair === null ? undefined : world.market(input.currency_pair).id
  const { trade_quote = null } = input
  const quote = trade_quote === null ? null : world.currency(trade_quote, 'trade_quote').currency
  const found: OrderRow[] = []
  for (const each of pair === undefined ? spot.openPairs(input.user_id) : [pair]) {
    if (found.length >= most) break
    if (quote !== null && world.market(each).quote !== quote) continue
    for (const order of spot.openOrders(input.user_id, each))
      if (
        order.id <= input.upto &&
        (input.side === null || order.side === input.side) &&
        isMeant(ctx.state, order, input.account)
      )
        found.push(order)
  }
  return found
}

/** Ends a portion of these and records the rest as due work: 0 when nothing is left. */
function cancelPortion(ctx: Ctx, orders: readonly OrderRow[], input: CancelRest, wait: number): number {
  fireLeft(ctx, cancelOpen(ctx, orders.slice(0, PORTION)))
  if (orders.length <= PORTION) return 0
  const { user_id, currency_pair, side, account, trade_quote = null, upto } = input
  const rest = { user_id, currency_pair, side, account, trade_quote, upto }
  return schedule(ctx, ctx.at + wait, 'spot.cancel_rest', rest)
}
const nextPortion = (ctx: Ctx, input: CancelRest, wait: number): number =>
  cancelPortion(ctx, meant(ctx, input, PORTION + 1), input, wait)
const lastOrderId = ({ state }: Ctx): number => state.counters.get('order')?.value ?? 0

/** Answers the ids of all that are meant, ended by now or in the portions to come, and the intent for those. */
export function cancelAll(ctx: Ctx, input: CancelAll): { ids: number[]; due_id: number; rest: CancelRest } {
  ctx.state.spot.activity.add(ctx.tx, input.user_id, ctx.at, 1, ZERO)
  const rest = { ...input, upto: lastOrderId(ctx) }
  const orders = meant(ctx, rest, Infinity)
  return { ids: orders.map(({ id }) => id), due_id: cancelPortion(ctx, orders, rest, LEFT_ALONE), rest }
}
/** The next portion, for whoever waits for the end; the ticker may have done some in between. */
export function cancelNext(ctx: Ctx, input: { due_id: number; rest: CancelRest }): { due_id: number } {
  unschedule(ctx, input.due_id)
  return { due_id: nextPortion(ctx, input.rest, LEFT_ALONE) }
}
/** Due: nobody waits for it, so the next portion follows at once. */
export function cancelRest(ctx: Ctx, input: CancelRest): null {
  nextPortion(ctx, input, 0)
  return null
}
/** For rules that end all orders of an account by themselves. */
export function cancelAllOf(ctx: Ctx, user_id: number, currency_pair: string | null): void {
  nextPortion(ctx, { user_id, currency_pair, side: null, account: null, upto: lastOrderId(ctx) }, 0)
}
