import { createHash } from 'node:crypto'
import { encoderOf, type Encoder } from './codec.ts'
import { STORED, type Key, type LogSpec, type Table, type Tx } from './table.ts'

export interface TableWrite {
  readonly table: string
  /** JSON: an array of rows, each an array of values in column order. */
  readonly rows: string
  /** The same before it was made into text, for a store that takes columns. */
  readonly values: readonly (readonly unknown[])[]
}
export interface SealedBatch {
  readonly sequence: number
  readonly at: number
  /** JSON: an array of [at, type, input], the commands in their order. */
  readonly commands: string
  readonly count: number
  /** Hash chain over the changes of all batches up to this one. */
  readonly hash: string
  readonly upserts: readonly TableWrite[]
  readonly appends: readonly TableWrite[]
  /** Keys, each an array of the key's column values. */
  readonly removes: readonly TableWrite[]
}

const encoders = new WeakMap<object, Encoder>()
function encoder(spec: {
  columns: Readonly<Record<string, 'int' | 'text' | 'amount' | 'json' | 'bool'>>
  live?: unknown
}): Encoder {
  let found = encoders.get(spec)
  if (found === undefined)
    encoders.set(spec, (found = encoderOf(spec.columns, spec.live as ((row: never) => boolean) | undefined)))
  return found
}

const tableWrite = (table: string, values: unknown[][]): TableWrite => ({
  table,
  rows: JSON.stringify(values),
  values,
})

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
  seal(sequence: number, at: number, previousHash: string): SealedBatch {
    const upserts: TableWrite[] = []
    const removes: TableWrite[] = []
    const appends: TableWrite[] = []
    for (const [table, keys] of this.dirty) {
      const encode = encoder(table.spec)
      const rows: unknown[][] = []
      const gone: unknown[][] = []
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (row !== undefined) rows.push(encode(row))
        else if (before === STORED) gone.push([key])
        else if (before !== undefined)
          gone.push(table.spec.key.map((column) => (before as Record<string, unknown>)[column]))
        // else: made and gone within the batch
      }
      if (rows.length > 0) upserts.push(tableWrite(table.spec.name, rows))
      if (gone.length > 0) removes.push(tableWrite(table.spec.name, gone))
    }
    for (const [log, rows] of this.appended) appends.push(tableWrite(log.name, rows.map(encoder(log))))
    const hash = createHash('sha256').update(previousHash)
    for (const write of [...upserts, ...removes, ...appends]) hash.update(write.table).update(write.rows)
    return {
      sequence,
      at,
      commands: `[${this.commands.join(',')}]`,
      count: this.commands.length,
      hash: hash.digest('hex'),
      upserts,
      appends,
      removes,
    }
  }
}
