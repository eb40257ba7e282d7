import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ids, readFields, text } from '../../src/api/fields.ts'
import { readJson, readParts } from '../../src/api/reading.ts'
import { orderEndpoints } from '../../src/api/spot/orders.ts'
import { walletEndpoints } from '../../src/api/wallet.ts'

test('readers are written for declarations, once, and not for requests', () => {
  const calls = [
    [orderEndpoints, 'POST /spot/orders', { currency_pair: 'A_B', side: 'buy', amount: '1', price: '1' }],
    [walletEndpoints, 'POST /wallet/transfers', { currency: 'A', from: 'spot', to: 'margin', amount: '1' }],
  ] as const
  const { Function: writer } = globalThis
  let written = 0
  globalThis.Function = new Proxy(writer, {
    construct: (target, args: string[]) => {
      written++
      return Reflect.construct(target, args)
    },
  })
  try {
    for (const [among, name, body] of calls) {
      const endpoint = among.find(({ method, path }) => `${method} ${path}` === name)!
      const read = (): unknown => readParts(endpoint, {}, {}, body, undefined)
      read()
      const before = written
      read()
      assert.equal(written, before, name)
    }
    // It is noticed where one is written.
    const before = written
    readFields({ a: text({ max: 1 }) }, { a: 'a' })
    assert.equal(written, before + 1)
  } finally {
    globalThis.Function = writer
  }
})

test('of a list that is too long no more is written than is told', () => {
  const item = (i: number) => ({ toJSON: () => (i < 80 ? i : assert.fail(`item ${i} was written`)) })
  const list = Array.from({ length: 500_000 }, (_, i) => item(i))
  assert.throws(
    () => readFields({ a: ids(5) }, { a: list }),
    /^.*a: \[0,1,2,.*… has too many items; at most 5 are allowed$/,
  )
})

test('reading a body of a million values takes a part of what parsing it does', () => {
  const endpoint = orderEndpoints.find(({ method, path }) => `${method} ${path}` === 'POST /spot/orders')!
  const quickest = (run: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now()
        run()
        return performance.now() - began
      }),
    )
  for (const item of ['1', '{}', '[1]']) {
    const body = Buffer.from(`[${`${item},`.repeat(1_000_000 / (item.length + 1))}1]`)
    const parsing = quickest(() => JSON.parse(body.toString()))
    const reading = quickest(() => readJson(endpoint, body))
    assert.ok(reading < parsing / 2, `${item}: ${reading} ms of ${parsing} ms`)
  }
})
