import { PostgresServer } from '../test/support/postgres.ts'

export const STORES = ['SQLite', 'PostgreSQL'] as const
export type StoreName = (typeof STORES)[number]

/** The settings of a platform on each store, one after the other; PostgreSQL syncs as it does in earnest. */
export async function onEachStore<T>(
  act: (store: StoreName, env: Record<string, string>) => Promise<T>,
): Promise<T[]> {
  const server = await PostgresServer.start({ durable: true })
  try {
    return [
      await act('SQLite', {}),
      await act('PostgreSQL', { KONTOR_DATABASE_URL: await server.database() }),
    ]
  } finally {
    await server.stop()
  }
}
