import type { Migration } from './migrations/migration.ts'
import { BOOTSTRAP, pendingMigrations } from './migrations/migrations.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** Those that have been done; a database of a newer version is refused. */
export function migrationsOf(connection: SqliteConnection): number[] {
  for (const statement of BOOTSTRAP) connection.execute(statement)
  const done = connection.query('select id from migration', []).map(([id]) => id as number)
  pendingMigrations(done)
  return done
}
/** Tells which migrations were still to be done. */
export function migrate(connection: SqliteConnection, now: number): number[] {
  let pending: readonly Migration[] = []
  // In one transaction with the look at what is done: two processes may start at once.
  connection.transaction(() => {
    pending = pendingMigrations(migrationsOf(connection))
    for (const { id, name, up } of pending) {
      for (const statement of up('sqlite')) connection.execute(statement)
      connection.run('insert into migration (id, name, at) values (?, ?, ?)', [id, name, now])
    }
  })
  return pending.map(({ id }) => id)
}
