import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Order } from '../../src/core/tables/exchange/order.ts'
import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
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
  ...PLAIN,
  currency_pair: PAIR,
  type: 'limit',
  side,
  amount,
  price,
  time_in_force: null,
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
    again.world.settings.swap('world', engine.state.world.settings.get('world'), 'load')
    const rows = [...engine.state.spot.orders.values()]
    for (const row of [...rows].reverse()) again.spot.orders.swap(row.id, row, 'load')
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

  /** A main account in a group of its own, and somebody else. */
  const grouped = (engine: Engine): { main: number; other: number } => {
    const main = engine.user(FUNDS)
    const { id } = engine.must('stp_group.create', { user_id: main, name: 'g' })
    engine.must('stp_group.add', { user_id: main, stp_id: id, members: [main] })
    return { main, other: engine.user(FUNDS) }
  }
  const place = (engine: Engine, user_id: number, input: NewOrder) =>
    engine.run('spot.place', { user_id, order: input })
  const placed = (engine: Engine, user_id: number, input: NewOrder): Order =>
    engine.must('spot.place', { user_id, order: input })
  const labelOf = (outcome: object): string => ('label' in outcome ? (outcome.label as string) : '')
  const words = ({ status, finish_as, filled, left }: Order): string =>
    `${status} ${finish_as} ${format(filled)} ${format(left)}`
  const amended = (engine: Engine, { id, user_id }: Order, change: { amount?: string; price?: string }) =>
    engine.run('spot.amend', {
      ...{ user_id, id, currency_pair: PAIR, amend_text: null, stop_profit: null, stop_loss: null },
      ...{ amount: change.amount ?? null, price: change.price ?? null },
    })

  test('fok against icebergs: what is hidden counts, and one lot more is refused whole', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    placed(engine, maker, order('sell', '1', '50000', { iceberg: '0.1' }))
    placed(engine, maker, order('sell', '1', '50001', { iceberg: '0.3' }))
    const fok = { time_in_force: 'fok' as const }
    assert.equal(labelOf(place(engine, taker, order('buy', '2.000001', '50001', fok))), 'FOK_NOT_FILL')
    assert.equal(format(engine.state.ledger.balance(taker, 'spot', 'USDT')), '1000000')
    assert.equal(words(placed(engine, taker, order('buy', '2', '50001', fok))), 'closed filled 2 0')
    assert.deepEqual(queueOf(engine.state, 'sell'), [])
  })

  test('fok against own orders: cn and cb are stopped by them, co goes past them and takes them off', () => {
    for (const act of ['cn', 'cb', 'co', null] as const) {
      const engine = new Engine()
      const { main, other } = grouped(engine)
      placed(engine, other, order('sell', '1', '50000'))
      const own = placed(engine, main, order('sell', '1', '50000'))
      placed(engine, other, order('sell', '1', '50001'))
      const fok = order('buy', '2', '50001', { time_in_force: 'fok', stp_act: act })
      if (act === 'co') {
        assert.equal(words(placed(engine, main, fok)), 'closed filled 2 0')
        assert.equal(words(engine.state.spot.orders.get(own.id)!), 'cancelled stp 0 1')
      } else {
        assert.equal(labelOf(place(engine, main, fok)), 'FOK_NOT_FILL', String(act))
        assert.equal(queueOf(engine.state, 'sell').length, 3)
      }
      // What lies before the own order is enough: it is never met.
      const engine2 = new Engine()
      const near = grouped(engine2)
      placed(engine2, near.other, order('sell', '1', '50000'))
      placed(engine2, near.main, order('sell', '1', '50000'))
      const small = order('buy', '1', '50000', { time_in_force: 'fok', stp_act: act })
      assert.equal(words(placed(engine2, near.main, small)), 'closed filled 1 0')
    }
  })

  test('fok against icebergs and own orders of one price: what is hidden comes behind the own order', () => {
    for (const act of ['cn', 'cb', 'co', null] as const) {
      const engine = new Engine()
      const { main, other } = grouped(engine)
      placed(engine, other, order('sell', '1', '50000', { iceberg: '0.1' }))
      placed(engine, main, order('sell', '1', '50000'))
      const fok = (amount: string, price: string) =>
        place(engine, main, order('buy', amount, price, { time_in_force: 'fok', stp_act: act }))
      if (act !== 'co') {
        assert.equal(labelOf(fok('0.5', '50000')), 'FOK_NOT_FILL', String(act))
        assert.equal(format(engine.state.ledger.balance(main, 'spot', 'USDT')), '1000000')
        assert.deepEqual(queueOf(engine.state, 'sell').length, 2)
      }
      const reply = act === 'co' ? fok('0.5', '50000') : fok('0.1', '50000')
      assert.ok('reply' in reply)
      assert.equal(words(reply.reply), `closed filled ${act === 'co' ? '0.5' : '0.1'} 0`)
      // Of a better price everything counts, the hidden parts too.
      placed(engine, other, order('sell', '1', '49999', { iceberg: '0.1' }))
      const better = fok('1', '50000')
      assert.ok('reply' in better)
      assert.equal(words(better.reply), 'closed filled 1 0')
    }
  })

  test('a self-trade in the middle of a sweep: cb ends both and keeps the fills, co takes the next', () => {
    for (const [act, expected, makers] of [
      ['cb', 'cancelled stp 1 2', 1],
      ['co', 'open open 2 1', 0],
    ] as const) {
      const engine = new Engine()
      const { main, other } = grouped(engine)
      placed(engine, other, order('sell', '1', '50000'))
      const own = placed(engine, main, order('sell', '1', '50001'))
      placed(engine, other, order('sell', '1', '50002'))
      const taken = placed(engine, main, order('buy', '3', '50002', { stp_act: act }))
      assert.equal(words(taken), expected)
      assert.equal(words(engine.state.spot.orders.get(own.id)!), 'cancelled stp 0 1')
      assert.equal(queueOf(engine.state, 'sell').length, makers)
      const locked = engine.state.ledger.balance(main, 'spot.locked', 'USDT')
      assert.equal(format(locked), act === 'co' ? '50002' : '0')
      assert.equal(format(engine.state.ledger.balance(main, 'spot.locked', 'BTC')), '0')
    }
  })

  test('amend to a crossing price: it takes as a newcomer, the rest waits at the new price, last in the queue', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    placed(engine, maker, order('sell', '1', '50000'))
    const mine = placed(engine, taker, order('buy', '3', '49000'))
    const rival = placed(engine, maker, order('buy', '1', '49999'))
    assert.ok('reply' in amended(engine, mine, { price: '50000' }))
    const after = engine.state.spot.orders.get(mine.id)!
    assert.equal(words(after), 'open open 1 2')
    assert.equal(format(after.held), '100000')
    assert.equal(format(after.fee), '0.002')
    assert.ok('reply' in amended(engine, after, { price: '49999' }))
    assert.deepEqual(queueOf(engine.state, 'buy'), [rival.id, mine.id])
    assert.equal(format(engine.state.ledger.balance(taker, 'spot.locked', 'USDT')), '99998')
    assert.equal(format(engine.state.ledger.balance(taker, 'spot', 'USDT')), '850002')
  })

  test('amend to a crossing price into the own group: the order ends as stp and its money is free', () => {
    const engine = new Engine()
    const { main } = grouped(engine)
    const own = placed(engine, main, order('sell', '1', '50000'))
    const mine = placed(engine, main, order('buy', '1', '49000'))
    assert.ok('reply' in amended(engine, mine, { price: '50000' }))
    assert.equal(words(engine.state.spot.orders.get(mine.id)!), 'cancelled stp 0 1')
    assert.deepEqual(queueOf(engine.state, 'sell'), [own.id])
    assert.equal(format(engine.state.ledger.balance(main, 'spot', 'USDT')), '1000000')
  })

  test('amend of a partly filled order: below what is filled it is cancelled, equal to it it is filled', () => {
    for (const [amount, expected] of [
      ['0.3', 'cancelled cancelled 0.4 0.6'],
      ['0.4', 'closed filled 0.4 0'],
      ['0.5', 'open open 0.4 0.1'],
    ] as const) {
      const engine = new Engine()
      const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
      const mine = placed(engine, maker, order('sell', '1', '50000'))
      placed(engine, taker, order('buy', '0.4', '50000'))
      assert.ok('reply' in amended(engine, mine, { amount }))
      const ended = engine.state.spot.orders.get(mine.id)!
      assert.equal(words(ended), expected)
      const locked = engine.state.ledger.balance(maker, 'spot.locked', 'BTC')
      assert.equal(format(locked), ended.status === 'open' ? '0.1' : '0')
    }
  })

  test('dust: a market buy takes whole lots, its remainder comes back, and it counts as filled', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    placed(engine, maker, order('sell', '1', '33333.3'))
    const market = { type: 'market', time_in_force: 'ioc', price: null } as const
    const bought = placed(engine, taker, order('buy', '100', '0', market))
    assert.equal(`${bought.status} ${bought.finish_as}`, 'closed filled')
    assert.equal(format(bought.filled), '0.003')
    assert.equal(format(bought.left), '0.0001')
    assert.equal(format(engine.state.ledger.balance(taker, 'spot', 'USDT')), '999900.0001')
    assert.equal(format(engine.state.ledger.balance(taker, 'spot.locked', 'USDT')), '0')
    assert.deepEqual(engine.state.ledger.unbalancedCurrencies, [])
  })

  test('one sweep through an iceberg: each part is a trade of its own, others at the price come in between', () => {
    const engine = new Engine()
    const [maker, rival, taker] = [engine.user(FUNDS), engine.user(FUNDS), engine.user(FUNDS)]
    const ice = placed(engine, maker, order('sell', '0.5', '50000', { iceberg: '0.2' }))
    const plain = placed(engine, rival, order('sell', '0.1', '50000'))
    const outcome = place(engine, taker, order('buy', '0.6', '50000'))
    assert.ok('reply' in outcome)
    assert.deepEqual(
      outcome
        .fills()
        .filter(({ role }) => role === 'maker')
        .map(({ order_id, amount }) => [order_id, format(amount)]),
      [
        [ice.id, '0.2'],
        [plain.id, '0.1'],
        [ice.id, '0.2'],
        [ice.id, '0.1'],
      ],
    )
  })

  test('cancelling and amending an order that was just filled tell that it is filled, in a batch too', () => {
    const engine = new Engine()
    const [maker, taker] = [engine.user(FUNDS), engine.user(FUNDS)]
    const done = placed(engine, maker, order('sell', '1', '50000'))
    const open = placed(engine, maker, order('sell', '1', '50001'))
    placed(engine, taker, order('buy', '1', '50000'))
    assert.equal(labelOf(amended(engine, done, { amount: '2' })), 'ORDER_CLOSED')
    const results = engine.must('spot.cancel_batch', {
      user_id: maker,
      orders: [done, open, open].map(({ id }) => ({ id, currency_pair: PAIR })),
    })
    assert.deepEqual(
      results.map((result) => ('label' in result ? result.label : result.order.finish_as)),
      ['ORDER_CLOSED', 'cancelled', 'ORDER_CANCELLED'],
    )
  })
})
