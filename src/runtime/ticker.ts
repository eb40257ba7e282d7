import { Refusal, refuse } from '../labels.ts'
import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import type { DueItem } from '../core/tables/due.ts'
import type { State } from '../core/state.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const TICK_MS = 200
/** Items of one tick; the rest waits for the next. */
const ITEMS_MAX = 5_000
/** Items applied before their commits are waited for: requests get their turn in between. */
const WAITING_MAX = 100
/** And however few they are, no longer than this. */
const TURN_MS = 50

interface Ran {
  readonly ran: number
  readonly failed: number
  /** The item at which it had to stop, because the core takes nothing at the moment. */
  readonly stuck?: DueItem
}

/** Runs what falls due, in the order of its time, each item as a command of its own. */
export class Ticker {
  private readonly core: Core<State, Commands>
  private readonly clock: Clock
  private readonly log: Log
  private timer: NodeJS.Timeout | undefined
  private busy = false
  /** Told of each item that ran: work outside the core goes on before the clock moves further. */
  private readonly ran: (item: DueItem) => Promise<unknown> | undefined
  /** Asked about each item first: a driver outside the core may take it, and do it by a command of its own at once. */
  private readonly take: (item: DueItem) => Promise<unknown> | undefined

  constructor(
    core: Core<State, Commands>,
    clock: Clock,
    log: Log,
    ran: (item: DueItem) => Promise<unknown> | undefined = () => undefined,
    take: (item: DueItem) => Promise<unknown> | undefined = () => undefined,
  ) {
    this.ran = ran
    this.take = take
    this.core = core
    this.clock = clock
    this.log = log
  }
  start(): void {
    this.timer = setInterval(() => {
      if (!this.busy) void this.runNow()
    }, TICK_MS)
  }
  stop(): void {
    clearInterval(this.timer)
  }
  /** Whether the clock is being moved: what happens then depends on its time alone, not on how long the move takes. */
  get moving(): boolean {
    return this.busy
  }

  /** Runs what is due at this moment; tells how many items, when they are on the disk. */
  async runNow(): Promise<number> {
    if (this.core.held !== undefined) return 0
    return (await this.runDue(this.clock.peek(), ITEMS_MAX)).ran
  }
  /**
   * Moves the clock to a later moment. Everything due on the way happens first, at its own time. Tells how many
   * items failed and were put aside; refuses when it could not get there.
   */
  async advanceTo(target: number, operator: string): Promise<number> {
    this.busy = true
    try {
      const { failed, stuck } = await this.runDue(target, Infinity)
      if (stuck !== undefined) {
        const seconds = (micros: number): number => Math.floor(micros / 1e6)
        refuse(
          'TOO_BUSY',
          `the clock could not move to ${seconds(target)}: ${stuck.command} was due at ${seconds(stuck.at)} and could not be done; it stands at ${seconds(this.clock.peek())}, send it again`,
        )
      }
      // A move that is not recorded must not have happened.
      if (this.core.held !== undefined) refuse('TOO_BUSY', this.core.held)
      this.clock.distance = this.clock.distanceTo(target)
      await this.core.submit('clock.set', { offset: this.clock.distance, actor: operator })
      return failed
    } finally {
      this.busy = false
    }
  }

  private async runDue(until: number, itemsMax: number): Promise<Ran> {
    let last: Promise<unknown> = Promise.resolve()
    let failed = 0
    let ran = 0
    let since = performance.now()
    for (; ran < itemsMax; ran++) {
      const item = this.core.state.due.next()
      if (item === undefined || item.at > until) break
      if (item.at > this.clock.peek()) this.clock.distance = this.clock.distanceTo(item.at)
      // A command is applied when it is submitted; waiting for its commit each time would only be slow.
      const run = this.run(item).then(
        () => undefined,
        (error: unknown) => error,
      )
      last = run
      if (this.core.state.due.table.get(item.id) !== undefined) {
        const error = await run
        // A refusal from outside the item: the core is too busy, or stopping. Anything else is the item's own fault.
        if (error instanceof Refusal || !(await this.setAside(item, error)))
          return { ran, failed, stuck: item }
        failed++
        continue
      }
      const outside = this.ran(item)
      if (outside !== undefined) await outside
      if (this.core.waiting > WAITING_MAX || performance.now() - since > TURN_MS) {
        await last
        since = performance.now()
      }
    }
    await last
    return { ran, failed }
  }
  /** Applied when this returns, whoever does it. */
  private async run(item: DueItem): Promise<void> {
    const taken = this.take(item)
    if (taken !== undefined) {
      await taken
      return
    }
    const { refused } = await this.core.submit('due.run', { id: item.id })
    if (refused !== null) this.log.warn('due work was refused', { command: item.command, refused })
  }
  private async setAside(item: DueItem, error: unknown): Promise<boolean> {
    if (this.core.state.due.table.get(item.id) === undefined) return true
    this.log.error('due work failed and was put aside; GET /operator/v1/due lists it', {
      id: item.id,
      command: item.command,
      error,
    })
    return this.core
      .submit('due.set_aside', { id: item.id, error: error instanceof Error ? error.message : String(error) })
      .then(
        () => true,
        () => false,
      )
  }
}
