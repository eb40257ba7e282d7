import { parentPort, type MessagePort } from 'node:worker_threads'
import type { JournalEntry } from '../machine/journal.ts'
import { Sealer } from '../machine/sealer.ts'
import { MOVED, type Appended, type JournalJob, type Ports, type Reply } from './messages.ts'
import { PostgresJournal } from './postgres-journal.ts'
import { SqliteJournal } from './sqlite-journal.ts'
import { answerJobs, made, place } from './worker.ts'

/** Those that came in one turn of the loop share a sync. */
interface Waiting {
  readonly entry: JournalEntry
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/**
 * Appends batches to the journal, which writes them as text and seals them first where no other thread did: what comes
 * back from here is durable. Each entry then goes on to the follower, which puts it into the tables.
 */
class Appender {
  private readonly journal: SqliteJournal | PostgresJournal
  private readonly follower: MessagePort
  readonly sealer = new Sealer()
  /** Entries up to here are in the tables for good. */
  private safe = 0
  private waiting: Waiting[] = []

  constructor(journal: SqliteJournal | PostgresJournal, follower: MessagePort) {
    this.journal = journal
    this.follower = follower
    follower.on('message', (told: number) => (this.safe = told))
  }
  append(entry: JournalEntry): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.waiting.push({ entry, resolve, reject }) === 1) setImmediate(() => void this.appendWaiting())
    })
  }
  private async appendWaiting(): Promise<void> {
    const appended = this.waiting
    this.waiting = []
    try {
      await this.journal.append(
        appended.map(({ entry }) => entry),
        this.safe,
      )
      for (const { entry, resolve } of appended) {
        this.follower.postMessage(entry)
        resolve({ hash: entry.hash, length: entry.body.length + entry.commands.length })
      }
    } catch (error) {
      for (const { reject } of appended) reject(error)
    }
  }
}

const journal = made(() =>
  place.kind === 'sqlite' ? new SqliteJournal(place.path) : new PostgresJournal(place.url, place.waitMs),
)
parentPort!.once('message', ({ port, jobs, answers = parentPort! }: Ports) => {
  const appender = new Appender(journal, port)
  if (journal instanceof PostgresJournal)
    journal.away = (away) => {
      answers.postMessage({ away } satisfies Reply)
      if (!away) port.postMessage(MOVED)
    }
  answerJobs<JournalJob>(
    {
      open: ({ epoch, base }) => journal.takenAt(epoch, base),
      sealBehind: ({ behind }) => appender.sealer.sealBehind(behind.hash, behind.key),
      append: ({ batch }) => appender.append(appender.sealer.seal(batch)),
      appendSealed: ({ entry }) => appender.append(entry),
      clear: ({ base }) => journal.clear(base),
      checkFence: () => journal.checkFence(),
      close: () => {
        port.close()
        return journal.close()
      },
    },
    { jobs, answers },
  )
})
