import { createHash } from 'node:crypto'
import { encoderOf, textOf, type Columns } from './codec.ts'
import type { Sums } from './sums.ts'
import { STORED, type Key, type LogSpec, type Table, type Tx } from './table.ts'

export interface TableText {
  readonly table: string
  /** JSON: an array of rows, each an array of values in column order. */
  readonly rows: string
}
export interface TableWrite extends TableText {
  /** The same as values, for a store that takes columns. */
  readonly values: () => readonly (readonly unknown[])[]
}
export interface SealedBatch<Write extends TableText = TableWrite> {
  readonly sequence: number
  readonly at: number
  /** JSON: an array of [at, type, input], the commands in their order. */
  readonly commands: string
  readonly count: number
  /** Hash chain over the changes of all batches up to this one. */
  readonly hash: string
  /** Keyed sums of all rows after this batch, and the code that only the key's owner can make over them. */
  readonly sums: string
  readonly schema: string
  readonly mac: string
  readonly upserts: readonly Write[]
  readonly appends: readonly Write[]
  /** Keys, each an array of the key's column values. */
  readonly removes: readonly Write[]
}

type Spec = { readonly columns: Columns; readonly live?: unknown }
type Live = ((row: never) => boolean) | undefined
const writers = new WeakMap<object, (row: object) => string>()
function writer(spec: Spec): (row: object) => string {
  let found = writers.get(spec)
  if (found === undefined) writers.set(spec, (found = textOf(spec.columns, spec.live as Live)))
  return found
}

const tableWrite = (name: string, spec: Spec, rows: readonly object[], texts: string): TableWrite => ({
  table: name,
  rows: `[${texts}]`,
  // Rows are never changed in place, so that they still say the same when a store asks.
  values: () => rows.map(encoderOf(spec.columns, spec.live as Live)),
})

/** A recorded batch is a row as well. */
export const batchText = (
  sequence: number,
  at: number,
  count: number,
  hash: string,
  commands: string,
): string => JSON.stringify([sequence, at, count, hash, commands])
export const BATCHES = 'command_batch'

/** What a row adds to the sum of its table: nothing once no rule needs it any more. */
export function countRow(
  sums: Sums,
  spec: { readonly name: string; readonly columns: Columns; readonly live?: unknown },
  row: object,
  sign: 'add' | 'subtract' = 'add',
): void {
  const live = spec.live as ((row: object) => boolean) | undefined
  if (live === undefined || live(row)) sums[sign](spec.name, writer(spec)(row))
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
  seal(sequence: number, at: number, previousHash: string, sums?: Sums): SealedBatch {
    const upserts: TableWrite[] = []
    const removes: TableWrite[] = []
    const appends: TableWrite[] = []
    for (const [table, keys] of this.dirty) {
      const { spec } = table
      const write = writer(spec)
      const { live } = spec
      const rows: object[] = []
      let texts = ''
      const gone: unknown[][] = []
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (sums !== undefined && before !== undefined && before !== STORED)
          countRow(sums, spec, before, 'subtract')
        if (row !== undefined) {
          const text = write(row)
          texts = rows.length === 0 ? text : `${texts},${text}`
          rows.push(row)
          if (sums !== undefined && (live === undefined || live(row))) sums.add(spec.name, text)
        } else if (before === STORED) gone.push([key])
        else if (before !== undefined)
          gone.push(spec.key.map((column) => (before as Record<string, unknown>)[column]))
        // else: made and gone within the batch
      }
      if (rows.length > 0) upserts.push(tableWrite(spec.name, spec, rows, texts))
      if (gone.length > 0) removes.push({ table: spec.name, rows: JSON.stringify(gone), values: () => gone })
    }
    for (const [log, rows] of this.appended) {
      const write = writer(log)
      let texts = ''
      for (const row of rows) {
        const text = write(row)
        texts = texts === '' ? text : `${texts},${text}`
        sums?.add(log.name, text)
      }
      appends.push(tableWrite(log.name, log, rows, texts))
    }
    const chain = createHash('sha256').update(previousHash)
    for (const write of [...upserts, ...removes, ...appends]) chain.update(write.table).update(write.rows)
    const hash = chain.digest('hex')
    const commands = `[${this.commands.join(',')}]`
    const count = this.commands.length
    sums?.add(BATCHES, batchText(sequence, at, count, hash, commands))
    const head = { sequence, hash, at, sums: sums?.text() ?? '', schema: sums?.schema ?? '' }
    return { ...head, mac: sums?.mac(head) ?? '', commands, count, upserts, appends, removes }
  }
}
