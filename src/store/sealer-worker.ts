import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { Sealer } from '../machine/sealer.ts'
import type { JournalJob, Numbered } from './messages.ts'
import { faultOf, post } from './worker.ts'

/**
 * Between the core's thread and the journal's: batches are written as text and sealed here, in their order, while the
 * journal waits for the disk. Every other job goes on as it is; the answers come from the journal.
 */
const { journal } = workerData as { readonly journal: MessagePort }
const sealer = new Sealer()
parentPort!.on('message', (job: Numbered<JournalJob>) => {
  try {
    if (job.op === 'sealBehind') sealer.sealBehind(job.behind.hash, job.behind.key)
    journal.postMessage(
      job.op === 'append' ? { op: 'appendSealed', entry: sealer.seal(job.batch), id: job.id } : job,
    )
  } catch (error) {
    post({ id: job.id, ...faultOf(error) })
  }
})
