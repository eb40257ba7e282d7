import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encoderOf, kindsOf, textOf, valuesOf, writerOf } from '../../src/machine/codec.ts'
import { ValueSink, ValueSource } from '../../src/machine/values.ts'
import { amountOf } from '../../src/money/amount.ts'

const COLUMNS = {
  id: 'int',
  name: 'text',
  amount: 'amount',
  more: 'json',
  done: 'bool',
  rest: 'amount',
} as const
const live = ({ done }: { readonly done: boolean | null }): boolean => done !== true
const EDGES = [
  0n,
  1n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 63n + 1n,
  2n ** 64n,
  2n ** 127n,
  2n ** 128n,
  3n ** 200n,
]
const AMOUNTS = [null, ...EDGES, ...EDGES.map((edge) => -edge)]
const NAMES = [null, '', 'USDT', 'a"b\\c', 'line\nend', 'é', '\ud83d', '\ude00', '😀']

test('rows come out of another thread as they went in, whatever their values are', () => {
  const put = valuesOf(COLUMNS, live)
  const write = writerOf(kindsOf(COLUMNS, true))
  const text = textOf(COLUMNS, live)
  const plain = encoderOf(COLUMNS, live)
  const rows: object[] = []
  for (const [i, amount] of AMOUNTS.entries())
    for (const [j, name] of NAMES.entries())
      rows.push({
        id: j % 3 === 0 ? null : Date.now() * 1000 + i,
        name,
        amount,
        more: j % 2 === 0 ? null : { name, i },
        done: [true, false, null][i % 3],
        rest: AMOUNTS[(i + j) % AMOUNTS.length],
      })
  const sink = new ValueSink()
  for (const time of ['once', 'and again']) {
    for (const row of rows) put(row, sink)
    const source = new ValueSource(structuredClone(sink.take()))
    for (const row of rows) {
      const expected = JSON.stringify(plain(row))
      assert.equal(write(source), expected, time)
      assert.equal(text(row), expected, time)
    }
    assert.ok(source.done)
  }
})
test('amounts of 64 bits take one slot', () => {
  const put = valuesOf({ amount: 'amount' })
  const slots = (amount: bigint | null): number => {
    const sink = new ValueSink()
    put({ amount }, sink)
    return sink.take().slots.length
  }
  assert.equal(slots(amountOf('9.223372036854775807')), 1)
  assert.equal(slots(amountOf('9.223372036854775808')), 4)
  assert.equal(slots(amountOf('-9.223372036854775808')), 4)
  assert.equal(slots(null), 2)
})

test('wherever the room ends, nothing is written beyond it', () => {
  const columns = { first: 'amount', second: 'amount', last: 'amount' } as const
  const put = valuesOf(columns)
  const write = writerOf(kindsOf(columns, false))
  const wide = 2n ** 300n + 7n
  const row = { first: wide, second: -wide, last: wide }
  const expected = JSON.stringify(encoderOf(columns)(row))
  for (let before = 0; before < 300; before++) {
    const sink = new ValueSink()
    for (let i = 0; i < before; i++) sink.number(i)
    put(row, sink)
    put(row, sink)
    const source = new ValueSource(sink.take())
    for (let i = 0; i < before; i++) assert.equal(source.number(), i)
    assert.equal(write(source), expected, `behind ${before}`)
    assert.equal(write(source), expected, `behind ${before}`)
  }
})
