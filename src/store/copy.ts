import { setImmediate as turn } from 'node:timers/promises'
import { columnLiterals, placeholders, upsertStatement } from './sql.ts'
import { decoderOf, encoderOf, type Columns } from '../machine/codec.ts'
import type { Declared } from '../machine/table.ts'
import { migrationsOf } from './open.ts'
import { postgresSession } from './postgres-client.ts'
import { PostgresStore, postgresSnapshot } from './postgres.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { migrate } from './sqlite-migrating.ts'
import { drain, type Tables } from './follower.ts'
import { READ_HEAD, storeHead } from './head.ts'
import { COMMAND_BATCH, selectFrom } from './shapes.ts'
import { newSums } from './seals.ts'
import { shapesOf } from './statements.ts'
import { StoreUnavailable, type Snapshot, type StoreHead } from './store.ts'

/** A copy of a whole store, row by row, into an empty one of either kind. */
interface Part {
  readonly name: string
  readonly columns: Columns
  readonly live?: (row: never) => boolean
}
const RECORDS: readonly Part[] = [
  { name: COMMAND_BATCH.name, columns: COMMAND_BATCH.columns },
  { name: 'checkpoint', columns: { sequence: 'int', at: 'int', hash: 'text', rules: 'int' } },
  { name: 'checkpoint_part', columns: { part: 'int', table_name: 'text', rows: 'text' } },
]
const partsOf = ({ tables, logs }: Declared): Part[] => [...(tables as readonly Part[]), ...logs, ...RECORDS]
const PLACE_HEAD = 'update head set sequence = ?, hash = ?, at = ?, sums = ?, "schema" = ?, mac = ?'
const headRow = ({ sequence, hash, at, sums, schema, mac }: StoreHead): (string | number)[] => [
  sequence,
  hash,
  at,
  sums,
  schema,
  mac,
]

type Write = (part: Part, rows: unknown[][]) => Promise<void>
async function copyRows(from: Snapshot, declared: Declared, write: Write): Promise<void> {
  for (const part of partsOf(declared)) {
    const decode = decoderOf<object>(part.columns)
    const encode = encoderOf(part.columns, part.live)
    await from.portions(selectFrom(part.name, part.columns), async (rows) => {
      if (rows.length > 0)
        await write(
          part,
          rows.map((values) => encode(decode(values))),
        )
    })
  }
}
const statement = (dialect: 'sqlite' | 'postgres', { name, columns, live }: Part): string =>
  upsertStatement(dialect, name, columns, undefined, live !== undefined)

/**
 * Into a file that is not there yet. What the journal holds beyond the tables comes into the copy's tables: it needs none.
 * Answers how far the copy goes.
 */
export async function copyToFile(
  from: Snapshot,
  declared: Declared,
  path: string,
  key: string,
): Promise<StoreHead> {
  const connection = new SqliteConnection(path)
  try {
    migrate(connection, Date.now() * 1000)
    connection.begin()
    await copyRows(from, declared, (part, rows) => {
      connection.run(statement('sqlite', part), [JSON.stringify(rows)])
      return turn()
    })
    const head = storeHead((await from.query(READ_HEAD))[0]!)
    connection.run(PLACE_HEAD, headRow(head))
    connection.end()
    connection.shape(shapesOf(declared))
    const { schema } = newSums(key)
    const tables: Tables = { project: (portion, to) => connection.project(portion.changes(), to, 0, true) }
    await drain(await from.tail(), head, tables, { key, schema })
    const reached = storeHead(connection.query(READ_HEAD, [])[0]!)
    connection.single()
    return reached
  } finally {
    connection.close()
  }
}

/** Into a database without rows; all of it or nothing. */
export async function copyToDatabase(from: Snapshot, declared: Declared, url: string): Promise<void> {
  // Looked at before it is opened: opening takes a database from the platform that runs on it.
  const there = await postgresSnapshot(url)
  try {
    if (
      (await migrationsOf(there)).length > 0 &&
      Number((await there.query('select sequence from head'))[0]?.[0]) > 0
    )
      throw new StoreUnavailable('the database is not empty: a backup is restored into an empty one')
  } finally {
    await there.close()
  }
  const store = new PostgresStore(url)
  await store.open(newSums(''), declared)
  await store.close()
  const session = await postgresSession(url, 'kontor restore')
  try {
    await session.query('begin')
    await copyRows(from, declared, async (part, rows) => {
      await session.query(statement('postgres', part), columnLiterals(rows))
    })
    await session.query(
      placeholders('postgres', PLACE_HEAD),
      headRow(storeHead((await from.query(READ_HEAD))[0]!)),
    )
    await session.query('commit')
  } finally {
    await session.end()
  }
}
