import { ConfigError } from '../config.ts'
import { start } from './start.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The command `kontor`: answers the exit code. */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  const [command] = args
  try {
    switch (command) {
      case 'start':
        return await start(env)
      case undefined:
      default:
        process.stderr.write('usage: kontor start\n')
        return 2
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`kontor: ${error.message}\n`)
    return 2
  }
}
