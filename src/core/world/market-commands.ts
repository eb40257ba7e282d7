import { cancelOpen } from '../spot/cancel.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import { cancelPovOfMarket } from '../spot/pov.ts'
import { cancelWaiting } from '../spot/triggers.ts'
import type { Ctx } from '../state.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import { checkMarketChange, type MarketChange, type MarketConfig } from '../tables/world/markets.ts'
import { MARKET_SETTING } from '../tables/world/world.ts'

/** An operator's change of a market's rules; it outlives a restart and a new configuration file. */
export function changeMarket(
  ctx: Ctx,
  input: { currency_pair: string; change: MarketChange; actor: Actor },
): MarketConfig {
  const { state, tx } = ctx
  const market = state.world.market(input.currency_pair, 'path')
  checkMarketChange(input.change)
  const name = MARKET_SETTING + market.id
  const before = state.world.settings.get(name)?.value as MarketChange | undefined
  tx.put(state.world.settings, { name, value: { ...before, ...input.change } })
  audit(ctx, input.actor, 'market.change', { currency_pair: market.id, ...input.change })
  return state.world.market(market.id).config
}

const WHY = 'its market was changed by the operator'
/** Orders of one command; the caller goes on until nothing is left. */
const PORTION = 100
/** Takes the orders of a market off its book, of some owners or of everybody. Tells how many it took. */
export function cancelMarketOrders(
  ctx: Ctx,
  input: { currency_pair: string; owners: readonly number[] | null; actor: Actor },
): number {
  const { spot, world } = ctx.state
  const pair = world.market(input.currency_pair).id
  const orders: OrderRow[] = []
  for (const side of ['buy', 'sell'] as const)
    for (const order of spot.book(pair).queue(side)) {
      if (orders.length === PORTION) break
      if (input.owners === null || input.owners.includes(order.user_id)) orders.push(order)
    }
  cancelOpen(ctx, orders)
  let count = orders.length
  if (count === 0 && input.owners === null)
    count = cancelWaiting(ctx, pair, PORTION, WHY) || cancelPovOfMarket(ctx, pair, PORTION, WHY)
  if (count > 0) audit(ctx, input.actor, 'market.cancel_orders', { currency_pair: pair, orders: count })
  return count
}
