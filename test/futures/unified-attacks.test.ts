import assert from 'node:assert/strict'
import { test } from 'node:test'
import { borrowable } from '../../src/core/unified/loans.ts'
import { leavingLimit } from '../../src/core/unified/guard.ts'
import { PLAIN } from '../../src/core/spot/place.ts'
import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { ZERO, format, roundDown, type Amount } from '../../src/money/amount.ts'
import { prove } from './prove.ts'
import { UnifiedFloor, type UnifiedMode } from './unified.ts'
import { BTC_USDT } from './world.ts'

/**
 * Accounts of one person, some of them unified. What they have together, everything valued at the index and debts taken
 * off, must not rise where only they trade: whatever it rises by came from a fund, the lenders or the operator.
 */
class Thieves extends UnifiedFloor {
  readonly members: number[] = []
  private index_ = 60_000

  constructor() {
    super()
    this.must('insurance.fund', { settle: 'usdt', amount: '100000', actor: null })
    this.honest(60_000)
  }
  join(mode: UnifiedMode | 'classic', funds: Readonly<Record<string, string>>, hedge = false): number {
    const user = mode === 'classic' ? this.holder(funds['USDT']!) : this.member(mode, funds, hedge)
    this.members.push(user)
    return user
  }
  worth(): number {
    let sum = 0n
    const index = BigInt(this.index_)
    for (const user of this.members) {
      for (const { currency, amount } of this.state.ledger.ownedBy(user))
        sum += currency === 'BTC' ? amount * index : amount
      for (const row of this.state.futures.positions.heldBy(user, 'futures/usdt'))
        sum += contractsIn(row.size) * this.contract(row.contract).terms.q * index - row.cost
    }
    return Number(format(sum as Amount))
  }
  /** What everybody else pays is what the mark says again. */
  honest(index: number): void {
    this.index_ = index
    this.markAt(String(index))
    this.settled()
  }
  settled(): void {
    this.quiet()
    this.advance(30)
    this.quiet()
    prove(this.state, { quiet: true })
  }
  swap(buyer: number, seller: number, size: number, price: string): void {
    this.place(seller, BTC_USDT, -size, price)
    this.place(buyer, BTC_USDT, size, price)
    this.quiet()
  }
  cancelAll(): void {
    const all = { contract: null, side: null, exclude_reduce_only: false, text: null }
    for (const user of this.members) this.must('futures.cancel_all', { ...this.path(user, BTC_USDT), ...all })
  }
  paint(one: number, other: number, price: number): void {
    this.place(one, BTC_USDT, -1, String(price))
    this.place(other, BTC_USDT, 1, String(price))
    this.place(one, BTC_USDT, 1, (price - 0.1).toFixed(1))
    this.place(other, BTC_USDT, -1, (price + 0.1).toFixed(1))
    this.advance(40)
    this.follow()
  }
  /** Borrows and takes out all that it is given, to where nothing can take it back. */
  plunder(user: number): void {
    for (let round = 0; round < 4; round++) {
      for (const currency of ['USDT', 'BTC']) {
        const free = this.state.ledger.balance(user, 'spot', currency)
        const most = roundDown(leavingLimit(this.state, user, 'spot', currency) ?? free, 8)
        if (most > ZERO) this.moveOut(user, currency, format(most))
      }
      // A loan needs a tenth of itself, and what is lent leaves next.
      const most = (borrowable(this.state, user, 'unified', 'USDT') / 11n) as Amount
      const amount = format(roundDown(most, 8))
      const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
      this.run('margin.loan', { user_id: user, currency: 'USDT', type: 'borrow', amount, ...rest })
    }
  }
}

for (const mode of ['single_currency', 'multi_currency', 'portfolio'] as const)
  test(`${mode}: a profit that was painted is not lent on, and does not leave`, () => {
    const thieves = new Thieves()
    const [one, other, third] = [
      thieves.join(mode, { USDT: mode === 'portfolio' ? '18100' : '1200' }),
      thieves.join('classic', { USDT: '1000000' }),
      thieves.join('classic', { USDT: '1000000' }),
    ]
    thieves.leverage(one, BTC_USDT, '0', '100')
    const before = thieves.worth()
    thieves.swap(one, other, 16_000, '60000')
    thieves.paint(other, third, 61_790)
    assert.ok(Number(thieves.mark()) > 61_700, thieves.mark())
    thieves.plunder(one)
    thieves.cancelAll()
    thieves.honest(60_000)
    assert.ok(thieves.worth() <= before + 1e-6, `${thieves.worth()} of ${before}`)
    // And when the market itself has gone the other way by what the margin bears.
    thieves.honest(59_700)
    const fund = thieves.state.ledger.balance(0, 'insurance:futures.usdt', 'USDT')
    assert.ok(fund >= 100_000n * 10n ** 18n, format(fund))
    assert.equal(thieves.state.ledger.balance(one, 'debt.futures:usdt', 'USDT'), 0n)
  })

