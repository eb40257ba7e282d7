import Database from 'libsql'
import type { Changes } from '../machine/portion.ts'
import type { Table } from '../machine/table.ts'
import {
  CLEAR_CHECKPOINT,
  INSERT_CHECKPOINT,
  INSERT_CHECKPOINT_PART,
  checkpointParts,
} from './checkpoints.ts'
import { ADVANCE_HEAD, EMPTY_HEAD, READ_HEAD, REWIND_HEAD, SEAL_HEAD, headValues, storeHead } from './head.ts'
import type { Image, ImageTable } from './image.ts'
import {
  COMMAND_BATCH,
  stageStatement,
  stageTable,
  statementsOf,
  takeStatement,
  type Rows,
  type Shape,
  type Staged,
  type Statements,
} from './shapes.ts'
import type { TablePortion } from './messages.ts'
import { quote, selectValues } from './sql.ts'
import { Fenced, type Checkpoint, type StoreHead, type Value } from './store.ts'

/** The one file that knows the SQLite binding. Synchronous: it runs in a worker, or at start-up. */
type Row = readonly unknown[]
interface Statement {
  run(...values: readonly Value[]): { changes: number }
  all(...values: readonly Value[]): unknown[]
  get(...values: readonly Value[]): unknown
  iterate(...values: readonly Value[]): IterableIterator<unknown>
  raw(on: boolean): Statement
  columns(): unknown[]
}

export const BUSY_MS = 10_000
const PORTION = 5_000
const FAULTS_MAX = 20

/** Whoever reads goes through a table once, or by an index; the system keeps the file's pages anyway. */
const CACHE_KB = { write: 32_000, read: 4_000, stage: 8_000 } as const

export class SqliteConnection {
  private readonly db: InstanceType<typeof Database>
  private readonly prepared = new Map<string, Statement>()
  /** Files of rows that were readied elsewhere, by the names that statements call them. */
  private readonly stages = new Map<string, string>()
  /** Tables of a stage that hold rows. */
  private readonly filled: string[] = []
  private synced = true
  private statements: ReadonlyMap<string, Statements> = new Map()

