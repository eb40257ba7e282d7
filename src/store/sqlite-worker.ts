import { parentPort, workerData } from 'node:worker_threads'
import type { PackedBatch, TableText } from '../core/batch.ts'
import { Sealer } from '../core/sealer.ts'
import { Sums } from '../core/sums.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { Fenced, type Value } from './store.ts'

/** Runs SQLite off the main thread, where its commits would hold up every request. */
export type Job =
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
  | { readonly id: number; readonly error: string; readonly fenced: boolean }

const { path } = workerData as { path: string }
const connection = new SqliteConnection(path)
const port = parentPort!
let sealer: Sealer | undefined

port.on('message', (message: Job & { readonly id: number }) => {
  let reply: Reply
  try {
    reply = { id: message.id, result: perform(message) }
  } catch (error) {
    reply = { id: message.id, error: String(error), fenced: error instanceof Fenced }
  }
  port.postMessage(reply)
  if (message.op === 'close') port.close()
})

function perform(job: Job): unknown {
  switch (job.op) {
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
