import pg from 'pg'
import type { PackedBatch } from '../machine/batch.ts'
import { decoderOf } from '../machine/codec.ts'
import { Sealer } from '../machine/sealer.ts'
import type { Sums } from '../machine/sums.ts'
import type { LogSpec, Table, TableSpec } from '../machine/table.ts'
import { BOOTSTRAP, pendingMigrations } from './migrations/migrations.ts'
import { columnLiterals, placeholders, quote } from './sql.ts'
import {
  ADVANCE_HEAD,
  ALL_TABLES,
  CLEAR_CHECKPOINT,
  COMMANDS_AFTER,
  EMPTY_HEAD,
  INSERT_CHECKPOINT,
  INSERT_CHECKPOINT_PART,
  INSERT_COMMANDS,
  REWIND_HEAD,
  SEAL_HEAD,
  TAKE_EPOCH,
  batchStatements,
  checkpointParts,
  commandBatch,
  headValues,
  loading,
  selectFrom,
  storeHead,
} from './statements.ts'
import {
  Fenced,
  StoreAway,
  StoreLost,
  StoreUnavailable,
  type Checkpoint,
  type CommandBatch,
  type OpenedHead,
  type Snapshot,
  type Store,
  type StoreHead,
  type Value,
} from './store.ts'

const INT8 = 20
// Our integers stay below 2^53; numeric stays text, so that no float ever touches an amount.
const types = new pg.TypeOverrides()
types.setTypeParser(INT8, Number)

const READERS = 4
const FETCH_ROWS = 10_000
const CONNECT_MS = 10_000
/** A commit that has not come back by then never will: the network is gone without a word. */
const COMMIT_MS = 60_000
const MIGRATION_LOCK = 727274

/**
 * The head moves on, or the statement fails: everything behind it in the same pipeline then fails too, and
 * the transaction is rolled back without another round trip.
 */
const DIVISION_BY_ZERO = '22012'
const FENCE = `with moved as (${placeholders('postgres', ADVANCE_HEAD)} returning 1) select 1 / count(*) from moved`
const COMMANDS = placeholders('postgres', INSERT_COMMANDS)

/** Production: PostgreSQL, with one connection that writes and a few that read history. */
export class PostgresStore implements Store {
  readonly kind = 'postgres'
  private readonly url: string
  private readonly statementsOf = batchStatements('postgres')
  private writer: pg.Client | undefined
  private lost: Error | undefined
  private readonly readers: pg.Pool
  private epoch = 0
  private sealer: Sealer | undefined
  private closing = false

