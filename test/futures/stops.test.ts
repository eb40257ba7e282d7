import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { More } from './floor.ts'
import { prove } from './prove.ts'
import { WaitingFloor } from './waiting-floor.ts'
import { BTC_USDT, CONTRACTS } from './world.ts'

function opened(): { floor: WaitingFloor; maker: number; pair: [number, number]; user: number } {
  const floor = new WaitingFloor()
  floor.markAt('60000')
  const pair = floor.pair()
  floor.print('60000', pair)
  return { floor, pair, maker: pair[0], user: floor.holder('10000') }
}
const LONG: More = { tpsl_tp_trigger_price: '61000', tpsl_sl_trigger_price: '59000' }
const SHORT: More = { tpsl_tp_trigger_price: '59000', tpsl_sl_trigger_price: '61000' }

/** The stops of an order: profit, loss. */
function stopsOf(floor: WaitingFloor, order: number): [number, number] {
  const rows = [...floor.state.futures.waiting.prices.table.values()].filter(
    ({ me_order_id }) => me_order_id === order,
  )
  return [rows[0]!.id, rows[1]!.id]
}
const both = (floor: WaitingFloor, ids: readonly number[]): string[] => ids.map((id) => floor.told(id))
const sizes = (floor: WaitingFloor, ids: readonly number[]): string[] =>
  ids.map((id) => floor.row(id).initial.size)

