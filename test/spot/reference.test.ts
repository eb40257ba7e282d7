import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Comparison } from './compare.ts'

/** A million, in some minutes: KONTOR_MATCH_OPERATIONS=1000000 npm test -- spot/reference */
const OPERATIONS = Number(process.env['KONTOR_MATCH_OPERATIONS'] ?? 200_000)
/** Operations of one market. Many short ones see more than a long one does: other books, and fresh money. */
const MARKET_OPERATIONS = 2_500
const PARTS = 4

describe('matching beside a plain reference', () => {
  const markets = Math.ceil(OPERATIONS / MARKET_OPERATIONS / PARTS)
  for (let part = 0; part < PARTS; part++)
    test(
      `${markets * MARKET_OPERATIONS} random operations, part ${part + 1} of ${PARTS}: the same orders, fills and balances`,
      { timeout: 3_600_000 },
      (context) => {
        const sum = { operations: 0, fills: 0, refusals: 0, deepest: 0 }
        for (let market = 0; market < markets; market++) run(part * markets + market + 1, sum)
        context.diagnostic(JSON.stringify(sum))
        assert.ok(sum.fills > sum.operations / 10)
        assert.ok(sum.refusals > sum.operations / 100)
        assert.ok(sum.deepest > 50)
      },
    )
})
type Sum = { operations: number; fills: number; refusals: number; deepest: number }
function run(seed: number, sum: Sum): void {
  const comparison = new Comparison(seed)
  try {
    for (let i = 0; i < MARKET_OPERATIONS; i++) {
      comparison.step()
      if (i % 50 === 49) sum.deepest = Math.max(sum.deepest, comparison.depth)
    }
    comparison.compareAll()
  } catch (error) {
    throw new Error(`market of seed ${seed}, operation ${comparison.counts.operations}`, { cause: error })
  }
  sum.operations += comparison.counts.operations
  sum.fills += comparison.counts.fills
  sum.refusals += comparison.counts.refusals
}
