import { ZERO, type Amount } from '../money/amount.ts'

const NONE: ReadonlyMap<string, Amount> = new Map()

/** Amounts by owner and currency that are kept up to date, so that nobody has to add up the rows behind them. */
export class CurrencySums {
  private readonly byOwner = new Map<number, Map<string, Amount>>()

  add(owner: number, currency: string, amount: bigint): void {
    if (amount === 0n) return
    let sums = this.byOwner.get(owner)
    if (sums === undefined) this.byOwner.set(owner, (sums = new Map<string, Amount>()))
    const sum = ((sums.get(currency) ?? ZERO) + amount) as Amount
    if (sum !== 0n) sums.set(currency, sum)
    else if (sums.delete(currency) && sums.size === 0) this.byOwner.delete(owner)
  }
  /** By currency; what is zero is not there. */
  of(owner: number): ReadonlyMap<string, Amount> {
    return this.byOwner.get(owner) ?? NONE
  }
  get(owner: number, currency: string): Amount {
    return this.byOwner.get(owner)?.get(currency) ?? ZERO
  }
  has(owner: number): boolean {
    return this.byOwner.has(owner)
  }
}
