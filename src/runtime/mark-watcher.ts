import type { Commands } from '../core/commands.ts'
import { movedMarks } from '../core/futures/prices.ts'
import type { State } from '../core/state.ts'
import type { Core } from '../machine/core.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const TICK_MS = 1_000

/** Time alone moves the mark of a contract: where somebody holds it, the core is told, once a second at most. */
export class MarkWatcher {
  private readonly core: Core<State, Commands>
  private readonly clock: Clock
  private readonly log: Log
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined

  private readonly isMoving: () => boolean

  constructor(core: Core<State, Commands>, clock: Clock, log: Log, isMoving: () => boolean) {
    this.core = core
    this.isMoving = isMoving
    this.clock = clock
    this.log = log
  }
  start(): void {
    this.timer = setInterval(() => {
      // A move passes through every minute by itself, and ends with a step.
      if (!this.isMoving()) void this.step()
    }, TICK_MS)
  }
  stop(): void {
    clearInterval(this.timer)
  }
  /** Resolves when what has moved is on the disk. */
  step(): Promise<void> {
    return (this.running ??= this.work()
      .catch((error: unknown) => this.log.warn('the marks of contracts stay as they were', { error }))
      .finally(() => (this.running = undefined)))
  }
  private async work(): Promise<void> {
    if (this.core.held !== undefined || this.core.writesStopped !== undefined) return
    const contracts = movedMarks(this.core.state, this.clock.peek())
    if (contracts.length > 0) await this.core.submit('futures.mark', { contracts })
  }
}
