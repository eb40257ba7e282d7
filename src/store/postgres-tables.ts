import type pg from 'pg'
import type { Portion } from '../machine/portion.ts'
import { drain, type Seat, type Tables } from './follower.ts'
import { ADVANCE_HEAD, RAISE_EPOCH, READ_HEAD, headValues, storeHead } from './head.ts'
import type { Written } from './journal-rows.ts'
import type { Opened, OpenedWarm, Opening } from './messages.ts'
import { BOOTSTRAP, pendingMigrations } from './migrations/migrations.ts'
import { journal as journalMigration } from './migrations/0070_journal.ts'
import { IDLE_MS, THINKING_MS, isLost, mayStandStill, transaction } from './postgres-client.ts'
import { THIN, emptyJournal, entriesAfter, one, sameShapes, writtenBy } from './postgres-journal-rows.ts'
import { Line } from './postgres-line.ts'
import { sumsOf, walk } from './seat.ts'
import { COMMAND_BATCH, statementsOf, type Shape, type Statements } from './shapes.ts'
import { columnLiterals, placeholders } from './sql.ts'
import { Fenced, StoreUnavailable, type StoreHead, type Point } from './store.ts'

const MIGRATION_LOCK = 727274
/** A server that does not even begin by then is gone without a word. */
const ANSWER_MS = 5_000
/** Two transactions take effect one after the other, and what a new owner sees is whole. */
const DIVISION_BY_ZERO = '22012'
/** The head moves on, or the statement fails: everything behind it in the same pipeline then fails too. */
const FENCE = `with moved as (${placeholders('postgres', ADVANCE_HEAD)} returning 1) select 1 / count(*) from moved`
/** The journal is what must be on the disk: what the tables lose with a loss of power, they get from there again. */
const UNSYNCED = 'set synchronous_commit = off'
/** What was thinned out is given free for new entries after so many bytes. */
const VACUUM_BYTES = 64 * 2 ** 20

/** The tables in PostgreSQL, with a connection of its own. */
export class PostgresTables implements Tables {
  private readonly url: string
  private readonly waitMs: number
  private line: Line | undefined
  private epoch = 0
  /** Told when the connection is lost. */
  lost: () => void = () => undefined
  private statements: ReadonlyMap<string, Statements> = new Map()
  /** At a start the journal is emptied at the end. */
  private thins = true
  private thinned = 0

