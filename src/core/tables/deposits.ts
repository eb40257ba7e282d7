import type { Amount } from '../../money/amount.ts'
import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'
import type { DepositStatus } from './deposit.flow.ts'
import type { RefundStatus } from './refund.flow.ts'
import { CurrencySums } from '../currency-sums.ts'

/** A payment to one of our addresses. An output of the chain has one row, whatever happens to it. */
export interface Deposit {
  readonly id: number
  /** 0: nobody's yet (no or unknown memo). */
  readonly user_id: number
  readonly chain: string
  readonly txid: string
  /** Which payment of the transaction. */
  readonly output: number
  readonly currency: string
  readonly amount: Amount
  readonly address: string
  readonly memo: string
  readonly status: DepositStatus
  /** null: in no block. */
  readonly height: number | null
  /** Where the coins are booked. */
  readonly booked: 'none' | 'user' | 'unclaimed'
  /** Why it is held, blocked or invalid. */
  readonly reason: string
  /** Of a blocked one: what becomes of its coins. */
  readonly refund_status: RefundStatus
  /** So deep that no reorganisation reaches it. */
  readonly final: boolean
  readonly at: number
  /** Places among the user's deposits, and among those of the currency: pages are found by them. */
  readonly ordinal: number
  readonly currency_ordinal: number
}
export const DEPOSIT: TableSpec<Deposit> = {
  name: 'deposit',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    chain: 'text',
    txid: 'text',
    output: 'int',
    currency: 'text',
    amount: 'amount',
    address: 'text',
    memo: 'text',
    status: 'text',
    height: 'int',
    booked: 'text',
    reason: 'text',
    refund_status: 'text',
    final: 'bool',
    at: 'int',
    ordinal: 'int',
    currency_ordinal: 'int',
  },
  // What waits for somebody stays, however deep; all else until it is final.
  live: ({ status, final }) => !final || HELD.has(status),
}
/** Somebody decides about them, now or later. */
const HELD: ReadonlySet<DepositStatus> = new Set(['REVIEW', 'MANUAL', 'BLOCKED'])
export const outputKey = (chain: string, txid: string, output: number): string => `${chain}/${txid}/${output}`

export class Deposits {
  readonly table = new Table(DEPOSIT)
  readonly byOutput = new UniqueIndex(this.table, ({ chain, txid, output }) => outputKey(chain, txid, output))
  private readonly byChain = new GroupIndex(this.table, ({ chain, final }) => (final ? undefined : chain))
  /** Credited, but not deep enough to leave. */
  readonly locks: DepositLocks
  private readonly held = new GroupIndex(this.table, ({ status, refund_status, chain, address }) =>
    HELD.has(status) && refund_status !== 'REFUNDED' ? `${chain}/${address}` : undefined,
  )
  constructor(mainOf: (userId: number) => number) {
    this.locks = new DepositLocks(this.table, mainOf)
  }
  /** Somebody must decide about coins at this address: they are not mixed with others. */
  isHeldAt(chain: string, address: string): boolean {
    return this.held.count(`${chain}/${address}`) > 0
  }
  /** Those of a chain that a new block may change, in the order of their making. */
  tracked(chain: string): Deposit[] {
    return [...this.byChain.get(chain)].sort((a, b) => a.id - b.id)
  }
}

/**
 * Money that is credited but not so deep in its chain that it may leave. It trades and moves within its family (a
 * main account and its sub-accounts), so what is locked is known for each account and for the family as a whole.
 */
export class DepositLocks {
  private readonly accounts = new CurrencySums()
  private readonly families = new CurrencySums()
  /** Accounts with locks, by family. */
  private readonly members = new Map<number, Set<number>>()
  /** The family of each account that has locks: it outlives the account's own row while tables are emptied. */
  private readonly familyOf = new Map<number, number>()

  constructor(table: Table<Deposit>, mainOf: (userId: number) => number) {
    table.observe((before, after) => {
      const was = before?.status === 'DEP_CREDITED' ? before : undefined
      const is = after?.status === 'DEP_CREDITED' ? after : undefined
      if (was !== undefined) this.add(was, -was.amount as Amount, mainOf)
      if (is !== undefined) this.add(is, is.amount, mainOf)
    })
  }
  ofAccount(userId: number, currency: string): Amount {
    return this.accounts.get(userId, currency)
  }
  /** By currency. */
  ofFamily(main: number): ReadonlyMap<string, Amount> {
    return this.families.of(main)
  }
  /** Each lock of a family with the account that it came to. */
  *each(main: number): Generator<readonly [userId: number, currency: string, amount: Amount]> {
    for (const userId of this.members.get(main) ?? [])
      for (const [currency, amount] of this.accounts.of(userId)) yield [userId, currency, amount]
  }

  private add({ user_id, currency }: Deposit, amount: Amount, mainOf: (userId: number) => number): void {
    const main = this.familyOf.get(user_id) ?? mainOf(user_id)
    this.accounts.add(user_id, currency, amount)
    this.families.add(main, currency, amount)
    if (this.accounts.has(user_id)) {
      this.familyOf.set(user_id, main)
      let members = this.members.get(main)
      if (members === undefined) this.members.set(main, (members = new Set<number>()))
      members.add(user_id)
      return
    }
    this.familyOf.delete(user_id)
    const members = this.members.get(main)
    members?.delete(user_id)
    if (members?.size === 0) this.members.delete(main)
  }
}
