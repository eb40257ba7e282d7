import { createHash } from 'node:crypto'
import { encoderOf, type Columns, type Encoder } from './codec.ts'
import type { Sums } from './sums.ts'
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
  /** Keyed sums of all rows after this batch, and the code that only the key's owner can make over them. */
  readonly sums: string
  readonly schema: string
  readonly mac: string
  readonly upserts: readonly TableWrite[]
  readonly appends: readonly TableWrite[]
  /** Keys, each an array of the key's column values. */
  readonly removes: readonly TableWrite[]
}

const encoders = new WeakMap<object, Encoder>()
function encoder(spec: { columns: Columns; live?: unknown }): Encoder {
  let found = encoders.get(spec)
  if (found === undefined)
    encoders.set(spec, (found = encoderOf(spec.columns, spec.live as ((row: never) => boolean) | undefined)))
  return found
}

const tableWrite = (table: string, values: unknown[][], texts?: readonly string[]): TableWrite => ({
  table,
  rows: texts === undefined ? JSON.stringify(values) : `[${texts.join(',')}]`,
  values,
})
const texts = (values: unknown[][]): string[] => values.map((row) => JSON.stringify(row))

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
  if (live === undefined || live(row)) sums[sign](spec.name, JSON.stringify(encoder(spec)(row)))
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
      const encode = encoder(spec)
      const { live } = spec
      const rows: unknown[][] = []
      const texts: string[] = []
      const gone: unknown[][] = []
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (sums !== undefined && before !== undefined && before !== STORED)
          countRow(sums, spec, before, 'subtract')
        if (row !== undefined) {
          const values = encode(row)
          rows.push(values)
          if (sums !== undefined) {
            const text = JSON.stringify(values)
            texts.push(text)
            if (live === undefined || live(row)) sums.add(spec.name, text)
          }
        } else if (before === STORED) gone.push([key])
        else if (before !== undefined)
          gone.push(spec.key.map((column) => (before as Record<string, unknown>)[column]))
        // else: made and gone within the batch
      }
      if (rows.length > 0) upserts.push(tableWrite(spec.name, rows, sums === undefined ? undefined : texts))
      if (gone.length > 0) removes.push(tableWrite(spec.name, gone))
    }
    for (const [log, rows] of this.appended) {
      const values = rows.map(encoder(log))
      const lines = texts(values)
      if (sums !== undefined) for (const line of lines) sums.add(log.name, line)
      appends.push(tableWrite(log.name, values, lines))
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
