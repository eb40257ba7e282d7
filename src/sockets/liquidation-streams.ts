import { liquidationView } from '../api/futures/perpetual-data.ts'
import type { Look } from '../api/futures/order-views.ts'
import { LIQUIDATE, type Liquidate } from '../core/tables/futures/records.ts'
import type { CommandRows } from '../events/rows.ts'
import { pushFrame } from './envelope.ts'
import { numberOf, recordText } from './numbers.ts'
import { Pacer } from './pacer.ts'
import type { Begin } from './stream.ts'

const PACE_MS = 1_000
const CHANNEL = 'futures.public_liquidates'

/** Orders that liquidate positions, as everybody is told of them: of a contract one a second at most, the newest. */
export class LiquidationStreams {
  private readonly now: () => number
  private readonly listeners = new Map<string, Set<(row: Liquidate) => void>>()

  constructor(now: () => number) {
    this.now = now
  }
  hear(rows: CommandRows): void {
    if (this.listeners.size === 0) return
    for (const row of rows.appendedTo(LIQUIDATE))
      for (const tell of this.listeners.get(row.contract) ?? []) tell(row)
  }
  /** Of one contract, by its id. */
  readonly of =
    (contract: string, look: Look): Begin =>
    (outlet) => {
      let newest: Liquidate | undefined
      const pacer = new Pacer(PACE_MS, () => outlet.publish(this.frame(newest!, look)))
      const hear = (row: Liquidate): void => {
        newest = row
        pacer.mark()
      }
      let set = this.listeners.get(contract)
      if (set === undefined) this.listeners.set(contract, (set = new Set()))
      set.add(hear)
      return Promise.resolve({
        pace: 'each',
        first: () => undefined,
        close: () => {
          pacer.stop()
          set.delete(hear)
          if (set.size === 0) this.listeners.delete(contract)
        },
      })
    }
  private frame(row: Liquidate, look: Look): string {
    const { contract, order_price, order_size } = liquidationView(row, look)
    const record = {
      price: numberOf(order_price),
      size: order_size,
      time_ms: Math.floor(row.at / 1000),
      contract,
    }
    return pushFrame(this.now(), CHANNEL, `[${recordText(record)}]`)
  }
}
