import { Worker } from 'node:worker_threads'
import type { Job, Reply } from './sqlite-worker.ts'
import { Fenced, StoreLost, StoreUnavailable } from './store.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

function errorOf({ kind, error }: Extract<Reply, { kind: string }>): Error {
  if (kind === 'fenced') return new Fenced()
  return kind === 'unavailable' ? new StoreUnavailable(error) : new Error(error)
}

/** The main thread's end of a worker that runs SQLite. A thread that has ended fails every job, at once. */
export class SqliteThread {
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private lastId = 0
  private ended: Error | undefined

  constructor(path: string) {
    this.worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), { workerData: { path } })
    this.worker.on('message', (reply: Reply) => {
      const job = this.pending.get(reply.id)
      this.pending.delete(reply.id)
      if ('result' in reply) job?.resolve(reply.result)
      else job?.reject(errorOf(reply))
    })
    this.worker.on('error', (error) =>
      this.end(new StoreLost(`the store thread failed: ${String(error)}`, { cause: error })),
    )
    this.worker.on('exit', () => this.end(new StoreLost('the store thread has ended')))
  }
  get failure(): Error | undefined {
    return this.ended
  }
  ask(job: Job): Promise<unknown> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject })
      this.worker.postMessage({ ...job, id })
    })
  }
  async close(): Promise<void> {
    if (this.ended === undefined) await this.ask({ op: 'close' })
    await this.worker.terminate()
  }
  private end(error: Error): void {
    this.ended ??= error
    for (const job of this.pending.values()) job.reject(this.ended)
    this.pending.clear()
  }
}
