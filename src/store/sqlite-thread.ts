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

/** Jobs of all threads that are under way, and what waits for their end. */
let underWay = 0
let leaving: (() => void) | undefined
/**
 * Before the process exits in the middle of things: no thread begins another job, and those under way are finished,
 * because a thread that is ended inside SQLite takes the whole process down with a fault of its own.
 */
export const threadsAtRest = (): Promise<void> =>
  new Promise((resolve) => {
    leaving = resolve
    if (underWay === 0) resolve()
  })
function ended(): void {
  if (--underWay === 0) leaving?.()
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
      if (this.pending.delete(reply.id)) ended()
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
    if (leaving !== undefined) return new Promise(() => undefined)
    const id = ++this.lastId
    underWay++
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
    for (const job of this.pending.values()) {
      ended()
      job.reject(this.ended)
    }
    this.pending.clear()
  }
}
