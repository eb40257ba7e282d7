import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { JournalChain } from '../machine/journal.ts'
import { Packer } from '../machine/loose.ts'
import type { JournalJob, Numbered } from './messages.ts'
import { faultOf, post } from './worker.ts'

/**
 * Between the core's thread and the journal's: batches are written as text and sealed here, in their order, while the
 * journal waits for the disk. Every other job goes on as it is; the answers come from the journal.
 */
const { journal } = workerData as { readonly journal: MessagePort }
const packer = new Packer()
let chain: JournalChain | undefined

function ready(job: Numbered<JournalJob>): Numbered<JournalJob> {
  if (job.op === 'sealBehind') chain = new JournalChain(job.behind.hash, job.behind.key)
  if (job.op !== 'append') return job
  if (chain === undefined) throw new TypeError('nobody said what this batch is sealed behind')
  return { op: 'appendSealed', entry: chain.seal(packer.pack(job.batch)), id: job.id }
}
parentPort!.on('message', (job: Numbered<JournalJob>) => {
  try {
    journal.postMessage(ready(job))
  } catch (error) {
    post({ id: job.id, ...faultOf(error) })
  }
})
