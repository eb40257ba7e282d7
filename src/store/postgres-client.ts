import pg from 'pg'
import { StoreAway, StoreLost, StoreUnavailable } from './store.ts'

const INT8 = 20
// Our integers stay below 2^53; numeric stays text, so that no float ever touches an amount.
export const types = new pg.TypeOverrides()
types.setTypeParser(INT8, Number)

const FETCH_ROWS = 10_000
export const CONNECT_MS = 10_000

export async function connect(
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
/** A connection that is kept: its loss is noticed when it happens, and told to whoever uses it next. */
export class KeptConnection {
  readonly client: pg.Client
  private gone: Error | undefined
  private closing = false

  private constructor(client: pg.Client) {
    this.client = client
    const lose = (error?: Error): void => {
      if (!this.closing) this.gone ??= new StoreLost('the connection to PostgreSQL is lost', { cause: error })
    }
    client.on('error', lose)
    client.on('end', () => lose())
  }
  static async open(url: string): Promise<KeptConnection> {
    const kept = new KeptConnection(await connect(url))
    await prepareSession(kept.client)
    return kept
  }
  refuseLost(): void {
    if (this.gone !== undefined) throw this.gone
  }
  async end(): Promise<void> {
    this.closing = true
    await this.client.end()
  }
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

/** Whatever keeps the database from being opened becomes one line; the URL may hold a password, so it is not in it. */
export function unavailable(error: unknown): StoreUnavailable {
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
