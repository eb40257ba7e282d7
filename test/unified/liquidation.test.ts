import { type AccountName } from '../../src/core/ledger/accounts.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { figuresOf } from '../../src/core/unified/portfolio.ts'
import { amountOf, format, timesDown, type Amount } from '../../src/money/amount.ts'
import { Lender } from './setup.ts'

/** A liquidation, an accomplice who waits for it with an order far from the index, and what it costs whom. */
class Scene extends Lender {
  readonly fund: (name: AccountName, currency: string) => bigint = (name, currency) =>
    this.state.ledger.balance(0, name, currency)

  /** Holds some of one currency, and owes another that has left the account. */
  thin(has: Readonly<Record<string, string>>, owes: string, amount: string, pair = `${owes}_USDT`): number {
    const user = this.unified(has)
    const lent = this.loan(user, 'borrow', owes, amount)
    assert.ok('reply' in lent)
    const target =
      owes === 'USDT'
        ? { to: 'futures' as const, currency_pair: null, settle: 'usdt' }
        : { to: 'margin' as const, currency_pair: pair, settle: null }
    this.must('transfer.create', { user_id: user, currency: owes, amount, from: 'spot', ...target })
    return user
  }
  liquidate(user_id: number, scope = 'unified', seconds = 15): void {
    assert.equal(this.must('margin.check', { accounts: [{ user_id, scope }] }), 1, 'it must be liquidated')
    this.due(this.at + seconds * 1e6)
  }
  /** Sums of the steps of one kind, by currency. */
  sum(kind: string): Record<string, string> {
    const sums = new Map<string, bigint>()
    for (const { step, currency, amount } of this.steps)
      if (step === kind) sums.set(currency, (sums.get(currency) ?? 0n) + amount)
    return Object.fromEntries([...sums].map(([currency, amount]) => [currency, format(amount as Amount)]))
  }
  rate(user: number, scope = 'unified'): number {
    return Number(format(figuresOf(this.state, user, scope).maintenanceRate))
  }
  balance(user: number, currency: string, name: AccountName = 'spot'): number {
    return Number(format(this.state.ledger.balance(user, name, currency)))
  }
}

