import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
import { SPOT_FILL, type Fill } from '../../src/core/tables/exchange/trades.ts'
import type { Tx } from '../../src/machine/table.ts'
import { LIQUIDATION_STEP, type LiquidationStep } from '../../src/core/tables/unified/records.ts'
import { Engine } from '../spot/engine.ts'

export const NO_SETTINGS = { usdt_futures: null, spot_hedge: null, use_funding: null, options: null } as const

/** The core's rules with filled lending pools, and short words for what borrowers do. */
export class Lender extends Engine {
  /** Every step of every liquidation. */
  readonly steps: LiquidationStep[] = []
  /** What their orders traded. */
  readonly liquidated: Fill[] = []
  constructor() {
    super()
    this.must('lending.begin', { seed: true })
  }
  protected override applied(tx: Tx): void {
    for (const step of tx.appendedTo(LIQUIDATION_STEP)) this.steps.push(step)
    for (const fill of tx.appendedTo(SPOT_FILL))
      if (fill.text.endsWith('liquidate')) this.liquidated.push(fill)
  }
  prices(prices: Readonly<Record<string, string>>): void {
    this.must('prices.set', { prices, actor: null })
  }
  unified(
    funds: Readonly<Record<string, string>>,
    mode: 'multi_currency' | 'portfolio' = 'multi_currency',
  ): number {
    const user_id = this.user(funds)
    this.must('margin.mode', { user_id, mode, settings: NO_SETTINGS })
    return user_id
  }
  loan(user_id: number, type: 'borrow' | 'repay', currency: string, amount: string, scope = 'unified') {
    const rest = { repaid_all: false, text: null, known_id: null }
    return this.run('margin.loan', { user_id, scope, currency, type, amount, ...rest })
  }
  place(user_id: number, side: 'buy' | 'sell', amount: string, price: string, more: Partial<NewOrder> = {}) {
    const order: NewOrder = {
      ...PLAIN,
      currency_pair: 'BTC_USDT',
      type: 'limit',
      side,
      amount,
      price,
      time_in_force: 'gtc',
      ...more,
    }
    return this.run('spot.place', { user_id, order })
  }
  /** Runs what is due up to a moment (microseconds), as the ticker would. */
  due(until: number = this.at): void {
    for (
      let item = this.state.due.next();
      item !== undefined && item.at <= until;
      item = this.state.due.next()
    ) {
      if (item.at > this.at) this.at = item.at
      this.must('due.run', { id: item.id })
    }
    if (until > this.at) this.at = until
  }
}
