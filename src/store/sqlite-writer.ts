import type { Changes } from '../machine/portion.ts'
import { RAISE_EPOCH, READ_HEAD, storeHead } from './head.ts'
import { removeJournal } from './file-journal.ts'
import type { Written } from './journal-rows.ts'
import type { Opening } from './messages.ts'
import { journal as journalMigration } from './migrations/0070_journal.ts'
import type { Shape, Staged } from './shapes.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { migrate, migrationsOf } from './sqlite-migrating.ts'
import { removeStages } from './sqlite-stage.ts'
import { Fenced, type StoreHead } from './store.ts'

const OPEN_MS = 200
const CHECKED_BYTES = 64 * 2 ** 20
/** Unless somebody has taken the tables over since. */
const OWN_JOURNAL = 'update journal_owner set epoch = ?, written = ? where (select epoch from head) = ?'

/** Where the tables stand when they have been taken over. */
export interface Taken {
  readonly sequence: number
  /** None: the database never had a journal. Nothing written: it is a copy, which has none. */
  readonly journal: JournalOwner | undefined
}
export interface JournalOwner {
  readonly head: StoreHead
  /** From whom on its files count. */
  readonly epoch: number
  readonly written: string
}
export interface Finished {
  /** The one that was taken. */
  readonly epoch: number
  readonly head: unknown[]
  readonly migrated: number[]
}
/** What writes the tables: in this thread, or in one that is asked. */
export interface SqliteWriting {
  take(): Promise<Taken> | Taken
  shape(shapes: readonly Shape[]): Promise<void> | void
  /** `staged`: more of the same portion. */
  project(changes: Changes, head: StoreHead, durable: boolean, staged?: Staged): Promise<void> | void
  finish(opening: Opening): Promise<Finished> | Finished
  settle(): Promise<void> | void
  close(): Promise<void> | void
}

/** What another thread needs to know that goes on with it. */
export interface Standing {
  readonly epoch: number
  readonly shapes: readonly Shape[]
}

/** Writes the tables of an SQLite file. Synchronous: it runs in a thread behind the one that answers. */
export class SqliteWriter implements SqliteWriting {
  private readonly path: string
  private opened: SqliteConnection | undefined
  private epoch = 0
  private shapes: readonly Shape[] = []

  constructor(path: string) {
    this.path = path
  }
  /** Opened by the first who needs it: what keeps the file from being opened is told to whoever asked. */
  private get connection(): SqliteConnection {
    return (this.opened ??= new SqliteConnection(this.path))
  }
  /** The epoch first: from then on nobody is told of an append. */
  take(): Taken {
    const { connection } = this
    // Whoever asks tries again, and can be told to stop in between.
    connection.waitFor(OPEN_MS)
    this.refuseDamaged()
    const done = migrationsOf(connection)
    connection.run(RAISE_EPOCH, [])
    const [epoch, sequence] = connection.query('select epoch, sequence from head', [])[0] as [number, number]
    this.epoch = epoch
    if (!done.includes(journalMigration.id)) return { sequence, journal: undefined }
    const owner = connection.query('select epoch, written from journal_owner', [])[0] as [number, string]
    const head = storeHead(connection.query(READ_HEAD, [])[0]!)
    return { sequence, journal: { head, epoch: owner[0], written: owner[1] } }
  }
  get standing(): Standing {
    return { epoch: this.epoch, shapes: this.shapes }
  }
  adopt({ epoch, shapes }: Standing): void {
    this.epoch = epoch
    this.shape(shapes)
  }
  shape(shapes: readonly Shape[]): void {
    this.shapes = shapes
    this.connection.shape(shapes)
  }
  project(changes: Changes, head: StoreHead, durable: boolean, staged?: Staged): void {
    this.connection.project(changes, head, this.epoch, durable, staged)
  }
  /** What the journal held is in the tables: only now are they brought up to date. */
  finish({ now, schema, shapes }: Opening): Finished {
    const { connection } = this
    const migrated = migrate(connection, now)
    const written: Written = { schema, shapes }
    // All of it is on the disk with the commits before: whatever the files hold is old from here on.
    const { epoch } = this
    if (connection.run(OWN_JOURNAL, [epoch, JSON.stringify(written), epoch]) !== 1) throw new Fenced()
    removeJournal(this.path, epoch)
    removeStages(this.path)
    const head = connection.query(READ_HEAD, [])[0]!
    this.shape(shapes)
    connection.relax()
    connection.waitFor(BUSY_MS)
    return { epoch, head, migrated }
  }
  /** Everything that was committed is on the disk: the sync of one more commit takes all before it along. */
  settle(): void {
    this.connection.settle()
  }
  close(): void {
    this.opened?.close()
    this.opened = undefined
  }
  /** A small file is looked at whole; `kontor verify` looks at any. */
  private refuseDamaged(): void {
    if (this.connection.bytes > CHECKED_BYTES) return
    const [fault] = this.connection.integrity('quick_check')
    this.connection.shrink()
    if (fault !== undefined)
      throw new Error(`database disk image is malformed: ${fault.replaceAll(/[\s*]+/g, ' ')}`)
  }
}
