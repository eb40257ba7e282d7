import {
  BATCHES,
  batchText,
  linesOf,
  sectionsOf,
  sumOf,
  type Finished,
  type JournalEntry,
} from './journal.ts'
import type { Sums } from './sums.ts'

interface Row {
  /** As it stands in the tables; empty: it does not, "?": nobody knows. */
  readonly before: string
  /** As it will; "-" and the values of its key: it goes. */
  after: string
}
/** What goes into the tables, as plain texts: by table, an array in JSON. */
export interface Changes {
  /** The batch behind which it comes. */
  readonly from: number
  readonly removes: readonly (readonly [table: string, keys: string])[]
  readonly writes: readonly (readonly [table: string, rows: string])[]
  readonly batches: string
}
interface TableChanges {
  readonly finished: Finished
  readonly rows: Map<string, Row>
}

/**
 * What a few entries of the journal, one behind the other, mean for the tables: a row that was touched a hundred times
 * is written once.
 */
export class Portion {
  private readonly tables = new Map<string, TableChanges>()
  private readonly logs = new Map<string, string[]>()
  readonly entries: JournalEntry[] = []
  bytes = 0

  add(entry: JournalEntry): void {
    this.entries.push(entry)
    this.bytes += entry.body.length + entry.commands.length
    for (const { table, finished, keys, rows, befores } of sectionsOf(entry.body)) {
      if (finished === 'log') {
        const known = this.logs.get(table)
        if (known === undefined) this.logs.set(table, linesOf(rows))
        else for (const row of linesOf(rows)) known.push(row)
        continue
      }
      let changes = this.tables.get(table)
      if (changes === undefined)
        this.tables.set(table, (changes = { finished, rows: new Map<string, Row>() }))
      const afters = linesOf(rows)
      const were = linesOf(befores)
      for (const [i, key] of linesOf(keys).entries()) {
        const known = changes.rows.get(key)
        if (known === undefined) changes.rows.set(key, { before: were[i]!, after: afters[i]! })
        else known.after = afters[i]!
      }
    }
  }
  get last(): JournalEntry {
    return this.entries.at(-1)!
  }
  /** Rows that go, each the values of its key. */
  *removes(): Generator<[table: string, keys: string[]]> {
    for (const [table, { rows }] of this.tables) {
      const gone: string[] = []
      for (const { before, after } of rows.values())
        if (after.startsWith('-') && before !== '') gone.push(after.slice(1))
      if (gone.length > 0) yield [table, gone]
    }
  }
  /** Rows that come or change, and then those of the logs. */
  *writes(): Generator<[table: string, rows: string[]]> {
    for (const [table, { rows }] of this.tables) {
      const written: string[] = []
      for (const { after } of rows.values()) if (!after.startsWith('-')) written.push(after)
      if (written.length > 0) yield [table, written]
    }
    yield* this.logs
  }
  /** The rows of the recorded commands. */
  batches(): string[] {
    return this.entries.map(
      ({ sequence, at, count, hash, commands }) =>
        `[${sequence},${at},${count},"${hash}",${JSON.stringify(commands)}]`,
    )
  }
  /** All of it, for another thread. */
  changes(): Changes {
    const removes: [string, string][] = []
    for (const [table, keys] of this.removes()) removes.push([table, array(keys)])
    const writes: [string, string][] = []
    for (const [table, rows] of this.writes()) writes.push([table, array(rows)])
    return { from: this.entries[0]!.sequence - 1, removes, writes, batches: array(this.batches()) }
  }
  /** Brings the sums to what the tables will be. */
  count(sums: Sums): void {
    const change = (table: string, finished: Finished, row: string, sign: 'add' | 'subtract'): void => {
      const sum = sumOf(table, finished, row)
      if (sum !== undefined) sums[sign](sum, row)
    }
    for (const [table, { finished, rows }] of this.tables)
      for (const { before, after } of rows.values()) {
        if (before !== '' && before !== '?') change(table, finished, before, 'subtract')
        if (!after.startsWith('-')) change(table, finished, after, 'add')
      }
    for (const [table, rows] of this.logs) for (const row of rows) sums.add(table, row)
    for (const { sequence, at, count, hash, commands } of this.entries)
      sums.add(BATCHES, batchText(sequence, at, count, hash, commands))
  }
}
const array = (rows: readonly string[]): string => `[${rows.join(',')}]`
