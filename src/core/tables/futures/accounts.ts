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
/** As its table has it, quicker to copy than a plain one: written on until it is put into the table, never after. */
export class ContractAccountRow implements ContractAccount {
  readonly id: string
  readonly user_id: number
  readonly account: string
  dual: boolean
  liquidating: number
  dnw: Amount
  pnl: Amount
  fee: Amount
  fund: Amount
  point_dnw: Amount
  point_fee: Amount
  borrowed: Amount
  create_at: number
  update_at: number
  update_id: number

  constructor(from: ContractAccount) {
    this.id = from.id
    this.user_id = from.user_id
    this.account = from.account
    this.dual = from.dual
    this.liquidating = from.liquidating
    this.dnw = from.dnw
    this.pnl = from.pnl
    this.fee = from.fee
    this.fund = from.fund
    this.point_dnw = from.point_dnw
    this.point_fee = from.point_fee
    this.borrowed = from.borrowed
    this.create_at = from.create_at
    this.update_at = from.update_at
    this.update_id = from.update_id
  }
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
  revive: (row) => new ContractAccountRow(row),
}
export const contractAccountId = (userId: number, account: string): string => `${userId}/${account}`

export class ContractAccounts {
  readonly table = new Table(CONTRACT_ACCOUNT)
  /** By user, then by account: sooner than to put an id together. */
  private readonly byUser = new Map<number, Map<string, ContractAccount>>()
  /** The one that was asked for last, which is asked for again. */
  private askedLast: ContractAccount | undefined

  constructor() {
    this.table.observe((before, after) => {
      if (before === this.askedLast) this.askedLast = after
      const { user_id, account } = (after ?? before)!
      let accounts = this.byUser.get(user_id)
      if (accounts === undefined) this.byUser.set(user_id, (accounts = new Map<string, ContractAccount>()))
      if (after !== undefined) accounts.set(account, after)
      else accounts.delete(account)
    })
  }
  get(userId: number, account: string): ContractAccount | undefined {
    const { askedLast } = this
    if (askedLast?.user_id === userId && askedLast.account === account) return askedLast
    return (this.askedLast = this.byUser.get(userId)?.get(account))
  }
}