test('what coins stand for is not given away by closing at a bad price, on either side of the book', () => {
  for (const resting of [false, true])
    for (const mode of ['multi_currency', 'portfolio'] as const) {
      const thieves = new Thieves()
      const [giver, taker, buyer] = [
        thieves.join(mode, { BTC: '1' }),
        thieves.join('classic', { USDT: '1000000' }),
        thieves.join('multi_currency', { USDT: '1000000' }),
      ]
      thieves.leverage(giver, BTC_USDT, '0', '50')
      const before = thieves.worth()
      // The most of it that one coin carries.
      const size = mode === 'portfolio' ? 50_000 : 250_000
      thieves.swap(giver, taker, size, '60000')
      // A bid for the coins waits at the worst price of a liquidation.
      thieves.spot(buyer, 'buy', '2', '58200')
      for (let price = 49_000; price < 60_000; price += 250) {
        const left = thieves.size(giver)
        if (left === 0) break
        for (const part of [left, Math.ceil(left / 7)]) {
          if (resting) {
            thieves.run(
              'futures.place',
              thieves.input(giver, BTC_USDT, -part, String(price), { reduce_only: true }),
            )
            thieves.run('futures.place', thieves.input(taker, BTC_USDT, part, String(price), { tif: 'ioc' }))
          } else {
            thieves.run('futures.place', thieves.input(taker, BTC_USDT, part, String(price)))
            const ioc = { reduce_only: true, tif: 'ioc' } as const
            thieves.run('futures.place', thieves.input(giver, BTC_USDT, -part, String(price), ioc))
          }
          thieves.cancelAll()
        }
        thieves.quiet()
      }
      thieves.plunder(giver)
      thieves.settled()
      for (const index of [59_900, 60_000]) thieves.honest(index)
      const funds = ['insurance', 'insurance:futures.usdt'] as const
      for (const name of funds) {
        const begun = name === 'insurance' ? 5_000_000n : 100_000n
        const has = thieves.state.ledger.balance(0, name, 'USDT')
        assert.ok(has >= begun * 10n ** 18n, `${mode} ${resting} ${name}: ${format(has)}`)
      }
      assert.ok(thieves.worth() <= before + 1e-6, `${mode} ${resting}: ${thieves.worth()} of ${before}`)
    }
})

test('spot that hedges a position does not leave it bare, by transfer, by order, or by an order that rests', () => {
  const thieves = new Thieves()
  const [hedged, other] = [
    thieves.join('portfolio', { BTC: '1', USDT: '100' }, true),
    thieves.join('classic', { USDT: '1000000' }),
  ]
  const before = thieves.worth()
  thieves.leverage(hedged, BTC_USDT, '0', '50')
  thieves.swap(other, hedged, 10_000, '60000')
  assert.equal(thieves.risk(hedged).maintenanceMargin, 0n)
  thieves.plunder(hedged)
  // All that is left hedges: without it 18 % of what is open would be needed.
  for (const price of ['60000', '59000', '62000']) {
    const amount = format(thieves.state.ledger.balance(hedged, 'spot', 'BTC')).slice(0, 6)
    thieves.spot(hedged, 'sell', amount, price)
    const { available } = thieves.risk(hedged)
    assert.ok(available >= 0n, `${price}: ${format(available)}`)
    thieves.plunder(hedged)
  }
  thieves.spot(thieves.join('multi_currency', { USDT: '1000000' }), 'buy', '1', '62000')
  thieves.quiet()
  const { available } = thieves.risk(hedged)
  assert.ok(available >= 0n, format(available))
  thieves.honest(63_000)
  thieves.honest(60_000)
  assert.ok(thieves.worth() <= before + 1_000_000 + 1e-6, `${thieves.worth()} of ${before + 1_000_000}`)
})

test('no debt is repaid with what is set apart for isolated positions, so that nobody has their margin for nothing', () => {
  const thieves = new Thieves()
  const one = thieves.join('multi_currency', { BTC: '1', USDT: '20' })
  const other = thieves.join('classic', { USDT: '1000000' })
  const user_id = one
  const loan = (type: 'borrow' | 'repay', currency: string, amount: string | null) => {
    const rest = { scope: 'unified', repaid_all: amount === null, text: null, known_id: null }
    const outcome = thieves.run('margin.loan', { user_id, type, currency, amount, ...rest })
    return 'label' in outcome ? outcome.label : 'passed'
  }
  const free = (): string => format(thieves.state.ledger.balance(one, 'spot', 'USDT'))
  assert.equal(loan('borrow', 'USDT', '10000'), 'passed')
  assert.equal(loan('borrow', 'ETH', '0.1'), 'passed')
  // The ETH goes, so that its debt can be paid by an exchange alone.
  thieves.moveOut(one, 'ETH', '0.1')
  thieves.leverage(one, BTC_USDT, '10')
  thieves.swap(one, other, 10_000, '60000')
  const [position] = thieves.state.futures.positions.heldBy(one, 'futures/usdt')
  const margin = position!.margin
  const spare = (thieves.state.ledger.balance(one, 'spot', 'USDT') - margin) as Amount
  assert.ok(margin > 6_000n * 10n ** 18n && spare > 0n)
  const before = free()
  assert.equal(loan('repay', 'USDT', '9900'), 'BALANCE_NOT_ENOUGH')
  assert.equal(loan('repay', 'USDT', null), 'BALANCE_NOT_ENOUGH')
  assert.equal(free(), before)
  assert.equal(loan('repay', 'USDT', format(spare)), 'passed')
  assert.equal(free(), format(margin))
  const names = { debt_currencies: ['ETH'], available_currencies: ['USDT'] }
  const quick = thieves.run('margin.quick_repay', { user_id, ...names })
  assert.equal('label' in quick && quick.label, 'BALANCE_NOT_ENOUGH')
  // An order that repays by itself pays with what it brought and nothing else.
  const order = {
    type: 'limit',
    side: 'sell',
    amount: '0.01',
    price: '60000',
    time_in_force: null,
  } as const
  thieves.spot(thieves.join('classic', { USDT: '100000' }), 'buy', '0.01', '60000')
  const placed = { ...PLAIN, currency_pair: 'BTC_USDT', auto_repay: true, ...order }
  thieves.must('spot.place', { user_id, order: placed })
  assert.equal(free(), format(margin))
  // Without the position it is ordinary money again.
  thieves.swap(other, one, 10_000, '60000')
  assert.equal(loan('repay', 'USDT', '3000'), 'passed')
})
