import { existsSync, readFileSync } from 'node:fs'
import { Chains } from './chain/chains.ts'
import { Bodies } from './api/bodies.ts'
import { Door } from './api/door.ts'
import type { Desk } from './api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from './endpoints.ts'
import { Faults } from './api/faults.ts'
import { Limiter } from './api/limiter.ts'
import { Metrics } from './api/metrics.ts'
import { RequestLog } from './api/request-log.ts'
import { ConfigError, type Config } from './config.ts'
import { BrokenInvariant } from './labels.ts'
import { RULES, commands, type Commands } from './core/commands.ts'
import { Core } from './core/core.ts'
import { State } from './core/state.ts'
import { unpricedLoans } from './core/unified/lending.ts'
import { tighten } from './files.ts'
import { Listeners } from './listeners.ts'
import type { Controls } from './operator/platform.ts'
import { AgentDriver, restAgents } from './runtime/agents.ts'
import { Housekeeper } from './runtime/housekeeper.ts'
import { HttpPriceFeed, PriceFeedDriver } from './runtime/price-feed.ts'
import { Clock } from './runtime/clock.ts'
import { makeWay } from './runtime/configuration.ts'
import {
  ensureWorld,
  readCredentials,
  secretKey,
  writeCredentials,
  type Credentials,
} from './runtime/genesis.ts'
import { countingLog, type Log } from './runtime/log.ts'
import { detailsOf, watchPlatform, watchSize, watchTokens } from './runtime/watch.ts'
import { primeMarketData } from './runtime/market-data.ts'
import { finishRotation } from './runtime/rotation.ts'
import { RiskWatcher } from './runtime/risk-watcher.ts'
import { HeadKeeper, isUrl } from './runtime/head-keeper.ts'
import { SecretBox, sha256, sumsKey } from './runtime/secrets.ts'
import { Ticker } from './runtime/ticker.ts'
import { ensureCheckpoint } from './store/checkpoints.ts'
import { behindKept, readKeptHead } from './store/kept-head.ts'
import { modeOf, openStore } from './store/open.ts'
import { checkSeals, newSums } from './store/seals.ts'
import { Fenced, StoreLost, StoreUnavailable, type Store } from './store/store.ts'

export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

const WAITING_MAX = 10_000
const FENCE_CHECK_MS = 1_000
const KEY_TOUCH_MS = 30_000

export interface Platform {
  readonly url: string
  /** The same, unless KONTOR_OPERATOR_LISTEN names another. */
  readonly operatorUrl: string
  readonly credentials: Credentials
  readonly desk: Desk
  /** Finishes what is under way, flushes, and closes everything. */
  stop(): Promise<void>
}

