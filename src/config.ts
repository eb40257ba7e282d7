import { existsSync, readFileSync } from 'node:fs'
import { BUILT_IN_RULES } from './core/world/built-in-chains.ts'
import { BUILT_IN_WORLD } from './core/world/built-in.ts'
import { completePolicy } from './core/world/policy.ts'
import { checkWorld, type WorldConfig } from './core/world/world.ts'

/** The only reader of the environment. Every mistake is one line that names the setting and the reason. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly databaseUrl: string | undefined
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
}
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export class ConfigError extends Error {}
type Environment = Readonly<Record<string, string | undefined>>

export const SETTINGS = [
  ['KONTOR_HOST', '127.0.0.1', 'address to listen on'],
  ['KONTOR_PORT', '8080', 'port to listen on; 0 picks a free one'],
  ['KONTOR_DATA', './data', 'data folder of the embedded store'],
  ['KONTOR_DATABASE_URL', 'unset', 'a PostgreSQL URL instead of the embedded store'],
  ['KONTOR_MODE', 'sandbox', 'sandbox, or live'],
  ['KONTOR_OPERATOR_TOKEN', 'made at first start', 'bearer token of the first operator'],
  ['KONTOR_SECRET_KEY', 'made at first start (sandbox)', '32 bytes hex, encrypts API secrets at rest'],
  ['KONTOR_CONFIG', 'built-in', 'file with currencies, chains, markets, fees, limits, policies'],
  ['KONTOR_RATE_LIMITS', '1', 'multiplier of all rate limits; off switches them off (sandbox)'],
  ['KONTOR_AGENTS', 'on', 'market agents that keep the books alive; on or off'],
  ['KONTOR_AGENTS_SEED', '20240229', 'what the agents draw their decisions from, at the first start'],
  ['KONTOR_CLOCK', 'unset', 'Unix seconds at which a clock begins that only POST /clock moves (sandbox)'],
  ['KONTOR_LOG', 'info', LOG_LEVELS.join(', ')],
  ['KONTOR_TRUST_PROXY', 'off', 'number of proxies whose X-Forwarded-For is trusted'],
] as const

export function readConfig(env: Environment): Config {
  const mode = oneOf(env, 'KONTOR_MODE', ['sandbox', 'live'] as const, 'sandbox')
  const config: Config = {
    host: text(env, 'KONTOR_HOST') ?? '127.0.0.1',
    port: integer(env, 'KONTOR_PORT', 8080, 0, 65535),
    data: text(env, 'KONTOR_DATA') ?? './data',
    databaseUrl: databaseUrl(env),
    mode,
    operatorToken: token(env),
    secretKey: secretKey(env),
    world: worldConfig(env, mode === 'live'),
    rateLimits: rateLimits(env, mode),
    agents: oneOf(env, 'KONTOR_AGENTS', ['on', 'off'] as const, 'on') === 'on',
    agentsSeed: integer(env, 'KONTOR_AGENTS_SEED', 20_240_229, 0, 4_294_967_295),
    clockStart: clockStart(env, mode),
    log: oneOf(env, 'KONTOR_LOG', LOG_LEVELS, 'info'),
    trustProxy: text(env, 'KONTOR_TRUST_PROXY') === 'off' ? 0 : integer(env, 'KONTOR_TRUST_PROXY', 0, 0, 32),
  }
  if (mode === 'live') {
    if (config.secretKey === undefined)
      fail('KONTOR_SECRET_KEY', 'is required in live mode (32 bytes as 64 hex digits)')
    if (config.operatorToken === undefined) fail('KONTOR_OPERATOR_TOKEN', 'is required in live mode')
  }
  return config
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
function oneOf<T extends string>(env: Environment, name: string, allowed: readonly T[], fallback: T): T {
  const value = text(env, name) ?? fallback
  if (!(allowed as readonly string[]).includes(value))
    fail(name, `must be one of ${allowed.join(', ')}, not "${value}"`)
  return value as T
}
function databaseUrl(env: Environment): string | undefined {
  const url = text(env, 'KONTOR_DATABASE_URL')
  // The value may hold a password: the message must not repeat it.
  if (url !== undefined && !/^postgres(ql)?:\/\//.test(url))
    fail('KONTOR_DATABASE_URL', 'must begin with postgres:// or postgresql://')
  return url
}
function token(env: Environment): string | undefined {
  const value = text(env, 'KONTOR_OPERATOR_TOKEN')
  if (value !== undefined && !/^[\x21-\x7e]{8,200}$/.test(value))
    fail('KONTOR_OPERATOR_TOKEN', 'must be 8 to 200 printable characters without spaces')
  return value
}
function secretKey(env: Environment): string | undefined {
  const value = text(env, 'KONTOR_SECRET_KEY')
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
  return multiplier
}
function clockStart(env: Environment, mode: string): number | undefined {
  if (text(env, 'KONTOR_CLOCK') === undefined) return undefined
  if (mode === 'live') fail('KONTOR_CLOCK', 'can be set in sandbox mode only')
  return integer(env, 'KONTOR_CLOCK', 0, 1_500_000_000, 9_999_999_999)
}
function worldConfig(env: Environment, live: boolean): WorldConfig {
  const path = text(env, 'KONTOR_CONFIG')
  const builtIn = { ...BUILT_IN_WORLD, policy: completePolicy(BUILT_IN_RULES, live) }
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
  // A file names what it changes; whole sections come from the built-in world otherwise.
  const world: WorldConfig = { ...builtIn, ...parsed }
  try {
    const complete = { ...world, policy: completePolicy(world.policy, live) }
    checkWorld(complete)
    return complete
  } catch (error) {
    return fail('KONTOR_CONFIG', `${path}: ${(error as Error).message}`)
  }
}

/** A secret that the configuration file names but must not hold. */
export function secretFrom(variable: string): string {
  const value = process.env[variable]
  if (value === undefined || value === '')
    throw new ConfigError(`the environment variable ${variable} is not set; the configuration file names it`)
  return value
}