  constructor(path: string, purpose: keyof typeof CACHE_KB | 'look' = 'write') {
    this.db = new Database(path, { timeout: BUSY_MS })
    this.db.pragma(`busy_timeout = ${BUSY_MS}`)
    if (purpose === 'look') return
    this.db.pragma(`cache_size = -${CACHE_KB[purpose]}`)
    if (purpose === 'stage') {
      // What is in it is in the journal too, and made anew by the next owner.
      this.db.pragma('journal_mode = OFF')
      this.db.pragma('synchronous = OFF')
      return
    }
    // WAL with a full sync at each commit: an acknowledged write survives power loss.
    this.db.pragma('journal_mode = WAL')
    this.db.pragma('synchronous = FULL')
    // Small ones: whoever syncs the journal waits while the disk takes one in.
    this.db.pragma('wal_autocheckpoint = 500')
  }
  /**
   * Commits are no longer synced one by one: a loss of power takes the last ones away, but nothing of what was synced
   * before, and no part of one.
   */
  relax(): void {
    this.durable(false)
  }
  /** What was read once is not kept. */
  shrink(): void {
    this.db.pragma('shrink_memory')
  }
  settle(): void {
    this.durable(true)
    this.run('update head set epoch = epoch', [])
    // As far as nobody reads: then the one file is whole by itself.
    this.db.pragma('wal_checkpoint(TRUNCATE)')
  }
  private durable(on: boolean): void {
    if (on === this.synced) return
    this.db.pragma(`synchronous = ${on ? 'FULL' : 'NORMAL'}`)
    this.synced = on
  }
  execute(sql: string): void {
    this.db.exec(sql)
  }
  /** How long somebody else's transaction is waited for. */
  waitFor(ms: number): void {
    this.db.pragma(`busy_timeout = ${ms}`)
  }
  /** What SQLite finds wrong with the file, and how much of it is looked at. */
  integrity(check: 'integrity_check' | 'quick_check'): string[] {
    return this.query(`pragma ${check}(${FAULTS_MAX})`, [])
      .map(([line]) => String(line))
      .filter((line) => line !== 'ok')
  }
  get bytes(): number {
    const [[pages]] = this.query('pragma page_count', []) as [[number]]
    const [[size]] = this.query('pragma page_size', []) as [[number]]
    return pages * size
  }
  /** From here on this connection only looks, and what it sees stands still. */
  freeze(): void {
    this.db.pragma('query_only = on')
    this.db.exec('begin')
  }
  /** From whom on the files of the journal count; a database that never had one has no word of it. */
  journalOwner(): number {
    const [there] = this.query(`select 1 from sqlite_master where name = 'journal_owner'`, [])
    return there === undefined ? 0 : Number(this.query('select epoch from journal_owner', [])[0]![0])
  }
  /** What rows look like that are written from here on. */
  shape(shapes: readonly Shape[]): void {
    this.statements = statementsOf('sqlite', [...shapes, COMMAND_BATCH])
  }
  /** One transaction: the tables stand at the portion's end, or where they stood. */
  project(
    { from, removes, writes, batches }: Changes,
    head: StoreHead,
    epoch: number,
    durable: boolean,
    staged?: Staged,
  ): void {
    this.durable(durable)
    const stage = staged === undefined ? undefined : this.stageOf(staged.file)
    this.transaction(
      () => {
        if (this.run(ADVANCE_HEAD, headValues(head, epoch, from)) !== 1) throw new Fenced()
        for (const [table, keys] of removes) this.run(this.of(table).remove!, [keys])
        for (const [table, rows] of writes) this.run(this.of(table).write, [rows])
        for (const table of staged?.tables ?? []) this.run(takeStatement(this.of(table).shape, stage!), [])
        this.run(this.of('command_batch').write, [batches])
      },
      stage === undefined ? 'immediate' : 'deferred',
    )
  }
  private stageOf(file: string): string {
    let name = this.stages.get(file)
    if (name === undefined) {
      name = `stage_${this.stages.size}`
      this.db.prepare(`attach database ? as ${name}`).run(file)
      this.stages.set(file, name)
    }
    return name
  }
  /** Tables without keys and indexes, whose columns keep values as they come. */
  makeStage(shapes: readonly Shape[]): void {
    this.shape(shapes)
    this.transaction(() => {
      for (const shape of shapes) this.db.exec(stageTable(shape))
    })
  }
  /** Rows for another connection to take; those from before go. */
  stage(rows: Rows): void {
    this.transaction(() => {
      for (const table of this.filled.splice(0)) this.run(`delete from ${quote(table)}`, [])
      for (const [table, text] of rows) {
        this.filled.push(table)
        this.run(stageStatement(this.of(table).shape), [text])
      }
    })
  }
  private of(table: string): Statements {
    const found = this.statements.get(table)
    if (found === undefined) throw new TypeError(`table ${table} is not declared`)
    return found
  }
  keepCheckpoint({ sequence, at, hash, rules }: Checkpoint, tables: readonly Table<object>[]): void {
    this.transaction(() => {
      for (const sql of CLEAR_CHECKPOINT) this.run(sql, [])
      this.run(INSERT_CHECKPOINT, [sequence, at, hash, rules])
      for (const part of checkpointParts(tables)) this.run(INSERT_CHECKPOINT_PART, part)
    })
  }
  seal({ sums, schema, mac, sequence }: StoreHead, epoch: number): void {
    if (this.run(SEAL_HEAD, [sums, schema, mac, epoch, sequence]) !== 1) throw new Fenced()
  }
  wipe(epoch: number, tables: readonly string[]): StoreHead {
    this.transaction(() => {
      if (this.run(REWIND_HEAD, [epoch]) !== 1) throw new Fenced()
      for (const table of tables) this.run(`delete from ${quote(table)}`, [])
    })
    return EMPTY_HEAD
  }
  /** All that there is, for others who begin with it. */
  image(): Image {
    const made = this.query(
      `select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite\\_%' escape '\\'
       order by rowid`,
      [],
    ) as [type: string, name: string, sql: string][]
    const head = this.query(READ_HEAD, [])[0]!
    return {
      schema: made.map(([, , sql]) => sql),
      tables: made.filter(([type]) => type === 'table').map(([, name]) => this.imageOf(name)),
      head: storeHead(head),
      epoch: Number(head[0]),
    }
  }
  private imageOf(name: string): ImageTable {
    const columns = this.query('select name from pragma_table_info(?)', [name]).map(([column]) =>
      String(column),
    )
    const [[rows]] = this.raw(
      `select cast(json_group_array(json_array(${columns.map(quote).join(', ')})) as blob) from ${quote(name)}`,
    ).all() as [[Uint8Array]]
    return { name, columns, rows: textIn(rows) }
  }
  /** Of an empty database: makes it what the image shows. */
  fill({ schema, tables }: Image): void {
    this.transaction(() => {
      this.db.exec(schema.join(';\n'))
      for (const { name, columns, rows } of tables) {
        if (rows === '[]') continue
        const names = columns.map(quote).join(', ')
        this.raw(`insert into ${quote(name)} (${names}) ${selectValues(columns.length)}`).run(rows)
      }
    })
  }
  query(sql: string, values: readonly Value[]): unknown[][] {
    const statement = this.prepare(sql)
    const rows = statement.all(...values)
    return isSelect(sql) ? rows.map(decoded) : (rows as unknown[][])
  }
  /** The first value of the first row, of a column that holds no text: a third of the time of a query. */
  number(sql: string): unknown {
    const name = `number: ${sql}`
    let statement = this.prepared.get(name)
    if (statement === undefined) this.prepared.set(name, (statement = this.raw(sql)))
    return (statement.get() as [unknown] | undefined)?.[0]
  }
  /** For results too large to hold twice. */
  each(sql: string, row: (values: Row) => void): void {
    for (const values of this.prepare(sql).iterate()) row(decoded(values))
  }
  /** The same in portions, for those who let others have a turn in between. */
  *portions(sql: string): Generator<Row[]> {
    let rows: Row[] = []
    for (const values of this.prepare(sql).iterate()) {
      rows.push(decoded(values))
      if (rows.length < PORTION) continue
      yield rows
      rows = []
    }
    yield rows
  }
  /**
   * Of a whole table: the rows behind a place. They come as one JSON text, which takes a third of the time of their single
   * values.
   */
  portion(table: string, columns: readonly string[], after: number): TablePortion {
    const names = columns.map((column) => `"${column}"`).join(', ')
    const sql = `select max(place), cast(json_group_array(json_array(${names})) as blob), count(*) from
      (select rowid as place, ${names} from "${table}" where rowid > ? order by rowid limit ${PORTION})`
    let statement = this.prepared.get(sql)
    if (statement === undefined) this.prepared.set(sql, (statement = this.raw(sql)))
    const [[last, rows, count]] = statement.all(after) as [[number | null, Uint8Array, number]]
    return { last, rows, full: count === PORTION }
  }
  run(sql: string, values: readonly Value[]): number {
    return this.prepare(sql).run(...values).changes
  }
  /** For what takes many turns; `end` makes it durable, closing before that takes it back. */
  begin(): void {
    this.db.exec('begin immediate')
  }
  end(): void {
    this.db.exec('commit')
  }
  /** Everything into the one file: what is copied elsewhere has nothing beside it. */
  single(): void {
    this.db.pragma('wal_checkpoint(TRUNCATE)')
    this.db.pragma('journal_mode = DELETE')
  }
  /** `deferred`: only what is written is locked; the first statement must write. */
  transaction(act: () => void, how: 'immediate' | 'deferred' = 'immediate'): void {
    this.db.exec(`begin ${how}`)
    try {
      act()
      this.db.exec('commit')
    } catch (error) {
      try {
        this.db.exec('rollback')
      } catch {
        // SQLite has rolled back by itself (disk full, I/O error): the first error is the one that counts.
      }
      throw error
    }
  }
  close(): void {
    this.prepared.clear()
    // The binding closes for good only when its statements have been collected: what stood still must not, until then.
    if (this.db.inTransaction) this.db.exec('rollback')
    this.db.close()
  }
  private prepare(sql: string): Statement {
    let statement = this.prepared.get(sql)
    if (statement === undefined) {
      statement = this.raw(sql)
      if (isSelect(sql)) statement = this.raw(asBytes(sql, statement.columns().length))
      this.prepared.set(sql, statement)
    }
    return statement
  }
  private raw(sql: string): Statement {
    // The binding's types know neither null values nor raw rows.
    const statement = (this.db.prepare as (sql: string) => unknown).call(this.db, sql) as Statement
    return /^\s*(select|with|explain|pragma|update .* returning)/is.test(sql)
      ? statement.raw(true)
      : statement
  }
}