describe('a liquidation trades near the index', () => {
  test("an accomplice's bid far below it gets nothing, and the fund pays for no debt that is covered", () => {
    const engine = new Scene()
    engine.prices({ BTC: '60000' })
    const user = engine.thin({ BTC: '1' }, 'USDT', '50000')
    const accomplice = engine.user({ USDT: '100000' })
    engine.place(accomplice, 'buy', '1', '6100')
    const before = engine.fund('insurance', 'USDT')
    // 52500 x 0.98 - 50000 = 1450: below the maintenance margin of 1500, and still covered.
    engine.prices({ BTC: '52500' })
    engine.liquidate(user)
    assert.equal(engine.balance(accomplice, 'BTC'), 0)
    assert.deepEqual([engine.sum('sold'), engine.sum('insured'), engine.sum('socialised')], [{}, {}, {}])
    // The fund took it over at the index less 3 %, and no more than made the account healthy again.
    const paid = (before - engine.fund('insurance', 'USDT')) as Amount
    const got = timesDown(amountOf(engine.sum('taken_over')['BTC']!), amountOf('52500') as never)
    assert.ok(timesDown(got, amountOf('0.97') as never) >= paid, `${format(paid)} for ${format(got)}`)
    assert.ok(timesDown(got, amountOf('0.96999') as never) <= paid, `${format(paid)} for ${format(got)}`)
    assert.ok(engine.rate(user) >= 1.2 && engine.rate(user) < 1.21, `${engine.rate(user)}`)
    assert.ok(engine.balance(user, 'BTC') > 0.7, `${engine.balance(user, 'BTC')} BTC are left`)
    assert.equal(engine.state.margin.isLocked(user, 'unified'), false)
  })
  test('nothing is sold that need not be sold', () => {
    const engine = new Scene()
    engine.prices({ BTC: '60000' })
    const user = engine.thin({ BTC: '1', ETH: '0.01' }, 'USDT', '50000')
    engine.place(engine.user({ USDT: '200000' }), 'buy', '3', '52500')
    engine.prices({ BTC: '52400' })
    engine.liquidate(user)
    // 52400 x 0.98 - 50000 + 29 = 1381. A sale of x brings 0.0182 x and needs 0.03 x less: 1.2 at about 7,720.
    assert.ok(engine.rate(user) >= 1.2 && engine.rate(user) < 1.205, `${engine.rate(user)}`)
    const sold = Number(engine.sum('sold')['BTC']) * 52_400
    assert.ok(sold > 7_000 && sold < 8_500, `${sold} USDT worth was sold`)
    assert.deepEqual(engine.sum('taken_over'), {})
    assert.equal(engine.balance(user, 'ETH'), 0.01)
  })
  test('a bought-back debt likewise: no ask far above the index is taken', () => {
    const engine = new Scene()
    engine.prices({ GT: '8' })
    const user = engine.thin({ USDT: '40000' }, 'GT', '4000')
    const accomplice = engine.user({ GT: '5000' })
    engine.place(accomplice, 'sell', '1', '8', { currency_pair: 'GT_USDT' })
    engine.place(engine.user({ USDT: '100' }), 'buy', '1', '8', { currency_pair: 'GT_USDT' })
    engine.place(accomplice, 'sell', '500', '79', { currency_pair: 'GT_USDT' })
    engine.prices({ GT: '9.4' })
    engine.liquidate(user)
    assert.equal(engine.balance(accomplice, 'USDT'), 7.984)
    assert.deepEqual(engine.sum('sold'), {})
    const honest = engine.user({ GT: '5000' })
    engine.place(honest, 'sell', '4000', '9.6', { currency_pair: 'GT_USDT' })
    engine.due(engine.at + 61e6)
    assert.ok(engine.balance(honest, 'USDT') > 0)
    assert.ok(engine.rate(user) >= 1.2)
  })
  test('where our own last price is does not matter', () => {
    const engine = new Scene()
    engine.prices({ GT: '8' })
    const user = engine.thin({ GT: '10000' }, 'USDT', '60000')
    engine.place(engine.user({ GT: '1' }), 'sell', '1', '8000', { currency_pair: 'GT_USDT' })
    engine.place(engine.user({ USDT: '9000' }), 'buy', '1', '8000', { currency_pair: 'GT_USDT' })
    const buyer = engine.user({ USDT: '100000' })
    engine.place(buyer, 'buy', '9000', '7.2', { currency_pair: 'GT_USDT' })
    engine.prices({ GT: '7.2' })
    engine.liquidate(user)
    assert.ok(engine.balance(buyer, 'GT') > 500, `${engine.balance(buyer, 'GT')} GT were sold`)
  })
  test('nobody hides from it behind an order of his own group', () => {
    const engine = new Scene()
    engine.prices({ BTC: '60000' })
    const user = engine.thin({ BTC: '1' }, 'USDT', '50000')
    const sub = engine.user({ USDT: '100000' }, { parent_id: user })
    const group = engine.must('stp_group.create', { user_id: user, name: 'g' })
    engine.must('stp_group.add', { user_id: user, stp_id: group.id, members: [user, sub] })
    engine.place(sub, 'buy', '0.00100', '52450')
    const buyer = engine.user({ USDT: '100000' })
    engine.place(buyer, 'buy', '1', '52400')
    engine.prices({ BTC: '52400' })
    engine.liquidate(user)
    assert.ok(engine.balance(buyer, 'BTC') > 0.1)
  })
  test('isolated margin: the same bound, and only as much as is needed, in any quote currency', () => {
    const engine = new Scene()
    engine.prices({ BTC: '60000', ETH: '3000' })
    const user = engine.user({ ETH: '100' })
    const into = { from: 'spot', to: 'margin', currency_pair: 'ETH_BTC', settle: null } as const
    engine.must('transfer.create', { user_id: user, currency: 'ETH', amount: '100', ...into })
    const lent = engine.loan(user, 'borrow', 'BTC', '4', 'ETH_BTC')
    assert.ok('reply' in lent)
    // Spent on what is worth it, so that there is no BTC to repay with.
    engine.place(engine.user({ ETH: '100' }), 'sell', '80', '0.05', { currency_pair: 'ETH_BTC' })
    engine.place(user, 'buy', '80', '0.05', { currency_pair: 'ETH_BTC', account: 'margin' })
    const accomplice = engine.user({ BTC: '10' })
    engine.place(accomplice, 'buy', '100', '0.006', { currency_pair: 'ETH_BTC' })
    // 179.84 ETH at 0.0233 are 4.19 BTC against 4: below 5 %.
    engine.prices({ ETH: '1398' })
    const before = engine.fund('insurance:margin', 'BTC')
    engine.liquidate(user, 'ETH_BTC')
    assert.equal(engine.balance(accomplice, 'ETH'), 0)
    assert.deepEqual([engine.sum('sold'), engine.sum('insured')], [{}, {}])
    const paid = (before - engine.fund('insurance:margin', 'BTC')) as Amount
    const got = timesDown(amountOf(engine.sum('taken_over')['ETH']!), amountOf('0.0233') as never)
    assert.ok(paid > 0n && timesDown(got, amountOf('0.97') as never) >= paid)
    assert.ok(engine.rate(user, 'ETH_BTC') >= 1.2)
    assert.ok(engine.balance(user, 'ETH', 'margin:ETH_BTC') > 20, 'something is left to its owner')
  })
  test('what the fund can not pay waits, and is tried again each minute', () => {
    const engine = new Scene()
    engine.prices({ XRP: '0.5' })
    const user = engine.thin({ USDT: '100000' }, 'XRP', '160000')
    // The fund has 50000 XRP; nobody sells any.
    engine.prices({ XRP: '0.6' })
    engine.liquidate(user)
    assert.equal(engine.fund('insurance', 'XRP'), 0n)
    assert.equal(engine.state.margin.isLocked(user, 'unified'), true)
    const left = engine.balance(user, 'USDT')
    engine.due(engine.at + 300e6)
    assert.equal(engine.balance(user, 'USDT'), left, 'nothing is given for nothing')
    assert.deepEqual([engine.sum('insured'), engine.sum('socialised')], [{}, {}])
    const seller = engine.user({ XRP: '200000' })
    engine.place(seller, 'sell', '200000', '0.61', { currency_pair: 'XRP_USDT' })
    engine.due(engine.at + 61e6)
    assert.equal(engine.state.margin.isLocked(user, 'unified'), false)
    assert.ok(engine.balance(seller, 'USDT') > 0)
  })
})
