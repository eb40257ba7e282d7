import type pg from 'pg'
import type { JournalEntry } from '../machine/journal.ts'
import { isLost, transaction } from './postgres-client.ts'
import { emptyJournal } from './postgres-journal-rows.ts'
import { Line } from './postgres-line.ts'
import { Fenced, StoreBehind, StoreLost } from './store.ts'

/** An answer that has not come by then may never come: it is looked up on another connection. */
const ANSWER_MS = 5_000
/** What an append meets that another connection of ours has not finished yet. */
const UNIQUE_VIOLATION = '23505'
const LOCK_TIMEOUT = '55P03'
/**
 * Nothing is appended for a process that is no longer the owner, or out of its order. The lock on the owner's row makes
 * whoever takes the journal over wait for an append that is under way, and so see it.
 */
const APPEND = `with owner as (select base from journal_owner where epoch = $8 for share)
  insert into journal (sequence, at, count, hash, mac, commands, body)
  select $1, $2, $3, $4, $5, $6, $7 from owner
  where $1 = (select coalesce(max(sequence), owner.base) from journal) + 1`
const FOUND = `select owner.epoch, (select coalesce(max(sequence), owner.base) from journal) as last,
  (select coalesce(json_object_agg(sequence, hash), '{}')::text from journal where sequence >= $1) as hashes
  from journal_owner owner`
/** Changes nothing. When it is committed, so is all that was seen before it, on the standby that it waits for as well. */
const BARRIER = 'update journal_owner set base = base where epoch = $1'

interface Flight {
  readonly entry: JournalEntry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}
interface Found {
  readonly epoch: number
  readonly last: number
  readonly hashes: string
}

/**
 * The journal in PostgreSQL, with a connection of its own. When that is lost, nobody knows what became of the appends
 * that were not answered: the database is asked, and what is not there is appended again, in its order.
 */
export class PostgresJournal {
  private readonly url: string
  private readonly waitMs: number
  private line: Line | undefined
  private epoch = 0
  /** Appends that nobody has been told of, oldest first. */
  private readonly flights: Flight[] = []
  private acknowledged = 0
  private lookingUp = false
  /** Answers to what was sent before the last look are of no interest any more. */
  private looks = 0
  /** Since when nothing has landed, while something is being looked up. */
  private stuckSince: number | undefined
  private dead: Error | undefined

  /** Told when it has lost its connection, and when it has another one, maybe to another server. */
  away: (away: boolean) => void = () => undefined

