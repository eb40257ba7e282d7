import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flatness } from '../bench/flat.ts'

test('the steady bench says flat of what stays, and not of what grows', () => {
  const grows = Array.from({ length: 60 }, (_, i) => 200 + i * 3)
  const warms = Array.from({ length: 60 }, (_, i) => Math.min(200, 100 + i * 10))
  const jumps = Array.from({ length: 60 }, (_, i) => 200 + (i % 7 === 0 ? 500 : 0))
  assert.equal(flatness(grows, { slack: 10 }).flat, false)
  assert.match(flatness(grows, { slack: 10 }).text, /^NOT FLAT: 290\.0 .* 350\.0/)
  assert.equal(flatness(warms, { slack: 10 }).flat, true)
  assert.equal(flatness(jumps, { slack: 10 }).flat, true, 'one figure is none')
  assert.equal(flatness([0, 0, 0, 0, 0, 0, 5, 4, 6], { slack: 100 }).flat, true)
  assert.equal(flatness([0, 0, 0, 0, 0, 0, 500, 400, 600], { slack: 100 }).flat, false)
  assert.equal(flatness([1, 2, 3], { slack: 1 }).flat, undefined)
})
