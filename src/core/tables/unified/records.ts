import type { Amount } from '../../../money/amount.ts'
import type { LogSpec, TableSpec } from '../../../machine/table.ts'

/** That something is owed; how much, the ledger says. The row goes when the last unit is repaid. */
export interface Loan {
  readonly user_id: number
  readonly scope: string
  readonly currency: string
  /** Microseconds. */
  readonly create_at: number
  readonly update_at: number
}
export const LOAN: TableSpec<Loan> = {
  name: 'loan',
  key: ['user_id', 'scope', 'currency'],
  columns: { user_id: 'int', scope: 'text', currency: 'text', create_at: 'int', update_at: 'int' },
}
export const REPAYMENT_TYPES = [
  'none',
  'manual_repay',
  'auto_repay',
  'cancel_auto_repay',
  'different_currencies_repayment',
  'liquidation',
] as const
export type RepaymentType = (typeof REPAYMENT_TYPES)[number]
export type BorrowType = 'manual_borrow' | 'auto_borrow'
export interface LoanRecord {
  readonly id: number
  readonly user_id: number
  readonly kind: 'unified' | 'margin'
  readonly pair: string
  readonly currency: string
  readonly type: 'borrow' | 'repay'
  readonly repayment_type: RepaymentType
  /** Empty for repayments. */
  readonly borrow_type: BorrowType | ''
  readonly amount: Amount
  /** The part of a repayment that was interest. */
  readonly interest: Amount
  readonly text: string | null
  readonly at: number
}
export const LOAN_RECORD: TableSpec<LoanRecord> = {
  name: 'loan_record',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    kind: 'text',
    pair: 'text',
    currency: 'text',
    type: 'text',
    repayment_type: 'text',
    borrow_type: 'text',
    amount: 'amount',
    interest: 'amount',
    text: 'text',
    at: 'int',
  },
  live: () => false,
}
export interface InterestRecord {
  readonly id: number
  readonly user_id: number
  readonly kind: 'unified' | 'margin'
  readonly pair: string
  readonly currency: string
  readonly rate: Amount
  readonly interest: Amount
  /** The full hour that it is for, in microseconds. */
  readonly at: number
}
export const INTEREST_RECORD: LogSpec<InterestRecord> = {
  name: 'interest_record',
  columns: {
    id: 'int',
    user_id: 'int',
    kind: 'text',
    pair: 'text',
    currency: 'text',
    rate: 'amount',
    interest: 'amount',
    at: 'int',
  },
}
/** The rate of a full hour. */
export interface LoanRate {
  readonly id: number
  readonly currency: string
  readonly rate: Amount
  readonly at: number
}
export const LOAN_RATE: LogSpec<LoanRate> = {
  name: 'loan_rate',
  columns: { id: 'int', currency: 'text', rate: 'amount', at: 'int' },
}
/** Accounts in debt that are thinner than they should be; one that is well has no row. */
export interface RiskAlert {
  readonly user_id: number
  readonly scope: string
  readonly level: 'warned' | 'restricted'
  /** Microseconds. */
  readonly since: number
}
export const RISK_ALERT: TableSpec<RiskAlert> = {
  name: 'risk_alert',
  key: ['user_id', 'scope'],
  columns: { user_id: 'int', scope: 'text', level: 'text', since: 'int' },
}
/** One step towards a liquidation, or of it: what was done, and to how much of what. */
export interface LiquidationStep {
  readonly id: number
  /** 0 for warnings and restrictions, which belong to none. */
  readonly liquidation: number
  readonly user_id: number
  readonly scope: string
  readonly step: string
  readonly currency: string
  readonly amount: Amount
  readonly detail: Readonly<Record<string, unknown>>
  readonly at: number
}
export const LIQUIDATION_STEP: LogSpec<LiquidationStep> = {
  name: 'liquidation_step',
  columns: {
    id: 'int',
    liquidation: 'int',
    user_id: 'int',
    scope: 'text',
    step: 'text',
    currency: 'text',
    amount: 'amount',
    detail: 'json',
    at: 'int',
  },
}
export const MARGIN_LOGS = [INTEREST_RECORD, LOAN_RATE, LIQUIDATION_STEP] as const
