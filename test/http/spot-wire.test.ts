import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }
const FUNDS = { BTC: '10', USDT: '1000000' }

describe('spot on the wire', () => {
  let platform: TestPlatform
  let alice: Trader
  let bob: Trader
  const crowd: Trader[] = []
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
  })
  after(() => platform.stop())
  beforeEach(async () => {
    for (const trader of crowd.splice(0)) ok(await trader.client.delete('/spot/orders'))
    alice = await Trader.of(platform, FUNDS)
    bob = await Trader.of(platform, FUNDS)
    crowd.push(alice, bob)
  })
  const advance = (seconds: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds: seconds })

  test('an order is found, amended and cancelled under its own account only', async () => {
    const { client } = alice
    await platform.credit(alice.user_id, 'USDT', '10000', { account: 'margin', ...PAIR })
    const spot = await alice.placed('buy', '0.1', '40000')
    const margin = await alice.placed('buy', '0.1', '40000', { account: 'margin', text: 't-m' })
    const at = (id: string): string => `/spot/orders/${id}`
    for (const [order, own, other] of [
      [spot, 'spot', 'margin'],
      [margin, 'margin', 'spot'],
    ]) {
      const wrong = { ...PAIR, account: other }
      refused(await client.get(at(order.id), wrong), 404, 'ORDER_NOT_FOUND', new RegExp(other))
      refused(await client.delete(at(order.id), wrong), 404, 'ORDER_NOT_FOUND', new RegExp(other))
      refused(await client.patch(at(order.id), { ...wrong, price: '40001' }), 404, 'ORDER_NOT_FOUND')
      refused(await client.patch(at(order.id), { price: '40001' }, wrong), 404, 'ORDER_NOT_FOUND')
      const item = { ...wrong, id: order.id }
      const unnamed = { ...PAIR, id: '999999' }
      const unknown = ok(await client.post('/spot/cancel_batch_orders', [item, unnamed]))
      assert.deepEqual(
        unknown.map((one: { label: string; account: string }) => `${one.label} ${one.account}`),
        [`ORDER_NOT_FOUND ${other}`, 'ORDER_NOT_FOUND '],
      )
      const change = { ...wrong, order_id: order.id, price: '40001' }
      assert.equal(ok(await client.post('/spot/amend_batch_orders', [change]))[0].label, 'ORDER_NOT_FOUND')
      const right = { ...PAIR, account: own }
      assert.equal(ok(await client.get(at(order.id), right)).id, order.id)
      assert.equal(ok(await client.get(at(order.id), PAIR)).account, own)
      assert.equal(ok(await client.patch(at(order.id), { ...right, price: '40002' })).price, '40002')
    }
    refused(await client.get('/spot/orders/t-m', { ...PAIR, account: 'spot' }), 404, 'CLIENT_ID_NOT_FOUND')
    for (const id of ['999999', '9'.repeat(30), '0'])
      for (const reply of [await client.get(at(id), PAIR), await client.delete(at(id), PAIR)])
        refused(reply, 404, 'ORDER_NOT_FOUND')
    // A classic account has no unified orders.
    refused(await client.get(at(spot.id), { ...PAIR, account: 'unified' }), 404, 'ORDER_NOT_FOUND')
    assert.deepEqual(ok(await client.get('/spot/open_orders', { account: 'unified' })), [])
    ok(await client.delete(at(spot.id), { ...PAIR, account: 'spot' }))
    refused(await client.delete(at(spot.id), { ...PAIR, account: 'spot' }), 400, 'ORDER_CANCELLED')
    const finished = { ...PAIR, status: 'finished' }
    for (const [account, count] of [
      ['spot', 1],
      ['margin', 0],
      ['unified', 0],
    ] as const)
      assert.equal(ok(await client.get('/spot/orders', { ...finished, account })).length, count, account)
    ok(await client.delete('/spot/orders', { account: 'margin' }))
  })

  test('in a unified mode spot, unified and cross_margin are the same account', async () => {
    const { client } = alice
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const order = await alice.placed('buy', '0.1', '40000', { account: 'spot' })
    assert.equal(order.account, 'unified')
    for (const account of ['spot', 'unified', 'cross_margin'])
      assert.equal(ok(await client.get(`/spot/orders/${order.id}`, { ...PAIR, account })).id, order.id)
    refused(
      await client.delete(`/spot/orders/${order.id}`, { ...PAIR, account: 'margin' }),
      404,
      'ORDER_NOT_FOUND',
    )
    ok(await client.delete(`/spot/orders/${order.id}`, { ...PAIR, account: 'cross_margin' }))
  })

  test('trade_quote and biz_info', async () => {
    const { client } = alice
    const [pair] = ok(await client.get('/spot/currency_pairs'))
    assert.deepEqual(pair.trade_quotes, [pair.quote])
    refused(
      await alice.place('buy', '0.1', '40000', { trade_quote: 'BTC' }),
      400,
      'INVALID_PARAM_VALUE',
      /USDT/,
    )
    const order = await alice.placed('buy', '0.1', '40000', { trade_quote: 'usdt' })
    assert.equal(`${order.trade_quote} ${order.biz_info}`, 'USDT -')
    const body = { ...PAIR, side: 'buy', amount: '0.1', price: '40000' }
    const named = ok(
      await client.request('POST', '/spot/orders', { body, headers: { 'X-Gate-Channel-Id': 'ccxt' } }),
      201,
    )
    assert.equal(named.biz_info, 'ch:ccxt')
    assert.equal((await alice.order(named.id)).biz_info, 'ch:ccxt')
    const odd = await client.request('POST', '/spot/orders', {
      body,
      headers: { 'X-Gate-Channel-Id': 'a b' },
    })
    assert.equal(ok(odd, 201).biz_info, '-')
    const items = [{ ...body, text: 't-q', trade_quote: 'BTC' }]
    assert.equal(ok(await client.post('/spot/batch_orders', items))[0].label, 'INVALID_PARAM_VALUE')
    const eth = await alice.placed('buy', '1', '0.01', { currency_pair: 'ETH_BTC' })
    const gone = ok(await client.delete('/spot/orders', { trade_quote: 'BTC' }))
    assert.deepEqual(
      gone.map(({ id }: { id: string }) => id),
      [eth.id],
    )
  })

  test('public trades are walked by last_id in both directions without a gap', async () => {
    const eth = { currency_pair: 'SOL_USDT' }
    await platform.credit(bob.user_id, 'SOL', '100')
    for (let i = 0; i < 7; i++) {
      await bob.placed('sell', '1', String(100 + i), eth)
      await alice.placed('buy', '1', String(100 + i), eth)
    }
    const page = async (query: object): Promise<number[]> =>
      ok(await platform.client().get('/spot/trades', { ...eth, limit: 3, ...query })).map(
        ({ id }: { id: string }) => Number(id),
      )
    const newest = await page({})
    const all = (await page({ limit: 100 })).reverse()
    assert.equal(all.length, 7)
    assert.deepEqual(newest, all.slice(-3).reverse())
    assert.deepEqual(await page({ last_id: all[0] }), all.slice(1, 4).reverse())
    assert.deepEqual(await page({ last_id: all[3] }), all.slice(4, 7).reverse())
    assert.deepEqual(await page({ last_id: all[0], page: 2 }), all.slice(4, 7).reverse())
    assert.deepEqual(await page({ last_id: all[6], reverse: true }), all.slice(3, 6).reverse())
    assert.deepEqual(
      await page({ last_id: all[3], reverse: true, from: 1, to: 2 }),
      all.slice(0, 3).reverse(),
    )
    assert.deepEqual(await page({ page: 3 }), [all[0]])
    // Without a time it is the last thirty days, and the headers say so.
    await advance(31 * 86_400)
    const reply = await platform.client().get('/spot/trades', eth)
    assert.deepEqual(reply.body, [])
    const span = Number(reply.headers.get('x-applied-to')) - Number(reply.headers.get('x-applied-from'))
    assert.equal(span, 30 * 86_400)
    assert.equal((await page({ last_id: all[0] })).length, 3)
  })

  test('price orders: pages by offset tell their total; the account must be one that can trade', async () => {
    const { client } = alice
    await bob.placed('sell', '0.01', '50000')
    await alice.placed('buy', '0.01', '50000')
    const body = (price: string, account = 'normal') => ({
      market: 'BTC_USDT',
      trigger: { price, rule: '>=' },
      put: { type: 'limit', side: 'sell', price, amount: '0.1', account, time_in_force: 'gtc' },
    })
    for (const price of ['51000', '52000', '53000'])
      ok(await client.post('/spot/price_orders', body(price)), 201)
    const post = (put: object, trigger: object = {}) => {
      const whole = body('51000')
      return client.post('/spot/price_orders', {
        ...whole,
        trigger: { ...whole.trigger, ...trigger },
        put: { ...whole.put, ...put },
      })
    }
    // What is wrong is named by its place.
    const normal = /^put\.account: "unified".* use normal/
    refused(await post({ account: 'unified' }), 400, 'ACCOUNT_EXCEPTION', normal)
    refused(await post({ text: 'mine' }), 400, 'INVALID_PARAM_VALUE', /^put\.text: "mine"/)
    refused(await post({}, { text: 'my own' }), 400, 'INVALID_PARAM_VALUE', /^trigger\.text: "t-my own"/)
    const spend = { type: 'market', side: 'buy', amount: '10.123456789' }
    refused(await post(spend), 400, 'INVALID_PRECISION', /^put\.amount: "10\.123456789"/)
    const reply = await client.get('/spot/price_orders', { status: 'open', limit: 2, offset: 1 })
    assert.deepEqual(
      ok(reply).map(({ put }: { put: { price: string } }) => put.price),
      ['52000', '51000'],
    )
    assert.deepEqual(
      ['limit', 'offset', 'total'].map((name) => reply.headers.get(`x-pagination-${name}`)),
      ['2', '1', '3'],
    )
    const found = async (query: object) =>
      ok(await client.get('/spot/price_orders', { status: 'open', ...query })).length
    assert.deepEqual([await found({ account: 'normal' }), await found({ account: 'unified' })], [3, 0])
    // In a unified mode normal and unified are the same balances, here as for orders.
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/spot/price_orders', body('54000', 'unified')), 201)
    for (const account of ['normal', 'unified']) assert.equal(await found({ account }), 4)
    assert.equal(await found({ account: 'margin' }), 0)
    assert.equal(ok(await client.delete('/spot/price_orders', { account: 'unified' })).length, 4)
    assert.equal(await found({ status: 'finished', account: 'normal' }), 4)
  })

  test('amended stops are checked like new ones', async () => {
    const order = await alice.placed('buy', '0.1', '40000')
    const stop = (trigger_price: string) => ({ ...PAIR, stop_loss: { trigger_price, order_price: '0' } })
    const path = `/spot/orders/${order.id}`
    refused(await alice.client.patch(path, stop('39000.123')), 400, 'INVALID_PRECISION', /stop_loss/)
    const amended = ok(await alice.client.patch(path, stop('39000.1')))
    assert.deepEqual(amended.stop_loss, { trigger_price: '39000.1', order_price: '0' })
  })

  test('a market buy that buys not even one lot is refused', async () => {
    const { min_quote_amount } = await platform.operator.ok('PATCH', '/markets/BTC_USDT', {
      min_quote_amount: '00.010',
    })
    assert.equal(min_quote_amount, '0.01')
    await bob.placed('sell', '1', '50000')
    refused(await alice.place('buy', '0.04', null), 400, 'AMOUNT_TOO_LITTLE', /0.05/)
    assert.equal((await alice.placed('buy', '0.05', null)).filled_amount, '0.000001')
    await platform.operator.ok('PATCH', '/markets/BTC_USDT', { min_quote_amount: '3' })
  })

  test('a currency whose markets are all closed is told as not tradable', async () => {
    await platform.operator.ok('PATCH', '/markets/DOGE_USDT', { trade_status: 'untradable' })
    const disabled = async (currency: string): Promise<boolean> =>
      ok(await alice.client.get(`/spot/currencies/${currency}`)).trade_disabled
    assert.deepEqual([await disabled('DOGE'), await disabled('USDT')], [true, false])
    refused(await alice.place('buy', '100', '0.1', { currency_pair: 'DOGE_USDT' }), 400, 'TRADE_RESTRICTED')
    await platform.operator.ok('PATCH', '/markets/DOGE_USDT', { trade_status: 'tradable' })
  })

  test('cross_liquidate_orders buys back a debt in a market that is closed for buying, and no more', async () => {
    const eth = { currency_pair: 'ETH_USDT' }
    const { client } = alice
    const buy = (amount: string, more: object = {}) =>
      client.post('/spot/cross_liquidate_orders', { ...eth, amount, price: '3000', ...more })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    await platform.credit(bob.user_id, 'ETH', '10')
    await bob.placed('buy', '1', '2999', eth)
    refused(await buy('1'), 403, 'REQUEST_FORBIDDEN', /POST .spot.orders/)
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/unified/loans', { currency: 'ETH', amount: '1', type: 'borrow' }))
    await alice.placed('sell', '1', '2999', eth)
    await bob.placed('sell', '5', '3000', eth)
    await platform.operator.ok('PATCH', '/markets/ETH_USDT', { trade_status: 'sellable' })
    refused(await alice.place('buy', '1', '3000', eth), 400, 'TRADE_RESTRICTED')
    refused(
      await bob.client.post('/spot/cross_liquidate_orders', { ...eth, amount: '1', price: '3000' }),
      403,
      'REQUEST_FORBIDDEN',
      /no cross-margin debt/,
    )
    refused(await buy('1.1'), 400, 'AMOUNT_TOO_MUCH', /1\.002/)
    const resting = ok(await buy('0.5', { price: '2000', text: 't-back' }), 201)
    assert.equal(`${resting.status} ${resting.account} ${resting.auto_repay}`, 'open unified true')
    refused(await buy('0.6'), 400, 'AMOUNT_TOO_MUCH', /0\.501/)
    ok(await client.delete('/spot/orders/t-back', { ...eth, account: 'unified' }))
    const most = /than (\S+) ETH/.exec((await buy('9')).body.message)![1]!
    assert.equal(ok(await buy(most), 201).finish_as, 'filled')
    assert.deepEqual(ok(await client.get('/unified/loans')), [])
    refused(await buy('0.1'), 403, 'REQUEST_FORBIDDEN')
    await platform.operator.ok('PATCH', '/markets/ETH_USDT', { trade_status: 'tradable' })
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('candles: calendar months, Mondays, and the price that empty buckets repeat', async () => {
    const day = 86_400
    // To the 30th of a month, then over its end.
    const date = new Date(platform.now() * 1000)
    const nextMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000
    const gt = { currency_pair: 'GT_USDT' }
    await platform.credit(bob.user_id, 'GT', '1000')
    const trade = async (price: string): Promise<void> => {
      await bob.placed('sell', '10', price, gt)
      await alice.placed('buy', '10', price, gt)
    }
    await platform.operator.ok('POST', '/clock', { now: nextMonth - 60 })
    await trade('5')
    await platform.operator.ok('POST', '/clock', { now: nextMonth + 60 })
    await trade('6')
    await advance(20 * day)
    await trade('7')
    const rows = async (interval: string, query: object = { limit: 2 }): Promise<string[][]> =>
      ok(await platform.client().get('/spot/candlesticks', { ...gt, interval, ...query }))
    const months = await rows('30d')
    assert.deepEqual(
      months.map((row) => [row[0], row[5], row[2], row[7]]),
      [
        [String(Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000), '5', '5', 'true'],
        [String(nextMonth), '6', '7', 'false'],
      ],
    )
    for (const [start] of await rows('7d', { limit: 4 }))
      assert.equal(new Date(Number(start) * 1000).getUTCDay(), 1)
    assert.deepEqual(await rows('1w'), await rows('7d'))
    const empty = await rows('1d', { from: nextMonth + 3 * day, to: nextMonth + 4 * day })
    assert.deepEqual(
      empty.map((row) => row.slice(1)),
      [
        ['0', '6', '6', '6', '6', '0', 'true'],
        ['0', '6', '6', '6', '6', '0', 'true'],
      ],
    )
    assert.equal((await rows('1h', { from: nextMonth, to: nextMonth + 999 * 3600 })).length > 400, true)
    refused(
      await platform.client().get('/spot/candlesticks', {
        ...gt,
        interval: '1h',
        from: nextMonth - 3600,
        to: nextMonth + 999 * 3600,
      }),
      400,
      'INVALID_PARAM_VALUE',
    )
  })
  test('my_trades of one account are not those of another', async () => {
    await platform.credit(alice.user_id, 'USDT', '10000', { account: 'margin', ...PAIR })
    await bob.placed('sell', '0.2', '45000')
    const spot = await alice.placed('buy', '0.1', '45000')
    const margin = await alice.placed('buy', '0.1', '45000', { account: 'margin' })
    const trades = async (account?: string): Promise<string[]> => {
      const query = account === undefined ? PAIR : { ...PAIR, account }
      return ok(await alice.client.get('/spot/my_trades', query)).map(
        (row: { order_id: string }) => row.order_id,
      )
    }
    assert.deepEqual(await trades('margin'), [margin.id])
    assert.deepEqual(await trades('spot'), [spot.id])
    assert.deepEqual(await trades(), [margin.id, spot.id])
    refused(await alice.client.get('/spot/my_trades', { account: 'savings' }), 400, 'INVALID_PARAM_VALUE')
  })
  test('price orders carry the words web, api and app; an id that is no number is not found', async () => {
    const { client } = alice
    await bob.placed('sell', '1', '50000')
    await alice.placed('buy', '0.1', '50000')
    const order = (text: string): object => ({
      market: 'BTC_USDT',
      trigger: { price: '49000', rule: '<=', expiration: 3600 },
      put: {
        type: 'limit',
        side: 'buy',
        price: '48000',
        amount: '0.01',
        account: 'normal',
        time_in_force: 'gtc',
        text,
      },
    })
    for (const text of ['api', 'web', 'app', 't-mine']) {
      const { id } = ok(await client.post('/spot/price_orders', order(text)), 201)
      assert.equal(ok(await client.get(`/spot/price_orders/${id}`)).put.text, text)
      ok(await client.delete(`/spot/price_orders/${id}`))
    }
    refused(await client.post('/spot/price_orders', order('other')), 400, 'INVALID_PARAM_VALUE', /text/)
    for (const id of ['abc', '1.5', '-1', '9'.repeat(30)])
      for (const reply of [
        await client.get(`/spot/price_orders/${id}`),
        await client.delete(`/spot/price_orders/${id}`),
      ])
        refused(reply, 404, 'ORDER_NOT_FOUND')
    const { headers, body } = await client.get('/spot/price_orders', {
      status: 'finished',
      market: 'BTC_USDT',
      account: 'normal',
      limit: '2',
      offset: '1',
    })
    assert.deepEqual(
      body.map(({ put }: { put: { text: string } }) => put.text),
      ['app', 'web'],
    )
    assert.equal(headers.get('x-pagination-total'), '4')
    assert.deepEqual(
      ok(await client.get('/spot/price_orders', { status: 'finished', account: 'margin' })),
      [],
    )
  })
  test('who lacks the money is told so before an empty book is', async () => {
    const market = { currency_pair: 'XRP_USDT', type: 'market', time_in_force: 'ioc', side: 'buy' }
    refused(
      await alice.client.post('/spot/orders', { ...market, amount: '2000000' }),
      400,
      'BALANCE_NOT_ENOUGH',
    )
    refused(
      await alice.client.post('/spot/orders', { ...market, amount: '100' }),
      400,
      'ORDER_BOOK_NOT_FOUND',
    )
  })
})

test('candles of the minute of the first start are whole, down to the second', async () => {
  const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: '1800000037' })
  const rows = async (interval: string, query: object): Promise<string[][]> =>
    ok(await platform.client().get('/spot/candlesticks', { ...PAIR, interval, ...query }))
  for (const interval of ['1s', '10s', '1m']) {
    const list = await rows(interval, { limit: 20 })
    assert.equal(list.length, 20, interval)
    for (const [i, row] of list.slice(0, -2).entries())
      assert.ok(Number(row[6]) > 0, `${interval} ${i} has volume`)
  }
  const within = await rows('1s', { from: 1_800_000_000, to: 1_800_000_036 })
  assert.equal(within.length, 37, 'each second of the minute before the start')
  await platform.operator.ok('POST', '/clock', { advance_seconds: 120 })
  const after = await rows('1s', { from: 1_800_000_038, to: 1_800_000_060 })
  assert.equal(after.length, 23)
  await platform.stop()
})
