import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import {
  addressIn,
  clusterSettings,
  gatewaySettings,
  type ClusterSettings,
  type GatewaySettings,
} from './config-cluster.ts'
import { fileFaults } from './config-file.ts'
import { databaseUrl, readSecret, readUrls, weaknessOfKey, weaknessOfToken } from './config-secrets.ts'
import { cors, testSettings, type TestSettings } from './config-sandbox.ts'
import { builtInWorld } from './core/world/built-in.ts'
import { fitting } from './core/tables/world/contract-rules.ts'
import { completePolicy } from './core/tables/world/policy.ts'
import { checkWorld } from './core/tables/world/world.ts'
import type { WorldConfig } from './core/tables/world/config.ts'

export { addressIn } from './config-cluster.ts'

/** How many processes speak HTTP for the core. `from`: they start when so many connections are there; 0: with the platform. */
export interface GatewaysWanted {
  readonly count: number
  readonly from: number
}
/** The only reader of the environment. Every mistake is one line that names the setting and the reason. */
export interface Config extends TestSettings, ClusterSettings {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly databaseUrl: string | undefined
  /** Replicas of it that history is read from. */
  readonly readUrls: readonly string[]
  /** Origins whose pages may read answers of the trading API; `*`: all. */
  readonly cors: readonly string[]
  readonly mode: 'sandbox' | 'live'
  readonly operatorToken: string | undefined
  readonly secretKey: string | undefined
  readonly world: WorldConfig
  /** Multiplier of every rate limit; null switches them off. */
  readonly rateLimits: number | null
  readonly agents: boolean
  readonly agentsSeed: number
  /** Unix seconds at which the sandbox clock begins and stands until it is moved; undefined: it runs. */
  readonly clockStart: number | undefined
  readonly log: LogLevel
  readonly trustProxy: number
  /** An address of their own for the operator API and the metrics. */
  readonly operatorListen: { readonly host: string; readonly port: number } | undefined
  /** A file or URL to which the head of the database is written down. */
  readonly keepHead: string | undefined
  /** Markets whose orders may be cancelled so that a changed configuration can be taken in. */
  readonly cancelOrders: readonly string[]
  /** What a client's Timestamp is held against: the platform's clock alone, or the real time as well. */
  readonly timestamps: 'either' | 'strict'
  /** Host names that are answered beside loopback, IP literals and the listening address. */
  readonly hosts: readonly string[]
  /** Failed authentications of an address in ten seconds. */
  readonly authFailures: number
  readonly sockets: SocketSettings
  /** Processes of their own that speak HTTP; 0: the core's process does. */
  readonly gateways: GatewaysWanted
  /** Simulated chains that a live platform serves on purpose. */
  readonly rehearsed: readonly string[]
  /** What KONTOR_SIMULATED_CHAINS says. */
  readonly simulatedChains: 'allow' | 'hide' | undefined
  /** Seconds for which a database that is away is waited for. */
  readonly databaseWait: number
  /** The database is taken from a living process. */
  /** What it was started as: a standby follows the active core until it takes its place. */
  readonly role: 'active' | 'standby'
  /** How long a core on PostgreSQL answers without hearing from it. */
  readonly leaseMs: number
  readonly takeOver: boolean
  readonly disk: DiskSettings
  /** Who may make an account for himself in the console. */
  readonly signUp: 'open' | 'invited' | 'off'
}
/** Bytes free on the data folder's file system; 0 is never. */
export interface DiskSettings {
  /** Below this the log warns. */
  readonly warning: number
  /** Below this nothing is written. */
  readonly reserve: number
}
export interface SocketSettings {
  /** At once; undefined: as many as descriptors allow, 10,000 at most. */
  readonly connections: number | undefined
  /** Of them from one address; undefined: a quarter. */
  readonly addressConnections: number | undefined
  /** How long a request may take to arrive, its body included. */
  readonly requestSeconds: number
  /** WebSocket connections from one address. */
  readonly webSockets: number
  /** Bytes that may wait to be sent on one of them. */
  readonly queue: number
}
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export class ConfigError extends Error {}
type Environment = Readonly<Record<string, string | undefined>>

