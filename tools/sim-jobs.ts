import { fork, type ChildProcess } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { history, type Done, type Task } from './sim-history.ts'

/** One who runs histories, one after the other. Rejects where the process that did it is gone. */
export interface Runner {
  run(task: Task): Promise<Done>
  /** No more of what is under way than it takes to look at everything once more. */
  stop(): void
  end(): void
}
type Message = { readonly done: Done; readonly resident: number } | { readonly line: string }
const SCRIPT = fileURLToPath(new URL('./sim.js', import.meta.url))
/** What the binding of the database gives back late adds up: a process that holds more makes room for a fresh one. */
const RESIDENT_MAX = 1.5 * 2 ** 30
/** So much of a folder in memory is enough for each. */
const ROOM = 256 * 2 ** 20

/** In this process. */
export class Here implements Runner {
  private stopped = false
  run(task: Task): Promise<Done> {
    return history(
      task,
      (line) => console.log(line),
      () => this.stopped,
    )
  }
  stop(): void {
    this.stopped = true
  }
  end(): void {
    return undefined
  }
}
/** In a process of its own, with a heap that suits many short-lived rows. */
export class Elsewhere implements Runner {
  private child: ChildProcess | undefined
  private readonly env: NodeJS.ProcessEnv

  constructor(jobs: number) {
    this.env = { ...process.env, ...memoryFolder(jobs) }
  }
  run(task: Task): Promise<Done> {
    const child = (this.child ??= fork(SCRIPT, ['--worker'], {
      env: this.env,
      execArgv: ['--max-semi-space-size=32'],
    }))
    return new Promise((resolve, reject) => {
      const heard = (message: unknown): void => {
        const told = message as Message
        if ('line' in told) {
          console.log(told.line)
          return
        }
        child.off('exit', gone).off('message', heard)
        if (told.resident > RESIDENT_MAX) this.end()
        resolve(told.done)
      }
      const gone = (code: number | null, signal: string | null): void => {
        this.child = undefined
        reject(new Error(`its process ended with ${signal ?? code ?? 'nothing'}`))
      }
      child.on('message', heard).once('exit', gone).send(task)
    })
  }
  stop(): void {
    this.child?.kill('SIGTERM')
  }
  end(): void {
    this.child?.disconnect()
    this.child = undefined
  }
}
/** Files that nobody keeps lie in memory where there is room: a sync costs nothing there. */
function memoryFolder(jobs: number): { TMPDIR?: string } {
  if (process.env['TMPDIR'] !== undefined) return {}
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize >= jobs * ROOM ? { TMPDIR: '/dev/shm' } : {}
  } catch {
    return {}
  }
}
/** What such a process does: whatever it is sent, until nobody sends any more. */
export function work(): void {
  let stopped = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stopped = true))
  const send = (message: Message): void => void process.send!(message)
  process.on('message', (task: Task) => {
    void history(
      task,
      (line) => send({ line }),
      () => stopped,
    ).then((done) => send({ done, resident: process.memoryUsage.rss() }))
  })
  process.on('disconnect', () => process.exit())
}
