import { DECLARED } from '../core/state.ts'
import { RULES } from '../core/commands.ts'
import { makeWay } from '../runtime/configuration.ts'
import type { Credentials } from '../runtime/credentials.ts'
import { knownCredentials } from '../runtime/folder.ts'
import { ensureWorld } from '../runtime/genesis.ts'
import { loadTables, refuseBehindKept } from '../runtime/loading.ts'
import { primeMarketData } from '../runtime/market-data.ts'
import { ensureCheckpoint } from '../store/checkpoints.ts'
import { checkSeals } from '../store/seals.ts'
import { StoreAway, StoreUnavailable } from '../store/store.ts'
import { startAgain } from './beginning.ts'
import type { Beginning } from './embedding.ts'
import type { Made } from './made.ts'
import type { Warm } from './warm.ts'

/** The world as the store has it, or a new one; tells who may use it. */
export async function openWorld(made: Made, lease: 'free' | 'held' = 'free'): Promise<Credentials> {
  const { config, store, core, state, sums } = made
  // First: from here on whoever held it before knows that his time is up.
  if (lease === 'free') await made.lease?.claim()
  const head = await store.open(sums, DECLARED)
  core.restart(head)
  await refuseBehindKept(config, store)
  await loadTables(store, state)
  await primeMarketData(state, store)
  startClock(made, head.at)
  audit(made)
  // A ledger that does not balance is shown as it is, and nothing is written to it.
  if (core.writesStopped === undefined) {
    await checkSeals(store, state.tables, head, sums)
    await ensureCheckpoint(store, state.tables, head, RULES)
  }
  await made.lease?.settled()
  return makeWorld(made)
}

/** The world as memory has followed it: nothing is loaded. */
export async function takeWorld(made: Made, warm: Warm): Promise<Credentials> {
  const { store, core, state, sums } = made
  const head = await store.openWarm(sums, DECLARED, warm.at!).catch((error: unknown) => {
    // Nothing is taken over then. It is no fault of the settings: whoever supervises it starts it again, and it loads.
    if (!(error instanceof StoreUnavailable) || error instanceof StoreAway) throw error
    throw new StoreAway(`it can't go on from what it followed: ${error.message}`, { cause: error })
  })
  warm.take(head.entries)
  core.restart(head)
  startClock(made, head.at)
  audit(made)
  if (core.writesStopped === undefined) await ensureCheckpoint(store, state.tables, head, RULES)
  await made.lease?.settled()
  return makeWorld(made)
}

/** Back to the world of the first start, or to where it began else, while nothing works. */
export async function emptyWorld(
  made: Made,
  credentials: Credentials,
  beginning: Beginning | undefined,
): Promise<void> {
  const { config, core, faults, secrets, ground } = made
  // A request that was let in before is refused from here on: it must not land in a store that is being emptied.
  const resume = core.suspend('the platform is being reset; send it again in a second')
  await core.idle()
  await (beginning === undefined ? wipeWorld(made) : startAgain(made, beginning))
  resume()
  made.limiter.clear()
  made.failures.clear()
  faults.set([])
  faults.report.clear()
  made.requests.clear()
  made.seen.clear()
  made.desk.valuations.clear()
  made.access.seen.clear()
  if (beginning === undefined) await ensureWorld(core, config, secrets, credentials, ground.keep)
}
async function wipeWorld({ store, core, state, sums, clock }: Made): Promise<void> {
  const head = await store.wipe()
  core.restart(head)
  sums.clear()
  store.sealBehind(head.hash, sums)
  await ensureCheckpoint(store, [], head, RULES)
  for (const table of state.tables) table.clear()
  await primeMarketData(state, store)
  clock.restart()
}

/** The clock goes on where the last run left it. */
function startClock({ config, state, clock }: Made, lastAt: number): void {
  const kept = state.world.settings.get('clock')?.value as { offset: number } | undefined
  clock.distance = config.mode === 'sandbox' ? (kept?.offset ?? 0) : 0
  clock.atLeast(lastAt)
  // A run that ended in the middle of moving the clock left records of a later time.
  if (config.mode === 'sandbox' && clock.peek() === lastAt) clock.distance = clock.distanceTo(lastAt)
}
function audit({ state, core, log }: Made): void {
  const wrong = state.ledger.unbalancedCurrencies
  if (wrong.length === 0) return
  const reason = `the ledger does not balance in ${wrong.join(', ')}: writes are stopped; run: kontor verify`
  log.error(reason)
  core.stopWrites(reason)
}
/** A ledger that does not balance is for reading only: nothing is added to it, not even at start. */
async function makeWorld({ config, core, secrets, store, doors, ground }: Made): Promise<Credentials> {
  const known = knownCredentials(config)
  const { url, operatorUrl } = doors
  const urls = { url, operator_url: operatorUrl === url ? undefined : operatorUrl }
  if (core.writesStopped !== undefined)
    return {
      ...(known ?? { operator_token: config.operatorToken ?? '', key: '', secret: '', accounts: [] }),
      ...urls,
    }
  await makeWay(core, config)
  const first = core.state.world.configured === undefined
  const made = await ensureWorld(core, config, secrets, known, ground.keep)
  // A look at the tables alone tells which world this is: before the next start, and from outside.
  if (first) await store.scan('select sequence from head', () => undefined)
  return { ...made, ...urls }
}
