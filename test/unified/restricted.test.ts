import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UNIFIED } from '../../src/core/tables/unified/loan-accounts.ts'
import { totalOwed } from '../../src/core/unified/loans.ts'
import { figuresOf } from '../../src/core/unified/portfolio.ts'
import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { format } from '../../src/money/amount.ts'
import { Lender } from './setup.ts'

const label = (outcome: object): string => ('label' in outcome ? (outcome.label as string) : 'passed')
class Scene extends Lender {
  readonly watch = new RiskWatch(this.state)
  /** 1 BTC against 50000 USDT that have left: initial margin 5000, maintenance 1500. */
  long(more: Readonly<Record<string, string>> = {}): number {
    this.prices({ BTC: '60000' })
    const user = this.unified({ BTC: '1', ...more })
    this.loan(user, 'borrow', 'USDT', '50000')
    this.must('transfer.create', {
      user_id: user,
      currency: 'USDT',
      amount: '50000',
      from: 'spot',
      to: 'futures',
      currency_pair: null,
      settle: 'usdt',
    })
    return user
  }
  /** As the watcher does, and everything that follows at once. */
  look(): void {
    const { found } = this.watch.suspects(1_000)
    if (found.length > 0) this.must('margin.check', { accounts: found })
    this.due(this.at + 1)
  }
  available(user: number): number {
    return Number(format(figuresOf(this.state, user, 'unified').available))
  }
  usdt(user: number): number {
    return Number(format(this.state.ledger.balance(user, 'spot', 'USDT')))
  }
  open(user: number): number[] {
    return this.state.spot.openOrders(user).map(({ id }) => id)
  }
}
/** Owes 10 BTC, which have left, and has USDT to buy them back: just below the initial margin of 66,000. */
function short(engine: Scene): number {
  engine.prices({ BTC: '60000' })
  const user = engine.unified({ USDT: '700000' })
  engine.loan(user, 'borrow', 'BTC', '10')
  const out = { from: 'spot', to: 'margin', currency_pair: 'BTC_USDT', settle: null } as const
  engine.must('transfer.create', { user_id: user, currency: 'BTC', amount: '10', ...out })
  engine.prices({ BTC: '66000' })
  assert.ok(engine.available(user) < 0)
  return user
}

