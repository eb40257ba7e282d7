import { Chains, checkChainKeys } from './chain/chains.ts'
import { Door } from './api/door.ts'
import type { LiveDesk } from './api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from './endpoints.ts'
import { Faults } from './api/faults.ts'
import { Limiter } from './api/limiter.ts'
import { RequestLog } from './api/request-log.ts'
import type { Config } from './config.ts'
import { refuse } from './labels.ts'
import { RULES, commands, type Commands } from './core/commands.ts'
import { Core } from './machine/core.ts'
import { State } from './core/state.ts'
import { unpricedLoans } from './core/unified/lending.ts'
import { fronts } from './fronts.ts'
import { Bodies, BodyRoom } from './http/bodies.ts'
import { Doors } from './http/doors.ts'
import { Network } from './network.ts'
import type { Controls } from './operator/platform.ts'
import { AgentDriver, restAgents } from './agents/driver.ts'
import { Housekeeper } from './runtime/housekeeper.ts'
import { HttpPriceFeed, PriceFeedDriver } from './runtime/price-feed.ts'
import { Clock } from './runtime/clock.ts'
import { makeWay } from './runtime/configuration.ts'
import { DiskGuard, freeBytes, watchSurroundings } from './runtime/disk-guard.ts'
import { knownCredentials } from './runtime/folder.ts'
import type { Credentials } from './runtime/credentials.ts'
import { ensureWorld, secretKey } from './runtime/genesis.ts'
import { standOn, type Ground } from './runtime/ground.ts'
import { loadTables, refuseBehindKept, refuseSimulated, simulatedIn } from './runtime/loading.ts'
import { countingLog, type CountingLog, type Log } from './runtime/log.ts'
import { detailsOf, watchPlatform, watchSize, watchTokens } from './runtime/watch.ts'
import { Metrics } from './runtime/metrics.ts'
import { primeMarketData } from './runtime/market-data.ts'
import { finishRotation } from './runtime/rotation.ts'
import { RiskWatcher } from './runtime/risk-watcher.ts'
import { HeadKeeper } from './runtime/head-keeper.ts'
import { SecretBox, sha256, sumsKey } from './runtime/secrets.ts'
import { Ticker } from './runtime/ticker.ts'
import { WallClockGuard } from './runtime/wall-clock.ts'
import { ensureCheckpoint } from './store/checkpoints.ts'
import { openStore } from './store/open.ts'
import { awayOr } from './store/postgres-client.ts'
import { checkSeals, newSums } from './store/seals.ts'
import { Fenced, StoreLost, type Store } from './store/store.ts'
import { VERSION } from './version.ts'

const WAITING_MAX = 10_000
const FENCE_CHECK_MS = 1_000
const KEY_TOUCH_MS = 30_000

export interface Platform {
  readonly url: string
  /** The same, unless KONTOR_OPERATOR_LISTEN names another. */
  readonly operatorUrl: string
  readonly credentials: Credentials
  readonly desk: LiveDesk
  /** Finishes what is under way, flushes, and closes everything. */
  stop(): Promise<void>
}

/** Listens, sees that there is something to stand on, and builds the platform there. One that fails leaves nothing open. */
export async function startPlatform(
  config: Config,
  given: Log,
  fatal: (error: unknown) => void,
  store: Store = openStore(config),
): Promise<Platform> {
  await checkChainKeys(config.world.chains)
  const log = countingLog(given)
  // The port first: a start that fails on it must not have taken the database from the running platform.
  const doors = new Doors(config, (message, fields) => log.warn(message, fields))
  await doors.listen()
  let ground: Ground | undefined
  try {
    ground = await standOn(config, doors, log, (detail) => doors.tell(detail))
    return await build(config, log, fatal, store, doors, ground)
  } catch (error) {
    await doors.close()
    await store.close()
    await ground?.ownership.release()
    throw awayOr(error)
  }
}

