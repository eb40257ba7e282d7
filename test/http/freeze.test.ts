import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import {
  ETH_OUTSIDE,
  eventually,
  holder,
  mine,
  outside,
  proveBalanced,
  save,
  withdrawal,
} from '../support/wallet.ts'

describe('freezing an account, and holds that stay', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const state = (userId: number, to: 1 | 2) =>
    platform.operator.ok('PATCH', `/users/${userId}`, { state: to })
  const body = { currency: 'ETH', chain: 'ETH', amount: '2', address: ETH_OUTSIDE }
  const recordOf = async (id: string, userId: number) =>
    (await platform.operator.ok('GET', `/withdrawals?user_id=${userId}`)).find(
      (one: { id: string }) => one.id === id,
    )

  test('withdrawals that nobody has claimed wait in REVIEW, and lifting the freeze does not send them', async () => {
    const { client, user_id } = await holder(platform)
    const sent = ok(await client.post('/withdrawals', body))
    await mine(platform, 'ETH', 1)
    const first = ok(await client.post('/withdrawals', body))
    const held = ok(await client.post('/withdrawals', body))
    await platform.operator.ok('POST', `/withdrawals/${held.id}/divert`, { status: 'MANUAL' })
    await state(user_id, 2)
    await mine(platform, 'ETH', 12)
    assert.equal((await recordOf(sent.id, user_id)).status, 'DONE', 'what was sent is sent')
    for (const { id } of [first, held]) {
      assert.equal((await recordOf(id, user_id)).status, 'REVIEW')
      refused(await platform.operator.call('POST', `/withdrawals/${id}/approve`), 400, 'RISK_ERROR', /frozen/)
    }
    refused(
      await platform.operator.call('POST', `/users/${user_id}/withdrawals`, body),
      403,
      'ACCOUNT_LOCKED',
      /frozen/,
    )
    await state(user_id, 1)
    await mine(platform, 'ETH', 2)
    assert.equal((await recordOf(first.id, user_id)).status, 'REVIEW')
    await platform.operator.ok('POST', `/withdrawals/${first.id}/approve`)
    await platform.operator.ok('POST', `/withdrawals/${held.id}/approve`)
    assert.equal(
      (await recordOf(held.id, user_id)).status,
      'MANUAL',
      'the hold from before is still asked for',
    )
    await mine(platform, 'ETH', 12)
    assert.equal((await withdrawal(client, first.id)).status, 'DONE')
  })

  test('orders, price orders and those of sub-accounts end; lifting restores none', async () => {
    const main = await Trader.of(platform, { USDT: '1000000' })
    const sub = await Trader.of(platform, { BTC: '1' }, { parent: main.user_id })
    const mine = await main.placed('buy', '0.1', '50000')
    const theirs = await sub.placed('sell', '0.1', '70000')
    const trigger = { price: '70000', rule: '>=', expiration: 3600 }
    const put = { type: 'limit', side: 'buy', price: '70000', amount: '0.1', account: 'normal' }
    const priced = ok(await main.client.post('/spot/price_orders', { market: 'BTC_USDT', trigger, put }), 201)
    await state(main.user_id, 2)
    const other = await Trader.of(platform, { USDT: '100000', BTC: '1' })
    await other.placed('sell', '0.1', '50000')
    await other.placed('buy', '0.01', '70000')
    await state(main.user_id, 1)
    assert.deepEqual(
      [(await main.order(mine.id)).status, (await sub.order(theirs.id)).status],
      ['cancelled', 'cancelled'],
    )
    assert.equal((await main.order(mine.id)).filled_amount, '0')
    const { status } = ok(await main.client.get(`/spot/price_orders/${String(priced.id)}`))
    assert.equal(status, 'cancelled')
    assert.equal(await main.money('USDT'), '1000000/0')
    assert.equal(await sub.money('BTC'), '1/0')
    ok(await other.client.delete('/spot/orders', { currency_pair: 'BTC_USDT' }))
  })

  test('many orders end in portions, and none that is placed after the freeze was lifted', async () => {
    const main = await Trader.of(platform, { USDT: '1000000' })
    for (let i = 0; i < 25; i++)
      ok(
        await main.client.post(
          '/spot/batch_orders',
          Array.from({ length: 10 }, (_, k) => ({
            text: `t-${i}-${k}`,
            currency_pair: 'BTC_USDT',
            side: 'buy',
            amount: '0.001',
            price: String(30000 + i * 10 + k),
          })),
        ),
      )
    await state(main.user_id, 2)
    await state(main.user_id, 1)
    const later = await main.placed('buy', '0.001', '29000')
    await eventually(async () => (await main.money('USDT')) === '999971/29', 'the end of all old orders')
    assert.equal((await main.order(later.id)).status, 'open')
    ok(await main.client.delete('/spot/orders', { currency_pair: 'BTC_USDT' }))
  })

  test("a main account's own lock cancels nothing, and does not lift the platform's freeze", async () => {
    const main = await Trader.of(platform, {})
    const sub = await Trader.of(platform, { BTC: '1' }, { parent: main.user_id })
    const order = await sub.placed('sell', '0.1', '70000')
    ok(await main.client.post(`/sub_accounts/${sub.user_id}/lock`), 204)
    ok(await main.client.post(`/sub_accounts/${sub.user_id}/unlock`), 204)
    assert.equal((await sub.order(order.id)).status, 'open')
    await state(sub.user_id, 2)
    refused(await main.client.post(`/sub_accounts/${sub.user_id}/unlock`), 403, 'ACCOUNT_LOCKED', /platform/)
    refused(await sub.client.get('/spot/accounts'), 403, 'ACCOUNT_LOCKED')
    await state(sub.user_id, 1)
    assert.equal((await sub.order(order.id)).status, 'cancelled')
  })

  test("a main account's own lock outlives the platform's freeze, whichever came first", async () => {
    const main = await Trader.of(platform, {})
    for (const lockFirst of [true, false]) {
      const sub = await Trader.of(platform, {}, { parent: main.user_id })
      const lock = () => main.client.post(`/sub_accounts/${sub.user_id}/lock`)
      if (lockFirst) ok(await lock(), 204)
      await state(sub.user_id, 2)
      ok(await lock(), 204)
      ok(await lock(), 204)
      await platform.operator.ok('PATCH', `/users/${sub.user_id}`, { push_acceptance: 'manual' })
      assert.equal((await state(sub.user_id, 1)).state, 2)
      refused(await sub.client.get('/spot/accounts'), 403, 'ACCOUNT_LOCKED')
      ok(await main.client.post(`/sub_accounts/${sub.user_id}/unlock`), 204)
      ok(await sub.client.get('/spot/accounts'))
      ok(await lock(), 204)
      assert.equal((await state(sub.user_id, 1)).state, 1)
      ok(await sub.client.get('/spot/accounts'))
    }
  })

  test('what an operator LOCKED is not let go by pausing and resuming its chain', async () => {
    const { client, user_id } = await holder(platform)
    const locked = ok(await client.post('/withdrawals', body))
    const cunning = ok(await client.post('/withdrawals', body))
    const plain = ok(await client.post('/withdrawals', body))
    await platform.operator.ok('POST', `/withdrawals/${locked.id}/divert`, { status: 'LOCKED' })
    await platform.operator.ok('POST', `/withdrawals/${cunning.id}/divert`, {
      status: 'LOCKED',
      reason: 'the chain is paused',
    })
    for (const paused of [true, false]) await platform.operator.ok('PATCH', '/chains/ETH', { paused })
    await mine(platform, 'ETH', 13)
    for (const { id } of [locked, cunning]) assert.equal((await recordOf(id, user_id)).status, 'LOCKED')
    assert.equal((await recordOf(plain.id, user_id)).status, 'DONE')
  })

  test("an operator's own hold is not let go by funds that are there, nor does it keep a freeze away", async () => {
    const { client, user_id } = await holder(platform)
    const [short, frozen] = [
      ok(await client.post('/withdrawals', body)),
      ok(await client.post('/withdrawals', body)),
    ]
    const divert = (id: string, status: string, reason: string) =>
      platform.operator.ok('POST', `/withdrawals/${id}/divert`, { status, reason })
    await divert(short.id, 'DMOVE', 'the hot wallet is short')
    await divert(frozen.id, 'VERIFY', 'the account was frozen')
    await mine(platform, 'ETH', 13)
    assert.equal((await recordOf(short.id, user_id)).status, 'DMOVE')
    await state(user_id, 2)
    await state(user_id, 1)
    for (const { id } of [short, frozen]) assert.equal((await recordOf(id, user_id)).status, 'REVIEW')
  })

  test('an address saved without a tag does not cover a payment with one', async () => {
    const address = outside('ripple')
    const { client, user_id } = await holder(platform, { currency: 'XRP', chain: 'XRP', address })
    const pay = (memo: string) =>
      client.post('/withdrawals', { currency: 'XRP', chain: 'XRP', amount: '50', address, memo })
    refused(await pay('77'), 400, 'ADDRESS_NOT_USED')
    await save(platform, user_id, { currency: 'XRP', chain: 'XRP', address, tag: '77' })
    ok(await pay('77'))
    refused(await pay('78'), 400, 'ADDRESS_NOT_USED')
  })

  test("an operator's credit stands in the account book as a deposit", async () => {
    const { client } = await Trader.of(platform, { BTC: '1' })
    const [line] = ok(await client.get('/spot/account_book', { currency: 'BTC' }))
    assert.deepEqual([line.type, line.code, line.change], ['deposit', '110', '1'])
    assert.equal(ok(await client.get('/spot/account_book', { type: 'deposit' })).length, 1)
  })
})
