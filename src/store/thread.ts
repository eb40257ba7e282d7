import { MessageChannel, Worker, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { besideUs } from '../places.ts'
import type { Progress } from './follower.ts'
import type { Fault, Job, Place, Ports, Reply, RestJob } from './messages.ts'
import { Fenced, StoreDamaged, StoreLost, StoreUnavailable } from './store.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}
/** Hears how far a follower has got, and that it has ended. */
export interface Listener {
  readonly progress?: (progress: Progress) => void
  readonly ended?: (error: Error) => void
  readonly away?: (away: boolean) => void
}
export type Role = 'journal' | 'follower' | 'stager' | 'writer' | 'reader'
/** What stands between two threads. */
export interface Between {
  /** Handed to it: the one behind it. */
  readonly port?: MessagePort
  /** Jobs pass through a thread that readies them. */
  readonly sealer?: boolean
  /** It answers by a port of its own, which can be looked at: see `hear`. */
  readonly answers?: boolean
}
/** What it reads is handed on at once: room for young values would only be filled, a start with many rows long. */
const READER_YOUNG_MB = 2

function errorOf({ kind, error, code }: Fault): Error {
  if (kind === 'fenced') return new Fenced()
  if (kind === 'damaged') return new StoreDamaged(error)
  if (kind === 'lost') return new StoreLost(error)
  return kind === 'unavailable' ? new StoreUnavailable(error) : Object.assign(new Error(error), { code })
}

/** Another thread's end of a worker. A thread that has ended fails every job, at once. */
export class StoreThread<J extends Job> {
  private readonly worker: Worker
  /** Whom jobs are given to. */
  private first: Worker
  private answers: MessagePort | undefined
  private readonly pending = new Map<number, Pending>()
  private readonly listener: Listener
  private lastId = 0
  private ended: Error | undefined
  private resting: (() => void) | undefined

  constructor(
    role: Role,
    place: Place,
    { port, sealer = false, answers = false }: Between = {},
    listener: Listener = {},
  ) {
    this.listener = listener
    this.worker = new Worker(besideUs(`./store/${role}-worker.js`), {
      workerData: place,
      ...(role === 'reader' && { resourceLimits: { maxYoungGenerationSizeMb: READER_YOUNG_MB } }),
    })
    this.first = this.worker
    if (port !== undefined) {
      const handed: Ports = {
        port,
        jobs: sealer ? this.putInFront() : undefined,
        answers: answers ? this.listen() : undefined,
      }
      const { jobs, answers: told } = handed
      this.worker.postMessage(
        handed,
        [port, jobs, told].filter((one) => one !== undefined),
      )
    }
    this.follow(this.worker)
  }
  /** Where jobs come from then. */
  private putInFront(): MessagePort {
    const { port1: journal, port2: jobs } = new MessageChannel()
    this.first = new Worker(besideUs('./store/sealer-worker.js'), {
      workerData: { journal },
      transferList: [journal],
    })
    this.follow(this.first)
    return jobs
  }
  private listen(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.answers = port1
    port1.on('message', (reply: Reply) => this.take(reply))
    return port2
  }
  private follow(worker: Worker): void {
    worker.on('message', (reply: Reply) => this.take(reply))
    worker.on('error', (error) =>
      this.end(new StoreLost(`the store thread failed: ${String(error)}`, { cause: error })),
    )
    worker.on('exit', () => this.end(new StoreLost('the store thread has ended')))
  }
  get failure(): Error | undefined {
    return this.ended
  }
  ask(job: J): Promise<unknown> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    if (this.resting !== undefined) return new Promise(() => undefined)
    return this.give(job)
  }
  private give(job: J | RestJob): Promise<unknown> {
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject })
      this.first.postMessage({ ...job, id })
    })
  }
  /**
   * Before the process exits in the middle of things: no other job is begun, and what is under way is finished, because a
   * thread that is ended inside SQLite takes the whole process down with a fault of its own. So is one that is still opening
   * the file: it answers when it has.
   */
  rest(): Promise<void> {
    if (this.ended !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.resting = resolve
      this.give({ op: 'rest' }).catch(() => undefined)
    })
  }
  async close(): Promise<void> {
    if (this.ended === undefined) await this.ask({ op: 'close' } as J)
    await Promise.all([this.worker.terminate(), this.first.terminate()])
  }
  /** What it has answered meanwhile is taken in at once, not in the next turn of the loop: whether there was anything. */
  hear(): boolean {
    let heard = false
    if (this.answers === undefined) return heard
    for (let next; (next = receiveMessageOnPort(this.answers)) !== undefined; heard = true)
      this.take((next as { readonly message: Reply }).message)
    return heard
  }
  private take(reply: Reply): void {
    if ('progress' in reply) this.listener.progress?.(reply.progress)
    else if ('away' in reply) this.listener.away?.(reply.away)
    else if ('lost' in reply)
      this.end(
        reply.lost.kind === 'fenced'
          ? new Fenced()
          : new StoreLost(`the tables can't be written: ${reply.lost.error}`),
      )
    else {
      const job = this.pending.get(reply.id)
      this.pending.delete(reply.id)
      if ('result' in reply) job?.resolve(reply.result)
      else job?.reject(errorOf(reply))
      if (this.pending.size === 0) this.resting?.()
    }
  }
  private end(error: Error): void {
    // What it said last may come behind the word that it is gone.
    this.hear()
    this.ended ??= error
    for (const job of this.pending.values()) job.reject(this.ended)
    this.pending.clear()
    this.answers?.close()
    this.resting?.()
    this.listener.ended?.(this.ended)
  }
}
