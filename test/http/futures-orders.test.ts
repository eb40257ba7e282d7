import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('orders of contracts', () => {
  let platform: TestPlatform
  let alice: ContractTrader
  let bob: ContractTrader
  const crowd: ContractTrader[] = []
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())
  beforeEach(async () => {
    for (const trader of crowd.splice(0)) ok(await trader.delete('/orders'))
    alice = await ContractTrader.of(platform, '100000')
    bob = await ContractTrader.of(platform, '100000')
    crowd.push(alice, bob)
  })

  test('a resting order, found by id and text, and cancelled', async () => {
    const order = await alice.placed(-10, '61000', { text: 't-rest.1', tif: 'gtc', iceberg: 3 })
    assert.equal(`${order.status} ${order.size} ${order.left} ${order.iceberg}`, 'open -10 -10 3')
    assert.equal(`${order.price} ${order.fill_price} ${order.tif} ${order.text}`, '61000 0 gtc t-rest.1')
    assert.equal(`${order.tkfr} ${order.mkfr} ${order.refu} ${order.refr}`, '0.0005 0.0002 0 0')
    assert.equal(order.finish_as ?? order.finish_time, undefined)
    assert.ok(String(order.create_time).length <= 14)
    assert.deepEqual(await alice.order(order.id), order)
    assert.deepEqual(await alice.order('t-rest.1'), order)
    refused(await bob.get(`/orders/${order.id}`), 404, 'ORDER_NOT_FOUND')
    refused(await alice.client.get(`/futures/btc/orders/${order.id}`), 404, 'ORDER_NOT_FOUND')
    refused(await alice.client.get(`/delivery/usdt/orders/${order.id}`), 404, 'ORDER_NOT_FOUND')
    refused(await alice.place(1, '60000', { text: 't-rest.1' }), 400, 'DUPLICATE_REQUEST')
    const gone = ok(await alice.delete(`/orders/t-rest.1`))
    assert.equal(`${gone.status} ${gone.finish_as} ${gone.id}`, `finished cancelled ${order.id}`)
    assert.ok(gone.finish_time >= gone.create_time)
    refused(await alice.delete(`/orders/${order.id}`), 400, 'ORDER_FINISHED')
    refused(await alice.delete('/orders/t-rest.1'), 400, 'ORDER_FINISHED')
    refused(await alice.delete('/orders/t-nobody'), 404, 'ORDER_NOT_FOUND')
    refused(await bob.delete(`/orders/${order.id}`), 404, 'ORDER_NOT_FOUND')
    assert.deepEqual(await alice.order('t-rest.1'), gone)
  })

  test('the shown part of an order is positive, or has the sign of its size', async () => {
    for (const [size, price, iceberg] of [
      [10, '59000', 3],
      [-10, '61000', 3],
      [-10, '61000', -3],
      [-10, '61000', '-3'],
    ] as const)
      assert.equal((await alice.placed(size, price, { iceberg })).iceberg, 3)
    for (const iceberg of [-3, '-3', 11])
      refused(await alice.place(10, '59000', { iceberg }), 400, 'INVALID_PARAM_VALUE', /iceberg/)
    ok(await alice.delete('/orders'))
    await bob.placed(5, '60000')
    await alice.placed(-5, '60000')
    // And never more than the order has, whatever it is amended to.
    const shown = await alice.placed(10, '59000', { iceberg: 8 })
    const amend = async (change: object): Promise<string> => {
      const path = `/futures/usdt/orders/${shown.id}`
      const { size, iceberg } = ok(await alice.client.put(path, change))
      return `${size} ${iceberg}`
    }
    assert.equal(await amend({ size: 6 }), '6 6')
    assert.equal(await amend({ size: 5, price: '58990' }), '5 5')
    assert.equal(await amend({ size: 20 }), '20 5')
    ok(await alice.delete(`/orders/${shown.id}`))
    const close = { close: true, iceberg: -2 }
    refused(await alice.place(0, '59000', close), 400, 'INVALID_PARAM_VALUE', /iceberg/)
    assert.equal((await bob.placed(0, '61000', close)).iceberg, 2)
  })

  test('each settle currency has its own texts', async () => {
    await platform.credit(alice.user_id, 'BTC', '1', { account: 'futures', settle: 'btc' })
    const linear = await alice.placed(-10, '61000', { text: 't-both' })
    const inverse = ok(
      await alice.client.post('/futures/btc/orders', {
        contract: 'BTC_USD',
        size: -10,
        price: '61000',
        text: 't-both',
      }),
      201,
    )
    assert.equal((await alice.order('t-both')).id, linear.id)
    assert.equal(ok(await alice.client.get('/futures/btc/orders/t-both')).id, inverse.id)
    assert.equal(ok(await alice.delete('/orders/t-both')).id, linear.id)
    assert.equal(ok(await alice.client.get('/futures/btc/orders/t-both')).status, 'open')
    assert.equal(ok(await alice.client.delete('/futures/btc/orders/t-both')).id, inverse.id)
  })

  test('a trade: average price, finish, both sides; sizes come in three forms', async () => {
    for (const [size, price] of [
      [-1, '60000'],
      ['-2', '60001.5'],
      [-3.0, '60003'],
    ] as const)
      await alice.placed(size, price)
    const order = await bob.placed('5', null)
    assert.equal(`${order.status} ${order.finish_as} ${order.left}`, 'finished filled 0')
    // (60000 + 2 x 60001.5 + 2 x 60003) / 5
    assert.equal(order.fill_price, '60001.8')
    assert.equal(`${order.price} ${order.tif}`, '0 ioc')
    const [left] = ok(await alice.get('/orders', { status: 'open' }))
    assert.equal(`${left.size} ${left.left} ${left.fill_price}`, '-3 -1 60003')
    const trades = ok(await bob.get('/my_trades', { order: order.id }))
    assert.deepEqual(
      trades.map((trade: Record<string, unknown>) => `${String(trade['size'])} ${String(trade['role'])}`),
      ['2 taker', '2 taker', '1 taker'],
    )
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('each refusal of a new order has its label, in the order of the table', async () => {
    const order = { contract: 'BTC_USDT', size: 1, price: '60000' }
    const stranger = await ContractTrader.of(platform, '0')
    const poor = await ContractTrader.of(platform, '1')
    ok(await alice.ask('/positions/ETH_USDT/leverage', { leverage: 0, cross_leverage_limit: 100 }))
    for (const [trader, change, label, mention] of [
      [alice, { contract: undefined }, 'MISSING_REQUIRED_PARAM', /contract/],
      [alice, { size: undefined }, 'MISSING_REQUIRED_PARAM', /size/],
      [alice, { price: undefined }, 'MISSING_REQUIRED_PARAM', /price/],
      [alice, { size: 'ten' }, 'INVALID_PARAM_VALUE', /size: "ten"/],
      [alice, { size: [1] }, 'INVALID_PARAM_VALUE', /size/],
      [alice, { price: '-1' }, 'INVALID_PARAM_VALUE', /price/],
      [alice, { price: 60000 }, 'INVALID_PARAM_VALUE', /price/],
      [alice, { tif: 'day' }, 'INVALID_PARAM_VALUE', /tif/],
      [alice, { text: 'mine' }, 'INVALID_PARAM_VALUE', /text/],
      [alice, { text: `t-${'x'.repeat(29)}` }, 'INVALID_PARAM_VALUE', /text/],
      [alice, { price: '0' }, 'INVALID_PARAM_VALUE', /market order/],
      [alice, { size: 0 }, 'INVALID_PARAM_VALUE', /size/],
      [alice, { close: true }, 'INVALID_PARAM_VALUE', /close|size/],
      [alice, { size: 0, auto_size: 'close_long' }, 'INVALID_PARAM_VALUE', /auto_size/],
      [alice, { stp_act: 'cn' }, 'INVALID_PARAM_VALUE', /stp_act/],
      [alice, { contract: 'NO_USDT', price: '0.05', size: '1.5' }, 'CONTRACT_NOT_FOUND', /NO_USDT/],
      [stranger, { price: '60000.05' }, 'USER_NOT_FOUND', /money/],
      [alice, { price: '60000.05' }, 'INVALID_PRECISION', /0\.1/],
      [alice, { size: '1.5' }, 'INVALID_PRECISION', /size/],
      [alice, { size: '+1.5' }, 'INVALID_PRECISION', /size/],
      [alice, { size: 1.5 }, 'INVALID_PRECISION', /size/],
      [alice, { size: 1e-7 }, 'INVALID_PRECISION', /size/],
      [alice, { size: -2.5e-7 }, 'INVALID_PRECISION', /size/],
      [alice, { size: 1000001 }, 'SIZE_TOO_LARGE', /1000000/],
      [alice, { price: '72100' }, 'PRICE_TOO_DEVIATED', /mark price/],
      [alice, { reduce_only: true }, 'POSITION_EMPTY', /reduce/],
      [alice, { size: 0, close: true, price: '0', tif: 'ioc' }, 'POSITION_EMPTY', /close/],
      [alice, { price: '0', tif: 'ioc' }, 'CONTRACT_NO_COUNTER', /against/],
      [alice, { tif: 'fok' }, 'ORDER_FOK', /fok/],
      [alice, { contract: 'ETH_USDT', size: 20000, price: '3000' }, 'RISK_LIMIT_EXCEEDED', /500000/],
      [poor, { size: 1000 }, 'INSUFFICIENT_AVAILABLE', /./],
    ] as const)
      refused(await trader.post('/orders', { ...order, ...change }), 400, label, mention)
    await bob.placed(-1, '60000')
    refused(await alice.place(1, '60000', { tif: 'poc' }), 400, 'ORDER_POC_IMMEDIATE')
    assert.deepEqual(ok(await alice.get('/orders_timerange')), [], 'what was refused left nothing')
  })

  test('reducing orders: what they may do, and what they may not', async () => {
    await bob.placed(-10, '60000')
    await alice.placed(10, null)
    refused(await alice.place(1, '59000', { reduce_only: true }), 400, 'INCREASE_POSITION')
    refused(await alice.place(-11, '61000', { reduce_only: true }), 400, 'REDUCE_EXCEEDED')
    const close = await alice.placed(0, '61000', { close: true })
    assert.equal(`${close.size} ${close.is_close} ${close.is_reduce_only}`, '-10 true true')
    refused(await alice.place(0, '61500', { close: true }), 400, 'POSITION_IN_CLOSE')
    const { close_order, pending_orders } = await alice.position()
    assert.deepEqual(close_order, { id: close.id, price: '61000', is_liq: false })
    assert.equal(pending_orders, 1)
    ok(await alice.delete('/orders', { contract: 'BTC_USDT', exclude_reduce_only: true }))
    assert.equal((await alice.order(close.id)).status, 'open')
    await bob.placed(10, '60000')
    const market = await alice.placed(-20, null, { reduce_only: true })
    assert.equal(`${market.finish_as} ${market.left}`, 'reduce_only -10')
    assert.equal((await alice.order(close.id)).finish_as, 'position_closed')
    assert.equal((await alice.position()).close_order, null)
  })

  test('the reply is as short as the client asks', async () => {
    const ack = await alice.placed(1, '59000', { action_mode: 'ACK' })
    assert.deepEqual(Object.keys(ack).sort(), ['contract', 'create_time', 'id', 'status', 'text'])
    assert.equal(ack.text, 'api')
    const result = await alice.placed(1, '59000', { action_mode: 'RESULT' })
    assert.equal(result.tkfr ?? result.mkfr ?? result.refu ?? result.refr, undefined)
    assert.equal(result.size, 1)
    const [cancelled] = ok(await alice.delete('/orders', { action_mode: 'ACK' }))
    assert.deepEqual(Object.keys(cancelled).sort(), Object.keys(ack).sort())
  })

  test('amending: total size, price, and what can not be amended', async () => {
    const order = await alice.placed(10, '59000', { text: 't-amend' })
    const path = `${alice.base}/orders/${order.id}`
    const extras = { currency_pair: 'BTC_USDT', account: 'spot' }
    const changed = ok(
      await alice.client.put(path, { size: '8', price: '59100', amend_text: 'why', ...extras }),
    )
    assert.equal(`${changed.size} ${changed.price} ${changed.amend_text}`, '8 59100 why')
    assert.equal(ok(await alice.client.put(`${alice.base}/orders/t-amend`, { size: 7 })).size, 7)
    refused(await alice.client.put(path, { size: 7, price: '59100' }), 400, 'NO_CHANGE')
    refused(await alice.client.put(path, {}), 400, 'MISSING_REQUIRED_PARAM')
    refused(await alice.client.put(path, { size: -7 }), 400, 'INVALID_PARAM_VALUE', /sign/)
    refused(await alice.client.put(path, { size: '7.5' }), 400, 'INVALID_PRECISION')
    refused(await alice.client.put(path, { price: '10' }), 400, 'PRICE_TOO_DEVIATED')
    refused(await bob.client.put(path, { size: 7 }), 404, 'ORDER_NOT_FOUND')
    await bob.placed(-3, '59100')
    assert.equal((await alice.order(order.id)).left, 4)
    const ended = ok(await alice.client.put(path, { size: 3 }))
    assert.equal(`${ended.status} ${ended.finish_as}`, 'finished cancelled')
    refused(await alice.client.put(path, { size: 9 }), 400, 'ORDER_FINISHED')
  })

  test('batches: what the market refuses fails by itself, what can not be read fails the call', async () => {
    const good = { contract: 'BTC_USDT', size: 1, price: '59000', textIsRequired: true, settle: 'usdt' }
    const [first, second, third] = ok(
      await alice.post('/batch_orders', [
        { ...good, text: 't-b1' },
        { ...good, contract: 'NO_USDT', text: 't-b2' },
        { ...good, size: '+2', action_mode: 'ACK' },
      ]),
    )
    assert.equal(`${first.succeeded} ${first.status} ${first.text}`, 'true open t-b1')
    assert.equal(first.label ?? first.detail, undefined)
    assert.equal(`${second.succeeded} ${second.label} ${second.text}`, 'false CONTRACT_NOT_FOUND t-b2')
    assert.match(second.detail, /NO_USDT/)
    assert.equal(`${third.succeeded} ${third.size}`, 'true undefined')
    refused(
      await alice.post('/batch_orders', [good, { ...good, size: 'x' }]),
      400,
      'INVALID_PARAM_VALUE',
      /\[1\]\.size/,
    )
    refused(await alice.post('/batch_orders', []), 400, 'INVALID_PARAM_VALUE')
    refused(await alice.post('/batch_orders', Array(11).fill(good)), 400, 'INVALID_PARAM_VALUE')
    assert.equal(ok(await alice.get('/orders', { status: 'open' })).length, 2)

    const amended = ok(
      await alice.post('/batch_amend_orders', [
        { order_id: first.id, size: 5 },
        { order_id: 't-b1', price: '58000' },
        { text: 't-b1', size: 6 },
        { order_id: 999999, size: 1 },
      ]),
    )
    assert.deepEqual(
      amended.map((item: Record<string, unknown>) => item['size'] ?? item['label']),
      [5, 5, 6, 'ORDER_NOT_FOUND'],
    )
    refused(await alice.post('/batch_amend_orders', [{ size: 1 }]), 400, 'MISSING_REQUIRED_PARAM', /order_id/)

    const ids = [String(first.id), third.id, '999999', 't-nobody']
    const cancelled = ok(await alice.client.post('/futures/USDT/batch_cancel_orders', ids))
    assert.deepEqual(cancelled, [
      { id: String(first.id), user_id: alice.user_id, succeeded: true, message: '' },
      { id: String(third.id), user_id: alice.user_id, succeeded: true, message: '' },
      { id: '999999', user_id: alice.user_id, succeeded: false, message: 'ORDER_NOT_FOUND' },
      { id: 't-nobody', user_id: alice.user_id, succeeded: false, message: 'ORDER_NOT_FOUND' },
    ])
    const [again] = ok(await alice.post('/batch_cancel_orders', ids.slice(0, 1)))
    assert.equal(`${again.succeeded} ${again.message}`, 'false ORDER_FINISHED')
    const [late] = ok(await alice.post('/batch_amend_orders', [{ order_id: first.id, size: 9 }]))
    assert.equal(late.label, 'ORDER_FINISHED')
    refused(await alice.post('/batch_cancel_orders', Array(21).fill('1')), 400, 'INVALID_PARAM_VALUE')
  })

  test('best bid and offer: the price of a level of the other side', async () => {
    for (const price of ['60000', '60010', '60020']) await bob.placed(-1, price)
    const order = { contract: 'BTC_USDT', size: 1, direction: 'buy', level: 2, tif: 'ioc' }
    const bought = ok(await alice.post('/bbo_orders', order), 201)
    assert.equal(`${bought.price} ${bought.fill_price}`, '60010 60000')
    refused(await alice.post('/bbo_orders', { ...order, level: 3 }), 400, 'CONTRACT_NO_COUNTER')
    refused(await alice.post('/bbo_orders', { ...order, level: 21 }), 400, 'INVALID_PARAM_VALUE', /level/)
    refused(await alice.post('/bbo_orders', { ...order, size: -1 }), 400, 'INVALID_PARAM_VALUE', /direction/)
    // What closes a long sells.
    const close = { contract: 'BTC_USDT', size: 0, close: true, level: 1 }
    const wrong = await alice.post('/bbo_orders', { ...close, direction: 'buy' })
    refused(wrong, 400, 'INVALID_PARAM_VALUE', /direction/)
    await bob.placed(1, '59990')
    const closed = ok(await alice.post('/bbo_orders', { ...close, direction: 'sell', tif: 'ioc' }), 201)
    assert.equal(`${closed.size} ${closed.fill_price} ${closed.is_close}`, '-1 59990 true')
    refused(await alice.post('/bbo_orders', { ...close, direction: 'buy' }), 400, 'POSITION_EMPTY')
  })

  test('all orders are cancelled: of a contract, a side, a text, or of the settle currency', async () => {
    await alice.placed(1, '59000')
    await alice.placed(-1, '61000')
    await alice.placed(1, '59001', { text: 't-one' })
    await alice.placed(1, '2900', { contract: 'ETH_USDT' })
    const sizes = async (query: Record<string, string>): Promise<number[]> =>
      ok(await alice.delete('/orders', query)).map(({ size }: { size: number }) => size)
    assert.deepEqual(await sizes({ contract: 'BTC_USDT', side: 'ask' }), [-1])
    assert.deepEqual(await sizes({ text: 't-one' }), [1])
    assert.deepEqual(await sizes({}), [1, 1])
    assert.deepEqual(await sizes({}), [])
    refused(await alice.delete('/orders', { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await alice.delete('/orders', { side: 'buy' }), 400, 'INVALID_PARAM_VALUE', /side/)
  })

  test('a countdown that nobody sets anew cancels what is open', async () => {
    const order = await alice.placed(1, '59000')
    const other = await alice.placed(1, '2900', { contract: 'ETH_USDT' })
    refused(await alice.post('/countdown_cancel_all', { timeout: 3 }), 400, 'INVALID_PARAM_VALUE')
    const { triggerTime } = ok(
      await alice.post('/countdown_cancel_all', { timeout: 30, contract: 'BTC_USDT' }),
    )
    assert.ok(triggerTime > platform.now() * 1000 + 20_000)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 31 })
    assert.equal((await alice.order(order.id)).finish_as, 'cancelled')
    assert.equal((await alice.order(other.id)).status, 'open')
    ok(await alice.post('/countdown_cancel_all', { timeout: 30 }))
    // Nothing is too long.
    const weeks = ok(await alice.post('/countdown_cancel_all', { timeout: 2_000_000 })).triggerTime
    assert.ok(Math.abs(weeks / 1000 - platform.now() - 2_000_000) < 60)
    assert.equal(ok(await alice.post('/countdown_cancel_all', { timeout: 0 })).triggerTime, 0)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 31 })
    assert.equal((await alice.order(other.id)).status, 'open')
  })

  test('a call that came too late does nothing', async () => {
    const order = await alice.placed(1, '59000')
    const headers = { 'x-gate-exptime': String(Math.floor(Date.now() - 100_000)) }
    const body = { contract: 'BTC_USDT', size: 1, price: '59000' }
    const { base, client } = alice
    for (const [method, path, sent] of [
      ['POST', '/orders', body],
      ['POST', '/batch_orders', [body]],
      ['PUT', `/orders/${order.id}`, { size: 2 }],
      ['POST', '/batch_amend_orders', [{ order_id: order.id, size: 2 }]],
      ['DELETE', `/orders/${order.id}`, undefined],
      ['DELETE', '/orders', undefined],
      ['POST', '/batch_cancel_orders', [String(order.id)]],
      ['POST', '/countdown_cancel_all', { timeout: 0 }],
    ] as const) {
      const reply = await client.request(method, base + path, { body: sent, headers })
      refused(reply, 401, 'REQUEST_EXPIRED', /exptime/)
    }
    assert.deepEqual(await alice.order(order.id), order)
  })
})

