import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { sums } from './migrations/0041_sums.ts'
import { pendingMigrations } from './migrations/migrations.ts'
import { MemoryStore } from './memory.ts'
import { FolderLock, NoLock, SessionLock, type OwnerLock } from './owner.ts'
import { PostgresStore, postgresSnapshot } from './postgres.ts'
import { SqliteStore, sqliteGlance, sqliteSnapshot } from './sqlite.ts'
import { StoreUnavailable, type Snapshot, type Store } from './store.ts'

export type Place = Pick<Config, 'data' | 'databaseUrl'> &
  Partial<Pick<Config, 'databaseWait' | 'readUrls'>> & { readonly memory?: boolean }
export const databasePath = (data: string): string => join(data, 'kontor.db')

/** The store that the settings name; not opened yet. */
export function openStore({ data, databaseUrl, memory, databaseWait = 0, readUrls }: Place): Store {
  if (memory === true) return new MemoryStore()
  if (databaseUrl === undefined) return new SqliteStore(databasePath(data))
  return new PostgresStore(databaseUrl, { waitMs: databaseWait * 1000, readUrls })
}

/** A few words of a database that has sums, whoever runs on it; undefined where there is none yet. */
export async function glanceAt({ data, databaseUrl }: Place): Promise<Snapshot | undefined> {
  if (databaseUrl === undefined && !existsSync(databasePath(data))) return undefined
  const snapshot =
    databaseUrl !== undefined ? await postgresSnapshot(databaseUrl) : sqliteGlance(databasePath(data))
  if ((await migrationsOf(snapshot)).includes(sums.id)) return snapshot
  await snapshot.close()
  return undefined
}

/** How long a look waits for the tables of a running platform to catch up, and from one try to the next. */
const CATCH_UP_MS = 2_000
const STILL_MS = 300
const RETRY_MS = 20
/**
 * A look at the store that the settings name, safe beside a running platform, whose tables are waited for. Of one that
 * was killed the journal may hold more than the tables: `tail` tells it.
 */
export async function openSnapshot(place: Place): Promise<Snapshot> {
  const began = performance.now()
  let movedAt = began
  let first = 0
  for (;;) {
    const snapshot = await lookAt(place)
    const [next] = await snapshot.tail()
    const now = performance.now()
    if (next?.sequence !== first) movedAt = now
    // Tables that stand still have nobody who writes them.
    if (next === undefined || now - began > CATCH_UP_MS || now - movedAt > STILL_MS) return snapshot
    first = next.sequence
    await snapshot.close()
    await sleep(RETRY_MS)
  }
}
async function lookAt({ data, databaseUrl }: Place): Promise<Snapshot> {
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

/** Not taken yet. */
export function openOwnerLock({ data, databaseUrl, memory }: Place): OwnerLock {
  if (memory === true) return new NoLock()
  return databaseUrl === undefined ? new FolderLock(data) : new SessionLock(databaseUrl)
}
