import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

type Members = Record<string, unknown>
const BUY = { contract: 'BTC_USDT', size: 5, price: '59000' }
/** Above the last price, unless a test says else. */
const UP = { price: '61000', rule: 1 }
const create = (trader: ContractTrader, initial: Members = {}, trigger: Members = {}, more: Members = {}) =>
  trader.post('/price_orders', { initial: { ...BUY, ...initial }, trigger: { ...UP, ...trigger }, ...more })
const created = async (...given: Parameters<typeof create>): Promise<number> => {
  const reply = ok(await create(...given), 201)
  assert.equal(reply.id_string, String(reply.id))
  return reply.id as number
}
async function print(maker: ContractTrader, price: string, contract = 'BTC_USDT'): Promise<void> {
  await maker.placed(-1, price, { contract })
  await maker.placed(1, price, { contract, tif: 'ioc' })
}

describe('price orders of contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
    maker = await ContractTrader.of(platform, '5000000')
    trader = await ContractTrader.of(platform, '10000')
    await print(maker, '60000')
  })
  after(() => platform.stop())
  const show = async (id: number | string, who = trader) => ok(await who.get(`/price_orders/${id}`))

  test('one waits, is seen, fires and leads to its order', async () => {
    const id = await created(trader, { text: 't-fires', tif: 'gtc' }, { expiration: 86400 })
    const waiting = await show(id)
    assert.deepEqual(waiting.initial, {
      contract: 'BTC_USDT',
      size: 5,
      amount: '5',
      price: '59000',
      close: false,
      tif: 'gtc',
      text: 't-fires',
      reduce_only: false,
      auto_size: '',
      is_reduce_only: false,
      is_close: false,
      iceberg: 0,
    })
    assert.deepEqual(waiting.trigger, {
      strategy_type: 0,
      price_type: 0,
      price: '61000',
      rule: 1,
      expiration: 86400,
    })
    assert.equal(`${waiting.status} ${waiting.finish_as} ${waiting.finish_time}`, 'open undefined undefined')
    assert.equal(`${waiting.trade_id} ${waiting.me_order_id} ${waiting.user}`, `0 0 ${trader.user_id}`)
    assert.equal(ok(await trader.get('/price_orders', { status: 'open' }))[0].id, id)
    await print(maker, '61000')
    const fired = await show(id)
    assert.equal(`${fired.status} ${fired.finish_as} ${fired.reason}`, 'finished succeeded ')
    assert.ok(fired.finish_time >= fired.create_time)
    const order = await trader.order(fired.trade_id)
    assert.equal(`${order.text} ${order.size} ${order.price} ${order.status}`, 't-fires 5 59000 open')
    const [ended] = ok(await trader.get('/price_orders', { status: 'finished', contract: 'btc_usdt' }))
    assert.equal(ended.id, id)
    refused(await trader.delete(`/price_orders/${id}`), 400, 'ORDER_FINISHED', /succeeded/)
    await print(maker, '60000')
  })

  test('what fails then says why', async () => {
    const id = await created(trader, { size: 900000, price: '60000' })
    await print(maker, '61000')
    const failed = await show(id)
    assert.equal(`${failed.finish_as} ${failed.reason} ${failed.trade_id}`, 'failed INSUFFICIENT_AVAILABLE 0')
    await print(maker, '60000')
  })

  test('mark and index are watched as well', async () => {
    const mark = await created(trader, { text: 't-mark' }, { price: '61000', price_type: 1 })
    const index = await created(trader, { text: 't-index' }, { price: '59500', rule: 2, price_type: 2 })
    await setIndex(platform, { BTC: '59500' })
    assert.deepEqual([(await show(index)).status, (await show(mark)).status], ['finished', 'open'])
    await setIndex(platform, { BTC: '62000' })
    assert.equal((await show(mark)).status, 'finished')
    await setIndex(platform, { BTC: '60000' })
    ok(await trader.delete('/orders'))
  })

  test('each refusal', async () => {
    const cases: readonly (readonly [Members, Members, Members, number, string, RegExp?])[] = [
      [{ contract: 'NO_USDT' }, {}, {}, 400, 'CONTRACT_NOT_FOUND', /NO_USDT/],
      [{}, { price: '60000' }, {}, 400, 'AUTO_TRIGGER_PRICE_GREATE_LAST', /above the last price, 60000/],
      [{}, { rule: 2 }, {}, 400, 'AUTO_TRIGGER_PRICE_LESS_LAST', /below/],
      [{}, { strategy_type: 1 }, {}, 400, 'INVALID_PARAM_VALUE', /strategy_type/],
      [{}, { price_type: 3 }, {}, 400, 'INVALID_PARAM_VALUE', /price_type/],
      [{}, { rule: 3 }, {}, 400, 'INVALID_PARAM_VALUE', /rule/],
      [{}, { expiration: -1 }, {}, 400, 'INVALID_PARAM_VALUE', /expiration/],
      [{}, { price: '61000.001' }, {}, 400, 'INVALID_PRECISION', /trigger.price/],
      [{ price: '59000.01' }, {}, {}, 400, 'INVALID_PRECISION', /initial.price/],
      [{ size: 1.5 }, {}, {}, 400, 'INVALID_PRECISION', /initial.size/],
      [{ size: 2_000_000 }, {}, {}, 400, 'SIZE_TOO_LARGE'],
      [{ size: 0 }, {}, {}, 400, 'INVALID_PARAM_VALUE', /close/],
      [{ tif: 'poc' }, {}, {}, 400, 'INVALID_PARAM_VALUE', /tif/],
      [{ price: '0', tif: 'gtc' }, {}, {}, 400, 'INVALID_PARAM_VALUE', /tif/],
      [{ text: 'no spaces' }, {}, {}, 400, 'INVALID_PARAM_VALUE', /text/],
      [{}, {}, { order_type: 'close-long-order' }, 400, 'INVALID_PARAM_VALUE', /order_type/],
      [{ size: 0, close: true }, {}, { order_type: 'close-long-position' }, 400, 'POSITION_EMPTY', /long/],
    ]
    for (const [initial, trigger, more, status, label, says] of cases)
      refused(await create(trader, initial, trigger, more), status, label, says)
    refused(await trader.post('/price_orders', { initial: BUY }), 400, 'MISSING_REQUIRED_PARAM', /trigger/)
    const poor = await ContractTrader.of(platform, '0')
    refused(await create(poor), 400, 'USER_NOT_FOUND')
    assert.deepEqual(ok(await poor.get('/price_orders', { status: 'open' })), [])
    const headers = { 'x-gate-exptime': String(Math.floor(Date.now() - 100_000)) }
    const body = { initial: BUY, trigger: UP }
    const path = '/futures/usdt/price_orders'
    const late: Reply[] = [
      await trader.client.request('POST', path, { headers, body }),
      await trader.client.request('DELETE', path, { headers }),
      await trader.client.request('DELETE', `${path}/1`, { headers }),
      await trader.client.request('PUT', `${path}/1`, { headers, body: { size: 1 } }),
    ]
    for (const reply of late) refused(reply, 401, 'REQUEST_EXPIRED')
    for (const id of ['999999', 'abc', '-1'])
      refused(await trader.get(`/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    refused(await trader.delete('/price_orders/999999'), 404, 'ORDER_NOT_FOUND')
    refused(await trader.delete('/price_orders', { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await trader.get('/price_orders'), 400, 'MISSING_REQUIRED_PARAM', /status/)
  })

  test("nobody sees or cancels another's, nor one of another account", async () => {
    const id = await created(trader)
    refused(await maker.get(`/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    refused(await maker.delete(`/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    refused(await maker.client.put(`/futures/usdt/price_orders/${id}`, { size: 1 }), 404, 'ORDER_NOT_FOUND')
    refused(await trader.client.get(`/futures/btc/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    refused(await trader.client.delete(`/delivery/usdt/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    assert.equal(ok(await trader.delete(`/price_orders/${id}`)).finish_as, 'cancelled')
  })

  test('an amendment, by either path', async () => {
    const id = await created(trader)
    const put = (path: string, body: Members) => trader.client.put(`/futures/usdt/price_orders/${path}`, body)
    const answer = ok(await put('amend', { order_id: id, size: 7, amount: '8', trigger_price: '62000' }))
    assert.deepEqual(answer, { id, id_string: String(id) })
    ok(await put(String(id), { price: '58000', price_type: 1 }))
    const { initial, trigger } = await show(id)
    assert.equal(`${initial.size} ${initial.price} ${trigger.price} ${trigger.price_type}`, '8 58000 62000 1')
    refused(await put('amend', { size: 1 }), 400, 'MISSING_REQUIRED_PARAM', /order_id/)
    refused(await put(String(id), {}), 400, 'MISSING_REQUIRED_PARAM', /trigger_price/)
    refused(await put(String(id), { price: '58000' }), 400, 'NO_CHANGE')
    refused(await put(String(id), { trigger_price: '50000' }), 400, 'AUTO_TRIGGER_PRICE_GREATE_LAST')
    refused(await put('999999', { size: 1 }), 404, 'ORDER_NOT_FOUND')
    ok(await trader.delete('/price_orders'))
    refused(await put(String(id), { size: 1 }), 400, 'ORDER_FINISHED', /cancelled/)
  })

  test('200 of them, cancelled together; the mode of positions waits for that', async () => {
    const many = await ContractTrader.of(platform, '100')
    await Promise.all(Array.from({ length: 100 }, () => created(many)))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 10 })
    await Promise.all(Array.from({ length: 100 }, () => created(many)))
    await platform.operator.ok('POST', '/clock', { advance_seconds: 10 })
    refused(await create(many), 400, 'TOO_MANY_ORDERS', /200/)
    refused(await many.ask('/dual_mode', { dual_mode: true }), 400, 'ORDER_PENDING', /price/)
    const page = await many.get('/price_orders', { status: 'open', limit: 30, offset: 190 })
    assert.equal(`${ok(page).length} ${page.headers.get('x-pagination-total')}`, '10 200')
    assert.equal(ok(await many.delete('/price_orders', { contract: 'BTC_USDT' })).length, 200)
    ok(await many.ask('/dual_mode', { dual_mode: true }))
    const ended = await many.get('/price_orders', { status: 'finished', limit: 3 })
    assert.equal(`${ok(ended).length} ${ended.headers.get('x-pagination-total')}`, '3 200')
  })

  test('a stopped contract, one that is being delisted, one with a least size', async () => {
    const sol = { contract: 'SOL_USDT', price: '140' }
    const up = { price: '160' }
    const rule = (change: Members): Promise<unknown> =>
      platform.operator.ok('PATCH', '/contracts/futures/usdt/SOL_USDT', change)
    await rule({ status: 'circuit_breaker' })
    refused(await create(trader, sol, up), 400, 'TRADE_RESTRICTED')
    await rule({ status: 'trading' })
    await created(trader, sol, up)
    await rule({ delisting_time: Math.floor(Date.now() / 1000) - 10 })
    refused(await create(trader, sol, up), 400, 'CONTRACT_IN_DELISTING')
  })

  test('dated contracts have them, but no amendment', async () => {
    const dated = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    const [{ contract }] = ok(await dated.get('/positions'))
    const id = await created(dated, { contract }, { price: '61000', price_type: 2 })
    assert.strictEqual((await show(id, dated)).initial.size, 5)
    assert.equal(ok(await dated.get('/price_orders', { status: 'open', contract })).length, 1)
    for (const path of ['amend', String(id)])
      assert.equal((await dated.client.put(`/delivery/usdt/price_orders/${path}`, {})).status, 404)
    refused(await dated.delete('/price_orders'), 400, 'MISSING_REQUIRED_PARAM', /contract/)
    await setIndex(platform, { BTC: '61000' })
    const fired = await show(id, dated)
    assert.equal((await dated.order(fired.trade_id)).text, `ao-${id}`)
    await setIndex(platform, { BTC: '60000' })
    await created(dated, { contract }, { price: '61000', price_type: 2 })
    assert.equal(ok(await dated.delete('/price_orders', { contract })).length, 1)
    refused(await dated.delete(`/price_orders/${id}`), 400, 'ORDER_FINISHED')
  })
})

describe('stops of a position and of an order', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '5000000')
    trader = await ContractTrader.of(platform, '10000')
    await print(maker, '60000')
  })
  after(() => platform.stop())
  const show = async (id: number | string) => ok(await trader.get(`/price_orders/${id}`))

  test('one of a position goes with it', async () => {
    await maker.placed(-10, '60000')
    await trader.placed(10, null)
    const all = { size: 0, close: true, price: '0' }
    const profit = await created(trader, all, { price: '62000' }, { order_type: 'close-long-position' })
    const part = { size: -4, price: '0' }
    const loss = await created(
      trader,
      part,
      { price: '59000', rule: 2 },
      { order_type: 'plan-close-long-position' },
    )
    const { initial, order_type } = await show(loss)
    assert.equal(`${initial.reduce_only} ${initial.tif} ${order_type}`, 'true ioc plan-close-long-position')
    await maker.placed(4, '58900')
    await print(maker, '59000')
    assert.equal((await trader.position()).size, 6)
    assert.equal((await show(profit)).status, 'open')
    await maker.placed(6, '59000')
    await trader.placed(0, null, { close: true })
    const gone = await show(profit)
    assert.equal(`${gone.finish_as} ${gone.reason}`, 'cancelled position_closed')
    await print(maker, '60000')
  })

  test('those of an order wait for its fills, and one ends the other', async () => {
    const stops = { tpsl_tp_trigger_price: '061000.0', tpsl_sl_trigger_price: '59000.00' }
    const order = await trader.placed(10, '59900', stops)
    assert.equal(`${order.tpsl_tp_trigger_price} ${order.tpsl_sl_trigger_price}`, '61000 59000')
    const list = async (status = 'open') => ok(await trader.get('/price_orders', { status, limit: 2 }))
    const [loss, profit] = await list()
    assert.deepEqual(
      [profit, loss].map(
        (stop) => `${stop.status} ${stop.order_type} ${stop.trigger.rule} ${stop.initial.size}`,
      ),
      ['inactive close-long-order 1 0', 'inactive close-long-order 2 0'],
    )
    assert.equal(loss.me_order_id, order.id)
    await maker.placed(-4, '59900')
    assert.deepEqual(
      (await list()).map(
        (stop: { status: string; initial: { size: number } }) => `${stop.status} ${stop.initial.size}`,
      ),
      ['open -4', 'open -4'],
    )
    await maker.placed(-6, '59900')
    await maker.placed(10, '58990')
    await print(maker, '59000')
    assert.equal((await trader.position()).size, 0)
    const ended = await list('finished')
    assert.deepEqual(
      ended.map((stop: { finish_as: string; reason: string }) => `${stop.finish_as} ${stop.reason}`),
      ['succeeded ', 'cancelled other_stop_fired'],
    )
    const fired = await trader.order(ended[0].trade_id)
    assert.equal(`${fired.text} ${fired.size} ${fired.is_reduce_only}`, `ao-${ended[0].id} -10 true`)
    await print(maker, '60000')
    const unfilled = await trader.placed(10, '59000', { tpsl_tp_trigger_price: '61000' })
    ok(await trader.delete(`/orders/${unfilled.id}`))
    assert.equal((await list('finished'))[0].status, 'invalid')
    assert.deepEqual(await list(), [])
  })

  test('stops on the wrong side, or of an order that closes', async () => {
    const asks = async (size: number, more: Members) => trader.place(size, '60000', more)
    refused(
      await asks(1, { tpsl_tp_trigger_price: '60000' }),
      400,
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
      /tpsl_tp/,
    )
    refused(await asks(1, { tpsl_sl_trigger_price: '60000' }), 400, 'AUTO_TRIGGER_PRICE_LESS_LAST', /tpsl_sl/)
    refused(await asks(-1, { tpsl_tp_trigger_price: '61000' }), 400, 'AUTO_TRIGGER_PRICE_LESS_LAST')
    refused(await asks(1, { tpsl_tp_trigger_price: '61000.001' }), 400, 'INVALID_PRECISION')
    await maker.placed(-1, '60000')
    await trader.placed(1, null)
    refused(await asks(-1, { tpsl_sl_trigger_price: '61000' }), 400, 'INVALID_PARAM_VALUE', /opens/)
    await maker.placed(1, '60000')
    await trader.placed(0, null, { close: true })
  })
})
