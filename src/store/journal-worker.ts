import { parentPort, type MessagePort } from 'node:worker_threads'
import { JournalChain, type JournalEntry, type PackedBatch } from '../machine/journal.ts'
import type { JournalJob } from './messages.ts'
import { PostgresJournal } from './postgres-journal.ts'
import { SqliteJournal } from './sqlite-journal.ts'
import { answerJobs, made, place } from './worker.ts'

/**
 * Appends batches to the journal: what comes back from here is durable. Each entry then goes on to the follower, which
 * puts it into the tables.
 */
const journal = made(() =>
  place.kind === 'sqlite' ? new SqliteJournal(place.path) : new PostgresJournal(place.url),
)
let chain: JournalChain | undefined
let follower: MessagePort | undefined
/** Entries up to here are in the tables for good. */
let safe = 0

parentPort!.once('message', ({ port }: { readonly port: MessagePort }) => {
  follower = port
  port.on('message', (told: number) => (safe = told))
  answerJobs<JournalJob>({
    open: ({ epoch, base }) => journal.takenAt(epoch, base),
    sealBehind: ({ behind: { hash, key } }) => {
      chain = new JournalChain(hash, key)
    },
    append: ({ batch }) => append(batch),
    clear: ({ base }) => journal.clear(base),
    checkFence: () => journal.checkFence(),
    close: () => {
      port.close()
      return journal.close()
    },
  })
})

function append(batch: PackedBatch): string | Promise<string> {
  if (chain === undefined) throw new TypeError('nobody said what this batch is sealed behind')
  const entry = chain.seal(batch)
  const appended = journal.append(entry, safe)
  return appended instanceof Promise ? appended.then(() => landed(entry)) : landed(entry)
}
function landed(entry: JournalEntry): string {
  follower!.postMessage(entry)
  return entry.hash
}
