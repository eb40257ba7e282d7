import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUILT_IN_UNIFIED } from '../../src/core/world/built-in-unified.ts'
import { hourlyRate } from '../../src/core/unified/lending.ts'
import { UNIFIED } from '../../src/core/tables/unified/loan-accounts.ts'
import { totalOwed } from '../../src/core/unified/loans.ts'
import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { format } from '../../src/money/amount.ts'
import { Crash } from './crash.ts'
import {
  exactIsolatedLimits,
  exactLimits,
  interestOfMonth,
  liquidationsNearIndex,
  marginKept,
  restrictedLoses,
} from './properties.ts'
import { Lender, NO_SETTINGS } from './setup.ts'

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
  test('a VIP tier pays its own share of the rate, and the record says so', () => {
    const engine = new Lender()
    const unified = { ...BUILT_IN_UNIFIED, tier_up_rates: ['1', '1.18'] }
    engine.must('world.configure', { config: { ...BUILT_IN_WORLD, unified } })
    const owed = [0, 1, 5].map((vip) => {
      const user = engine.user({ USDT: '100000' }, { vip })
      engine.must('margin.mode', { user_id: user, mode: 'multi_currency', settings: NO_SETTINGS })
      engine.loan(user, 'borrow', 'BTC', '1')
      return user
    })
    const rate = format(hourlyRate(engine.state, 'BTC')!)
    engine.due(engine.at + 3_600e6)
    // 3 of 1000 BTC are lent: 0.000002 + 0.000008 x 0.003 / 0.8 = 0.00000203, and 1.18 times that is 0.0000023954.
    assert.equal(rate, '0.00000203')
    assert.deepEqual(
      owed.map((user) => format(totalOwed(engine.state, user, UNIFIED, 'BTC'))),
      ['1.00000203', '1.0000024', '1.0000024'],
    )
  })
  test('no call takes available margin below zero, only prices and interest do', () => {
    for (const seed of [2, 4, 6, 8]) {
      const { done, refused } = marginKept(seed, 2_000)
      assert.ok(done > 500 && refused > 300, `${done} passed, ${refused} were refused`)
    }
  })
})

describe('thieves and their accomplices', () => {
  test('no liquidation trades far from the index, nor more than it needs', () => {
    const { sold, taken } = liquidationsNearIndex(7, 150)
    assert.ok(sold > 50 && taken > 20, `${sold} sales, ${taken} taken over`)
  })
  test('a restricted account loses no more than half a percent of what it owes', () => {
    for (const seed of [1, 2, 3]) {
      const { passed, refused } = restrictedLoses(seed, 600)
      assert.ok(passed > 10 && refused > 50, `${passed} passed, ${refused} were refused`)
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
