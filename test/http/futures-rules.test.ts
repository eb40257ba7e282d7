import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('what a contract, a position or its tiers do not allow', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '5000000')
  })
  after(() => platform.stop())
  const rule = (change: Record<string, unknown>): Promise<unknown> =>
    platform.operator.ok('PATCH', '/contracts/futures/usdt/SOL_USDT', change)

  test('a contract that is stopped, or full of orders', async () => {
    await setIndex(platform, { SOL: '150' })
    const trader = await ContractTrader.of(platform, '10000')
    const sol = { contract: 'SOL_USDT' }
    await rule({ orders_limit: 2 })
    await trader.placed(1, '149', sol)
    await trader.placed(1, '149', sol)
    refused(await trader.place(1, '149', sol), 400, 'TOO_MANY_ORDERS', /2 orders/)
    ok(await trader.delete('/orders'))
    const order = await trader.placed(1, '149', sol)
    await rule({ status: 'circuit_breaker' })
    refused(await trader.place(1, '149', sol), 400, 'TRADE_RESTRICTED')
    assert.equal(ok(await trader.delete(`/orders/${order.id}`)).finish_as, 'cancelled')
    await rule({ status: 'trading' })
    await trader.placed(1, '149', sol)
    ok(await trader.delete('/orders'))
  })

  test('a price at which it would be liquidated at once, or beyond bankruptcy', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 125 }))
    const wall = await maker.placed(-100, '61000')
    refused(await trader.place(100, '61000'), 400, 'LIQUIDATE_IMMEDIATELY')
    assert.equal((await trader.position()).size, 0)
    ok(await maker.delete(`/orders/${wall.id}`))
    await maker.placed(-100, '60000')
    await trader.placed(100, null)
    refused(await trader.place(-100, '50000', { reduce_only: true }), 400, 'PRICE_OVER_BANKRUPT')
    await maker.placed(100, '60000')
    await trader.placed(0, null, { close: true })
  })

  test('a risk limit below what is held, and a leverage above what its tier allows', async () => {
    const trader = await ContractTrader.of(platform, '200000')
    await maker.placed(-20000, '3000', { contract: 'ETH_USDT' })
    await trader.placed(20000, null, { contract: 'ETH_USDT' })
    const path = '/positions/ETH_USDT/risk_limit'
    refused(await trader.ask(path, { risk_limit: '500000' }), 400, 'RISK_LIMIT_TOO_LOW')
    assert.equal(ok(await trader.ask(path, { risk_limit: '1000000' })).risk_limit, '1000000')
    const cross = { leverage: 0, cross_leverage_limit: 90 }
    refused(await trader.ask('/positions/ETH_USDT/leverage', cross), 400, 'LEVERAGE_TOO_HIGH')
    await maker.placed(20000, '3000', { contract: 'ETH_USDT' })
    await trader.placed(0, null, { contract: 'ETH_USDT', close: true })
  })

  test('who trades with himself pays both sides, and holds nothing', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const { total } = await trader.account()
    await trader.placed(-10, '60000')
    await trader.placed(10, '60000', { tif: 'ioc' })
    assert.equal((await trader.position()).size, 0)
    const after = await trader.account()
    assert.equal((Number(total) - Number(after.total)).toFixed(8), (60 * 0.0007).toFixed(8))
    assert.equal(ok(await trader.get('/my_trades')).length, 2)
  })

  test('what is settled in BTC: an account of its own, values in BTC', async () => {
    const trader = await ContractTrader.of(platform, '1', { base: '/futures/btc' })
    const other = await ContractTrader.of(platform, '1', { base: '/futures/btc' })
    const usd = { contract: 'BTC_USD' }
    refused(await trader.place(1, '60000'), 400, 'CONTRACT_NOT_FOUND', /BTC_USDT/)
    await other.placed(-6000, '60000', usd)
    const order = await trader.placed(6000, null, usd)
    assert.equal(`${order.fill_price} ${order.contract}`, '60000 BTC_USD')
    const [trade] = ok(await trader.get('/my_trades'))
    assert.equal(`${trade.trade_value} ${trade.fee}`, '0.1 0.00005')
    const position = await trader.position('BTC_USD')
    assert.equal(`${position.size} ${position.entry_price}`, '6000 60000')
    assert.equal((await trader.account()).currency, 'BTC')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })
})

