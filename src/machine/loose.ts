import { quoted, writerOf, type RowWriter } from './codec.ts'
import { LOG_ROWS, bodyOf, type Finished, type PackedBatch, type Section } from './journal.ts'
import { ValueSource, type ValueSink, type Values } from './values.ts'

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
   * Table behind table: `putHead`, then its rows. Of a log only their values. Of a table one of `WAS`, with `IS_GONE` on top of it
   * where the row was removed and `IS_WORD` where its key is no number; the key; its values, or the text of its key's; and
   * where it says so the values that it had.
   */
  readonly values: Values
}
/** As it leaves the core: it is the store that knows who had better write the text. */
export type ClosedBatch = LooseBatch | PackedBatch

/** In front of the rows of a table or log. */
export interface SectionHead {
  readonly table: string
  /** How the values of a row are written: see `kindsOf`. */
  readonly kinds: string
  readonly finished: Finished
}
/** Answers where the number of its rows is to be told, as soon as it is known. */
export function putHead(into: ValueSink, { table, kinds, finished }: SectionHead): number {
  into.word(table)
  into.word(kinds)
  into.word(finished)
  into.number(0)
  return into.at - 1
}
/** To the slots that there are now: the head itself may have led to others. */
export function tellCount(into: ValueSink, at: number, rows: number): void {
  into.slots[at] = rows
}
/** What memory knew of a row from before the batch. */
export const WAS = { absent: 0, stored: 1, known: 2 } as const
export const IS_GONE = 4
export const IS_WORD = 8

/** About how long its text will be: enough to bound what is under way. */
export function aboutLength(batch: ClosedBatch): number {
  if ('body' in batch) return batch.body.length + batch.commands.length
  const { commands } = batch
  const { slots, words } = batch.values
  let length = words.length + SLOT_LENGTH * slots.length
  for (const command of commands) length += command.length
  return length
}
const SLOT_LENGTH = 8

/** Writes batches as text, always the same for the same values. */
export class Packer {
  private readonly writers = new Map<string, RowWriter>()

  pack(batch: ClosedBatch): PackedBatch {
    if ('body' in batch) return batch
    const { sequence, at, commands } = batch
    const sections = this.sections(batch)
    const body = bodyOf(sections)
    return { sequence, at, count: commands.length, commands: `[${commands.join(',')}]`, body, sections }
  }
  sections({ sequence, values }: LooseBatch): Section[] {
    const sections: Section[] = []
    const from = new ValueSource(values)
    while (!from.done) {
      const table = from.word()
      const write = this.writer(from.word())
      const finished = from.word() as Finished
      const count = from.number()
      let keys = ''
      let rows = ''
      let befores = ''
      for (let row = 0; row < count; row++) {
        if (finished === LOG_ROWS) {
          rows += `${write(from)}\n`
          continue
        }
        const said = from.number()
        keys += (said & IS_WORD) === 0 ? `${from.number()}\n` : `${quoted(from.word())}\n`
        rows += (said & IS_GONE) === 0 ? `${write(from)}\n` : `-${from.word()}\n`
        const was = said & WAS_BITS
        befores += was === WAS.known ? `${write(from)}\n` : was === WAS.stored ? '?\n' : '\n'
      }
      sections.push({ table, finished, keys, rows, befores })
    }
    // What is no batch is never sealed: the next start goes on from the one before it.
    if (!from.whole) throw new TypeError(`batch ${sequence} does not end where its values do`)
    return sections
  }
  private writer(kinds: string): RowWriter {
    let found = this.writers.get(kinds)
    if (found === undefined) this.writers.set(kinds, (found = writerOf(kinds)))
    return found
  }
}
const WAS_BITS = 3