  constructor(url: string, waitMs = 0) {
    this.url = url
    this.waitMs = waitMs
  }
  async open({ now, key, schema, shapes }: Opening): Promise<Opened> {
    const client = await this.begin()
    // Two processes that start at once do so one after the other.
    await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    for (const statement of BOOTSTRAP) await client.query(statement)
    const done = (await client.query<{ id: number }>('select id from migration')).rows.map(({ id }) => id)
    pendingMigrations(done)
    const drained = done.includes(journalMigration.id) ? await this.drainTail(client, key) : 0
    const migrated = await migrate(client, done, now)
    if (!done.includes(journalMigration.id)) await this.takeOver(client)
    const head = await one(client, READ_HEAD)
    const written: Written = { schema, shapes }
    const same = sameShapes(await writtenBy(client), written)
    await transaction(client, async () => {
      const values = [head[1], JSON.stringify(written)]
      await client.query('update journal_owner set base = $1, written = $2', values)
      await emptyJournal(client, Number(head[1]), same)
    })
    await client.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
    const [journalEpoch] = (await one(client, 'select epoch from journal_owner')) as [number]
    this.shape(shapes)
    await mayStandStill(client, IDLE_MS)
    await client.query(UNSYNCED)
    return { head, migrated, journalEpoch, drained }
  }
  /**
   * For who knows everything up to a batch already. Nothing is waited for but the epochs: what the tables do not hold yet
   * goes to the follower. What can be refused is refused before anything is taken over.
   */
  async openWarm({ key, schema, shapes }: Opening, after: Point): Promise<OpenedWarm> {
    const client = await this.begin()
    await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    const done = (await client.query<{ id: number }>('select id from migration')).rows.map(({ id }) => id)
    const [missing] = pendingMigrations(done)
    if (missing !== undefined)
      throw new StoreUnavailable(
        `the database is of an older version (migration ${missing.id} is missing); start the platform once to bring it up to date`,
      )
    if (!sameShapes(await writtenBy(client), { schema, shapes }))
      throw new StoreUnavailable('the journal was written by another version; start the platform anew')
    const look = async (): Promise<Omit<OpenedWarm, 'journalEpoch'>> => {
      const row = await one(client, READ_HEAD)
      const head = storeHead(row)
      if (head.mac !== '' && head.schema !== schema)
        throw new StoreUnavailable('the tables were written by another version; start the platform anew')
      const sums = sumsOf(head, key, schema).text()
      const entries = await entriesAfter(client, Math.min(after.sequence, head.sequence))
      const last = walk(entries, head, after, key)
      const at = entries.at(-1)?.at ?? head.at
      return { head: row, sums, at, last, entries }
    }
    // Of one moment: whoever hands over is still putting its last batches into the tables, and out of the journal.
    const atOnce = async (): ReturnType<typeof look> => {
      await client.query('begin isolation level repeatable read read only')
      try {
        return await look()
      } finally {
        await client.query('commit').catch(() => undefined)
      }
    }
    await atOnce()
    await this.takeOver(client)
    const seen = await atOnce()
    const base = Number(seen.head[1])
    if (seen.last.sequence === base)
      await transaction(client, async () => {
        await client.query('update journal_owner set base = $1', [base])
        await emptyJournal(client, base, true)
      })
    await client.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
    const [journalEpoch] = (await one(client, 'select epoch from journal_owner')) as [number]
    this.shape(shapes)
    await mayStandStill(client, IDLE_MS)
    await client.query(UNSYNCED)
    return { ...seen, journalEpoch }
  }
  private async begin(): Promise<pg.Client> {
    this.line = await Line.open(this.url, { waitMs: this.waitMs, lost: () => this.lost() })
    const client = this.line.now!
    // A start thinks in between: it ends with its connection, and whoever else would open them waits for it anyway.
    await mayStandStill(client, THINKING_MS)
    return client
  }
  /** Another connection, where the journal's is now. */
  leave(): void {
    const client = this.line?.now
    if (client !== undefined) this.line!.leave(client)
  }
  survives(error: unknown): boolean {
    return this.epoch > 0 && isLost(error)
  }
  /**
   * After the connection was lost: where the tables stand now, and what the journal holds beyond them. Behind a fail-over
   * they may stand before what they had reached: the head, the rows and what was thinned out went back together.
   */
  seat<T>(found: (seat: Seat) => T): Promise<T> {
    return this.line!.ask(async (client) => {
      await client.query(UNSYNCED)
      const row = await one(client, READ_HEAD)
      if (row[0] !== this.epoch) throw new Fenced()
      const head = storeHead(row)
      return found({ head, tail: await entriesAfter(client, head.sequence) })
    })
  }
  /** The journal first: from then on nobody appends. Then the tables: nobody follows. */
  private async takeOver(client: pg.Client): Promise<void> {
    await client.query('update journal_owner set epoch = epoch + 1')
    await client.query(RAISE_EPOCH)
    this.epoch = (await one(client, 'select epoch from head'))[0] as number
  }
  private async drainTail(client: pg.Client, key: string): Promise<number> {
    await this.takeOver(client)
    const head = storeHead(await one(client, READ_HEAD))
    const tail = await entriesAfter(client, head.sequence)
    if (tail.length === 0) return 0
    const { schema, shapes } = (await writtenBy(client))!
    this.shape(shapes)
    // The journal keeps all of it until it is emptied, by a commit that is synced and takes those before it along.
    await client.query('set synchronous_commit = off')
    this.thins = false
    await drain(tail, head, this, { key, schema })
    this.thins = true
    await client.query('set synchronous_commit = on')
    return tail.length
  }
  private shape(shapes: readonly Shape[]): void {
    this.statements = statementsOf('postgres', [...shapes, COMMAND_BATCH])
  }
  /** One round trip: everything is sent at once. What the tables hold now leaves the journal in the same transaction. */
  async project(portion: Portion, head: StoreHead): Promise<void> {
    const client = await this.line!.ready()
    const from = portion.entries[0]!.sequence - 1
    const write = (table: string, what: 'write' | 'remove', rows: readonly string[]) => {
      const statements = this.statements.get(table)
      const text = statements?.[what]
      if (text === undefined) throw new TypeError(`table ${table} is not declared`)
      const values = columnLiterals(JSON.parse(`[${rows.join(',')}]`) as unknown[][])
      return client.query({ name: `${what} ${table}`, text, values })
    }
    const sent = [
      client.query({ text: 'begin', query_timeout: ANSWER_MS } as pg.QueryConfig),
      client.query({ name: 'head', text: FENCE, values: headValues(head, this.epoch, from) }),
    ]
    for (const [table, keys] of portion.removes()) sent.push(write(table, 'remove', keys))
    for (const [table, rows] of portion.writes()) sent.push(write(table, 'write', rows))
    sent.push(write('command_batch', 'write', portion.batches()))
    if (this.thins) sent.push(client.query({ name: 'thin', text: THIN, values: [head.sequence] }))
    sent.push(client.query('commit'))
    const results = await Promise.allSettled(sent)
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      const error = result.reason as Error & { code?: string }
      if (isLost(error)) this.line!.leave(client)
      throw i === 1 && error.code === DIVISION_BY_ZERO ? new Fenced() : error
    }
    const end = results.at(-1) as PromiseFulfilledResult<pg.QueryResult>
    if (end.value.command !== 'COMMIT') throw new Error(`the commit ended as ${end.value.command}`)
    if (!this.thins || (this.thinned += portion.bytes) < VACUUM_BYTES) return
    this.thinned = 0
    await client.query('vacuum (truncate false) journal')
  }
  /** Everything that was committed is on the disk: the sync of one more commit takes all before it along. */
  settle(): Promise<void> {
    return this.line!.ask((client) =>
      transaction(client, async () => {
        await client.query('set local synchronous_commit = on')
        await client.query('update head set epoch = epoch where epoch = $1', [this.epoch])
      }),
    )
  }
  async close(): Promise<void> {
    await this.line?.end()
  }
}

async function migrate(client: pg.Client, done: readonly number[], now: number): Promise<number[]> {
  const pending = pendingMigrations(done)
  for (const migration of pending)
    await transaction(client, async () => {
      for (const statement of migration.up('postgres')) await client.query(statement)
      await client.query('insert into migration (id, name, at) values ($1, $2, $3)', [
        migration.id,
        migration.name,
        now,
      ])
    })
  return pending.map(({ id }) => id)
}
