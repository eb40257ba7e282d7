import { parentPort, workerData } from 'node:worker_threads'
import type { PackedBatch, TableText } from '../machine/batch.ts'
import { Sealer } from '../machine/sealer.ts'
import { Sums } from '../machine/sums.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { RAISE_EPOCH, READ_HEAD } from './statements.ts'
import { Fenced, StoreUnavailable, type Value } from './store.ts'

/** Runs SQLite off the main thread, where its commits would hold up every request. */
export type Job =
  | { readonly op: 'open'; readonly now: number }
  | { readonly op: 'commit'; readonly batch: PackedBatch<TableText>; readonly epoch: number }
  | {
      readonly op: 'sealBehind'
      readonly hash: string
      readonly key: string
      readonly schema: string
      readonly sums: string
    }
  | { readonly op: 'query'; readonly sql: string; readonly values: readonly Value[] }
  | { readonly op: 'close' }
export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly kind: 'fenced' | 'unavailable' | 'other' }

const OPEN_MS = 200
const CHECKED_BYTES = 64 * 2 ** 20
const { path } = workerData as { path: string }
const connection = opened()
const port = parentPort!
let sealer: Sealer | undefined

port.on('message', (message: Job & { readonly id: number }) => {
  let reply: Reply
  try {
    reply = { id: message.id, result: perform(message) }
  } catch (error) {
    const kind =
      error instanceof Fenced ? 'fenced' : error instanceof StoreUnavailable ? 'unavailable' : 'other'
    const text = kind === 'other' ? String(error) : (error as Error).message
    reply = { id: message.id, error: text, kind }
  }
  port.postMessage(reply)
  if (message.op === 'close') port.close()
})

/** The binding's own errors do not survive the way between threads. */
function opened(): SqliteConnection {
  try {
    return new SqliteConnection(path)
  } catch (error) {
    throw new Error((error as Error).message)
  }
}

/** A small file is looked at whole; `kontor verify` looks at any. */
function refuseDamaged(): void {
  if (connection.bytes > CHECKED_BYTES) return
  const [fault] = connection.integrity('quick_check')
  if (fault !== undefined)
    throw new Error(`database disk image is malformed: ${fault.replaceAll(/[\s*]+/g, ' ')}`)
}

function perform(job: Job): unknown {
  switch (job.op) {
    case 'open': {
      // Whoever asks tries again, and can be told to stop in between.
      connection.waitFor(OPEN_MS)
      refuseDamaged()
      const migrated = connection.migrate(job.now)
      let head: unknown[] | undefined
      // Not in one statement: what an update gives back comes as texts, and the head may be damaged.
      connection.transaction(() => {
        connection.run(RAISE_EPOCH, [])
        ;[head] = connection.query(READ_HEAD, [])
      })
      connection.waitFor(BUSY_MS)
      return { migrated, head }
    }
    case 'commit':
      if (sealer === undefined) throw new TypeError('nobody said what this batch is sealed behind')
      connection.commit(job.batch, sealer.seal(job.batch), job.epoch)
      return sealer.hash
    case 'sealBehind': {
      const sums = new Sums(job.key, job.schema)
      sums.setAll(job.sums)
      sealer = new Sealer(job.hash, sums)
      return null
    }
    case 'query':
      return connection.query(job.sql, job.values)
    case 'close':
      connection.close()
      return null
  }
}
