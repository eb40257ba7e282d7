import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

describe("users' orders, seen and cancelled by operators", () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const list = (query: string) => platform.operator.ok('GET', `/orders?${query}`)

  test('by account, by market, with a limit', async () => {
    const one = await Trader.of(platform, { USDT: '10000', ETH: '5' })
    const two = await Trader.of(platform, { USDT: '10000' })
    const a = await one.placed('buy', '0.01', '20000')
    const b = await one.placed('sell', '1', '9000', { currency_pair: 'ETH_USDT' })
    const c = await two.placed('buy', '0.01', '20001')
    const ids = async (query: string): Promise<string[]> =>
      (await list(query)).map(({ id }: { id: string }) => id)
    assert.deepEqual(await ids(`user_id=${one.user_id}`), [a.id, b.id])
    assert.deepEqual(await ids(`user_id=${one.user_id}&currency_pair=eth_usdt`), [b.id])
    assert.deepEqual(await ids('currency_pair=BTC_USDT'), [c.id, a.id])
    assert.deepEqual(await ids('currency_pair=BTC_USDT&limit=1'), [c.id])
    assert.equal((await ids('')).length, 3)
    const [row] = await list(`user_id=${two.user_id}`)
    assert.equal(row.user_id, two.user_id)
    assert.match(row.login_name as string, /^user_/)
    assert.equal(row.price, '20001')
    refused(await platform.operator.call('GET', '/orders?user_id=999999'), 400, 'USER_NOT_FOUND')
    refused(await platform.operator.call('DELETE', '/orders?user_id=999999'), 400, 'USER_NOT_FOUND')
    refused(await platform.operator.call('GET', '/orders?currency_pair=X_Y'), 400, 'INVALID_CURRENCY')

    refused(
      await platform.operator.call('DELETE', '/orders'),
      400,
      'MISSING_REQUIRED_PARAM',
      /user_id or currency_pair/,
    )
    const viewer = await platform.colleague('looks', 'viewer')
    refused(await viewer.call('DELETE', `/orders?user_id=${one.user_id}`), 403, 'FORBIDDEN')
    assert.equal((await ids('')).length, 3)
    const cut = (query: string) => platform.operator.ok('DELETE', `/orders?${query}`)
    assert.deepEqual(await cut(`user_id=${one.user_id}&currency_pair=ETH_USDT`), { cancelled: 1 })
    assert.equal(await one.money('ETH'), '5/0')
    assert.deepEqual(await ids(''), [c.id, a.id])
    assert.deepEqual(await cut('currency_pair=BTC_USDT'), { cancelled: 2 })
    assert.deepEqual(await cut('currency_pair=BTC_USDT'), { cancelled: 0 })
    assert.equal(await one.money('USDT'), '10000/0')
    assert.equal(await two.money('USDT'), '10000/0')
    assert.equal((await one.order(a.id as string)).finish_as, 'cancelled')
    const notes = (await platform.operator.ok('GET', '/audit?limit=1000')).filter(
      ({ action }: { action: string }) => action === 'orders.cancel',
    )
    assert.deepEqual(
      notes.map(({ operator, detail }: { operator: string; detail: object }) => [operator, detail]),
      [
        ['admin', { user_id: one.user_id, currency_pair: 'ETH_USDT', accounts: 1 }],
        ['admin', { user_id: null, currency_pair: 'BTC_USDT', accounts: 2 }],
        ['admin', { user_id: null, currency_pair: 'BTC_USDT', accounts: 0 }],
      ],
    )
  })

  test('more than a portion are ended, what is placed meanwhile stays, and others get their turn', async () => {
    const many = await Trader.of(platform, { USDT: '100000' })
    for (let i = 0; i < 25; i++) {
      const orders = Array.from({ length: 10 }, (_, j) => ({
        text: `t-${i}-${j}`,
        currency_pair: 'BTC_USDT',
        side: 'buy',
        amount: '0.001',
        price: String(20000 + i * 10 + j),
      }))
      ok(await many.client.post('/spot/batch_orders', orders))
    }
    const gone = platform.operator.ok('DELETE', `/orders?user_id=${many.user_id}`)
    // He who places as fast as he can does not keep the operator's call from ending.
    const race = { on: true }
    const racing = (async () => {
      let n = 0
      while (race.on && n < 2_000) {
        await many.place('buy', '0.001', '19900')
        n++
      }
      return n
    })()
    const { cancelled } = await gone
    race.on = false
    await racing
    assert.ok(cancelled >= 250, String(cancelled))
    const left = await list(`user_id=${many.user_id}&limit=1000`)
    assert.ok(left.every(({ price }: { price: string }) => price === '19900'))
    await platform.operator.ok('DELETE', `/orders?user_id=${many.user_id}`)
    assert.equal(await many.money('USDT'), '100000/0')
  })

  test('one alone: its money is free, the others stay, and the audit log says who did it', async () => {
    const one = await Trader.of(platform, { USDT: '10000' })
    const a = await one.placed('buy', '0.01', '20000')
    const b = await one.placed('buy', '0.01', '19000')
    const viewer = await platform.colleague('sees', 'viewer')
    refused(await viewer.call('DELETE', `/orders/${a.id}`), 403, 'FORBIDDEN')
    const ended = await platform.operator.ok('DELETE', `/orders/${a.id}`)
    assert.deepEqual([ended.id, ended.user_id, ended.status], [a.id, one.user_id, 'cancelled'])
    assert.equal(await one.money('USDT'), '9810/190')
    assert.deepEqual(
      (await list(`user_id=${one.user_id}`)).map(({ id }: { id: string }) => id),
      [b.id],
    )
    refused(
      await platform.operator.call('DELETE', `/orders/${a.id}`),
      404,
      'ORDER_NOT_FOUND',
      /no order .* is open/,
    )
    refused(await platform.operator.call('DELETE', '/orders/987654321'), 404, 'ORDER_NOT_FOUND')
    const audit = await platform.operator.ok('GET', '/audit?limit=1000')
    assert.deepEqual(audit.at(-1).detail, {
      order_id: Number(a.id),
      user_id: one.user_id,
      currency_pair: 'BTC_USDT',
    })
    await platform.operator.ok('DELETE', `/orders/${b.id}`)
  })

  test('one operator alone may do it in live mode', async () => {
    const live = await TestPlatform.start(LIVE)
    assert.deepEqual(await live.operator.ok('DELETE', '/orders?currency_pair=BTC_USDT'), { cancelled: 0 })
    refused(await live.operator.call('GET', '/requests'), 404, 'NOT_FOUND')
    refused(await live.operator.call('POST', '/faults', { effect: 'error' }), 404, 'NOT_FOUND')
    await live.stop()
  })
})
