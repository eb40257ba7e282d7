import { quoted, textOf, type Columns } from './codec.ts'
import { LOG_ROWS, bodyOf, sumOf, type Finished, type PackedBatch, type Section } from './journal.ts'
import type { CommittedBatch, CommittedCommand, RowAppended, RowChange, Wanted } from './stream.ts'
import type { Sums } from './sums.ts'
import type { RowTexts } from './texts.ts'
import { STORED, type Key, type LogSpec, type Table, type Tx } from './table.ts'

interface Spec {
  readonly name: string
  readonly columns: Columns
  readonly live?: unknown
  readonly rewritten?: boolean
}
const finishedOf = ({ live, rewritten }: Spec): Finished =>
  live === undefined ? 'never' : rewritten === true ? 'unsummed' : 'summed'
type Live = ((row: never) => boolean) | undefined
/** What is written for a declaration depends on nothing else, so that every platform may share it. */
const writers = new WeakMap<object, (row: object) => string>()
function writer(spec: Spec): (row: object) => string {
  let found = writers.get(spec)
  if (found === undefined) writers.set(spec, (found = textOf(spec.columns, spec.live as Live)))
  return found
}

/** Adds a row that stands in a table or a log. */
export function countRow(sums: Sums, spec: Spec, row: object): void {
  const text = writer(spec)(row)
  const sum = sumOf(spec.name, finishedOf(spec), text)
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
    this.commands.push(`[${at},${quoted(type)},${input}]`)
    if (this.wanted === undefined) return
    const told = changesOf(tx, at, this.wanted)
    if (told.changes.length > 0 || told.appended.length > 0) this.told.push(told)
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
  /** What it changed, as the sections of its body tell it, without the rows from before: all that its hash covers. */
  changed(): Pick<Section, 'table' | 'rows'>[] {
    const sections: Pick<Section, 'table' | 'rows'>[] = []
    for (const [table, keys] of this.dirty) {
      const { spec } = table
      const write = writer(spec)
      let rows = ''
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (row === undefined && before === undefined) continue // made and gone within the batch
        rows += row === undefined ? `-${keyText(spec, key, before)}\n` : `${write(row)}\n`
      }
      if (rows !== '') sections.push({ table: spec.name, rows })
    }
    for (const [log, rows] of this.appended) sections.push({ table: log.name, rows: linesOfLog(log, rows) })
    return sections
  }
  pack(sequence: number, at: number, texts?: RowTexts): PackedBatch {
    const sections: Section[] = []
    for (const [table, keys] of this.dirty) {
      const { spec } = table
      const write = writer(spec)
      const finished = finishedOf(spec)
      let names = ''
      let rows = ''
      let befores = ''
      for (const [key, before] of keys) {
        const row = table.get(key)
        if (row === undefined && before === undefined) continue // made and gone within the batch
        names += typeof key === 'number' ? `${key}\n` : `${quoted(key)}\n`
        if (before === STORED) befores += '?\n'
        else if (before === undefined) befores += '\n'
        else befores += `${texts?.get(before) ?? write(before)}\n`
        if (row === undefined) rows += `-${keyText(spec, key, before)}\n`
        else {
          const text = write(row)
          rows += `${text}\n`
          // A finished row is hardly ever written again. Looking at the end comes first: it makes one string of the
          // pieces, which is what is kept then.
          if (texts !== undefined && (text.endsWith(',true]') || finished === 'never')) texts.keep(row, text)
        }
      }
      if (names !== '') sections.push({ table: spec.name, finished, keys: names, rows, befores })
    }
    for (const [log, rows] of this.appended)
      sections.push({
        table: log.name,
        finished: LOG_ROWS,
        keys: '',
        rows: linesOfLog(log, rows),
        befores: '',
      })
    const commands = `[${this.commands.join(',')}]`
    return { sequence, at, count: this.commands.length, commands, body: bodyOf(sections) }
  }
}

function linesOfLog(log: LogSpec<object>, rows: readonly object[]): string {
  const write = writer(log)
  let text = ''
  for (const row of rows) text += `${write(row)}\n`
  return text
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