describe('stops of an order', () => {
  test('wait for a fill, grow with it, and one that fires ends the other', () => {
    const { floor, pair, maker, user } = opened()
    const order = floor.place(user, BTC_USDT, 10, '59900', LONG)
    const stops = stopsOf(floor, order.id)
    assert.deepEqual(both(floor, stops), ['inactive', 'inactive'])
    // The price goes where they would fire: nothing is open yet.
    floor.print('61000', pair)
    assert.deepEqual(both(floor, stops), ['inactive', 'inactive'])
    floor.print('60000', pair)
    floor.place(maker, BTC_USDT, -4, '59900')
    assert.deepEqual(
      [both(floor, stops), sizes(floor, stops)],
      [
        ['open', 'open'],
        ['-4', '-4'],
      ],
    )
    floor.place(maker, BTC_USDT, -6, '59900')
    assert.deepEqual(sizes(floor, stops), ['-10', '-10'])
    floor.place(maker, BTC_USDT, 10, '60900')
    floor.print('61000', pair)
    assert.equal(floor.size(user), 0)
    assert.deepEqual(both(floor, stops), ['finished succeeded', 'finished cancelled other_stop_fired'])
    prove(floor.state, { quiet: true })
  })

  test('close what was opened, be it less than an order may be or more than one at the market', () => {
    const sized = { ...CONTRACTS.BTC_USDT, order_size_min: 5, market_order_size_max: '20' }
    const floor = new WaitingFloor([sized])
    floor.markAt('60000')
    const [maker, taker] = floor.pair()
    const print = (price: string): void => {
      floor.place(maker, BTC_USDT, -5, price)
      floor.place(taker, BTC_USDT, 5, price, { tif: 'ioc' })
    }
    print('60000')
    const [first, small, large] = [floor.holder('10000'), floor.holder('10000'), floor.holder('10000')]
    floor.place(first, BTC_USDT, 7, '59900')
    const orders = [
      floor.place(small, BTC_USDT, 10, '59900', LONG),
      floor.place(large, BTC_USDT, 30, '59901', LONG),
    ]
    floor.place(maker, BTC_USDT, -40, '59900')
    floor.must('futures.cancel', { ...floor.path(small, BTC_USDT), id: orders[0]!.id })
    assert.deepEqual([floor.size(small), floor.size(large)], [3, 30])
    print('60000')
    floor.place(maker, BTC_USDT, 60, '58950')
    print('59000')
    for (const { id } of orders)
      assert.deepEqual(both(floor, stopsOf(floor, id)), [
        'finished cancelled other_stop_fired',
        'finished succeeded',
      ])
    assert.deepEqual([floor.size(small), floor.size(large)], [0, 0])
    prove(floor.state, { quiet: true })
  })

  test('an order that takes its own owner goes on with them', () => {
    const { floor, maker, user } = opened()
    floor.place(maker, BTC_USDT, -5, '60000')
    floor.place(user, BTC_USDT, -5, '60001')
    // The second part ends what the first one opened, and opens as much again.
    const order = floor.place(user, BTC_USDT, 10, '60001', LONG)
    const stops = stopsOf(floor, order.id)
    assert.equal(floor.size(user), 5)
    assert.deepEqual(
      [both(floor, stops), sizes(floor, stops)],
      [
        ['open', 'open'],
        ['-5', '-5'],
      ],
    )
    prove(floor.state, { quiet: true })
  })

  test('a short has them the other way round', () => {
    const { floor, pair, maker, user } = opened()
    floor.place(maker, BTC_USDT, 10, '60000')
    const order = floor.place(user, BTC_USDT, -10, '60000', SHORT)
    const stops = stopsOf(floor, order.id)
    assert.deepEqual(
      stops.map((id) => `${floor.row(id).rule} ${floor.row(id).order_type} ${floor.row(id).initial.size}`),
      ['2 close-short-order 10', '1 close-short-order 10'],
    )
    floor.place(maker, BTC_USDT, -10, '61100')
    floor.print('61000', pair)
    assert.deepEqual(both(floor, stops), ['finished cancelled other_stop_fired', 'finished succeeded'])
    assert.equal(floor.size(user), 0)
  })

  test('of an order that ends without a fill are invalid', () => {
    const { floor, user } = opened()
    const order = floor.place(user, BTC_USDT, 10, '59900', LONG)
    const stops = stopsOf(floor, order.id)
    floor.must('futures.cancel', { ...floor.path(user, BTC_USDT), id: order.id })
    assert.deepEqual(both(floor, stops), ['invalid order_ended', 'invalid order_ended'])
    assert.equal(floor.state.futures.waiting.count(user, 'futures/usdt'), 0)
    // One that takes nothing, and one that is refused, leave nothing that waits.
    const ioc = floor.place(user, BTC_USDT, 10, '59900', { ...LONG, tif: 'ioc' })
    assert.deepEqual(both(floor, stopsOf(floor, ioc.id)), ['invalid order_ended', 'invalid order_ended'])
    assert.equal(floor.refused(user, BTC_USDT, 900_000, '59900', LONG), 'INSUFFICIENT_AVAILABLE')
    assert.equal(floor.state.futures.waiting.count(user, 'futures/usdt'), 0)
  })

  test('what can not be placed leaves the other stop where it is', () => {
    const { floor, pair, maker, user } = opened()
    floor.place(maker, BTC_USDT, -10, '60000')
    const order = floor.place(user, BTC_USDT, 10, '60000', LONG)
    const stops = stopsOf(floor, order.id)
    // Nobody buys.
    floor.print('61000', pair)
    assert.deepEqual(both(floor, stops), ['finished failed CONTRACT_NO_COUNTER', 'open'])
    floor.place(maker, BTC_USDT, 10, '58990')
    floor.print('59000', pair)
    assert.deepEqual([floor.told(stops[1]), floor.size(user)], ['finished succeeded', 0])
  })

  test('go with the position, so that they do not close the next one', () => {
    const { floor, pair, maker, user } = opened()
    floor.place(maker, BTC_USDT, -10, '60000')
    const order = floor.place(user, BTC_USDT, 10, '60000', LONG)
    const stops = stopsOf(floor, order.id)
    floor.place(maker, BTC_USDT, 10, '60000')
    floor.place(user, BTC_USDT, 0, '0', { close: true })
    assert.deepEqual(both(floor, stops), [
      'finished cancelled position_closed',
      'finished cancelled position_closed',
    ])
    floor.place(maker, BTC_USDT, -10, '60000')
    floor.place(user, BTC_USDT, 10, '60000')
    floor.place(maker, BTC_USDT, 10, '58000')
    floor.print('59000', pair)
    assert.equal(floor.size(user), 10)
  })

  test('while their order still rests they wait for its next fill instead', () => {
    const { floor, pair, maker, user } = opened()
    const order = floor.place(user, BTC_USDT, 10, '59900', LONG)
    const stops = stopsOf(floor, order.id)
    floor.place(maker, BTC_USDT, -4, '59900')
    floor.place(maker, BTC_USDT, 4, '59910')
    floor.place(user, BTC_USDT, 0, '0', { close: true })
    assert.deepEqual(
      [both(floor, stops), sizes(floor, stops)],
      [
        ['inactive', 'inactive'],
        ['0', '0'],
      ],
    )
    floor.place(maker, BTC_USDT, -3, '59900')
    assert.deepEqual(
      [both(floor, stops), sizes(floor, stops)],
      [
        ['open', 'open'],
        ['-3', '-3'],
      ],
    )
    floor.place(maker, BTC_USDT, 3, '58990')
    floor.print('60500', pair)
    const gone = floor.must('futures.cancel', { ...floor.path(user, BTC_USDT), id: order.id })
    assert.equal(gone.finish_as, 'cancelled')
    floor.place(user, BTC_USDT, 0, '0', { close: true })
    assert.deepEqual(both(floor, stops), [
      'finished cancelled position_closed',
      'finished cancelled position_closed',
    ])
  })

  test('protect what was opened, not what closed another position', () => {
    const { floor, maker, user } = opened()
    const order = floor.place(user, BTC_USDT, 10, '59900', LONG)
    const stops = stopsOf(floor, order.id)
    floor.place(maker, BTC_USDT, 6, '60000')
    floor.place(user, BTC_USDT, -6, '60000')
    floor.place(maker, BTC_USDT, -10, '59900')
    assert.equal(floor.size(user), 4)
    assert.deepEqual(sizes(floor, stops), ['-4', '-4'])
  })

  test('in dual mode they close their side alone', () => {
    const { floor, pair, maker, user } = opened()
    floor.must('futures.dual_mode', { ...floor.path(user, BTC_USDT), dual: true })
    floor.place(maker, BTC_USDT, -10, '60000')
    floor.place(user, BTC_USDT, 10, '60000', LONG)
    floor.place(maker, BTC_USDT, 5, '60000')
    floor.place(user, BTC_USDT, -5, '60000', SHORT)
    floor.place(maker, BTC_USDT, 10, '58900')
    floor.place(maker, BTC_USDT, -5, '59100')
    floor.print('59000', pair)
    assert.equal(floor.size(user, BTC_USDT, 'dual_long'), 0)
    assert.equal(floor.size(user, BTC_USDT, 'dual_short'), 0)
    prove(floor.state, { quiet: true })
  })

  test('are changed by their trigger, not by their size', () => {
    const { floor, user } = opened()
    const order = floor.place(user, BTC_USDT, 10, '59900', LONG)
    const [profit] = stopsOf(floor, order.id)
    const none = {
      size: null,
      price: null,
      trigger_price: null,
      price_type: null,
      auto_size: null,
      close: null,
    }
    const amend = (change: Record<string, string>): string => {
      const input = { ...floor.path(user, BTC_USDT), id: profit, ...none, ...change }
      const outcome = floor.run('futures.price_order.amend', input)
      return 'label' in outcome ? outcome.label : 'amended'
    }
    assert.equal(amend({ size: '-5' }), 'INVALID_PARAM_VALUE')
    // The order's own price counts while it rests, wherever the last one is.
    assert.equal(amend({ trigger_price: '59900' }), 'AUTO_TRIGGER_PRICE_GREATE_LAST')
    assert.equal(amend({ trigger_price: '59950' }), 'amended')
    assert.equal(floor.row(profit).status, 'inactive')
  })
})
