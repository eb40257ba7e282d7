import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { decoderOf } from '../machine/codec.ts'
import { JournalChain, isSealed, type JournalEntry } from '../machine/journal.ts'
import type { Declared, Table } from '../machine/table.ts'
import { READ_HEAD, storeHead } from './head.ts'
import { COLUMNS, entryOf, type Written } from './journal-rows.ts'
import { pendingMigrations } from './migrations/migrations.ts'
import {
  IDLE_MS as STILL_MS,
  awayOr,
  connect,
  mayStandStill,
  stream,
  transaction,
} from './postgres-client.ts'
import { one, sameShapes, writtenBy } from './postgres-journal-rows.ts'
import { checkLoaded, newSums } from './seals.ts'
import { sumsOf } from './seat.ts'
import { selectFrom } from './shapes.ts'
import { placeholders } from './sql.ts'
import { loading, shapesOf } from './statements.ts'
import { StoreAway, StoreUnavailable, type Store, type StoreHead, type Point } from './store.ts'

/** What comes next is no longer there, or the history is another one now: only loading anew helps. */
export class JournalGap extends Error {}

/** From one look to the next while there is something, and while there is nothing; how long nothing is waited for. */
const BUSY_MS = 10
const IDLE_MS = 50
const NOTHING_MS = 1_000
/** How often its place is written down. */
const PLACE_MS = 1_000
/** Who has not been seen for so long has gone. */
const PLACE_SECONDS = 5
const ASK_MS = 10_000

/** One look: what follows a batch, where the journal ends, and what that batch hashes to as far as anybody knows. */
const LOOK = `select (select coalesce(max(sequence), owner.base) from journal) as last,
  coalesce((select hash from journal where sequence = $1), (select hash from head where sequence = $1)) as hash,
  owner.epoch as epoch, next.* from journal_owner owner
  left join lateral (select ${COLUMNS} from journal where sequence > $1 order by sequence limit $2) next on true order by next.sequence`
const BEFORE = 3
const FORGOTTEN = `delete from journal_reader where seen < clock_timestamp() - interval '1 day'`
const PLACE = `insert into journal_reader (name, sequence, seen) values ($1, $2, clock_timestamp())
  on conflict (name) do update set sequence = excluded.sequence, seen = excluded.seen`

/**
 * Follows the journal of a PostgreSQL without owning it. While it is open, its place stands in a row there, so that what it
 * has not read yet stays in the journal; on a server that takes no writes (a replica) it has none, and may have to load
 * anew where it is slow.
 */
export class JournalReader {
  private readonly url: string
  private readonly name: string
  private readonly key: string
  private client: pg.Client | undefined
  private opening: Promise<pg.Client> | undefined
  private chain: JournalChain | undefined
  private mine: Written | undefined
  private epoch = 0
  private told = { sequence: 0, at: 0 }
  private timer: NodeJS.Timeout | undefined
  private closed = false

  private constructor(url: string, name: string, key: string) {
    this.url = url
    this.name = name
    this.key = key
  }
  /** `key`: the one that the sums, and so the journal, are written with. */
  static async open(url: string, name: string, key: string): Promise<JournalReader> {
    const reader = new JournalReader(url, name, key)
    await reader.connected()
    return reader
  }
  /** The last batch that was told. */
  get position(): Point & { readonly at: number } {
    return { ...this.told, hash: this.chain?.hash ?? '' }
  }
  /**
   * Fills the tables with their live rows, and answers the head that they stand at: all of one snapshot, in which `more`
   * may look too. Rows and head are compared as a start compares them.
   */
  async load(
    tables: readonly Table<object>[],
    declared: Declared,
    more?: (store: Pick<Store, 'select'>) => Promise<void>,
  ): Promise<StoreHead> {
    const sums = newSums(this.key)
    const mine = { schema: sums.schema, shapes: shapesOf(declared) }
    this.chain = undefined
    const client = await this.connected()
    await told(refuseOther(client, mine))
    await told(this.stay(client))
    const loader = await told(connect(this.url, { name: 'kontor loads' }))
    loader.on('error', () => undefined) // whoever asks hears of it
    try {
      await told(loader.query('begin isolation level repeatable read read only'))
      const head = storeHead(await told(one(loader, READ_HEAD)))
      if (head.mac !== '' && head.schema !== sums.schema)
        throw new StoreAway('the database is just being brought up to date')
      sums.setAll(sumsOf(head, this.key, sums.schema).text())
      for (const table of tables) {
        const { sql, row } = loading(table)
        await told(stream(loader, sql, row))
      }
      if (head.mac !== '') checkLoaded(tables, sums)
      await more?.({ select: selecting(loader) })
      this.chain = new JournalChain(head.hash, this.key)
      this.told = { sequence: head.sequence, at: head.at }
      this.mine = mine
      this.epoch = 0
      return head
    } finally {
      await loader.end().catch(() => undefined)
    }
  }
  /**
   * What follows the last entry told, in order, soon after it is there; nothing when nothing has come for a while.
   * JournalGap: load anew. StoreAway: ask again later.
   */
  async next(limit: number): Promise<JournalEntry[]> {
    for (const began = performance.now(); !this.closed;) {
      const entries = await this.look(limit)
      if (entries.length > 0) return entries
      const waited = performance.now() - began
      if (waited > NOTHING_MS) break
      await sleep(waited < IDLE_MS ? BUSY_MS : IDLE_MS)
    }
    return []
  }
  /** `stays`: whoever takes over still needs what it has not read; its place goes by itself, with time. */
  async close(stays = false): Promise<void> {
    this.closed = true
    clearInterval(this.timer)
    const client = this.client
    this.client = undefined
    if (client === undefined) return
    if (!stays)
      await client.query('delete from journal_reader where name = $1', [this.name]).catch(() => undefined)
    await client.end().catch(() => undefined)
  }

