import type { Portion } from '../machine/portion.ts'
import { drain, type Tables } from './follower.ts'
import { readJournal } from './file-journal.ts'
import type { Written } from './journal-rows.ts'
import type { Opened, Opening } from './messages.ts'
import { STAGES } from './sqlite-stage.ts'
import type { Readied, SqliteStager } from './sqlite-stager.ts'
import { SqliteWriter, type SqliteWriting, type Taken } from './sqlite-writer.ts'
import { StoreUnavailable, type StoreHead } from './store.ts'

/** A smaller portion is written sooner as it is. */
const STAGED_BYTES = 256 * 2 ** 10

/** The tables in an SQLite file, as a follower sees them: it makes portions while another thread writes them. */
export class SqliteTables implements Tables {
  private readonly path: string
  private readonly writer: SqliteWriting
  private readonly stager: SqliteStager | undefined
  /** Those that are being readied, or are. */
  private readonly readied = new WeakMap<Portion, Promise<Readied>>()

  constructor(path: string, writer: SqliteWriting = new SqliteWriter(path), stager?: SqliteStager) {
    this.path = path
    this.writer = writer
    this.stager = stager
  }
  /** What the journal holds goes into the tables while they still look as they did when it was written. */
  async open(opening: Opening): Promise<Opened> {
    const taken = await this.writer.take()
    const drained = await this.drainTail(taken, opening.key)
    const { epoch, head, migrated } = await this.writer.finish(opening)
    this.stager?.begin(epoch, opening.shapes)
    return { head, migrated, journalEpoch: epoch, drained }
  }
  get ahead(): number {
    return this.stager === undefined ? 1 : STAGES
  }
  ready(portion: Portion): void {
    if (this.stager === undefined || portion.bytes < STAGED_BYTES) return
    const readied = this.stager.ready(portion.changes())
    readied.catch(() => undefined) // told when it is to be written
    this.readied.set(portion, readied)
  }
  project(portion: Portion, head: StoreHead, durable: boolean): Promise<void> | void {
    const readied = this.readied.get(portion)
    if (readied === undefined) return this.writer.project(portion.changes(), head, durable)
    this.readied.delete(portion)
    return readied.then(({ changes, staged }) => this.writer.project(changes, head, durable, staged))
  }
  async rest(): Promise<void> {
    await this.stager?.rest()
  }
  settle(): Promise<void> | void {
    return this.writer.settle()
  }
  async close(): Promise<void> {
    await Promise.all([this.writer.close(), this.stager?.close()])
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
