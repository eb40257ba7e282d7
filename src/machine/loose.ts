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
  /**
   * Table behind table in one list, because a list of its own for each takes as long to hand over as the rows of an order:
   * `SectionHead`, then its rows. Of a log only their values. Of a table the key; one of `WAS`, and `IS_GONE` on top of it
   * where the row was removed; its values, or the text of its key; and where it says so the values that it had.
   */
  readonly values: readonly unknown[]
}
/** In the order in which they stand in front of the rows of a table or log. */
export type SectionHead = readonly [
  table: string,
  /** How the values of a row are written: see `kindsOf`. */
  kinds: string,
  finished: Finished,
  rows: number,
]
export const HEAD_LENGTH = 4
/** What memory knew of a row from before the batch. */
export const WAS = { absent: 0, stored: 1, known: 2 } as const
export const IS_GONE = 4

/** About how long its text will be: enough to bound what is under way. */
export function aboutLength({ commands, values }: LooseBatch): number {
  let length = 0
  for (const command of commands) length += command.length
  for (const value of values) length += typeof value === 'string' ? value.length : VALUE_LENGTH
  return length
}
const VALUE_LENGTH = 8

/** Writes batches as text, always the same for the same values. */
export class Packer {
  private readonly writers = new Map<string, RowWriter>()

  pack(batch: LooseBatch): PackedBatch {
    const { sequence, at, commands } = batch
    const body = bodyOf(this.sections(batch))
    return { sequence, at, count: commands.length, commands: `[${commands.join(',')}]`, body }
  }
  sections({ values }: LooseBatch): Section[] {
    const sections: Section[] = []
    let at = 0
    while (at < values.length) {
      const [table, kinds, finished, count] = values.slice(at, at + HEAD_LENGTH) as unknown as SectionHead
      at += HEAD_LENGTH
      const write = this.writer(kinds)
      const width = kinds.length
      let keys = ''
      let rows = ''
      let befores = ''
      for (let row = 0; row < count; row++) {
        if (finished === LOG_ROWS) {
          rows += `${write(values, at)}\n`
          at += width
          continue
        }
        const key = values[at++] as Key
        keys += typeof key === 'number' ? `${key}\n` : `${quoted(key)}\n`
        const said = values[at++] as number
        if (said >= IS_GONE) rows += `-${String(values[at++])}\n`
        else {
          rows += `${write(values, at)}\n`
          at += width
        }
        const was = said % IS_GONE
        if (was === WAS.known) {
          befores += `${write(values, at)}\n`
          at += width
        } else befores += was === WAS.stored ? '?\n' : '\n'
      }
      sections.push({ table, finished, keys, rows, befores })
    }
    return sections
  }
  private writer(kinds: string): RowWriter {
    let found = this.writers.get(kinds)
    if (found === undefined) this.writers.set(kinds, (found = writerOf(kinds)))
    return found
  }
}