describe('a restricted account', () => {
  test('48 orders in one burst move nothing to an accomplice', () => {
    const engine = new Scene()
    const user = short(engine)
    const accomplice = engine.user({ BTC: '20' })
    const before = engine.usdt(user)
    let placed = 0
    // Each loses less than a hundredth of the whole debt: 0.01 BTC at ten times the price.
    for (let i = 0; i < 48; i++) {
      engine.place(accomplice, 'sell', '0.01', '660000')
      const order = engine.place(user, 'buy', '0.01', '660000')
      if ('reply' in order) placed++
      else assert.equal(order.label, 'TRADE_RESTRICTED')
    }
    assert.equal(placed, 0)
    assert.equal(engine.usdt(user), before)
    assert.equal(engine.usdt(accomplice), 0)
  })
  test('many small orders buy back the debt and no more: each is judged with those that rest', () => {
    const engine = new Scene()
    const user = short(engine)
    let placed = 0
    // 0.3 % above the index, so that each alone would do; 48 of them are more than what is owed.
    for (let i = 0; i < 48; i++) if ('reply' in engine.place(user, 'buy', '0.2', '66198')) placed++
    assert.ok(placed === 50 || placed === 48, `${placed} orders of 0.2 BTC`)
    let more = 0
    for (let i = 0; i < 48; i++) if ('reply' in engine.place(user, 'buy', '0.2', '66198')) more++
    // 10 BTC and what their fees take.
    assert.ok(placed + more >= 50 && placed + more <= 51, `${placed + more} orders of 0.2 BTC`)
    const accomplice = engine.user({ BTC: '20' })
    engine.place(accomplice, 'sell', '20', '60000')
    const lost =
      700_000 - engine.usdt(user) - Number(format(engine.state.ledger.balance(user, 'spot', 'BTC'))) * 66_000
    const { maintenanceMargin, marginBalance } = figuresOf(engine.state, user, 'unified')
    assert.ok(lost <= 660_000 * 0.0052, `${lost} USDT were lost`)
    assert.ok(marginBalance > maintenanceMargin)
  })
  test('an order passes within half a percent of the index, and only the way that lowers the risk', () => {
    const engine = new Scene()
    const user = engine.long({ ETH: '0.1' })
    engine.prices({ BTC: '55500' })
    assert.ok(engine.available(user) < 0)
    const outcomes = (
      [
        ['sell', '0.1', '55223'],
        ['sell', '0.1', '55222'],
        ['sell', '0.1', '58000'],
      ] as const
    ).map(([side, amount, price]) => {
      const outcome = engine.place(user, side, amount, price)
      engine.must('spot.cancel_all', { user_id: user, currency_pair: null, side: null, account: null })
      return label(outcome)
    })
    assert.deepEqual(outcomes, ['passed', 'TRADE_RESTRICTED', 'passed'])
    // Another coin for his BTC leaves the debt as it is.
    const pair = { currency_pair: 'ETH_BTC' }
    assert.equal(label(engine.place(user, 'buy', '1', '0.05405', pair)), 'TRADE_RESTRICTED')
    // The worst price of a market order is far away, unless it says otherwise.
    const maker = engine.user({ USDT: '100000' })
    engine.place(maker, 'buy', '1', '55500')
    const market = { type: 'market', price: null, time_in_force: 'ioc' } as const
    assert.equal(label(engine.place(user, 'sell', '0.1', '', market)), 'TRADE_RESTRICTED')
    assert.equal(label(engine.place(user, 'sell', '0.1', '', { ...market, slippage: '0.004' })), 'passed')
  })
  test('an amendment is judged like a new order; less of the same, cancels, repayments and money in always pass', () => {
    const engine = new Scene()
    const user = engine.long({ USDT: '100' })
    engine.prices({ BTC: '55500' })
    const order = engine.place(user, 'sell', '0.5', '55600')
    assert.ok('reply' in order)
    const amend = (change: { price?: string; amount?: string }) =>
      label(
        engine.run('spot.amend', {
          user_id: user,
          id: order.reply.id,
          currency_pair: 'BTC_USDT',
          ...{ amount: null, price: null, amend_text: null, stop_profit: null, stop_loss: null },
          ...change,
        }),
      )
    assert.equal(amend({ price: '30000' }), 'TRADE_RESTRICTED')
    assert.equal(amend({ price: '55300' }), 'passed')
    engine.prices({ BTC: '54000' })
    assert.equal(amend({ amount: '0.4' }), 'passed')
    assert.equal(label(engine.loan(user, 'repay', 'USDT', '50')), 'passed')
    const back = { from: 'futures', to: 'spot', currency_pair: null, settle: 'usdt' } as const
    engine.must('transfer.create', { user_id: user, currency: 'USDT', amount: '10', ...back })
    engine.must('spot.cancel', { user_id: user, id: order.reply.id, currency_pair: 'BTC_USDT' })
  })
  test('below maintenance the order itself is refused, before any watcher has looked', () => {
    const engine = new Scene()
    const user = engine.long()
    engine.prices({ BTC: '52000' })
    assert.equal(engine.state.margin.riskLevelOf(user, 'unified'), 'normal')
    assert.equal(label(engine.place(user, 'sell', '0.1', '52000')), 'TRADE_RESTRICTED')
  })
  test('resting orders are looked at again: when it becomes restricted, and as the index moves past them', () => {
    const engine = new Scene()
    const user = engine.long({ ETH: '0.5' })
    // Let in while there was margin: a sale far above, and a purchase of another coin.
    const far = engine.place(user, 'sell', '0.1', '70000')
    const coin = engine.place(user, 'sell', '0.4', '2900', { currency_pair: 'ETH_USDT' })
    assert.ok('reply' in far && 'reply' in coin)
    engine.look()
    engine.prices({ BTC: '54000' })
    engine.look()
    assert.equal(engine.state.margin.riskLevelOf(user, 'unified'), 'restricted')
    // 2900 is 3.3 % below the index of 3000.
    assert.deepEqual(engine.open(user), [far.reply.id])
    assert.equal(engine.state.spot.orders.get(coin.reply.id)?.finish_as, 'price_protect_cancelled')
    const near = engine.place(user, 'sell', '0.1', '54000')
    assert.ok('reply' in near)
    engine.look()
    engine.prices({ BTC: '54200' })
    engine.look()
    assert.deepEqual(engine.open(user), [far.reply.id, near.reply.id], '0.4 % is little enough')
    engine.prices({ BTC: '54400' })
    assert.ok(engine.available(user) < 0)
    engine.look()
    assert.deepEqual(engine.open(user), [far.reply.id])
  })
  test('hundreds of resting orders are looked at in portions', () => {
    const engine = new Scene()
    const user = engine.long({ ETH: '10' })
    for (let i = 0; i < 250; i++) engine.place(user, 'sell', '0.02', '2950', { currency_pair: 'ETH_USDT' })
    engine.look()
    engine.prices({ BTC: '25000', ETH: '3030' })
    const owed = totalOwed(engine.state, user, UNIFIED, 'USDT')
    engine.loan(user, 'repay', 'USDT', '1')
    assert.ok(owed > 0n)
    const before = engine.available(user)
    assert.ok(before < 0, `${before}`)
    engine.must('margin.recheck', { user_id: user, scope: 'unified', after: 0 })
    assert.equal(engine.open(user).length, 150, 'one command cancels a hundred')
    engine.due(engine.at + 10)
    assert.equal(engine.open(user).length, 0)
  })
})
