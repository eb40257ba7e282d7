import { ONE, ONE_PRICE, type Amount, type Price, type Rate } from '../../money/amount.ts'

/**
 * What a contract is worth, and what it asks for: pure arithmetic on figures that it is given, so that each can be
 * computed again by hand. Sizes are whole contracts. Assets are rounded down and requirements up, at 18 decimals where
 * nothing else is said.
 */
export interface Terms {
  /** Linear: a contract is `q` units of the base, worth their price. Inverse: a contract is one unit of the quote. */
  readonly kind: 'linear' | 'inverse'
  readonly q: Amount
  /** The smallest amount of the settle currency. */
  readonly unit: Amount
  /** The contract's taker fee, the most that closing costs. */
  readonly tf: Rate
  /** Of order prices, and of the mark price. */
  readonly tick: Price
  readonly markTick: Price
  /** The smallest values first. */
  readonly tiers: readonly Tier[]
}
export interface Tier {
  /** The largest value that it holds for, in the settle currency. */
  readonly limit: Amount
  readonly maintenance: Rate
  readonly leverageMax: Rate
  /** What makes the rate of this tier, on the whole value, the sum of the tiers below it. */
  readonly deduction: Amount
}
/** Of both amounts and prices: away from zero is up for whoever is owed. */
export const ceilOver = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
export const abs = (value: bigint): bigint => (value < 0n ? -value : value)

/** What `contracts` are worth at a price, in the settle currency, rounded towards zero; exact where it is linear. */
export function valueDown({ kind, q }: Terms, contracts: bigint, price: Price): Amount {
  return (kind === 'linear' ? (contracts * q * price) / ONE : (contracts * ONE * ONE) / price) as Amount
}
/** The same, rounded away from zero; not for negative ones. */
export function valueUp({ kind, q }: Terms, contracts: bigint, price: Price): Amount {
  return (
    kind === 'linear' ? ceilOver(contracts * q * price, ONE) : ceilOver(contracts * ONE * ONE, price)
  ) as Amount
}
/** Of a fill: one figure for both sides, a multiple of the unit. */
export function fillValue(terms: Terms, contracts: bigint, price: Price): Amount {
  const value = valueDown(terms, contracts, price)
  return (value - (value % terms.unit)) as Amount
}
/** So much of the base is behind `contracts` at a price. */
export const baseOf = ({ kind, q }: Terms, contracts: bigint, price: Price): Amount =>
  (kind === 'linear' ? contracts * q : (contracts * ONE * ONE) / price) as Amount
/** So much in the quote currency. */
export const quoteOf = ({ kind, q }: Terms, contracts: bigint, price: Price): Amount =>
  (kind === 'linear' ? (contracts * q * price) / ONE : contracts * ONE) as Amount

/** To a multiple of a step, half away from zero. */
export function roundHalf(value: bigint, step: bigint): bigint {
  const size = abs(value)
  const rounded = ((2n * size + step) / (2n * step)) * step
  return value < 0n ? -rounded : rounded
}
export const roundDownTo = (value: bigint, step: bigint): bigint => value - (value % step)
export const roundUpTo = (value: bigint, step: bigint): bigint => ceilOver(value, step) * step

/** The tier that a value falls in. */
export function tierOf({ tiers }: Terms, value: Amount): Tier {
  return tiers.find(({ limit }) => value <= limit) ?? tiers.at(-1)!
}
/** The deductions that belong to limits and rates. */
export function withDeductions(tiers: readonly Omit<Tier, 'deduction'>[]): Tier[] {
  let deduction = 0n
  return tiers.map((tier, i) => {
    const below = tiers[i - 1]
    if (below !== undefined) deduction += (below.limit * (tier.maintenance - below.maintenance)) / ONE_PRICE
    return { ...tier, deduction: deduction as Amount }
  })
}
