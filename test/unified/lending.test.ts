import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UNIFIED } from '../../src/core/unified/loan-book.ts'
import { INTEREST_RECORD } from '../../src/core/unified/records.ts'
import { hourlyRate } from '../../src/core/unified/lending.ts'
import { interestOf } from '../../src/core/unified/interest.ts'
import { borrowable, totalOwed, transferable } from '../../src/core/unified/loans.ts'
import { figuresOf } from '../../src/core/unified/portfolio.ts'
import { mustLiquidate } from '../../src/core/unified/levels.ts'
import { RiskWatch } from '../../src/core/unified/watch.ts'
import { add, amountOf, format, unitOf, type Amount } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'
import { Lender } from './setup.ts'

const HOUR = 3_600e6

describe('lending', () => {
  test('borrowing exactly what is borrowable succeeds, one unit more fails; the same for leaving', () => {
    const engine = new Lender()
    const draw = random(11)
    let bounded = 0
    for (let i = 0; i < 300; i++) {
      engine.prices({
        BTC: String(10_000 + draw(90_000)),
        ETH: String(500 + draw(5_000)),
        DOGE: `0.${1 + draw(9)}`,
      })
      const user = engine.unified({
        USDT: String(1 + draw(5_000)),
        BTC: `0.${1 + draw(999)}`,
        DOGE: String(1 + draw(9_000)),
      })
      engine.loan(user, 'borrow', 'ETH', `0.${1 + draw(99)}`)
      const currency = ['USDT', 'BTC', 'ETH', 'DOGE'][draw(4)]!
      const most = borrowable(engine.state, user, 'unified', currency)
      const more = (most + unitOf(8)) as Amount
      if (most < engine.state.world.loanTerms(currency)!.minBorrow) continue
      bounded++
      assert.ok('label' in engine.loan(user, 'borrow', currency, format(more)))
      assert.ok(
        !('label' in engine.loan(user, 'borrow', currency, format(most))),
        `${format(most)} ${currency}`,
      )
      assert.ok(figuresOf(engine.state, user, 'unified').available >= 0n)
      engine.loan(user, 'repay', currency, format((most / 2n - ((most / 2n) % unitOf(8))) as Amount))
      const out = transferable(engine.state, user, 'unified', 'USDT')
      const move = (amount: Amount) =>
        engine.run('transfer.create', {
          user_id: user,
          currency: 'USDT',
          from: 'spot',
          to: 'futures',
          amount: format(amount),
          currency_pair: null,
          settle: 'usdt',
        })
      assert.ok('label' in move((out + unitOf(8)) as Amount))
      if (out > 0n) assert.ok(!('label' in move(out)))
      assert.ok(figuresOf(engine.state, user, 'unified').available >= 0n)
    }
    assert.ok(bounded > 200, `${bounded}`)
  })
  test('interest of 30 days by the clock is the sum by hand, to the last unit', () => {
    const engine = new Lender()
    const user = engine.unified({ USDT: '100000' })
    engine.loan(user, 'borrow', 'BTC', '1.2345')
    const start = Math.ceil(engine.at / HOUR) * HOUR
    let owed = amountOf('1.2345')
    let charged = 0n as Amount
    for (let hour = 0; hour < 30 * 24; hour++) {
      const interest = interestOf(owed, hourlyRate(engine.state, 'BTC')!, 8)
      owed = add(owed, interest)
      charged = add(charged, interest)
      engine.due(start + hour * HOUR + 1)
      assert.equal(totalOwed(engine.state, user, UNIFIED, 'BTC'), owed)
    }
    assert.ok(charged > 0n)
    assert.equal(engine.state.ledger.balance(0, 'lending.accrued', 'BTC'), charged)
    engine.must('user.credit', {
      user_id: user,
      account: 'spot',
      currency: 'BTC',
      amount: '1',
      currency_pair: null,
      settle: null,
      actor: null,
    })
    engine.must('margin.loan', {
      user_id: user,
      scope: 'unified',
      currency: 'BTC',
      type: 'repay',
      amount: null,
      repaid_all: true,
      text: null,
      known_id: null,
    })
    assert.equal(engine.state.ledger.balance(0, 'lending.accrued', 'BTC'), 0n)
    assert.equal(engine.state.ledger.balance(0, 'lending.lent', 'BTC'), 0n)
    const lenders = engine.state.ledger.balance(0, 'lending.pool', 'BTC') - amountOf('1000')
    const platform = engine.state.ledger.balance(0, 'interest', 'BTC')
    assert.equal(lenders + platform, charged)
    assert.ok(platform * 100n >= charged * 15n)
    assert.equal(INTEREST_RECORD.name, 'interest_record')
  })
  test('no call takes available margin below zero, only prices and interest do', () => {
    const engine = new Lender()
    const draw = random(23)
    engine.prices({ BTC: '60000', ETH: '3000' })
    const maker = engine.user({ BTC: '1000', ETH: '1000', USDT: '100000000' })
    const users = Array.from({ length: 8 }, () => engine.unified({ USDT: '10000', BTC: '0.1' }))
    let [passed, refusedCount] = [0, 0]
    for (let i = 0; i < 3_000; i++) {
      const user = users[draw(users.length)]!
      const price = String(59_000 + draw(2_000))
      const action = draw(7)
      if (action === 0) engine.place(maker, draw(2) === 0 ? 'buy' : 'sell', '0.05', price)
      const outcome =
        action < 3
          ? engine.place(user, draw(2) === 0 ? 'buy' : 'sell', `0.${1 + draw(9)}`, price, {
              auto_borrow: draw(2) === 0,
              auto_repay: draw(2) === 0,
            })
          : action === 3
            ? engine.run('spot.cancel_all', { user_id: user, currency_pair: null, side: null, account: null })
            : action === 4
              ? engine.run('transfer.create', {
                  user_id: user,
                  currency: 'USDT',
                  from: 'spot',
                  to: 'futures',
                  amount: String(1 + draw(4_000)),
                  currency_pair: null,
                  settle: 'usdt',
                })
              : action === 5
                ? engine.loan(user, 'borrow', ['BTC', 'USDT', 'ETH'][draw(3)]!, String(1 + draw(3)))
                : engine.loan(user, 'repay', ['BTC', 'USDT', 'ETH'][draw(3)]!, `0.${1 + draw(9)}`)
      if ('label' in outcome) refusedCount++
      else passed++
      for (const one of users)
        if (engine.state.margin.owes(one, 'unified'))
          assert.ok(figuresOf(engine.state, one, 'unified').available >= 0n, `step ${i}`)
    }
    assert.ok(passed > 500 && refusedCount > 300, `${passed} passed, ${refusedCount} were refused`)
  })
})

