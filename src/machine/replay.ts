import { Batch } from './batch.ts'
import type { Handlers } from './core.ts'
import { chainedRows } from './journal.ts'
import { Tx } from './table.ts'

/** A batch as it was recorded; `commands` is JSON: an array of [at, type, input]. */
export interface RecordedBatch {
  readonly sequence: number
  readonly at: number
  readonly hash: string
  readonly commands: string
}
/** The recorded commands and the rules do not lead where the record says they led. */
export class Divergence extends Error {}

/**
 * Builds the state again from nothing but the recorded commands, with the rules that serve requests. Every
 * batch must make the very changes that were made at the time: its hash covers them and all before it.
 */
export class Replay<S extends { check(): void }> {
  readonly state: S
  private readonly handlers: Handlers<S>
  sequence = 0
  hash = ''
  commands = 0

  constructor(state: S, handlers: Handlers<S>) {
    this.state = state
    this.handlers = handlers
  }
  /** Begins at a state that was kept; its rows have been put into the tables. */
  beginAt(sequence: number, hash: string): void {
    this.sequence = sequence
    this.hash = hash
  }
  /** `told`: of each command by its name. */
  apply(recorded: RecordedBatch, told?: (type: string) => void): void {
    if (recorded.sequence !== this.sequence + 1)
      throw new Divergence(`batch ${this.sequence + 1} is missing: the next one is ${recorded.sequence}`)
    const batch = new Batch()
    for (const [i, [at, type, input]] of parse(recorded).entries()) {
      const tx = new Tx()
      const handler = this.handlers[type]
      const where = `batch ${recorded.sequence}, command ${i + 1} (${type})`
      if (handler === undefined) throw new Divergence(`${where}: this version has no such command`)
      try {
        handler({ state: this.state, tx, at }, input)
        this.state.check()
      } catch (error) {
        throw new Divergence(`${where} was carried out then and fails now: ${(error as Error).message}`, {
          cause: error,
        })
      }
      // Its hash covers what it changed: nobody writes the command down again.
      batch.add(tx, at, type, '')
      this.commands++
      told?.(type)
    }
    const changed = batch.sections(false)
    const hash = chainedRows(this.hash, changed)
    if (hash !== recorded.hash)
      throw new Divergence(
        `batch ${recorded.sequence} differs: its recorded hash is ${recorded.hash}, the replayed one ${hash}`,
      )
    for (const [table, keys] of batch.touched) table.retire(keys.keys(), () => false)
    this.sequence = recorded.sequence
    this.hash = hash
  }
}

function parse(recorded: RecordedBatch): [at: number, type: string, input: unknown][] {
  try {
    return JSON.parse(recorded.commands) as [number, string, unknown][]
  } catch (error) {
    throw new Divergence(`batch ${recorded.sequence} is not readable: ${(error as Error).message}`)
  }
}
