import { ConfigError } from '../config.ts'
import { StoreUnavailable } from '../store/store.ts'
import { VERSION } from '../version.ts'
import { describeOptions, readArguments, type Environment, type Command } from './options.ts'

/** Each is loaded when it is called: a short command does not wait for the whole platform to be read. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).start,
  core: async () => (await import('./start.ts')).core,
  standby: async () => (await import('./start.ts')).standby,
  promote: async () => (await import('./promote.ts')).promote,
  gateway: async () => (await import('./gateway.ts')).gateway,
  certs: async () => (await import('./certs.ts')).certs,
  verify: async () => (await import('./verify.ts')).verify,
  replay: async () => (await import('./replay.ts')).replay,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  head: async () => (await import('./head.ts')).head,
  reseal: async () => (await import('./reseal.ts')).reseal,
  'rotate-key': async () => (await import('./rotate-key.ts')).rotateKeyCommand,
  sign: async () => (await import('./sign.ts')).sign,
  doctor: async () => (await import('./doctor.ts')).doctor,
  config: async () => (await import('./config-diff.ts')).config,
  'verify-proof': async () => (await import('./verify-proof.ts')).verifyProof,
  world: async () => (await import('./world.ts')).world,
  operator: async () => (await import('./operator.ts')).operator,
  'console-link': async () => (await import('./console-link.ts')).consoleLink,
  clock: async () => (await import('./clock.ts')).clock,
  fund: async () => (await import('./drives.ts')).fund,
  crash: async () => (await import('./drives.ts')).crash,
  fault: async () => (await import('./fault.ts')).fault,
  mine: async () => (await import('./drives.ts')).mine,
  orders: async () => (await import('./drives.ts')).orders,
  log: async () => (await import('./log.ts')).log,
  candles: async () => (await import('./candles.ts')).candles,
  call: async () => (await import('./call.ts')).call,
  watch: async () => (await import('./watch.ts')).watch,
  record: async () => (await import('./record.ts')).record,
  'replay-traffic': async () => (await import('./record.ts')).replayTraffic,
  'ccxt-urls': async () => (await import('./ccxt-urls.ts')).ccxtUrls,
}

/** The command `kontor`: answers the exit code. */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  const [name, ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') return say(await overview())
  if (name === '--version' || name === '-v' || name === 'version') return say(VERSION)
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load === undefined) {
    if (name === undefined) process.stderr.write(`${await overview()}\n`)
    else process.stderr.write(`kontor: there is no command "${name}"; kontor --help lists them\n`)
    return 2
  }
  const command = await load()
  if (rest.includes('--help') || rest.includes('-h')) return say(page(command))
  try {
    const read = readArguments(rest, command.options, env)
    const [least, most] = typeof command.words === 'number' ? [command.words, command.words] : command.words
    if (read.words.length < least || read.words.length > most)
      throw new ConfigError(
        read.words.length > most
          ? `"${read.words[most]!}" is one word too many; usage: ${command.usage}`
          : `something is missing; usage: ${command.usage}`,
      )
    return await command.run(read)
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof StoreUnavailable)) throw error
    process.stderr.write(`kontor: ${error.message}\n`)
    return 2
  }
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
async function overview(): Promise<string> {
  const lines: string[] = []
  for (const [name, load] of Object.entries(COMMANDS))
    lines.push(`  ${name.padEnd(14)} ${(await load()).summary}`)
  return `kontor ${VERSION}: a trading-platform back end

usage: kontor COMMAND [options]

${lines.join('\n')}

kontor COMMAND --help tells more. Exit codes: 0 well, 1 found something wrong, 2 wrong settings,
3 another process took over the database, 70 stopped by a fault (start it again), 75 the database did not answer.`
}
const page = ({ usage, detail, options }: Command): string => `usage: ${usage}

${detail}

${describeOptions(options)}`
