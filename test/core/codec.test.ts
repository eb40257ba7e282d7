import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encoderOf, textOf } from '../../src/machine/codec.ts'
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
