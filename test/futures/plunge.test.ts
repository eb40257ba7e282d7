import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Plunge } from './plunge.ts'
import { BTC_USDT } from './world.ts'

test('a fall of 60 % in a minute: all who can not bear it are closed, the winners give up as ranked, the books balance', () => {
  const plunge = new Plunge(300)
  plunge.ranked = true
  plunge.prove()
  plunge.fall(24_000, 60)
  plunge.prove()
  const { long, short, longs } = plunge.state.futures.positions.sumsOf(BTC_USDT)
  assert.equal(long, short)
  assert.ok(plunge.liquidations > 100, `${plunge.liquidations} liquidations`)
  assert.ok(plunge.deleveraged.length > 20, `${plunge.deleveraged.length} deleveraged`)
  assert.ok(longs < 20, `${longs} longs are left`)
})
