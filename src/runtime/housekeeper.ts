import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import { TRADE_DAYS } from '../core/spot/old-trades.ts'
import { CONTRACT_TRADE, SPOT_TRADE } from '../core/tables/exchange/trades.ts'
import type { State } from '../core/state.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const EVERY_MS = 3_600_000
/** Trades of one command. */
const CHUNK = 1_000
const KEPT = [
  [SPOT_TRADE, 'spot.trades.forget'],
  [CONTRACT_TRADE, 'futures.trades.forget'],
] as const

/** Takes out of the store what is kept for a time only. */
export class Housekeeper {
  private readonly core: Core<State, Commands>
  private readonly store: Store
  private readonly clock: Clock
  private readonly log: Log
  private timer: NodeJS.Timeout | undefined
  private stopped = false

  constructor(parts: { core: Core<State, Commands>; store: Store; clock: Clock; log: Log }) {
    this.core = parts.core
    this.store = parts.store
    this.clock = parts.clock
    this.log = parts.log
  }
  start(): void {
    this.stopped = false
    this.timer = setInterval(() => {
      this.sweep().catch((error: unknown) => this.log.warn('old trades were not removed', { error }))
    }, EVERY_MS)
  }
  stop(): void {
    clearInterval(this.timer)
    this.stopped = true
  }
  /** Tells how many trades it removed. */
  async sweep(): Promise<number> {
    let removed = 0
    const before = this.clock.peek() - TRADE_DAYS * 86_400e6
    for (const [table, forget] of KEPT)
      for await (const pair of this.pairsIn(table))
        for (let more = true; more;) {
          const where = 'where "pair" = ? and "at" < ? order by "at", "id" limit ?'
          const old = await this.store.select(table, where, [pair, before, CHUNK])
          // A reset may have come in between: the same ids are other trades then. What is held back is for later.
          if (this.stopped || this.core.held !== undefined) return removed
          if (old.length > 0) await this.core.submit(forget, { ids: old.map(({ id }) => id) })
          removed += old.length
          more = old.length === CHUNK
        }
    return removed
  }
  /** All that were ever traded: contracts end, and markets go. One step in the index for each. */
  private async *pairsIn({ name }: { readonly name: string }): AsyncGenerator<string> {
    const sql = `select "pair" from "${name}" where "pair" > ? order by "pair" limit 1`
    for (let last = ''; ;) {
      const [row] = (await this.store.query(sql, [last])) as [string][]
      if (row === undefined) return
      yield (last = row[0])
    }
  }
}
