import type { Price } from '../../money/amount.ts'
import type { Terms } from './terms.ts'
import type { Score } from './liquidation.ts'

/**
 * Between which two doubles a score of deleveraging lies (`deleverageScore`). Whoever looks for the first few of thousands
 * needs the exact scores of those alone whom these do not tell apart: a double takes some nanoseconds, an exact score some
 * microseconds.
 *
 * Why the bounds hold. A double has 53 bits, so a number that is read or an operation is wrong by 2^-53 of what comes out
 * at most. What is added up here adds at most all amounts that go into it (`worth`), and no sum has more than
 * 2 * LEGS_MAX + 10 operations: each is wrong by less than 2^-41 of `worth`, and is taken to be wrong by 2^-40 of it. A
 * maintenance margin is a continuous function of a value, no steeper than the highest rate (below 1): to take the wrong one
 * of two tiers where they meet costs no more than the value itself is wrong by. What the exact figures round to whole
 * units, up or down, is two units for a value, and for a maintenance margin three beside one for each tier that its
 * deduction is made of: `cut` is more than that. From these three intervals (profit, equity, need) that of the score
 * follows by a handful of operations. Where it can't (an equity that may be above zero or not, what is too large for a
 * double) it is everything there is.
 */
const WRONG = 2 ** -40
/** Of contracts that one account holds. */
export const LEGS_MAX = 1_000
/** More than what a result so small that doubles have fewer digits for it can be wrong by. */
const LEAST = 1e-290
const UNIT = 1e18

/** A contract at a price: amounts are smallest units. */
export class RoughTerms {
  /** What one contract is worth. */
  readonly each: number
  /** Whether it is worth more at a higher price (1) or at a lower one (-1), for a long. */
  readonly sign: 1 | -1
  readonly fee: number
  private readonly limits: readonly number[]
  private readonly rates: readonly number[]
  private readonly deductions: readonly number[]
  /** The highest of the rates. */
  readonly steepest: number
  readonly cut: number

  constructor({ kind, q, tf, tiers }: Terms, mark: Price) {
    const linear = kind === 'linear'
    this.each = linear ? Number(q * mark) / UNIT : (UNIT * UNIT) / Number(mark)
    this.sign = linear ? 1 : -1
    this.fee = Number(tf) / UNIT
    this.limits = tiers.map(({ limit }) => Number(limit))
    this.rates = tiers.map(({ maintenance }) => Number(maintenance + tf) / UNIT)
    this.deductions = tiers.map(({ deduction }) => Number(deduction))
    this.steepest = Math.max(...this.rates)
    this.cut = 16 + 2 * tiers.length
  }
  /** The maintenance margin of a value, what closing it costs included. */
  maintenance(value: number): number {
    const { limits } = this
    const last = limits.length - 1
    let i = 0
    while (i < last && value > limits[i]!) i++
    return value * this.rates[i]! - this.deductions[i]!
  }
}
/** What somebody holds of a contract. A position has one side; a cross account in dual mode has both. */
export interface RoughLeg {
  readonly on: { readonly rough: RoughTerms }
  readonly long: number
  readonly longPaid: number
  readonly short: number
  readonly shortPaid: number
}
/** What a position stands on. */
export interface RoughStand {
  /** Its margin, or the cash of its account. */
  readonly base: number
  /** All positions that stand there. */
  readonly legs: readonly RoughLeg[]
  /** Contracts of an isolated position's other side: the larger of both says at what rate both need margin. */
  readonly beside: number
}
export interface Bounds {
  low: number
  high: number
}

/** Bounds of the score of a position. */
export function boundScore(into: Bounds, own: RoughLeg, { base, legs, beside }: RoughStand): void {
  let [equity, worth, needs, weight, cut] = [base, Math.abs(base), 0, 0, 0]
  for (const leg of legs) {
    const { rough } = leg.on
    const [long, short] = [leg.long * rough.each, leg.short * rough.each]
    equity += rough.sign * (long - leg.longPaid - (short - leg.shortPaid))
    worth += long + leg.longPaid + short + leg.shortPaid
    const more = long > short ? long : short
    const other = beside * rough.each
    needs +=
      other > more
        ? (more * rough.maintenance(other)) / other
        : rough.maintenance(more) + (long > short ? short : long) * rough.fee
    weight += (long + short) * rough.steepest
    cut += rough.cut
  }
  const { each, sign, cut: ownCut } = own.on.rough
  const paid = own.longPaid + own.shortPaid
  const profit = sign * ((own.long - own.short) * each - (own.longPaid - own.shortPaid))
  const profitOff = ((own.long + own.short) * each + paid) * WRONG + ownCut
  const equityOff = worth * WRONG + cut
  const needsOff = weight * WRONG + cut
  within(into, profit, profitOff, equity, equityOff, needs, needsOff)
  // Contracts that are worth less than a unit were bought for nothing.
  const by = paid === 0 ? 1 : paid
  widen(into, into.low / by, into.high / by)
}
/** As `deleverageScore` has it, of all that the figures may be; not yet divided by what was paid. */
function within(
  into: Bounds,
  profit: number,
  profitOff: number,
  equity: number,
  equityOff: number,
  needs: number,
  needsOff: number,
): void {
  const [least, most] = [profit - profitOff, profit + profitOff]
  if (equity + equityOff <= 0) {
    into.low = least
    into.high = most
  } else if (equity - equityOff > 0 && needs - needsOff > 0) {
    const [safest, nearest] = [
      (needs - needsOff) / (equity + equityOff),
      (needs + needsOff) / (equity - equityOff),
    ]
    into.low = least > 0 ? least * safest : least / safest
    into.high = most > 0 ? most * nearest : most / nearest
  } else {
    into.low = -Infinity
    into.high = Infinity
  }
}
/** Of a score that is known: never wider than they were. */
export function boundKnown(into: Bounds, { rough }: Score): void {
  const score = Number(rough) / UNIT
  const { low, high } = into
  // What `rough` cuts off is less than one of its last digit.
  widen(into, score - 2 / UNIT, score + 2 / UNIT)
  if (low > into.low) into.low = low
  if (high < into.high) into.high = high
}
function widen(into: Bounds, low: number, high: number): void {
  into.low = low - (Math.abs(low) * WRONG + LEAST)
  into.high = high + (Math.abs(high) * WRONG + LEAST)
  // Not a number, or beyond all numbers.
  if (into.high - into.low < Infinity) return
  into.low = -Infinity
  into.high = Infinity
}
