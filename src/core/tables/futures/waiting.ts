import { Chases } from './chases.ts'
import { ContractPriceOrders } from './price-orders.ts'
import { Trails } from './trails.ts'

/** Orders that wait for a price of a contract. */
export class Waiting {
  readonly prices = new ContractPriceOrders()
  readonly trails = new Trails()
  readonly chases = new Chases()
  private readonly touched = new Set<string>()
  /** How many the present command has fired. */
  fired = 0
  /** The order that is being matched: in no book at this moment, and open all the same. 0: none. */
  matching = 0

  /** Of an account (group/settle), of all kinds. */
  count(userId: number, account: string): number {
    return (
      this.prices.count(userId, account) +
      this.trails.count(userId, account) +
      this.chases.count(userId, account)
    )
  }
  /** In a contract, whoever's. */
  countIn(contract: string): number {
    return this.prices.countIn(contract) + this.trails.countIn(contract) + this.chases.countIn(contract)
  }

  /** A command begins: what one that was taken back has left here is nothing to it. */
  begin(): void {
    this.fired = 0
    this.matching = 0
    if (this.touched.size > 0) this.touched.clear()
  }
  /** A price of this contract may be another one: it is looked at when the command is through. */
  touch(contract: string): void {
    if (this.countIn(contract) > 0) this.touched.add(contract)
  }
  /** The next contract to look at. */
  take(): string | undefined {
    for (const contract of this.touched) {
      this.touched.delete(contract)
      return contract
    }
    return undefined
  }
  get tables(): readonly unknown[] {
    const { prices, trails, chases } = this
    return [prices.table, trails.table, trails.groups, chases.table, chases.lines]
  }
}
