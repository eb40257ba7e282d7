import { look } from './liquidation.ts'
import { fundingName, recordPosition, roundingName, settleFunding } from './money.ts'
import { E, clamp, floorDiv, halfTo, max, median } from './numbers.ts'
import { touch } from './waiting.ts'
import type { Contract, Order, Prices, World } from './world.ts'

/** 2.3 and 2.10 of the specification: index, mark, premium, funding. */

export const secondOf = (at: number): number => Math.floor(at / 1e6)
const RATE_STEP = E / 10n ** 6n
const YEAR = 365n * 86_400n * 1_000_000n

/** A contract without trades, premiums or fundings yet. */
export const beginPrices = (
  first: Pick<Prices, 'index' | 'mark' | 'rate' | 'nextFunding'>,
  at: number,
): Prices => ({
  ...first,
  last: undefined,
  basis: [],
  premiums: [],
  fundingSum: 0n,
  minute: secondOf(at) - (secondOf(at) % 60),
  sequence: 0,
  ending: [],
  at,
})
/** One sample a second: what stood at its beginning. */
function sampleAt({ basis }: Prices, second: number): bigint {
  let found = 0n
  for (const [from, value] of basis) if (from < second) found = value
  return found
}
/** What the time that is left is worth, for each side of a bound. */
export const ofTime = (c: Contract, at: number): bigint =>
  (c.boundYear * max(0n, BigInt(c.expires * 1e6 - at))) / YEAR
export function markNow(c: Contract, row: Prices, at: number): bigint {
  const { index, rate } = row
  const second = secondOf(at)
  let sum = 0n
  for (let i = 0; i < 30; i++) sum += sampleAt(row, second - i)
  const near = index + sum / 30n
  let middle = near
  if (c.expires === 0) {
    const left = max(0n, BigInt(row.nextFunding - second))
    const first = index + (index * rate * left) / (E * BigInt(c.interval))
    middle = median(first, near, row.last ?? first)
  }
  const far = floorDiv(index * (c.bound + ofTime(c, at)), E)
  return halfTo(clamp(middle, index - far, index + far), c.markTick)
}
/** Tells whether it is another than the last one. */
function takeSample(w: World, c: Contract, row: Prices): boolean {
  const [bid, ask] = [w.side(c.id, true)[0], w.side(c.id, false)[0]]
  if (bid === undefined || ask === undefined) return false
  const second = secondOf(w.at)
  const basis = (bid.price + ask.price) / 2n - row.index
  const another = (row.basis.at(-1)?.[1] ?? 0n) !== basis
  row.basis = row.basis.filter(
    ([from], i) => from !== second && (row.basis[i + 1]?.[0] ?? second) > second - 32,
  )
  row.basis.push([second, basis])
  return another
}
/** Until it has come to its end. */
const isRunning = ({ status, settling, expires }: Contract, at: number): boolean =>
  status !== 'delisted' && !settling && (expires === 0 || at <= expires * 1e6)
/** Something that a price is made of has changed, or time has passed; tells whether the mark or the index is another. */
function follow(w: World, c: Contract, index: bigint, at = w.at): boolean {
  touch(w, c.id)
  if (!isRunning(c, at)) return false
  const row = w.priceOf(c.id)
  const before = { ...row }
  row.index = index
  const another = takeSample(w, c, row)
  row.mark = markNow(c, row, at)
  const moved = before.mark !== row.mark || before.index !== row.index
  if (another || moved) row.at = w.at
  return moved
}
/** The book of a contract has changed: its prices, then everybody's risk. */
export function followBook(w: World, c: Contract): void {
  follow(w, c, w.priceOf(c.id).index)
  look(w)
}
/** Time has passed, or an index is another one. */
export function followAll(w: World, indexOf: (c: Contract) => bigint = (c) => w.priceOf(c.id).index): void {
  for (const c of w.contracts.values()) follow(w, c, indexOf(c))
  look(w)
}

