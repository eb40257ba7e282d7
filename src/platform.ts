import { existsSync } from 'node:fs'
import { Chains } from './chain/chains.ts'
import { Bodies } from './api/bodies.ts'
import { Cors } from './api/cors.ts'
import { Door } from './api/door.ts'
import type { Desk } from './api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from './endpoints.ts'
import { Faults } from './api/faults.ts'
import { Front } from './api/front.ts'
import { Gateway } from './api/gateway.ts'
import { Hosts } from './api/hosts.ts'
import { Limiter } from './api/limiter.ts'
import { Metrics } from './api/metrics.ts'
import { RequestLog } from './api/request-log.ts'
import { ConfigError, type Config } from './config.ts'
import { BrokenInvariant } from './labels.ts'
import { RULES, commands, type Commands } from './core/commands.ts'
import { Core } from './core/core.ts'
import { State } from './core/state.ts'
import { unpricedLoans } from './core/unified/lending.ts'
import { Site } from './docs/site.ts'
import { tighten } from './files.ts'
import type { Controls } from './operator/platform.ts'
import { AgentDriver, restAgents } from './runtime/agents.ts'
import { Housekeeper } from './runtime/housekeeper.ts'
import { HttpPriceFeed, PriceFeedDriver } from './runtime/price-feed.ts'
import { Clock } from './runtime/clock.ts'
import { makeWay } from './runtime/configuration.ts'
import { connectionsByDescriptors } from './runtime/descriptors.ts'
import { readCredentials, writeCredentials, type Credentials } from './runtime/credentials.ts'
import { ensureWorld, secretKey } from './runtime/genesis.ts'
import type { Log } from './runtime/log.ts'
import { primeMarketData } from './runtime/market-data.ts'
import { RiskWatcher } from './runtime/risk-watcher.ts'
import { HeadKeeper, isUrl } from './runtime/head-keeper.ts'
import { SecretBox, sha256, sumsKey } from './runtime/secrets.ts'
import { HttpServer } from './runtime/server.ts'
import { Ticker } from './runtime/ticker.ts'
import { ensureCheckpoint } from './store/checkpoints.ts'
import { behindKept, readKeptHead } from './store/kept-head.ts'
import { modeOf, openStore } from './store/open.ts'
import { checkSeals, newSums } from './store/seals.ts'
import { Fenced, StoreLost, StoreUnavailable, type Store } from './store/store.ts'
import { VERSION } from './version.ts'

const WAITING_MAX = 10_000
const FENCE_CHECK_MS = 1_000
/** From one address at least, however few there may be in all. */
const ADDRESS_CONNECTIONS = 300
const KEY_TOUCH_MS = 30_000

export interface Platform {
  readonly url: string
  readonly credentials: Credentials
  readonly desk: Desk
  /** Finishes what is under way, flushes, and closes everything. */
  stop(): Promise<void>
}

