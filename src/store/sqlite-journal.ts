import type { JournalEntry } from '../machine/journal.ts'
import { makePrivateFile } from '../files.ts'
import { COLUMNS, entryOf, type Written } from './journal-rows.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { Fenced } from './store.ts'

/** The journal lies in a file of its own: appending to it must not wait for whoever writes the tables. */
export const journalPath = (path: string): string => `${path.replace(/\.db$/, '')}.journal`

const NOTHING: Written = { schema: '', shapes: [] }

const TABLES = [
  `create table if not exists owner (one integer primary key check (one = 1), epoch integer not null, base integer not null, written text not null)`,
  `insert into owner (one, epoch, base, written) values (1, 0, 0, '') on conflict (one) do nothing`,
  `create table if not exists entry (sequence integer primary key, at integer not null, count integer not null, hash text not null, mac text not null, commands text not null, body text not null)`,
]
/** Nothing is appended for a process that is no longer the owner, or out of its order. */
const APPEND = `insert into entry (${COLUMNS}) select ?, ?, ?, ?, ?, ?, ? from owner
  where epoch = ? and ? = (select coalesce(max(sequence), owner.base) from entry)`
export const SQLITE_TAIL = `select ${COLUMNS} from entry where sequence > ? order by sequence`
/** Entries are thinned out this many at a time, in the transaction of an append. */
const THIN_MIN = 256

/** Synchronous: it runs in a thread of its own, or at start-up. */
export class SqliteJournal {
  private readonly connection: SqliteConnection
  private epoch = 0
  private thinned = 0

  constructor(path: string) {
    makePrivateFile(path)
    this.connection = new SqliteConnection(path, 'journal')
    for (const sql of TABLES) this.connection.execute(sql)
  }
  /** From here on nobody else appends. */
  take(): void {
    this.connection.transaction(() => {
      this.connection.run('update owner set epoch = epoch + 1', [])
      this.epoch = this.connection.query('select epoch from owner', [])[0]![0] as number
    })
  }
  /** The owner in this process, in another thread. */
  takenAt(epoch: number): void {
    this.epoch = epoch
  }
  get owner(): number {
    return this.epoch
  }
  get written(): Written {
    const text = this.connection.query('select written from owner', [])[0]![0] as string
    return text === '' ? NOTHING : (JSON.parse(text) as Written)
  }
  tail(after: number): JournalEntry[] {
    return this.connection.query(SQLITE_TAIL, [after]).map(entryOf)
  }
  /** Everything is in the tables, up to here, for good: the next entries come behind it. */
  begin(base: number, written: Written): void {
    this.connection.transaction(() => {
      const values = [base, JSON.stringify(written), this.epoch]
      if (this.connection.run('update owner set base = ?, written = ? where epoch = ?', values) !== 1)
        throw new Fenced()
      this.connection.run('delete from entry', [])
    })
  }
  /** Durable when it comes back. Entries up to `safe` are in the tables for good. */
  append(entry: JournalEntry, safe: number): void {
    const { sequence, at, count, hash, mac, commands, body } = entry
    const values = [sequence, at, count, hash, mac, commands, body, this.epoch, sequence - 1]
    if (safe - this.thinned < THIN_MIN) {
      if (this.connection.run(APPEND, values) !== 1) throw new Fenced()
      return
    }
    this.connection.transaction(() => {
      if (this.connection.run(APPEND, values) !== 1) throw new Fenced()
      this.connection.run('delete from entry where sequence <= ?', [safe])
    })
    this.thinned = safe
  }
  /** Everything in it is in the tables, for good; they stand at `base`. */
  clear(base: number): void {
    this.connection.transaction(() => {
      this.checkFence()
      this.connection.run('update owner set base = ?', [base])
      this.connection.run('delete from entry', [])
    })
    this.thinned = 0
  }
  checkFence(): void {
    if (this.connection.query('select epoch from owner', [])[0]![0] !== this.epoch) throw new Fenced()
  }
  close(): void {
    this.connection.close()
  }
}
