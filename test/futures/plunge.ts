import assert from 'node:assert/strict'
import { scoredQueue } from '../../src/core/futures/ranking.ts'
import type { DueItem } from '../../src/core/tables/due.ts'
import { AUTO_DELEVERAGE, LIQUIDATE, type AutoDeleverage } from '../../src/core/tables/futures/records.ts'
import type { Scored } from '../../src/core/tables/futures/rankings.ts'
import type { Tx } from '../../src/machine/table.ts'
import { random } from '../spot/compare.ts'
import { Floor } from './floor.ts'
import { prove } from './prove.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

const START = 60_000
const LEVERAGES = ['0', '5', '10', '20', '50', '100'] as const

/** Many leveraged positions on both sides, a thin book below them, and a price that falls. */
export class Plunge extends Floor {
  liquidations = 0
  readonly deleveraged: AutoDeleverage[] = []
  private readonly bystander: number
  private readonly maker: number
  /** Contracts that are bid for each second, a little below the price: a part of what must be sold on the way. */
  private readonly bid: number
  private resting = 0
  /** Whether each deleveraging is held against the queue as it was before. */
  ranked = false

  constructor(positions: number, seed = 1) {
    super()
    const below = random(seed)
    let contracts = 0
    for (let i = 0; i < positions / 2; i++) {
      const size = 10 + below(500)
      contracts += size
      const [short, long] = [this.trader(size, below), this.trader(size, below)]
      this.place(short, BTC_USDT, -size, String(START))
      this.place(long, BTC_USDT, size, String(START))
    }
    this.maker = this.holder('100000000')
    this.bid = Math.max(1, Math.floor(contracts / 60 / 4))
    this.bystander = this.holder('1000000')
  }
  /** Cross or isolated, with a little more than what opening takes. */
  private trader(size: number, below: (most: number) => number): number {
    const leverage = LEVERAGES[below(LEVERAGES.length)]!
    const margin = (size * 0.0001 * START) / (leverage === '0' ? 10 : Number(leverage))
    const user = this.holder((margin * (1.1 + below(50) / 100) + size * 0.02).toFixed(2))
    this.leverage(user, BTC_USDT, leverage)
    return user
  }
  protected override applied(tx: Tx): void {
    super.applied(tx)
    this.liquidations += tx.appendedTo(LIQUIDATE).length
    const rows = tx.appendedTo(AUTO_DELEVERAGE)
    ;(this.deleveraged as AutoDeleverage[] | undefined)?.push(...rows)
  }
  /** One second after the other, to a price; `between` is called after every command. */
  fall(to: number, seconds: number, between: () => void = () => undefined): void {
    const from = Number(this.mark())
    for (let second = 1; second <= seconds; second++) {
      const price = Math.round(from + ((to - from) * second) / seconds)
      this.between = between
      this.place(this.maker, BTC_USDT, this.bid, String(price - 50))
      between()
      this.index({ BTC: String(price) })
      between()
      this.advance(1)
    }
    this.settle()
  }
  /** Until nothing is left to do at once. */
  settle(): void {
    for (let i = 0; i < 120 && this.busy; i++) this.advance(1)
    assert.ok(!this.busy, 'somebody is still being liquidated')
  }
  private get busy(): boolean {
    for (const row of this.state.futures.positions.heldIn(BTC_USDT))
      if (row.user_id !== 0 && row.liquidating !== 0) return true
    for (const { liquidating } of this.state.futures.accounts.table.values())
      if (liquidating !== 0) return true
    return false
  }
  private between: () => void = () => undefined
  protected override runItem(item: DueItem): void {
    const before = this.ranked ? this.queue() : []
    const first = this.deleveraged.length
    super.runItem(item)
    if (this.ranked) proveRanked(before, this.deleveraged.slice(first))
    this.between()
  }
  /** Those who win by a fall. */
  private queue(): Scored[] {
    return scoredQueue(this.state, this.contract(BTC_USDT), false)
  }
  /** Somebody who has nothing to do with it places an order elsewhere, or takes the last one back. */
  order(): void {
    if (this.resting === 0) this.resting = this.place(this.bystander, ETH_USDT, 1, '2900').id
    else {
      this.must('futures.cancel', { ...this.path(this.bystander, ETH_USDT), id: this.resting })
      this.resting = 0
    }
  }
  prove(): void {
    prove(this.state, { quiet: true })
  }
}
/** Who gave up something stood before everybody who did not, and only the last of them kept a part. */
function proveRanked(before: readonly Scored[], taken: readonly AutoDeleverage[]): void {
  const places = taken.map(({ user_id }) => before.findIndex((row) => row.user_id === user_id))
  for (const [i, place] of places.entries()) {
    assert.ok(place !== -1, 'he was in the queue')
    if (i > 0) assert.ok(place > places[i - 1]!, 'in the order of the queue')
    if (i < taken.length - 1) assert.equal(taken[i]!.position_size, 0n, 'all of it, before the next one')
  }
}
