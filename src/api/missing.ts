import type { State } from '../core/state.ts'
import { Refusal, type Label } from '../labels.ts'
import type { Table } from '../machine/table.ts'
import type { Desk } from './endpoint.ts'

/**
 * Runs a command on a row that memory may have let go of. Where the command does not know it, `look` asks the store,
 * which is asked after the command: what had ended by then can't come back to life, so no race changes the answer.
 */
export async function orElse<R>(run: Promise<R>, label: Label, look: () => Promise<void>): Promise<R> {
  try {
    return await run
  } catch (error) {
    if (error instanceof Refusal && error.label === label) await look()
    throw error
  }
}

/** A row left memory while the store was asked: nobody may have seen it. */
class AskAgain extends Refusal {
  constructor() {
    super('TOO_BUSY', 'the platform is at capacity and nothing was done; send it again in a second')
  }
}
const TRIES_MAX = 3
/**
 * Runs a command that must happen once for each id that clients choose. The command itself looks among the records in
 * memory; `look` asks the store for those that have left it. A record that was made and left in between would be seen
 * by neither: then the command is undone (`fresh` refuses), and the store is asked again.
 */
export async function once<Known, R>(
  desk: Desk,
  tableOf: (state: State) => Pick<Table<object>, 'ended' | 'forgot'>,
  look: () => Promise<Known>,
  run: (known: Known, fresh: (state: State) => void) => Promise<R>,
): Promise<R> {
  for (let tries = 1; ; tries++) {
    // The look at memory is first, and what it waits for goes on beside the store's answer.
    const [ended, known] = await Promise.all([desk.core.read((state) => tableOf(state).ended), look()])
    try {
      return await run(known, (state) => {
        if (tableOf(state).forgot(ended)) throw new AskAgain()
      })
    } catch (error) {
      if (!(error instanceof AskAgain) || tries === TRIES_MAX) throw error
    }
  }
}