describe('a market crash', () => {
  const ACCOUNTS = 400
  test(`of ${ACCOUNTS} leveraged accounts those below maintenance are liquidated and no other is touched`, () => {
    const engine = new Lender()
    engine.prices({ BTC: '60000' })
    const watch = new RiskWatch(engine.state)
    const draw = random(3)
    const maker = engine.user({ USDT: '2000000000' })
    const users = Array.from({ length: ACCOUNTS }, () => {
      const user = engine.unified({ BTC: '0.1', USDT: '10' })
      // 0.098 x 60000 = 5880 of margin: debts that are taken out of the account, from safe to thin.
      engine.loan(user, 'borrow', 'USDT', String(1_000 + draw(4_300)))
      const out = transferable(engine.state, user, 'unified', 'USDT')
      engine.must('transfer.create', {
        user_id: user,
        currency: 'USDT',
        from: 'spot',
        to: 'futures',
        amount: format(out),
        currency_pair: null,
        settle: 'usdt',
      })
      return user
    })
    const step = (): void => {
      for (;;) {
        const { found, more } = watch.suspects(500)
        if (found.length > 0) engine.must('margin.check', { accounts: found })
        if (!more) return
      }
    }
    step()
    const insured = (): Amount => engine.state.ledger.balance(0, 'insurance', 'USDT')
    const fund = insured()
    let touched = 0
    for (const price of ['56500', '53000', '40000']) {
      engine.run('spot.cancel_all', { user_id: maker, currency_pair: null, side: null, account: null })
      engine.place(maker, 'buy', '50', price)
      engine.prices({ BTC: price })
      const below = new Set(users.filter((user) => mustLiquidate(figuresOf(engine.state, user, 'unified'))))
      const before = new Map(users.map((user) => [user, engine.state.ledger.balance(user, 'spot', 'BTC')]))
      step()
      for (const user of users) assert.equal(engine.state.margin.isLocked(user, 'unified'), below.has(user))
      engine.due(engine.at + 30e6)
      for (const user of users) {
        assert.equal(engine.state.margin.isLocked(user, 'unified'), false, 'every liquidation has ended')
        const sold = engine.state.ledger.balance(user, 'spot', 'BTC') !== before.get(user)
        assert.equal(sold, below.has(user), `user ${user} at ${price}`)
        assert.equal(mustLiquidate(figuresOf(engine.state, user, 'unified')), false)
      }
      touched += below.size
    }
    assert.ok(touched > 100, `${touched} liquidations`)
    // At 40000 the collateral of the thin accounts is worth less than their debts: the fund paid the difference.
    assert.ok(insured() < fund)
    engine.state.ledger.check()
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
