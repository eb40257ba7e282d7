import { ConfigError, readConfig } from '../config.ts'
import { readCredentials } from '../runtime/credentials.ts'
import { settingOptions, type Arguments, type Command } from './options.ts'

const TICK_MS = 1_000
const SHOWN_MAX = 50

export const record: Command = {
  usage: 'kontor record FILE [options]',
  detail: `Starts a sandbox from nothing, in memory, and writes each request with its answer to FILE (JSON lines, without secrets), until
SIGTERM or Ctrl-C. Point your bot at it, stop it when the bot has done its work, and keep the file:
  kontor replay-traffic FILE
sends the same requests again. Its clock moves with the real time, second by second; with --clock it stands until it is moved.
Requests are carried out one after the other. Frames of sockets are not written down.`,
  options: settingOptions(
    'host',
    'port',
    'agents',
    'agents-seed',
    'clock',
    'config',
    'credentials',
    'rate-limits',
    'timestamps',
  ),
  words: 1,
  run: recordUntilTold,
}

async function recordUntilTold({ env, words }: Arguments): Promise<number> {
  const stands = (env['KONTOR_CLOCK'] ?? '') !== ''
  const config = readConfig({
    ...env,
    KONTOR_MODE: 'sandbox',
    KONTOR_MEMORY: 'on',
    KONTOR_GATEWAYS: '0',
    KONTOR_CLOCK: stands ? env['KONTOR_CLOCK'] : String(Math.floor(Date.now() / 1000)),
  })
  const [file] = words as readonly [string]
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  const { startOn } = await import('../worlds/world.ts')
  const world = await startOn(config, { port: config.port, record: file })
  const lines = [`kontor records to ${file}`, `  operator token  ${world.operatorToken}`]
  for (const { login_name, user_id, key, secret } of world.accounts)
    lines.push(`  ${login_name} (${user_id})`, `    key     ${key}`, `    secret  ${secret}`)
  process.stdout.write(`${lines.join('\n')}\nkontor ready on ${world.url}\n`)
  const clockwork = stands ? undefined : setInterval(() => void tick(), TICK_MS)
  let ticking = false
  async function tick(): Promise<void> {
    if (ticking) return
    ticking = true
    try {
      const now = Math.floor(Date.now() / 1000)
      if (now > world.clock.now()) await world.clock.set(now)
    } catch (error) {
      process.stderr.write(`kontor: the clock was not moved: ${(error as Error).message}\n`)
    } finally {
      ticking = false
    }
  }
  await told
  clearInterval(clockwork)
  await world.close()
  process.stdout.write(`send it again with: kontor replay-traffic ${file}\n`)
  return 0
}

export const replayTraffic: Command = {
  usage: 'kontor replay-traffic FILE [--against URL --credentials FILE]',
  detail: `Starts a new world like that of the recording, in memory, sends the requests of FILE again at the same times of its clock, signed
by the same accounts, and compares every answer. Exit 0 when all are as recorded, 1 with each difference when not.
--against sends them to a platform that runs already; there ids and times may be others, as long as the same thing always has the
same name.`,
  options: {
    against: { value: 'URL', help: 'a platform that runs already, such as http://127.0.0.1:8080' },
    ...settingOptions('data', 'credentials'),
  },
  words: 1,
  run: async ({ env, words, values }) => {
    const [file] = words as readonly [string]
    const { replayFile } = await import('../worlds/replaying.ts')
    const { requests, differences } = await replayFile(file, targetOf({ env, against: values['against'] }))
    for (const { line, request, where, recorded, replayed } of differences.slice(0, SHOWN_MAX))
      process.stdout.write(`line ${line}, ${request}: ${where} was ${recorded}, is ${replayed}\n`)
    if (differences.length > SHOWN_MAX) process.stdout.write(`… and ${differences.length - SHOWN_MAX} more\n`)
    process.stdout.write(
      differences.length === 0
        ? `same: ${requests} requests, every answer as recorded\n`
        : `DIFFERENT: ${differences.length} differences in the answers to ${requests} requests\n`,
    )
    return differences.length === 0 ? 0 : 1
  },
}
function targetOf({ env, against }: { env: Arguments['env']; against: string | undefined }) {
  if (against === undefined) return {}
  const config = readConfig({
    KONTOR_DATA: env['KONTOR_DATA'],
    KONTOR_CREDENTIALS: env['KONTOR_CREDENTIALS'],
  })
  const credentials = readCredentials(config)
  if (credentials === undefined)
    throw new ConfigError(
      '--against: there is no credentials.json; name that of the platform with --credentials FILE, or its folder with --data',
    )
  return { against, credentials }
}
