import type { WriterJob } from './messages.ts'
import { SqliteWriter } from './sqlite-writer.ts'
import { answerJobs, place } from './worker.ts'

/** Writes the tables of an SQLite file, portion by portion, as the follower makes them. */
if (place.kind !== 'sqlite') throw new TypeError('only SQLite is written in a thread')
const writer = new SqliteWriter(place.path)

answerJobs<WriterJob>({
  adopt: (standing) => writer.adopt(standing),
  shape: ({ shapes }) => writer.shape(shapes),
  project: ({ changes, head, durable, staged }) => writer.project(changes, head, durable, staged),
  finish: ({ opening }) => writer.finish(opening),
  settle: () => writer.settle(),
  close: () => writer.close(),
})