/** The composition root: builds the parts in the order in which they depend on each other. */
export async function startPlatform(
  config: Config,
  log: Log,
  fatal: (error: unknown) => void,
  store: Store = openStore(config),
): Promise<Platform> {
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
  const key = secretKey(config)
  const secrets = new SecretBox(key)
  const sums = newSums(sumsKey(key))
  const core = new Core<State, Commands>(
    state,
    commands,
    { sequence: 0, hash: '' },
    {
      commit: (batch) => store.commit(batch),
      now: () => clock.now(),
      fatal,
      defect: (error, type) => log.error('a command failed unexpectedly and was undone', { type, error }),
      check: (state) => state.check(),
      waitingMax: WAITING_MAX,
      sums,
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
  const operatorApi = operatorEndpoints(controls)
  const gateway = new Gateway({
    desk,
    endpoints: [
      { prefix: '/api/v4', list: tradingEndpoints },
      { prefix: '/operator/v1', list: operatorApi },
    ],
    limiter,
    door: new Door(desk, failures, config.authFailures, seen),
    bodies,
    faults,
    requests: config.mode === 'sandbox' ? requests : undefined,
    metrics,
    log,
    trustProxy: config.trustProxy,
    ready: () => ready,
  })
  const site = new Site({
    trading: tradingEndpoints,
    operator: operatorApi,
    version: VERSION,
    limiter,
    now: () => clock.peek(),
    trustProxy: config.trustProxy,
    metrics: () => metrics.text(),
    ready: () => ready && core.writesStopped === undefined,
  })
  const front = new Front(new Hosts([config.host, ...config.hosts]), site, gateway, new Cors(config.cors))
  const connections = config.sockets.connections ?? connectionsByDescriptors()
  const server = new HttpServer({
    serve: (request, response) => front.serve(request, response),
    warn: (message, fields) => log.warn(message, fields),
    connections,
    // Behind a proxy all connections are the proxy's.
    addressConnections:
      config.trustProxy > 0
        ? connections
        : (config.sockets.addressConnections ?? Math.max(ADDRESS_CONNECTIONS, Math.ceil(connections / 4))),
    requestMs: config.sockets.requestSeconds * 1000,
  })
  // The port first: a start that fails on it must not have taken the database from the running platform.
  const port = await server.listen(config.host, config.port)
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
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
    credentials = { ...(await makeWorld(known())), url }
  } catch (error) {
    await server.close()
    await store.close()
    throw error
  }
  for (const warning of controls.warnings) log.warn(warning)
  if (config.mode === 'live') warnOfWaiting(state, log, config.operatorToken)
  watch(metrics, core)
  metrics.watch(
    'kontor_loan_currencies_unpriced',
    'gauge',
    'Currencies to lend that have no trusted index price.',
    () => unpricedLoans(state).length,
  )
  watchSockets(metrics, server, bodies)
  metrics.watch('kontor_chain_displaced', 'gauge', 'Own transactions whose nonce somebody else used.', () =>
    state.world.allChains.reduce((sum, { chain }) => sum + chains.displaced(chain).length, 0),
  )
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

  return { url, credentials, desk, stop }

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
    if (config.memory) return
    for (const path of tighten(config.data)) {
      const why = `${path} can be read by others and can't be closed to them; give it to this user alone`
      if (config.mode === 'live') throw new ConfigError(`KONTOR_DATA ${why}`)
      log.warn(why)
    }
  }
  /** A live platform keeps no token in a file, and takes none from one that lies there. */
  function known(): Credentials | undefined {
    return config.mode === 'sandbox' && !config.memory ? readCredentials(config) : undefined
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
      return known ?? { url, operator_token: config.operatorToken ?? '', key: '', secret: '', accounts: [] }
    await makeWay(core, config)
    return ensureWorld(core, config, secrets, known, keep)
  }
  function keep(credentials: Credentials): void {
    if (config.mode === 'sandbox') writeCredentials(config, { ...credentials, url })
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
    await server.close()
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

function watch(metrics: Metrics, core: Core<State, Commands>): void {
  metrics.watch('kontor_sequence', 'counter', 'Committed batches.', () => core.committed.sequence)
  metrics.watch('kontor_commands_waiting', 'gauge', 'Commands waiting for their commit.', () => core.waiting)
  metrics.watch('kontor_writes_stopped', 'gauge', '1 when the ledger does not balance.', () =>
    core.writesStopped === undefined ? 0 : 1,
  )
  metrics.watch(
    'kontor_due_failed',
    'gauge',
    'Due work that failed and was put aside.',
    () => core.state.due.failed.size,
  )
  metrics.watch('process_resident_memory_bytes', 'gauge', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.watch('process_uptime_seconds', 'counter', 'Time since the start.', () => process.uptime())
}
function watchSockets(metrics: Metrics, server: HttpServer, bodies: Bodies): void {
  metrics.watch('kontor_connections', 'gauge', 'Open connections.', () => server.connections)
  metrics.watch('kontor_connections_refused', 'counter', 'Connections over a limit.', () => server.refused)
  metrics.watch('kontor_connections_cut', 'counter', 'Clients that did not read.', () => server.cut)
  metrics.watch('kontor_body_bytes', 'gauge', 'Bytes of unfinished request bodies.', () => bodies.waiting)
}
