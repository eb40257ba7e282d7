import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformProcess } from './process.ts'

/** A process that is started again whenever it ends, as a supervisor of a real machine does it. */
export class Supervised {
  /** How every one of them ended, in order: a code, or null for a signal. */
  readonly exits: { readonly code: number | null; readonly at: number }[] = []
  readonly name: string
  process: PlatformProcess
  private readonly env: Record<string, string>
  private readonly args: readonly string[]
  private readonly pauseMs: number
  private ended = false
  private watching: Promise<void>
  /** What was logged by those that ended. */
  private earlier = ''
  constructor(name: string, env: Record<string, string>, args: readonly string[], pauseMs = 300) {
    this.name = name
    this.env = env
    this.args = args
    this.pauseMs = pauseMs
    this.process = PlatformProcess.launch(env, args)
    this.watching = this.watch()
    // Nobody is left behind when the tests end in the middle.
    process.once('exit', () => this.process.child.kill('SIGKILL'))
  }
  get log(): string {
    return this.earlier + this.process.errors
  }
  /** Of the one that runs now: it is killed, and the next one comes by itself. */
  signal(name: NodeJS.Signals): void {
    this.process.child.kill(name)
  }
  /** Resolves when the one that runs now has ended. */
  async end(ms = 20_000): Promise<number | null> {
    const timer = sleep(ms, 'late' as const, { ref: false })
    const code = await Promise.race([this.process.exit, timer])
    if (code === 'late') throw new Error(`${this.name} did not end in ${ms} ms: ${this.log.slice(-2000)}`)
    return code
  }
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.ended = true
    this.process.child.kill('SIGCONT')
    this.process.child.kill(signal)
    await this.watching
  }
  private async watch(): Promise<void> {
    for (;;) {
      const code = await this.process.exit
      this.exits.push({ code, at: performance.now() })
      this.earlier += this.process.errors
      if (this.ended) return
      await sleep(this.pauseMs)
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set while it slept
      if (this.ended) return
      this.process = PlatformProcess.launch(this.env, this.args)
    }
  }
}
