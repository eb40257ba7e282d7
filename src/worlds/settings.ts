import { ConfigError, readConfig, type Config } from '../config.ts'
import { randomHex } from '../runtime/secrets.ts'
import { timeOf } from './moments.ts'
import type { KontorOptions } from './public.ts'
import type { WorldSettings } from './recording.ts'

/** 2026-01-01T00:00:00Z: the same in every run, whatever day it is. */
const CLOCK = 1_767_225_600
/** What belongs to a world, and comes with it. */
const OF_A_WORLD = [
  'clock',
  'agents',
  'seed',
  'rateLimits',
  'config',
  'demo',
  'operatorToken',
  'settings',
] as const

/** The settings of a new world. */
export function configOf(options: KontorOptions): Config {
  const { clock = CLOCK, agents = true, seed, rateLimits = 'off', config, demo, operatorToken } = options
  return embedded(
    readConfig({
      KONTOR_AGENTS: agents ? 'on' : 'off',
      KONTOR_RATE_LIMITS: String(rateLimits),
      ...(seed !== undefined && { KONTOR_AGENTS_SEED: String(seed) }),
      ...(clock !== 'real' && { KONTOR_CLOCK: String(Math.floor(timeOf(clock))) }),
      ...(config !== undefined && { KONTOR_CONFIG: config }),
      ...(demo !== undefined && { KONTOR_DEMO_KEY: demo.key, KONTOR_DEMO_SECRET: demo.secret }),
      KONTOR_OPERATOR_TOKEN: operatorToken ?? randomHex(32),
      ...refusedSettings(options.settings ?? {}),
      ...FIXED,
    }),
    options.port,
  )
}
/** Settings that an embedded platform does not have: it keeps nothing, and is one process. */
const FIXED = {
  KONTOR_MEMORY: 'on',
  KONTOR_MODE: 'sandbox',
  KONTOR_GATEWAYS: '0',
} as const
const FOREIGN =
  /^KONTOR_(PORT|DATA|DATABASE_.*|READ_URLS.*|CREDENTIALS|OPERATOR_LISTEN|CORE.*|CERTS|HEAD|LEASE_MS|TAKE_OVER)$/
function refusedSettings(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const name of Object.keys(settings))
    if (FOREIGN.test(name) || Object.hasOwn(FIXED, name))
      throw new ConfigError(`settings: ${name} is not for a platform inside another program`)
    else if (!name.startsWith('KONTOR_'))
      throw new ConfigError(`settings: "${name}" is no setting; they begin with KONTOR_`)
  return settings
}

/** The world that a recorded session began with. */
export const sessionConfig = ({ world, ...settings }: WorldSettings): Config => {
  const config = configOf({ port: 'none' })
  return { ...config, ...settings, world: world ?? config.world }
}

/** The same world at another port. */
export function embedded(config: Config, port: KontorOptions['port'] = 0): Config {
  if (port !== 'none' && (!Number.isInteger(port) || port < 0 || port > 65_535))
    throw new ConfigError(`port: ${String(port)} must be a port, 0 for a free one, or 'none'`)
  return { ...config, port: port === 'none' ? 0 : port }
}

/** Who goes on from a world can't ask for another one. */
export function refuseOther(options: KontorOptions): void {
  for (const name of OF_A_WORLD)
    if (options[name] !== undefined)
      throw new ConfigError(`${name}: belongs to a new world; the one that "from" names keeps its own`)
}
