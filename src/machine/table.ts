import { BrokenInvariant } from '../labels.ts'
import { Pages } from './pages.ts'

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
  /**
   * Rows that are not live any more are written over or removed when memory no longer has them, so that no sum can
   * follow them.
   */
  readonly rewritten?: boolean
  /** Keys are numbers that count up from 1, and looking rows up must be fast: kept in pages instead of a map. */
  readonly numbered?: boolean
  /** Makes the row of a table from the plain one that a store gives, where rows are objects of a class. */
  readonly revive?: (row: Row) => Row
}
/** Append-only history: rows go to the store and are never held in memory. */
export interface LogSpec<Row extends object> {
  readonly name: string
  readonly columns: { readonly [C in keyof Row & string]: ColumnType }
}

/** Every table and log that there is; what a store writes, compares and wipes. */
export interface Declared {
  readonly tables: readonly TableSpec<object>[]
  readonly logs: readonly LogSpec<object>[]
}

/**
 * Why a row is another one now: a command changed it, a command that changed it was taken back, or it left memory
 * (or came in from the store) while what it says stays true. `follow`: commands of another process changed it, and what
 * a whole batch of them came to is told row by row, in no order between rows.
 */
export type Signal = 'change' | 'undo' | 'eviction' | 'load' | 'follow'
export type Observer<Row> = (before: Row | undefined, after: Row | undefined, signal: Signal) => void

const RECENT_MAX = 20_000
/** So many leave memory for each that comes to those that may: what is over the bound goes little by little. */
const LEAVE = 2

/** A member that is named in the code is read sooner than one that a variable names. */
const KEYS: Readonly<Record<string, (row: never) => Key>> = {
  id: (row: { id: Key }) => row.id,
  name: (row: { name: Key }) => row.name,
  pair: (row: { pair: Key }) => row.pair,
  series: (row: { series: Key }) => row.series,
}

/** The keys of a table that a batch has touched, with the rows from before it. */
export interface Noted {
  readonly batch: object
  readonly keys: Map<Key, object | typeof STORED | undefined>
}

export class Table<Row extends object> {
  private readonly map = new Map<Key, Row>()
  /** Of a numbered table, instead of the map. */
  private readonly pages: Pages<Row> | undefined
  readonly spec: TableSpec<Row>
  private readonly observers: Observer<Row>[] = []
  /** Rows that may leave memory, the oldest first, from `first` on. */
  private finished: Key[] = []
  private first = 0
  size = 0
  /** How many rows have come to those that may leave memory, and how many of these were let go: the first to come are first. */
  ended = 0
  private left = 0
  readonly keyOf: (row: Row) => Key
  /** What the open batch notes of it. */
  noted: Noted | undefined

