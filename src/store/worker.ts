import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { Answers, Fault, Job, Numbered, Place, Reply } from './messages.ts'
import { Fenced, StoreDamaged, StoreLost, StoreUnavailable } from './store.ts'

/** A worker's end of its thread. */
const port = parentPort!
export const place = workerData as Place

/** Works without being asked to, or is asked by others than this thread's owner. */
export interface Busy {
  /** Where jobs come from; left out: from whoever made this thread. */
  readonly jobs?: MessagePort | undefined
  /** Where answers go; left out: to whoever made this thread. */
  readonly answers?: MessagePort | undefined
  /** What it does by itself ends, for good. */
  readonly rest?: () => Promise<void>
}
/** Answers jobs one by one, in their order where they come back at once. */
export function answerJobs<J extends Job>(
  doing: Answers<J>,
  { jobs = port, answers = port, rest = () => Promise.resolve() }: Busy = {},
): void {
  jobs.on('message', (message: Numbered<J>) => {
    const { id } = message
    const failed = (error: unknown): void => answers.postMessage({ id, ...faultOf(error) } satisfies Reply)
    const done = (result: unknown): void => {
      answers.postMessage({ id, result } satisfies Reply)
      if (message.op !== 'close') return
      for (const one of new Set([port, jobs, answers])) one.close()
    }
    try {
      const result = message.op === 'rest' ? rest() : answerOf(doing, message)
      if (result instanceof Promise) result.then(done, failed)
      else done(result)
    } catch (error) {
      failed(error)
    }
  })
}
const answerOf = <J extends Job>(doing: Answers<J>, job: J): unknown =>
  (doing[job.op as J['op']] as (job: J) => unknown)(job)
export const post = (reply: Reply): void => port.postMessage(reply)

/** The errors of a binding do not survive the way between threads. */
export function faultOf(error: unknown): Fault {
  const kind = kindOf(error)
  const { code } = error as { readonly code?: string }
  return { kind, code, error: kind === 'other' ? String(error) : (error as Error).message }
}
function kindOf(error: unknown): Fault['kind'] {
  if (error instanceof Fenced) return 'fenced'
  if (error instanceof StoreDamaged) return 'damaged'
  if (error instanceof StoreLost) return 'lost'
  return error instanceof StoreUnavailable ? 'unavailable' : 'other'
}
export function made<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new Error((error as Error).message)
  }
}
/** Told apart from a job's own failure: nothing more can be done here. */
export function lose(error: unknown): void {
  post({ lost: faultOf(error) })
}