  constructor(url: string, waitMs = 0) {
    this.url = url
    this.waitMs = waitMs
  }
  /** The owner in this process, in another thread. */
  async takenAt(epoch: number, base: number): Promise<void> {
    this.epoch = epoch
    this.acknowledged = base
    this.line = await Line.open(this.url, {
      waitMs: this.waitMs,
      lost: () => this.lost(),
      found: () => this.away(false),
    })
  }
  /** One statement, one round trip; the next one may be sent before it is answered. */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    await Promise.all(
      entries.map(
        (entry) =>
          new Promise<void>((resolve, reject) => {
            if (this.dead !== undefined) return reject(this.dead)
            const flight = { entry, resolve, reject }
            this.flights.push(flight)
            if (!this.lookingUp) this.send(flight)
          }),
      ),
    )
  }
  /** False: there is no connection, and what became of everything is looked up when there is one. */
  private send(flight: Flight): boolean {
    const client = this.using.now
    if (client === undefined) {
      this.lookUp()
      return false
    }
    const { looks } = this
    const { sequence, at, count, hash, mac, commands, body } = flight.entry
    const query: pg.QueryConfig & { query_timeout: number } = {
      name: 'append',
      text: APPEND,
      values: [sequence, at, count, hash, mac, commands, body, this.epoch],
      query_timeout: ANSWER_MS,
    }
    client.query(query).then(
      ({ rowCount }) => {
        if (looks !== this.looks) return
        if (rowCount === 1 && this.flights[0] === flight) this.landed()
        // It was not the owner's, not the next, or another connection was sooner.
        else this.lookUp()
      },
      (error: unknown) => {
        if (isLost(error)) this.using.leave(client)
        if (looks !== this.looks) return
        const { code } = error as { readonly code?: string }
        if (isLost(error) || code === UNIQUE_VIOLATION || code === LOCK_TIMEOUT) this.lookUp()
        else this.die(error)
      },
    )
    return true
  }
  private landed(): void {
    const { entry, resolve } = this.flights.shift()!
    this.acknowledged = entry.sequence
    this.stuckSince = undefined
    resolve()
  }
  private lost(): void {
    this.away(true)
    if (this.flights.length > 0) this.lookUp()
    // Nobody waits for it, but the next append should not have to.
    else this.using.ready().catch((error: unknown) => this.die(error))
  }
  /** What was sent and not answered is there, or it is sent again. One at a time. */
  private lookUp(): void {
    if (this.lookingUp || this.dead !== undefined || this.flights.length === 0) return
    this.lookingUp = true
    this.looks++
    this.stuckSince ??= performance.now()
    this.settle().then(
      () => {
        this.lookingUp = false
        // Those that came meanwhile are behind them.
        for (const flight of [...this.flights]) if (!this.send(flight)) break
      },
      (error: unknown) => this.die(error),
    )
  }
  private async settle(): Promise<void> {
    // All of it on one connection: another one may be to another server, which knows other things.
    const count = await this.using.ask((client) => this.found(client))
    for (let i = 0; i < count; i++) this.landed()
    if (this.stuckSince !== undefined && performance.now() - this.stuckSince > this.waitMs + ANSWER_MS)
      throw new StoreLost(
        `no append was answered for ${Math.round(this.waitMs / 1000)} s (KONTOR_DATABASE_WAIT)`,
      )
  }
  /** How many of the unanswered appends are in the journal, and on every disk that they must be on. */
  private async found(client: pg.Client): Promise<number> {
    const flights = this.flights.map(({ entry }) => entry)
    const query = { text: FOUND, values: [flights[0]!.sequence], query_timeout: ANSWER_MS }
    const { epoch, last, hashes } = (await client.query<Found>(query as pg.QueryConfig)).rows[0]!
    if (epoch !== this.epoch) throw new Fenced()
    if (last < this.acknowledged)
      throw new StoreBehind(
        `the database ends at batch ${last}, and batch ${this.acknowledged} had been acknowledged: it is not the one that this process wrote to`,
      )
    const there = JSON.parse(hashes) as Readonly<Record<string, string>>
    const absent = flights.findIndex(({ sequence }) => there[sequence] === undefined)
    const count = absent === -1 ? flights.length : absent
    if (flights.slice(0, count).some(({ sequence, hash }) => there[sequence] !== hash)) throw new Fenced()
    if (absent !== -1 && flights[absent]!.sequence !== last + 1) throw new Fenced()
    // Seen is not yet kept: a server that was cut off from its standby shows what it alone has.
    if (count > 0) await this.barrier(client)
    return count
  }
  private async barrier(client: pg.Client): Promise<void> {
    const query = { text: BARRIER, values: [this.epoch], query_timeout: ANSWER_MS }
    if ((await client.query(query as pg.QueryConfig)).rowCount !== 1) throw new Fenced()
  }
  /** Nothing more can be appended: what the database holds is for the next start to see. */
  private die(error: unknown): void {
    const dead = (this.dead ??= error instanceof Error ? error : new Error(String(error)))
    for (const { reject } of this.flights.splice(0)) reject(dead)
  }
  /** Everything in it is in the tables, for good; they stand at `base`. */
  async clear(base: number): Promise<void> {
    const client = await this.using.ready()
    await transaction(client, async () => {
      const text = 'update journal_owner set base = $1 where epoch = $2'
      const { rowCount } = await client.query(text, [base, this.epoch])
      if (rowCount !== 1) throw new Fenced()
      await emptyJournal(client, base, base > 0)
    })
    this.acknowledged = base
  }
  async checkFence(): Promise<void> {
    if (this.dead !== undefined) throw this.dead
    const query = { text: 'select epoch from journal_owner', query_timeout: ANSWER_MS } as pg.QueryConfig
    const { rows } = await this.using.ask((client) => client.query<{ epoch: number }>(query))
    if (rows[0]!.epoch !== this.epoch) throw new Fenced()
  }
  async close(): Promise<void> {
    await this.line?.end()
  }
  private get using(): Line {
    if (this.line === undefined) throw new TypeError('the journal is not open')
    return this.line
  }
}
