import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Limiter } from '../../src/api/limiter.ts'

test('exactly N pass in any window, whatever the rhythm', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 300, size: 'max' }),
      (limit, gaps) => {
        const limiter = new Limiter(1)
        const passed: number[] = []
        let now = 1_000_000_000_000
        for (const gap of gaps) {
          now += gap
          const inWindow = passed.filter((time) => time > now - 1e6).length
          const allowance = limiter.admit('bucket', limit, 1, now)
          assert.equal(allowance.allowed, inWindow < limit)
          if (allowance.allowed) {
            passed.push(now)
            assert.equal(allowance.remain, limit - inWindow - 1)
          } else assert.ok(allowance.resetAt > now && allowance.resetAt <= now + 1e6)
        }
      },
    ),
  )
})
test('a multiplier scales, off switches off, buckets are apart', () => {
  const half = new Limiter(0.5)
  assert.deepEqual(
    [1, 2, 3].map(() => half.admit('a', 4, 1, 1).allowed),
    [true, true, false],
  )
  assert.equal(half.admit('b', 4, 1, 1).allowed, true)
  const off = new Limiter(null)
  for (let i = 0; i < 100; i++) assert.equal(off.admit('a', 1, 10, 1).allowed, true)
})

test('a request that counts as several passes when there is room for all of them', () => {
  const limiter = new Limiter(1)
  const admit = (cost: number, at: number) => limiter.admit('b', 10, 1, at, cost)
  assert.equal(admit(4, 0).remain, 6)
  assert.equal(admit(4, 300_000).remain, 2)
  const refused = admit(5, 400_000)
  assert.equal(`${refused.allowed} ${refused.remain}`, 'false 2')
  // Three places are missing, and the first four come free together.
  assert.equal(refused.resetAt, 1_000_000)
  assert.equal(admit(7, 500_000).resetAt, 1_300_000, 'five are missing: those of the second are needed')
  assert.equal(admit(2, 500_000).remain, 0)
  assert.equal(admit(1, 999_999).allowed, false)
  assert.equal(admit(4, 1_000_000).remain, 0)
  // One that can never pass counts nothing.
  const never = admit(11, 5_000_000)
  assert.equal(`${never.allowed} ${never.remain}`, 'false 10')
  assert.equal(admit(10, 5_000_000).allowed, true)
})

test('a limit that is raised holds for the same bucket at once', () => {
  const limiter = new Limiter(1)
  for (let i = 0; i < 3; i++) assert.equal(limiter.admit('b', 3, 1, i).allowed, true)
  assert.equal(limiter.admit('b', 3, 1, 3).allowed, false)
  for (let i = 4; i < 11; i++) assert.equal(limiter.admit('b', 10, 1, i).allowed, true)
  assert.equal(limiter.admit('b', 10, 1, 11).allowed, false)
  // All ten were kept in their order.
  assert.equal(limiter.admit('b', 10, 1, 1_000_001).remain, 1)
})

test('buckets that nobody uses any more are let go, after a reset to an earlier time too', () => {
  const limiter = new Limiter(1)
  const { rings } = limiter as unknown as { readonly rings: ReadonlyMap<string, unknown> }
  const fill = (at: number): void => {
    for (let i = 0; i < 100; i++) limiter.admit(`bucket ${i}`, 10, 1, at)
  }
  const later = 30 * 86_400e6
  fill(later)
  limiter.admit('another', 10, 1, later + 20e6)
  assert.equal(rings.size, 1)
  fill(later + 20e6)
  limiter.clear()
  fill(20e6)
  limiter.admit('another', 10, 1, 40e6)
  assert.equal(rings.size, 1)
})
