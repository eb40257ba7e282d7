import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { pendingMigrations } from './migrations/migrations.ts'
import { PostgresStore, postgresSnapshot } from './postgres.ts'
import { SqliteStore, sqliteSnapshot } from './sqlite.ts'
import { StoreUnavailable, type Snapshot, type Store } from './store.ts'

type Place = Pick<Config, 'data' | 'databaseUrl'>
export const databasePath = (data: string): string => join(data, 'kontor.db')

/** The store that the settings name; not opened yet. */
export function openStore({ data, databaseUrl }: Place): Store {
  if (databaseUrl !== undefined) return new PostgresStore(databaseUrl)
  try {
    mkdirSync(data, { recursive: true })
  } catch (error) {
    throw new StoreUnavailable(`KONTOR_DATA ${data} can't be made: ${(error as Error).message}`)
  }
  return new SqliteStore(databasePath(data))
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
