import { ONE, type Amount, type Price } from '../../money/amount.ts'
import { abs, ceilOver, tierOf, valueDown, type Terms } from './terms.ts'
import type { Holding } from './position.ts'

/** Shown where no price liquidates a short. */
export const NEVER_SHORT = (99_999_999n * ONE) as Price
const NEVER_LONG = 0n as Price

/** `over / under`, to a multiple of a step: up for a long, down for a short. */
function stepped(over: bigint, under: bigint, step: bigint, up: boolean): bigint {
  return up ? ceilOver(over, under * step) * step : (over / (under * step)) * step
}

/**
 * The mark price at which a position would be liquidated if nothing else changed: an estimate that is shown. `margin` is
 * its own, or what the rest of a cross account leaves for it.
 */
export function liquidationPrice(terms: Terms, { size, cost }: Holding, margin: Amount): Price {
  if (size === 0n) return 0n as Price
  const long = size > 0n
  const never = long ? NEVER_LONG : NEVER_SHORT
  const [held, paid] = [abs(size), abs(cost)]
  const linear = terms.kind === 'linear'
  // Where deductions leave less, and they grow from tier to tier, none is left in those that follow either.
  const shrinks = linear === long
  let below = -1n
  for (let i = 0; i < terms.tiers.length; i++) {
    const { maintenance, deduction, limit } = terms.tiers[i]!
    const rate = maintenance + terms.tf
    const left = shrinks ? paid - margin - deduction : paid + margin + deduction
    const share = shrinks ? ONE - rate : ONE + rate
    if (left <= 0n || share <= 0n) {
      if (shrinks) return never
    } else {
      // What it would be worth; the price comes when the tier is found, because its products are long.
      const value = (left * ONE) / share
      const last = i === terms.tiers.length - 1
      // The tier in which it would be worth that.
      if (value > below && (last || value <= limit)) {
        const price = (
          linear
            ? stepped(left * ONE * ONE, held * terms.q * share, terms.markTick, long)
            : stepped(held * share * ONE, left, terms.markTick, long)
        ) as Price
        return long || price < NEVER_SHORT ? price : NEVER_SHORT
      }
    }
    below = limit
  }
  return never
}

/**
 * The price at which closing it, the fee included, leaves nothing of its equity: what its liquidation may sell for at
 * worst. Undefined: there is no such price.
 */
export function bankruptcyPrice(
  terms: Terms,
  { size }: Holding,
  mark: Price,
  equity: Amount,
): Price | undefined {
  const long = size > 0n
  const held = abs(size)
  const value = valueDown(terms, held, mark)
  const { q, tf, tick } = terms
  const exact =
    terms.kind === 'linear'
      ? long
        ? { over: (value - equity) * ONE * ONE, under: held * q * (ONE - tf) }
        : { over: (value + equity) * ONE * ONE, under: held * q * (ONE + tf) }
      : long
        ? { over: held * (ONE + tf) * ONE, under: value + equity }
        : { over: held * (ONE - tf) * ONE, under: value - equity }
  if (exact.over <= 0n || exact.under <= 0n) return undefined
  // Below the first tick there is no price.
  const price = stepped(exact.over, exact.under, tick, long) as Price
  return price === 0n ? undefined : price
}

/** Contracts that one step closes: down to the next lower tier, or all of it in the first. */
export function stepSize(terms: Terms, { size }: Holding, mark: Price): bigint {
  const held = abs(size)
  const value = valueDown(terms, held, mark)
  const below = terms.tiers[terms.tiers.indexOf(tierOf(terms, value)) - 1]
  if (below === undefined) return held
  const kept =
    terms.kind === 'linear' ? (below.limit * ONE) / (terms.q * mark) : (below.limit * mark) / (ONE * ONE)
  return held - (kept < held ? kept : held)
}

/** Who is deleveraged first: `over / under`, which nothing is rounded of; `rough` is its first 18 decimals. */
export interface Score {
  readonly rough: bigint
  readonly over: bigint
  readonly under: bigint
}
/** By what his position has earned, and how near it is to its end. */
export function deleverageScore(pnl: Amount, { cost }: Holding, maintenance: Amount, equity: Amount): Score {
  // Contracts that are worth less than a unit were bought for nothing.
  const paid = cost === 0n ? 1n : abs(cost)
  if (equity <= 0n || maintenance === 0n) return scoreOf(pnl, paid)
  return pnl > 0n ? scoreOf(pnl * maintenance, paid * equity) : scoreOf(pnl * equity, paid * maintenance)
}
const scoreOf = (over: bigint, under: bigint): Score => ({ rough: (over * ONE) / under, over, under })
/** Above 0: `one` goes before `other`. Two that differ in what is cut off alone are told apart as well. */
export const compareScores = (one: Score, other: Score): bigint =>
  one.rough === other.rough ? one.over * other.under - other.over * one.under : one.rough - other.rough
