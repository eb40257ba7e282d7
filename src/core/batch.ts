import { encoderOf, textOf, type Columns } from './codec.ts'
import type { Sums } from './sums.ts'
import { STORED, type Key, type LogSpec, type Table, type Tx } from './table.ts'

export interface TableText {
  readonly table: string
  /** JSON: an array of rows, each an array of values in column order, a line for each. */
  readonly rows: string
  /** The last value of each row says whether a rule may still need it. */
  readonly flagged: boolean
}
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
  /** The live rows in whose place others came, or none: for the sums. */
  readonly replaced: readonly TableText[]
}

type Spec = { readonly columns: Columns; readonly live?: unknown }
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
export const isLiveText = (row: string): boolean => row.endsWith(',true]')

const tableWrite = (
  table: string,
  spec: Spec,
  rows: readonly object[],
  texts: readonly string[],
): TableWrite => ({
  table,
  rows: together(texts),
  flagged: spec.live !== undefined,
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

/** A row that stands in a table adds to its sum: nothing once no rule needs it any more. */
export function countRow(
  sums: Sums,
  spec: { readonly name: string; readonly columns: Columns; readonly live?: unknown },
  row: object,
): void {
  const live = spec.live as ((row: object) => boolean) | undefined
  if (live === undefined || live(row)) sums.add(spec.name, writer(spec)(row))
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
      const { live } = spec
      const write = writer(spec)
      const rows: object[] = []
      const texts: string[] = []
      const were: string[] = []
      const gone: unknown[][] = []
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (before !== undefined && before !== STORED && (live === undefined || live(before)))
          were.push(write(before))
        if (row !== undefined) {
          rows.push(row)
          texts.push(write(row))
        } else if (before === STORED) gone.push([key])
        else if (before !== undefined)
          gone.push(spec.key.map((column) => (before as Record<string, unknown>)[column]))
        // else: made and gone within the batch
      }
      const flagged = live !== undefined
      if (rows.length > 0) upserts.push(tableWrite(spec.name, spec, rows, texts))
      if (were.length > 0) replaced.push({ table: spec.name, rows: together(were), flagged })
      if (gone.length > 0)
        removes.push({ table: spec.name, rows: JSON.stringify(gone), flagged, values: () => gone })
    }
    for (const [log, rows] of this.appended)
      appends.push(tableWrite(log.name, log, rows, rows.map(writer(log))))
    const commands = `[${this.commands.join(',')}]`
    return { sequence, at, commands, count: this.commands.length, upserts, appends, removes, replaced }
  }
}