export const SETTINGS = [
  ['KONTOR_HOST', '127.0.0.1', 'address to listen on'],
  ['KONTOR_PORT', '8080', 'port to listen on; 0 picks a free one'],
  ['KONTOR_DATA', './data', 'data folder of the embedded store'],
  ['KONTOR_MEMORY', 'off', 'on keeps everything in memory and nothing on the disk: for tests (sandbox)'],
  [
    'KONTOR_CREDENTIALS',
    'credentials.json in the data folder',
    'file that a sandbox writes its URL, keys and token to; with KONTOR_MEMORY none unless set',
  ],
  ['KONTOR_DEMO_KEY', 'made at first start', "the demo account's API key (sandbox)"],
  ['KONTOR_DEMO_SECRET', 'made at first start', "the demo account's API secret (sandbox)"],
  ['KONTOR_DATABASE_URL', 'unset', 'a PostgreSQL URL instead of the embedded store'],
  ['KONTOR_DATABASE_URL_FILE', 'unset', 'a file that holds this URL'],
  ['KONTOR_READ_URLS', 'unset', 'PostgreSQL URLs of replicas that history is read from, by comma'],
  ['KONTOR_READ_URLS_FILE', 'unset', 'a file that holds these URLs'],
  ['KONTOR_MODE', 'sandbox', 'sandbox, or live'],
  ['KONTOR_OPERATOR_TOKEN', 'made at first start', 'bearer token of the first operator'],
  ['KONTOR_OPERATOR_TOKEN_FILE', 'unset', 'a file that holds this token'],
  ['KONTOR_SECRET_KEY', 'made at first start (sandbox)', '32 bytes hex, encrypts API secrets at rest'],
  ['KONTOR_SECRET_KEY_FILE', 'unset', 'a file that holds this key'],
  ['KONTOR_CONFIG', 'built-in', 'file with currencies, chains, markets, fees, limits, policies'],
  ['KONTOR_RATE_LIMITS', '1', 'multiplier of all rate limits; off switches them off (sandbox)'],
  ['KONTOR_AGENTS', 'on', 'market agents that keep the books alive; on or off'],
  ['KONTOR_AGENTS_SEED', '20240229', 'what the agents draw their decisions from, at the first start'],
  ['KONTOR_CLOCK', 'unset', 'Unix seconds at which a clock begins that only POST /clock moves (sandbox)'],
  ['KONTOR_LOG', 'info', LOG_LEVELS.join(', ')],
  ['KONTOR_TRUST_PROXY', 'off', 'number of proxies whose X-Forwarded-For is trusted'],
  [
    'KONTOR_OPERATOR_LISTEN',
    'unset',
    'HOST:PORT of their own for operator API and metrics, such as 127.0.0.1:9090',
  ],
  [
    'KONTOR_CANCEL_ORDERS',
    'unset',
    'markets whose orders are cancelled where a changed KONTOR_CONFIG needs it',
  ],
  ['KONTOR_HEAD', 'unset', 'file or URL to which the number and hash of the last batch are written'],
  ['KONTOR_TIMESTAMPS', 'either (sandbox)', "either: platform's or real time; strict: platform's only"],
  ['KONTOR_SIMULATED_CHAINS', 'unset', 'live mode: allow serves them on purpose, hide leaves them out'],
  ['KONTOR_HOSTS', 'unset', 'host names that are answered besides loopback and IP addresses, by comma'],
  [
    'KONTOR_CORS',
    'off',
    'origins, by comma, whose web pages may call the trading API, such as https://bot.example.com; * for all',
  ],
  ['KONTOR_AUTH_FAILURES', '100', 'failed authentications of an address in 10 s'],
  ['KONTOR_CONNECTIONS', 'by descriptors', 'connections at once'],
  ['KONTOR_ADDRESS_CONNECTIONS', 'a quarter', 'connections from one address; none behind trusted proxies'],
  ['KONTOR_REQUEST_SECONDS', '30', 'how long a request may take to arrive'],
  ['KONTOR_WS_CONNECTIONS', '300', 'WebSocket connections from one address'],
  ['KONTOR_WS_QUEUE', '8388608', 'bytes that may wait to be sent on a WebSocket connection; over it: closed'],
  [
    'KONTOR_GATEWAYS',
    'auto',
    "processes that speak HTTP: auto (by cores), 0 (inside the core's process) or a number",
  ],
  [
    'KONTOR_CORE_LISTEN',
    'unset',
    'HOST:PORT for gateways on other machines (kontor gateway), such as 10.0.0.1:9000',
  ],
  ['KONTOR_CORE_ADDRESS', 'KONTOR_CORE_LISTEN', 'the same as those gateways reach it'],
  [
    'KONTOR_CORES',
    'unset',
    'of a gateway on another machine: addresses of the cores, by comma (kontor gateway --core)',
  ],
  ['KONTOR_CERTS', 'unset', 'folder with the certificates of cores and gateways (kontor certs makes them)'],
  ['KONTOR_NODE', 'the host name', 'name of this process among those of other machines'],
  [
    'KONTOR_SIGN_UP',
    'open (sandbox), off (live)',
    'who may make an account in the console: open, invited (by a link of an operator) or off',
  ],
  [
    'KONTOR_DATABASE_WAIT',
    '60',
    'seconds for which a start, or a running platform, waits for a PostgreSQL that is away',
  ],
  ['KONTOR_LEASE_MS', '2000', 'PostgreSQL: how long a core answers without hearing from the database'],
  ['KONTOR_TAKE_OVER', 'off', 'on takes the database from a living process, which then stops'],
  ['KONTOR_DISK_WARNING', '1000', 'MB free for the data folder below which the log warns; 0 never'],
  ['KONTOR_DISK_RESERVE', '100', 'MB free for the data folder below which nothing is written; 0 never'],
] as const
/** Settings that are options without a value: --take-over. */
export const SWITCHES: ReadonlySet<string> = new Set(['KONTOR_TAKE_OVER', 'KONTOR_MEMORY'])

