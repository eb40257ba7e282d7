import type { StagerJob } from './messages.ts'
import { SqliteStage } from './sqlite-stage.ts'
import { answerJobs, place } from './worker.ts'

/** Readies rows for the thread that writes the tables of an SQLite file. */
if (place.kind !== 'sqlite') throw new TypeError('only SQLite is written in stages')
const { path } = place
let stage: SqliteStage | undefined

answerJobs<StagerJob>({
  begin: ({ epoch, shapes }) => {
    stage = new SqliteStage(path, epoch, shapes)
  },
  stage: ({ rows }) => stage!.stage(rows),
  close: () => stage?.close(),
})
