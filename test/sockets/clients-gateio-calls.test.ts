import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { answered, closeClients, Gateio, PAIR, PRIVATE, PUBLIC, requests, SPOT } from '../support/gateio.ts'
import type { Frame } from '../support/socket.ts'
import { until, Venue, type Member } from '../support/venue.ts'

/** Unmodified gateio-api on a busy market: orders, heartbeats, and what it does when it is cut off. */
describe('gateio-api: calls and connections', { timeout: 240_000 }, () => {
  let venue: Venue
  before(async () => {
    venue = await Venue.open()
    await venue.crowd(PAIR, { USDT: '50000000', BTC: '500' }, '0.01')
  })
  after(async () => {
    closeClients()
    await venue.close()
  })
  const trader = (): Promise<Member> => venue.member({ USDT: '1000000', BTC: '10' })
  async function connection(userId: number): Promise<Frame> {
    const sockets = (await venue.operator.ok('GET', '/sockets')) as Frame[]
    return sockets.find(({ user_ids }) => (user_ids as number[]).includes(userId))!
  }

  test('orders: an ack, then the answer; refusals as exceptions; every other call', async () => {
    const { credential, client: rest } = await trader()
    const client = new Gateio(venue, credential)
    const { api } = client
    const [bid] = await venue.spread(PAIR)
    const order = {
      text: 't-api1',
      currency_pair: PAIR,
      type: 'limit' as const,
      account: 'spot' as const,
      side: 'buy' as const,
      amount: '0.1',
      price: String(Math.round(bid * 0.8)),
      time_in_force: 'gtc' as const,
    }
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its types leave out what acks and answers carry
    const done = async (call: Promise<unknown>): Promise<any> => {
      const frame = (await call) as Frame
      assert.equal(frame['header'].status, '200')
      return frame['data'].result
    }
    const row = async (id: string): Promise<Frame> =>
      ok(await rest.get(`/spot/orders/${id}`, { currency_pair: PAIR }))
    const place = async (what: typeof order): Promise<Frame> => {
      const ack = (await api.submitNewSpotOrder(what)) as unknown as Frame
      assert.equal(ack['ack'], true)
      assert.equal(ack['data'].result.req_param.text, what.text)
      const [first, second] = await until('the answer', () => {
        const replies = client.replies(ack['request_id'] as string)
        return replies.length === 2 && replies
      })
      assert.deepEqual([first!['ack'], second!['ack']], [true, undefined])
      return second!['data'].result
    }
    const placed = await place(order)
    assert.equal(client.authenticated.length, 1)
    assert.match(JSON.stringify(client.authenticated[0]!['data'].result), /"uid":"\d+"/)
    assert.deepEqual(placed, await row(placed['id']))
    const one = { order_id: placed['id'] as string, currency_pair: PAIR }
    assert.deepEqual(await done(api.getSpotOrderStatus(one)), placed)
    const changed = await done(api.updateSpotOrder({ ...one, amount: '0.2', amend_text: 'more' }))
    assert.equal(`${changed.id} ${changed.amount} ${changed.amend_text}`, `${placed['id']} 0.2 more`)
    const listed = await done(api.getSpotOrders({ status: 'open', currency_pair: PAIR }))
    assert.deepEqual(listed, [changed])
    const gone = await done(api.cancelSpotOrder(one))
    assert.equal(`${gone.id} ${gone.status} ${gone.finish_as}`, `${placed['id']} cancelled cancelled`)
    assert.deepEqual(gone, await row(placed['id']))
    const ids: string[] = []
    for (const text of ['t-a', 't-b', 't-c']) ids.push((await place({ ...order, text }))['id'] as string)
    const some = await done(
      api.cancelSpotOrderById([
        { currency_pair: PAIR, id: ids[0]! },
        { currency_pair: PAIR, id: '99999999' },
      ]),
    )
    assert.deepEqual(
      some.map(({ id, succeeded }: Frame) => `${id} ${succeeded}`),
      [`${ids[0]} true`, '99999999 false'],
    )
    const rest2 = await done(api.cancelSpotOrderForSymbol({ currency_pair: PAIR }))
    assert.deepEqual(rest2.map(({ id }: Frame) => id).sort(), ids.slice(1).sort())
    const finished = await done(api.getSpotOrders({ status: 'finished', currency_pair: PAIR }))
    assert.equal(finished.length, 4)
    assert.deepEqual(client.exceptions, [])

    const refused = (await api.submitNewSpotOrder({
      ...order,
      text: 't-rich',
      amount: '40',
    })) as unknown as Frame
    assert.equal(refused['ack'], true)
    const exception = await until('the exception', () => client.exceptions[0])
    assert.equal(exception['request_id'], refused['request_id'])
    assert.equal(`${exception['header'].status} ${exception['data'].errs.label}`, '400 BALANCE_NOT_ENOUGH')
    const label = (wanted: string) => (error: Frame) => {
      assert.equal(error['data'].errs.label, wanted)
      return true
    }
    await assert.rejects(api.getSpotOrderStatus({ ...one, order_id: '99999999' }), label('ORDER_NOT_FOUND'))
    await assert.rejects(api.cancelSpotOrder(one), label('ORDER_CANCELLED'))
    await assert.rejects(api.updateSpotOrder({ ...one, amount: '1' }), label('ORDER_CANCELLED'))
    await assert.rejects(
      api.getSpotOrders({ status: 'open', currency_pair: 'LUNAR_USDT' }),
      label('INVALID_CURRENCY'),
    )
    // Refused before it was received: no ack, so the promise itself is rejected.
    await assert.rejects(api.submitNewSpotOrder({ ...order, amount: 'much' }), label('INVALID_PARAM_VALUE'))
  })
  test('heartbeats of all its products on one address, and of each on its own', async () => {
    const client = new Gateio(venue, undefined, { pingInterval: 200 })
    const keys = ['spotV4', 'perpFuturesUSDTV4', 'deliveryFuturesUSDTV4', 'optionsV4', 'announcementsV4']
    await Promise.all(client.socket.connectAll())
    await until('pongs of all', () =>
      keys.every((key) => client.pongs.filter((one) => one === key).length >= 10),
    )
    assert.deepEqual(client.life.sort(), keys.map((key) => `open ${key}`).sort(), 'nobody was cut')
    assert.deepEqual(client.exceptions, [])
    const { credential } = await trader()
    for (const [key, path] of [
      ['perpFuturesUSDTV4', '/v4/ws/usdt'],
      ['perpFuturesBTCV4', '/v4/ws/btc'],
      ['deliveryFuturesUSDTV4', '/v4/ws/delivery/usdt'],
      ['deliveryFuturesBTCV4', '/v4/ws/delivery/btc'],
      ['optionsV4', '/v4/ws/options'],
    ] as const) {
      const one = new Gateio(venue, credential, { path, pingInterval: 100 })
      await one.socket.connectWSAPI(key as 'spotV4', true)
      await until(`pongs of ${key}`, () => one.pongs.length >= 3)
      if (key.startsWith('perp')) await one.socket.connectWSAPI(key as 'perpFuturesUSDTV4')
      const prefix = key === 'optionsV4' ? 'options' : 'futures'
      one.socket.subscribe([{ topic: `${prefix}.trades`, payload: ['LUNAR_USDT'] }], key)
      const [answer] = await until(
        'an answer',
        () =>
          one.responses.some(({ event }) => event === 'subscribe') &&
          one.responses.filter(({ event }) => event === 'subscribe'),
      )
      assert.equal(answer!['error'].code, 2)
      assert.deepEqual(one.exceptions, [])
    }
  })
  test('cut off by an operator or by a fault, it comes back by itself, subscribes and logs in again', async () => {
    const { user_id, credential, client: rest } = await trader()
    const client = new Gateio(venue, credential)
    const channels = [...PUBLIC.slice(0, 1), ...PRIVATE.slice(0, 3)]
    const topics = channels.map(([channel]) => channel)
    client.socket.subscribe(requests(channels), SPOT)
    await answered(client, channels)
    await client.socket.connectWSAPI(SPOT)
    const [bid] = await venue.spread(PAIR)
    const order = {
      currency_pair: PAIR,
      side: 'buy' as const,
      amount: '0.1',
      price: String(Math.round(bid * 0.8)),
    }
    for (const cut of ['operator', 'fault'] as const) {
      const count = client.authenticated.length
      const { conn_id } = await connection(user_id)
      client.responses.length = 0
      if (cut === 'operator') await venue.operator.ok('DELETE', `/sockets/${conn_id}`)
      else {
        const match = { channel: 'spot.order_place', user_id }
        await venue.operator.ok('PUT', '/faults', [{ match, effect: 'disconnect', times: 1 }])
        void client.api.submitNewSpotOrder({ ...order, text: 't-cut' }).catch(() => undefined)
      }
      await until(
        'it is back',
        () =>
          client.life.filter((name) => name === `reconnected ${SPOT}`).length ===
          (cut === 'operator' ? 1 : 2),
      )
      await answered(client, channels)
      await until('it logged in', () => client.authenticated.length > count)
      const back = await connection(user_id)
      assert.notEqual(back['conn_id'], conn_id)
      assert.equal(back['subscriptions'], topics.length + 1)
      client.updates.length = 0
      ok(await rest.post('/spot/orders', order), 201)
      await until('pushes again', () => client.pushed('spot.orders').length === 1)
      assert.equal(client.pushed('spot.balances').length, 1)
      const gone = (await client.api.cancelSpotOrderForSymbol({ currency_pair: PAIR })) as unknown as Frame
      assert.equal(gone['data'].result.length, cut === 'operator' ? 1 : 2, 'what was cut had taken effect')
    }
    assert.deepEqual(client.exceptions, [])
    await venue.operator.ok('PUT', '/faults', [])
  })
})
