import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

type Members = Record<string, unknown>
const CHASE = '/autoorder/v1/chase'
const BUY = { contract: 'BTC_USDT', amount: '5', price_limit: '0' }

describe('chase orders', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '5000000')
    trader = await ContractTrader.of(platform, '10000')
    await maker.placed(10, '59990')
    await maker.placed(-10, '60010')
  })
  after(() => platform.stop())
  const call = (name: string, body: Members): Promise<Reply> => trader.post(`${CHASE}/${name}`, body)
  const create = (more: Members = {}): Promise<Reply> => call('create', { ...BUY, ...more })
  const created = async (more: Members = {}): Promise<string> => {
    const { id } = ok(await create(more))
    assert.match(id, /^\d+$/)
    return id as string
  }
  const detail = async (id: string) => ok(await trader.get(`${CHASE}/detail`, { id })).order
  const later = (seconds: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds: seconds })
  const list = async (query: Record<string, string | number | boolean> = {}): Promise<string[]> =>
    ok(await trader.get(`${CHASE}/list`, { sort_by: 1, ...query })).orders.map(({ id }: { id: string }) => id)

  test('one follows the best bid, and is filled there', async () => {
    const id = await created({ text: 't-chase' })
    const first = await detail(id)
    assert.equal(`${first.status} ${first.status_code} ${first.suborder_ongoing}`, 'open 2 true')
    assert.equal(`${first.suborder_price} ${first.chase_price} ${first.interval_sec}`, '59990 59990 1')
    assert.equal(`${first.side_label} / ${first.position_side_output}`, 'buy / open long')
    const order = await trader.order(first.suborder_id)
    assert.equal(`${order.tif} ${order.size} ${order.text}`, `poc 5 apiv4-auto-chase-o-${id}`)
    await maker.placed(1, '59995')
    await later(2)
    assert.equal((await detail(id)).suborder_price, '59995')
    await maker.placed(-4, '59995')
    assert.equal((await detail(id)).fill_amount, '3')
    await maker.placed(-2, '59995')
    const done = await detail(id)
    assert.equal(`${done.status} ${done.original_status} ${done.suborder_finish_as}`, 'finished 4 filled')
    assert.equal(`${done.fill_amount} ${done.average_fill_price} ${done.suborder_ongoing}`, '5 59995 false')
    assert.match(done.finish_time_precise, /^\d{10}\.\d{6}$/)
    refused(await call('stop', { id }), 400, 'ORDER_FINISHED')
    await trader.placed(0, null, { close: true })
  })

  test('a gap is told as a canonical decimal, however it was written', async () => {
    const gap = { price_type: 2, price_gap_type: 1, price_gap_value: '010.50' }
    const id = await created({ ...gap, price_limit: '060000.0' })
    const { price_gap_value, price_limit } = await detail(id)
    assert.equal(`${price_gap_value} ${price_limit}`, '10.5 60000')
    assert.equal(ok(await call('stop', { id })).order.price_gap_value, '10.5')
  })

  test('each refusal', async () => {
    const gap = { price_type: 2, price_gap_type: 1, price_gap_value: '10' }
    const cases: readonly (readonly [Members, string, RegExp?])[] = [
      [{ contract: 'NO_USDT' }, 'CONTRACT_NOT_FOUND'],
      [{ amount: '0' }, 'INVALID_PARAM_VALUE', /amount/],
      [{ amount: '1.5' }, 'INVALID_PRECISION', /amount/],
      [{ amount: '2000000' }, 'SIZE_TOO_LARGE'],
      [{ price_limit: undefined }, 'MISSING_REQUIRED_PARAM', /price_limit/],
      [{ price_limit: '60000', offset_limit: '1' }, 'INVALID_PARAM_VALUE', /both/],
      [{ price_limit: '60000.01' }, 'INVALID_PRECISION', /price_limit/],
      [{ price_limit: '1000' }, 'PRICE_TOO_DEVIATED'],
      [{ price_type: 3 }, 'INVALID_PARAM_VALUE', /price_type/],
      [{ ...gap, price_gap_value: undefined }, 'MISSING_REQUIRED_PARAM', /price_gap_value/],
      [{ ...gap, price_gap_type: 2, price_gap_value: '100' }, 'INVALID_PARAM_VALUE', /percentage/],
      [{ is_dual_mode: true }, 'INVALID_PARAM_VALUE', /is_dual_mode/],
      [{ pos_margin_mode: 'isolated' }, 'INVALID_PARAM_VALUE', /pos_margin_mode/],
      [{ reduce_only: true }, 'POSITION_EMPTY'],
      [{ amount: '900000' }, 'INSUFFICIENT_AVAILABLE'],
      [{ contract: 'ETH_USDT' }, 'CONTRACT_NO_COUNTER', /bid/],
    ]
    for (const [more, label, says] of cases) refused(await create(more), 400, label, says)
    const poor = await ContractTrader.of(platform, '0')
    refused(await poor.post(`${CHASE}/create`, BUY), 400, 'USER_NOT_FOUND')
    refused(await call('stop', {}), 400, 'MISSING_REQUIRED_PARAM', /id/)
    refused(await call('stop', { id: '999999' }), 404, 'ORDER_NOT_FOUND')
    refused(await call('stop', { text: 'nobody' }), 404, 'ORDER_NOT_FOUND')
    refused(await call('stop_all', { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await trader.get(`${CHASE}/detail`, { id: '999999' }), 404, 'ORDER_NOT_FOUND')
    refused(await trader.get(`${CHASE}/list`), 400, 'MISSING_REQUIRED_PARAM', /sort_by/)
    refused(
      await trader.get(`${CHASE}/list`, { sort_by: 1, is_finished: true }),
      400,
      'MISSING_REQUIRED_PARAM',
      /start_at/,
    )
    const headers = { 'x-gate-exptime': String(Math.floor(Date.now() - 100_000)) }
    for (const name of ['create', 'stop', 'stop_all']) {
      const body = { ...BUY, id: '1' }
      refused(
        await trader.client.request('POST', `/futures/usdt${CHASE}/${name}`, { body, headers }),
        401,
        'REQUEST_EXPIRED',
      )
    }
    assert.equal((await trader.client.get(`/delivery/usdt${CHASE}/list`)).status, 404)
  })

  test('stopped by id, by text or all; lists by every filter', async () => {
    const buy = await created({ text: 't-a' })
    const sell = await created({ amount: '-3', price_limit: undefined, offset_limit: '0.1%' })
    const gap = await created({ price_type: 2, price_gap_type: 2, price_gap_value: '0.1' })
    const seen = await detail(gap)
    assert.equal(`${seen.price_type} ${seen.price_gap_type} ${seen.price_gap_value}`, '2 2 0.1')
    assert.deepEqual(await list(), [gap, sell, buy])
    assert.deepEqual(await list({ side: 2 }), [sell])
    assert.deepEqual(await list({ reduce_only: 1 }), [])
    assert.deepEqual(await list({ contract: 'BTC_USDT', page_size: 1, page_num: 3 }), [buy])
    refused(await trader.ask('/dual_mode', { dual_mode: true }), 400, 'ORDER_PENDING')
    assert.equal(ok(await call('stop', { text: 't-a' })).order.id, buy)
    const { orders } = ok(await call('stop_all', { contract: 'btc_usdt', pos_margin_mode: 'cross' }))
    assert.deepEqual(
      orders.map(({ id, status_code }: { id: string; status_code: string }) => `${id} ${status_code}`),
      [`${sell} 5`, `${gap} 5`],
    )
    const span = { start_at: 0, end_at: 9_999_999_999, is_finished: true }
    assert.deepEqual((await list(span)).slice(0, 3), [gap, sell, buy])
    assert.deepEqual(await list({ ...span, side: 2 }), [sell])
    assert.equal((await list({ ...span, hide_cancel: true, sort_by: 2 })).length, 1)
    const other = await ContractTrader.of(platform, '10')
    refused(await other.get(`${CHASE}/detail`, { id: buy }), 404, 'ORDER_NOT_FOUND')
    refused(await other.post(`${CHASE}/stop`, { id: buy }), 404, 'ORDER_NOT_FOUND')
  })
})

