import { kindsOf, quoted, textOf, valuesOf, type Columns, type RowValues } from './codec.ts'
import { LOG_ROWS, bodyOf, sumOf, type Finished, type PackedBatch, type Section } from './journal.ts'
import { IS_GONE, IS_WORD, WAS, putHead, tellCount, type LooseBatch } from './loose.ts'
import type { CommittedBatch, CommittedCommand, RowAppended, RowChange, Wanted } from './stream.ts'
import type { Sums } from './sums.ts'
import { STORED, type Key, type LogSpec, type Noted, type Table, type Tx } from './table.ts'
import { ValueSink } from './values.ts'

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
  readonly values: RowValues
  readonly text: (row: object) => string
}
const written = new WeakMap<object, Written>()
function writtenFor(spec: Spec): Written {
  let found = written.get(spec)
  if (found === undefined) {
    const { columns, live, rewritten } = spec
    const finished = live === undefined ? 'never' : rewritten === true ? 'unsummed' : 'summed'
    const values = valuesOf(columns, live as Live)
    const text = textOf(columns, live as Live)
    written.set(spec, (found = { kinds: kindsOf(columns, live !== undefined), finished, values, text }))
  }
  return found
}
/** Adds a row that stands in a table or a log. */
export function countRow(sums: Sums, spec: Spec, row: object): void {
  const { finished, text: textOfRow } = writtenFor(spec)
  const text = textOfRow(row)
  const sum = sumOf(spec.name, finished, text)
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
  /** What it changed, as values, which pass through `sink`: for another thread to write. */
  loose(sequence: number, at: number, sink = new ValueSink()): LooseBatch {
    for (const [table, keys] of this.dirty) {
      const { spec } = table
      const { kinds, finished, values: put } = writtenFor(spec)
      const { at: begin, words } = sink
      const head = putHead(sink, { table: spec.name, kinds, finished })
      const rows = eachRow(table, keys, (key, row, before, was) => {
        putKey(sink, key, row === undefined ? was + IS_GONE : was)
        if (row === undefined) sink.word(keyText(spec, key, before))
        else put(row, sink)
        if (was === WAS.known) put(before as object, sink)
      })
      if (rows > 0) tellCount(sink, head, rows)
      else {
        sink.at = begin
        sink.words = words
      }
    }
    for (const [log, rows] of this.appended) {
      const { kinds, values: put } = writtenFor(log)
      tellCount(sink, putHead(sink, { table: log.name, kinds, finished: LOG_ROWS }), rows.length)
      for (const row of rows) put(row, sink)
    }
    this.leave()
    return { sequence, at, commands: this.commands, values: sink.take() }
  }
  /** The same as text, where this thread had better write it. */
  packed(sequence: number, at: number): PackedBatch {
    const sections = this.sections()
    const { commands } = this
    const body = bodyOf(sections)
    return { sequence, at, count: commands.length, commands: `[${commands.join(',')}]`, body, sections }
  }
  /** `befores`: with the rows as they were. */
  sections(befores = true): Section[] {
    const sections: Section[] = []
    for (const [table, changed] of this.dirty) {
      const { spec } = table
      const { finished, text } = writtenFor(spec)
      let keys = ''
      let rows = ''
      let were = ''
      const count = eachRow(table, changed, (key, row, before, was) => {
        keys += typeof key === 'number' ? `${key}\n` : `${quoted(key)}\n`
        rows += row === undefined ? `-${keyText(spec, key, before)}\n` : `${text(row)}\n`
        if (!befores || was === WAS.absent) were += '\n'
        else were += was === WAS.known ? `${text(before as object)}\n` : '?\n'
      })
      if (count > 0) sections.push({ table: spec.name, finished, keys, rows, befores: were })
    }
    for (const [log, appended] of this.appended) {
      const { text } = writtenFor(log)
      let rows = ''
      for (const row of appended) rows += `${text(row)}\n`
      sections.push({ table: log.name, finished: LOG_ROWS, keys: '', rows, befores: '' })
    }
    this.leave()
    return sections
  }
  /** A table that is seldom touched would hold on to it. */
  private leave(): void {
    for (const table of this.dirty.keys()) if (table.noted?.batch === this) table.noted = undefined
  }
}
type Before = object | typeof STORED | undefined
/** Those that the batch changed in the end; the answer: how many. */
function eachRow(
  table: Table<object>,
  keys: ReadonlyMap<Key, Before>,
  tell: (key: Key, row: object | undefined, before: Before, was: number) => void,
): number {
  let rows = 0
  for (const [key, before] of keys) {
    const row = table.get(key)
    if (row === undefined && before === undefined) continue // made and gone within the batch
    rows++
    tell(key, row, before, before === undefined ? WAS.absent : before === STORED ? WAS.stored : WAS.known)
  }
  return rows
}
function putKey(into: ValueSink, key: Key, said: number): void {
  if (typeof key === 'number') {
    into.number(said)
    into.number(key)
    return
  }
  into.number(said + IS_WORD)
  into.word(key)
}

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