  constructor(spec: TableSpec<Row>) {
    this.spec = spec
    this.pages = spec.numbered === true ? new Pages<Row>() : undefined
    const [first, ...more] = spec.key
    const one = KEYS[first!] ?? ((row: Readonly<Record<string, unknown>>) => row[first!] as Key)
    this.keyOf =
      more.length === 0
        ? (one as (row: Row) => Key)
        : (row) => spec.key.map((column) => String(row[column])).join('/')
  }
  get(key: Key): Row | undefined {
    const { pages } = this
    return pages === undefined ? this.map.get(key) : pages.get(key as number)
  }
  values(): Iterable<Row> {
    return this.pages === undefined ? this.map.values() : this.pages.values()
  }
  /** Indexes follow a table by observing it, on undo and eviction too. */
  observe(observer: Observer<Row>): void {
    this.observers.push(observer)
    for (const row of this.values()) observer(undefined, row, 'load')
  }
  /** Only Tx, load, eviction and who follows another process call this. */
  swap(key: Key, after: Row | undefined, signal: Signal): Row | undefined {
    const before = this.get(key)
    this.replace(key, before, after, signal)
    return before
  }
  /** `before` is the row that stands there. */
  replace(key: Key, before: Row | undefined, after: Row | undefined, signal: Signal): void {
    if (this.pages !== undefined) this.pages.set(key as number, after)
    else if (after === undefined) this.map.delete(key)
    else this.map.set(key, after)
    if (before === undefined) {
      if (after !== undefined) this.size++
    } else if (after === undefined) this.size--
    const { observers } = this
    try {
      for (let i = 0; i < observers.length; i++) observers[i]!(before, after, signal)
    } catch (error) {
      // An index that failed half-way can't be undone: memory is no longer to be trusted.
      throw new BrokenInvariant(`index of ${this.spec.name} failed`, { cause: error })
    }
  }
  /** Undo of the removal of a row that was not in memory: what came after it goes, the rest is the store's. */
  forget(key: Key): void {
    if (this.get(key) !== undefined) this.swap(key, undefined, 'undo')
  }
  /** What a removal finds in place of a row that is not in memory; only finished rows may be elsewhere. */
  absent(key: Key): typeof STORED {
    const { name, live } = this.spec
    if (live === undefined || this.spec.key.length > 1)
      throw new TypeError(`${name} has no row ${key} to remove`)
    return STORED
  }
  /** After a commit: finished rows leave memory, oldest first, unless the open batch still needs them. */
  retire(keys: Iterable<Key>, needed: (key: Key) => boolean): void {
    const live = this.spec.live
    if (live === undefined) return
    const before = this.ended
    for (const key of keys) {
      const row = this.get(key)
      if (row !== undefined && !live(row)) this.queue(key)
    }
    let most = LEAVE * (this.ended - before)
    while (most-- > 0 && this.finished.length - this.first > RECENT_MAX) {
      const key = this.finished[this.first++]!
      this.left++
      const row = this.get(key)
      if (row === undefined || live(row)) continue
      if (needed(key)) this.queue(key)
      else this.swap(key, undefined, 'eviction')
    }
    if (this.first < RECENT_MAX) return
    this.finished = this.finished.slice(this.first)
    this.first = 0
  }
  private queue(key: Key): void {
    this.finished.push(key)
    this.ended++
  }
  /**
   * A row that had not ended when `ended` was read may be gone by now: whoever asked the store at that moment may not have
   * seen it. Those that had ended were committed, so the store had them.
   */
  forgot(ended: number): boolean {
    return this.left > ended
  }
  /** Forgets all rows, telling the indexes. */
  clear(): void {
    for (const row of [...this.values()]) this.swap(this.keyOf(row), undefined, 'eviction')
    this.finished = []
    this.first = 0
    this.left = this.ended
  }
}

interface Touch {
  readonly table: Table<object>
  readonly key: Key
  /** The row that stood there; `STORED` when it is not in memory, but may be in the store. */
  readonly before: object | typeof STORED | undefined
}
/** Stands for a row that memory does not know. */
export const STORED = Symbol('a row of the store')
export interface Mark {
  readonly touched: number
  readonly appended: number
}

/** For whoever puts the members on one by one, before anybody else sees them. */
export type Mutable<T> = { -readonly [M in keyof T]: T[M] }
/**
 * A row that the present command made, after its last mark, may be written on in place: the row from before it is
 * the undo record, and nobody else has seen this one. For rows that one command changes again and again, and
 * whose changes no index follows.
 */
export type Own<Row> = Mutable<Row> & { readonly stamp: object }

/** Says nothing but that it is itself. An object of a class without members is the smallest there is. */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- a plain {} has room for four members
class Stamp {}

/** The changes of one command: all of them happen, or none. */
export class Tx {
  readonly touched: Touch[] = []
  /** What was appended, and to which log, at the same index. */
  readonly appended: object[] = []
  readonly logs: LogSpec<object>[] = []
  /** Another one in every command, and after every mark in it: rows that carry it were made since. */
  stamp: object = new Stamp()

