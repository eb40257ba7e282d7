import { Addresses } from './addresses.ts'
import { chainTips } from './tips.ts'
import { Deposits } from './deposits.ts'
import { Sweeps } from './sweeps.ts'
import { pushContacts, pushes } from './push.ts'
import { Withdrawals } from './withdrawals.ts'
import { smallBalances } from './small-balances.ts'
import { SubTransfers } from './transfers.ts'

/** Money on its way in, out and across. */
export class Wallet {
  readonly addresses = new Addresses()
  readonly tips = chainTips()
  readonly deposits: Deposits
  readonly withdrawals = new Withdrawals()
  readonly sweeps = new Sweeps()
  readonly pushes = pushes()
  readonly contacts = pushContacts()
  readonly subTransfers = new SubTransfers()
  readonly smallBalances = smallBalances()

  /** `mainOf` tells the main account of any account. */
  constructor(mainOf: (userId: number) => number) {
    this.deposits = new Deposits(mainOf)
  }

  get tables(): readonly unknown[] {
    return [
      this.addresses.deposit,
      this.addresses.saved,
      this.tips,
      this.deposits.table,
      this.withdrawals.table,
      this.withdrawals.usage,
      this.sweeps.table,
      this.pushes,
      this.contacts,
      this.subTransfers.table,
      this.smallBalances,
    ]
  }
}
