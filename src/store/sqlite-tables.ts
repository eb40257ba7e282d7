import type { Portion } from '../machine/portion.ts'
import { drain, type Tables } from './follower.ts'
import { RAISE_EPOCH, READ_HEAD, storeHead } from './head.ts'
import { readJournal, removeJournal } from './file-journal.ts'
import type { Written } from './journal-rows.ts'
import type { Opened, Opening } from './messages.ts'
import { journal as journalMigration } from './migrations/0070_journal.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { StoreUnavailable, type StoreHead } from './store.ts'

const OPEN_MS = 200
const CHECKED_BYTES = 64 * 2 ** 20

/** The tables in an SQLite file. Synchronous: it runs in a thread of its own. */
export class SqliteTables implements Tables {
  private readonly path: string
  private readonly connection: SqliteConnection
  private epoch = 0

  constructor(path: string) {
    this.path = path
    this.connection = new SqliteConnection(path)
  }
  /**
   * The epoch first: from then on nobody is told of an append. What the journal holds goes into the tables while they
   * still look as they did when it was written, and only then are they brought up to date.
   */
  async open({ now, key, schema, shapes }: Opening): Promise<Opened> {
    const { connection } = this
    // Whoever asks tries again, and can be told to stop in between.
    connection.waitFor(OPEN_MS)
    this.refuseDamaged()
    const done = connection.migrations()
    connection.run(RAISE_EPOCH, [])
    this.epoch = connection.query('select epoch from head', [])[0]![0] as number
    const drained = await this.drainTail(done, key)
    const migrated = connection.migrate(now)
    const written: Written = { schema, shapes }
    connection.run('update journal_owner set written = ?', [JSON.stringify(written)])
    // All of it is on the disk with the commit before: whatever the files hold is old now.
    removeJournal(this.path)
    const [head] = connection.query(READ_HEAD, [])
    connection.shape(shapes)
    connection.relax()
    connection.waitFor(BUSY_MS)
    return { head: head!, migrated, journalEpoch: this.epoch, drained }
  }
  project(portion: Portion, head: StoreHead, durable: boolean): void {
    this.connection.project(portion, head, this.epoch, durable)
  }
  /** Everything that was committed is on the disk: the sync of one more commit takes all before it along. */
  settle(): void {
    this.connection.settle()
  }
  close(): void {
    this.connection.close()
  }
  private async drainTail(done: readonly number[], key: string): Promise<number> {
    const [sequence] = this.connection.query('select sequence from head', [])[0] as [number]
    const tail = readJournal(this.path, sequence)
    if (tail.length === 0) return 0
    if (!done.includes(journalMigration.id))
      throw new StoreUnavailable(
        `the journal beside ${this.path} holds batch ${tail[0]!.sequence} and later ones, but the database never had one; restore both from a backup, or move the journal away`,
      )
    const [text] = this.connection.query('select written from journal_owner', [])[0] as [string]
    const { schema, shapes } = JSON.parse(text) as Written
    this.connection.shape(shapes)
    const head = storeHead(this.connection.query(READ_HEAD, [])[0]!)
    await drain(tail, head, this, { key, schema })
    return tail.length
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
