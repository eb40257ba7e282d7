import type { Amount } from '../../money/amount.ts'
import { Table, type TableSpec } from '../../machine/table.ts'

/** Dust turned into the platform's token. */
export interface SmallBalance {
  readonly id: number
  readonly user_id: number
  readonly currency: string
  readonly amount: Amount
  readonly gt_amount: Amount
  readonly at: number
  readonly ordinal: number
  readonly currency_ordinal: number
}
export const SMALL_BALANCE: TableSpec<SmallBalance> = {
  name: 'small_balance',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    currency: 'text',
    amount: 'amount',
    gt_amount: 'amount',
    at: 'int',
    ordinal: 'int',
    currency_ordinal: 'int',
  },
  live: () => false,
}
export const smallBalances = (): Table<SmallBalance> => new Table(SMALL_BALANCE)
