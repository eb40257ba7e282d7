import type { StagerJob } from './messages.ts'
import { SqliteStage } from './sqlite-stage.ts'
import { answerJobs, place } from './worker.ts'

/** Readies rows for the thread that writes the tables of an SQLite file. */
if (place.kind !== 'sqlite') throw new TypeError('only SQLite is written in stages')
const stage = new SqliteStage(place.path)

answerJobs<StagerJob>({
  begin: ({ epoch, shapes }) => stage.begin(epoch, shapes),
  stage: ({ rows }) => stage.stage(rows),
  close: () => stage.close(),
})
