import type pg from 'pg'
import type { ColumnType, TableSpec } from '../machine/table.ts'
import { NoServer, firstOf, targetsOf, type Preference, type Wanted } from './postgres-hosts.ts'
import { StoreAway, StoreLost, StoreUnavailable } from './store.ts'

const INT8 = 20

const FETCH_ROWS = 10_000
export const CONNECT_MS = 10_000

/** The server is there, and takes no writes: another one does, or this one will. */
class NotPrimary extends Error {
  constructor() {
    super('it is a standby')
  }
}
interface Way {
  /** As others see it. */
  readonly name?: string
  readonly waitMs?: number | undefined
  readonly preference?: Preference
}
/** To the server of a URL, or to the first of its servers that will do. */
export async function connect(url: string, way: Way = {}): Promise<pg.Client> {
  const targets = targetsOf(url)
  const [only] = targets.urls
  if (targets.urls.length === 1) return connectTo(only!, targets.wanted, way)
  const attempt = (one: string): Promise<pg.Client> => connectTo(one, targets.wanted, way)
  return firstOf(targets, attempt, destroy, way.preference)
}
async function connectTo(
  url: string,
  wanted: Wanted,
  { name = 'kontor', waitMs = CONNECT_MS }: Way,
): Promise<pg.Client> {
  // With the first connection: it costs each thread of an embedded store a fifth of a second that never makes one.
  const { default: postgres } = await import('pg')
  // Our integers stay below 2^53; numeric stays text, so that no float ever touches an amount.
  const types = new postgres.TypeOverrides()
  types.setTypeParser(INT8, Number)
  const client = new postgres.Client({
    connectionString: url,
    types,
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: waitMs,
    application_name: name,
  })
  const heard = (): void => undefined // told by what is asked
  client.on('error', heard)
  try {
    await client.connect()
    if (wanted === 'primary') await refuseStandby(client, waitMs)
  } catch (error) {
    client.end().catch(() => undefined)
    throw error
  }
  client.off('error', heard)
  return client
}
async function refuseStandby(client: pg.Client, waitMs: number): Promise<void> {
  const text = `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as standby`
  const asked = { text, query_timeout: waitMs } as pg.QueryConfig
  if ((await client.query<{ standby: boolean }>(asked)).rows[0]!.standby) throw new NotPrimary()
}
const END_MS = 2_000
/** Without waiting for anything that was asked: it may never be answered. */
export function destroy(client: pg.Client): void {
  client.end().catch(() => undefined)
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
/** In good order where the server still answers. */
export async function endSoon(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => destroy(client), END_MS)
  await client.end().catch(() => undefined)
  clearTimeout(timer)
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
    if (rows[0]!.standby) throw new NotPrimary()
  } catch (error) {
    throw unavailable(error)
  } finally {
    await client?.end().catch(() => undefined)
  }
}
/** Whoever stops in the middle of a transaction (a process that sleeps, a line that is dead) holds its locks so long. */
export const IDLE_MS = 1_000
/** The same for who loads or wipes: he thinks in between. */
export const THINKING_MS = 30_000
/** Waiting for ever helps nobody, nor holding others up, and a commit that is not on the disk, here and on the standby that counts, is none. */
export async function prepareSession(
  client: pg.Client,
  idleMs: number,
  waitMs: number = CONNECT_MS,
): Promise<void> {
  const ask = <Row extends object>(text: string): Promise<pg.QueryResult<Row>> =>
    client.query<Row>({ text, query_timeout: waitMs } as pg.QueryConfig)
  await ask(`set lock_timeout = '${CONNECT_MS}ms'`)
  await ask(stillFor(idleMs))
  const { rows } = await ask<{ synchronous_commit: string }>('show synchronous_commit')
  if (['off', 'local'].includes(rows[0]!.synchronous_commit)) await ask('set synchronous_commit = on')
}
const stillFor = (ms: number): string => `set idle_in_transaction_session_timeout = '${ms}ms'`
/** How long a transaction of a session may stand still from now on. */
export async function mayStandStill(client: pg.Client, ms: number): Promise<void> {
  await client.query(stillFor(ms))
}