  constructor(url: string) {
    this.url = url
    this.readers = new pg.Pool({
      connectionString: url,
      max: READERS,
      types,
      connectionTimeoutMillis: CONNECT_MS,
    })
    this.readers.on('error', () => undefined) // an idle reader lost its server; the next query says so itself
  }
  async open(): Promise<OpenedHead> {
    try {
      const client = await connect(this.url)
      this.writer = client
      const gone = (error?: Error): void => {
        if (!this.closing)
          this.lost ??= new StoreLost('the connection to PostgreSQL is lost', { cause: error })
      }
      client.on('error', gone)
      client.on('end', () => gone())
      await prepareSession(client)
      const migrated = await this.migrate(client)
      const { rows } = await client.query<unknown[]>({ text: TAKE_EPOCH, rowMode: 'array' })
      this.epoch = rows[0]![0] as number
      return { ...storeHead(rows[0]!), migrated }
    } catch (error) {
      await this.close().catch(() => undefined)
      throw unavailable(error)
    }
  }
  private async migrate(client: pg.Client): Promise<number[]> {
    // Two processes that start at once migrate one after the other.
    await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    for (const statement of BOOTSTRAP) await client.query(statement)
    const { rows } = await client.query<{ id: number }>('select id from migration')
    const pending = pendingMigrations(rows.map(({ id }) => id))
    for (const migration of pending)
      await transaction(client, async () => {
        for (const statement of migration.up('postgres')) await client.query(statement)
        await client.query('insert into migration (id, name, at) values ($1, $2, $3)', [
          migration.id,
          migration.name,
          Date.now() * 1000,
        ])
      })
    await client.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
    return pending.map(({ id }) => id)
  }
  async load(tables: readonly Table<object>[]): Promise<void> {
    const client = this.writing
    for (const table of tables) {
      const { sql, row } = loading(table)
      await transaction(client, () => stream(client, sql, row))
    }
  }
  async scan(sql: string, row: (values: readonly unknown[]) => void): Promise<void> {
    const client = this.writing
    await transaction(client, () => stream(client, sql, row))
  }
  async keepCheckpoint(checkpoint: Checkpoint, tables: readonly Table<object>[]): Promise<void> {
    const client = this.writing
    const { sequence, at, hash, rules } = checkpoint
    await transaction(client, async () => {
      for (const sql of CLEAR_CHECKPOINT) await client.query(sql)
      await client.query(placeholders('postgres', INSERT_CHECKPOINT), [sequence, at, hash, rules])
      const insert = placeholders('postgres', INSERT_CHECKPOINT_PART)
      for (const part of checkpointParts(tables)) await client.query(insert, part)
    })
  }
  async seal({ sums, schema, mac, sequence }: StoreHead): Promise<void> {
    const values = [sums, schema, mac, this.epoch, sequence]
    const { rowCount } = await this.writing.query(placeholders('postgres', SEAL_HEAD), values)
    if (rowCount !== 1) throw new Fenced()
  }
  sealBehind(hash: string, sums: Sums): void {
    this.sealer = new Sealer(hash, sums)
  }
  /**
   * One round trip: everything is sent at once. An answer that never comes leaves the outcome open; nobody is
   * told anything but that, the process ends, and the next start reads what the database really holds.
   */
  async commit(batch: PackedBatch): Promise<string> {
    const client = this.writing
    if (this.lost !== undefined) throw this.lost
    if (this.sealer === undefined) throw new TypeError('nobody said what this batch is sealed behind')
    const seal = this.sealer.seal(batch)
    const head = headValues(batch, seal, this.epoch)
    const commands = [batch.sequence, batch.at, batch.count, seal.hash, batch.commands]
    const sent = [
      client.query('begin'),
      client.query({ name: 'head', text: FENCE, values: head }),
      ...this.statementsOf(batch).map(([text, { values }]) =>
        client.query({ name: statementName(text), text, values: columnLiterals(values()) }),
      ),
      client.query({ name: 'commands', text: COMMANDS, values: commands }),
      client.query({ text: 'commit', query_timeout: COMMIT_MS } as pg.QueryConfig),
    ]
    const results = await Promise.allSettled(sent)
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      const error = result.reason as Error & { code?: string }
      throw i === 1 && error.code === DIVISION_BY_ZERO ? new Fenced() : error
    }
    const end = results.at(-1) as PromiseFulfilledResult<pg.QueryResult>
    if (end.value.command !== 'COMMIT') throw new Error(`the commit ended as ${end.value.command}`)
    return seal.hash
  }
  async select<Row extends object>(
    spec: TableSpec<Row> | LogSpec<Row>,
    where: string,
    values: readonly Value[],
  ): Promise<Row[]> {
    const rows = await this.query(`${selectFrom(spec.name, spec.columns)} ${where}`, values)
    return rows.map(decoderOf<Row>(spec.columns))
  }
  async query(sql: string, values: readonly Value[]): Promise<unknown[][]> {
    const text = placeholders('postgres', sql)
    const { rows } = await this.readers.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
    return rows
  }
  async commandsAfter(sequence: number, limit: number): Promise<CommandBatch[]> {
    return (await this.query(COMMANDS_AFTER, [sequence, limit])).map(commandBatch)
  }
  async checkFence(): Promise<void> {
    if (this.lost !== undefined) throw this.lost
    const [row] = await this.query('select epoch from head', [])
    if (row![0] !== this.epoch) throw new Fenced()
  }
  async wipe(): Promise<StoreHead> {
    const client = this.writing
    await transaction(client, async () => {
      const { rowCount } = await client.query(placeholders('postgres', REWIND_HEAD), [this.epoch])
      if (rowCount !== 1) throw new Fenced()
      await client.query(`truncate ${ALL_TABLES.map(quote).join(', ')}`)
    })
    return EMPTY_HEAD
  }
  async close(): Promise<void> {
    this.closing = true
    await Promise.allSettled([this.writer?.end(), this.readers.end()])
  }
  private get writing(): pg.Client {
    if (this.writer === undefined) throw new TypeError('the store is not open')
    return this.writer
  }
}

