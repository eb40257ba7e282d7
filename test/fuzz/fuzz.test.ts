import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ALL_TARGETS, Fuzz, HEAP_GROWTH_MAX, type FuzzReport } from './run.ts'

/** `FUZZ=100000 SEED=7 npm test -- fuzz/fuzz` runs more, or others; the long run is `npm run fuzz`. */
const REQUESTS = Number(process.env['FUZZ'] ?? 20_000)
const SEED = Number(process.env['SEED'] ?? 1)
/** Of every ten requests two go through a gateway. */
const BEHIND = 0.2

function inOrder({ violations, growth, heap }: FuzzReport): void {
  assert.deepEqual(violations.slice(0, 20), [], `seed ${SEED}, ${violations.length} violations`)
  assert.ok(growth < HEAP_GROWTH_MAX, `seed ${SEED}: the heap grew: ${heap.join(' ')}`)
}

describe('hostile input', () => {
  test('every endpoint, channel and call: no 5xx, no silence, no label that is not declared, nothing held, nothing made', async () => {
    const report = await Fuzz.run({ requests: Math.round(REQUESTS * (1 - BEHIND)), seed: SEED, gateways: 0 })
    inOrder(report)
    // A run that is refused at the door has tested nothing.
    assert.deepEqual(
      ALL_TARGETS.filter((name) => !report.called.has(name)),
      [],
    )
    const reached = ALL_TARGETS.filter((name) => report.succeeded.has(name)).length
    assert.ok(
      reached > ALL_TARGETS.length * 0.6,
      `${reached} of ${ALL_TARGETS.length} endpoints did what they were asked`,
    )
    for (const kind of [
      '200',
      '201',
      '204',
      '400',
      '401',
      '403',
      '404',
      'frame ok',
      'call 200',
      'push',
      'broken',
      'broken frame',
    ])
      assert.ok((report.statuses[kind] ?? 0) > 0, `none of ${kind}: ${JSON.stringify(report.statuses)}`)
  })
  test('the same through a gateway, which reads bodies and fields itself', async () => {
    inOrder(await Fuzz.run({ requests: Math.round(REQUESTS * BEHIND), seed: SEED + 1, gateways: 1 }))
  })
})
