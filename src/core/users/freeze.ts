import { schedule } from '../due.ts'
import { followBooks } from '../futures/follow.ts'
import { takeOff } from '../futures/venue.ts'
import { cancelWaiting, waitingOf } from '../futures/waiting.ts'
import { cancelOpen } from '../spot/cancel.ts'
import { cancelPovOrders } from '../spot/pov.ts'
import { endPriceOrder } from '../spot/triggers.ts'
import type { Ctx } from '../state.ts'
import { isMain, type User } from '../tables/users.ts'
import { reviewWaiting } from '../withdrawals/decide.ts'

/** Orders and withdrawals of one command; the rest follows at once. */
const PORTION = 100

const WHY = 'the account was frozen'

/** What there was when an account was frozen: what comes after the freeze was lifted is not touched. */
interface Upper {
  readonly withdrawal: number
  readonly order: number
  readonly price_order: number
  /** Left out by what was recorded before there were any. */
  readonly contract_order?: number
  readonly contract_price_order?: number
  readonly trail_order?: number
}
/**
 * An operator has frozen an account: its withdrawals that nobody has claimed wait for a review, and its orders end.
 * With a main account go the orders of its sub-accounts, whose keys it locks out too.
 */
export function stopAccount(ctx: Ctx, user: User): void {
  const last = (name: string): number => ctx.state.counters.get(name)?.value ?? 0
  const upper: Upper = {
    withdrawal: last('withdrawal'),
    order: last('order'),
    price_order: last('price_order'),
    contract_order: last('contract_order'),
    contract_price_order: last('contract_price_order'),
    trail_order: last('trail_order'),
  }
  stopPortion(ctx, { user_id: user.user_id, upper })
}
/** One portion; due again while there is more. */
export function stopPortion(ctx: Ctx, input: { user_id: number; upper: Upper }): null {
  const { state } = ctx
  const { user_id, upper } = input
  const user = state.users.must(user_id)
  let left = PORTION - reviewWaiting(ctx, user_id, upper.withdrawal, PORTION)
  const accounts = isMain(user) ? [user, ...state.users.subAccountsOf(user_id)] : [user]
  // Price orders first: one that fires would place an order of its own.
  for (const account of accounts) {
    if (left === 0) break
    if (state.spot.priceOrders.openCount(account.user_id) === 0) continue
    for (const order of state.spot.priceOrders.openOf(account.user_id)) {
      if (left === 0 || order.id > upper.price_order) break
      endPriceOrder(ctx, order, 'cancelled', WHY)
      left--
    }
  }
  const { contract_price_order = Infinity, trail_order = Infinity } = upper
  for (const account of accounts) {
    if (left === 0) break
    const waiting = waitingOf(state, account.user_id).filter(
      ({ kind, order }) => order.id <= (kind === 'price' ? contract_price_order : trail_order),
    )
    cancelWaiting(ctx, waiting.slice(0, left), WHY)
    left -= Math.min(left, waiting.length)
  }
  for (const { user_id } of accounts)
    if (state.spot.povOrders.openCount(user_id) > 0)
      cancelPovOrders(ctx, { user_id, currency_pair: null, side: null })
  for (const account of accounts) {
    if (left === 0) break
    if (!state.spot.hasOpen(account.user_id)) continue
    const orders = state.spot.openOrders(account.user_id).filter(({ id }) => id <= upper.order)
    for (const ended of cancelOpen(ctx, orders.slice(0, left))) {
      left--
      // One that was filled in part leaves its stops behind.
      for (const stop of state.spot.priceOrders.stopsOf(ended.id)) endPriceOrder(ctx, stop, 'cancelled', WHY)
    }
  }
  const { contract_order = Infinity } = upper
  for (const account of accounts) {
    if (left === 0) break
    if (!state.futures.hasOpen(account.user_id)) continue
    const orders = state.futures.openOrders(account.user_id).filter(({ id }) => id <= contract_order)
    const ended = orders.slice(0, left)
    for (const order of ended) takeOff(ctx, order, 'cancelled')
    left -= ended.length
    followBooks(
      ctx,
      ended.map(({ pair }) => pair),
    )
  }
  if (left === 0) schedule(ctx, ctx.at, 'user.stop', { user_id, upper })
  return null
}
