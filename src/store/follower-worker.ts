import { parentPort, type MessagePort } from 'node:worker_threads'
import type { JournalEntry } from '../machine/journal.ts'
import { Sums } from '../machine/sums.ts'
import { Follower } from './follower.ts'
import { storeHead } from './head.ts'
import { MOVED, type Behind, type FollowerJob, type OpenedWarm, type Opening } from './messages.ts'
import { PostgresTables } from './postgres-tables.ts'
import type { Point } from './store.ts'
import { SqliteStager } from './sqlite-stager.ts'
import { SqliteTables } from './sqlite-tables.ts'
import { SqliteWriterOnDemand } from './sqlite-writer-on-demand.ts'
import { answerJobs, lose, made, place, post } from './worker.ts'

/** Puts what the journal holds into the tables, at the start and from then on. */
const tables = made(() =>
  place.kind === 'sqlite'
    ? new SqliteTables(
        place.path,
        new SqliteWriterOnDemand(place),
        place.stages === true ? new SqliteStager(place) : undefined,
      )
    : new PostgresTables(place.url, place.waitMs),
)

parentPort!.once('message', ({ port }: { readonly port: MessagePort }) => {
  const follower = new Follower(
    tables,
    (progress) => {
      post({ progress })
      port.postMessage(progress.safe)
    },
    lose,
  )
  if (tables instanceof PostgresTables) tables.lost = () => follower.unseat()
  port.on('message', (told: JournalEntry | typeof MOVED) => {
    if (told !== MOVED) follower.take(told)
    else if (tables instanceof PostgresTables) tables.leave()
  })
  answerJobs<FollowerJob>(
    {
      open: ({ opening }) => tables.open(opening),
      openWarm: ({ opening, after }) => openWarm(follower, opening, after),
      sealBehind: ({ behind }) => sealBehind(follower, behind),
      direct: ({ batch }) => follower.direct(batch),
      settle: () => tables.settle(),
      hurry: ({ sequence }) => follower.hurry(sequence),
      hold: ({ on }) => (on ? follower.hold() : follower.go()),
      close: () => {
        port.close()
        return tables.close()
      },
    },
    {
      rest: async () => {
        await follower.rest()
        if (tables instanceof SqliteTables) await tables.rest()
      },
    },
  )
})

function sealBehind(follower: Follower, { hash, key, schema, sums: text }: Behind): void {
  const sums = new Sums(key, schema)
  sums.setAll(text)
  follower.sealBehind(hash, sums)
}

/** What the tables do not hold yet is its queue. */
async function openWarm(follower: Follower, opening: Opening, after: Point): Promise<OpenedWarm> {
  if (!(tables instanceof PostgresTables)) throw new TypeError('only PostgreSQL is taken over warm')
  const opened = await tables.openWarm(opening, after)
  const { sequence, hash } = storeHead(opened.head)
  sealBehind(follower, { hash, key: opening.key, schema: opening.schema, sums: opened.sums })
  for (const entry of opened.entries) if (entry.sequence > sequence) follower.take(entry)
  return opened
}
