import type { Config } from '../config.ts'
import { RULES, commands, type Commands } from '../core/commands.ts'
import { Core } from '../machine/core.ts'
import { DECLARED, State } from '../core/state.ts'
import { Clock } from '../runtime/clock.ts'
import { createLog } from '../runtime/log.ts'
import { Ownership } from '../runtime/ownership.ts'
import { existingKey } from '../runtime/genesis.ts'
import { finishRotation } from '../runtime/rotation.ts'
import { sumsKey } from '../runtime/secrets.ts'
import { ensureCheckpoint } from '../store/checkpoints.ts'
import { openOwnerLock, openSnapshot, openStore } from '../store/open.ts'
import { thisProcess } from '../store/owner.ts'
import { checkSeals, compareSeals, countAll, makeSeals, newSums } from '../store/seals.ts'
import { StoreUnavailable } from '../store/store.ts'

/** What a command finds on the store: the core that writes, and what was not as the platform had left it. */
interface OnStore {
  readonly core: Core<State, Commands>
  /** Of `vouch` alone: otherwise nothing may differ. */
  readonly differing: readonly string[]
}

/**
 * Works on the store that the settings name, as the platform itself would, while it does not run: one that a living
 * process owns is refused. `vouch`: rows that it did not write are taken as they are, under new sums; left out, they
 * are refused. `newKey`: every row is compared with the sums of the old key, and what is committed carries those of the
 * new one.
 */
export async function onStore<T>(
  command: string,
  place: Config,
  act: (on: OnStore) => Promise<T>,
  { vouch = false, newKey }: { readonly vouch?: boolean; readonly newKey?: string } = {},
): Promise<T> {
  // Tells a wrong folder, or another version's, before anything is taken over.
  await (await openSnapshot(place)).close()
  const log = createLog('warn', (line) => process.stderr.write(`${line}\n`))
  const me = thisProcess(`kontor ${command}`)
  const ownership = await Ownership.claim(openOwnerLock(place), me, place, log, 'stop that one first')
  try {
    return await work(place, act, vouch, newKey)
  } finally {
    await ownership.release()
  }
}
async function work<T>(
  place: Config,
  act: (on: OnStore) => Promise<T>,
  vouch: boolean,
  newKey: string | undefined,
): Promise<T> {
  await finishRotation(place)
  const old = newSums(sumsKey(existingKey(place)))
  const sums = newKey === undefined ? old : newSums(sumsKey(newKey))
  const store = openStore(place)
  const state = new State()
  const clock = new Clock()
  let fault: unknown
  try {
    const head = await store.open(old, DECLARED)
    const differing =
      vouch || newKey !== undefined
        ? await compareSeals((sql, row) => store.scan(sql, row), head, old.key, DECLARED)
        : []
    if (newKey !== undefined && differing.length > 0)
      throw new StoreUnavailable(
        `${differing[0]!}; nothing was changed: run kontor verify first, or start this version once if it has never run`,
      )
    await store.load(state.tables)
    if (vouch) await makeSeals(store, state.tables, head, sums)
    else await checkSeals(store, state.tables, head, old)
    await ensureCheckpoint(store, state.tables, head, RULES)
    if (newKey !== undefined) {
      await countAll(store, state.tables, sums)
      store.sealBehind(head.hash, sums)
    }
    clock.atLeast(head.at)
    const core = new Core<State, Commands>(state, commands, head, {
      commit: (batch) => store.commitDirect(batch),
      asText: true,
      now: () => clock.now(),
      fatal: (error) => (fault = error),
      defect: (error) => (fault = error),
      check: (state) => state.check(),
      waitingMax: 1,
    })
    const result = await act({ core, differing })
    await core.idle()
    if (fault !== undefined) throw fault as Error
    return result
  } finally {
    await store.close()
  }
}
