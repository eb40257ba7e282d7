import { createHmac } from 'node:crypto'
import { ConfigError, type Config } from '../config.ts'
import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import { randomHex } from './secrets.ts'

interface Pair {
  readonly key: string
  readonly secret: string
}
/** The main account has what was chosen; its sub-accounts' pairs follow from it, so that they are always the same too. */
export function demoPair(demo: Config['demo'], login: string, main: boolean): Pair {
  if (demo === undefined) return { key: randomHex(16), secret: randomHex(32) }
  if (main) return demo
  const derived = (from: string): string =>
    createHmac('sha256', demo.secret).update(`${demo.key} ${login} ${from}`).digest('hex')
  return { key: derived('key').slice(0, 32), secret: derived('secret') }
}
/** Keys are made with the world: a later wish would be ignored without a word. */
export function refuseOtherDemo(core: Core<State, Commands>, { demo }: Pick<Config, 'demo'>): void {
  if (demo === undefined || core.state.keys.table.get(demo.key) !== undefined) return
  throw new ConfigError(
    'KONTOR_DEMO_KEY is not a key of this database, which was made with another; name another KONTOR_DATA, or leave it out',
  )
}