  private async look(limit: number): Promise<JournalEntry[]> {
    const { chain, mine } = this
    if (chain === undefined || mine === undefined) throw new TypeError('the reader has loaded nothing')
    const client = await this.connected()
    const { sequence } = this.told
    const query = { text: LOOK, values: [sequence, limit], rowMode: 'array', query_timeout: ASK_MS }
    const { rows } = await told(client.query<unknown[]>(query as pg.QueryArrayConfig)).catch(
      (error: unknown) => {
        if (error instanceof StoreAway) this.leave(client)
        throw error
      },
    )
    const [last, hash, epoch] = rows[0] as [number, string | null, number]
    if (last < sequence || (hash !== null && hash !== chain.hash))
      throw new JournalGap(`batch ${sequence} is no longer the one that was read`)
    // A new owner may be of another version.
    if (epoch !== this.epoch) {
      await told(refuseOther(client, mine))
      this.epoch = epoch
    }
    if (last === sequence) return []
    const entries = rows.map((row) => entryOf(row.slice(BEFORE)))
    for (const entry of entries) this.admit(chain, entry)
    return entries
  }
  private admit(chain: JournalChain, entry: JournalEntry): void {
    // A row of nothing: the journal is empty, and its end is further on.
    if (entry.sequence !== this.told.sequence + 1)
      throw new JournalGap(`what follows batch ${this.told.sequence} is gone from the journal`)
    if (!isSealed(this.key, entry))
      throw new StoreUnavailable(
        `batch ${entry.sequence} of the journal was not written with this secret key, or was changed; run: kontor verify`,
      )
    if (!chain.follows(entry))
      throw new JournalGap(`batch ${entry.sequence} does not follow the one that was read`)
    this.told = { sequence: entry.sequence, at: entry.at }
  }

  /** The connection that there is, or another one. */
  private connected(): Promise<pg.Client> {
    if (this.client !== undefined) return Promise.resolve(this.client)
    this.opening ??= this.open().finally(() => (this.opening = undefined))
    return this.opening
  }
  private async open(): Promise<pg.Client> {
    const client = await told(connect(this.url, { name: `kontor reads ${this.name}` }))
    client.on('error', () => this.leave(client))
    client.on('end', () => this.leave(client))
    if (this.closed) {
      await client.end()
      throw new TypeError('the reader is closed')
    }
    // Locked by a process that sleeps, the places would stop whoever writes.
    await told(mayStandStill(client, STILL_MS))
    this.client = client
    this.timer ??= setInterval(() => void this.keepPlace(), PLACE_MS).unref()
    if (this.chain !== undefined) await told(this.stay(client))
    return client
  }
  /** The next look connects anew. */
  private leave(client: pg.Client): void {
    if (this.client !== client) return
    this.client = undefined
    client.end().catch(() => undefined)
  }
  /**
   * Its place for the first time: whoever thins the journal out meanwhile has done so when this is through, and does not
   * take away any more what follows.
   */
  private async stay(client: pg.Client): Promise<void> {
    if ((await one(client, 'select pg_is_in_recovery()'))[0] === true) return
    await transaction(client, async () => {
      await client.query('lock table journal_reader in access exclusive mode')
      await client.query(FORGOTTEN)
      const from =
        this.chain === undefined ? (await one(client, 'select sequence from head'))[0] : this.told.sequence
      await client.query(PLACE, [this.name, from])
    })
  }
  /** Without a word where it can't: what is gone then is told by the next look. */
  private async keepPlace(): Promise<void> {
    const from = this.chain === undefined ? null : this.told.sequence
    const text = `update journal_reader set sequence = coalesce($2::bigint, sequence), seen = clock_timestamp() where name = $1`
    await this.client?.query(text, [this.name, from]).catch(() => undefined)
  }
}

/** What it reads must look like what this version writes. */
async function refuseOther(client: pg.Client, mine: Written): Promise<void> {
  const known = await one(client, `select to_regclass('migration')::text`)
  const done = known[0] === null ? [] : (await client.query<{ id: number }>('select id from migration')).rows
  const [missing] = pendingMigrations(done.map(({ id }) => id))
  if (missing !== undefined)
    throw new StoreUnavailable(
      `the database is of an older version (migration ${missing.id} is missing); start the platform once to bring it up to date`,
    )
  if (!sameShapes(await writtenBy(client), mine))
    throw new StoreUnavailable('the journal is written by another version of the platform; use the same one')
}
const selecting =
  (client: pg.Client): Store['select'] =>
  async (spec, where, values) => {
    const text = placeholders('postgres', `${selectFrom(spec.name, spec.columns)} ${where}`)
    const { rows } = await told(client.query<unknown[]>({ text, values: [...values], rowMode: 'array' }))
    return rows.map(decoderOf(spec.columns))
  }
/** A connection that broke is told like one that was never there. */
async function told<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw awayOr(error)
  }
}

/** Who follows the journal at the moment, and how far each has come. */
export interface Following {
  readonly name: string
  readonly sequence: number
}
export const FOLLOWING = `select name, sequence from journal_reader where seen > clock_timestamp() - interval '${PLACE_SECONDS} s' order by name`
