import type { Portion } from '../machine/portion.ts'
import { drain, type Tables } from './follower.ts'
import { RAISE_EPOCH, READ_HEAD, storeHead } from './head.ts'
import type { Opened, Opening } from './messages.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { SqliteJournal, journalPath } from './sqlite-journal.ts'
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
   * The journal is taken first: from then on nobody appends. What it holds goes into the tables while they still look as
   * they did when it was written, and only then are they brought up to date.
   */
  async open({ now, key, schema, shapes }: Opening): Promise<Opened> {
    const { connection } = this
    // Whoever asks tries again, and can be told to stop in between.
    connection.waitFor(OPEN_MS)
    this.refuseDamaged()
    const done = connection.migrations()
    const journal = new SqliteJournal(journalPath(this.path))
    try {
      journal.take()
      connection.run(RAISE_EPOCH, [])
      this.epoch = connection.query('select epoch from head', [])[0]![0] as number
      const drained = await this.drainTail(journal, done, key)
      const migrated = connection.migrate(now)
      const [head] = connection.query(READ_HEAD, [])
      journal.begin(head![1] as number, { schema, shapes })
      connection.shape(shapes)
      connection.relax()
      connection.waitFor(BUSY_MS)
      return { head: head!, migrated, journalEpoch: journal.owner, drained }
    } finally {
      journal.close()
    }
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
  private async drainTail(journal: SqliteJournal, done: readonly number[], key: string): Promise<number> {
    const [sequence] = this.connection.query('select sequence from head', [])[0] as [number]
    const tail = journal.tail(sequence)
    if (tail.length === 0) return 0
    if (done.length === 0)
      throw new StoreUnavailable(
        `${journalPath(this.path)} holds batch ${tail[0]!.sequence} and later ones, but there is no database beside it; restore both from a backup, or move the journal away to begin anew`,
      )
    const { schema, shapes } = journal.written
    this.connection.shape(shapes)
    const head = storeHead(this.connection.query(READ_HEAD, [])[0]!)
    await drain(tail, head, this, { key, schema })
    return tail.length
  }
  /** A small file is looked at whole; `kontor verify` looks at any. */
  private refuseDamaged(): void {
    if (this.connection.bytes > CHECKED_BYTES) return
    const [fault] = this.connection.integrity('quick_check')
    if (fault !== undefined)
      throw new Error(`database disk image is malformed: ${fault.replaceAll(/[\s*]+/g, ' ')}`)
  }
}