export async function transaction(client: pg.Client, act: () => Promise<void>): Promise<void> {
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
export async function stream(
  client: pg.Client,
  sql: string,
  row: (values: readonly unknown[]) => void,
): Promise<void> {
  await fetchAll(client, sql, (rows) => {
    for (const values of rows) row(values)
  })
}
export async function fetchAll(
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

/** Pages of a table that are read at a time: some thousand rows. */
const PAGES = 64
/**
 * Every row of a table, in the order in which they lie there; the first thing in the transaction that is open. They come
 * column by column, each as one JSON text for many pages, which the server writes while the one before is taken in: to
 * take single values out of the driver's messages takes three times as long, and rows as JSON take the server twice as long.
 */
export async function wholeTable(
  client: pg.Client,
  { name, columns }: Pick<TableSpec<object>, 'name' | 'columns'>,
  row: (values: readonly unknown[]) => void,
): Promise<void> {
  const lists = Object.entries<ColumnType>(columns).map(([column, type]) =>
    // As a JSON number an amount would lose digits.
    type === 'amount' ? `json_agg("${column}"::text)::text` : `json_agg("${column}")::text`,
  )
  const text = `select ${lists.join(', ')} from "${name}" where ctid >= $1::tid and ctid < $2::tid`
  await client.query('set transaction isolation level repeatable read, read only')
  const [pages] = await one(
    client,
    `select pg_relation_size('"${name}"') / current_setting('block_size')::int`,
  )
  const end = Number(pages)
  const ask = (from: number): Promise<(string | null)[]> =>
    one(client, text, [`(${from},0)`, `(${from + PAGES},0)`])
  let next = end > 0 ? ask(0) : undefined
  for (let from = PAGES; next !== undefined; from += PAGES) {
    const texts = await next
    next = from < end ? ask(from) : undefined
    next?.catch(() => undefined) // told when it is waited for
    if (texts[0] === null) continue
    const values = texts.map((list) => JSON.parse(list!) as unknown[])
    for (let i = 0; i < values[0]!.length; i++) row(values.map((list) => list[i]))
  }
}
async function one(
  client: pg.Client,
  text: string,
  values: readonly string[] = [],
): Promise<(string | null)[]> {
  const { rows } = await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array' })
  return rows[0] ?? []
}

/** Whatever keeps the database from being opened becomes one line; the URL may hold a password, so it is not in it. */
export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const Kind = isAway(error) ? StoreAway : StoreUnavailable
  return new Kind(`KONTOR_DATABASE_URL: the database can't be opened: ${whyOf(error)}`, { cause: error })
}
function whyOf(error: unknown): string {
  if (error instanceof NoServer)
    return error.faults.map(({ server, error: fault }) => `${server}: ${whyOf(fault)}`).join(', ')
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] }
  const why = message !== '' ? message : (errors?.map((each) => each.message).join(', ') ?? String(code))
  return why.replaceAll('\n', ' ')
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
/** Connections that broke or stood still for too long, no room (memory, connections), shutting down or starting up: the server's own words. */
const AWAY_STATES = /^(08|53[023]|57P0|25P03)/
const AWAY_WORDS = /timeout expired|read timeout|connection terminated|connection ended|not queryable/i
/** Said by a server that was the primary a moment ago, and is not any more. */
const READ_ONLY = '25006'
/** A connection that served, and does so no longer. */
export const isLost = (error: unknown): boolean =>
  isAway(error) || (error as { readonly code?: string } | undefined)?.code === READ_ONLY
/** Nobody is there at the moment. A wrong password, or a database that does not exist, is no matter of time. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof StoreUnavailable) return error instanceof StoreAway
  if (error instanceof NotPrimary) return true
  if (error instanceof StoreLost) return false
  // Of several servers one may come back, whatever the others say.
  if (error instanceof NoServer) return error.faults.some((fault) => isAway(fault.error))
  const { message, code, errors } = error as Error & { code?: string; errors?: unknown[] }
  if (errors !== undefined && errors.length > 0) return errors.every(isAway)
  if (code !== undefined) return AWAY_CODES.has(code) || AWAY_STATES.test(code)
  return AWAY_WORDS.test(message)
}
