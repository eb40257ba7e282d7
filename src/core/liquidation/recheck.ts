import { ZERO } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { Order, OrderRow } from '../tables/exchange/order.ts'
import type { Ctx, State } from '../state.ts'
import { isRestricted } from '../risk/levels.ts'
import { riskOrder } from '../tables/unified/ladders.ts'
import { isEngaged } from '../unified/contracts.ts'
import { pairPrice, portfolioOf, type Trust } from '../unified/portfolio.ts'
import { riskOf } from '../risk/risk.ts'
import { note } from '../liquidated.ts'
import { losesTooMuch, ofScope, Resting, lowersRate, unheld } from '../unified/restricted.ts'

/** Whether a resting order loses too much by now. */
function hasLost(state: State, order: Order, trust: Trust): boolean {
  const index = pairPrice(state, state.world.market(order.pair), trust)
  return index !== 0n && losesTooMuch(order.side, order.price, index)
}

/** Orders that one command looks at again; the rest follows at once, as commands of their own. */
const PORTION = 100

/** The account is restricted: its resting orders are looked at again, oldest first. */
export function planRecheck(ctx: Ctx, user_id: number, scope: string): void {
  schedule(ctx, ctx.at, 'margin.recheck', { user_id, scope, after: 0 })
}
/** Due: cancels the resting orders of a restricted account that would not be let in now. */
export function recheckOrders(ctx: Ctx, input: { user_id: number; scope: string; after: number }): null {
  const { state } = ctx
  const { user_id, scope, after } = input
  if (!isEngaged(state, user_id, scope) || state.margin.isLocked(user_id, scope)) return null
  const portfolio = portfolioOf(state, user_id, scope)
  if (!isRestricted(riskOf(portfolio))) return null
  const open = state.spot.openOrders(user_id).filter(ofScope(scope))
  const resting = new Resting()
  const worst: OrderRow[] = []
  let looked = 0
  let last = after
  for (const order of open) {
    const seen = riskOrder(state.world.market(order.pair), order)
    if (order.id > after) {
      if (looked++ === PORTION) {
        schedule(ctx, ctx.at, 'margin.recheck', { user_id, scope, after: last })
        break
      }
      last = order.id
      if (hasLost(state, order, 'known') || lowersRate(unheld(portfolio, seen), resting, seen)) {
        worst.push(order)
        continue
      }
    }
    resting.add(seen)
  }
  for (const order of cancelOpen(ctx, worst, 'price_protect_cancelled'))
    note(ctx, { id: 0, user_id, scope }, 'order_cancelled', '', ZERO, {
      order_id: order.id,
      currency_pair: order.pair,
    })
  return null
}
