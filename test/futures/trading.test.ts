import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { format, type Amount, type Price } from '../../src/money/amount.ts'
import { Floor } from './floor.ts'
import { BTC_USD, BTC_USDT, ETH_USDT } from './world.ts'

const text = (value: Amount | Price): string => format(value)

describe('orders and positions of contracts', () => {
  test('E1 to E5: margin of an order, of a fill, more of it, part of it closed', () => {
    const floor = new Floor()
    const [buyer, seller] = [floor.holder('10000'), floor.holder('100000')]
    floor.markAt('60000')
    floor.leverage(buyer, BTC_USDT, '10')
    floor.place(buyer, BTC_USDT, 1000, '60000')
    assert.equal(text(floor.figures(buyer).order_margin), '606')
    floor.must('futures.cancel_all', {
      ...floor.path(buyer, BTC_USDT),
      contract: null,
      side: null,
      exclude_reduce_only: false,
      text: null,
    })
    floor.place(seller, BTC_USDT, -1000, '60000')
    const order = floor.place(buyer, BTC_USDT, 1000, '60000')
    assert.deepEqual([order.status, text(order.fee)], ['closed', '3'])
    assert.equal(text(floor.position(buyer).margin), '603')
    assert.equal(text(floor.view(buyer).entry_price), '60000')
    assert.equal(floor.cash(buyer), '9997')
    // E2
    floor.markAt('61000')
    const e2 = floor.view(buyer)
    assert.deepEqual([e2.value, e2.unrealised_pnl, e2.initial_margin, e2.maintenance_margin].map(text), [
      '6100',
      '100',
      '613.05',
      '27.45',
    ])
    // E3
    floor.place(seller, BTC_USDT, -500, '61200')
    floor.place(buyer, BTC_USDT, 500, '61200')
    assert.deepEqual(
      [floor.position(buyer).cost, floor.view(buyer).entry_price, floor.position(buyer).margin].map((one) =>
        text(one as Amount),
      ),
      ['9060', '60400', '910.53'],
    )
    // E4: as a maker
    const cash = Number(floor.cash(buyer))
    const available = floor.figures(buyer).available
    floor.place(buyer, BTC_USDT, -600, '61500')
    floor.place(seller, BTC_USDT, 600, '61500')
    assert.equal(floor.size(buyer), 900)
    assert.deepEqual([floor.position(buyer).cost, floor.position(buyer).margin].map(text), [
      '5436',
      '546.318',
    ])
    assert.equal((Number(floor.cash(buyer)) - cash).toFixed(3), '65.262')
    assert.equal(text((floor.figures(buyer).available - available) as Amount), '429.474')
  })

  test('E10: an inverse contract', () => {
    const floor = new Floor()
    const [buyer, seller] = [floor.holder('1', BTC_USD), floor.holder('10', BTC_USD)]
    floor.markAt('60000', BTC_USD)
    floor.leverage(buyer, BTC_USD, '10')
    floor.place(seller, BTC_USD, -6000, '60000')
    floor.place(buyer, BTC_USD, 6000, '60000')
    assert.equal(text(floor.position(buyer, BTC_USD).margin), '0.01005')
    assert.equal(floor.cash(buyer, BTC_USD), '0.99995')
    floor.markAt('63000', BTC_USD)
    assert.equal(text(floor.view(buyer, BTC_USD).unrealised_pnl).slice(0, 14), '0.004761904761')
    floor.place(seller, BTC_USD, 6000, '63000')
    floor.place(buyer, BTC_USD, 0, '0', { close: true })
    assert.equal(floor.cash(buyer, BTC_USD), '1.00466429')
    assert.equal(floor.size(buyer, BTC_USD), 0)
  })

  test('E8, E9: cross figures, orders beside the position', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('5010.5'), floor.holder('100000')]
    floor.markAt('60000')
    floor.markAt('3000', ETH_USDT)
    floor.place(other, BTC_USDT, -1000, '60000')
    floor.place(one, BTC_USDT, 1000, '60000')
    floor.place(other, ETH_USDT, 500, '3000')
    floor.place(one, ETH_USDT, -500, '3000')
    assert.equal(floor.cash(one), '5000')
    floor.markAt('59500')
    floor.markAt('3020', ETH_USDT)
    const figures = floor.figures(one)
    assert.equal(text(figures.cross_margin_balance), '4850')
    assert.equal(text(figures.cross_initial_margin), '2115.525')
    assert.equal(text(figures.cross_maintenance_margin), '109.825')
    assert.deepEqual(
      [figures.cross_mmr, figures.cross_imr].map((rate) => format(rate)),
      ['44.1611', '2.2925'],
    )
    floor.place(one, BTC_USDT, 400, '59000')
    floor.place(one, BTC_USDT, -1600, '59900')
    const ordered = floor.figures(one)
    assert.equal(text(ordered.order_margin), '362.994')
    assert.equal(text(ordered.cross_available), '2371.481')
    assert.equal(text(floor.view(one).liq_price), '11883.98')
  })

  test('E21: a loss beyond the cash is owed while other profit covers it, and repaid first', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('1200'), floor.holder('1000000')]
    floor.markAt('60000')
    floor.markAt('3000', ETH_USDT)
    floor.place(other, BTC_USDT, -1000, '60000')
    floor.place(one, BTC_USDT, 1000, '60000')
    floor.place(other, ETH_USDT, -150, '3000')
    floor.place(one, ETH_USDT, 150, '3000')
    const debt = (): string => format(floor.state.ledger.balance(one, 'debt.futures:usdt', 'USDT'))
    floor.markAt('72000')
    floor.markAt('2200', ETH_USDT)
    // 150 contracts have lost 1200 and cost 1.65; the cash was 1194.75.
    floor.place(other, ETH_USDT, 150, '2200')
    floor.place(one, ETH_USDT, -150, '2200', { reduce_only: true })
    assert.deepEqual([floor.cash(one), debt()], ['0', '-6.9'])
    assert.equal(text(floor.figures(one).total), '-6.9')
    assert.equal(text(floor.figures(one).cross_margin_balance), '1193.1')
    assert.equal(text(floor.figures(one).available), '0')
    floor.place(other, BTC_USDT, 100, '72000')
    floor.place(one, BTC_USDT, -100, '72000', { reduce_only: true })
    assert.deepEqual([floor.cash(one), debt()], ['112.74', '0'])
  })

  test('refusals, in the order of the checks', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('1000'), floor.holder('100000')]
    floor.markAt('60000')
    const stranger = floor.user({ USDT: '10' })
    assert.equal(floor.refused(one, BTC_USDT, 0, '60000'), 'INVALID_PARAM_VALUE')
    assert.equal(floor.refused(one, BTC_USDT, 1, '0', { tif: 'gtc' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.refused(one, BTC_USDT, 1, '60000', { contract: 'NO_USDT' }), 'CONTRACT_NOT_FOUND')
    assert.equal(floor.refused(stranger, BTC_USDT, 1, '60000'), 'USER_NOT_FOUND')
    assert.equal(floor.refused(one, BTC_USDT, 1, '60000.05'), 'INVALID_PRECISION')
    assert.equal(floor.refused(one, BTC_USDT, 1, '60000', { size: '1.5' }), 'INVALID_PRECISION')
    assert.equal(floor.refused(one, BTC_USDT, 1_000_001, '60000'), 'SIZE_TOO_LARGE')
    assert.equal(floor.refused(one, BTC_USDT, 1, '80000'), 'PRICE_TOO_DEVIATED')
    assert.equal(floor.refused(one, BTC_USDT, 1, '60000', { reduce_only: true }), 'POSITION_EMPTY')
    assert.equal(floor.refused(one, BTC_USDT, 0, '0', { close: true }), 'POSITION_EMPTY')
    assert.equal(floor.refused(one, BTC_USDT, 1, '0'), 'CONTRACT_NO_COUNTER')
    floor.place(other, BTC_USDT, -100, '60000')
    assert.equal(floor.refused(one, BTC_USDT, 1, '60000', { tif: 'poc' }), 'ORDER_POC_IMMEDIATE')
    assert.equal(floor.refused(one, BTC_USDT, 101, '60000', { tif: 'fok' }), 'ORDER_FOK')
    assert.equal(floor.refused(one, BTC_USDT, 100_000, '59000'), 'INSUFFICIENT_AVAILABLE')
    floor.leverage(one, BTC_USDT, '125')
    assert.equal(floor.refused(one, BTC_USDT, 200_000, '59000'), 'RISK_LIMIT_EXCEEDED')
    floor.leverage(one, BTC_USDT, '0')
    floor.place(one, BTC_USDT, 50, '60000', { text: 't-one' })
    floor.place(one, BTC_USDT, 1, '59000', { text: 't-one' })
    assert.equal(floor.refused(one, BTC_USDT, 1, '59000', { text: 't-one' }), 'DUPLICATE_REQUEST')
    assert.equal(floor.refused(one, BTC_USDT, 1, '59000', { reduce_only: true }), 'INCREASE_POSITION')
    assert.equal(floor.refused(one, BTC_USDT, -51, '61000', { reduce_only: true }), 'REDUCE_EXCEEDED')
    floor.place(one, BTC_USDT, 0, '61000', { close: true })
    assert.equal(floor.refused(one, BTC_USDT, 0, '61000', { close: true }), 'POSITION_IN_CLOSE')
  })

  test('what only reduces: cut, trimmed and gone with the position', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('10000'), floor.holder('100000')]
    floor.markAt('60000')
    floor.place(other, BTC_USDT, -100, '60000')
    floor.place(one, BTC_USDT, 100, '60000')
    const near = floor.place(one, BTC_USDT, -60, '60100', { reduce_only: true })
    const far = floor.place(one, BTC_USDT, -40, '61000', { reduce_only: true })
    floor.place(other, BTC_USDT, 30, '59900')
    floor.place(one, BTC_USDT, -30, '59900')
    const now = (id: number): string => floor.state.futures.orders.get(id)!.finish_as
    assert.deepEqual([now(near.id), now(far.id)], ['open', 'reduce_out'])
    floor.place(other, BTC_USDT, 100, '59900')
    const cut = floor.place(one, BTC_USDT, -90, '0', { reduce_only: true })
    assert.deepEqual(
      [cut.finish_as, Number(contractsIn(cut.left)), Number(contractsIn(cut.filled))],
      ['reduce_only', 20, 70],
    )
    assert.equal(now(near.id), 'position_closed')
    assert.equal(floor.size(one), 0)
  })

  test('a resting order that nothing carries any more ends instead of being filled', () => {
    const floor = new Floor()
    const [thief, friend] = [floor.holder('700'), floor.holder('1000000')]
    floor.markAt('60000')
    floor.place(thief, BTC_USDT, 1000, '59900')
    // The money goes where margin does not count it: another contract loses it.
    floor.markAt('50000')
    const order = floor.place(friend, BTC_USDT, -1000, '50000')
    assert.equal(floor.size(thief), 0, 'it would have been worth less than nothing at once')
    assert.equal(order.status, 'open')
  })
})
