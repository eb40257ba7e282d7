import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Chains } from './chain/chains.ts'
import type { AnyEndpoint, Desk } from './api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from './endpoints.ts'
import { Faults } from './api/faults.ts'
import { Gateway } from './api/gateway.ts'
import { sendText } from './api/http.ts'
import { Limiter } from './api/limiter.ts'
import { Metrics } from './api/metrics.ts'
import type { Config } from './config.ts'
import { commands, type Commands } from './core/commands.ts'
import { Core } from './core/core.ts'
import { State } from './core/state.ts'
import { openapi } from './docs/openapi.ts'
import { landingPage, referencePage } from './docs/pages.ts'
import type { Controls } from './operator/platform.ts'
import { AgentDriver, restAgents } from './runtime/agents.ts'
import { Housekeeper } from './runtime/housekeeper.ts'
import { HttpPriceFeed, PriceFeedDriver } from './runtime/price-feed.ts'
import { Clock } from './runtime/clock.ts'
import {
  ensureWorld,
  readCredentials,
  secretKey,
  writeCredentials,
  type Credentials,
} from './runtime/genesis.ts'
import type { Log } from './runtime/log.ts'
import { primeMarketData } from './runtime/market-data.ts'
import { RiskWatcher } from './runtime/risk-watcher.ts'
import { SecretBox, sha256 } from './runtime/secrets.ts'
import { HttpServer } from './runtime/server.ts'
import { Ticker } from './runtime/ticker.ts'
import { openStore } from './store/open.ts'
import { Fenced, StoreLost, type Store } from './store/store.ts'

export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

const WAITING_MAX = 10_000
const VENDOR_PREFIX = 'Svc'
const FENCE_CHECK_MS = 1_000
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
  let ready = false
  let resetting: Promise<void> | undefined
  const state = new State()
  const { clockStart } = config
  const clock = clockStart === undefined ? new Clock() : new Clock(() => clockStart * 1e6)
  const metrics = new Metrics()
  const faults = new Faults()
  const limiter = new Limiter(config.rateLimits)
  const secrets = new SecretBox(secretKey(config))
  const core = new Core<State, Commands>(
    state,
    commands,
    { sequence: 0, hash: '' },
    {
      commit: (batch) => store.commit(batch),
      now: () => clock.now(),
      fatal,
      defect: (error, type) => log.error('a command failed unexpectedly and was undone', { type, error }),
      check: ({ ledger }) => ledger.check(),
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
    faults,
    advanceTo: async (micros, operator) => {
      const move = (): Promise<void> => ticker.advanceTo(micros, operator)
      await (agents === undefined ? move() : agents.duringMove(micros - clock.peek(), move))
      await settle()
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
    faults,
    metrics,
    log,
    trustProxy: config.trustProxy,
    vendorPrefix: VENDOR_PREFIX,
    ready: () => ready,
    seen,
  })
  const pages = servePages({ metrics, ready: () => ready && core.writesStopped === undefined, operatorApi })
  const server = new HttpServer((request, response) => {
    if (!pages(request, response)) void gateway.serve(request, response)
  })
  // The port first: a start that fails on it must not have taken the database from the running platform.
  const port = await server.listen(config.host, config.port)
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  let credentials: Credentials
  try {
    const head = await store.open()
    core.restart(head)
    await store.load(state.tables)
    await primeMarketData(state, store)
    startClock(head.at)
    audit()
    credentials = { ...(await makeWorld(readCredentials(config))), url }
  } catch (error) {
    await server.close()
    await store.close()
    throw error
  }
  if (config.mode === 'live') warnOfWaiting(state, log, config.operatorToken)
  watch(metrics, core)
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
  }
  ready = true

  return { url, credentials, desk, stop }

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
    if (seen.size === 0 || core.writesStopped !== undefined) return
    const pairs = [...seen]
    seen.clear()
    await core.submit('key.touch', { seen: pairs }).catch(() => undefined)
  }
  /** A ledger that does not balance is for reading only: nothing is added to it, not even at start. */
  function makeWorld(known: Credentials | undefined): Promise<Credentials> {
    if (core.writesStopped === undefined) return ensureWorld(core, config, secrets, known, keep)
    return Promise.resolve(
      known ?? { url, operator_token: config.operatorToken ?? '', key: '', secret: '', accounts: [] },
    )
  }
  function keep(credentials: Credentials): void {
    writeCredentials(config, { ...credentials, url })
  }
  async function settle(): Promise<void> {
    while ((await risk.settle()) > 0) await ticker.runNow()
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
    core.restart(await store.wipe())
    for (const table of state.tables) table.clear()
    await primeMarketData(state, store)
    resume()
    clock.restart()
    limiter.clear()
    faults.set([])
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
    feed = new PriceFeedDriver(core, log, new HttpPriceFeed(priceFeed.url), priceFeed)
    await feed.start()
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

/** Everything that is not an API: pages for people, signs of life for machines. */
function servePages(parts: {
  metrics: Metrics
  ready: () => boolean
  operatorApi: readonly AnyEndpoint[]
}): (request: IncomingMessage, response: ServerResponse) => boolean {
  const description = openapi(tradingEndpoints, parts.operatorApi, VERSION)
  const json = (response: ServerResponse, status: number, body: unknown): void =>
    sendText(response, status, 'application/json', JSON.stringify(body))
  const html = (response: ServerResponse, text: string): void =>
    sendText(response, 200, 'text/html; charset=utf-8', text)
  const pages: Record<string, (response: ServerResponse) => void> = {
    '/': (response) => html(response, landingPage(VERSION)),
    '/docs': (response) => html(response, referencePage(tradingEndpoints, parts.operatorApi, VERSION)),
    '/openapi.json': (response) => json(response, 200, description),
    '/healthz': (response) => json(response, 200, { status: 'ok' }),
    '/readyz': (response) =>
      parts.ready()
        ? json(response, 200, { status: 'ready' })
        : json(response, 503, { label: 'TOO_BUSY', message: 'not ready' }),
    '/metrics': (response) =>
      sendText(response, 200, 'text/plain; version=0.0.4; charset=utf-8', parts.metrics.text()),
  }
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = (request.url ?? '/').split('?', 1)[0]!
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    page?.(response)
    return page !== undefined
  }
}

function watch(metrics: Metrics, core: Core<State, Commands>): void {
  metrics.watch('kontor_sequence', 'counter', 'Committed batches.', () => core.committed.sequence)
  metrics.watch('kontor_commands_waiting', 'gauge', 'Commands waiting for their commit.', () => core.waiting)
  metrics.watch('kontor_writes_stopped', 'gauge', '1 when the ledger does not balance.', () =>
    core.writesStopped === undefined ? 0 : 1,
  )
  metrics.watch('process_resident_memory_bytes', 'gauge', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.watch('process_uptime_seconds', 'counter', 'Time since the start.', () => process.uptime())
}
