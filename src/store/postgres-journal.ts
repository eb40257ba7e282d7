import type pg from 'pg'
import type { JournalEntry } from '../machine/journal.ts'
import { KeptConnection, transaction } from './postgres-client.ts'
import { Fenced } from './store.ts'

/** A commit that has not come back by then never will: the network is gone without a word. */
const COMMIT_MS = 60_000
/**
 * Nothing is appended for a process that is no longer the owner, or out of its order. The lock on the owner's row makes
 * whoever takes the journal over wait for an append that is under way, and so see it.
 */
const APPEND = `with owner as (select base from journal_owner where epoch = $8 for share)
  insert into journal (sequence, at, count, hash, mac, commands, body)
  select $1, $2, $3, $4, $5, $6, $7 from owner
  where $1 = (select coalesce(max(sequence), owner.base) from journal) + 1`

/** The journal in PostgreSQL, with a connection of its own. */
export class PostgresJournal {
  private readonly url: string
  private connection: KeptConnection | undefined
  private epoch = 0

  constructor(url: string) {
    this.url = url
  }
  /** The owner in this process, in another thread. */
  async takenAt(epoch: number, _base: number): Promise<void> {
    this.epoch = epoch
    this.connection = await KeptConnection.open(this.url)
  }
  /**
   * One statement, one round trip; the next one may be sent before it is answered. An answer that never comes leaves the
   * outcome open; nobody is told anything but that, the process ends, and the next start reads what the database holds.
   */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    this.connection?.refuseLost()
    await Promise.all(entries.map((entry) => this.insert(entry)))
  }
  private async insert(entry: JournalEntry): Promise<void> {
    const { sequence, at, count, hash, mac, commands, body } = entry
    const query: pg.QueryConfig & { query_timeout: number } = {
      name: 'append',
      text: APPEND,
      values: [sequence, at, count, hash, mac, commands, body, this.epoch],
      query_timeout: COMMIT_MS,
    }
    const { rowCount } = await this.using.query(query)
    if (rowCount !== 1) throw new Fenced()
  }
  /** Everything in it is in the tables, for good; they stand at `base`. */
  async clear(base: number): Promise<void> {
    await transaction(this.using, async () => {
      const text = 'update journal_owner set base = $1 where epoch = $2'
      const { rowCount } = await this.using.query(text, [base, this.epoch])
      if (rowCount !== 1) throw new Fenced()
      await this.using.query('truncate journal')
    })
  }
  async checkFence(): Promise<void> {
    this.connection?.refuseLost()
    const { rows } = await this.using.query<{ epoch: number }>('select epoch from journal_owner')
    if (rows[0]!.epoch !== this.epoch) throw new Fenced()
  }
  async close(): Promise<void> {
    await this.connection?.end()
  }
  private get using(): pg.Client {
    if (this.connection === undefined) throw new TypeError('the journal is not open')
    return this.connection.client
  }
}
