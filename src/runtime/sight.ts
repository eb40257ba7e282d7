import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { LIVE } from '../core/tables/world/world.ts'
import { databasePath, migrationsOf, type Place } from '../store/open.ts'
import { postgresSnapshot } from '../store/postgres.ts'
import { sqliteGlance } from '../store/sqlite.ts'
import { StoreDamaged, type Snapshot } from '../store/store.ts'

/** What can be seen of a database before a start, without taking it over. */
export interface Sight {
  /** The mode that it was made in; undefined before its first start. */
  readonly mode: Config['mode'] | undefined
  /** Of PostgreSQL: which cluster and database this is, wherever it is reached from. */
  readonly database: string | undefined
  /** Whether this is an API key there. */
  readonly knows: (key: string) => Promise<boolean>
}
/** Looks, and hands what is seen to `act`. */
export async function sightOf<T>(
  { data, databaseUrl, memory }: Place,
  act: (sight: Sight) => Promise<T> | T,
): Promise<T> {
  const nothing = { mode: undefined, database: undefined, knows: () => Promise.resolve(false) }
  if (memory === true || (databaseUrl === undefined && !existsSync(databasePath(data)))) return act(nothing)
  const snapshot =
    databaseUrl !== undefined ? await postgresSnapshot(databaseUrl) : sqliteGlance(databasePath(data))
  try {
    const database = snapshot.kind === 'postgres' ? await identityOf(snapshot) : undefined
    if ((await migrationsOf(snapshot)).length === 0) return await act({ ...nothing, database })
    const knows = async (key: string): Promise<boolean> =>
      (await snapshot.query(`select 1 from api_key where "key" = ?`, [key])).length > 0
    return await act({ mode: await madeIn(snapshot), database, knows })
  } finally {
    await snapshot.close()
  }
}
/** The mode that a database was made in; undefined before its first start. */
export const modeOf = (place: Place): Promise<Config['mode'] | undefined> =>
  sightOf(place, ({ mode }) => mode)

/** Older versions left no mark, but every world of a sandbox began with the demo account. */
async function madeIn(snapshot: Snapshot): Promise<Config['mode'] | undefined> {
  const [mark] = await snapshot.query(`select "value" from setting where "name" = '${LIVE}'`)
  if (mark !== undefined) return isLive(String(mark[0])) ? 'live' : 'sandbox'
  const [world] = await snapshot.query(`select 1 from setting where "name" = 'world'`)
  if (world === undefined) return undefined
  const demo = `select 1 from user_account where "login_name" = 'demo' and "email" = 'demo@kontor.example'`
  return (await snapshot.query(demo)).length === 0 ? 'live' : 'sandbox'
}
function isLive(mark: string): boolean {
  try {
    return (JSON.parse(mark) as { live: boolean }).live
  } catch (error) {
    throw new StoreDamaged(
      'the database is damaged: its mark of live or sandbox mode is none; run: kontor verify, and restore it from a backup',
      { cause: error },
    )
  }
}
/** The cluster's own number stays the same over fail-overs and renamed hosts. */
async function identityOf(snapshot: Snapshot): Promise<string> {
  const [[allowed]] = (await snapshot.query(
    `select has_function_privilege('pg_control_system()', 'execute')`,
  )) as [[boolean]]
  const cluster = allowed ? '(select system_identifier::text from pg_control_system())' : `''`
  const [[identity]] = (await snapshot.query(
    `select ${cluster} || '/' || current_database() || '/' || coalesce(current_schema(), '')`,
  )) as [[string]]
  return `postgresql:${identity}`
}