/**
 * Rows come as JSON in bytes, which are decoded here: a text that is none any more, because a bit of the file has turned,
 * would make the binding end the process.
 */
const isSelect = (sql: string): boolean => /^\s*(select|with)\b/i.test(sql)
function asBytes(sql: string, count: number): string {
  const names = Array.from({ length: count }, (_, i) => `c${i}`).join(', ')
  return `with found(${names}) as (${sql}) select cast(json_array(${names}) as blob) from found`
}
export const textIn = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
const decoded = (row: unknown): unknown[] => JSON.parse(textIn((row as [Uint8Array])[0])) as unknown[]

/** For those who read the name, and are gone in no time. An owner is not waited for. */
const READERS_MS = 300

/**
 * A lock of the operating system, held for as long as this process lives and freed by its death, whatever the death:
 * SQLite's own lock on a small file that is there for nothing else. Others can read who holds it.
 */
export class SqliteLock {
  private readonly db: InstanceType<typeof Database>

  constructor(path: string) {
    this.db = new Database(path)
    this.db.pragma('busy_timeout = 0')
  }
  /** False: somebody else holds it. */
  take(who: string): boolean {
    try {
      this.db.exec('begin immediate')
      this.db.pragma(`busy_timeout = ${READERS_MS}`)
      this.db.exec('create table if not exists owner (who text)')
      this.db.exec('delete from owner')
      this.db.prepare('insert into owner (who) values (?)').run(who)
      this.db.exec('commit')
      // Whoever is quicker here is the owner, and has written its own name.
      this.db.exec('begin immediate')
      return true
    } catch (error) {
      if (this.db.inTransaction) this.db.exec('rollback')
      if (/locked|busy/i.test(String(error))) return false
      throw error
    } finally {
      this.db.pragma('busy_timeout = 0')
    }
  }
  /** Who holds it; '' when nobody knows, undefined when nobody does. It is not kept from anybody by this look. */
  who(): string | undefined {
    try {
      this.db.exec('begin immediate')
      this.db.exec('rollback')
      return undefined
    } catch (error) {
      if (!/locked|busy/i.test(String(error))) throw error
    }
    try {
      return (this.db.prepare('select who from owner').get() as { who: string } | undefined)?.who ?? ''
    } catch {
      return ''
    }
  }
  close(): void {
    // The binding closes for good only when its statements have been collected: the lock must not wait for that.
    if (this.db.inTransaction) this.db.exec('rollback')
    this.db.close()
  }
}
