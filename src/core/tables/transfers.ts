import type { Amount } from '../../money/amount.ts'
import { Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'

/** The kinds of account that transfers name. */
export const ACCOUNT_KINDS = ['spot', 'margin', 'futures', 'delivery', 'options'] as const
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

/** A finished movement between accounts: own, main/sub, sub/sub or an operator's credit. */
export interface Transfer {
  readonly tx_id: number
  readonly kind: 'own' | 'main_sub' | 'sub_sub' | 'credit'
  /** Who asked: the account whose key was used, or the credited one. */
  readonly user_id: number
  readonly from_user: number
  readonly from_account: AccountKind | 'unknown'
  readonly to_user: number
  readonly to_account: AccountKind | 'unknown'
  readonly currency: string
  readonly amount: Amount
  readonly settle: string
  readonly currency_pair: string
  readonly client_order_id: string | null
  /** Microseconds. */
  readonly at: number
}
export const TRANSFER: TableSpec<Transfer> = {
  name: 'transfer',
  key: ['tx_id'],
  columns: {
    tx_id: 'int',
    kind: 'text',
    user_id: 'int',
    from_user: 'int',
    from_account: 'text',
    to_user: 'int',
    to_account: 'text',
    currency: 'text',
    amount: 'amount',
    settle: 'text',
    currency_pair: 'text',
    client_order_id: 'text',
    at: 'int',
  },
  // Transfers settle at once: history from the start.
  live: () => false,
}
export const transfers = (): Table<Transfer> => new Table(TRANSFER)

/** A transfer between a main account and one of its sub-accounts, as the main account's list shows it. */
export interface SubTransfer {
  readonly tx_id: number
  readonly main_user: number
  readonly sub_user: number
  readonly sub_account_type: AccountKind
  readonly direction: 'to' | 'from'
  readonly currency: string
  readonly amount: Amount
  /** web, api … : where it was asked for. */
  readonly source: string
  readonly client_order_id: string | null
  readonly at: number
  /** Places among the main account's transfers, and among those with this sub-account. */
  readonly ordinal: number
  readonly sub_ordinal: number
}
export const SUB_TRANSFER: TableSpec<SubTransfer> = {
  name: 'sub_transfer',
  key: ['tx_id'],
  columns: {
    tx_id: 'int',
    main_user: 'int',
    sub_user: 'int',
    sub_account_type: 'text',
    direction: 'text',
    currency: 'text',
    amount: 'amount',
    source: 'text',
    client_order_id: 'text',
    at: 'int',
    ordinal: 'int',
    sub_ordinal: 'int',
  },
  live: () => false,
}
export class SubTransfers {
  readonly table = new Table(SUB_TRANSFER)
  readonly byClientId = new UniqueIndex(this.table, ({ main_user, client_order_id }) =>
    client_order_id === null ? undefined : `${main_user}/${client_order_id}`,
  )
}
