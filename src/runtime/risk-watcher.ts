import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import { RiskWatch } from '../core/liquidation/watch.ts'
import type { Log } from './log.ts'

const TICK_MS = 100
/** Accounts looked at in one turn of the event loop, and handed on in one command: others wait for it. */
const LOOKS_MAX = 100

/** Follows prices and balances, and hands accounts that may have to be liquidated to the core. */
export class RiskWatcher {
  private readonly core: Core<State, Commands>
  private readonly log: Log
  private readonly watch: RiskWatch
  private timer: NodeJS.Timeout | undefined
  private running: Promise<number> | undefined

  constructor(core: Core<State, Commands>, log: Log) {
    this.core = core
    this.log = log
    this.watch = new RiskWatch(core.state)
  }
  start(): void {
    this.timer = setInterval(() => void this.step(), TICK_MS)
  }
  stop(): void {
    clearInterval(this.timer)
  }
  /** Looks at everything that has changed; tells how many accounts were handed on when that is on the disk. */
  step(): Promise<number> {
    return (this.running ??= this.work()
      .catch((error: unknown) => {
        this.log.error('the risk watcher failed', { error })
        return 0
      })
      .finally(() => (this.running = undefined)))
  }
  /** Before anything else happens: what is done at a moment depends on that moment alone. Undefined: nobody needs a look. */
  now(): Promise<number> | undefined {
    return this.watch.waits ? this.settle() : undefined
  }
  /** As step, but surely after what is now: a step under way may have passed it already. */
  async settle(): Promise<number> {
    const before = (await this.running) ?? 0
    return before + (await this.step())
  }
  private async work(): Promise<number> {
    let handed = 0
    while (this.core.held === undefined) {
      const { found, more } = this.watch.suspects(LOOKS_MAX)
      if (found.length > 0)
        await this.core
          .submit('margin.check', { accounts: found.map(({ user_id, scope }) => ({ user_id, scope })) })
          .catch((error: unknown) => {
            this.watch.again(found)
            throw error
          })
      handed += found.length
      if (!more) return handed
      await new Promise((resolve) => setImmediate(resolve))
    }
    return handed
  }
}
