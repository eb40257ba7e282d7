import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ok } from '../support/client.ts'
import { answered, closeClients, Gateio, PAIR, PRIVATE, PUBLIC, requests, SPOT } from '../support/gateio.ts'
import type { Frame } from '../support/socket.ts'
import { until, Venue, type Member } from '../support/venue.ts'

/** Unmodified gateio-api on a busy market: every channel. */
describe('gateio-api: channels', { timeout: 240_000 }, () => {
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
  const last = (frames: Frame[]): Frame => frames.at(-1)!['result'] as Frame
  test('public channels: answers, pushes that equal REST, and silence after unsubscribing', async () => {
    const client = new Gateio(venue)
    client.socket.subscribe(requests(PUBLIC), SPOT)
    await answered(client, PUBLIC)
    const read = new Map<number, Frame>()
    const equal = new Set<string>()
    await until('books at ids that REST has shown', async () => {
      const query = { currency_pair: PAIR, limit: 20, with_id: true }
      const book = (await venue.read('/spot/order_book', query)) as Frame
      read.set(book['id'] as number, book)
      for (const { result } of client.pushed('spot.order_book')) {
        const rest = read.get(result.lastUpdateId as number)
        if (rest === undefined) continue
        const { t, s, l, bids, asks } = result as Frame
        assert.deepEqual([t, s, l], [rest['update'], PAIR, '20'])
        assert.deepEqual({ bids, asks }, { bids: rest['bids'], asks: rest['asks'] })
        equal.add(`book ${result.lastUpdateId}`)
      }
      for (const { result } of client.pushed('spot.book_ticker')) {
        const rest = read.get(result.u as number)
        if (rest === undefined) continue
        assert.deepEqual([result.b, result.B], rest['bids'][0])
        assert.deepEqual([result.a, result.A], rest['asks'][0])
        equal.add(`best ${result.u}`)
      }
      const names = [...equal].map((name) => name.split(' ')[0])
      return ['book', 'best'].every((word) => names.filter((name) => name === word).length >= 3)
    })
    for (const channel of ['spot.obu', 'spot.order_book_update']) {
      const frames = client.pushed(channel).map(({ result }) => result as Frame)
      assert.equal(frames[0]!['full'], true)
      for (const [i, frame] of frames.slice(1).entries())
        assert.equal(frame['U'], (frames[i]!['u'] as number) + 1, `${channel} has a gap`)
    }
    await until('trades', () => client.pushed('spot.trades').length >= 3)
    const trades = (await venue.read('/spot/trades', { currency_pair: PAIR, limit: 500 })) as Frame[]
    for (const { result } of client.pushed('spot.trades')) {
      const row = trades.find(({ id }) => id === String(result.id))!
      assert.deepEqual(
        [result.side, result.amount, result.price, result.create_time_ms, String(result.id_market)],
        [row['side'], row['amount'], row['price'], row['create_time_ms'], row['sequence_id']],
      )
    }
    assert.deepEqual(
      client
        .pushed('spot.trades_v2')
        .map(({ result }) => result as Frame)
        .slice(0, 3),
      client
        .pushed('spot.trades')
        .map(({ result }) => result as Frame)
        .slice(0, 3),
    )
    await until('candles', () => client.pushed('spot.candlesticks').length >= 2)
    assert.equal(last(client.pushed('spot.candlesticks'))['n'], `1m_${PAIR}`)
    const named = new Set(client.pushed('spot.tickers').map(({ result }) => result.currency_pair as string))
    assert.deepEqual([...named].sort(), [PAIR, 'ETH_USDT'])

    client.socket.unsubscribe(requests(PUBLIC), SPOT)
    await answered(client, PUBLIC, 'unsubscribe')
    const before = client.updates.length
    await sleep(1_200)
    assert.equal(client.updates.length, before, 'nothing comes after the answer')
    assert.deepEqual(client.exceptions, [])
    client.socket.subscribe(requests(PUBLIC), SPOT)
    await until('a full book again', () =>
      client.updates.slice(before).some(({ result }) => result.full === true),
    )
    assert.deepEqual(client.exceptions, [])
  })
  test('refused subscriptions come as responses, and nothing as an exception', async () => {
    const client = new Gateio(venue, (await trader()).credential)
    client.socket.subscribe(
      [
        { topic: 'spot.tickers', payload: ['LUNAR_USDT'] },
        { topic: 'spot.candlesticks', payload: ['3m', PAIR] },
        { topic: 'spot.nothing', payload: [] },
        // It does not sign these.
        { topic: 'spot.orders_v2', payload: [PAIR] },
        { topic: 'spot.usertrades_v2', payload: [PAIR] },
        { topic: 'spot.cross_loan' },
      ],
      SPOT,
    )
    const codes = await until('six answers', () => client.responses.length === 6 && client.responses)
    assert.deepEqual(
      codes.map(({ channel, error }) => `${channel} ${error.code}`).sort(),
      ['candlesticks 2', 'cross_loan 4', 'nothing 2', 'orders_v2 4', 'tickers 2', 'usertrades_v2 4'].map(
        (text) => `spot.${text}`,
      ),
    )
    assert.deepEqual(client.exceptions, [])
  })
  test('private channels: orders, fills, balances, margin, price orders', async () => {
    const { user_id, credential, client: rest } = await trader()
    const client = new Gateio(venue, credential)
    client.socket.subscribe(requests(PRIVATE), SPOT)
    await answered(client, PRIVATE)
    const [bid, ask] = await venue.spread(PAIR)
    const order = { currency_pair: PAIR, side: 'buy', amount: '0.01', price: String(Math.round(ask * 1.05)) }
    const placed = ok(await rest.post('/spot/orders', { ...order, text: 't-g1' }), 201)
    await until('the end of the order', () => client.pushed('spot.orders').length >= 1)
    const [pushed] = last(client.pushed('spot.orders')) as unknown as Frame[]
    const row = ok(await rest.get(`/spot/orders/${placed.id}`, { currency_pair: PAIR }))
    assert.deepEqual(pushed, {
      ...row,
      create_time_ms: String(row.create_time_ms),
      update_time_ms: String(row.update_time_ms),
      user: user_id,
      event: 'finish',
    })
    const fills = client.pushed('spot.usertrades').flatMap(({ result }) => result as Frame[])
    const trades = ok(await rest.get('/spot/my_trades', { currency_pair: PAIR })) as Frame[]
    assert.deepEqual(
      fills.map(({ id, fee, fee_currency, role }) => [String(id), fee, fee_currency, role]),
      trades.reverse().map(({ id, fee, fee_currency, role }) => [id, fee, fee_currency, role]),
    )
    const money = async (currency: string): Promise<string> => {
      const [{ available, locked, update_id }] = ok(await rest.get('/spot/accounts', { currency }))
      return `${available} ${locked} ${update_id}`
    }
    const told = (currency: string): string => {
      const records = client.pushed('spot.balances').flatMap(({ result }) => result as Frame[])
      const { available, freeze, update_id } = records.findLast((one) => one['currency'] === currency) ?? {}
      return `${available} ${freeze} ${update_id}`
    }
    for (const currency of ['BTC', 'USDT']) assert.equal(told(currency), await money(currency))

    const move = { currency: 'USDT', amount: '5000', currency_pair: PAIR, from: 'spot', to: 'margin' }
    ok(await rest.post('/wallet/transfers', move))
    const [margin] = (await until('margin', () => client.pushed('spot.margin_balances')[0]))['result']
    assert.equal(`${margin.currency_pair} ${margin.currency} ${margin.change}`, `${PAIR} USDT 5000`)
    const [account] = ok(await rest.get('/margin/accounts', { currency_pair: PAIR }))
    assert.equal(`${margin.available} ${margin.freeze}`, `${account.quote.available} ${account.quote.locked}`)
    assert.equal(told('USDT'), await money('USDT'))

    const trigger = { price: String(Math.round(bid * 0.8)), rule: '<=', expiration: 600 }
    const put = {
      type: 'limit',
      side: 'sell',
      price: trigger.price,
      amount: '0.1',
      account: 'normal',
      time_in_force: 'gtc',
    }
    const { id } = ok(await rest.post('/spot/price_orders', { market: PAIR, trigger, put }), 201)
    const made = last(
      await until(
        'the price order',
        () => client.pushed('spot.priceorders').length === 1 && client.pushed('spot.priceorders'),
      ),
    )
    assert.deepEqual(
      [made['id'], made['status'], made['ftime'], made['fired_order_id']],
      [String(id), 'open', '0', 0],
    )
    ok(await rest.delete(`/spot/price_orders/${id}`))
    await until('its end', () => client.pushed('spot.priceorders').length === 2)
    const ended = last(client.pushed('spot.priceorders'))
    assert.deepEqual(ended['trigger'], ok(await rest.get(`/spot/price_orders/${id}`)).trigger)
    assert.equal(ended['status'], 'cancelled')

    assert.equal(client.pushed('spot.cross_balances').length, 0)
    ok(await rest.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await rest.post('/spot/orders', { ...order, price: trigger.price, account: 'unified' }), 201)
    const [cross] = last(
      await until(
        'cross balances',
        () => client.pushed('spot.cross_balances').length > 0 && client.pushed('spot.cross_balances'),
      ),
    ) as unknown as Frame[]
    assert.equal(`${cross!['available']} ${cross!['freeze']} ${cross!['update_id']}`, told('USDT'))
    assert.deepEqual(client.exceptions, [])
    client.socket.unsubscribe(requests(PRIVATE), SPOT)
    await answered(client, PRIVATE, 'unsubscribe')
    const before = client.updates.length
    ok(await rest.delete('/spot/orders', { currency_pair: PAIR, account: 'unified' }))
    await sleep(100)
    assert.equal(client.updates.length, before)
  })
})