export function readConfig(env: Environment): Config {
  const mode = oneOf(env, 'KONTOR_MODE', ['sandbox', 'live'] as const, 'sandbox')
  const secrets = readSecrets(env, mode)
  return {
    host: text(env, 'KONTOR_HOST') ?? '127.0.0.1',
    port: integer(env, 'KONTOR_PORT', 8080, 0, 65535),
    data: text(env, 'KONTOR_DATA') ?? './data',
    databaseUrl: databaseUrl(env, fail),
    readUrls: readUrls(env, fail),
    ...testSettings(env, mode, fail),
    ...clusterSettings(env, fail),
    cors: cors(env, fail),
    mode,
    ...secrets,
    ...worldFor(env, mode),
    rateLimits: rateLimits(env, mode),
    agents: oneOf(env, 'KONTOR_AGENTS', ['on', 'off'] as const, 'on') === 'on',
    agentsSeed: integer(env, 'KONTOR_AGENTS_SEED', 20_240_229, 0, 4_294_967_295),
    clockStart: clockStart(env, mode),
    log: oneOf(env, 'KONTOR_LOG', LOG_LEVELS, 'info'),
    trustProxy: trustProxy(env),
    operatorListen: operatorListen(env),
    keepHead: text(env, 'KONTOR_HEAD'),
    cancelOrders: (text(env, 'KONTOR_CANCEL_ORDERS') ?? '').split(/[\s,]+/).filter((pair) => pair !== ''),
    timestamps: timestamps(env, mode),
    hosts: hosts(env),
    authFailures: integer(env, 'KONTOR_AUTH_FAILURES', 100, 1, mode === 'live' ? 10_000 : 1_000_000),
    sockets: {
      ...connectionSettings(env),
      webSockets: integer(env, 'KONTOR_WS_CONNECTIONS', 300, 1, 1_000_000),
      queue: integer(env, 'KONTOR_WS_QUEUE', 8_388_608, 131_072, 1_073_741_824),
    },
    gateways: gateways(env),
    signUp: oneOf(
      env,
      'KONTOR_SIGN_UP',
      ['open', 'invited', 'off'] as const,
      mode === 'live' ? 'off' : 'open',
    ),
    databaseWait: integer(env, 'KONTOR_DATABASE_WAIT', 60, 0, 86_400),
    role: 'active',
    leaseMs: integer(env, 'KONTOR_LEASE_MS', 2_000, 200, 60_000),
    takeOver: oneOf(env, 'KONTOR_TAKE_OVER', ['on', 'off'] as const, 'off') === 'on',
    disk: {
      warning: integer(env, 'KONTOR_DISK_WARNING', 1_000, 0, 1_000_000_000) * 1e6,
      reserve: integer(env, 'KONTOR_DISK_RESERVE', 100, 0, 1_000_000_000) * 1e6,
    },
  }
}

