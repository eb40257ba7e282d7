import Database from 'libsql'
import type { PackedBatch, TableText } from '../core/batch.ts'
import type { Seal } from '../core/sealer.ts'
import { BOOTSTRAP, pendingMigrations, type Migration } from './migrations/migrations.ts'
import { ADVANCE_HEAD, INSERT_COMMANDS, batchStatements, headValues } from './statements.ts'
import { Fenced, type Value } from './store.ts'

/** The one file that knows the SQLite binding. Synchronous: it runs in a worker, or at start-up. */
type Row = readonly unknown[]
interface Statement {
  run(...values: readonly Value[]): { changes: number }
  all(...values: readonly Value[]): unknown[]
  iterate(...values: readonly Value[]): IterableIterator<unknown>
  raw(on: boolean): Statement
}

export const BUSY_MS = 10_000
const PORTION = 5_000

export class SqliteConnection {
  private readonly db: InstanceType<typeof Database>
  private readonly prepared = new Map<string, Statement>()
  private readonly statementsOf = batchStatements('sqlite')

  constructor(path: string) {
    this.db = new Database(path, { timeout: BUSY_MS })
    this.db.pragma(`busy_timeout = ${BUSY_MS}`)
    // WAL with a full sync at each commit: an acknowledged write survives power loss.
    this.db.pragma('journal_mode = WAL')
    this.db.pragma('synchronous = FULL')
    this.db.pragma('wal_autocheckpoint = 4000')
    this.db.pragma('cache_size = -32000')
  }
  /** How long somebody else's transaction is waited for. */
  waitFor(ms: number): void {
    this.db.pragma(`busy_timeout = ${ms}`)
  }
  /** From here on this connection only looks, and what it sees stands still. */
  freeze(): void {
    this.db.pragma('query_only = on')
    this.db.exec('begin')
  }
  /** Tells which migrations were still to be done. */
  migrate(now: number): number[] {
    let pending: readonly Migration[] = []
    for (const statement of BOOTSTRAP) this.db.exec(statement)
    // In one transaction with the look at what is done: two processes may start at once.
    this.transaction(() => {
      const done = this.query('select id from migration', []).map(([id]) => id as number)
      pending = pendingMigrations(done)
      for (const migration of pending) {
        for (const statement of migration.up('sqlite')) this.db.exec(statement)
        this.run('insert into migration (id, name, at) values (?, ?, ?)', [migration.id, migration.name, now])
      }
    })
    return pending.map(({ id }) => id)
  }
  commit(batch: PackedBatch<TableText>, seal: Seal, epoch: number): void {
    this.transaction(() => {
      if (this.run(ADVANCE_HEAD, headValues(batch, seal, epoch)) !== 1) throw new Fenced()
      for (const [sql, { rows }] of this.statementsOf(batch)) this.run(sql, [rows])
      this.run(INSERT_COMMANDS, [batch.sequence, batch.at, batch.count, seal.hash, batch.commands])
    })
  }
  query(sql: string, values: readonly Value[]): unknown[][] {
    return this.prepare(sql).all(...values) as unknown[][]
  }
  /** For results too large to hold twice. */
  each(sql: string, row: (values: Row) => void): void {
    for (const values of this.prepare(sql).iterate()) row(values as Row)
  }
  /** The same in portions, for those who let others have a turn in between. */
  *portions(sql: string): Generator<Row[]> {
    let rows: Row[] = []
    for (const values of this.prepare(sql).iterate()) {
      rows.push(values as Row)
      if (rows.length < PORTION) continue
      yield rows
      rows = []
    }
    yield rows
  }
  /** A whole table. A portion comes as one JSON text, which takes a third of the time of its single values. */
  *portionsOf(table: string, columns: readonly string[]): Generator<Row[]> {
    const names = columns.map((column) => `"${column}"`).join(', ')
    const sql = `select max(place), json_group_array(json_array(${names})) from
      (select rowid as place, ${names} from "${table}" where rowid > ? order by rowid limit ${PORTION})`
    for (let place = Number.MIN_SAFE_INTEGER; ;) {
      const [[last, rows]] = this.query(sql, [place]) as [[number | null, string]]
      if (last === null) return
      yield JSON.parse(rows) as Row[]
      place = last
    }
  }
  run(sql: string, values: readonly Value[]): number {
    return this.prepare(sql).run(...values).changes
  }
  transaction(act: () => void): void {
    this.db.exec('begin immediate')
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
    this.db.close()
  }
  private prepare(sql: string): Statement {
    let statement = this.prepared.get(sql)
    if (statement === undefined) {
      // The binding's types know neither null values nor raw rows.
      statement = (this.db.prepare as (sql: string) => unknown).call(this.db, sql) as Statement
      if (/^\s*(select|with|explain|pragma|update .* returning)/is.test(sql)) statement = statement.raw(true)
      this.prepared.set(sql, statement)
    }
    return statement
  }
}

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
