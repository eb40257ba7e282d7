import type { Ctx } from '../state.ts'
import { audit, type Actor } from '../operators/audit.ts'
import { checkMarketChange, type MarketChange, type MarketConfig } from './markets.ts'
import { MARKET_SETTING } from './world.ts'

/** An operator's change of a market's rules; it outlives a restart and a new configuration file. */
export function changeMarket(
  ctx: Ctx,
  input: { currency_pair: string; change: MarketChange; actor: Actor },
): MarketConfig {
  const { state, tx } = ctx
  const market = state.world.market(input.currency_pair)
  checkMarketChange(input.change)
  const name = MARKET_SETTING + market.id
  const before = state.world.settings.get(name)?.value as MarketChange | undefined
  tx.put(state.world.settings, { name, value: { ...before, ...input.change } })
  audit(ctx, input.actor, 'market.change', { currency_pair: market.id, ...input.change })
  return state.world.market(market.id).config
}
