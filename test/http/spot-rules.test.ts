import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }
const FUNDS = { BTC: '10', USDT: '1000000' }

describe('spot rules', () => {
  let platform: TestPlatform
  let alice: Trader
  let bob: Trader
  const crowd: Trader[] = []
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
  })
  after(() => platform.stop())
  beforeEach(async () => {
    for (const { client } of crowd.splice(0)) ok(await client.delete('/spot/orders'))
    alice = await Trader.of(platform, FUNDS)
    bob = await Trader.of(platform, FUNDS)
    crowd.push(alice, bob)
  })

  /** A main account and its sub-account in one STP group. */
  async function group(): Promise<{ main: Trader; sub: Trader; stp_id: number }> {
    const main = await Trader.of(platform, FUNDS)
    const sub = await Trader.of(platform, FUNDS, { parent: main.user_id })
    const { id } = ok(await main.client.post('/account/stp_groups', { name: 'g' }))
    ok(await main.client.post(`/account/stp_groups/${id}/users`, [main.user_id, sub.user_id]))
    return { main, sub, stp_id: id }
  }

  test('stp cn: the taker keeps what it filled before it met its own group, the maker stays', async () => {
    const { main, sub, stp_id } = await group()
    await alice.placed('sell', '0.1', '50000')
    const own = await main.placed('sell', '0.1', '50001')
    await alice.placed('sell', '0.1', '50002')
    const taker = await sub.placed('buy', '0.3', '50010')
    assert.equal(taker.status, 'cancelled')
    assert.equal(taker.finish_as, 'stp')
    assert.equal(taker.filled_amount, '0.1')
    assert.equal(taker.left, '0.2')
    assert.equal(taker.stp_id, stp_id)
    assert.equal(taker.stp_act, '-')
    assert.equal(await sub.money('USDT'), '995000/0')
    const stays = await main.order(own.id)
    assert.equal(stays.status, 'open')
    assert.equal(stays.stp_id, stp_id)
    ok(await main.client.delete('/spot/orders'))
  })

  test('stp co: own makers go, the taker goes on', async () => {
    const { main, sub } = await group()
    const own = await main.placed('sell', '0.1', '50000')
    await alice.placed('sell', '0.1', '50001')
    const own2 = await main.placed('sell', '0.1', '50002')
    const taker = await sub.placed('buy', '0.3', '50010', { stp_act: 'co' })
    assert.equal(taker.status, 'open')
    assert.equal(taker.filled_amount, '0.1')
    assert.equal(taker.stp_act, 'co')
    for (const { id } of [own, own2]) {
      const gone = await main.order(id)
      assert.equal(`${gone.status} ${gone.finish_as}`, 'cancelled stp')
    }
    assert.equal(await main.money('BTC'), '10/0')
    ok(await sub.client.delete('/spot/orders'))
  })

  test('stp cb: both go', async () => {
    const { main, sub } = await group()
    const own = await main.placed('sell', '0.1', '50000')
    const taker = await sub.placed('buy', '0.3', '50010', { stp_act: 'cb' })
    assert.equal(`${taker.status} ${taker.finish_as} ${taker.filled_amount}`, 'cancelled stp 0')
    assert.equal((await main.order(own.id)).finish_as, 'stp')
    assert.equal(await sub.money('USDT'), '1000000/0')
  })

  test('fok sees its own group as the sweep would', async () => {
    const { main, sub } = await group()
    await main.placed('sell', '0.1', '50000')
    await alice.placed('sell', '0.2', '50001')
    refused(await sub.place('buy', '0.2', '50010', { time_in_force: 'fok' }), 400, 'FOK_NOT_FILL')
    refused(
      await sub.place('buy', '0.3', '50010', { time_in_force: 'fok', stp_act: 'co' }),
      400,
      'FOK_NOT_FILL',
    )
    const taker = await sub.placed('buy', '0.2', '50010', { time_in_force: 'fok', stp_act: 'co' })
    assert.equal(taker.finish_as, 'filled')
  })

  test('accounts of different groups trade', async () => {
    const { main } = await group()
    await main.placed('sell', '0.1', '50000')
    assert.equal((await alice.placed('buy', '0.1', '50000')).finish_as, 'filled')
  })

  test('a batch places, cancels and amends item by item', async () => {
    const reply = ok(
      await alice.client.post('/spot/batch_orders', [
        { ...PAIR, side: 'buy', amount: '1', price: '50000', text: 't-1', textIsRequired: true },
        { ...PAIR, side: 'buy', amount: '1', price: '50000' },
        { ...PAIR, side: 'sell', amount: '99', price: '50001', text: 't-2' },
        { ...PAIR, side: 'sell', amount: '1', price: '50001', text: 't-3' },
        { ...PAIR, side: 'sell', amount: '1', price: '50001', text: 't-3' },
        { currency_pair: 'NO_PAIR', side: 'sell', amount: '1', price: '50001', text: 't-4' },
        { ...PAIR, side: 'sell', amount: '1.0000000000000000001', price: '50001', text: 't-5' },
      ]),
    )
    assert.deepEqual(
      reply.map((item: { text: string; succeeded: boolean; label: string }) => [
        item.text,
        item.succeeded,
        item.label,
      ]),
      [
        ['t-1', true, ''],
        ['', false, 'MISSING_REQUIRED_PARAM'],
        ['t-2', false, 'BALANCE_NOT_ENOUGH'],
        ['t-3', true, ''],
        ['t-3', false, 'DUPLICATE_REQUEST'],
        ['t-4', false, 'INVALID_CURRENCY'],
        ['t-5', false, 'INVALID_PRECISION'],
      ],
    )
    assert.equal(reply[0].order_id, reply[0].id)
    assert.equal(await alice.money('BTC'), '9/1')
    const amended = ok(
      await alice.client.post('/spot/amend_batch_orders', [
        { ...PAIR, order_id: reply[0].id, amount: '0.5' },
        { ...PAIR, order_id: 't-3', price: '50002' },
        { ...PAIR, order_id: '777777777', price: '50002' },
        { ...PAIR, order_id: 't-1', amount: '0.5' },
        { ...PAIR, order_id: 't-1', amount: '0.5000000000000000001' },
      ]),
    )
    assert.deepEqual(
      amended.map((item: { succeeded: boolean; label: string }) => item.label),
      ['', '', 'ORDER_NOT_FOUND', 'NO_CHANGE', 'INVALID_PRECISION'],
    )
    assert.equal(amended[1].price, '50002')
    const cancelled = ok(
      await alice.client.post('/spot/cancel_batch_orders', [
        { ...PAIR, id: reply[0].id },
        { ...PAIR, id: 't-3' },
        { ...PAIR, id: 't-9' },
        { ...PAIR, id: '777777777' },
        { ...PAIR, id: reply[0].id },
      ]),
    )
    assert.deepEqual(
      cancelled.map((item: { succeeded: boolean; label: string }) => [item.succeeded, item.label]),
      [
        [true, ''],
        [true, ''],
        [false, 'CLIENT_ID_NOT_FOUND'],
        [false, 'ORDER_NOT_FOUND'],
        [false, 'ORDER_CANCELLED'],
      ],
    )
    assert.equal(await alice.money('BTC'), '10/0')
  })

  test('decimals of a market order are those of what it pays with', async () => {
    await alice.placed('sell', '1', '50000')
    await alice.placed('buy', '1', '49000')
    const market = ok(await bob.client.get('/spot/currency_pairs/BTC_USDT'))
    const [base, quote] = [market.amount_precision as number, market.precision as number]
    assert.notEqual(base, quote)
    const decimals = (whole: string, count: number): string => `${whole}.${'1'.repeat(count)}`
    ok(await bob.place('sell', decimals('0', base), null), 201)
    refused(await bob.place('sell', decimals('0', base + 1), null), 400, 'INVALID_PRECISION', /of amounts of/)
    const fine = await bob.place('buy', decimals('100', 17), null)
    refused(fine, 400, 'INVALID_PRECISION', /market buy/)
    const most = Number(/more decimals than the (\d+) of USDT/.exec(fine.body.message as string)![1])
    assert.notEqual(most, base)
    ok(await bob.place('buy', decimals('100', most), null), 201)
    refused(await bob.place('buy', decimals('100', most + 1), null), 400, 'INVALID_PRECISION')
  })
  test('a batch has bounds', async () => {
    const order = (pair: string, more = {}) => ({
      currency_pair: pair,
      side: 'buy',
      amount: '1',
      price: '1',
      text: 't-x',
      ...more,
    })
    const pairs = ['BTC_USDT', 'ETH_USDT', 'SOL_USDT', 'XRP_USDT', 'DOGE_USDT']
    refused(
      await alice.client.post(
        '/spot/batch_orders',
        pairs.map((pair) => order(pair)),
      ),
      400,
      'TOO_MANY_CURRENCY_PAIRS',
    )
    refused(
      await alice.client.post(
        '/spot/batch_orders',
        Array.from({ length: 11 }, () => order('BTC_USDT')),
      ),
      400,
      'TOO_MANY_ORDERS',
    )
    const mixed = (...accounts: (string | undefined)[]) =>
      alice.client.post(
        '/spot/batch_orders',
        accounts.map((account, i) => order('BTC_USDT', { account, text: `t-x${i}`, price: '10000' })),
      )
    refused(await mixed(undefined, 'margin'), 400, 'MIXED_ACCOUNT_TYPE')
    refused(await mixed(undefined, 'unified'), 400, 'MIXED_ACCOUNT_TYPE')
    // In a unified mode spot and unified mean the same.
    ok(await alice.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    refused(await mixed('unified', 'margin'), 400, 'MIXED_ACCOUNT_TYPE')
    const same = ok(await mixed(undefined, 'spot', 'unified', 'cross_margin'))
    assert.deepEqual(
      same.map(({ succeeded, account }: { succeeded: boolean; account: string }) => [succeeded, account]),
      Array(4).fill([true, 'unified']),
    )
  })

  test('a trigger fires when the last price reaches it, and the order it placed is told', async () => {
    await alice.placed('sell', '0.1', '50000')
    await bob.placed('buy', '0.1', '50000')
    const put = { side: 'buy', price: '51000', amount: '0.1', account: 'normal', time_in_force: 'gtc' }
    const price_order = { market: 'BTC_USDT', put, trigger: { price: '50500', rule: '>=', expiration: 3600 } }
    refused(
      await bob.client.post('/spot/price_orders', {
        ...price_order,
        trigger: { price: '50000', rule: '>=' },
      }),
      400,
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
      /must be above the last price 50000/,
    )
    refused(
      await bob.client.post('/spot/price_orders', {
        ...price_order,
        trigger: { price: '50000', rule: '<=' },
      }),
      400,
      'AUTO_TRIGGER_PRICE_LESS_LAST',
      /must be below the last price 50000/,
    )
    refused(
      await bob.client.post('/spot/price_orders', { ...price_order, put: { ...put, price: undefined } }),
      400,
      'MISSING_REQUIRED_PARAM',
      /put\.price/,
    )
    // Each is told under the name that it was sent under.
    for (const [market, label] of [
      ['NO_USDT', 'INVALID_CURRENCY'],
      ['ETH_DOGE', 'INVALID_CURRENCY_PAIR'],
    ] as const)
      for (const reply of [
        await bob.client.post('/spot/price_orders', { ...price_order, market }),
        await bob.client.get('/spot/price_orders', { status: 'open', market }),
        await bob.client.delete('/spot/price_orders', { market }),
      ])
        refused(reply, 400, label, /^market: /)
    refused(
      await bob.client.delete('/spot/orders', { trade_quote: 'NO' }),
      400,
      'INVALID_CURRENCY',
      /^trade_quote: /,
    )
    const fine = '50500.0000000000000000001'
    for (const more of [
      { put: { ...put, price: fine } },
      { put: { ...put, amount: fine } },
      { trigger: { ...price_order.trigger, price: fine } },
    ])
      refused(
        await bob.client.post('/spot/price_orders', { ...price_order, ...more }),
        400,
        'INVALID_PRECISION',
      )
    const written = { ...put, price: '051000.00', amount: '0.10' }
    const { id, id_string } = ok(
      await bob.client.post('/spot/price_orders', { ...price_order, put: written }),
      201,
    )
    const shown = ok(await bob.client.get(`/spot/price_orders/${id}`)).put
    assert.deepEqual([shown.price, shown.amount], ['51000', '0.1'])
    assert.equal(String(id), id_string)
    const poor = ok(
      await bob.client.post('/spot/price_orders', {
        ...price_order,
        put: { ...put, side: 'sell', amount: '500', price: '50400' },
      }),
      201,
    )
    assert.equal(ok(await bob.client.get('/spot/price_orders', { status: 'open' })).length, 2)
    await alice.placed('sell', '0.1', '50500')
    const carol = await Trader.of(platform, FUNDS)
    await carol.placed('buy', '0.1', '50500')
    const fired = ok(await bob.client.get(`/spot/price_orders/${id}`))
    assert.equal(fired.status, 'finish')
    const order = await bob.order(String(fired.fired_order_id))
    assert.equal(`${order.price} ${order.status}`, '51000 open')
    const failed = ok(await bob.client.get(`/spot/price_orders/${poor.id}`))
    assert.equal(failed.status, 'failed')
    assert.match(failed.reason, /AMOUNT_TOO_MUCH|BALANCE_NOT_ENOUGH/)
    assert.equal(ok(await bob.client.get('/spot/price_orders', { status: 'finished' })).length, 2)
    refused(await bob.client.delete(`/spot/price_orders/${id}`), 400, 'ORDER_CLOSED')
    refused(await alice.client.get(`/spot/price_orders/${id}`), 404, 'ORDER_NOT_FOUND')
  })

  test('price orders expire and are cancelled', async () => {
    const put = { side: 'buy', price: '100', amount: '1', account: 'normal', time_in_force: 'gtc' }
    const make = async (expiration: number): Promise<number> =>
      ok(
        await alice.client.post('/spot/price_orders', {
          market: 'SOL_USDT',
          put,
          trigger: { price: '90', rule: '<=', expiration },
        }),
        201,
      ).id
    const short = await make(10)
    const long = await make(86_400)
    const third = await make(86_400)
    await platform.operator.ok('POST', '/clock', { advance_seconds: '11' })
    assert.equal(ok(await alice.client.get(`/spot/price_orders/${short}`)).status, 'expired')
    assert.equal(ok(await alice.client.delete(`/spot/price_orders/${long}`)).status, 'cancelled')
    const rest = ok(await alice.client.delete('/spot/price_orders', { market: 'SOL_USDT' }))
    assert.deepEqual(
      rest.map((order: { id: number }) => order.id),
      [third],
    )
  })

  test('attached stops wait when the order is filled; one fires, the other goes', async () => {
    await alice.placed('sell', '1', '50000')
    const entry = await bob.placed('buy', '1', '50000', {
      // However they were written: replies have one spelling.
      stop_profit: { trigger_price: '055000.0', order_price: '54900.00' },
      stop_loss: { trigger_price: '45000', order_price: '0' },
    })
    assert.deepEqual(entry.stop_profit, { trigger_price: '55000', order_price: '54900' })
    const waiting = ok(await bob.client.get('/spot/price_orders', { status: 'open' }))
    assert.deepEqual(
      waiting.map(
        (order: { put: { side: string; amount: string; type: string }; trigger: { rule: string } }) => [
          order.put.side,
          order.put.type,
          order.put.amount,
          order.trigger.rule,
        ],
      ),
      [
        ['sell', 'market', '0.998', '<='],
        ['sell', 'limit', '0.998', '>='],
      ],
    )
    const carol = await Trader.of(platform, FUNDS)
    await alice.placed('sell', '0.1', '55000')
    await carol.placed('buy', '0.1', '55000')
    const ended = ok(await bob.client.get('/spot/price_orders', { status: 'finished' }))
    assert.deepEqual(
      ended.map((order: { status: string }) => order.status),
      ['cancelled', 'finish'],
    )
    assert.equal(ok(await bob.client.get('/spot/orders', { ...PAIR, status: 'open' }))[0].price, '54900')
  })

  test('a stop that the last price has reached already fires when its order is cancelled, by whatever', async () => {
    const market = (body: object) => ({ ...PAIR, ...body })
    const ways: readonly ((owner: Trader, id: string) => Promise<unknown>)[] = [
      async ({ client }, id) => ok(await client.delete(`/spot/orders/${id}`, PAIR)),
      async ({ client }) => ok(await client.delete('/spot/orders', PAIR)),
      async ({ client }, id) => ok(await client.post('/spot/cancel_batch_orders', [market({ id })])),
      async (_, id) => platform.operator.ok('DELETE', `/orders/${id}`),
      async ({ client }) => {
        ok(await client.post('/spot/countdown_cancel_all', { timeout: 5 }))
        await platform.operator.ok('POST', '/clock', { advance_seconds: 6 })
      },
    ]
    for (const cancel of ways) {
      const owner = await Trader.of(platform, FUNDS)
      crowd.push(owner)
      await bob.placed('sell', '1', '50000')
      const entry = await owner.placed('buy', '1', '49000', {
        stop_profit: { trigger_price: '50000', order_price: '50500' },
        stop_loss: { trigger_price: '45000' },
      })
      await bob.placed('sell', '0.5', '49000')
      await alice.placed('buy', '0.3', '50000')
      assert.deepEqual(ok(await owner.client.get('/spot/price_orders', { status: 'open' })), [])
      await cancel(owner, entry.id as string)
      assert.equal((await owner.order(entry.id as string)).finish_as, 'cancelled')
      const ended = ok(await owner.client.get('/spot/price_orders', { status: 'finished' }))
      assert.deepEqual(
        ended.map(({ status }: { status: string }) => status),
        ['cancelled', 'finish'],
      )
      const [out] = ok(await owner.client.get('/spot/orders', { ...PAIR, status: 'open' }))
      assert.equal(`${out.side} ${out.amount} ${out.price}`, 'sell 0.499 50500')
      for (const { client } of [alice, bob, owner]) ok(await client.delete('/spot/orders'))
    }
  })

  test('a stop that can not be placed leaves the other one waiting', async () => {
    await alice.placed('sell', '1', '50000')
    // Far below any price that protection lets pass.
    const stop_profit = { trigger_price: '55000', order_price: '1000' }
    await bob.placed('buy', '1', '50000', { stop_profit, stop_loss: { trigger_price: '45000' } })
    await alice.placed('sell', '0.1', '55000')
    await (await Trader.of(platform, FUNDS)).placed('buy', '0.1', '55000')
    const [failed] = ok(await bob.client.get('/spot/price_orders', { status: 'finished' }))
    assert.equal(failed.status, 'failed')
    assert.match(failed.reason as string, /^PRICE_THRESHOLD_EXCEEDED/)
    const waiting = ok(await bob.client.get('/spot/price_orders', { status: 'open' }))
    assert.deepEqual(
      waiting.map(({ trigger }: { trigger: { price: string } }) => trigger.price),
      ['45000'],
    )
    ok(await bob.client.delete('/spot/price_orders'))
  })

  test('countdown_cancel_all', async () => {
    await alice.placed('buy', '1', '50000')
    refused(
      await alice.client.post('/spot/countdown_cancel_all', { timeout: 3 }),
      400,
      'INVALID_PARAM_VALUE',
      /timeout/,
    )
    const long = ok(await alice.client.post('/spot/countdown_cancel_all', { timeout: 604_800 }))
    assert.ok(long.triggerTime > platform.now() * 1000 + 604_000_000)
    const { triggerTime } = ok(await alice.client.post('/spot/countdown_cancel_all', { timeout: 10 }))
    assert.ok(Math.abs(triggerTime - platform.now() * 1000 - 10_000) < 2000)
    ok(await alice.client.post('/spot/countdown_cancel_all', { timeout: 30 }))
    await platform.operator.ok('POST', '/clock', { advance_seconds: '15' })
    assert.equal(await alice.money('USDT'), '950000/50000')
    await platform.operator.ok('POST', '/clock', { advance_seconds: '20' })
    assert.equal(await alice.money('USDT'), '1000000/0')
    await alice.placed('buy', '1', '50000')
    ok(await alice.client.post('/spot/countdown_cancel_all', { timeout: 10, ...PAIR }))
    assert.deepEqual(ok(await alice.client.post('/spot/countdown_cancel_all', { timeout: 0, ...PAIR })), {
      triggerTime: 0,
    })
    await platform.operator.ok('POST', '/clock', { advance_seconds: '20' })
    assert.equal(await alice.money('USDT'), '950000/50000')
  })

  test('fees: tiers, the token, points', async () => {
    const gold = await Trader.of(platform, { ...FUNDS, GT: '100', POINT: '1000' }, { vip: 16 })
    assert.equal(ok(await gold.client.get('/wallet/fee')).taker_fee, '0.00025')
    assert.equal(ok(await gold.client.get('/spot/fee', PAIR)).maker_fee, '0')
    const batch = ok(await gold.client.get('/spot/batch_fee', { currency_pairs: 'BTC_USDT,ETH_USDT' }))
    assert.deepEqual(Object.keys(batch), ['BTC_USDT', 'ETH_USDT'])
    await alice.placed('sell', '3', '50000')
    assert.equal((await gold.placed('buy', '1', '50000')).fee, '0.00025')
    // The token pays at its index price of 8; what somebody sells it for here does not matter.
    ok(await gold.client.post('/account/debit_fee', { enabled: true }))
    assert.deepEqual(ok(await gold.client.get('/account/debit_fee')), { enabled: true })
    assert.equal(ok(await gold.client.get('/wallet/fee')).gt_taker_fee, '0.000225')
    assert.equal((await gold.placed('buy', '0.1', '50000')).gt_fee, '0.140625')
    await alice.placed('buy', '1', '80', { currency_pair: 'GT_USDT' })
    await gold.placed('sell', '1', '80', { currency_pair: 'GT_USDT' })
    const paid = await gold.placed('buy', '1', '50000')
    assert.equal(paid.fee, '0')
    assert.equal(paid.gt_fee, '1.40625')
    assert.equal(paid.gt_discount, true)
    await platform.operator.ok('PATCH', `/users/${gold.user_id}`, { debit_fee: 2 })
    const points = await gold.placed('buy', '0.1', '50000')
    assert.equal(`${points.fee} ${points.gt_fee} ${points.point_fee}`, '0 0 1.25')
    assert.equal(await gold.money('POINT'), '998.75/0')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('rates in the token are those of the market that the order is in, as GET /spot/fee tells them', async () => {
    const IN_SOL = { currency_pair: 'SOL_USDT' }
    await platform.operator.ok('PATCH', '/markets/SOL_USDT', { fee: '0.05' })
    const trader = await Trader.of(platform, { ...FUNDS, GT: '100' })
    const maker = await Trader.of(platform, { SOL: '10' })
    ok(await trader.client.post('/account/debit_fee', { enabled: true }))
    await maker.placed('sell', '1', '150', IN_SOL)
    const order = await trader.placed('buy', '1', '150', IN_SOL)
    // 150 x 0.05 % x 0.9 at 8 for a GT.
    assert.equal(order.gt_fee, '0.0084375')
    const told = ok(await trader.client.get('/spot/fee', IN_SOL))
    assert.deepEqual([told.gt_taker_fee, told.gt_maker_fee], ['0.00045', '0.00045'])
    assert.deepEqual([order.gt_taker_fee, order.gt_maker_fee], [told.gt_taker_fee, told.gt_maker_fee])
    await platform.operator.ok('PATCH', '/markets/SOL_USDT', { fee: '0.2' })
  })
  test('loan_fee is the share of interest that the platform keeps: what the lenders do not get', async () => {
    const { client } = await Trader.of(platform, {})
    assert.equal(ok(await client.get('/wallet/fee')).loan_fee, '0.15')
    assert.equal(ok(await client.get('/spot/fee')).loan_fee, '0.15')
    const { BTC_USDT } = ok(await client.get('/spot/batch_fee', { currency_pairs: 'BTC_USDT' }))
    assert.equal(BTC_USDT.loan_fee, '0.15')
  })

  test('a fee is rounded up to one unit, and never more than what was received', async () => {
    await alice.placed('sell', '0.000123', '30000')
    const taker = await bob.placed('buy', '0.000123', '30000')
    assert.equal(taker.fee, '0.00000025')
  })

  test('an operator closes a market and changes its bounds', async () => {
    const path = '/markets/ETH_USDT'
    const eth = { currency_pair: 'ETH_USDT' }
    assert.equal(
      (await platform.operator.ok('PATCH', path, { trade_status: 'sellable' })).trade_status,
      'sellable',
    )
    refused(await alice.place('buy', '1', '3000', eth), 400, 'TRADE_RESTRICTED', /sellable/)
    await platform.operator.ok('PATCH', path, { trade_status: 'tradable', up_rate: '0.1', down_rate: '0.1' })
    const maker = await Trader.of(platform, { ETH: '10' })
    await maker.placed('sell', '1', '3000', eth)
    await alice.placed('buy', '1', '3000', eth)
    refused(await alice.place('buy', '1', '3301', eth), 400, 'PRICE_THRESHOLD_EXCEEDED', /3300/)
    refused(await maker.place('sell', '1', '2699', eth), 400, 'PRICE_THRESHOLD_EXCEEDED', /2700/)
    await alice.placed('buy', '1', '100', eth)
    assert.equal(ok(await alice.client.get('/spot/currency_pairs/ETH_USDT')).up_rate, '0.1')
    assert.equal((await platform.operator.ok('GET', path)).down_rate, '0.1')
  })

  test('orders trade from a margin account', async () => {
    const maker = await Trader.of(platform, { BTC: '1' })
    await maker.placed('sell', '0.1', '50000')
    await platform.credit(alice.user_id, 'USDT', '10000', { account: 'margin', ...PAIR })
    const order = await alice.placed('buy', '0.1', '50000', { account: 'margin' })
    assert.equal(`${order.account} ${order.finish_as}`, 'margin filled')
    assert.equal(await platform.balance(alice.user_id, 'USDT', 'margin'), '5000')
    assert.equal(await platform.balance(alice.user_id, 'BTC', 'margin'), '0.0998')
    assert.equal(await alice.money('USDT'), '1000000/0')
  })

  test('the fill ratio of seven days is told after midnight', async () => {
    const vip = await Trader.of(platform, FUNDS, { vip: 14 })
    await alice.placed('sell', '1', '50000')
    await vip.placed('buy', '1', '50000')
    assert.equal(ok(await vip.client.get('/account/rate_limit'))[0].ratio, '0')
    await platform.operator.ok('POST', '/clock', { advance_seconds: '86400' })
    const [spot] = ok(await vip.client.get('/account/rate_limit'))
    assert.deepEqual([spot.type, spot.tier, spot.ratio], ['spot', '7', '45000'])
    await platform.operator.ok('POST', '/clock', { advance_seconds: String(8 * 86_400) })
    assert.equal(ok(await vip.client.get('/account/rate_limit'))[0].ratio, '0')
  })
})

describe('spot rate limits', () => {
  test('placement counts for each market, a batch once for each market in it', async () => {
    const platform = await TestPlatform.start({ KONTOR_CLOCK: '1790000000', KONTOR_RATE_LIMITS: '1' })
    const trader = await Trader.of(platform, FUNDS)
    const item = (pair: string, text: string) => ({
      currency_pair: pair,
      side: 'buy',
      amount: '1',
      price: '10',
      text,
    })
    for (let i = 0; i < 9; i++) await trader.placed('buy', '0.1', '1000')
    ok(await trader.client.post('/spot/batch_orders', [item('BTC_USDT', 't-a'), item('SOL_USDT', 't-b')]))
    const reply = await trader.place('buy', '0.1', '1000')
    refused(reply, 429, 'TOO_MANY_REQUESTS')
    assert.equal(reply.headers.get('x-svc-ratelimit-limit'), '10')
    const other = await trader.place('buy', '0.1', '10', { currency_pair: 'sol_usdt' })
    assert.equal(other.headers.get('x-svc-ratelimit-requests-remain'), '8')
    ok(await trader.client.delete('/spot/orders'))
    await platform.stop()
  })
})