test('what waits for a price is there after a restart, and goes on', async () => {
  let platform = await TestPlatform.start()
  try {
    await setIndex(platform, { BTC: '60000' })
    const maker = await ContractTrader.of(platform, '5000000')
    const trader = await ContractTrader.of(platform, '10000')
    await maker.placed(50, '59990')
    await maker.placed(-50, '60010')
    await maker.placed(1, '60010')
    const stops = { tpsl_tp_trigger_price: '61500', tpsl_sl_trigger_price: '59980' }
    const order = await trader.placed(10, '59985', stops)
    const initial = { contract: 'BTC_USDT', size: 1, price: '59000' }
    const trigger = { price: '61000', rule: 1, price_type: 2 }
    const { id: price } = ok(await trader.post('/price_orders', { initial, trigger }), 201)
    const trail = { contract: 'BTC_USDT', amount: '-5', price_offset: '1%', price_type: 2 }
    const { id: trailing } = ok(await trader.post('/autoorder/v1/trail/create', trail), 201).data
    await setIndex(platform, { BTC: '60900' })
    const { id: chase } = ok(await trader.post(`${CHASE}/create`, BUY))

    platform = await platform.restart()
    const again = (one: ContractTrader): ContractTrader =>
      new ContractTrader(one.user_id, platform.client(one.client.credential))
    const [maker2, trader2] = [again(maker), again(trader)]
    const seen = ok(await trader2.get('/autoorder/v1/trail/detail', { id: trailing })).data.order
    assert.equal(`${seen.status_label} ${seen.extremum_price}`, 'active 60900')
    const open = ok(await trader2.get('/price_orders', { status: 'open' }))
    assert.deepEqual(
      open.map((one: { status: string }) => one.status),
      ['open', 'inactive', 'inactive'],
    )
    await maker2.placed(1, '59995')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    const chasing = ok(await trader2.get(`${CHASE}/detail`, { id: chase })).order
    assert.equal(chasing.suborder_price, '59995')
    await setIndex(platform, { BTC: '61000' })
    assert.equal(ok(await trader2.get(`/price_orders/${price}`)).status, 'finished')
    await setIndex(platform, { BTC: '60300' })
    const fell = ok(await trader2.get('/autoorder/v1/trail/detail', { id: trailing })).data.order
    assert.equal(`${fell.status_label} ${fell.extremum_price} ${fell.trigger_price}`, 'success 61000 60390')
    ok(await trader2.delete(`/orders/${order.id}`))
    const [stop] = ok(await trader2.get('/price_orders', { status: 'finished' })).filter(
      (one: { me_order_id: number }) => one.me_order_id === order.id,
    )
    assert.equal(stop.status, 'invalid')
  } finally {
    await platform.stop()
  }
})