describe('dated contracts', () => {
  let platform: TestPlatform
  let trader: ContractTrader
  let contract: string
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    trader = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    const [first] = ok(await trader.get('/positions'))
    contract = first.contract as string
  })
  after(() => platform.stop())

  test('have fewer calls', async () => {
    for (const [method, path] of [
      ['GET', '/fee'],
      ['GET', '/orders_timerange'],
      ['GET', '/my_trades_timerange'],
      ['GET', `/positions_timerange`],
      ['GET', '/auto_deleverages'],
      ['GET', `/dual_comp/positions/${contract}`],
      ['GET', `/get_leverage/${contract}`],
      ['POST', '/batch_orders'],
      ['POST', '/batch_cancel_orders'],
      ['POST', '/bbo_orders'],
      ['POST', '/countdown_cancel_all'],
      ['POST', '/dual_mode'],
      ['POST', '/set_position_mode'],
      ['POST', `/positions/${contract}/set_leverage`],
    ] as const)
      assert.equal((await trader.client.request(method, trader.base + path)).status, 404, path)
    assert.equal((await trader.client.put(`${trader.base}/orders/1`, { size: 1 })).status, 404)
  })

  test('an account, orders and a position of their own', async () => {
    const maker = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    refused(await trader.delete('/orders'), 400, 'MISSING_REQUIRED_PARAM', /contract/)
    const order = await trader.placed('3', '59000', { contract, text: 't-dated' })
    assert.strictEqual(order.size, 3)
    assert.equal(order.update_time, undefined)
    refused(await trader.client.get('/futures/usdt/orders/t-dated'), 404, 'ORDER_NOT_FOUND')
    assert.equal(ok(await trader.delete('/orders', { contract })).length, 1)
    const { total } = await trader.account()
    assert.equal(total, '1000')
    refused(await trader.client.get('/futures/usdt/accounts'), 400, 'USER_NOT_FOUND')
    await maker.placed(-10, '60000', { contract })
    await trader.placed(10, null, { contract })
    const position = await trader.position(contract)
    assert.equal(`${position.size} ${position.mode} ${position.leverage}`, '10 single 0')
    const reply = await trader.get('/my_trades', { contract, count_total: 1 })
    assert.equal(ok(reply)[0].trade_value, undefined)
    assert.equal(reply.headers.get('x-pagination-total'), '1')
    const [line] = ok(await trader.get('/account_book', { type: 'fee' }))
    assert.equal(`${line.change} ${line.contract}`, `-0.03 ${contract}`)
    assert.deepEqual(ok(await trader.get('/settlements')), [])
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('at the end positions are settled at the average of the index, and the records stay', async () => {
    const held = ok(await trader.get('/positions', { holding: true }))
    const name = held[0].contract as string
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name)!.map(Number) as [
      number,
      number,
      number,
      number,
    ]
    const expiry = Date.UTC(year, month - 1, day, 8) / 1000
    await setIndex(platform, { BTC: '60512.34' })
    const advance_seconds = Math.ceil(expiry - platform.now()) + 61
    await platform.operator.ok('POST', '/clock', { advance_seconds })
    const [row] = ok(await trader.get('/settlements'))
    assert.equal(`${row.contract} ${row.size} ${row.entry_price}`, `${name} 10 60000`)
    // 10 x 0.0001 x (60512.34 - 60000); 0.015 % of 60.51234.
    assert.equal(`${row.settle_price} ${row.profit} ${row.fee}`, '60512.34 0.51234 0.00907686')
    assert.equal(row.time, expiry)
    const [closed] = ok(await trader.get('/position_close', { contract: name }))
    assert.equal(`${closed.text} ${closed.pnl_pnl}`, 'settle 0.51234')
    // What it paid at its beginning and at its end.
    assert.equal(`${closed.pnl_fee} ${closed.pnl}`, '-0.03907686 0.47326314')
    const [fee] = ok(await trader.get('/account_book', { type: 'fee' }))
    const [, orderId] = (fee.text as string).split(':') as [string, string]
    assert.equal(`${fee.change} ${fee.text}`, `-0.00907686 ${name}:${orderId}`)
    const order = await trader.order(orderId)
    assert.equal(`${order.text} ${order.size} ${order.left} ${order.finish_as}`, 'settle -10 0 filled')
    assert.equal(order.fill_price, '60512.34')
    assert.deepEqual(ok(await trader.get('/settlements', { contract: name, at: expiry })), [row])
    assert.equal(ok(await trader.get('/my_trades', { contract: name })).length >= 1, true)
    refused(await trader.get(`/positions/${name}`), 404, 'CONTRACT_NOT_FOUND')
    refused(await trader.place(1, '60000', { contract: name }), 400, 'CONTRACT_NOT_FOUND')
    assert.ok(!ok(await trader.get('/positions')).some((one: { contract: string }) => one.contract === name))
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })
})

test('a price below the step of marks is the least mark there is: positions are liquidated and settled by it', async () => {
  const platform = await TestPlatform.start()
  await setIndex(platform, { BTC: '60000', SOL: '150' })
  const btc = { base: '/futures/btc' }
  const [long, short] = [
    await ContractTrader.of(platform, '0.01', btc),
    await ContractTrader.of(platform, '1', btc),
  ]
  const [buyer, seller] = [
    await ContractTrader.of(platform, '1000'),
    await ContractTrader.of(platform, '1000'),
  ]
  const usd = { contract: 'BTC_USD' }
  await short.placed(-600, '60000', usd)
  await long.placed(600, '60000', usd)
  const sol = { contract: 'SOL_USDT' }
  await seller.placed(-10, '150', sol)
  await buyer.placed(10, '150', sol)
  await setIndex(platform, { BTC: '0.004', SOL: '0.0004' })
  const marks = [await long.position('BTC_USD'), await seller.position('SOL_USDT')]
  assert.deepEqual(
    marks.map(({ mark_price }) => mark_price),
    ['0.01', '0.001'],
  )
  assert.equal(marks[0].size, 0)
  assert.equal((await buyer.position('SOL_USDT')).size, 0)
  ok(await long.get('/accounts'))
  const delisted_time = Math.ceil(platform.now() / 60) * 60 + 1800
  await platform.operator.ok('PATCH', '/contracts/futures/usdt/SOL_USDT', { delisted_time })
  await platform.operator.ok('POST', '/clock', { advance_seconds: 2000 })
  const [{ long_price, text }] = ok(await seller.get('/position_close'))
  assert.equal(`${long_price} ${text}`, '0.001 clear')
  assert.deepEqual(await platform.operator.ok('GET', '/due'), [], 'no work has failed')
  await setIndex(platform, { BTC: '60000' })
  assert.equal((await short.position('BTC_USD')).mark_price, '60000')
  assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  await platform.stop()
})