describe('limits of contracts', () => {
  test('each item of a batch counts; one that finds too few places is refused whole', async () => {
    const platform = await TestPlatform.start({ KONTOR_CLOCK: '1790000000', KONTOR_RATE_LIMITS: '0.12' })
    await setIndex(platform, { BTC: '60000' })
    const trader = await ContractTrader.of(platform, '1000')
    const order = { contract: 'BTC_USDT', size: 1, price: '59000' }
    const first = await trader.post('/batch_orders', Array(9).fill(order))
    assert.equal(first.headers.get('x-svc-ratelimit-requests-remain'), '3')
    const second = await trader.post('/batch_orders', Array(4).fill(order))
    refused(second, 429, 'TOO_MANY_REQUESTS')
    assert.ok(Number(second.headers.get('retry-after')) >= 1)
    assert.equal(ok(await trader.get('/orders', { status: 'open' })).length, 9)
    ok(await trader.post('/batch_orders', Array(2).fill(order)))
    await trader.placed(1, '59000')
    // Amendments come out of the same window; cancelling has its own.
    refused(await trader.client.put(`${trader.base}/orders/1`, { size: 1 }), 429, 'TOO_MANY_REQUESTS')
    assert.equal(ok(await trader.delete('/orders')).length, 12)
    await platform.stop()
  })

  test('a good fill ratio raises what a VIP may place, from the next midnight on', async () => {
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1' })
    await setIndex(platform, { BTC: '60000' })
    const [vip, maker] = [
      await ContractTrader.of(platform, '10000', { vip: 14 }),
      await ContractTrader.of(platform, '10000'),
    ]
    const limits = async (): Promise<unknown[]> =>
      Promise.all(
        [vip, maker].map(async (trader) => {
          const reply = await trader.place(1, '50000')
          assert.equal(reply.status, 201)
          return Number(reply.headers.get('x-svc-ratelimit-limit'))
        }),
      )
    await maker.placed(-10, '60000')
    await vip.placed(10, null)
    assert.deepEqual(await limits(), [100, 100])
    const member = async (): Promise<ContractTrader> => {
      const { user_id, client } = await platform.user({ parent: vip.user_id })
      await platform.credit(user_id, 'USDT', '1000', { account: 'futures', settle: 'usdt' })
      return new ContractTrader(user_id, client)
    }
    const idle = await member()
    await platform.operator.ok('POST', '/clock', { advance_seconds: 86_400 })
    const late = await member()
    // 60 USDT, of which a taker's count nine tenths, in two requests.
    const [, futures] = ok(await vip.client.get('/account/rate_limit'))
    assert.equal(`${futures.type} ${futures.ratio} ${futures.tier}`, 'futures 27 6')
    assert.deepEqual(await limits(), [350, 100])
    // The main account's overall ratio is a sub-account's too, though it has done nothing, once a midnight has seen it.
    for (const [trader, told, limit] of [
      [idle, 'futures 0 27 6', 350],
      [late, 'futures 0 0 1', 100],
    ] as const) {
      const [, of] = ok(await trader.client.get('/account/rate_limit'))
      assert.equal(`${of.type} ${of.ratio} ${of.main_ratio} ${of.tier}`, told)
      const reply = await trader.place(1, '50000')
      assert.equal(Number(reply.headers.get('x-svc-ratelimit-limit')), limit)
    }
    await platform.stop()
  })
})