  put<Row extends object>(table: Table<Row>, row: NoInfer<Row>): void {
    const key = table.keyOf(row)
    this.replace(table, key, table.get(key), row)
  }
  /** The same, for who knows the row that stands there. */
  replace<Row extends object>(
    table: Table<Row>,
    key: Key,
    before: NoInfer<Row> | undefined,
    row: NoInfer<Row>,
  ): void {
    table.replace(key, before, row, 'change')
    this.touched.push({ table: table as unknown as Table<object>, key, before })
  }
  /** By its key, in memory or not. */
  remove<Row extends object>(table: Table<Row>, key: Key): void {
    const before = table.get(key)
    if (before !== undefined) table.replace(key, before, undefined, 'change')
    this.touched.push({
      table: table as unknown as Table<object>,
      key,
      before: before ?? table.absent(key),
    })
  }
  /** The row as this command's own, if it is. */
  own<Row extends object>(row: Row | undefined): Own<Row> | undefined {
    return (row as Own<Row> | undefined)?.stamp === this.stamp ? (row as Own<Row>) : undefined
  }
  append<Row extends object>(log: LogSpec<Row>, row: NoInfer<Row>): void {
    this.appended.push(row)
    this.logs.push(log)
  }
  /** The rows of one log. */
  appendedTo<Row extends object>(log: LogSpec<Row>): Row[] {
    return this.appended.filter((_, i) => this.logs[i] === (log as LogSpec<object>)) as Row[]
  }
  get empty(): boolean {
    return this.touched.length === 0 && this.appended.length === 0
  }
  /** A place to come back to: one item of a batch may fail without the others. */
  mark(): Mark {
    this.stamp = new Stamp()
    return { touched: this.touched.length, appended: this.appended.length }
  }
  rollback(to: Mark = { touched: 0, appended: 0 }): void {
    while (this.touched.length > to.touched) {
      const { table, key, before } = this.touched.pop()!
      if (before === STORED) table.forget(key)
      else table.swap(key, before, 'undo')
    }
    this.appended.length = this.logs.length = to.appended
  }
}

/** One row for each value of a member, kept in step with its table. It knows keys, so a row that changes otherwise costs it nothing. */
export class UniqueIndex<Row extends object, K> {
  private readonly keys = new Map<K, Key>()
  private readonly table: Table<Row>
  constructor(table: Table<Row>, valueOf: (row: Row) => K | undefined) {
    this.table = table
    table.observe((before, after, signal) => {
      const was = before === undefined ? undefined : valueOf(before)
      const is = after === undefined ? undefined : valueOf(after)
      if (was === is) return
      // Of a batch that is followed the row that takes a value over may come before the one that gives it up.
      const follows = signal === 'follow'
      if (was !== undefined && !(follows && this.keys.get(was) !== table.keyOf(before!)))
        this.keys.delete(was)
      if (is === undefined) return
      if (!follows && this.keys.has(is))
        throw new TypeError(`two rows of ${table.spec.name} hold ${String(is)}`)
      this.keys.set(is, table.keyOf(after!))
    })
  }
  get(value: K): Row | undefined {
    const key = this.keys.get(value)
    return key === undefined ? undefined : this.table.get(key)
  }
}

/** The rows of a group, in no promised order: sort where order matters. */
export class GroupIndex<Row extends object, K> {
  private readonly groups = new Map<K, Set<Key>>()
  /** Whose rows were counted last: the same is asked again and again, and nearly always there are none. */
  private counted: { readonly group: K; readonly count: number } | undefined
  private readonly table: Table<Row>
  constructor(table: Table<Row>, groupOf: (row: Row) => K | undefined) {
    this.table = table
    table.observe((before, after) => {
      const was = before === undefined ? undefined : groupOf(before)
      const is = after === undefined ? undefined : groupOf(after)
      if (was === is) return
      this.counted = undefined
      if (was !== undefined) {
        const group = this.groups.get(was)!
        group.delete(table.keyOf(before!))
        if (group.size === 0) this.groups.delete(was)
      }
      if (is !== undefined) {
        let group = this.groups.get(is)
        if (group === undefined) this.groups.set(is, (group = new Set<Key>()))
        group.add(table.keyOf(after!))
      }
    })
  }
  *get(group: K): Generator<Row> {
    for (const key of this.groups.get(group) ?? []) yield this.table.get(key)!
  }
  count(group: K): number {
    if (this.counted?.group === group) return this.counted.count
    const count = this.groups.get(group)?.size ?? 0
    this.counted = { group, count }
    return count
  }
}
