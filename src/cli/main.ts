import { ConfigError } from '../config.ts'
import { VERSION } from '../platform.ts'
import { StoreUnavailable } from '../store/store.ts'
import { config } from './config-diff.ts'
import { clock } from './clock.ts'
import { doctor } from './doctor.ts'
import { crash, fund, mine, orders } from './drives.ts'
import { fault } from './fault.ts'
import { log } from './log.ts'
import {
  describeOptions,
  readArguments,
  type Arguments,
  type Environment,
  type OptionSpecs,
} from './options.ts'
import { head } from './head.ts'
import { operator } from './operator.ts'
import { replay } from './replay.ts'
import { reseal } from './reseal.ts'
import { rotateKeyCommand } from './rotate-key.ts'
import { sign } from './sign.ts'
import { start } from './start.ts'
import { verify } from './verify.ts'
import { verifyProof } from './verify-proof.ts'
import { world } from './world.ts'

/** A subcommand; `run` answers the exit code. */
export interface Command {
  readonly usage: string
  readonly summary: string
  readonly detail: string
  readonly options: OptionSpecs
  /** How many; or at least and at most. */
  readonly words: number | readonly [number, number]
  readonly run: (args: Arguments) => Promise<number>
}
const COMMANDS: Readonly<Record<string, Command>> = {
  start,
  verify,
  replay,
  head,
  reseal,
  'rotate-key': rotateKeyCommand,
  sign,
  doctor,
  config,
  'verify-proof': verifyProof,
  world,
  operator,
  clock,
  fund,
  crash,
  fault,
  mine,
  orders,
  log,
}

/** The command `kontor`: answers the exit code. */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  const [name, ...rest] = args
  if (name === '--help' || name === '-h' || name === 'help') return say(overview())
  if (name === '--version' || name === '-v') return say(VERSION)
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    if (name === undefined) process.stderr.write(`${overview()}\n`)
    else process.stderr.write(`kontor: there is no command "${name}"; kontor --help lists them\n`)
    return 2
  }
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
function overview(): string {
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`)
  return `kontor ${VERSION}: a trading-platform back end

usage: kontor COMMAND [options]

${lines.join('\n')}

kontor COMMAND --help tells more. Exit codes: 0 well, 1 found something wrong, 2 wrong settings,
3 another process took over the database, 70 stopped by a fault (start it again), 75 the database did not answer.`
}
const page = ({ usage, detail, options }: Command): string => `usage: ${usage}

${detail}

${describeOptions(options)}`
