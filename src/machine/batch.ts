import { kindsOf, quoted, textOf, valuesOf, type Columns, type Values } from './codec.ts'
import { LOG_ROWS, sumOf, type Finished } from './journal.ts'
import { HEAD_LENGTH, IS_GONE, WAS, type LooseBatch } from './loose.ts'
import type { CommittedBatch, CommittedCommand, RowAppended, RowChange, Wanted } from './stream.ts'
import type { Sums } from './sums.ts'
import { STORED, type Key, type LogSpec, type Noted, type Table, type Tx } from './table.ts'

interface Spec {
  readonly name: string
  readonly columns: Columns
  readonly live?: unknown
  readonly rewritten?: boolean
}
type Live = ((row: never) => boolean) | undefined
/** What is written for a declaration, once: it depends on nothing else, so that every platform may share it. */
interface Written {
  readonly kinds: string
  readonly finished: Finished
  readonly values: Values
}
const written = new WeakMap<object, Written>()
function writtenFor(spec: Spec): Written {
  let found = written.get(spec)
  if (found === undefined) {
    const { columns, live, rewritten } = spec
    const finished = live === undefined ? 'never' : rewritten === true ? 'unsummed' : 'summed'
    const values = valuesOf(columns, live as Live)
    written.set(spec, (found = { kinds: kindsOf(columns, live !== undefined), finished, values }))
  }
  return found
}
const texts = new WeakMap<object, (row: object) => string>()

/** Adds a row that stands in a table or a log. */
export function countRow(sums: Sums, spec: Spec, row: object): void {
  let textOfRow = texts.get(spec)
  if (textOfRow === undefined) texts.set(spec, (textOfRow = textOf(spec.columns, spec.live as Live)))
  const text = textOfRow(row)
  const sum = sumOf(spec.name, writtenFor(spec).finished, text)
  if (sum !== undefined) sums.add(sum, text)
}

/** The changes of the commands that will be committed together. A row touched ten times is written once. */
export class Batch {
  private readonly dirty = new Map<Table<object>, Map<Key, object | typeof STORED | undefined>>()
  private readonly appended = new Map<LogSpec<object>, object[]>()
  private readonly commands: string[] = []
  /** What each command changed, where somebody listens. */
  private readonly told: Omit<CommittedCommand, 'sequence'>[] = []
  /** What is collected for them; undefined: nothing. */
  readonly wanted: Wanted | undefined

  constructor(wanted?: Wanted) {
    this.wanted = wanted
  }
  get size(): number {
    return this.commands.length
  }
  /** `input` is JSON. */
  add(tx: Tx, at: number, type: string, input: string): void {
    for (const { table, key, before } of tx.touched) {
      const { keys } = table.noted?.batch === this ? table.noted : this.note(table)
      // The first sight keeps the row from before the batch: a removal needs its key columns.
      if (!keys.has(key)) keys.set(key, before)
    }
    let log: LogSpec<object> | undefined
    let rows: object[] | undefined
    for (let i = 0; i < tx.appended.length; i++) {
      // Most stand behind another one of the same log.
      if (tx.logs[i] !== log) {
        log = tx.logs[i]!
        rows = this.appended.get(log)
        if (rows === undefined) this.appended.set(log, (rows = []))
      }
      rows!.push(tx.appended[i]!)
    }
    this.commands.push(`[${at},${quoted(type)},${input}]`)
    if (this.wanted === undefined) return
    const told = changesOf(tx, at, this.wanted)
    if (told.changes.length > 0 || told.appended.length > 0) this.told.push(told)
  }
  /** Told to the table itself, which is asked sooner than a map of tables. */
  private note(table: Table<object>): Noted {
    const keys = this.dirty.get(table) ?? new Map<Key, object | typeof STORED | undefined>()
    this.dirty.set(table, keys)
    return (table.noted = { batch: this, keys })
  }
  touches(table: Table<object>, key: Key): boolean {
    return this.dirty.get(table)?.has(key) ?? false
  }
  get touched(): ReadonlyMap<Table<object>, ReadonlyMap<Key, unknown>> {
    return this.dirty
  }
  /** Undefined: nobody who listened when it was opened wanted any of it. */
  committed(sequence: number, at: number): CommittedBatch | undefined {
    if (this.told.length === 0) return undefined
    const commands = this.told.map((command) => ({ sequence, ...command }))
    const rows = commands.reduce((sum, { changes, appended }) => sum + changes.length + appended.length, 0)
    return { sequence, at, commands, rows }
  }
  /** What it changed, as values; `befores`: with the rows as they were. */
  loose(sequence: number, at: number, befores = true): LooseBatch {
    const values: unknown[] = []
    for (const [table, keys] of this.dirty) {
      // A table that is seldom touched would hold on to it.
      if (table.noted?.batch === this) table.noted = undefined
      const { spec } = table
      const { kinds, finished, values: put } = writtenFor(spec)
      const head = values.push(spec.name, kinds, finished, 0) - HEAD_LENGTH
      let rows = 0
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (row === undefined && before === undefined) continue // made and gone within the batch
        rows++
        const was =
          befores && before !== undefined ? (before === STORED ? WAS.stored : WAS.known) : WAS.absent
        if (row === undefined) values.push(key, was + IS_GONE, keyText(spec, key, before))
        else {
          values.push(key, was)
          put(row, values)
        }
        if (was === WAS.known) put(before as object, values)
      }
      if (rows > 0) values[head + ROWS_AT] = rows
      else values.length = head
    }
    for (const [log, rows] of this.appended) {
      const { kinds, values: put } = writtenFor(log)
      values.push(log.name, kinds, LOG_ROWS, rows.length)
      for (const row of rows) put(row, values)
    }
    return { sequence, at, commands: this.commands, values }
  }
}
/** Of the count in the head of a section. */
const ROWS_AT = HEAD_LENGTH - 1

/** The rows as they are now: looked at when the command is through, before the next one changes them again. */
function changesOf(tx: Tx, at: number, wanted: Wanted): Omit<CommittedCommand, 'sequence'> {
  const changes: RowChange[] = []
  let seen: Map<Table<object>, Set<Key>> | undefined
  for (const { table, key, before } of tx.touched) {
    if (wanted !== 'all' && !wanted.has(table.spec.name)) continue
    seen ??= new Map<Table<object>, Set<Key>>()
    let keys = seen.get(table)
    if (keys === undefined) seen.set(table, (keys = new Set<Key>()))
    else if (keys.has(key)) continue
    keys.add(key)
    const after = table.get(key)
    if (before !== undefined || after !== undefined) changes.push({ table, key, before, after })
  }
  const appended: RowAppended[] = []
  for (let i = 0; i < tx.appended.length; i++) {
    const log = tx.logs[i]!
    if (wanted === 'all' || wanted.has(log.name)) appended.push({ log, row: tx.appended[i]! })
  }
  return { at, changes, appended }
}

/** The values of the key's columns as JSON: what a removal names the row by. */
function keyText(
  spec: { readonly key: readonly string[] },
  key: Key,
  before: object | typeof STORED | undefined,
): string {
  return JSON.stringify(
    before === STORED
      ? [key]
      : spec.key.map((column) => (before as Readonly<Record<string, unknown>>)[column]),
  )
}
