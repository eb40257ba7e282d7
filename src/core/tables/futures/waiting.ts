import { ContractPriceOrders } from './price-orders.ts'

/** Orders that wait for a price of a contract. */
export class Waiting {
  readonly prices = new ContractPriceOrders()
  private readonly touched = new Set<string>()

  /** Of an account (group/settle), of all kinds. */
  count(userId: number, account: string): number {
    return this.prices.count(userId, account)
  }
  /** In a contract, whoever's. */
  countIn(contract: string): number {
    return this.prices.countIn(contract)
  }

  /** A command begins: what one that was taken back has left here is nothing to it. */
  begin(): void {
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
    return [this.prices.table]
  }
}