/** The settings of a gateway on another machine; whatever else it must know the core tells it. */
export interface GatewayConfig extends Pick<Config, 'host' | 'port' | 'log'>, GatewaySettings {
  readonly sockets: Pick<SocketSettings, 'connections' | 'addressConnections' | 'requestSeconds'>
  /** Undefined: as the core says. */
  readonly trustProxy: number | undefined
}
export const readGatewayConfig = (env: Environment): GatewayConfig => ({
  host: text(env, 'KONTOR_HOST') ?? '127.0.0.1',
  port: integer(env, 'KONTOR_PORT', 8080, 0, 65535),
  log: oneOf(env, 'KONTOR_LOG', LOG_LEVELS, 'info'),
  sockets: connectionSettings(env),
  trustProxy: text(env, 'KONTOR_TRUST_PROXY') === undefined ? undefined : trustProxy(env),
  ...gatewaySettings(env, fail),
})
const trustProxy = (env: Environment): number =>
  text(env, 'KONTOR_TRUST_PROXY') === 'off' ? 0 : integer(env, 'KONTOR_TRUST_PROXY', 0, 0, 32)
const connectionSettings = (env: Environment): GatewayConfig['sockets'] => ({
  connections: optionalInteger(env, 'KONTOR_CONNECTIONS', 1, 1_000_000),
  addressConnections: optionalInteger(env, 'KONTOR_ADDRESS_CONNECTIONS', 1, 1_000_000),
  requestSeconds: integer(env, 'KONTOR_REQUEST_SECONDS', 30, 1, 600),
})

/** Live mode wants them, and wants them strong. */
function readSecrets(env: Environment, mode: string): Pick<Config, 'operatorToken' | 'secretKey'> {
  const secrets = { operatorToken: token(env), secretKey: secretKey(env) }
  if (mode !== 'live') return secrets
  if (secrets.secretKey === undefined)
    fail('KONTOR_SECRET_KEY', 'is required in live mode (32 bytes as 64 hex digits)')
  if (secrets.operatorToken === undefined) fail('KONTOR_OPERATOR_TOKEN', 'is required in live mode')
  const weakKey = weaknessOfKey(secrets.secretKey)
  if (weakKey !== undefined) fail('KONTOR_SECRET_KEY', `${weakKey}; make one with: openssl rand -hex 32`)
  const weakToken = weaknessOfToken(secrets.operatorToken)
  if (weakToken !== undefined)
    fail('KONTOR_OPERATOR_TOKEN', `${weakToken}; make one with: openssl rand -hex 32`)
  return secrets
}

