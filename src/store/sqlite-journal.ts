import type { JournalEntry } from '../machine/journal.ts'
import { FileJournal } from './file-journal.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { Fenced } from './store.ts'

/**
 * The journal of an SQLite store: files beside it, and the epoch in its head. Whoever takes the database over raises the
 * epoch first and reads the files then. So an append that finds the old epoch after it was synced is one that he has
 * seen, or will see; one that finds another epoch is told to nobody, and nobody will read it.
 */
export class SqliteJournal {
  private readonly path: string
  private files: FileJournal | undefined
  private readonly tables: SqliteConnection
  private epoch = 0
  private last = 0

  constructor(path: string) {
    this.path = path
    this.tables = new SqliteConnection(path, 'look')
  }
  /** The owner in this process, in another thread; entries come behind `base`. */
  takenAt(epoch: number, base: number): void {
    this.files = new FileJournal(this.path, epoch)
    this.epoch = epoch
    this.last = base
  }
  append(entries: readonly JournalEntry[], safe: number): void {
    for (const { sequence } of entries) if (sequence !== ++this.last) throw new Fenced()
    this.files!.append(entries, safe)
    this.checkFence()
  }
  clear(base: number): void {
    this.checkFence()
    this.files!.clear()
    this.last = base
  }
  checkFence(): void {
    if (this.tables.number('select epoch from head') !== this.epoch) throw new Fenced()
  }
  close(): void {
    this.files?.close()
    this.tables.close()
  }
}
