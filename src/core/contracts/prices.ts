import { ONE, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { baseOf, ceilOver, quoteOf, roundDownTo, roundHalf, roundUpTo, type Terms } from './terms.ts'

/** Of funding rates and premiums: six decimals. */
const RATE_STEP = ONE / 10n ** 6n
const DAMPING = (5n * ONE) / 10_000n

export interface MarkInputs {
  readonly index: Price
  readonly fundingRate: Rate
  /** Until the next funding, of a period of `interval`. */
  readonly seconds: number
  readonly interval: number
  /** The mean of (best bid + best ask) / 2 - index over the last 30 seconds. */
  readonly basis: bigint
  /** Undefined before the first trade. */
  readonly last: Price | undefined
  /** How far from the index it may be. */
  readonly bound: Rate
}
/** What the mark is made of but for the last price: the same for a whole second, as long as the index is. */
export interface MarkGround {
  readonly byFunding: bigint
  readonly byBook: bigint
  readonly low: bigint
  readonly high: bigint
}
export function markGround({
  index,
  fundingRate,
  seconds,
  interval,
  basis,
  bound,
}: Omit<MarkInputs, 'last'>): MarkGround {
  const far = (index * bound) / ONE
  return {
    byFunding: index + (index * fundingRate * BigInt(seconds)) / (ONE * BigInt(interval)),
    byBook: index + basis,
    low: index - far,
    high: index + far,
  }
}
/** To the step of mark prices, and not to 0 however little it is: that is no price, and nothing can be divided by it. */
export function ontoMark({ markTick }: Pick<Terms, 'markTick'>, price: bigint): Price {
  const rounded = roundHalf(price, markTick) as Price
  return rounded === 0n && price > 0n ? markTick : rounded
}
/** The middle one of what funding says, what the book says, and what was paid last; never far from the index. */
export const markPrice = (terms: Pick<Terms, 'markTick'>, inputs: MarkInputs): Price =>
  markOn(terms, markGround(inputs), inputs.last)
export function markOn(
  terms: Pick<Terms, 'markTick'>,
  { byFunding, byBook, low, high }: MarkGround,
  last: Price | undefined,
): Price {
  const middle = median(byFunding, byBook, last ?? byFunding)
  return ontoMark(terms, clamp(middle, low, high))
}
/** Of a contract with an end: what the book says. */
export const deliveryMark = (
  terms: Pick<Terms, 'markTick'>,
  { index, basis, bound }: Pick<MarkInputs, 'index' | 'basis' | 'bound'>,
): Price => ontoMark(terms, bounded(index + basis, index, bound))

function bounded(price: bigint, index: Price, bound: Rate): bigint {
  const far = (index * bound) / ONE
  return clamp(price, index - far, index + far)
}
const median = (a: bigint, b: bigint, c: bigint): bigint =>
  a < b ? (b < c ? b : a < c ? c : a) : a < c ? a : b < c ? c : b
const clamp = (value: bigint, low: bigint, high: bigint): bigint =>
  value < low ? low : value > high ? high : value

/** A level of a book: its price, and the contracts there. */
export interface Level {
  readonly price: Price
  readonly size: bigint
}
/** The mean price of so much, in the quote currency, taken from the levels; of less where there is less. */
export function impactPrice(terms: Terms, levels: Iterable<Level>, amount: Amount): Price | undefined {
  let quote = 0n
  let base = 0n
  for (const { price, size } of levels) {
    const value = quoteOf(terms, size, price)
    const room = amount - quote
    if (value >= room) {
      base += (room * ONE) / price
      quote = amount
      break
    }
    quote += value
    base += baseOf(terms, size, price)
  }
  return base === 0n ? undefined : (((quote * ONE) / base) as Price)
}
/** By how much the book is above the index, or below it. */
export function premium(bid: Price | undefined, ask: Price | undefined, index: Price): Rate {
  const above = bid !== undefined && bid > index ? bid - index : 0n
  const below = ask !== undefined && ask < index ? index - ask : 0n
  return roundHalf(((above - below) * ONE) / index, RATE_STEP) as Rate
}

/** The premiums of a period: each counts as often as its place says. */
export interface Premiums {
  readonly count: number
  readonly weighted: bigint
}
export const NO_PREMIUMS: Premiums = { count: 0, weighted: 0n }
export const withPremium = ({ count, weighted }: Premiums, one: Rate): Premiums => ({
  count: count + 1,
  weighted: weighted + BigInt(count + 1) * one,
})
export interface FundingTerms {
  /** A day's. */
  readonly interest: Rate
  readonly intervalSeconds: number
  readonly limit: Rate
}
/** What longs pay to shorts for a period, as a share of the value. */
export function fundingRate(
  { count, weighted }: Premiums,
  { interest, intervalSeconds, limit }: FundingTerms,
): Rate {
  const places = (BigInt(count) * BigInt(count + 1)) / 2n
  const mean = places === 0n ? 0n : weighted / places
  const damped = mean + clamp(interest / 3n - mean, -DAMPING, DAMPING)
  const rate = (damped * BigInt(intervalSeconds)) / (8n * 3_600n)
  return clamp(roundHalf(rate, RATE_STEP), -limit, limit) as Rate
}
/** What one long contract pays at a settlement; below zero it is paid. */
export const fundingOf = ({ kind, q }: Terms, mark: Price, rate: Rate): bigint =>
  kind === 'linear' ? (q * mark * rate) / (ONE * ONE) : (rate * ONE) / mark
/** What a position owes for what was settled since; below zero it gets it. Who pays pays whole units. */
export function fundingOwed({ unit }: Terms, size: bigint, since: bigint): Amount {
  const owed = size * since
  return (owed > 0n ? roundUpTo(owed, unit) : roundDownTo(owed, unit)) as Amount
}

/** A fee is rounded up, a rebate down. */
export function feeOf({ unit }: Terms, value: Amount, rate: Rate): Amount {
  const fee = value * rate
  const step = unit * ONE
  return (fee >= 0n ? ceilOver(fee, step) * unit : -((-fee / step) * unit)) as Amount
}

/** Where a trailing order fires: a distance, or a share, from the best price that it has seen. */
export function trailTrigger(
  { tick }: Terms,
  side: 'buy' | 'sell',
  extreme: Price,
  offset: { readonly ratio: Rate } | { readonly distance: Price },
): Price {
  const away = 'ratio' in offset ? (extreme * offset.ratio) / ONE : offset.distance
  return (side === 'buy' ? roundDownTo(extreme + away, tick) : roundUpTo(extreme - away, tick)) as Price
}

/** Of dated contracts: how far the mark is from the index, for a year. */
export const basisRate = (mark: Price, index: Price, daysLeft: number): Rate =>
  daysLeft <= 0
    ? (0n as Rate)
    : (roundHalf(
        ((mark - index) * ONE * 365n * 86_400n) / (index * BigInt(Math.round(daysLeft * 86_400))),
        RATE_STEP,
      ) as Rate)
/** The mean of the samples of the last half hour, half away from zero; not 0 where they are not. */
export function meanPrice({ markTick }: Pick<Terms, 'markTick'>, sum: bigint, samples: number): Price {
  if (samples === 0) return 0n as Price
  const [count, twice] = [BigInt(samples), 2n]
  const mean = (((twice * sum + count * markTick) / (twice * count * markTick)) * markTick) as Price
  return mean === 0n && sum > 0n ? markTick : mean
}
export const settlePrice = (terms: Terms, samples: readonly Price[]): Price =>
  meanPrice(
    terms,
    samples.reduce((total, one) => total + one, 0n),
    samples.length,
  )