/** The average price at which so much of the quote currency is taken from the shown part of a side. */
function impactPrice(c: Contract, orders: readonly Order[]): bigint | undefined {
  let [quote, base] = [0n, 0n]
  for (const { price, shown } of orders) {
    const value = c.linear ? (shown * c.q * price) / E : shown * E
    const part = value > c.impact - quote ? c.impact - quote : value
    // In units of the base, 18 decimals.
    base += part === value && c.linear ? shown * c.q : (part * E) / price
    quote += part
    if (quote === c.impact) break
  }
  return base === 0n ? undefined : (quote * E) / base
}
function premiumNow(w: World, c: Contract): bigint {
  const { index } = w.priceOf(c.id)
  const bid = impactPrice(c, w.side(c.id, true))
  const ask = impactPrice(c, w.side(c.id, false))
  const above = bid === undefined ? 0n : max(0n, bid - index)
  const below = ask === undefined ? 0n : max(0n, index - ask)
  return halfTo(((above - below) * E) / index, RATE_STEP)
}
function fundingRate(c: Contract, premiums: readonly bigint[]): bigint {
  let [sum, weights] = [0n, 0n]
  for (const [i, one] of premiums.entries()) {
    sum += BigInt(i + 1) * one
    weights += BigInt(i + 1)
  }
  const mean = weights === 0n ? 0n : sum / weights
  const damping = (5n * E) / 10_000n
  const rate = ((mean + clamp(c.interest / 3n - mean, -damping, damping)) * BigInt(c.interval)) / 28_800n
  return clamp(halfTo(rate, RATE_STEP), -c.rateLimit, c.rateLimit)
}

/** Each full minute. */
export function minute(w: World, at: number): void {
  w.schedule(at + 60e6, 'futures.minute', '')
  const second = secondOf(at)
  for (const c of w.contracts.values()) {
    if (isRunning(c, at) || (c.status !== 'delisted' && c.expires === second)) minuteOf(w, c, at)
  }
  look(w)
}
function minuteOf(w: World, c: Contract, at: number): void {
  const second = secondOf(at)
  const row = w.priceOf(c.id)
  const before = row.mark
  let another = takeSample(w, c, row)
  if (row.minute < second) {
    row.minute = second
    another ||= c.expires === 0 || c.expires - second < 1_800
    if (c.expires > 0) {
      if (c.expires - second < 1_800) row.ending = [...row.ending, row.index]
    } else {
      row.premiums = [...row.premiums, premiumNow(w, c)]
      row.rate = fundingRate(c, row.premiums)
      row.nextFunding = second - (second % c.interval) + c.interval
      if (second % c.interval === 0) fund(w, c, row, at)
    }
  }
  row.mark = markNow(c, row, at)
  if (another || row.mark !== before) row.at = w.at
  if (row.mark !== before) touch(w, c.id)
}
/** Section 3: the average of the index at the full minutes of the last half hour, the end itself among them. */
export function lastPrice(w: World, c: Contract): bigint {
  const row = w.priceOf(c.id)
  if (row.minute < c.expires && c.expires % 60 === 0) minuteOf(w, c, c.expires * 1e6)
  if (row.ending.length === 0) return row.mark
  return halfTo(row.ending.reduce((sum, one) => sum + one, 0n) / BigInt(row.ending.length), c.markTick)
}
/** The rate is fixed; what one contract owes by it joins the sum, and a sweep follows. */
function fund(w: World, c: Contract, row: Prices, at: number): void {
  const second = secondOf(at)
  const mark = markNow(c, { ...row, nextFunding: second }, at)
  w.record('funding', { contract: c.id, t: second, r: row.rate })
  row.fundingSum += c.linear ? (c.q * mark * row.rate) / (E * E) : (row.rate * E) / mark
  row.premiums = []
  w.meet(row.rate > 0n ? 'funding rate above 0' : row.rate < 0n ? 'funding rate below 0' : 'funding rate 0')
  row.rate = fundingRate(c, [])
  if ([...w.positions.values()].some(({ contract, size }) => contract === c.id && size !== 0n))
    w.schedule(at, 'futures.fund', c.id)
}
/** All positions in the order of their ids; what rounding leaves is the platform's. */
export function sweep(w: World, c: Contract): void {
  const rows = [...w.positions.values()].filter(({ contract, size }) => contract === c.id && size !== 0n)
  rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const row of rows) if (settleFunding(w, c, row)) recordPosition(w, row)
  const rest = w.balance(fundingName(c))
  if (rest < 0n) throw new Error(`funding of ${c.id} paid out more than it took in`)
  if (rest > 0n) w.meet('funding left to rounding')
  w.move(fundingName(c), roundingName(c.settle), rest)
  touch(w, c.id)
  look(w)
}