/** The composition root: builds the parts in the order in which they depend on each other. */
async function build(
  config: Config,
  log: CountingLog,
  fatal: (error: unknown) => void,
  store: Store,
  doors: Doors,
  ground: Ground,
): Promise<Platform> {
  let ready = false
  let resetting: Promise<void> | undefined
  const state = new State()
  const { clockStart } = config
  const real = (): number => Date.now() * 1000
  const clock = new Clock(
    clockStart === undefined ? real : () => clockStart * 1e6,
    config.timestamps === 'either' ? real : undefined,
  )
  const metrics = new Metrics()
  const faults = new Faults()
  const requests = new RequestLog()
  const limiter = new Limiter(config.rateLimits)
  const failures = new Limiter(config.rateLimits === null ? null : 1)
  const room = new BodyRoom()
  if (!config.memory && (await finishRotation(config)))
    log.warn('an interrupted change of the secret key was finished')
  const key = secretKey(config, ground.made)
  const secrets = new SecretBox(key)
  const sums = newSums(sumsKey(key))
  const core = new Core<State, Commands>(
    state,
    commands,
    { sequence: 0, hash: '' },
    {
      commit: timed((batch) => store.commit(batch), metrics),
      now: () => clock.now(),
      fatal,
      defect: (error, type) => log.error('a command failed unexpectedly and was undone', { type, error }),
      check: (state) => state.check(),
      waitingMax: WAITING_MAX,
    },
  )
  const chains = new Chains({ core, store, clock, log })
  const desk: LiveDesk = { core, store, clock, chains, secrets, mode: config.mode }
  const risk = new RiskWatcher(core, log)
  const housekeeper = new Housekeeper({ core, store, clock, log })
  const agents =
    config.agents && config.mode === 'sandbox'
      ? new AgentDriver({ core, clock, log, seed: config.agentsSeed, requests: () => metrics.requests })
      : undefined
  const ticker = new Ticker(
    core,
    clock,
    log,
    ({ command, input }) => (command === 'chain.wake' ? chains.step(input['chain'] as string) : undefined),
    (item) => agents?.take(item),
  )
  const wall = clockStart === undefined ? new WallClockGuard({ clock, store, log }) : undefined
  const disk =
    config.databaseUrl !== undefined || config.memory
      ? undefined
      : new DiskGuard({ settings: config.disk, free: () => freeBytes(config.data), suspend: holdWrites, log })
  let feed: PriceFeedDriver | undefined
  const timers: NodeJS.Timeout[] = []
  const watchers: { stop(): void }[] = []
  const seen = new Map<string, number>()
  const controls: Controls = {
    version: VERSION,
    get warnings() {
      return [
        ...warningsOf(config, simulatedIn(state.world.allChains)),
        ...(disk?.warnings ?? []),
        ...(wall?.warnings ?? []),
      ]
    },
    faults,
    requests,
    agents,
    advanceTo: async (micros, operator) => {
      const move = (): Promise<number> => ticker.advanceTo(micros, operator)
      const failed = await (agents === undefined ? move() : agents.duringMove(micros - clock.peek(), move))
      await settle()
      return failed
    },
    settle,
    reset,
    gateways: () => network.list(),
  }
  const answers = fronts({
    config,
    desk,
    trading: tradingEndpoints,
    operator: operatorEndpoints(controls),
    limiter,
    door: new Door(desk, failures, config.authFailures, seen),
    bodies: new Bodies(room),
    faults,
    requests: config.mode === 'sandbox' ? requests : undefined,
    metrics,
    log,
    ready: () => ready,
    healthy: () => ready && core.writesStopped === undefined,
    version: VERSION,
    details: () => detailsOf({ core, chains }),
  })
  const { url, operatorUrl } = doors
  const network = new Network({ config, doors, answers, room, log })
  const urls = { url, operator_url: operatorUrl === url ? undefined : operatorUrl }
  let credentials: Credentials
  let keeper: HeadKeeper | undefined
  try {
    const head = await store.open(sums)
    core.restart(head)
    await refuseBehindKept(config, store)
    await loadTables(store, state)
    await primeMarketData(state, store)
    startClock(head.at)
    audit()
    // A ledger that does not balance is shown as it is, and nothing is written to it.
    if (core.writesStopped === undefined) {
      await checkSeals(store, state.tables, head, sums)
      await ensureCheckpoint(store, state.tables, head, RULES)
    }
    credentials = { ...(await makeWorld(knownCredentials(config))), ...urls }
    await setOut()
    await network.start()
  } catch (error) {
    await network.close()
    await rest()
    throw error
  }
  network.open()
  ready = true

  return { url, operatorUrl, credentials, desk, stop }

  /** Everything that works by itself, from here on. */
  async function setOut(): Promise<void> {
    refuseSimulated(config, state)
    for (const warning of controls.warnings) log.warn(warning)
    if (config.mode === 'live') warnOfWaiting(state, log, config.operatorToken)
    watchPlatform(metrics, { core, chains, store, clock, log, room, doors: network })
    watchSurroundings(metrics, disk, wall)
    watchers.push(watchSize(metrics, store), watchTokens({ core, clock, log }))
    timers.push(
      setInterval(() => void store.checkFence().catch(fencedOrGone), FENCE_CHECK_MS),
      setInterval(() => void touchKeys(), KEY_TOUCH_MS),
    )
    if (core.writesStopped === undefined) {
      if (agents === undefined) await restAgents(core)
      await chains.start()
      ticker.start()
      risk.start()
      housekeeper.start()
      await agents?.start()
      await startFeed()
      tellUnpriced()
    }
    if (config.keepHead !== undefined)
      keeper = new HeadKeeper(config.keepHead, () => ({ ...core.committed, at: clock.peek() }), log)
    keeper?.start()
    wall?.start()
    await disk?.start()
  }
  /** Nothing works by itself any more, but for the chains. */
  function pause(): void {
    agents?.stop()
    feed?.stop()
    ticker.stop()
    risk.stop()
    housekeeper.stop()
    for (const timer of timers) clearInterval(timer)
    for (const watcher of watchers) watcher.stop()
  }
  async function rest(): Promise<void> {
    pause()
    await chains.stop()
    wall?.stop()
    disk?.stop()
  }
  function holdWrites(reason: string): () => void {
    const resume = core.suspend(reason)
    return () => {
      resume()
      void chains.settle()
    }
  }
  /** The clock goes on where the last run left it. */
  function startClock(lastAt: number): void {
    const kept = state.world.settings.get('clock')?.value as { offset: number } | undefined
    clock.distance = config.mode === 'sandbox' ? (kept?.offset ?? 0) : 0
    clock.atLeast(lastAt)
    // A run that ended in the middle of moving the clock left records of a later time.
    if (config.mode === 'sandbox' && clock.peek() === lastAt) clock.distance = clock.distanceTo(lastAt)
  }
  function audit(): void {
    const wrong = state.ledger.unbalancedCurrencies
    if (wrong.length === 0) return
    const reason = `the ledger does not balance in ${wrong.join(', ')}: writes are stopped; run: kontor verify`
    log.error(reason)
    core.stopWrites(reason)
  }
  function fencedOrGone(error: unknown): void {
    if (error instanceof Fenced || error instanceof StoreLost) fatal(error)
    else log.warn('the store did not answer', { error })
  }
  async function touchKeys(): Promise<void> {
    if (seen.size === 0 || core.writesStopped !== undefined || core.held !== undefined) return
    const pairs = [...seen]
    seen.clear()
    await core.submit('key.touch', { seen: pairs }).catch(() => undefined)
  }
  /** A ledger that does not balance is for reading only: nothing is added to it, not even at start. */
  async function makeWorld(known: Credentials | undefined): Promise<Credentials> {
    if (core.writesStopped !== undefined)
      return (
        known ?? { ...urls, operator_token: config.operatorToken ?? '', key: '', secret: '', accounts: [] }
      )
    await makeWay(core, config)
    const made = await ensureWorld(core, config, secrets, known, ground.keep)
    // A look at the tables alone tells which world this is: before the next start, and from outside.
    await store.query('select sequence from head', [])
    return made
  }
  async function settle(): Promise<void> {
    // What the watcher handed on by itself in the meantime is due as well.
    for (let handed = 1; handed > 0;) {
      handed = await risk.settle()
      await ticker.runNow()
    }
  }
  function reset(): Promise<void> {
    if (resetting === undefined && core.held !== undefined) refuse('TOO_BUSY', core.held)
    return (resetting ??= startOver()
      .catch((error: unknown) => {
        // Memory and store no longer agree: the next start sorts it out.
        fatal(error)
        throw error
      })
      .finally(() => (resetting = undefined)))
  }
  async function startOver(): Promise<void> {
    ready = false
    disk?.stop()
    ticker.stop()
    risk.stop()
    housekeeper.stop()
    agents?.stop()
    feed?.stop()
    await chains.stop()
    // A request that was let in before is refused from here on: it must not land in a store that is being emptied.
    const resume = core.suspend('the platform is being reset; send it again in a second')
    await core.idle()
    const head = await store.wipe()
    core.restart(head)
    sums.clear()
    store.sealBehind(head.hash, sums)
    await ensureCheckpoint(store, [], head, RULES)
    for (const table of state.tables) table.clear()
    await primeMarketData(state, store)
    resume()
    clock.restart()
    limiter.clear()
    failures.clear()
    faults.set([])
    faults.report.clear()
    requests.clear()
    seen.clear()
    await ensureWorld(core, config, secrets, credentials, ground.keep)
    await agents?.start()
    await chains.start()
    ticker.start()
    risk.start()
    housekeeper.start()
    await startFeed()
    await disk?.start()
    ready = true
  }
  /** Prices from outside; without a feed, those that an earlier one left are forgotten. */
  async function startFeed(): Promise<void> {
    const { priceFeed } = state.world
    if (priceFeed === undefined) {
      await core.submit('prices.feed', { prices: {} })
      return
    }
    const { url, second_url } = priceFeed
    const second = second_url === undefined ? undefined : new HttpPriceFeed(second_url)
    feed = new PriceFeedDriver(core, log, new HttpPriceFeed(url), priceFeed, second)
    await feed.start()
  }
  /** Nothing is lent without a trusted price, and live mode makes none up: whoever started it should know. */
  function tellUnpriced(): void {
    const names = unpricedLoans(state)
    if (names.length === 0) return
    log.warn(
      'nothing is lent of currencies without a trusted index price: set price_feed, index_price_trusted or PUT /operator/v1/prices',
      {
        currencies: names.join(', '),
      },
    )
  }
  async function stop(): Promise<void> {
    pause()
    await network.close()
    await chains.stop()
    await touchKeys()
    await core.idle()
    await rest()
    await keeper?.stop()
    await store.close()
    await ground.ownership.release()
  }
}

/** What a start in live mode found changed outside and did not take over: two admins decide. */
function warnOfWaiting(state: State, log: Log, token: string | undefined): void {
  if (token !== undefined && state.operators.byToken.get(sha256(token)) === undefined)
    log.warn(
      'KONTOR_OPERATOR_TOKEN is not the token of an operator: it counts at the first start alone; see kontor operator recover --help',
    )
  for (const { id, call } of state.proposals.waiting())
    log.warn('a proposal waits for the admins: GET /operator/v1/proposals', { id, call })
}

/** What an operator should know about the settings, in the log, in the status and of `doctor`. */
export const warningsOf = ({ mode, rehearsed }: Config, served = rehearsed): string[] =>
  mode === 'sandbox' || served.length === 0
    ? []
    : [`simulated chains are served in live mode (KONTOR_SIMULATED_CHAINS=allow): ${served.join(', ')}`]

/** How long it takes until a batch is durable, for the metrics. */
const timed =
  <B, R>(commit: (batch: B) => Promise<R>, metrics: Metrics) =>
  async (batch: B): Promise<R> => {
    const from = performance.now()
    const landed = await commit(batch)
    metrics.commit(performance.now() - from)
    return landed
  }
