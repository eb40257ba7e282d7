import { ConfigError, type Config } from '../config.ts'
import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import { agentIds, configurationFaults, isMended } from '../core/world/change.ts'
import { contractsAfter } from '../core/world/contract-change.ts'

/**
 * Before a changed configuration is taken in: refuses, with nothing changed, what live rows would not survive, and
 * cancels the orders that may go, which are the market agents' own and those of markets and contracts that the settings name.
 */
export async function makeWay(
  core: Core<State, Commands>,
  { world, cancelOrders }: Pick<Config, 'world' | 'cancelOrders'>,
): Promise<void> {
  const faults = configurationFaults(core.state, world)
  const stays = faults.find((fault) => !isMended(fault, cancelOrders))
  if (stays !== undefined) throw new ConfigError(`KONTOR_CONFIG ${stays.text}`)
  for (const { pair, contract } of faults)
    if (pair !== undefined) await cancelAll(core, pair, null)
    else if (contract !== undefined) await cancelContract(core, contract, null)
  const agents = [...agentIds(core.state)]
  if (agents.length === 0) return
  const kept = new Map(world.markets.map((market) => [market.id, market]))
  for (const { id, config } of core.state.world.allMarkets) {
    const next = kept.get(id)
    if (next?.precision !== config.precision || next.amount_precision !== config.amount_precision)
      await cancelAll(core, id, agents)
  }
  for (const { contract, after } of contractsAfter(core.state, world)) {
    if (after?.order_price_round === contract.config.order_price_round) continue
    await cancelContract(core, contract.id, agents)
  }
}
async function cancelContract(
  core: Core<State, Commands>,
  contract: string,
  owners: readonly number[] | null,
): Promise<void> {
  while ((await core.submit('contract.cancel_orders', { contract, owners, actor: 'machine' })) > 0);
}
async function cancelAll(
  core: Core<State, Commands>,
  currency_pair: string,
  owners: readonly number[] | null,
): Promise<void> {
  while ((await core.submit('market.cancel_orders', { currency_pair, owners, actor: 'machine' })) > 0);
}
