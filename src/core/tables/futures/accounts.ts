import type { Amount } from '../../../money/amount.ts'
import { Table, type TableSpec } from '../../../machine/table.ts'

/** The contract account of a user in one group and settle currency: settings, and sums of what it ever booked. */
export interface ContractAccount {
  /** user/group/settle. */
  readonly id: string
  readonly user_id: number
  /** group/settle. */
  readonly account: string
  readonly dual: boolean
  /** Its cross positions are being liquidated: the id of that; 0: no. */
  readonly liquidating: number
  readonly dnw: Amount
  readonly pnl: Amount
  readonly fee: Amount
  readonly fund: Amount
  readonly point_dnw: Amount
  readonly point_fee: Amount
  /** Of its owner's loan of the settle currency: what losses here took of it (unified accounts). */
  readonly borrowed: Amount
  /** Microseconds. */
  readonly create_at: number
  readonly update_at: number
  readonly update_id: number
}
export const CONTRACT_ACCOUNT: TableSpec<ContractAccount> = {
  name: 'contract_account',
  key: ['id'],
  columns: {
    id: 'text',
    user_id: 'int',
    account: 'text',
    dual: 'bool',
    liquidating: 'int',
    dnw: 'amount',
    pnl: 'amount',
    fee: 'amount',
    fund: 'amount',
    point_dnw: 'amount',
    point_fee: 'amount',
    borrowed: 'amount',
    create_at: 'int',
    update_at: 'int',
    update_id: 'int',
  },
}
export const contractAccountId = (userId: number, account: string): string => `${userId}/${account}`

export class ContractAccounts {
  readonly table = new Table(CONTRACT_ACCOUNT)
  get(userId: number, account: string): ContractAccount | undefined {
    return this.table.get(contractAccountId(userId, account))
  }
}
