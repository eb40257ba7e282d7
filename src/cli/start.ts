import { ConfigError, readConfig, type Config } from '../config.ts'
import { settingOptions, type Command, type Arguments, type Environment } from './options.ts'

export const start: Command = {
  usage: 'kontor start [options]',
  detail: 'Runs the platform. Every option can also be set in the environment; the option wins.',
  options: settingOptions(),
  words: 0,
  run,
}

export const core: Command = {
  usage: 'kontor core [options]',
  detail: `Runs the platform for gateways on other machines: like kontor start, on PostgreSQL, with an address for gateways. Where
another core is active it refuses to start; kontor standby waits for its turn instead.`,
  options: settingOptions(),
  words: 0,
  run: ({ env }) => runAs(clustered(readConfig(env), 'core'), env),
}

export const standby: Command = {
  usage: 'kontor standby [options]',
  detail: `Keeps the state of the active core in memory, from the journal in PostgreSQL, and becomes the active core when the lease of
that one ends, or when it hands over (kontor promote). Nobody active: it is, at once. What a supervisor runs on every machine
that may have the core.`,
  options: settingOptions(),
  words: 0,
  run: ({ env }) => runAs({ ...clustered(readConfig(env), 'standby'), role: 'standby' }, env),
}

/** Several processes on one database: not what an embedded store is for. */
function clustered(config: Config, name: string): Config {
  if (config.databaseUrl === undefined || config.memory)
    throw new ConfigError(`KONTOR_DATABASE_URL is not set: kontor ${name} needs PostgreSQL`)
  if (name === 'core' && config.coreListen === undefined)
    throw new ConfigError('KONTOR_CORE_LISTEN is not set: kontor core is for gateways on other machines')
  return config
}

function run({ env }: Arguments): Promise<number> {
  return runAs(readConfig(env), env)
}

/** The platform is loaded when there is one to run: a wrong option, or help, need not wait for it. */
async function runAs(config: Config, env: Environment): Promise<number> {
  const { serve } = await import('./serving.ts')
  return serve(config, env)
}
