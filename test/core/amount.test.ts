import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  amountOf,
  decimalsOf,
  format,
  overDown,
  overUp,
  parseAmount,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  unitOf,
  type Amount,
  type Price,
} from '../../src/money/amount.ts'

const amounts = fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }).map((value) => value as Amount)
const prices = fc.bigInt({ min: 1n, max: 10n ** 26n }).map((value) => value as Price)
const ONE = 10n ** 18n

test('text to amount and back, canonically', () => {
  for (const [text, canonical] of [
    ['0', '0'],
    ['1', '1'],
    ['007', '7'],
    ['1.50', '1.5'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['99999999999999999999.999999999999999999', '99999999999999999999.999999999999999999'],
    ['10.0', '10'],
  ] as const)
    assert.equal(format(parseAmount(text)!), canonical)
  for (const text of [
    '',
    '-1',
    '+1',
    '1e5',
    '.5',
    '1.',
    '1.0000000000000000001',
    '123456789012345678901',
    ' 1',
    '1 ',
    '١',
  ])
    assert.equal(parseAmount(text), undefined, text)
  assert.equal(format(amountOf('-2.5')), '-2.5')
})
test('format and parse are inverse', () => {
  fc.assert(fc.property(amounts, (amount) => amountOf(format(amount)) === amount))
})
test('rounding goes the way its name says, by less than a unit', () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 18 }), (amount, decimals) => {
      const [down, up] = [roundDown(amount, decimals), roundUp(amount, decimals)]
      assert.ok(down <= amount && amount <= up)
      assert.ok(up - down === 0n || up - down === unitOf(decimals))
      assert.ok(decimalsOf(down) <= decimals && decimalsOf(up) <= decimals)
    }),
  )
})
test('products and quotients bracket the true value', () => {
  fc.assert(
    fc.property(amounts, prices, (amount, price) => {
      const exact = amount * price
      assert.ok(timesDown(amount, price) * ONE <= exact && exact <= timesUp(amount, price) * ONE)
      assert.ok(timesUp(amount, price) - timesDown(amount, price) <= 1n)
      assert.ok(
        overDown(amount, price) * price <= amount * ONE && amount * ONE <= overUp(amount, price) * price,
      )
      assert.ok(overUp(amount, price) - overDown(amount, price) <= 1n)
    }),
  )
})
