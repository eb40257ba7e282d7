import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Floor } from './floor.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

/** A floor with somebody who has money enough for the other side of everything. */
function open(): { floor: Floor; rich: number } {
  const floor = new Floor()
  const rich = floor.holder('10000000')
  floor.leverage(rich, BTC_USDT, '0', '10')
  floor.markAt('60000')
  return { floor, rich }
}
const basis = (floor: Floor): string | undefined => floor.price().steps.at(-1)?.[1]

suite('what a naive reference of contracts found', () => {
  test('of two things that are wrong the one that the specification lists first is told', () => {
    const { floor, rich } = open()
    const stranger = floor.user({})
    const told = (user: number, size: number, price: string, more: object): string =>
      floor.refused(user, BTC_USDT, size, price, more)
    assert.equal(told(rich, 1, '60000', { contract: 'XXX_USDT', stp_act: 'cn' }), 'INVALID_PARAM_VALUE')
    assert.equal(told(rich, 1, '60000', { contract: 'XXX_USDT', size: '1.5' }), 'CONTRACT_NOT_FOUND')
    assert.equal(told(stranger, 1, '60000.05', {}), 'USER_NOT_FOUND')
    assert.equal(told(stranger, 1, '60000', { iceberg: '2' }), 'INVALID_PARAM_VALUE')
    assert.equal(told(rich, 1, '60000.05', { tif: 'ioc', iceberg: '1' }), 'INVALID_PARAM_VALUE')
    assert.equal(told(rich, 0, '80000', { close: true }), 'PRICE_TOO_DEVIATED')
    assert.equal(
      told(rich, 1, '0', { reduce_only: true, market_order_slip_ratio: '0.5' }),
      'INVALID_PARAM_VALUE',
    )
    const resting = floor.place(rich, BTC_USDT, 1, '59000', { tif: 'poc' })
    floor.place(rich, BTC_USDT, -1, '61000')
    const amended = floor.run('futures.amend', {
      ...floor.path(rich, BTC_USDT),
      id: resting.id,
      size: '900000',
      price: '61000',
      amend_text: null,
    })
    assert.deepEqual('label' in amended && amended.label, 'ORDER_POC_IMMEDIATE')
  })

  test('fill-or-kill is nothing at all where what stood against it ends instead of being filled', () => {
    const { floor, rich } = open()
    const one = floor.holder('700')
    floor.leverage(one, BTC_USDT, '10')
    const order = floor.place(one, BTC_USDT, 1_000, '60000')
    floor.place(rich, BTC_USDT, 500, '59000')
    // At this mark nothing carries the order any more.
    floor.markAt('54000')
    assert.equal(floor.refused(rich, BTC_USDT, -1_000, '59500', { tif: 'fok' }), 'ORDER_FOK')
    assert.equal(floor.state.futures.orders.get(order.id)!.status, 'open')
    const ioc = floor.place(rich, BTC_USDT, -1_000, '59500', { tif: 'ioc' })
    assert.deepEqual([ioc.filled, floor.state.futures.orders.get(order.id)!.finish_as], [0n, 'liquidated'])
  })

  test('what the mark is made of follows an order that an amendment ends', () => {
    const { floor, rich } = open()
    const best = floor.place(rich, BTC_USDT, 1, '59990')
    floor.place(rich, BTC_USDT, 1, '59900')
    floor.place(rich, BTC_USDT, -1, '60020')
    assert.equal(basis(floor), '5')
    floor.must('futures.amend', {
      ...floor.path(rich, BTC_USDT),
      id: best.id,
      size: '0',
      price: null,
      amend_text: null,
    })
    assert.equal(basis(floor), '-40')
  })

  test('and orders that a liquidation ends', () => {
    const { floor, rich } = open()
    const one = floor.holder('620')
    floor.leverage(one, BTC_USDT, '10')
    floor.place(rich, BTC_USDT, -1_000, '60000')
    floor.place(one, BTC_USDT, 1_000, '60000')
    floor.place(one, BTC_USDT, -1, '60010')
    floor.place(rich, BTC_USDT, -1, '60100')
    floor.place(rich, BTC_USDT, 1, '50000')
    assert.equal(basis(floor), '-4995')
    // Broke at this mark, and well again before its turn comes: nothing but its orders is lost.
    floor.markAt('54100')
    floor.markAt('60000')
    floor.advance(0)
    assert.equal(floor.size(one), 1_000)
    assert.deepEqual(floor.state.futures.openOrders(one, BTC_USDT), [])
    assert.equal(basis(floor), '-4950')
  })

  test('orders that only close the other side are no part of what a risk limit is for', () => {
    const { floor, rich } = open()
    const one = floor.holder('100000')
    floor.leverage(one, BTC_USDT, '0', '125')
    floor.place(rich, BTC_USDT, -150_000, '60000')
    floor.place(one, BTC_USDT, 150_000, '60000')
    // 900000 of 1000000 are held; selling them all opens nothing, and 200000 more are a short of 200000.
    floor.place(one, BTC_USDT, -150_000, '60500')
    floor.place(one, BTC_USDT, -33_000, '60600')
    assert.equal(floor.refused(one, BTC_USDT, -150_000, '60600'), 'RISK_LIMIT_EXCEEDED')
  })

  /** Long and short of one account, isolated; the short has little left above its maintenance margin. */
  function bothSides(margin: string): { floor: Floor; rich: number; one: number } {
    const { floor, rich } = open()
    const one = floor.holder('200000')
    const path = floor.path(one, BTC_USDT)
    floor.must('futures.dual_mode', { ...path, dual: true })
    floor.leverage(one, BTC_USDT, '50')
    floor.place(rich, BTC_USDT, 1_000, '60000')
    floor.place(one, BTC_USDT, -1_000, '60000')
    const change = { ...path, contract: 'BTC_USDT', dual_side: 'dual_short' as const }
    floor.must('futures.margin', { ...change, change: margin })
    return { floor, rich, one }
  }
  test('the side of a hedge is liquidated when the other one grows into a dearer tier', () => {
    const { floor, rich, one } = bothSides('1')
    // 6000 at 60000 with 124: 29.6 needed by itself, 61.9 beside a long of 9000000 (its average rate is 0.0098).
    floor.markAt('60850')
    assert.equal(floor.size(one, BTC_USDT, 'dual_short'), -1_000)
    floor.place(rich, BTC_USDT, -900_000, '60850')
    floor.place(one, BTC_USDT, 900_000, '60850')
    floor.advance(0)
    assert.equal(floor.size(one, BTC_USDT, 'dual_short'), 0)
  })

  test('two positions that each lose a little bring their account down together', () => {
    const { floor, rich } = open()
    const one = floor.holder('1000')
    floor.markAt('3000', ETH_USDT)
    for (const [id, size, price] of [
      [BTC_USDT, 1_500, '60000'],
      [ETH_USDT, 300, '3000'],
    ] as const) {
      floor.leverage(one, id, '0', '50')
      floor.place(rich, id, -size, price)
      floor.place(one, id, size, price)
    }
    // Neither alone could: 9000 in each, and 1000 to lose; each move is of one of them.
    let begun = false
    for (let step = 1; step <= 20 && !begun; step++) {
      const left = 1 - 0.007 * Math.ceil(step / 2)
      if (step % 2 === 1) floor.markAt(String(Math.round(60_000 * left)))
      else floor.markAt(String(Math.round(3_000 * left)), ETH_USDT)
      const { cross_margin_balance: balance, cross_maintenance_margin: needed } = floor.figures(one)
      begun = floor.state.futures.accounts.get(one, 'futures/usdt')!.liquidating !== 0
      assert.equal(begun, balance <= needed, `step ${step}`)
    }
    assert.ok(begun)
  })
})
