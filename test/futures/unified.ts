import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
import type { Tx } from '../../src/machine/table.ts'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import {
  LIQUIDATION_STEP,
  type LiquidationStep,
  type LoanRecord,
} from '../../src/core/tables/unified/records.ts'
import { figuresOf } from '../../src/core/unified/portfolio.ts'
import type { RiskFigures } from '../../src/core/risk/risk.ts'
import type { AccountName } from '../../src/core/ledger/accounts.ts'
import { format } from '../../src/money/amount.ts'
import { Floor } from './floor.ts'
import { CONTRACTS } from './world.ts'
import type { ContractConfig } from '../../src/core/tables/world/contracts.ts'

export const NO_SETTINGS = { usdt_futures: null, spot_hedge: null, use_funding: null, options: null } as const
export type UnifiedMode = Exclude<Mode, 'classic'>
type Funds = Readonly<Record<string, string>>

/** A floor with lending pools, unified accounts and the watcher that looks at them. */
export class UnifiedFloor extends Floor {
  readonly watch = new RiskWatch(this.state)
  readonly steps: LiquidationStep[] = []
  readonly records: LoanRecord[] = []

  constructor(contracts: readonly ContractConfig[] = Object.values(CONTRACTS)) {
    super(contracts)
    this.must('lending.begin', { seed: true })
    this.state.margin.records.observe((before, after) => {
      if (before === undefined && after !== undefined) this.records.push(after)
    })
  }
  protected override applied(tx: Tx): void {
    super.applied(tx)
    const steps = this.steps as LiquidationStep[] | undefined
    steps?.push(...tx.appendedTo(LIQUIDATION_STEP))
  }
  settings(mode: UnifiedMode, spot_hedge = false) {
    if (mode === 'multi_currency') return { ...NO_SETTINGS, usdt_futures: true }
    return mode === 'portfolio' ? { ...NO_SETTINGS, spot_hedge } : NO_SETTINGS
  }
  member(mode: UnifiedMode, funds: Funds, spot_hedge = false): number {
    const user_id = this.user(funds)
    this.must('margin.mode', { user_id, mode, settings: this.settings(mode, spot_hedge) })
    return user_id
  }
  /** Everything that is due by now, and everybody whom the watcher finds. */
  quiet(): void {
    for (let round = 0; ; round++) {
      if (round > 3_000) throw new Error('due work without end')
      const item = this.state.due.next()
      if (item !== undefined && item.at <= this.at) {
        this.runItem(item)
        continue
      }
      if (this.look() === 0) return
    }
  }
  protected override runItem(item: Parameters<Floor['runItem']>[0]): void {
    super.runItem(item)
    this.look()
  }
  /** As the watcher does each tenth of a second. Tells how many it handed on. */
  look(): number {
    const { found } = this.watch.suspects(500)
    if (found.length > 0) this.must('margin.check', { accounts: found })
    return found.length
  }
  risk(user: number): RiskFigures {
    return figuresOf(this.state, user, 'unified')
  }
  balance(user: number, currency: string, name: AccountName = 'spot'): string {
    return format(this.state.ledger.balance(user, name, currency))
  }
  transfer(
    user_id: number,
    currency: string,
    from: 'spot' | 'futures',
    to: 'spot' | 'futures',
    amount: string,
  ) {
    const rest = { currency_pair: null, settle: 'usdt' }
    const outcome = this.run('transfer.create', { user_id, currency, from, to, amount, ...rest })
    return 'label' in outcome ? outcome.label : 'moved'
  }
  /** To the account of dated contracts, which is classic always: a way out of what is unified. */
  moveOut(user_id: number, currency: string, amount: string): string {
    const to =
      currency === 'USDT'
        ? ({ to: 'delivery', currency_pair: null, settle: 'usdt' } as const)
        : ({ to: 'margin', currency_pair: `${currency}_USDT`, settle: null } as const)
    const outcome = this.run('transfer.create', { user_id, currency, from: 'spot', amount, ...to })
    return 'label' in outcome ? outcome.label : 'moved'
  }
  spot(user_id: number, side: 'buy' | 'sell', amount: string, price: string, more: Partial<NewOrder> = {}) {
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
    const outcome = this.run('spot.place', { user_id, order })
    return 'label' in outcome ? outcome.label : 'placed'
  }
  mode(user_id: number, mode: Mode, spot_hedge = false): string {
    const settings = mode === 'classic' ? NO_SETTINGS : this.settings(mode, spot_hedge)
    const outcome = this.run('margin.mode', { user_id, mode, settings })
    return 'label' in outcome ? outcome.label : 'done'
  }
}
