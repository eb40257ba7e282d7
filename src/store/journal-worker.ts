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

/** Those that came in one turn of the loop share a sync. */
interface Waiting {
  readonly entry: JournalEntry
  readonly resolve: (hash: string) => void
  readonly reject: (error: unknown) => void
}
let waiting: Waiting[] = []

function append(batch: PackedBatch): Promise<string> {
  if (chain === undefined) throw new TypeError('nobody said what this batch is sealed behind')
  const entry = chain.seal(batch)
  return new Promise((resolve, reject) => {
    if (waiting.push({ entry, resolve, reject }) === 1) setImmediate(() => void appendWaiting())
  })
}
async function appendWaiting(): Promise<void> {
  const appended = waiting
  waiting = []
  try {
    await journal.append(
      appended.map(({ entry }) => entry),
      safe,
    )
    for (const { entry, resolve } of appended) {
      follower!.postMessage(entry)
      resolve(entry.hash)
    }
  } catch (error) {
    for (const { reject } of appended) reject(error)
  }
}
