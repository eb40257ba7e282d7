import { BrokenInvariant } from '../labels.ts'

/**
 * State is a set of tables of immutable rows. `Tx` is the only way to change one: the old row is the undo
 * record and the touched keys are the write set for the store. One mechanism, two uses.
 */
export type ColumnType = 'int' | 'text' | 'amount' | 'json' | 'bool'
export type Key = string | number

/** A table is declared once: memory, both SQL dialects, loading and history reads follow from it. */
export interface TableSpec<Row extends object> {
  readonly name: string
  readonly key: readonly (keyof Row & string)[]
  readonly columns: { readonly [C in keyof Row & string]: ColumnType }
  /**
   * Rows that the rules still need. The others stay in memory for a while (`RECENT_MAX` of a table), then
   * live on in the store alone. Left out: every row stays.
   */
  readonly live?: (row: Row) => boolean
}
/** Append-only history: rows go to the store and are never held in memory. */
export interface LogSpec<Row extends object> {
  readonly name: string
  readonly columns: { readonly [C in keyof Row & string]: ColumnType }
}

export type Observer<Row> = (before: Row | undefined, after: Row | undefined) => void

const RECENT_MAX = 20_000

export class Table<Row extends object> {
  readonly rows = new Map<Key, Row>()
  readonly spec: TableSpec<Row>
  private readonly observers: Observer<Row>[] = []
  private finished: Key[] = []
  readonly keyOf: (row: Row) => Key

  constructor(spec: TableSpec<Row>) {
    this.spec = spec
    const [first, ...more] = spec.key
    this.keyOf =
      more.length === 0
        ? (row) => row[first!] as Key
        : (row) => spec.key.map((column) => String(row[column])).join('/')
  }
  get(key: Key): Row | undefined {
    return this.rows.get(key)
  }
  get size(): number {
    return this.rows.size
  }
  values(): IterableIterator<Row> {
    return this.rows.values()
  }
  /** Indexes follow a table by observing it, on undo and eviction too. */
  observe(observer: Observer<Row>): void {
    this.observers.push(observer)
    for (const row of this.rows.values()) observer(undefined, row)
  }
  /** Only Tx, load and eviction call this. */
  swap(key: Key, after: Row | undefined): Row | undefined {
    const before = this.rows.get(key)
    if (after === undefined) this.rows.delete(key)
    else this.rows.set(key, after)
    const observers = this.observers
    try {
      for (let i = 0; i < observers.length; i++) observers[i]!(before, after)
    } catch (error) {
      // An index that failed half-way can't be undone: memory is no longer to be trusted.
      throw new BrokenInvariant(`index of ${this.spec.name} failed`, { cause: error })
    }
    return before
  }
  /** After a commit: finished rows leave memory, oldest first, unless the open batch still needs them. */
  retire(keys: Iterable<Key>, needed: (key: Key) => boolean): void {
    const live = this.spec.live
    if (live === undefined) return
    for (const key of keys) {
      const row = this.rows.get(key)
      if (row !== undefined && !live(row)) this.finished.push(key)
    }
    if (this.finished.length < RECENT_MAX * 2) return
    for (const key of this.finished.splice(0, this.finished.length - RECENT_MAX)) {
      const row = this.rows.get(key)
      if (row === undefined || live(row)) continue
      if (needed(key)) this.finished.push(key)
      else this.swap(key, undefined)
    }
  }
  /** Forgets all rows, telling the indexes. */
  clear(): void {
    for (const key of [...this.rows.keys()]) this.swap(key, undefined)
    this.finished = []
  }
}

interface Touch {
  readonly table: Table<object>
  readonly key: Key
  readonly before: object | undefined
}
interface Appended {
  readonly log: LogSpec<object>
  readonly row: object
}
export interface Mark {
  readonly touched: number
  readonly appended: number
}

/** The changes of one command: all of them happen, or none. */
export class Tx {
  readonly touched: Touch[] = []
  readonly appended: Appended[] = []
  /** How many places to come back to there have been. */
  marks = 0

  put<Row extends object>(table: Table<Row>, row: NoInfer<Row>): void {
    const key = table.keyOf(row)
    this.touched.push({ table: table as unknown as Table<object>, key, before: table.swap(key, row) })
  }
  remove<Row extends object>(table: Table<Row>, key: Key): void {
    this.touched.push({ table: table as unknown as Table<object>, key, before: table.swap(key, undefined) })
  }
  append<Row extends object>(log: LogSpec<Row>, row: NoInfer<Row>): void {
    this.appended.push({ log: log, row })
  }
  get empty(): boolean {
    return this.touched.length === 0 && this.appended.length === 0
  }
  /** A place to come back to: one item of a batch may fail without the others. */
  mark(): Mark {
    this.marks++
    return { touched: this.touched.length, appended: this.appended.length }
  }
  rollback(to: Mark = { touched: 0, appended: 0 }): void {
    while (this.touched.length > to.touched) {
      const { table, key, before } = this.touched.pop()!
      table.swap(key, before)
    }
    this.appended.length = to.appended
  }
}

/** One row for each key, kept in step with its table. */
export class UniqueIndex<Row extends object, K> {
  private readonly rows = new Map<K, Row>()
  constructor(table: Table<Row>, keyOf: (row: Row) => K | undefined) {
    table.observe((before, after) => {
      const was = before === undefined ? undefined : keyOf(before)
      const is = after === undefined ? undefined : keyOf(after)
      if (was !== undefined && was !== is) this.rows.delete(was)
      if (is !== undefined) this.rows.set(is, after!)
    })
  }
  get(key: K): Row | undefined {
    return this.rows.get(key)
  }
}

/** The rows of a group, in no promised order: sort where order matters. */
export class GroupIndex<Row extends object, K> {
  private readonly groups = new Map<K, Map<Key, Row>>()
  constructor(table: Table<Row>, groupOf: (row: Row) => K | undefined) {
    table.observe((before, after) => {
      const was = before === undefined ? undefined : groupOf(before)
      const is = after === undefined ? undefined : groupOf(after)
      if (was !== undefined && was !== is) {
        const group = this.groups.get(was)!
        group.delete(table.keyOf(before!))
        if (group.size === 0) this.groups.delete(was)
      }
      if (is !== undefined) {
        let group = this.groups.get(is)
        if (group === undefined) this.groups.set(is, (group = new Map<Key, Row>()))
        group.set(table.keyOf(after!), after!)
      }
    })
  }
  get(group: K): IterableIterator<Row> {
    return (this.groups.get(group) ?? EMPTY).values() as IterableIterator<Row>
  }
  count(group: K): number {
    return this.groups.get(group)?.size ?? 0
  }
}
const EMPTY = new Map<Key, never>()
