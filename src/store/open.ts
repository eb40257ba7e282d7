import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { LIVE } from '../core/world/world.ts'
import { makePrivateFolder } from '../files.ts'
import { pendingMigrations } from './migrations/migrations.ts'
import { MemoryStore } from './memory.ts'
import { PostgresStore, postgresSnapshot } from './postgres.ts'
import { SqliteStore, sqliteGlance, sqliteSnapshot } from './sqlite.ts'
import { StoreUnavailable, type Snapshot, type Store } from './store.ts'

type Place = Pick<Config, 'data' | 'databaseUrl'> & { readonly memory?: boolean }
export const databasePath = (data: string): string => join(data, 'kontor.db')

/** The store that the settings name; not opened yet. */
export function openStore({ data, databaseUrl, memory }: Place): Store {
  if (memory === true) return new MemoryStore()
  if (databaseUrl !== undefined) return new PostgresStore(databaseUrl)
  try {
    makePrivateFolder(data)
  } catch (error) {
    throw new StoreUnavailable(`KONTOR_DATA ${data} can't be made: ${(error as Error).message}`)
  }
  return new SqliteStore(databasePath(data))
}

/**
 * The mode that a database was made in; undefined before its first start. Seen without taking it over. Older
 * versions left no mark, but every world of a sandbox began with the demo account.
 */
export async function modeOf({ data, databaseUrl, memory }: Place): Promise<Config['mode'] | undefined> {
  if (memory === true) return undefined
  if (databaseUrl === undefined && !existsSync(databasePath(data))) return undefined
  const snapshot =
    databaseUrl !== undefined ? await postgresSnapshot(databaseUrl) : sqliteGlance(databasePath(data))
  try {
    if ((await migrationsOf(snapshot)).length === 0) return undefined
    const [mark] = await snapshot.query(`select "value" from setting where "name" = '${LIVE}'`)
    if (mark !== undefined)
      return (JSON.parse(String(mark[0])) as { live: boolean }).live ? 'live' : 'sandbox'
    const [world] = await snapshot.query(`select 1 from setting where "name" = 'world'`)
    if (world === undefined) return undefined
    const demo = `select 1 from user_account where "login_name" = 'demo' and "email" = 'demo@kontor.example'`
    return (await snapshot.query(demo)).length === 0 ? 'live' : 'sandbox'
  } finally {
    await snapshot.close()
  }
}

/** A look at the store that the settings name, safe beside a running platform. */
export async function openSnapshot({ data, databaseUrl }: Place): Promise<Snapshot> {
  const snapshot =
    databaseUrl !== undefined ? await postgresSnapshot(databaseUrl) : sqliteSnapshot(databasePath(data))
  try {
    const done = await migrationsOf(snapshot)
    const pending = pendingMigrations(done)
    if (pending.length > 0)
      throw new StoreUnavailable(
        done.length === 0
          ? 'the database is empty; has the platform ever been started on it?'
          : `the database is of an older version (migration ${pending[0]!.id} is missing); start the platform once to bring it up to date`,
      )
  } catch (error) {
    await snapshot.close()
    throw error
  }
  return snapshot
}

export async function migrationsOf(snapshot: Snapshot): Promise<number[]> {
  const known =
    snapshot.kind === 'sqlite'
      ? `select 1 from sqlite_master where type = 'table' and name = 'migration'`
      : `select 1 from information_schema.tables where table_schema = any (current_schemas(false)) and table_name = 'migration'`
  if ((await snapshot.query(known)).length === 0) return []
  return (await snapshot.query('select id from migration order by id')).map(([id]) => Number(id))
}