/** The composition root: builds the parts in the order in which they depend on each other. */
export async function startPlatform(
  config: Config,
  given: Log,
  fatal: (error: unknown) => void,
  store: Store = openStore(config),
): Promise<Platform> {
  const log = countingLog(given)
  await checkMode(config)
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
  const bodies = new Bodies()
  keepPrivate()
  if (await finishRotation(config)) log.warn('an interrupted change of the secret key was finished')
  const key = secretKey(config)
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
  const desk: Desk = { core, store, clock, chains, secrets, mode: config.mode }
  const risk = new RiskWatcher(core, log)
  const housekeeper = new Housekeeper({ core, store, clock, log })
  const ticker = new Ticker(core, clock, log, ({ command, input }) =>
    command === 'chain.wake' ? chains.step(input['chain'] as string) : undefined,
  )
  const agents =
    config.agents && config.mode === 'sandbox'
      ? new AgentDriver(core, log, config.agentsSeed, () => metrics.requests)
      : undefined
  let feed: PriceFeedDriver | undefined
  const seen = new Map<string, number>()
  const controls: Controls = {
    version: VERSION,
    warnings: warningsOf(config),
    faults,
    requests,
    advanceTo: async (micros, operator) => {
      const move = (): Promise<number> => ticker.advanceTo(micros, operator)
      const failed = await (agents === undefined ? move() : agents.duringMove(micros - clock.peek(), move))
      await settle()
      return failed
    },
    settle,
    reset,
  }
  const listeners = new Listeners({
    config,
    desk,
    trading: tradingEndpoints,
    operator: operatorEndpoints(controls),
    limiter,
    door: new Door(desk, failures, config.authFailures, seen),
    bodies,
    faults,
    requests: config.mode === 'sandbox' ? requests : undefined,
    metrics,
    log,
    ready: () => ready,
    healthy: () => ready && core.writesStopped === undefined,
    site: { version: VERSION, metrics: () => metrics.text(), details: () => detailsOf({ core, chains }) },
  })
  // The port first: a start that fails on it must not have taken the database from the running platform.
  const { url, operatorUrl } = await listeners.listen()
  const urls = { url, operator_url: operatorUrl === url ? undefined : operatorUrl }
  let credentials: Credentials
  try {
    const head = await store.open()
    core.restart(head)
    await refuseBehindKept()
    await load()
    await primeMarketData(state, store)
    startClock(head.at)
    audit()
    // A ledger that does not balance is shown as it is, and nothing is written to it.
    if (core.writesStopped === undefined) {
      await checkSeals(store, state.tables, head, sums)
      await ensureCheckpoint(store, state.tables, head, RULES)
    }
    credentials = { ...(await makeWorld(known())), ...urls }
  } catch (error) {
    await listeners.close()
    await store.close()
    throw error
  }
  for (const warning of controls.warnings) log.warn(warning)
  if (config.mode === 'live') warnOfWaiting(state, log, config.operatorToken)
  watchPlatform(metrics, { core, chains, store, clock, log, bodies, listeners })
  const watchers = [watchSize(metrics, store), watchTokens({ core, clock, log })]
  const timers = [
    setInterval(() => void store.checkFence().catch(fencedOrGone), FENCE_CHECK_MS),
    setInterval(() => void touchKeys(), KEY_TOUCH_MS),
  ]
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
  const keeper =
    config.keepHead === undefined
      ? undefined
      : new HeadKeeper(config.keepHead, () => ({ ...core.committed, at: clock.peek() }), log)
  keeper?.start()
  ready = true

  return { url, operatorUrl, credentials, desk, stop }

  /** Rows that no rule could have written are the database's fault, not the program's. */
  async function load(): Promise<void> {
    try {
      await store.load(state.tables)
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) throw error
      const { message } = (error.cause ?? error) as Error
      throw new StoreUnavailable(`the database holds rows that can't be: ${message}; run: kontor verify`)
    }
  }
  /** What the data folder holds is nobody else's business. */
  function keepPrivate(): void {
    for (const path of tighten(config.data)) {
      const why = `${path} can be read by others and can't be closed to them; give it to this user alone`
      if (config.mode === 'live') throw new ConfigError(`KONTOR_DATA ${why}`)
      log.warn(why)
    }
  }
  /** A live platform keeps no token in a file, and takes none from one that lies there. */
  function known(): Credentials | undefined {
    return config.mode === 'sandbox' ? readCredentials(config) : undefined
  }
  /** The clock goes on where the last run left it. */
  function startClock(lastAt: number): void {
    const kept = state.world.settings.get('clock')?.value as { offset: number } | undefined
    clock.distance = config.mode === 'sandbox' ? (kept?.offset ?? 0) : 0
    clock.atLeast(lastAt)
    // A run that ended in the middle of moving the clock left records of a later time.
    if (config.mode === 'sandbox' && clock.peek() === lastAt) clock.distance = clock.distanceTo(lastAt)
  }
  /** A database that was cut back, or replaced by an older copy, can't tell by itself. */
  async function refuseBehindKept(): Promise<void> {
    const { keepHead } = config
    if (keepHead === undefined || isUrl(keepHead) || !existsSync(keepHead)) return
    const wrong = await behindKept((sql, values) => store.query(sql, values), readKeptHead(keepHead))
    if (wrong !== undefined)
      throw new StoreUnavailable(`KONTOR_HEAD ${keepHead}: ${wrong}; remove the file to start all the same`)
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
    if (seen.size === 0 || core.writesStopped !== undefined) return
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
    return ensureWorld(core, config, secrets, known, keep)
  }
  function keep(credentials: Credentials): void {
    if (config.mode === 'sandbox') writeCredentials(config, { ...credentials, ...urls })
  }
  async function settle(): Promise<void> {
    // What the watcher handed on by itself in the meantime is due as well.
    for (let handed = 1; handed > 0;) {
      handed = await risk.settle()
      await ticker.runNow()
    }
  }
  function reset(): Promise<void> {
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
    requests.clear()
    seen.clear()
    await ensureWorld(core, config, secrets, credentials, keep)
    await agents?.start()
    await chains.start()
    ticker.start()
    risk.start()
    housekeeper.start()
    await startFeed()
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
    agents?.stop()
    feed?.stop()
    ticker.stop()
    risk.stop()
    housekeeper.stop()
    for (const timer of timers) clearInterval(timer)
    for (const watcher of watchers) watcher.stop()
    await listeners.close()
    await chains.stop()
    await touchKeys()
    await core.idle()
    await keeper?.stop()
    await store.close()
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

/** Before the database is taken over, or anything written beside it: play money and real money never mix. */
async function checkMode(config: Config): Promise<void> {
  const made = await modeOf(config)
  if (made !== undefined && made !== config.mode)
    throw new ConfigError(
      `KONTOR_MODE ${config.mode}: this database was made in ${made} mode, and stays what it is; name another KONTOR_DATA or KONTOR_DATABASE_URL`,
    )
}
/** What an operator should know about the settings, in the log, in the status and of `doctor`. */
export const warningsOf = ({ rehearsed }: Config): string[] =>
  rehearsed.length === 0
    ? []
    : [`simulated chains are served in live mode (KONTOR_SIMULATED_CHAINS=allow): ${rehearsed.join(', ')}`]

/** How long it takes until a batch is durable, for the metrics. */
const timed =
  <B, R>(commit: (batch: B) => Promise<R>, metrics: Metrics) =>
  async (batch: B): Promise<R> => {
    const from = performance.now()
    const landed = await commit(batch)
    metrics.commit(performance.now() - from)
    return landed
  }
