import { ConfigError } from '../config.ts'
import { nearest } from '../nearest.ts'
import { StoreUnavailable } from '../store/store.ts'
import { VERSION } from '../version.ts'
import { describeOptions, readArguments, type Environment, type Command } from './options.ts'

/**
 * Each is loaded when it is called: a short command does not wait for the whole platform to be read, and neither does the
 * list of them all, which is why what it says of each stands here.
 */
const COMMANDS: Readonly<Record<string, readonly [summary: string, load: () => Promise<Command>]>> = {
  start: ['runs the platform until SIGTERM', async () => (await import('./start.ts')).start],
  core: ['runs the active core of a cluster until SIGTERM', async () => (await import('./start.ts')).core],
  standby: [
    'follows the active core, and takes its place when that is free',
    async () => (await import('./start.ts')).standby,
  ],
  promote: [
    'hands the active core over to a standby, without a lost request',
    async () => (await import('./promote.ts')).promote,
  ],
  gateway: [
    'speaks HTTP and WebSocket on a machine of its own, for the cores that it is told of',
    async () => (await import('./gateway.ts')).gateway,
  ],
  certs: [
    'makes certificates with which cores and gateways of several machines know each other',
    async () => (await import('./certs.ts')).certs,
  ],
  verify: [
    'adds up the whole ledger again and says balanced, or where not',
    async () => (await import('./verify.ts')).verify,
  ],
  replay: [
    'builds the state again from the recorded commands and compares',
    async () => (await import('./replay.ts')).replay,
  ],
  backup: [
    'copies database, secret key and configuration, and verifies the copy',
    async () => (await import('./backup.ts')).backup,
  ],
  restore: [
    'puts a backup into an empty data folder or database',
    async () => (await import('./restore.ts')).restore,
  ],
  head: [
    'prints how far the database has got, to be kept elsewhere',
    async () => (await import('./head.ts')).head,
  ],
  reseal: [
    'vouches for a database that was changed by hand',
    async () => (await import('./reseal.ts')).reseal,
  ],
  'rotate-key': [
    'changes the secret key: stored API secrets and keyed sums',
    async () => (await import('./rotate-key.ts')).rotateKeyCommand,
  ],
  sign: ['prints the headers that sign a request', async () => (await import('./sign.ts')).sign],
  doctor: ['says what is wrong with a set-up', async () => (await import('./doctor.ts')).doctor],
  config: [
    'tells what a configuration file would change and break',
    async () => (await import('./config-diff.ts')).config,
  ],
  'verify-proof': [
    "checks that a user's balances are in the published liabilities",
    async () => (await import('./verify-proof.ts')).verifyProof,
  ],
  world: [
    'prints the built-in configuration, to be changed and named in KONTOR_CONFIG',
    async () => (await import('./world.ts')).world,
  ],
  operator: [
    'makes an admin in 24 hours, when those that there were are lost',
    async () => (await import('./operator.ts')).operator,
  ],
  'console-link': [
    'makes a link that signs in to the console',
    async () => (await import('./console-link.ts')).consoleLink,
  ],
  clock: ["shows or moves the sandbox's clock", async () => (await import('./clock.ts')).clock],
  fund: ["credits a user's account in a sandbox", async () => (await import('./drives.ts')).fund],
  crash: [
    'lets the price of a market fall, in a sandbox with agents',
    async () => (await import('./drives.ts')).crash,
  ],
  fault: [
    'lists, clears or adds failures on demand, in a sandbox',
    async () => (await import('./fault.ts')).fault,
  ],
  mine: ['mines blocks on a simulated chain', async () => (await import('./drives.ts')).mine],
  orders: ["lists or cancels users' open orders", async () => (await import('./drives.ts')).orders],
  log: [
    'shows requests with bodies and replies as they come, in a sandbox',
    async () => (await import('./log.ts')).log,
  ],
  candles: [
    'lets a market live through real candles, in a sandbox with agents',
    async () => (await import('./candles.ts')).candles,
  ],
  call: [
    'calls the operator API, or the trading API as a demo account',
    async () => (await import('./call.ts')).call,
  ],
  watch: ['prints a stream of the WebSocket API', async () => (await import('./watch.ts')).watch],
  record: [
    'runs a new sandbox in memory and writes the session of your bot to FILE',
    async () => (await import('./record.ts')).record,
  ],
  'replay-traffic': [
    'sends a recorded session again and tells which answers differ',
    async () => (await import('./record.ts')).replayTraffic,
  ],
  'ccxt-urls': [
    'prints the URLs that ccxt needs to use this platform',
    async () => (await import('./ccxt-urls.ts')).ccxtUrls,
  ],
}

/** The command `kontor`: answers the exit code. */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  if (args[0] === 'help' && args.length > 1) return run([...args.slice(1), '--help'], env)
  const [name, ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') return say(overview())
  if (name === '--version' || name === '-v' || name === 'version') return say(VERSION)
  if (name === undefined || !Object.hasOwn(COMMANDS, name)) {
    process.stderr.write(name === undefined ? `${overview()}\n` : `kontor: ${noCommand(name)}\n`)
    return 2
  }
  const command = await COMMANDS[name]![1]()
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
function noCommand(name: string): string {
  if (name.startsWith('-')) return `a command is needed before "${name}"; kontor --help lists them`
  const near = nearest(name, Object.keys(COMMANDS))
  return `there is no command "${name}"; ${near === undefined ? '' : `did you mean ${near}? `}kontor --help lists them`
}
function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, [summary]]) => `  ${name.padEnd(14)} ${summary}`)
  return `kontor ${VERSION}: a trading-platform back end

usage: kontor COMMAND [options]

${lines.join('\n')}

kontor COMMAND --help tells more. Exit codes: 0 well, 1 found something wrong, 2 wrong settings,
3 another process took over the database, 70 stopped by a fault (start it again), 75 the database did not answer.`
}
const page = ({ usage, detail, options }: Command): string => `usage: ${usage}

${detail}

${describeOptions(options)}`
