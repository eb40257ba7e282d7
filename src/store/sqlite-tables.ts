import type { Portion } from '../machine/portion.ts'
import { drain, type Tables } from './follower.ts'
import { readJournal } from './file-journal.ts'
import type { Written } from './journal-rows.ts'
import type { Opened, Opening } from './messages.ts'
import { SqliteWriter, type SqliteWriting, type Taken } from './sqlite-writer.ts'
import { StoreUnavailable, type StoreHead } from './store.ts'

/** The tables in an SQLite file, as a follower sees them: it makes portions while another thread writes them. */
export class SqliteTables implements Tables {
  private readonly path: string
  private readonly writer: SqliteWriting

  constructor(path: string, writer: SqliteWriting = new SqliteWriter(path)) {
    this.path = path
    this.writer = writer
  }
  /** What the journal holds goes into the tables while they still look as they did when it was written. */
  async open(opening: Opening): Promise<Opened> {
    const taken = await this.writer.take()
    const drained = await this.drainTail(taken, opening.key)
    const { epoch, head, migrated } = await this.writer.finish(opening)
    return { head, migrated, journalEpoch: epoch, drained }
  }
  project(portion: Portion, head: StoreHead, durable: boolean): Promise<void> | void {
    return this.writer.project(portion.changes(), head, durable)
  }
  settle(): Promise<void> | void {
    return this.writer.settle()
  }
  close(): Promise<void> | void {
    return this.writer.close()
  }
  private async drainTail({ sequence, journal }: Taken, key: string): Promise<number> {
    const tail = readJournal(this.path, sequence, journal?.epoch)
    if (tail.length === 0) return 0
    // A copy comes without a journal: whatever lies beside it is not its own.
    if (journal === undefined || journal.written === '')
      throw new StoreUnavailable(
        `the journal beside ${this.path} holds batch ${tail[0]!.sequence} and later ones, but the database never had one; restore both from a backup, or move the journal away`,
      )
    const { schema, shapes } = JSON.parse(journal.written) as Written
    await this.writer.shape(shapes)
    await drain(tail, journal.head, this, { key, schema })
    return tail.length
  }
}