/** What stands in a database, seen without disturbing a platform that runs on it. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const client = await connect(url).catch((error: unknown) => {
    throw unavailable(error)
  })
  client.on('error', () => undefined) // the query that meets it reports it
  await client.query('begin isolation level repeatable read read only')
  return {
    kind: 'postgres',
    query: async (sql, values = []) => {
      const text = placeholders('postgres', sql)
      return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows
    },
    integrity: () => Promise.resolve([]),
    each: (sql, row) => stream(client, sql, row),
    portions: (sql, act) => fetchAll(client, sql, act),
    close: () => client.end(),
  }
}

async function connect(
  url: string,
  { name = 'kontor', waitMs = CONNECT_MS }: { name?: string; waitMs?: number } = {},
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    types,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: waitMs,
    application_name: name,
  })
  await client.connect()
  return client
}
/** A connection for a purpose of its own, whose name others see. */
export async function postgresSession(url: string, name: string): Promise<pg.Client> {
  try {
    return await connect(url, { name })
  } catch (error) {
    throw unavailable(error)
  }
}
/** Fails with StoreAway when nobody is there, or nobody who takes writes, and otherwise with what no waiting mends. */
export async function postgresAnswers(url: string, waitMs = CONNECT_MS): Promise<void> {
  let client: pg.Client | undefined
  try {
    client = await connect(url, { waitMs: Math.min(waitMs, CONNECT_MS) })
    client.on('error', () => undefined)
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    if (rows[0]!.standby)
      throw new StoreAway(`KONTOR_DATABASE_URL: the database can't be opened: it is a standby`)
  } catch (error) {
    throw unavailable(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}
/** Waiting for ever helps nobody, and a commit that is not on the disk is none. */
async function prepareSession(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '${CONNECT_MS}ms'`)
  const { rows } = await client.query<{ synchronous_commit: string }>('show synchronous_commit')
  if (rows[0]!.synchronous_commit === 'off') await client.query('set synchronous_commit = on')
}

async function transaction(client: pg.Client, act: () => Promise<void>): Promise<void> {
  await client.query('begin')
  try {
    await act()
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
  await client.query('commit')
}

/** Through a cursor inside the transaction that is open, so that a million rows are never held twice. */
async function stream(
  client: pg.Client,
  sql: string,
  row: (values: readonly unknown[]) => void,
): Promise<void> {
  await fetchAll(client, sql, (rows) => {
    for (const values of rows) row(values)
  })
}
async function fetchAll(
  client: pg.Client,
  sql: string,
  act: (rows: readonly (readonly unknown[])[]) => Promise<void> | void,
): Promise<void> {
  await client.query(`declare rows_cursor no scroll cursor for ${sql}`)
  const fetch = (): Promise<pg.QueryResult<unknown[]>> =>
    client.query<unknown[]>({ text: `fetch ${FETCH_ROWS} from rows_cursor`, rowMode: 'array' })
  // While one portion is being taken in, the server prepares the next.
  for (let next = fetch(); ;) {
    const { rows } = await next
    if (rows.length === FETCH_ROWS) next = fetch()
    await act(rows)
    if (rows.length < FETCH_ROWS) break
  }
  await client.query('close rows_cursor')
}

/** Whatever keeps the database from being opened becomes one line; the URL may hold a password, so it is not in it. */
function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] }
  const why = message !== '' ? message : (errors?.map((each) => each.message).join(', ') ?? String(code))
  const Kind = isAway(error) ? StoreAway : StoreUnavailable
  return new Kind(`KONTOR_DATABASE_URL: the database can't be opened: ${why.replaceAll('\n', ' ')}`, {
    cause: error,
  })
}

/** What ended a start in the middle: a connection that broke is told like one that was never there. */
export const awayOr = (error: unknown): unknown =>
  !(error instanceof StoreUnavailable) && isAway(error) ? unavailable(error) : error

const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND', // a name that appears with its server
  'EAI_AGAIN',
  'EPIPE',
  'ENOENT', // the socket of a server that is not there
])
/** Connections that broke, no room (memory, connections), shutting down or starting up: the server's own words. */
const AWAY_STATES = /^(08|53[023]|57P0)/
const AWAY_WORDS = /timeout expired|connection terminated|connection ended|not queryable/i
/** Nobody is there at the moment. A wrong password, or a database that does not exist, is no matter of time. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { message, code, errors } = error as Error & { code?: string; errors?: unknown[] }
  if (errors !== undefined && errors.length > 0) return errors.every(isAway)
  if (code !== undefined) return AWAY_CODES.has(code) || AWAY_STATES.test(code)
  return AWAY_WORDS.test(message)
}

/** A prepared statement's name on the server is at most 63 bytes: number the texts. */
const names = new Map<string, string>()
function statementName(text: string): string {
  let name = names.get(text)
  if (name === undefined) names.set(text, (name = `batch_${names.size + 1}`))
  return name
}