function fail(setting: string, why: string): never {
  throw new ConfigError(`${setting} ${why}`)
}
function text(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}
function integer(env: Environment, name: string, fallback: number, low: number, high: number): number {
  const value = text(env, name)
  if (value === undefined) return fallback
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < low || number > high)
    fail(name, `must be a whole number from ${low} to ${high}, not "${value}"`)
  return number
}
function optionalInteger(env: Environment, name: string, low: number, high: number): number | undefined {
  return text(env, name) === undefined ? undefined : integer(env, name, low, low, high)
}
function oneOf<T extends string>(env: Environment, name: string, allowed: readonly T[], fallback: T): T {
  const value = text(env, name) ?? fallback
  if (!(allowed as readonly string[]).includes(value))
    fail(name, `must be one of ${allowed.join(', ')}, not "${value}"`)
  return value as T
}
function token(env: Environment): string | undefined {
  const value = readSecret(env, 'KONTOR_OPERATOR_TOKEN', fail)
  if (value !== undefined && !/^[\x21-\x7e]{8,200}$/.test(value))
    fail('KONTOR_OPERATOR_TOKEN', 'must be 8 to 200 printable characters without spaces')
  return value
}
function secretKey(env: Environment): string | undefined {
  const value = readSecret(env, 'KONTOR_SECRET_KEY', fail)
  if (value !== undefined && !/^[0-9a-fA-F]{64}$/.test(value))
    fail('KONTOR_SECRET_KEY', 'must be 32 bytes as 64 hex digits')
  return value?.toLowerCase()
}
function rateLimits(env: Environment, mode: string): number | null {
  const value = text(env, 'KONTOR_RATE_LIMITS')
  if (value === undefined) return 1
  if (value === 'off') {
    if (mode === 'live') fail('KONTOR_RATE_LIMITS', 'can be switched off in sandbox mode only')
    return null
  }
  const multiplier = Number(value)
  if (!/^\d+(\.\d+)?$/.test(value) || multiplier <= 0)
    fail('KONTOR_RATE_LIMITS', `must be a positive number or off, not "${value}"`)
  const [low, high] = mode === 'live' ? LIVE_MULTIPLIERS : SANDBOX_MULTIPLIERS
  if (multiplier < low || multiplier > high)
    fail('KONTOR_RATE_LIMITS', `must be from ${low} to ${high} in ${mode} mode, not "${value}"`)
  return multiplier
}
/** Beyond these the limits would stop everybody, or nobody. */
const LIVE_MULTIPLIERS = [0.1, 100] as const
const SANDBOX_MULTIPLIERS = [0.001, 1_000_000] as const

function timestamps(env: Environment, mode: string): 'either' | 'strict' {
  const chosen = oneOf(
    env,
    'KONTOR_TIMESTAMPS',
    ['either', 'strict'] as const,
    mode === 'live' ? 'strict' : 'either',
  )
  if (mode === 'live' && chosen === 'either')
    fail('KONTOR_TIMESTAMPS', 'is strict in live mode, whose clock is never moved')
  return chosen
}
const GATEWAYS_MAX = 64
function gateways(env: Environment): GatewaysWanted {
  const value = text(env, 'KONTOR_GATEWAYS') ?? 'auto'
  if (value === 'auto') return gatewaysByCores(availableParallelism())
  if (!/^\d+$/.test(value) || Number(value) > GATEWAYS_MAX)
    fail('KONTOR_GATEWAYS', `must be auto or a whole number from 0 to ${GATEWAYS_MAX}, not "${value}"`)
  return { count: Number(value), from: 0 }
}
/** More than a browser or a bot has open. */
const CROWD = 8
/**
 * The core and the store's threads keep two cores busy, and others work on the machine too. A machine of two cores is kept
 * light: few connections are served by the core's process, which is quick enough for them.
 */
export function gatewaysByCores(cores: number): GatewaysWanted {
  if (cores === 1) return { count: 0, from: 0 }
  if (cores === 2) return { count: 2, from: CROWD }
  return { count: Math.min(8, Math.max(2, Math.ceil(cores / 2) - 1)), from: 0 }
}

