import { parentPort, type MessagePort } from 'node:worker_threads'
import type { JournalEntry } from '../machine/journal.ts'
import { Sums } from '../machine/sums.ts'
import { Follower } from './follower.ts'
import type { Behind, FollowerJob } from './messages.ts'
import { PostgresTables } from './postgres-tables.ts'
import { SqliteTables } from './sqlite-tables.ts'
import { answerJobs, lose, made, place, post } from './worker.ts'

/** Puts what the journal holds into the tables, at the start and from then on. */
const tables = made(() =>
  place.kind === 'sqlite' ? new SqliteTables(place.path) : new PostgresTables(place.url),
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
  port.on('message', (entry: JournalEntry) => follower.take(entry))
  answerJobs<FollowerJob>({
    open: ({ opening }) => tables.open(opening),
    sealBehind: ({ behind }) => sealBehind(follower, behind),
    direct: ({ batch }) => follower.direct(batch),
    settle: () => tables.settle(),
    hurry: ({ sequence }) => follower.hurry(sequence),
    hold: ({ on }) => (on ? follower.hold() : follower.go()),
    close: () => {
      port.close()
      return tables.close()
    },
  })
})

function sealBehind(follower: Follower, { hash, key, schema, sums: text }: Behind): void {
  const sums = new Sums(key, schema)
  sums.setAll(text)
  follower.sealBehind(hash, sums)
}
