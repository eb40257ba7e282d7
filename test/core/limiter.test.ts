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
