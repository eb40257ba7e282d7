import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

test('what an account asks does not cost more with every order it has open: sums are kept, duplicates are one', async () => {
  const platform = await TestPlatform.start()
  await platform.operator.ok('PUT', '/prices', { BTC: '60000', XRP: '0.5', DOGE: '0.1' })
  const trader = await Trader.of(platform, { USDT: '100000' })
  ok(await trader.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
  ok(await trader.client.post('/unified/loans', { currency: 'BTC', type: 'borrow', amount: '0.1' }))
  for (const [currency_pair, price] of [
    ['XRP_USDT', '0.3'],
    ['DOGE_USDT', '0.05'],
  ] as const)
    for (let i = 0; i < 30; i++) {
      const order = { currency_pair, side: 'buy', amount: '100', price, account: 'unified' }
      ok(
        await trader.client.post(
          '/spot/batch_orders',
          Array.from({ length: 10 }, (_, j) => ({
            ...order,
            text: `t-${currency_pair.slice(0, 4)}${i}-${j}`,
          })),
        ),
      )
    }
  const { spot } = platform.platform.desk.core.state
  assert.equal(spot.openCount(trader.user_id, 'XRP_USDT'), 300)
  const original = spot.openOrders.bind(spot)
  let walked = 0
  spot.openOrders = (userId, pair) => {
    const orders = original(userId, pair)
    walked += orders.length
    return orders
  }
  const ask = async (): Promise<number> => {
    walked = 0
    const currencies = Array.from({ length: 100 }, (_, i) => ['USDT', 'BTC', 'XRP'][i % 3]).join(',')
    const amounts = ok(await trader.client.get('/unified/transferables', { currencies }))
    assert.equal(amounts.length, 100)
    assert.deepEqual(amounts[0], amounts[3])
    return walked
  }
  await ask()
  assert.equal(await ask(), 0, 'a hundred currencies again: no order is looked at')
  walked = 0
  await trader.placed('buy', '100', '0.04', { currency_pair: 'DOGE_USDT', account: 'unified' })
  const placing = walked
  assert.ok(placing > 0 && placing <= 2 * 301, `${placing} orders of the one market that changed`)
  assert.equal(await ask(), 0)
  const kept = ok(await trader.client.get('/unified/transferables', { currencies: 'USDT' }))
  const again = await platform.restart()
  const fresh = ok(
    await again.client(trader.client.credential).get('/unified/transferables', { currencies: 'USDT' }),
  )
  assert.deepEqual(fresh, kept, 'sums that were kept are those that are made anew')
  await again.stop()
})

test('a main account has so many sub-accounts and no more, whoever makes them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-stall-'))
  const path = join(folder, 'world.json')
  writeFileSync(path, JSON.stringify({ limits: { ...BUILT_IN_WORLD.limits, sub_accounts_max: 3 } }))
  const platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  const { client, user_id } = await platform.user()
  for (let i = 0; i < 3; i++) ok(await client.post('/sub_accounts', { login_name: `sub_${i}` }), 201)
  const fourth = { login_name: 'sub_3' }
  refused(await client.post('/sub_accounts', fourth), 400, 'INVALID_PARAM_VALUE', /3 sub-accounts/)
  const asked = await platform.operator.call('POST', '/users', { ...fourth, parent: user_id })
  refused(asked, 400, 'INVALID_PARAM_VALUE', /3 sub-accounts/)
  assert.equal(ok(await client.get('/sub_accounts')).length, 3)
  ok(await (await platform.user()).client.post('/sub_accounts', fourth), 201)
  await platform.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('transfers with several sub-accounts: no more is read from the store than is shown, however far a page lies', async () => {
  const platform = await TestPlatform.start()
  const main = await platform.user()
  await platform.credit(main.user_id, 'USDT', '1000')
  const subs = [await platform.user({ parent: main.user_id }), await platform.user({ parent: main.user_id })]
  const made: string[] = []
  for (let i = 1; i <= 30; i++) {
    const sub_account = subs[i % 3 === 0 ? 1 : 0]!.user_id
    const transfer = { sub_account, currency: 'USDT', amount: String(i), direction: 'to' }
    ok(await main.client.post('/wallet/sub_account_transfers', transfer))
    made.unshift(String(i))
  }
  const { store } = platform.platform.desk
  const select = store.select.bind(store)
  let read = 0
  store.select = async (...asked: Parameters<typeof select>) => {
    const rows = await select(...asked)
    read += rows.length
    return rows as never
  }
  const ask = (offset: number, limit: number) =>
    main.client.get('/wallet/sub_account_transfers', {
      sub_uid: subs.map(({ user_id }) => user_id).join(','),
      offset,
      limit,
    })
  for (const [offset, limit] of [
    [0, 100],
    [0, 3],
    [17, 4],
    [28, 10],
  ] as const) {
    read = 0
    const reply = await ask(offset, limit)
    const amounts = ok(reply).map(({ amount }: { amount: string }) => amount)
    assert.deepEqual(amounts, made.slice(offset, offset + limit))
    assert.equal(reply.headers.get('x-pagination-total'), '30')
    assert.equal(read, amounts.length, `offset ${offset}`)
  }
  assert.deepEqual(ok(await ask(1_000_000_000, 100)), [])
  await platform.stop()
})