function operatorListen(env: Environment): Config['operatorListen'] {
  const value = text(env, 'KONTOR_OPERATOR_LISTEN')
  if (value === undefined) return undefined
  return (
    addressIn(value) ??
    fail('KONTOR_OPERATOR_LISTEN', `must be HOST:PORT, such as 127.0.0.1:9090, not "${value}"`)
  )
}
const HOST_NAME = /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
function hosts(env: Environment): string[] {
  const names = (text(env, 'KONTOR_HOSTS') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  for (const name of names)
    if (!HOST_NAME.test(name))
      fail('KONTOR_HOSTS', `"${name}" is not a host name; list names by comma, such as api.example.com`)
  return names
}
/** The world, and which of its simulated chains a live platform serves on purpose. */
export function worldFor(
  env: Environment,
  mode: Config['mode'],
): Pick<Config, 'world' | 'rehearsed' | 'simulatedChains'> {
  const simulatedChains =
    text(env, 'KONTOR_SIMULATED_CHAINS') === undefined
      ? undefined
      : oneOf(env, 'KONTOR_SIMULATED_CHAINS', ['allow', 'hide'] as const, 'allow')
  const world = worldConfig(env, mode === 'live')
  const simulated = world.chains.filter(({ kind }) => kind === 'simulated').map(({ chain }) => chain)
  if (mode !== 'live' || simulated.length === 0) return { world, rehearsed: [], simulatedChains }
  if (simulatedChains === 'allow') return { world, rehearsed: simulated, simulatedChains }
  if (simulatedChains === 'hide')
    return { world: withoutChains(world, new Set(simulated)), rehearsed: [], simulatedChains }
  return fail(
    'KONTOR_SIMULATED_CHAINS',
    `is not set, and ${simulated.join(', ')} are simulated chains, whose coins are worth nothing: name real chains in KONTOR_CONFIG, or say hide (leave them out) or allow (a rehearsal)`,
  )
}
const withoutChains = (world: WorldConfig, left: ReadonlySet<string>): WorldConfig => ({
  ...world,
  chains: world.chains.filter(({ chain }) => !left.has(chain)),
  currencies: world.currencies.map((currency) => ({
    ...currency,
    chains: currency.chains.filter(({ chain }) => !left.has(chain)),
  })),
})

function clockStart(env: Environment, mode: string): number | undefined {
  if (text(env, 'KONTOR_CLOCK') === undefined) return undefined
  if (mode === 'live') fail('KONTOR_CLOCK', 'can be set in sandbox mode only')
  return integer(env, 'KONTOR_CLOCK', 0, 1_500_000_000, 9_999_999_999)
}
function worldConfig(env: Environment, live: boolean): WorldConfig {
  const path = text(env, 'KONTOR_CONFIG')
  const builtIn = builtInWorld(live)
  if (path === undefined) return builtIn
  if (!existsSync(path)) fail('KONTOR_CONFIG', `names the file ${path}, which does not exist`)
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return fail('KONTOR_CONFIG', `${path} is not JSON: ${(error as Error).message}`)
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    fail('KONTOR_CONFIG', `${path} must hold a JSON object`)
  const faults = fileFaults(parsed)
  if (faults.length > 0) fail('KONTOR_CONFIG', `${path}: ${inOneLine(faults)}`)
  // A file names what it changes; whole sections come from the built-in world otherwise.
  const given: WorldConfig = { ...builtIn, ...parsed }
  const named = builtIn.contracts === undefined || 'contracts' in parsed
  const world = named ? given : { ...given, contracts: fitting(builtIn.contracts, given) }
  try {
    const complete = { ...world, policy: completePolicy(world.policy, live) }
    checkWorld(complete)
    return complete
  } catch (error) {
    return fail('KONTOR_CONFIG', `${path}: ${(error as Error).message}`)
  }
}

const FAULTS_SHOWN = 3
const inOneLine = (faults: readonly string[]): string => {
  const more = faults.length - FAULTS_SHOWN
  return faults.slice(0, FAULTS_SHOWN).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** What another process of ours may see of the environment: these, and nothing else. */
export const environmentOf = (names: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(names.map((name) => [name, process.env[name]]))

/** A secret that the configuration file names but must not hold. */
export function secretFrom(variable: string): string {
  const value = process.env[variable]
  if (value === undefined || value === '')
    throw new ConfigError(`the environment variable ${variable} is not set; the configuration file names it`)
  return value
}
