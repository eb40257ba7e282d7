import type { Amount, Price, Rate } from '../../../money/amount.ts'
import type { Contract } from '../world/contracts.ts'
import type { Positions } from './positions.ts'

/** What the margin of an account's orders in a contract was counted from, beside its orders and its position there. */
export interface CountedWith {
  readonly mark: Price
  readonly contract: Contract
  readonly takerRate: Rate
  readonly dual: boolean
}
interface Counted extends CountedWith {
  readonly margin: Amount
}
/**
 * Counted once, and again when an order, the position or a price is another one: an order in one contract asks for
 * the margin of those in all others. Nothing depends on what is remembered here.
 */
export class OrderMargins {
  private readonly kept = new Map<number, Map<string, Counted>>()

  constructor(positions: Positions) {
    positions.table.observe((before, after) => {
      const { user_id, contract } = (after ?? before)!
      this.forget(user_id, contract)
    })
  }
  forget(userId: number, contract: string): void {
    this.kept.get(userId)?.delete(contract)
  }
  get(userId: number, contract: string, now: CountedWith): Amount | undefined {
    const known = this.kept.get(userId)?.get(contract)
    if (
      known?.mark !== now.mark ||
      known.contract !== now.contract ||
      known.takerRate !== now.takerRate ||
      known.dual !== now.dual
    )
      return undefined
    return known.margin
  }
  keep(userId: number, contract: string, counted: Counted): void {
    let byContract = this.kept.get(userId)
    if (byContract === undefined) this.kept.set(userId, (byContract = new Map<string, Counted>()))
    byContract.set(contract, counted)
  }
}
