import type { JournalEntry } from '../machine/journal.ts'
import type { Shape } from './shapes.ts'

/** What the entries of a journal look like, so that a later version can put them into the tables that it finds. */
export interface Written {
  readonly schema: string
  readonly shapes: readonly Shape[]
}
/** The columns of an entry, in either store. */
export const COLUMNS = 'sequence, at, count, hash, mac, commands, body'
export const entryOf = ([sequence, at, count, hash, mac, commands, body]: readonly unknown[]): JournalEntry =>
  ({
    sequence: Number(sequence),
    at: Number(at),
    count: Number(count),
    hash,
    mac,
    commands,
    body,
  }) as JournalEntry
