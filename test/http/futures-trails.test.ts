import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

type Members = Record<string, unknown>
const TRAIL = '/autoorder/v1/trail'
const SELL = { contract: 'BTC_USDT', amount: '-5', price_offset: '1%' }

describe('trail orders', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
    maker = await ContractTrader.of(platform, '5000000')
    trader = await ContractTrader.of(platform, '10000')
    await print('60000')
  })
  after(() => platform.stop())
  async function print(price: string): Promise<void> {
    await maker.placed(-1, price)
    await maker.placed(1, price, { tif: 'ioc' })
  }
  const call = (name: string, body: Members): Promise<Reply> => trader.post(`${TRAIL}/${name}`, body)
  const create = (more: Members = {}): Promise<Reply> => call('create', { ...SELL, ...more })
  const created = async (more: Members = {}): Promise<number> => {
    const reply = ok(await create(more), 201)
    assert.equal(`${reply.code} ${reply.message}`, '0 success')
    assert.ok(reply.timestamp > 1e12)
    return reply.data.id as number
  }
  const detail = async (id: number) => {
    const reply = ok(await trader.get(`${TRAIL}/detail`, { id }))
    assert.equal(reply.code, 0)
    return reply.data.order
  }
  const list = async (query: Record<string, string | number | boolean> = {}): Promise<number[]> =>
    ok(await trader.get(`${TRAIL}/list`, query)).orders.map(({ id }: { id: number }) => id)

  test('one follows, fires and leads to its order', async () => {
    await maker.placed(-5, '60000')
    await trader.placed(5, null)
    const id = await created({ reduce_only: true, position_related: true, text: 't-trail' })
    const waiting = await detail(id)
    assert.equal(`${waiting.status} ${waiting.status_label} ${waiting.status_code}`, 'open active 2')
    assert.equal(`${waiting.extremum_price} ${waiting.trigger_price}`, '60000 59400')
    assert.equal(`${waiting.side_label} / ${waiting.position_side_output}`, 'sell / close long')
    assert.equal(`${waiting.amount} ${waiting.price_offset} ${waiting.price_type}`, '-5 1% 1')
    assert.match(waiting.activated_at_precise, /^\d{10}\.\d{6}$/)
    assert.equal(`${waiting.finished_at} ${waiting.finished_at_precise}`, '0 ')
    assert.equal(`${waiting.suborder_id} ${waiting.suborder_text}`, '0 ')
    assert.equal(`${waiting.pos_margin_mode} ${waiting.leverage} ${waiting.position_mode}`, 'cross 10 single')
    await print('61250.4')
    assert.equal((await detail(id)).trigger_price, '60637.9')
    await maker.placed(5, '60600')
    await print('60637.9')
    const done = await detail(id)
    assert.equal(`${done.status} ${done.original_status} ${done.status_label}`, 'finished 4 success')
    assert.equal(`${done.extremum_price} ${done.trigger_price}`, '61250.4 60637.9')
    const order = await trader.order(done.suborder_id)
    assert.equal(`${order.text} ${order.size} ${order.finish_as}`, `${done.suborder_text} -5 filled`)
    assert.equal(done.suborder_text, `apiv4-auto-trail-o-${id}`)
    assert.equal((await trader.position()).size, 0)
    await print('60000')
  })

  test('each refusal', async () => {
    const cases: readonly (readonly [Members, string, RegExp?])[] = [
      [{ contract: 'NO_USDT' }, 'CONTRACT_NOT_FOUND'],
      [{ amount: '0' }, 'INVALID_PARAM_VALUE', /amount/],
      [{ amount: '1.5' }, 'INVALID_PRECISION', /amount/],
      [{ amount: '2000000' }, 'SIZE_TOO_LARGE'],
      [{ price_offset: '0.01' }, 'INVALID_PRECISION', /price_offset/],
      [{ price_offset: '100%' }, 'INVALID_PARAM_VALUE', /price_offset/],
      [{ price_type: 4 }, 'INVALID_PARAM_VALUE', /price_type/],
      [{ activation_price: '61000.001' }, 'INVALID_PRECISION', /activation_price/],
      [{ position_related: true }, 'INVALID_PARAM_VALUE', /reduce_only/],
      [{ position_related: true, reduce_only: true }, 'POSITION_EMPTY'],
      [{ position_mode: 'dual' }, 'INVALID_PARAM_VALUE', /position_mode/],
      [{ pos_margin_mode: 'isolated' }, 'INVALID_PARAM_VALUE', /pos_margin_mode/],
      [{ price_offset: undefined }, 'MISSING_REQUIRED_PARAM', /price_offset/],
    ]
    for (const [more, label, says] of cases) refused(await create(more), 400, label, says)
    const poor = await ContractTrader.of(platform, '0')
    refused(await poor.post(`${TRAIL}/create`, SELL), 400, 'USER_NOT_FOUND')
    refused(await call('stop', {}), 400, 'MISSING_REQUIRED_PARAM', /id/)
    refused(await call('stop', { id: 999999 }), 404, 'ORDER_NOT_FOUND')
    refused(await call('stop', { text: 'nobody' }), 404, 'ORDER_NOT_FOUND')
    refused(await call('update', { id: 999999, amount: '1' }), 404, 'ORDER_NOT_FOUND')
    refused(await trader.get(`${TRAIL}/detail`, { id: 999999 }), 404, 'ORDER_NOT_FOUND')
    refused(await trader.get(`${TRAIL}/change_log`, { id: 999999 }), 404, 'ORDER_NOT_FOUND')
    refused(await trader.get(`${TRAIL}/list`, { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    refused(await call('stop_all', { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
    const headers = { 'x-gate-exptime': String(Math.floor(Date.now() - 100_000)) }
    for (const name of ['create', 'stop', 'stop_all', 'update']) {
      const body = { ...SELL, id: 1 }
      refused(
        await trader.client.request('POST', `/futures/usdt${TRAIL}/${name}`, { body, headers }),
        401,
        'REQUEST_EXPIRED',
      )
    }
    assert.equal((await trader.client.get(`/delivery/usdt${TRAIL}/list`)).status, 404)
    const rule = (change: Members): Promise<unknown> =>
      platform.operator.ok('PATCH', '/contracts/futures/usdt/SOL_USDT', change)
    const sol = { contract: 'SOL_USDT', price_type: 3 }
    await rule({ status: 'circuit_breaker' })
    refused(await create(sol), 400, 'TRADE_RESTRICTED')
    await rule({ status: 'trading', delisting_time: Math.floor(Date.now() / 1000) - 10 })
    refused(await create(sol), 400, 'CONTRACT_IN_DELISTING')
  })

  test('an update, and the log of all changes', async () => {
    const id = await created({ activation_price: '61000', is_gte: true })
    assert.equal((await detail(id)).status_label, 'pending')
    const { order } = ok(
      await call('update', { id, amount: '-7', price_offset: '500', is_gte_str: '', price_type: 0 }),
    )
    assert.equal(`${order.amount} ${order.price_offset} ${order.is_gte}`, '-7 500 true')
    refused(await call('update', { id, amount: '0' }), 400, 'NO_CHANGE')
    refused(await call('update', { id, amount: '7' }), 400, 'INVALID_PARAM_VALUE', /sign/)
    ok(await call('update', { id: String(id), activation_price: '0' }))
    // It is activated by that; whoever sends again what it has changes the rest.
    const again = { id, activation_price: '0', is_gte_str: 'false' }
    assert.equal(ok(await call('update', { ...again, price_offset: '600' })).order.price_offset, '600')
    refused(await call('update', again), 400, 'NO_CHANGE')
    for (const other of [{ activation_price: '62000' }, { is_gte_str: 'true' }])
      refused(await call('update', { ...again, ...other }), 400, 'INVALID_PARAM_VALUE', /activated/)
    ok(await call('update', { id, price_offset: '500' }))
    const { change_log } = ok(await trader.get(`${TRAIL}/change_log`, { id }))
    assert.deepEqual(
      change_log.map(
        (one: { amount: string; price_offset: string; is_create: boolean; activation_price: string }) =>
          [one.amount, one.price_offset, one.activation_price, one.is_create].join(' '),
      ),
      ['-7 500 0 false', '-7 600 0 false', '-7 500 0 false', '-7 500 61000 false', '-5 1% 61000 true'],
    )
    assert.equal(ok(await call('stop', { id })).order.status_label, 'cancelled')
    refused(await call('stop', { id }), 400, 'ORDER_FINISHED')
    refused(await call('update', { id, amount: '-1' }), 400, 'ORDER_FINISHED')
    const other = await ContractTrader.of(platform, '10')
    refused(await other.get(`${TRAIL}/change_log`, { id }), 404, 'ORDER_NOT_FOUND')
  })

  test('an offset is told as a canonical decimal, however it was written', async () => {
    const id = await created({ activation_price: '61000.00', price_offset: '01.50%' })
    const { activation_price, price_offset } = await detail(id)
    assert.equal(`${activation_price} ${price_offset}`, '61000 1.5%')
    const { order } = ok(await call('update', { id, price_offset: '0500.0' }))
    assert.equal(order.price_offset, '500')
    // The same in other letters is no change.
    refused(await call('update', { id, price_offset: '500.00' }), 400, 'NO_CHANGE')
    const { change_log } = ok(await trader.get(`${TRAIL}/change_log`, { id }))
    assert.deepEqual(
      change_log.map((one: { price_offset: string }) => one.price_offset),
      ['500', '1.5%'],
    )
    ok(await call('stop', { id }))
  })

  test('lists, by every filter', async () => {
    const sell = await created({ price_offset: '2%' })
    const buy = await created({ amount: '3', price_offset: '1%' })
    const eth = await created({ contract: 'ETH_USDT', price_type: 2, reduce_only: true })
    assert.deepEqual(await list(), [eth, buy, sell])
    assert.deepEqual(await list({ contract: 'btc_usdt' }), [buy, sell])
    assert.deepEqual(await list({ side: 1 }), [buy])
    assert.deepEqual(await list({ side: 2, reduce_only: 2 }), [sell])
    assert.deepEqual(await list({ reduce_only: 1 }), [eth])
    assert.deepEqual(await list({ page_num: 2, page_size: 1 }), [buy])
    assert.deepEqual(await list({ sort_by_trigger: true }), [eth, sell, buy])
    assert.deepEqual(await list({ related_position: 1 }), [])
    assert.deepEqual(await list({ start_at: Math.floor(Date.now() / 1000) + 86_400 * 400 }), [])
    // A millisecond means all of it, and no more: of those that wait as of those that have ended.
    const at = async (id: number): Promise<number> =>
      Math.floor(Number((await detail(id)).created_at_precise) * 1000)
    const [first, last] = [await at(sell), await at(eth)]
    assert.notEqual(first, last)
    assert.deepEqual(await list({ end_at: first, contract: 'BTC_USDT', side: 2 }), [sell])
    assert.deepEqual(await list({ end_at: last - 1, contract: 'ETH_USDT' }), [])
    const { orders } = ok(await call('stop_all', { contract: 'BTC_USDT' }))
    assert.deepEqual(
      orders.map(({ id }: { id: number }) => id),
      [sell, buy],
    )
    ok(await call('stop', { id: eth }))
    assert.deepEqual(await list({ is_finished: true, end_at: last - 1, contract: 'ETH_USDT' }), [])
    assert.deepEqual((await list({ is_finished: true, sort_by: 2 }))[0], eth)
    assert.deepEqual(await list({ is_finished: true, sort_by: 1, side: 1 }), [buy])
    assert.equal((await list({ is_finished: true, hide_cancel: true })).length, 1)
    assert.equal((await list({ is_finished: true, related_position: 1 })).length, 1)
    assert.deepEqual(await list({ is_finished: true, related_position: 2 }), [])
    assert.deepEqual(await list({ is_finished: true, reduce_only: 1, contract: 'ETH_USDT' }), [eth])
    assert.deepEqual(await list(), [])
  })
})
