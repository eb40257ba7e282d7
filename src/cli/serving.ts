import { SETTINGS, type Config } from '../config.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { createLog } from '../runtime/log.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'
import { openStore } from '../store/open.ts'
import { Fenced, StoreAway } from '../store/store.ts'
import type { Environment } from './options.ts'

/** Runs the platform until it is told to stop; answers the exit code. */
export async function serve(config: Config, env: Environment): Promise<number> {
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
