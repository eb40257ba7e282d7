import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ok, refused, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

const FUNDS = { BTC: '100', USDT: '10000000' }

describe('POV orders', () => {
  let platform: TestPlatform
  let owner: Trader
  let maker: Trader
  let taker: Trader
  const crowd: Trader[] = []
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000000' })
  })
  after(() => platform.stop())
  beforeEach(async () => {
    for (const { user_id, client } of crowd.splice(0))
      for (const path of ['/spot/orders', '/spot/pov_orders'])
        ok(await new Trader(user_id, platform.client(client.credential)).client.delete(path))
    owner = await Trader.of(platform, FUNDS)
    maker = await Trader.of(platform, FUNDS)
    taker = await Trader.of(platform, FUNDS)
    crowd.push(owner, maker, taker)
  })
  const pass = (seconds: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds: seconds })
  const body = {
    currency_pair: 'BTC_USDT',
    side: 'buy',
    amount: '1',
    participation_rate: 0.1,
    ttl: '3600',
    limit_price: '51000',
    text: 't-pov',
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  const create = async (more: object = {}): Promise<any> =>
    ok(await owner.client.post('/spot/pov_orders', { ...body, ...more }), 201)
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  const look = async (id: string): Promise<any> => ok(await owner.client.get(`/spot/pov_orders/${id}`))
  const trade = async (amount: string, price = '50000'): Promise<void> => {
    await maker.placed('sell', amount, price)
    await taker.placed('buy', amount, price)
  }

  test('it takes its share of what others traded since the last look, holds its money, and ends filled', async () => {
    const order = await create()
    assert.deepEqual(
      [order.status, order.terminated_as, order.amount, order.participation_rate, order.ttl, order.text],
      ['open', '', '1', 0.1, '3600', 't-pov'],
    )
    assert.equal(order.expire_time_ms - order.create_time_ms, 3_600_000)
    assert.equal(await owner.money('USDT'), '9949000/51000')
    await maker.placed('sell', '10', '50100')
    await pass(5)
    assert.equal((await look(order.id)).filled_amount, '0', 'nobody has traded')
    await trade('2')
    await pass(1)
    assert.equal((await look(order.id)).filled_amount, '0.2', 'a tenth of 2, at the best price')
    assert.equal(await owner.money('USDT'), '9949180/40800', 'bought at 50100, the rest held at 51000')
    await pass(10)
    assert.equal((await look(order.id)).filled_amount, '0.2', 'its own trade is not others’ volume')
    await trade('8')
    await pass(1)
    const done = await look(order.id)
    assert.deepEqual([done.status, done.terminated_as, done.filled_amount], ['finished', 'filled', '1'])
    assert.equal(await owner.money('USDT'), '9949900/0')
    const finished = ok(await owner.client.get('/spot/pov_orders', { status: 'finished', side: 'buy' }))
    assert.deepEqual([finished.length, finished[0].id], [1, order.id])
    assert.deepEqual(ok(await owner.client.get('/spot/pov_orders', { status: 'open' })), [])
    refused(await owner.client.delete(`/spot/pov_orders/${order.id}`), 400, 'ORDER_CLOSED')
  })
  test('whoever trades with himself moves nothing: own orders do not count', async () => {
    const order = await create()
    await maker.placed('sell', '10', '50100')
    await owner.placed('sell', '3', '50000')
    await owner.placed('buy', '3', '50000')
    await pass(2)
    assert.equal((await look(order.id)).filled_amount, '0')
  })
  test('a price beyond the limit is not taken; a cancelled one and an expired one give everything back', async () => {
    const first = await create({ limit_price: '50050' })
    const second = await create({ side: 'sell', amount: '2', limit_price: null, ttl: '30', text: 't-other' })
    await maker.placed('sell', '10', '50100')
    await trade('2')
    await pass(1)
    assert.equal((await look(first.id)).filled_amount, '0')
    const cancelled = ok(await owner.client.delete(`/spot/pov_orders/${first.id}`))
    assert.deepEqual([cancelled.status, cancelled.terminated_as], ['finished', 'cancelled'])
    await pass(40)
    const expired = await look(second.id)
    assert.deepEqual([expired.terminated_as, expired.end_time_ms], ['expired', expired.expire_time_ms])
    assert.deepEqual([await owner.money('USDT'), await owner.money('BTC')], ['10000000/0', '100/0'])
  })
  test('a trigger starts it; it survives a restart', async () => {
    await trade('1', '50000')
    const order = await create({ trigger_price: '050200.0', limit_price: '51000.00' })
    assert.deepEqual([order.trigger_price, order.limit_price], ['50200', '51000'])
    assert.equal(order.start_time_ms, 0)
    await maker.placed('sell', '10', '50300')
    await trade('2', '50100')
    await pass(2)
    assert.deepEqual([(await look(order.id)).filled_amount, (await look(order.id)).start_time_ms], ['0', 0])
    await trade('1', '50200')
    await pass(1)
    assert.ok((await look(order.id)).start_time_ms > 0)
    platform = await platform.restart()
    ;[owner, maker, taker] = [owner, maker, taker].map(
      ({ user_id, client }) => new Trader(user_id, platform.client(client.credential)),
    ) as [Trader, Trader, Trader]
    await trade('3', '50200')
    await pass(1)
    assert.equal((await look(order.id)).filled_amount, '0.3')
  })
  test('on a unified account what it holds stays part of the equity; nobody is liquidated for having one', async () => {
    await platform.operator.ok('PUT', '/prices', { BTC: '60000' })
    const { user_id, client } = await Trader.of(platform, { BTC: '1' })
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '45000' }))
    const more = { amount: '0.9', limit_price: '50000', ttl: '86400' }
    const order = ok(await client.post('/spot/pov_orders', { ...body, ...more }), 201)
    const figures = async () => {
      const { balances, spot_order_loss, total_margin_balance, risk_level } = ok(
        await client.get('/unified/accounts'),
      )
      return [balances.USDT.freeze, balances.USDT.equity, spot_order_loss, total_margin_balance, risk_level]
    }
    assert.deepEqual(await figures(), ['45000', '0', '0', '58800', 'normal'])
    await platform.operator.ok('PUT', '/prices', { BTC: '40000' })
    // At its limit it would bring 0.9 BTC for 45000, lot by lot with a fee that is rounded up: 0.891 x 40000 x 0.98.
    assert.deepEqual(await figures(), ['45000', '0', '10072.8', '29127.2', 'normal'])
    await pass(2)
    assert.equal(ok(await client.get(`/spot/pov_orders/${order.id}`)).status, 'open')
    assert.deepEqual(await platform.operator.ok('GET', `/users/${user_id}/liquidations`), [])
    ok(await client.delete(`/spot/pov_orders/${order.id}`))
    assert.deepEqual(await figures(), ['0', '0', '0', '39200', 'normal'])
    await platform.operator.ok('PUT', '/prices', { BTC: null })
  })

  test('refusals', async () => {
    const { client } = owner
    const post = (more: object): ReturnType<typeof client.post> =>
      client.post('/spot/pov_orders', { ...body, ...more })
    for (const participation_rate of [0, 0.51, 1, 'x', 0.12345, '0.00001', 1e-8, 1 / 3])
      refused(await post({ participation_rate }), 400, 'INVALID_PARAM_VALUE', /participation_rate/)
    for (const ttl of ['0', '1.5', 'x', '90000'])
      refused(await post({ ttl }), 400, 'INVALID_PARAM_VALUE', /ttl/)
    refused(await post({ amount: '0.0000001' }), 400, 'INVALID_PRECISION')
    for (const name of ['amount', 'limit_price', 'trigger_price'])
      refused(await post({ [name]: '1.0000000000000000001' }), 400, 'INVALID_PRECISION', new RegExp(name))
    refused(await post({ amount: '0.00001' }), 400, 'AMOUNT_TOO_LITTLE')
    refused(await post({ amount: '110000', limit_price: '50' }), 400, 'AMOUNT_TOO_MUCH')
    refused(
      await post({ amount: '99', side: 'sell', limit_price: null, currency_pair: 'ETH_USDT' }),
      400,
      'BALANCE_NOT_ENOUGH',
    )
    refused(await post({ currency_pair: 'NO_USDT' }), 400, 'INVALID_CURRENCY')
    refused(await post({ limit_price: null, currency_pair: 'XRP_USDT' }), 400, 'ORDER_BOOK_NOT_FOUND')
    refused(await post({ side: undefined }), 400, 'MISSING_REQUIRED_PARAM', /side/)
    for (const id of ['999', 'abc']) {
      refused(await client.get(`/spot/pov_orders/${id}`), 404, 'ORDER_NOT_FOUND')
      refused(await client.delete(`/spot/pov_orders/${id}`), 404, 'ORDER_NOT_FOUND')
    }
    const first = await create({ amount: '0.01' })
    const money = await owner.money('USDT')
    refused(await post({ amount: '0.02' }), 400, 'DUPLICATE_REQUEST', new RegExp(`POV order ${first.id};`))
    assert.equal(await owner.money('USDT'), money)
    // Who chose no text has none in common, and one of an order that has ended is free again.
    ok(await client.delete(`/spot/pov_orders/${first.id}`))
    for (let i = 0; i < 20; i++) await create({ amount: '0.01', text: i === 0 ? 't-pov' : null })
    refused(await post({ amount: '0.01', text: 't-more' }), 400, 'TOO_MANY_ORDERS')
    const theirs = ok(await client.get('/spot/pov_orders', { status: 'open', limit: '5', page: '2' }))
    assert.equal(theirs.length, 5)
    refused(await maker.client.get(`/spot/pov_orders/${theirs[0].id}`), 404, 'ORDER_NOT_FOUND')
    assert.equal(ok(await client.delete('/spot/pov_orders', { currency_pair: 'BTC_USDT' })).length, 20)
    assert.equal(await owner.money('USDT'), '10000000/0')
  })

  test('a customer has no more of them by having more accounts', async () => {
    const family = [owner]
    for (let i = 0; i < 10; i++)
      family.push(await Trader.of(platform, { USDT: '10000' }, { parent: owner.user_id }))
    crowd.push(...family.slice(1))
    const small = { ...body, amount: '0.001', text: null }
    const post = (by: Trader): Promise<Reply> => by.client.post('/spot/pov_orders', small)
    for (const by of family.slice(0, 10)) for (let i = 0; i < 20; i++) ok(await post(by), 201)
    const last = family[10]!
    refused(await post(last), 400, 'TOO_MANY_ORDERS', /sub-accounts have at most 200/)
    ok(await post(maker), 201)
    // Of those who ask at the same moment no more get one than there is room for.
    const [one] = ok(await owner.client.get('/spot/pov_orders', { status: 'open' }))
    ok(await owner.client.delete(`/spot/pov_orders/${one.id}`))
    const statuses = (await Promise.all([post(last), post(owner), post(last)])).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 400, 400])
  })
})
