import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }

describe('spot orders', () => {
  let platform: TestPlatform
  let alice: Trader
  let bob: Trader
  const crowd: Trader[] = []
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  beforeEach(async () => {
    for (const { client } of crowd.splice(0)) ok(await client.delete('/spot/orders'))
    alice = await Trader.of(platform, { BTC: '10', USDT: '1000000' })
    bob = await Trader.of(platform, { BTC: '10', USDT: '1000000' })
    crowd.push(alice, bob)
  })

  test('a resting order holds its money and gives it back when cancelled', async () => {
    const order = await alice.placed('buy', '0.5', '50000', { text: 't-rest.1' })
    assert.equal(order.status, 'open')
    assert.equal(order.finish_as, 'open')
    assert.equal(order.left, '0.5')
    assert.equal(order.fee, '0')
    assert.equal(order.fee_currency, 'BTC')
    assert.equal(order.text, 't-rest.1')
    assert.equal(await alice.money('USDT'), '975000/25000')
    assert.deepEqual(await alice.order(order.id), order)
    assert.deepEqual(await alice.order('t-rest.1'), order)
    const cancelled = ok(await alice.client.delete(`/spot/orders/${order.id}`, PAIR))
    assert.equal(cancelled.status, 'cancelled')
    assert.equal(cancelled.finish_as, 'cancelled')
    assert.equal(await alice.money('USDT'), '1000000/0')
    refused(await alice.client.delete(`/spot/orders/${order.id}`, PAIR), 400, 'ORDER_CANCELLED')
    assert.equal((await alice.order('t-rest.1')).status, 'cancelled')
  })

  test('a trade happens at the maker price, fees in the received currency', async () => {
    const maker = await alice.placed('sell', '1', '50000')
    const taker = await bob.placed('buy', '0.4', '51000')
    assert.equal(taker.status, 'closed')
    assert.equal(taker.finish_as, 'filled')
    assert.equal(taker.filled_total, '20000')
    assert.equal(taker.fill_price, '20000')
    assert.equal(taker.avg_deal_price, '50000')
    assert.equal(taker.fee, '0.0008')
    assert.equal(taker.fee_currency, 'BTC')
    assert.equal(await bob.money('BTC'), '10.3992/0')
    assert.equal(await bob.money('USDT'), '980000/0')
    const half = await alice.order(maker.id)
    assert.equal(half.status, 'open')
    assert.equal(half.left, '0.6')
    assert.equal(half.fee, '40')
    assert.equal(half.fee_currency, 'USDT')
    assert.equal(await alice.money('USDT'), '1019960/0')
    assert.equal(await alice.money('BTC'), '9/0.6')
    const [trade] = ok(await bob.client.get('/spot/my_trades', PAIR))
    assert.equal(trade.role, 'taker')
    assert.equal(trade.order_id, taker.id)
    assert.equal(trade.price, '50000')
    assert.equal(trade.amount, '0.4')
    assert.equal(trade.fee, '0.0008')
    const [mine] = ok(await alice.client.get('/spot/my_trades', { ...PAIR, order_id: maker.id }))
    assert.equal(mine.role, 'maker')
    assert.equal(mine.id, trade.id)
    const [seen] = ok(await platform.client().get('/spot/trades', PAIR))
    assert.equal(seen.id, trade.id)
    assert.equal(seen.side, 'buy')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('price first, then time', async () => {
    const late = await alice.placed('sell', '1', '50010')
    const first = await alice.placed('sell', '1', '50000')
    const second = await bob.placed('sell', '1', '50000')
    const carol = await Trader.of(platform, { USDT: '1000000' })
    await carol.placed('buy', '1.5', '60000')
    assert.equal((await alice.order(first.id)).status, 'closed')
    assert.equal((await bob.order(second.id)).left, '0.5')
    assert.equal((await alice.order(late.id)).left, '1')
  })

  test('market orders: a buy is counted in quote, a sale in base', async () => {
    await alice.placed('sell', '0.1', '50000')
    await alice.placed('sell', '0.1', '51000')
    const buy = await bob.placed('buy', '7550', null)
    assert.equal(buy.status, 'closed')
    assert.equal(buy.finish_as, 'filled')
    assert.equal(buy.price, '0')
    assert.equal(buy.amount, '7550')
    assert.equal(buy.filled_amount, '0.15')
    assert.equal(buy.left, '0')
    assert.equal(await bob.money('USDT'), '992450/0')
    // The remainder buys not even one lot: filled, and the dust comes back.
    const dust = await bob.placed('buy', '10.03', null)
    assert.equal(dust.status, 'closed')
    assert.equal(dust.filled_amount, '0.000196')
    assert.equal(dust.left, '0.034')
    await alice.placed('buy', '0.02', '49000')
    const sale = await bob.placed('sell', '0.05', null)
    assert.equal(sale.status, 'cancelled')
    assert.equal(sale.finish_as, 'ioc')
    assert.equal(sale.left, '0.03')
    assert.equal(sale.filled_total, '980')
  })

  test('a market order without a book is refused, and so is a slippage beyond its bound', async () => {
    await platform.credit(bob.user_id, 'ETH', '1')
    refused(await bob.place('sell', '1', null, { currency_pair: 'ETH_USDT' }), 400, 'ORDER_BOOK_NOT_FOUND')
    await alice.placed('sell', '0.1', '50000')
    await alice.placed('sell', '0.1', '52000')
    const bounded = await bob.placed('buy', '10000', null, { slippage: '0.030' })
    assert.equal(bounded.slippage, '0.03')
    assert.equal(bounded.filled_amount, '0.1')
    assert.equal(bounded.status, 'cancelled')
    assert.equal(bounded.finish_as, 'price_protect_cancelled')
    assert.equal(await bob.money('USDT'), '995000/0')
    refused(await bob.place('buy', '10000', null, { slippage: '7' }), 400, 'INVALID_PARAM_VALUE', /slippage/)
  })

  test('ioc, poc and fok', async () => {
    await alice.placed('sell', '0.1', '50000')
    refused(await bob.place('buy', '1', '50000', { time_in_force: 'poc' }), 400, 'POC_FILL_IMMEDIATELY')
    refused(await bob.place('buy', '1', '50000', { time_in_force: 'fok' }), 400, 'FOK_NOT_FILL')
    assert.deepEqual(ok(await bob.client.get('/spot/orders', { status: 'finished' })), [])
    assert.equal(await bob.money('USDT'), '1000000/0')
    const ioc = await bob.placed('buy', '1', '50000', { time_in_force: 'ioc' })
    assert.equal(ioc.status, 'cancelled')
    assert.equal(ioc.finish_as, 'ioc')
    assert.equal(ioc.left, '0.9')
    assert.equal(await bob.money('USDT'), '995000/0')
    const poc = await bob.placed('buy', '1', '49999', { time_in_force: 'poc' })
    assert.equal(poc.status, 'open')
    await alice.placed('sell', '0.1', '50000')
    const fok = await bob.placed('buy', '0.1', '50000', { time_in_force: 'fok' })
    assert.equal(fok.finish_as, 'filled')
  })

  test('an iceberg shows its tip, refills behind the queue, and its hidden part counts for fok', async () => {
    const iceberg = await alice.placed('sell', '1', '50000', { iceberg: '0.2' })
    const plain = await bob.placed('sell', '0.3', '50000')
    const carol = await Trader.of(platform, { USDT: '1000000' })
    let book = ok(await platform.client().get('/spot/order_book', PAIR))
    assert.deepEqual(book.asks, [['50000', '0.5']])
    await carol.placed('buy', '0.3', '50000')
    assert.equal((await alice.order(iceberg.id)).left, '0.8')
    assert.equal((await bob.order(plain.id)).left, '0.2')
    // 0.2 of the plain order is ahead of the refilled tip now.
    await carol.placed('buy', '0.25', '50000')
    assert.equal((await bob.order(plain.id)).status, 'closed')
    assert.equal((await alice.order(iceberg.id)).left, '0.75')
    book = ok(await platform.client().get('/spot/order_book', PAIR))
    assert.deepEqual(book.asks, [['50000', '0.15']])
    const fok = await carol.placed('buy', '0.75', '50000', { time_in_force: 'fok' })
    assert.equal(fok.status, 'closed')
  })

  test('what is wrong with an order is said by label and name', async () => {
    const cases: [object, number, string, RegExp?][] = [
      [{ currency_pair: 'XYZ_USDT' }, 400, 'INVALID_CURRENCY', /XYZ/],
      [{ currency_pair: 'DOGE_BTC' }, 400, 'INVALID_CURRENCY_PAIR', /DOGE_BTC/],
      ...['BTCUSDT', 'BTC-USDT', 'BTC/USDT', 'BTC_', '_USDT', 'BTC_USDT_USDT'].map(
        (currency_pair): [object, number, string, RegExp] => [
          { currency_pair },
          400,
          'INVALID_CURRENCY_PAIR',
          /written BASE_QUOTE, such as BTC_USDT/,
        ],
      ),
      [{ price: '50000.01' }, 400, 'INVALID_PRECISION', /price/],
      [{ amount: '0.0000001' }, 400, 'INVALID_PRECISION', /amount/],
      // More decimals than any amount has.
      [{ price: '50000.0000000000000000001' }, 400, 'INVALID_PRECISION', /price.*18 decimals/],
      [{ amount: '0.0000000000000000001' }, 400, 'INVALID_PRECISION', /amount.*18 decimals/],
      [{ iceberg: '0.0000000000000000001' }, 400, 'INVALID_PRECISION', /iceberg/],
      [
        { stop_loss: { trigger_price: '1.0000000000000000001' } },
        400,
        'INVALID_PRECISION',
        /stop_loss.trigger_price/,
      ],
      [{ amount: `1${'0'.repeat(30)}` }, 400, 'INVALID_PARAM_VALUE', /20 digits before the point/],
      [{ price: null }, 400, 'MISSING_REQUIRED_PARAM', /price/],
      [{ amount: '0' }, 400, 'INVALID_PARAM_VALUE', /amount/],
      [{ amount: '0.00001' }, 400, 'AMOUNT_TOO_LITTLE', /Your order size 0.5 USDT/],
      [{ amount: '1000' }, 400, 'AMOUNT_TOO_MUCH'],
      [{ amount: '50', side: 'sell' }, 400, 'BALANCE_NOT_ENOUGH', /BTC/],
      [{ text: 'hello' }, 400, 'INVALID_PARAM_VALUE', /text/],
      [{ text: 't-' + 'x'.repeat(29) }, 400, 'INVALID_PARAM_VALUE', /text/],
      [{ stp_act: 'cn' }, 400, 'INVALID_PARAM_VALUE', /stp_act/],
      [{ account: 'unified' }, 400, 'ACCOUNT_EXCEPTION', /unified/],
      [{ account: 'margin' }, 400, 'MARGIN_BALANCE_NOT_ENOUGH'],
      [{ type: 'market', time_in_force: 'gtc' }, 400, 'INVALID_PARAM_VALUE', /time_in_force/],
      [{ iceberg: '2' }, 400, 'INVALID_PARAM_VALUE', /iceberg/],
      [{ auto_borrow: true }, 400, 'INVALID_PARAM_VALUE', /auto_borrow/],
      [{ side: 'hold' }, 400, 'INVALID_PARAM_VALUE', /side/],
    ]
    for (const [more, status, label, mention] of cases)
      refused(await alice.place('buy', '1', '50000', more), status, label, mention)
    assert.equal(await alice.money('USDT'), '1000000/0')
    refused(await alice.client.get('/spot/orders/999999999', PAIR), 404, 'ORDER_NOT_FOUND')
    refused(await alice.client.get('/spot/orders/t-nobody', PAIR), 404, 'CLIENT_ID_NOT_FOUND')
    const order = await alice.placed('buy', '1', '50000', { text: 't-once' })
    refused(
      await alice.place('buy', '1', '50000', { text: 't-once' }),
      400,
      'DUPLICATE_REQUEST',
      new RegExp(order.id),
    )
    refused(await bob.client.get(`/spot/orders/${order.id}`, PAIR), 404, 'ORDER_NOT_FOUND')
    refused(await bob.client.delete(`/spot/orders/${order.id}`, PAIR), 404, 'ORDER_NOT_FOUND')
    refused(
      await alice.client.get(`/spot/orders/${order.id}`, { currency_pair: 'ETH_USDT' }),
      404,
      'ORDER_NOT_FOUND',
    )
  })

  test('a stale order call is refused', async () => {
    const body = { ...PAIR, side: 'buy', amount: '1', price: '50000' }
    const past = String(Math.floor(platform.now() * 1000) - 1000)
    const late = { headers: { 'x-gate-exptime': past }, body }
    refused(await alice.client.request('POST', '/spot/orders', late), 401, 'REQUEST_EXPIRED')
    const long = { headers: { 'x-gate-exptime': '1000' }, body }
    refused(await alice.client.request('POST', '/spot/orders', long), 401, 'REQUEST_EXPIRED')
    const soon = { headers: { 'x-gate-exptime': String(Number(past) + 60_000) }, body }
    ok(await alice.client.request('POST', '/spot/orders', soon), 201)
  })

  test('a call that came too late does nothing, whatever it places, amends or cancels', async () => {
    const { client } = alice
    const order = await alice.placed('sell', '1', '60000', { text: 't-late' })
    const put = { type: 'limit', side: 'sell', price: '70000', amount: '1' }
    const waiting = { market: 'BTC_USDT', trigger: { price: '70000', rule: '>=' }, put }
    const { id } = ok(await client.post('/spot/price_orders', waiting), 201)
    const share = { ...PAIR, side: 'sell', amount: '1', participation_rate: 0.1, ttl: '600' }
    const pov = ok(await client.post('/spot/pov_orders', share), 201)
    const body = { ...PAIR, side: 'sell', amount: '1', price: '60000', text: 't-later' }
    const headers = { 'x-gate-exptime': String(Math.floor(platform.now() * 1000) - 100_000) }
    const name = { id: order.id, ...PAIR }
    const one = `/spot/orders/${order.id}`
    for (const [method, path, sent, query] of [
      ['POST', '/spot/orders', body, {}],
      ['POST', '/spot/batch_orders', [body], {}],
      ['PATCH', one, { price: '61000' }, PAIR],
      ['POST', '/spot/amend_batch_orders', [{ order_id: order.id, ...PAIR, price: '61000' }], {}],
      ['DELETE', one, undefined, PAIR],
      ['DELETE', '/spot/orders', undefined, {}],
      ['POST', '/spot/cancel_batch_orders', [name], {}],
      ['POST', '/spot/cross_liquidate_orders', { ...PAIR, amount: '1', price: '60000' }, {}],
      ['POST', '/spot/countdown_cancel_all', { timeout: 5 }, {}],
      ['POST', '/spot/price_orders', waiting, {}],
      ['DELETE', `/spot/price_orders/${id}`, undefined, {}],
      ['DELETE', '/spot/price_orders', undefined, {}],
      ['POST', '/spot/pov_orders', share, {}],
      ['DELETE', `/spot/pov_orders/${pov.id}`, undefined, {}],
      ['DELETE', '/spot/pov_orders', undefined, {}],
    ] as const) {
      const reply = await client.request(method, path, { body: sent, query, headers })
      refused(reply, 401, 'REQUEST_EXPIRED', /exptime/)
    }
    assert.deepEqual(await alice.order(order.id), order)
    const open = { status: 'open' }
    assert.deepEqual(
      [
        ok(await client.get('/spot/open_orders'))[0].total,
        ok(await client.get('/spot/price_orders', open)).length,
        ok(await client.get('/spot/pov_orders', open)).length,
      ],
      [1, 1, 1],
    )
    ok(await client.delete('/spot/price_orders'))
    ok(await client.delete('/spot/pov_orders'))
  })

  test('an amount that is just what was filled closes the order, however little that is', async () => {
    const resting = await alice.placed('buy', '0.001', '50000')
    const before = await bob.placed('buy', '0.0001', '50001')
    await (await Trader.of(platform, { BTC: '10' })).placed('sell', '0.00011', '50000')
    assert.equal((await bob.order(before.id as string)).status, 'closed')
    const path = `/spot/orders/${resting.id}`
    refused(await alice.client.patch(path, { ...PAIR, amount: '0.00002' }), 400, 'AMOUNT_TOO_LITTLE')
    const closed = ok(await alice.client.patch(path, { ...PAIR, amount: '0.00001' }))
    assert.equal(`${closed.status} ${closed.finish_as} ${closed.left}`, 'closed filled 0')
    assert.equal(await alice.money('USDT'), '999999.5/0')
  })

  test('amend: less keeps its place, more or another price goes to the end', async () => {
    const first = await alice.placed('sell', '1', '50000')
    const second = await bob.placed('sell', '1', '50000')
    const path = `/spot/orders/${first.id}`
    refused(await alice.client.patch(path, { ...PAIR, amount: '1' }), 400, 'NO_CHANGE')
    refused(await alice.client.patch(path, { ...PAIR }), 400, 'MISSING_REQUIRED_PARAM')
    const less = ok(await alice.client.patch(path, { ...PAIR, amount: '0.5', amend_text: 'less' }))
    assert.equal(less.left, '0.5')
    assert.equal(less.amend_text, 'less')
    assert.equal(await alice.money('BTC'), '9.5/0.5')
    const carol = await Trader.of(platform, { USDT: '1000000' })
    await carol.placed('buy', '0.1', '50000')
    assert.equal((await alice.order(first.id)).left, '0.4')
    // Parameters in query and body, as a client sends them: the body wins.
    const more = ok(await alice.client.patch(path, { ...PAIR, amount: '2' }, { ...PAIR, amount: '3' }))
    assert.equal(more.amount, '2')
    assert.equal(more.left, '1.9')
    await carol.placed('buy', '0.1', '50000')
    assert.equal((await bob.order(second.id)).left, '0.9')
    assert.equal((await alice.order(first.id)).left, '1.9')
    const below = ok(await alice.client.patch(path, { ...PAIR, amount: '0.05' }))
    assert.equal(below.status, 'cancelled')
    assert.equal(await alice.money('BTC'), '9.9/0')
  })

  test('amend to a crossing price matches at once; post-only refuses and stays as it was', async () => {
    await alice.placed('sell', '0.1', '50000')
    const buy = await bob.placed('buy', '0.3', '49000')
    const crossed = ok(await bob.client.patch(`/spot/orders/${buy.id}`, { ...PAIR, price: '50500' }))
    assert.equal(crossed.status, 'open')
    assert.equal(crossed.left, '0.2')
    assert.equal(crossed.filled_total, '5000')
    assert.equal(await bob.money('USDT'), '984900/10100')
    await alice.placed('sell', '0.1', '50600')
    const poc = await bob.placed('buy', '0.1', '50000', { time_in_force: 'poc' })
    const path = `/spot/orders/${poc.id}`
    refused(await bob.client.patch(path, { ...PAIR, price: '50600' }), 400, 'POC_FILL_IMMEDIATELY')
    assert.equal((await bob.order(poc.id)).price, '50000')
    refused(await bob.client.patch(path, { ...PAIR, amount: '90' }), 400, 'BALANCE_NOT_ENOUGH')
    assert.equal((await bob.order(poc.id)).amount, '0.1')
  })

  test('action modes', async () => {
    const ack = await alice.placed('buy', '1', '50000', { action_mode: 'ACK', text: 't-ack' })
    assert.deepEqual(Object.keys(ack).sort(), ['amend_text', 'id', 'text'])
    const result = ok(await alice.client.delete(`/spot/orders/${ack.id}`, { ...PAIR, action_mode: 'RESULT' }))
    assert.equal(result.status, 'cancelled')
    assert.equal('fee' in result, false)
  })

  test('lists: open by market, all open, finished by time', async () => {
    const one = await alice.placed('buy', '1', '50000')
    const two = await alice.placed('sell', '1', '60000')
    const other = await alice.placed('buy', '1', '3000', { currency_pair: 'ETH_USDT' })
    const open = ok(await alice.client.get('/spot/orders', { ...PAIR, status: 'open' }))
    assert.deepEqual(
      open.map((order: { id: string }) => order.id),
      [two.id, one.id],
    )
    refused(await alice.client.get('/spot/orders', { status: 'open' }), 400, 'MISSING_REQUIRED_PARAM')
    refused(
      await alice.client.get('/spot/orders', { ...PAIR, status: 'open', limit: 101 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    const all = ok(await alice.client.get('/spot/open_orders', { limit: 1 }))
    assert.deepEqual(
      all.map((group: { currency_pair: string; total: number }) => [group.currency_pair, group.total]),
      [
        ['BTC_USDT', 1],
        ['ETH_USDT', 1],
      ],
    )
    const cancelled = ok(await alice.client.delete('/spot/orders', { side: 'buy' }))
    assert.deepEqual(cancelled.map((order: { id: string }) => order.id).sort(), [one.id, other.id].sort())
    assert.ok(cancelled.every((order: { succeeded: boolean }) => order.succeeded))
    const finished = ok(await alice.client.get('/spot/orders', { ...PAIR, status: 'finished' }))
    assert.deepEqual(
      finished.map((order: { id: string }) => order.id),
      [one.id],
    )
    assert.deepEqual(
      ok(await alice.client.get('/spot/orders', { ...PAIR, status: 'finished', to: '1000000' })),
      [],
    )
    // Nothing bounds the other side of a bound, and what is sent for "ever" is far away.
    for (const window of [{ to: '9999999999' }, { from: '0', to: '4294967295' }, { from: '1' }])
      assert.deepEqual(
        ok(await alice.client.get('/spot/orders', { ...PAIR, status: 'finished', ...window })),
        finished,
      )
    const backwards = { ...PAIR, status: 'finished', from: '5', to: '4' }
    refused(await alice.client.get('/spot/orders', backwards), 400, 'INVALID_PARAM_VALUE', /from: 5.*to, 4/)
  })

  test('the account book tells every step with its word and code', async () => {
    const maker = await alice.placed('sell', '0.1', '50000')
    await bob.placed('buy', '0.05', '50000')
    // An end in the future: the last days before now.
    const ever = { to: '9999999999' }
    assert.equal(ok(await bob.client.get('/spot/my_trades', ever)).length, 1)
    assert.ok(ok(await bob.client.get('/spot/account_book', ever)).length > 2)
    ok(await alice.client.delete(`/spot/orders/${maker.id}`, PAIR))
    const book = ok(
      await alice.client.get('/spot/account_book', { from: Math.floor(platform.now() * 1000) - 60_000 }),
    )
    assert.deepEqual(
      book
        .map((row: Record<string, string>) => [row['type'], row['code'], row['currency'], row['change']])
        .slice(0, 4),
      [
        ['cancel_order', '103', 'BTC', '0.05'],
        ['order_fee', '151', 'USDT', '-5'],
        ['order_fill', '102', 'USDT', '2500'],
        ['new_order', '101', 'BTC', '-0.1'],
      ],
    )
    // As records tell their times: all of a millisecond.
    const [newest] = ok(await alice.client.get('/spot/account_book', { limit: 1 }))
    const upTo = ok(await alice.client.get('/spot/account_book', { from: newest.time, to: newest.time }))
    assert.equal(upTo[0]?.id, newest.id)
    const fees = ok(await alice.client.get('/spot/account_book', { code: '151', type: 'new_order' }))
    assert.deepEqual(
      fees.map((row: { type: string }) => row.type),
      ['order_fee'],
    )
    assert.match(String(book[0].time), /^\d{13}$/)
  })
})
