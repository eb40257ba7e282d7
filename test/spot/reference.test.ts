import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Comparison } from './compare.ts'

/** More with KONTOR_MATCH_OPERATIONS=1000000. */
const OPERATIONS = Number(process.env['KONTOR_MATCH_OPERATIONS'] ?? 100_000)
const SEEDS = [1, 2, 3, 4]

describe('matching beside a plain reference', () => {
  for (const seed of SEEDS)
    test(`random operations of seed ${seed} give the same orders, fills and balances`, (context) => {
      const comparison = new Comparison(seed)
      for (let i = 0; i < OPERATIONS / SEEDS.length; i++) comparison.step()
      comparison.compareAll()
      const { operations, fills, refusals } = comparison.counts
      context.diagnostic(`${operations} operations, ${fills} fills, ${refusals} refusals`)
      assert.ok(fills > operations / 10)
      assert.ok(refusals > 0)
    })
})
