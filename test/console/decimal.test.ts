import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ceil,
  dec,
  display,
  div,
  floor,
  mul,
  parse,
  percent,
  show,
  text,
} from '../../console/src/lib/decimal.ts'
import { csv } from '../../console/src/lib/csv.ts'
import { millis, relative, span } from '../../console/src/lib/time.ts'

test('what is read is written again, digit by digit', () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 40n), 10n ** 40n), (value) => {
      assert.equal(parse(text(value)), value)
    }),
  )
  assert.equal(text(dec('0.100000000000000001')), '0.100000000000000001')
  assert.equal(text(dec('123456789012345678901234567890.5')), '123456789012345678901234567890.5')
  assert.equal(text(dec('1e-7')), '0.0000001')
  assert.equal(text(dec('-0')), '0')
  for (const bad of ['', '.', 'x', '1.2.3', '0x1', '1 000', '0.1234567890123456789', 'NaN', '--1'])
    assert.equal(parse(bad), undefined, bad)
})
test('what is shown is cut, never rounded up, and tells that it was', () => {
  assert.equal(display('1234567.891', { places: 2 }), '1\u2009234\u2009567.89')
  assert.equal(display('0.999999', { places: 2 }), '0.99')
  assert.equal(display('-0.5', { places: 2, fixed: true }), '−0.50')
  assert.equal(display('5', { signed: true }), '+5')
  assert.equal(show('0.123', { places: 2 }).cut, true)
  assert.equal(show('0.12', { places: 2 }).cut, false)
  assert.equal(percent('0.0132'), '1.32\u202f%')
})
test('products and quotients lose less than the last place', () => {
  assert.equal(text(mul(dec('0.1'), dec('0.2'))), '0.02')
  assert.equal(text(div(dec('1'), dec('3'))), '0.333333333333333333')
  assert.equal(div(dec('1'), 0n), 0n)
  assert.equal(text(floor(dec('1.239'), 2)), '1.23')
  assert.equal(text(floor(dec('-1.231'), 2)), '-1.24')
  assert.equal(text(ceil(dec('1.231'), 2)), '1.24')
  assert.equal(text(ceil(dec('1.23'), 2)), '1.23')
})
test('a sheet holds no formula that somebody wrote into a name', () => {
  assert.equal(
    csv(
      ['a', 'b'],
      [
        ['=HYPERLINK("x")', '-1.5'],
        ['a,b', '@x'],
      ],
    ),
    `a,b\r\n"'=HYPERLINK(""x"")",-1.5\r\n"a,b",'@x\r\n`,
  )
})
test('times of every form', () => {
  assert.equal(millis('1700000000'), 1_700_000_000_000)
  assert.equal(millis(1_700_000_000_123), 1_700_000_000_123)
  assert.equal(millis('1700000000.5'), 1_700_000_000_500)
  assert.equal(millis('0'), undefined)
  assert.equal(millis('2026-01-01T00:00:00Z'), Date.UTC(2026, 0, 1))
  assert.equal(relative(0, 180_000), '3 min ago')
  assert.equal(span(90_000), '1 min 30 s')
  assert.equal(span(86_400_000), '1 d')
})
