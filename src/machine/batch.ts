import { encoderOf, textOf, type Columns } from './codec.ts'
import type { Sums } from './sums.ts'
import { STORED, type Key, type LogSpec, type Table, type Tx } from './table.ts'

export interface TableText {
  readonly table: string
  /** JSON: an array of rows, each an array of values in column order, a line for each. */
  readonly rows: string
  readonly finished: Finished
}
/**
 * Of the rows that no rule needs any more: a table may have none; else the last value of each row tells (its flag
 * "live"), and they have a sum of their own, or none.
 */
export type Finished = 'never' | 'summed' | 'unsummed'

export interface TableWrite extends TableText {
  /** The same as values, for a store that takes columns. */
  readonly values: () => readonly (readonly unknown[])[]
}
/** What the commands of a batch changed, as text: all that a store needs to seal and to write it. */
export interface PackedBatch<Write extends TableText = TableWrite> {
  readonly sequence: number
  readonly at: number
  /** JSON: an array of [at, type, input], the commands in their order. */
  readonly commands: string
  readonly count: number
  readonly upserts: readonly Write[]
  readonly appends: readonly Write[]
  /** Keys, each an array of the key's column values. */
  readonly removes: readonly Write[]
  /** The rows in whose place others came, or none, as far as memory had them: for the sums. */
  readonly replaced: readonly TableText[]
}

interface Spec {
  readonly name: string
  readonly columns: Columns
  readonly live?: unknown
  readonly rewritten?: boolean
}
const finishedOf = ({ live, rewritten }: Spec): Finished =>
  live === undefined ? 'never' : rewritten === true ? 'unsummed' : 'summed'
type Live = ((row: never) => boolean) | undefined
const writers = new WeakMap<object, (row: object) => string>()
function writer(spec: Spec): (row: object) => string {
  let found = writers.get(spec)
  if (found === undefined) writers.set(spec, (found = textOf(spec.columns, spec.live as Live)))
  return found
}

/** No row holds a line feed of its own: JSON writes it as two characters. */
const SEPARATOR = ',\n'
const together = (texts: readonly string[]): string => `[${texts.join(SEPARATOR)}]`
export const rowsOf = ({ rows }: TableText): string[] => rows.slice(1, -1).split(SEPARATOR)
/** The sum that a row counts in, told by its text; undefined: in none. */
export function sumOf({ table, finished }: Omit<TableText, 'rows'>, row: string): string | undefined {
  if (finished === 'never' || row.endsWith(',true]')) return table
  return finished === 'summed' ? `${table}, finished` : undefined
}

const tableWrite = (spec: Spec, rows: readonly object[], texts: readonly string[]): TableWrite => ({
  table: spec.name,
  rows: together(texts),
  finished: finishedOf(spec),
  // Rows are never changed in place, so that they still say the same when a store asks.
  values: () => rows.map(encoderOf(spec.columns, spec.live as Live)),
})

/** A recorded batch counts as a row too. Its commands stand last, as they are: no other part holds a line feed. */
export const batchText = (
  sequence: number,
  at: number,
  count: number,
  hash: string,
  commands: string,
): string => [sequence, at, count, hash, commands].join('\n')
export const BATCHES = 'command_batch'

/** Adds a row that stands in a table or a log. */
export function countRow(sums: Sums, spec: Spec, row: object): void {
  const text = writer(spec)(row)
  const sum = sumOf({ table: spec.name, finished: finishedOf(spec) }, text)
  if (sum !== undefined) sums.add(sum, text)
}

/** The changes of the commands that will be committed together. A row touched ten times is written once. */
export class Batch {
  private readonly dirty = new Map<Table<object>, Map<Key, object | typeof STORED | undefined>>()
  private readonly appended = new Map<LogSpec<object>, object[]>()
  private readonly commands: string[] = []

  get size(): number {
    return this.commands.length
  }
  /** `input` is JSON. */
  add(tx: Tx, at: number, type: string, input: string): void {
    for (const { table, key, before } of tx.touched) {
      let keys = this.dirty.get(table)
      if (keys === undefined)
        this.dirty.set(table, (keys = new Map<Key, object | typeof STORED | undefined>()))
      // The first sight keeps the row from before the batch: a removal needs its key columns.
      if (!keys.has(key)) keys.set(key, before)
    }
    for (let i = 0; i < tx.appended.length; i++) {
      const log = tx.logs[i]!
      const row = tx.appended[i]!
      const rows = this.appended.get(log)
      if (rows === undefined) this.appended.set(log, [row])
      else rows.push(row)
    }
    this.commands.push(`[${at},${JSON.stringify(type)},${input}]`)
  }
  touches(table: Table<object>, key: Key): boolean {
    return this.dirty.get(table)?.has(key) ?? false
  }
  get touched(): ReadonlyMap<Table<object>, ReadonlyMap<Key, unknown>> {
    return this.dirty
  }
  pack(sequence: number, at: number): PackedBatch {
    const upserts: TableWrite[] = []
    const removes: TableWrite[] = []
    const appends: TableWrite[] = []
    const replaced: TableText[] = []
    for (const [table, keys] of this.dirty) {
      const { spec } = table
      const write = writer(spec)
      const rows: object[] = []
      const texts: string[] = []
      const were: string[] = []
      const gone: unknown[][] = []
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (before !== undefined && before !== STORED) were.push(write(before))
        if (row !== undefined) {
          rows.push(row)
          texts.push(write(row))
        } else if (before === STORED) gone.push([key])
        else if (before !== undefined)
          gone.push(spec.key.map((column) => (before as Record<string, unknown>)[column]))
        // else: made and gone within the batch
      }
      const finished = finishedOf(spec)
      if (rows.length > 0) upserts.push(tableWrite(spec, rows, texts))
      if (were.length > 0) replaced.push({ table: spec.name, rows: together(were), finished })
      if (gone.length > 0)
        removes.push({ table: spec.name, rows: JSON.stringify(gone), finished, values: () => gone })
    }
    for (const [log, rows] of this.appended) appends.push(tableWrite(log, rows, rows.map(writer(log))))
    const commands = `[${this.commands.join(',')}]`
    return { sequence, at, commands, count: this.commands.length, upserts, appends, removes, replaced }
  }
}
