import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleverageScore, type Score } from '../../src/core/contracts/liquidation.ts'
import { hedged, maintenanceMargin } from '../../src/core/contracts/margin.ts'
import { unrealised, type Holding } from '../../src/core/contracts/position.ts'
import { RoughTerms, boundKnown, boundScore, type RoughLeg } from '../../src/core/contracts/rough.ts'
import { abs, ceilOver, valueUp, withDeductions, type Terms } from '../../src/core/contracts/terms.ts'
import type { Amount, Price, Rate } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'

/** A double as the fraction that it is. */
function fractionOf(double: number): readonly [over: bigint, under: bigint] {
  let [scaled, under] = [double, 1n]
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    under *= 2n
  }
  return [BigInt(scaled), under]
}
/** Above 0: the score is above the double. */
function compare({ over, under }: Score, double: number): bigint {
  if (!Number.isFinite(double)) return double < 0 ? 1n : -1n
  const [top, below] = fractionOf(double)
  return over * below - top * under
}

test('the exact score of a position lies between its bounds, whatever its figures are', () => {
  const below = random(7)
  const digits = (most: number): bigint => {
    let value = BigInt(1 + below(9))
    for (let i = below(most); i > 0; i--) value = value * 10n + BigInt(below(10))
    return value
  }
  const roundly = (value: bigint): bigint => (below(3) > 0 ? value - (value % 10n ** 14n) : value)
  const termsAt = (): Terms => {
    let [limit, rate] = [0n, 0n]
    const tiers = Array.from({ length: 1 + below(8) }, () => ({
      limit: (limit += digits(26)) as Amount,
      maintenance: (rate += digits(17) / 10n) as Rate,
      leverageMax: (10n ** 18n) as Rate,
    }))
    return {
      kind: below(2) === 0 ? 'linear' : 'inverse',
      q: digits(20) as Amount,
      unit: 1n as Amount,
      tf: digits(16) as Rate,
      tick: 1n as Price,
      markTick: 1n as Price,
      tiers: withDeductions(tiers),
    }
  }
  let [sure, narrow] = [0, 0]
  for (let run = 0; run < 20_000; run++) {
    const terms = termsAt()
    const mark = (10n ** 14n + roundly(digits(24))) as Price
    const rough = { rough: new RoughTerms(terms, mark) }
    const legOf = (long: Holding | undefined, short: Holding | undefined): RoughLeg => ({
      on: rough,
      long: Number(abs(long?.size ?? 0n)),
      longPaid: Number(abs(long?.cost ?? 0n)),
      short: Number(abs(short?.size ?? 0n)),
      shortPaid: Number(abs(short?.cost ?? 0n)),
    })
    /** Near what it is worth, at what makes it fall into a tier or next to it, or anything. */
    const held = (sign: bigint): Holding => {
      const tier = terms.tiers[below(terms.tiers.length)]!
      const each = valueUp(terms, 1_000_000n, mark)
      const atLimit = (tier.limit * 1_000_000n) / (each === 0n ? 1n : each) + BigInt(below(3) - 1)
      const size = below(2) === 0 && atLimit > 0n ? atLimit : digits(12)
      const worth: bigint = valueUp(terms, size, mark)
      const cost = below(4) === 0 ? digits(30) : (worth * BigInt(90_000 + below(20_000))) / 100_000n
      return { size: sign * size, cost: (sign * roundly(cost)) as Amount }
    }
    const long = below(2) === 0
    const one = held(long ? 1n : -1n)
    const dual = below(4) === 0
    const other = dual ? held(long ? -1n : 1n) : undefined
    const own = legOf(long ? one : undefined, long ? undefined : one)
    const pnl = unrealised(terms, one, mark)
    const value = valueUp(terms, abs(one.size), mark)
    const beside = other === undefined ? 0n : valueUp(terms, abs(other.size), mark)
    const crossed = below(2) === 0
    const all: bigint = pnl + (crossed && other !== undefined ? unrealised(terms, other, mark) : 0n)
    // As often as not what leaves next to nothing.
    const base = (below(2) === 0 ? BigInt(below(5) - 2) - all : roundly(digits(30))) as Amount
    let maintenance: bigint
    if (other === undefined) maintenance = maintenanceMargin(terms, value)
    else if (crossed)
      maintenance = hedged(terms, value, beside as Amount, (worth) => maintenanceMargin(terms, worth))
    else
      maintenance =
        beside <= value
          ? maintenanceMargin(terms, value)
          : ceilOver(value * maintenanceMargin(terms, beside as Amount), beside)
    const score = deleverageScore(pnl, one, maintenance as Amount, (base + all) as Amount)
    const bounds = { low: 0, high: 0 }
    const legs = crossed && dual ? [legOf(long ? one : other, long ? other : one)] : [own]
    const besides = !crossed && other !== undefined ? Number(abs(other.size)) : 0
    boundScore(bounds, own, { base: Number(base), legs, beside: besides })
    const told = JSON.stringify({ run, ...bounds, rough: String(score.rough) })
    assert.ok(compare(score, bounds.low) >= 0n && compare(score, bounds.high) <= 0n, told)
    if (bounds.low > -Infinity && bounds.high < Infinity) sure++
    if (bounds.high - bounds.low < 1e-6 * Math.abs(bounds.low)) narrow++
    boundKnown(bounds, score)
    assert.ok(compare(score, bounds.low) >= 0n && compare(score, bounds.high) <= 0n, told)
  }
  assert.ok(sure > 9_000 && narrow > 8_000, `${sure} have bounds, ${narrow} of them near each other`)
})
