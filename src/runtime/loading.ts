import { existsSync } from 'node:fs'
import { ConfigError, type Config } from '../config.ts'
import type { State } from '../core/state.ts'
import type { ChainConfig } from '../core/world/chains.ts'
import { BrokenInvariant } from '../labels.ts'
import { behindKept, readKeptHead } from '../store/kept-head.ts'
import { StoreUnavailable, type Store } from '../store/store.ts'
import { isUrl } from './head-keeper.ts'

/** Rows that no rule could have written are the database's fault, not the program's. */
export async function loadTables(store: Store, state: State): Promise<void> {
  try {
    await store.load(state.tables)
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    if (!(error instanceof BrokenInvariant || error instanceof TypeError || error instanceof SyntaxError))
      throw error
    const { message } = (error.cause ?? error) as Error
    throw new StoreUnavailable(
      `the database holds rows that can't be: ${message}; run: kontor verify, and restore it from a backup`,
    )
  }
}

/** A database that was cut back, or replaced by an older copy, can't tell by itself. */
export async function refuseBehindKept({ keepHead }: Config, store: Store): Promise<void> {
  if (keepHead === undefined || isUrl(keepHead) || !existsSync(keepHead)) return
  const wrong = await behindKept(store, readKeptHead(keepHead))
  if (wrong !== undefined)
    throw new StoreUnavailable(`KONTOR_HEAD ${keepHead}: ${wrong}; remove the file to start all the same`)
}

/** A live database may still have simulated chains from a rehearsal: nobody gets an address on them unawares. */
export function refuseSimulated({ mode, simulatedChains }: Config, { world }: State): void {
  const served = simulatedIn(world.allChains)
  if (mode !== 'live' || simulatedChains === 'allow' || served.length === 0) return
  throw new ConfigError(
    `KONTOR_SIMULATED_CHAINS is ${simulatedChains ?? 'not set'}, and this database serves the simulated chains ${served.join(', ')} until two admins confirm the changed configuration: start with allow until then, or name another database`,
  )
}
export const simulatedIn = (chains: readonly ChainConfig[]): string[] =>
  chains.filter(({ kind }) => kind === 'simulated').map(({ chain }) => chain)
