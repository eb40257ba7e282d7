import { quoted, writerOf, type RowWriter } from './codec.ts'
import { LOG_ROWS, bodyOf, type Finished, type PackedBatch, type Section } from './journal.ts'
import type { Key } from './table.ts'

/**
 * What the commands of a batch were and changed, as values. Writing them as text takes longer than the commands
 * themselves, so the core's thread does not: it hands them to the one that keeps them (0083).
 */
export interface LooseBatch {
  readonly sequence: number
  readonly at: number
  /** JSON, one for each command. */
  readonly commands: readonly string[]
  readonly sections: readonly LooseSection[]
}
export interface LooseSection {
  readonly table: string
  /** How the values of a row are written: see `kindsOf`. */
  readonly kinds: string
  readonly finished: Finished
  /** Of a log none. */
  readonly keys: readonly Key[]
  /**
   * Of a log the values of row after row. Of a table for each key: one of `WAS`, and `IS_GONE` on top of it where the row
   * was removed; the row's values, or the text of its key; and where it says so the values that it had.
   */
  readonly values: readonly unknown[]
}
/** What memory knew of a row from before the batch. */
export const WAS = { absent: 0, stored: 1, known: 2 } as const
export const IS_GONE = 4

/** About how long its text will be: enough to bound what is under way. */
export function aboutLength({ commands, sections }: LooseBatch): number {
  let length = 0
  for (const command of commands) length += command.length
  for (const { values } of sections)
    for (const value of values) length += typeof value === 'string' ? value.length : VALUE_LENGTH
  return length
}
const VALUE_LENGTH = 8

/** Writes batches as text, always the same for the same values. */
export class Packer {
  private readonly writers = new Map<string, RowWriter>()

  pack({ sequence, at, commands, sections }: LooseBatch): PackedBatch {
    const body = bodyOf(sections.map((section) => this.section(section)))
    return { sequence, at, count: commands.length, commands: `[${commands.join(',')}]`, body }
  }
  section({ table, kinds, finished, keys, values }: LooseSection): Section {
    const write = this.writer(kinds)
    const width = kinds.length
    let rows = ''
    if (finished === LOG_ROWS) {
      for (let i = 0; i < values.length; i += width) rows += `${write(values, i)}\n`
      return { table, finished, keys: '', rows, befores: '' }
    }
    let names = ''
    let befores = ''
    let i = 0
    for (const key of keys) {
      names += typeof key === 'number' ? `${key}\n` : `${quoted(key)}\n`
      const said = values[i++] as number
      if (said >= IS_GONE) rows += `-${String(values[i++])}\n`
      else {
        rows += `${write(values, i)}\n`
        i += width
      }
      const was = said % IS_GONE
      if (was === WAS.known) {
        befores += `${write(values, i)}\n`
        i += width
      } else befores += was === WAS.stored ? '?\n' : '\n'
    }
    return { table, finished, keys: names, rows, befores }
  }
  private writer(kinds: string): RowWriter {
    let found = this.writers.get(kinds)
    if (found === undefined) this.writers.set(kinds, (found = writerOf(kinds)))
    return found
  }
}
