import type { ReaderJob } from './messages.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { answerJobs, made, place } from './worker.ts'

/** Reads the tables of an SQLite file. */
if (place.kind !== 'sqlite') throw new TypeError('only SQLite is read in a thread')
const { path } = place
const connection = made(() => new SqliteConnection(path, 'read'))

answerJobs<ReaderJob>({
  query: ({ sql, values }) => connection.query(sql, values),
  portion: ({ table, columns, after }) => connection.portion(table, columns, after),
  close: () => connection.close(),
})
