import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NewOrder } from '../../src/core/spot/place.ts'
import { format } from '../../src/money/amount.ts'
import { State } from '../../src/core/state.ts'
import { Engine } from './engine.ts'

const PAIR = 'BTC_USDT'
const order = (
  side: 'buy' | 'sell',
  amount: string,
  price: string,
  more: Partial<NewOrder> = {},
): NewOrder => ({
  text: null,
  currency_pair: PAIR,
  type: 'limit',
  account: null,
  side,
  amount,
  price,
  time_in_force: null,
  iceberg: null,
  auto_borrow: null,
  auto_repay: null,
  stp_act: null,
  slippage: null,
  stop_profit: null,
  stop_loss: null,
  ...more,
})
const FUNDS = { BTC: '100', USDT: '1000000' }
const queueOf = (state: State, side: 'buy' | 'sell'): number[] =>
  [...state.spot.book(PAIR).queue(side)].map(({ id }) => id)

describe('edges of matching', () => {
  test('equal prices keep their order when the rows come back in any order, as after a restart', () => {
    const engine = new Engine()
    const users = [engine.user(FUNDS), engine.user(FUNDS), engine.user(FUNDS)]
    for (let i = 0; i < 30; i++)
      engine.must('spot.place', {
        user_id: users[i % 3]!,
        order: order('sell', '1', i % 4 === 0 ? '50001' : '50000'),
      })
    const first = queueOf(engine.state, 'sell')[0]!
    const owner = engine.state.spot.orders.get(first)!.user_id
    const amend = { amount: '2', price: null, amend_text: null, stop_profit: null, stop_loss: null }
    engine.must('spot.amend', { user_id: owner, id: first, currency_pair: PAIR, ...amend })
    const again = new State()
    again.world.settings.swap('world', engine.state.world.settings.get('world'))
    const rows = [...engine.state.spot.orders.values()]
    for (const row of [...rows].reverse()) again.spot.orders.swap(row.id, row)
    for (const side of ['buy', 'sell'] as const)
      assert.deepEqual(queueOf(again, side), queueOf(engine.state, side))
    assert.notEqual(queueOf(engine.state, 'sell')[0], first)
  })

  test('an undone sweep leaves the same queues, levels, balances and figures', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    for (const [amount, price, iceberg] of [
      ['1', '50000', '0.2'],
      ['1', '50000', null],
      ['1', '50010', null],
    ] as const)
      engine.must('spot.place', { user_id: maker, order: order('sell', amount, price, { iceberg }) })
    const seen = () =>
      JSON.stringify([
        queueOf(engine.state, 'sell'),
        engine.state.spot
          .book(PAIR)
          .depth('sell', 10)
          .map(({ price, amount }) => [format(price), format(amount)]),
        [...engine.state.ledger.accounts.values()].map(({ owner, name, currency, amount }) => [
          owner,
          name,
          currency,
          format(amount),
        ]),
        engine.state.spot.figures.get(PAIR)?.book_id,
        engine.state.spot.trades.of(PAIR).length,
        engine.state.spot.candles.of(`${PAIR}/60`).length,
      ])
    const before = seen()
    engine.rehearse('spot.place', { user_id: taker, order: order('buy', '2.5', '50010') })
    assert.equal(seen(), before)
    engine.rehearse('spot.cancel_all', { user_id: maker, currency_pair: null, side: null, account: null })
    assert.equal(seen(), before)
  })

  test('cancelling an order that was just filled tells that it is filled', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    const { id } = engine.must('spot.place', { user_id: maker, order: order('sell', '1', '50000') })
    engine.must('spot.place', { user_id: taker, order: order('buy', '1', '50000') })
    const outcome = engine.run('spot.cancel', { user_id: maker, id, currency_pair: PAIR })
    assert.equal('label' in outcome ? outcome.label : '', 'ORDER_CLOSED')
  })

  test('a self-trade in the middle of a sweep stops it there, whatever lies beyond', () => {
    const engine = new Engine()
    const main = engine.user(FUNDS)
    const other = engine.user(FUNDS)
    const { id } = engine.must('stp_group.create', { user_id: main, name: 'g' })
    engine.must('stp_group.add', { user_id: main, stp_id: id, members: [main] })
    engine.must('spot.place', { user_id: other, order: order('sell', '1', '50000') })
    engine.must('spot.place', { user_id: main, order: order('sell', '1', '50001') })
    engine.must('spot.place', { user_id: other, order: order('sell', '1', '50002') })
    const taken = engine.must('spot.place', { user_id: main, order: order('buy', '3', '50002') })
    assert.equal(`${taken.status} ${taken.finish_as} ${format(taken.filled)}`, 'cancelled stp 1')
    assert.equal(queueOf(engine.state, 'sell').length, 2)
  })

  test('dust: the smallest trade pays the smallest fee, and nothing is lost', () => {
    const engine = new Engine()
    engine.must('market.change', {
      currency_pair: PAIR,
      change: { min_quote_amount: '0' },
      actor: null,
    })
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    engine.must('spot.place', { user_id: maker, order: order('sell', '0.000001', '0.1') })
    const filled = engine.must('spot.place', { user_id: taker, order: order('buy', '0.000001', '0.1') })
    assert.equal(format(filled.filled_total), '0.0000001')
    assert.equal(format(filled.fee), '0.00000001')
    assert.equal(format(engine.state.ledger.balance(maker, 'spot', 'USDT')), '1000000.00000009')
    assert.deepEqual(engine.state.ledger.unbalancedCurrencies, [])
  })
})
