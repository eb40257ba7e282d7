import { Sorted } from '../../sorted.ts'
import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../../machine/table.ts'
import type { RiskLevel } from '../../risk/levels.ts'
import { LOAN, LOAN_RECORD, RISK_ALERT, type Loan } from './records.ts'

export const MODES = ['classic', 'single_currency', 'multi_currency', 'portfolio'] as const
export type Mode = (typeof MODES)[number]
export const MODE_SETTINGS = ['usdt_futures', 'spot_hedge', 'use_funding', 'options'] as const
export type ModeSetting = (typeof MODE_SETTINGS)[number]
export type ModeSettings = Readonly<Partial<Record<ModeSetting, boolean>>>
/** Which settings belong to a mode. */
export const SETTINGS_OF: Readonly<Record<Mode, readonly ModeSetting[]>> = {
  classic: [],
  single_currency: [],
  multi_currency: ['usdt_futures', 'options', 'use_funding'],
  portfolio: ['spot_hedge', 'use_funding'],
}

/** How an account trades on margin. An account without a row is classic and has changed nothing. */
export interface MarginAccount {
  readonly user_id: number
  readonly mode: Mode
  readonly settings: ModeSettings
  /** 0: all currencies are collateral, 1: all but those listed. */
  readonly collateral_type: 0 | 1
  readonly not_collateral: readonly string[]
  /** Own leverage by currency, and by pair for isolated margin. */
  readonly leverage: Readonly<Record<string, string>>
  readonly pair_leverage: Readonly<Record<string, string>>
  readonly auto_repay: boolean
  readonly delta_neutral: boolean
  /** What is being liquidated: "unified", or pairs. */
  readonly locked: readonly string[]
}
export const MARGIN_ACCOUNT: TableSpec<MarginAccount> = {
  name: 'margin_account',
  key: ['user_id'],
  columns: {
    user_id: 'int',
    mode: 'text',
    settings: 'json',
    collateral_type: 'int',
    not_collateral: 'json',
    leverage: 'json',
    pair_leverage: 'json',
    auto_repay: 'bool',
    delta_neutral: 'bool',
    locked: 'json',
  },
  numbered: true,
}

/** Whether contracts settled in USDT are part of the unified account. */
export const holdsContracts = ({ mode, settings }: Pick<MarginAccount, 'mode' | 'settings'>): boolean =>
  mode === 'single_currency' ||
  mode === 'portfolio' ||
  (mode === 'multi_currency' && settings.usdt_futures === true)

export class MarginAccounts {
  readonly table = new Table(MARGIN_ACCOUNT)
  readonly loans = new Table(LOAN)
  readonly records = new Table(LOAN_RECORD)
  readonly alerts = new Table(RISK_ALERT)
  private readonly byUser = new GroupIndex(this.loans, (loan) => loan.user_id)
  readonly byText = new UniqueIndex(this.records, ({ user_id, text }) =>
    text === null ? undefined : `${user_id}/${text}`,
  )
  /** Keys of all loans, sorted: interest works through them in parts. */
  private readonly sorted = new Sorted<string>((one, other) => one < other)

  constructor() {
    this.loans.observe((before, after) => {
      if (before !== undefined && after !== undefined) return
      const key = this.loans.keyOf((after ?? before)!) as string
      if (after === undefined) this.sorted.remove(key)
      else this.sorted.add(key)
    })
  }
  get tables(): readonly unknown[] {
    return [this.table, this.loans, this.records, this.alerts]
  }
  /** The next loans after a key; "" begins. */
  loansAfter(key: string, count: number): Loan[] {
    const { items } = this.sorted
    let from = this.sorted.placeOf(key)
    if (items[from] === key) from++
    return items.slice(from, from + count).map((next) => this.loans.get(next)!)
  }
  of(userId: number): MarginAccount {
    return (
      this.table.get(userId) ?? {
        user_id: userId,
        mode: 'classic',
        settings: {},
        collateral_type: 0,
        not_collateral: [],
        leverage: {},
        pair_leverage: {},
        auto_repay: false,
        delta_neutral: false,
        locked: [],
      }
    )
  }
  modeOf(userId: number): Mode {
    return this.table.get(userId)?.mode ?? 'classic'
  }
  isUnified(userId: number): boolean {
    return this.modeOf(userId) !== 'classic'
  }
  isLocked(userId: number, scope: string): boolean {
    return this.table.get(userId)?.locked.includes(scope) === true
  }
  /** What the account was told last. */
  riskLevelOf(userId: number, scope: string): RiskLevel {
    if (this.isLocked(userId, scope)) return 'locked'
    return this.alerts.get(`${userId}/${scope}`)?.level ?? 'normal'
  }
  owes(userId: number, scope?: string): boolean {
    if (scope === undefined) return this.byUser.count(userId) > 0
    for (const loan of this.byUser.get(userId)) if (loan.scope === scope) return true
    return false
  }
  /** In the order of currency, then pair. */
  loansOf(userId: number): Loan[] {
    return [...this.byUser.get(userId)].sort((a, b) =>
      a.scope === b.scope ? (a.currency < b.currency ? -1 : 1) : a.scope < b.scope ? -1 : 1,
    )
  }
}
