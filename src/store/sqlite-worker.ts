import { parentPort, workerData } from 'node:worker_threads'
import type { PackedBatch, TableText } from '../core/batch.ts'
import { Sealer } from '../core/sealer.ts'
import { Sums } from '../core/sums.ts'
import { BUSY_MS, SqliteConnection } from './sqlite-connection.ts'
import { TAKE_EPOCH } from './statements.ts'
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

function perform(job: Job): unknown {
  switch (job.op) {
    case 'open': {
      // Whoever asks tries again, and can be told to stop in between.
      connection.waitFor(OPEN_MS)
      const migrated = connection.migrate(job.now)
      const [head] = connection.query(TAKE_EPOCH, [])
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
