import { ConfigError, SETTINGS, readConfig, type Config } from '../config.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { createLog } from '../runtime/log.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'
import { openStore } from '../store/open.ts'
import { Fenced, StoreAway } from '../store/store.ts'
import { settingOptions, type Command, type Arguments, type Environment } from './options.ts'

export const start: Command = {
  usage: 'kontor start [options]',
  summary: 'runs the platform until SIGTERM',
  detail: 'Runs the platform. Every option can also be set in the environment; the option wins.',
  options: settingOptions(),
  words: 0,
  run,
}

export const core: Command = {
  usage: 'kontor core [options]',
  summary: 'runs the active core of a cluster until SIGTERM',
  detail: `Runs the platform for gateways on other machines: like kontor start, on PostgreSQL, with an address for gateways. Where
another core is active it refuses to start; kontor standby waits for its turn instead.`,
  options: settingOptions(),
  words: 0,
  run: ({ env }) => runAs(clustered(readConfig(env), 'core'), env),
}

export const standby: Command = {
  usage: 'kontor standby [options]',
  summary: 'follows the active core, and takes its place when that is free',
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

async function runAs(config: Config, env: Environment): Promise<number> {
  // Whatever is made from here on is for this user alone.
  process.umask(0o077)
  const log = createLog(config.log, (line) => process.stderr.write(`${line}\n`))
  for (const name of unknownSettings(env))
    log.warn(`${name} is not a setting of this version and has no effect`)
  // Crash-only: start-up is the one way to recover, and it reads what the disk really holds.
  const fatal = (error: unknown): void => {
    log.error(error instanceof Fenced ? error.message : 'fatal: the next start recovers from the disk', {
      error,
    })
    process.exit(error instanceof Fenced ? 3 : 70)
  }
  // A reader of the log or of the banner that goes away takes nothing with it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  const store = openStore(config)
  let started = false
  void told.then(() => {
    // Nobody was served yet, and whatever was half done a start finds as after a kill.
    if (!started) void store.rest().then(() => process.exit(0))
  })
  let platform: Platform
  try {
    platform = await startPlatform(config, log, fatal, store)
  } catch (error) {
    if (error instanceof StoreAway) {
      process.stderr.write(`kontor: ${error.message}\n`)
      return leave(AWAY)
    }
    leave(2)
    throw error
  }
  started = true
  banner(platform, await linksOf(platform))
  await Promise.race([told, platform.relieved])
  log.info('stopping')
  const late = setTimeout(() => fatal(new Error(`it did not stop within ${STOP_MS / 1000} s`)), STOP_MS)
  await platform.stop()
  clearTimeout(late)
  return leave(0)
}

/** A start that gave up waiting for its database: a supervisor may try again. */
const AWAY = 75
const STOP_MS = 45_000
const LINGER_MS = 2_000
/** Whatever is still open then (a reply from outside that never comes) keeps nobody waiting. */
function leave(code: number): number {
  setTimeout(() => process.exit(code), LINGER_MS).unref()
  return code
}

const unknownSettings = (env: Environment): string[] =>
  Object.keys(env).filter(
    (name) => name.startsWith('KONTOR_') && SETTINGS.every(([setting]) => setting !== name),
  )

/** Of a sandbox: who opens one of them is signed in. */
interface ConsoleLinks {
  readonly demo: string
  readonly operator: string
}
async function linksOf(platform: Platform): Promise<ConsoleLinks | undefined> {
  const { desk, credentials, url, operatorUrl } = platform
  const [demo] = credentials.accounts
  if (desk.mode !== 'sandbox' || demo === undefined || desk.core.writesStopped !== undefined) return undefined
  const first = await desk.core.read(({ operators }) =>
    operators.byToken.get(sha256(credentials.operator_token)),
  )
  if (first === undefined) return undefined
  const linkFor = async (at: string, whose: { user_id: number; operator: string }): Promise<string> => {
    const token = randomHex(32)
    await desk.core.submit('link.create', {
      token_hash: sha256(token),
      purpose: 'enter',
      ...whose,
      seconds: LINK_SECONDS,
      many: true,
      real: Math.floor(Date.now() / 1000),
      actor: null,
    })
    return `${at}/enter#${token}`
  }
  return {
    demo: await linkFor(url, { user_id: demo.user_id, operator: '' }),
    operator: await linkFor(operatorUrl, { user_id: 0, operator: first.name }),
  }
}
const LINK_SECONDS = 3_600

function banner({ url, operatorUrl, credentials, desk }: Platform, links: ConsoleLinks | undefined): void {
  const lines = [
    `kontor (${desk.mode}, ${desk.store.kind})`,
    `  API      ${url}/api/v4`,
    `  console  ${url}/`,
    ...(links === undefined
      ? []
      : [
          `    as ${credentials.accounts[0]!.login_name}      ${links.demo}`,
          `    as operator  ${links.operator}`,
          '    (good for an hour; "npx kontor console-link demo" makes another)',
        ]),
    `  docs     ${url}/docs`,
    ...(operatorUrl === url ? [] : [`  operator ${operatorUrl}/operator/v1`]),
  ]
  if (desk.mode === 'sandbox') {
    lines.push(`  operator token  ${credentials.operator_token}`)
    for (const { login_name, user_id, key, secret } of credentials.accounts)
      lines.push(`  ${login_name} (${user_id})`, `    key     ${key}`, `    secret  ${secret}`)
  }
  process.stdout.write(`${lines.join('\n')}\nkontor ready on ${url}\n`)
}
