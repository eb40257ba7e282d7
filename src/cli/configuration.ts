import { readSettings } from '../chain/evm/settings.ts'
import type { Config } from '../config.ts'
import { State } from '../core/state.ts'
import { configurationFaults, isMended } from '../core/world/change.ts'
import { completeContract } from '../core/tables/world/contract-rules.ts'
import { completeMarket } from '../core/tables/world/markets.ts'
import { completePolicy } from '../core/tables/world/policy.ts'
import { CONTRACT_SETTING, MARKET_SETTING } from '../core/tables/world/world.ts'
import type { WorldConfig } from '../core/tables/world/config.ts'
import { differing, type Difference } from '../runtime/differences.ts'
import { loading } from '../store/statements.ts'
import type { Snapshot } from '../store/store.ts'

/** The live rows of a store, by a look that is safe beside a running platform. */
export async function stateOf(snapshot: Snapshot): Promise<State> {
  const state = new State()
  for (const table of state.tables) {
    const { sql, row } = loading(table)
    await snapshot.each(sql, row)
  }
  return state
}

export interface Comparison {
  /** What the database has beside what it would have. */
  readonly differing: readonly Difference[]
  /** Differences that an operator's change at run time covers: the place, and what goes on to count. */
  readonly covered: readonly { readonly where: string; readonly counts: unknown }[]
  /** What keeps the platform from starting with it. */
  readonly breaks: readonly string[]
}

/** A configuration beside the one of the database. Where the database has none yet, nothing differs. */
export function compareConfiguration(
  state: State,
  { world, cancelOrders }: Pick<Config, 'world' | 'cancelOrders'>,
): Comparison {
  const { configured, live } = state.world
  const found = configured === undefined ? [] : differing(complete(configured, live), complete(world, live))
  const faults = configurationFaults(state, world).filter((fault) => !isMended(fault, cancelOrders))
  return {
    differing: found,
    covered: found.flatMap((difference) => covering(state, difference) ?? []),
    breaks: [...faults.map(({ text }) => text), ...nodeFaults(world)],
  }
}
/** With what they leave out, so that a default that is written down is no difference. */
const complete = (world: WorldConfig, live: boolean): WorldConfig => ({
  ...world,
  policy: completePolicy(world.policy, live),
  markets: world.markets.map(completeMarket),
  ...(world.contracts !== undefined && { contracts: world.contracts.map(completeContract) }),
})

function nodeFaults({ chains }: WorldConfig): string[] {
  return chains
    .filter(({ kind }) => kind === 'evm')
    .flatMap((chain) => {
      try {
        readSettings(chain)
        return []
      } catch (error) {
        return [(error as Error).message]
      }
    })
}

/** Sections that operators change at run time, and the prefix of the settings that keep it. */
const KEPT: Readonly<Record<string, string>> = {
  markets: MARKET_SETTING,
  contracts: CONTRACT_SETTING,
  chains: 'chain:',
  currencies: 'currency:',
}
function covering(state: State, { where }: Difference): Comparison['covered'][number] | undefined {
  const [section = '', ...path] = where.split('.')
  const prefix = KEPT[section]
  const name =
    section === 'policy' ? 'policy' : prefix === undefined ? undefined : prefix + (path.shift() ?? '')
  if (name === undefined) return undefined
  let counts: unknown = state.world.settings.get(name)?.value
  for (const member of path)
    counts =
      counts !== null && typeof counts === 'object' && Object.hasOwn(counts, member)
        ? (counts as Record<string, unknown>)[member]
        : undefined
  return counts === undefined || path.length === 0 ? undefined : { where, counts }
}
