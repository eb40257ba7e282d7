import type { Amount } from '../../money/amount.ts'
import { CurrencySums } from '../currency-sums.ts'
import type { Table } from '../../machine/table.ts'
import type { Deposit } from './deposits.ts'

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
