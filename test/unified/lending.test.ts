import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RiskWatch } from '../../src/core/unified/watch.ts'
import { Crash } from './crash.ts'
import { exactIsolatedLimits, exactLimits, interestOfMonth, marginKept } from './properties.ts'
import { Lender } from './setup.ts'

describe('lending', () => {
  test('in thousands of portfolios and price sets the limits are exact, by the commands themselves', () => {
    const { loans, leaving } = exactLimits(11, 2_500)
    assert.ok(loans > 1_000 && leaving > 1_000, `${loans} loans, ${leaving} transfers`)
    const isolated = exactIsolatedLimits(12, 1_000)
    assert.ok(isolated > 700, `${isolated} isolated loans`)
  })
  test('interest of 30 days by the clock is the sum by hand, to the last unit', () => {
    for (const amount of ['1.2345', '0.00010001']) assert.ok(interestOfMonth(amount) > 0n)
  })
  test('no call takes available margin below zero, only prices and interest do', () => {
    for (const seed of [2, 4, 6, 8]) {
      const { done, refused } = marginKept(seed, 2_000)
      assert.ok(done > 500 && refused > 300, `${done} passed, ${refused} were refused`)
    }
  })
})

describe('a market crash', () => {
  const ACCOUNTS = 1_000
  test(`of ${ACCOUNTS} leveraged accounts exactly those below maintenance are liquidated, and all books are right`, () => {
    const crash = new Crash(ACCOUNTS)
    crash.look()
    let touched = 0
    for (const [btc, eth] of [
      ['53000', '2600'],
      ['47000', '2300'],
      ['36000', '1800'],
    ] as const) {
      const { below } = crash.fall(btc, eth)
      assert.ok(below > 10, `${below} below at ${btc}`)
      touched += below
    }
    assert.ok(touched > 200, `${touched} liquidations`)
    // At 36000 the collateral of the thin accounts is worth less than their debts: the fund paid the difference.
    assert.ok(crash.insured > 0n)
  })
  test('a tick in one currency looks at no account without it', () => {
    const engine = new Lender()
    engine.prices({ BTC: '60000', ETH: '3000' })
    const watch = new RiskWatch(engine.state)
    for (let i = 0; i < 50; i++) {
      const holder = engine.unified(i % 2 === 0 ? { BTC: '0.1' } : { ETH: '2' })
      engine.loan(holder, 'borrow', 'USDT', '3000')
    }
    assert.deepEqual(watch.suspects(1000).found, [])
    const looks = watch.looks
    engine.prices({ ETH: '80' })
    watch.suspects(1000)
    const after = watch.looks - looks
    assert.ok(after > 0 && after <= 25, `${after} looks`)
    engine.prices({ ETH: '79.9' })
    const again = watch.looks
    watch.suspects(1000)
    assert.equal(watch.looks, again, 'a tick within the distance of all accounts looks at none')
  })
})
