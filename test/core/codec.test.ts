import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decoderOf, encoderOf, textOf } from '../../src/machine/codec.ts'
import { amountOf } from '../../src/money/amount.ts'

const COLUMNS = { id: 'int', name: 'text', held: 'amount', open: 'bool', more: 'json' } as const

test('a row written as text is, byte for byte, the JSON of its values', () => {
  const encode = encoderOf(COLUMNS)
  const text = textOf(COLUMNS)
  const names = [
    '',
    'plain word',
    'a "quote"',
    'back\\slash',
    'line\nfeed',
    '\u0000',
    '\u007f',
    'Zürich',
    '\u2028',
    '💰',
    '\ud800',
  ]
  const amounts = ['0', '-1', '0.000000000000000001', '-12345678901234567890.5'].map(amountOf)
  for (const [i, name] of names.entries())
    for (const held of amounts)
      for (const more of [null, undefined, 0, 'x"y', { a: ['\\', null] }]) {
        const row = { id: i - 5, name, held, open: i % 2 === 0, more }
        assert.equal(text(row), JSON.stringify(encode(row)))
      }
  assert.equal(text({ id: 9_007_199_254_740_991 }), '[9007199254740991,null,null,null,null]')
})
test('the flag of a live row stands behind its columns', () => {
  const live = (row: { id: number }): boolean => row.id > 1
  assert.equal(textOf({ id: 'int' }, live)({ id: 1 }), '[1,false]')
  assert.equal(
    textOf({ id: 'int' }, live)({ id: 2 }),
    JSON.stringify(encoderOf({ id: 'int' }, live)({ id: 2 })),
  )
})
test('a text that was written right is written right again, plain or not', () => {
  const columns = { a: 'text', b: 'text' } as const
  const text = textOf(columns)
  for (const a of [undefined, '"', '"', 'plain', 'plain', '', '', null, null, '\\', '\\'])
    for (const b of ['"', '"', 'x', 'x', undefined, undefined]) {
      const row = { a, b }
      assert.equal(text(row), JSON.stringify(encoderOf(columns)(row)))
    }
})
test('whatever kind of value stands first and last, and whichever of them is odd', () => {
  const values = { int: [1, null], text: ['word', '"', null], bool: [true, null], json: [{ a: 1 }, null] }
  const kinds = Object.keys(values) as (keyof typeof values)[]
  for (const first of kinds)
    for (const last of kinds)
      for (const a of values[first])
        for (const b of values[last])
          for (const live of [undefined, (): boolean => true]) {
            const columns = { a: first, b: last }
            assert.equal(textOf(columns, live)({ a, b }), JSON.stringify(encoderOf(columns, live)({ a, b })))
          }
})
test('a row comes back as it was written, with one copy of what repeats itself', () => {
  const rows = [
    { id: 1, name: 'BTC', held: amountOf('-1.5'), open: true, more: { limits: [1, { a: null }] } },
    { id: 2, name: null, held: null, open: false, more: null },
    { id: 3, name: 'BTC', held: amountOf('0'), open: null, more: { limits: [1, { a: null }] } },
  ]
  const decode = decoderOf<(typeof rows)[number]>(COLUMNS)
  const back = rows.map((row) => decode(encoderOf(COLUMNS)(row)))
  assert.deepEqual(back, rows)
  assert.equal(back[0]!.more, back[2]!.more)
  assert.throws(() => back[0]!.more!.limits.push(2), TypeError, 'nobody changes it for the others')
  assert.deepEqual(Object.keys(back[0]!), Object.keys(COLUMNS))
  // SQLite tells 0 and 1, PostgreSQL true and false, and of a column that was left out nothing.
  assert.deepEqual(decode([4, 'x', '2', 1]), {
    id: 4,
    name: 'x',
    held: amountOf('2'),
    open: true,
    more: null,
  })
  // What one reader has seen is not kept for the next.
  assert.notEqual(decoderOf<(typeof rows)[number]>(COLUMNS)(encoderOf(COLUMNS)(rows[0]!)).more, back[0]!.more)
  assert.throws(() => decoderOf({ 'a b': 'int' }), /not a name/)
})
