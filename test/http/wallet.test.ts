import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { DAY, ETH_OUTSIDE, outside, proveBalanced, save } from '../support/wallet.ts'

describe('wallet', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })

  describe('transfers with sub-accounts', () => {
    test('main and sub, both ways, every kind of account, once for each client_order_id', async () => {
      const main = await platform.user()
      const sub = await platform.user({ parent: main.user_id })
      await platform.credit(main.user_id, 'USDT', '1000')
      const post = (change: object) =>
        main.client.post('/wallet/sub_account_transfers', {
          sub_account: String(sub.user_id),
          currency: 'usdt',
          amount: '10',
          direction: 'to',
          ...change,
        })
      const { tx_id } = ok(await post({ client_order_id: 'Once-1_a' }))
      assert.equal(await platform.balance(sub.user_id, 'USDT'), '10')
      refused(
        await post({ client_order_id: 'Once-1_a' }),
        400,
        'DUPLICATE_REQUEST',
        new RegExp(String(tx_id)),
      )
      ok(await post({ client_order_id: 'once-1_a' }))
      for (const sub_account_type of ['futures', 'delivery', 'options']) ok(await post({ sub_account_type }))
      assert.equal(await platform.balance(sub.user_id, 'USDT', 'futures'), '10')
      ok(await post({ direction: 'from', sub_account_type: 'futures', amount: '4' }))
      assert.equal(await platform.balance(sub.user_id, 'USDT', 'futures'), '6')
      refused(await post({ direction: 'from', amount: '100' }), 400, 'BALANCE_NOT_ENOUGH')
      refused(
        await post({ direction: 'from', sub_account_type: 'futures', amount: '100' }),
        400,
        'FUTURES_BALANCE_NOT_ENOUGH',
      )
      refused(await post({ client_order_id: 'a b' }), 400, 'INVALID_CLIENT_ORDER_ID')
      refused(await post({ client_order_id: 'x'.repeat(65) }), 400, 'INVALID_CLIENT_ORDER_ID')
      refused(await post({ sub_account: 1 }), 400, 'SUB_ACCOUNT_NOT_FOUND')
      refused(await post({ direction: 'up' }), 400, 'INVALID_PARAM_VALUE', /direction/)
      refused(await post({ amount: '0.000000001' }), 400, 'INVALID_PARAM_VALUE', /amount/)
      refused(await post({ sub_account: null }), 400, 'MISSING_REQUIRED_PARAM', /sub_account/)
      ok(await main.client.post(`/sub_accounts/${sub.user_id}/lock`), 204)
      refused(await post({}), 400, 'SUB_ACCOUNT_LOCKED')
      ok(await main.client.post(`/sub_accounts/${sub.user_id}/unlock`), 204)
      refused(
        await sub.client.post('/wallet/sub_account_transfers', {
          sub_account: String(sub.user_id),
          currency: 'USDT',
          amount: '1',
          direction: 'from',
        }),
        403,
        'FORBIDDEN',
      )
      const status = ok(await main.client.get('/wallet/order_status', { client_order_id: 'Once-1_a' }))
      assert.deepEqual(status, { tx_id: String(tx_id), status: 'SUCCESS' })
      refused(await main.client.get('/wallet/order_status', { tx_id: 999999 }), 404, 'NOT_FOUND')
      // Both mean one transfer.
      const bothNames = (client_order_id: string) =>
        main.client.get('/wallet/order_status', { tx_id, client_order_id })
      assert.deepEqual(ok(await bothNames('Once-1_a')), status)
      refused(await bothNames('Once-2'), 404, 'NOT_FOUND', /Once-2/)
      refused(await main.client.get('/wallet/order_status'), 400, 'MISSING_REQUIRED_PARAM')

      const list = await main.client.get('/wallet/sub_account_transfers', { limit: 2 })
      const [newest] = ok(list)
      assert.equal(list.headers.get('x-pagination-total'), '6')
      assert.equal(newest.direction, 'from')
      assert.equal(newest.sub_account, String(sub.user_id))
      assert.equal(newest.uid, String(main.user_id))
      assert.equal(newest.status, 'success')
      const other = await platform.user({ parent: main.user_id })
      ok(await post({ sub_account: other.user_id }))
      const both = await main.client.get('/wallet/sub_account_transfers', {
        sub_uid: `${sub.user_id},${other.user_id}`,
        offset: 1,
      })
      assert.equal(both.headers.get('x-pagination-total'), '7')
      assert.equal(ok(both).length, 6)
      assert.equal(
        ok(await main.client.get('/wallet/sub_account_transfers', { sub_uid: other.user_id })).length,
        1,
      )
      const early = await main.client.get('/wallet/sub_account_transfers', {
        from: 1_500_000_000,
        to: 1_588_000_000,
      })
      assert.equal(early.headers.get('x-applied-from'), '1586476800')
      const before = { from: 1_500_000_000, to: 1_500_001_000 }
      assert.deepEqual(ok(await main.client.get('/wallet/sub_account_transfers', before)), [])
      refused(
        await main.client.get('/wallet/sub_account_transfers', { from: 1_500_001_000, to: 1_500_000_000 }),
        400,
        'INVALID_PARAM_VALUE',
        /from: 1500001000/,
      )
      for (const sub_uid of ['1', `${sub.user_id},${main.user_id}`])
        refused(
          await main.client.get('/wallet/sub_account_transfers', { sub_uid }),
          400,
          'SUB_ACCOUNT_NOT_FOUND',
        )
      platform = await platform.restart()
      refused(
        await platform.client(main.credential).post('/wallet/sub_account_transfers', {
          sub_account: String(sub.user_id),
          currency: 'USDT',
          amount: '1',
          direction: 'to',
          client_order_id: 'Once-1_a',
        }),
        400,
        'DUPLICATE_REQUEST',
      )
    })

    test('between sub-accounts, with the key of the main account or of the source', async () => {
      const main = await platform.user()
      const a = await platform.user({ parent: main.user_id })
      const b = await platform.user({ parent: main.user_id })
      const stranger = await platform.user({ parent: (await platform.user()).user_id })
      await platform.credit(a.user_id, 'BTC', '3')
      const body = {
        currency: 'btc',
        sub_account_from: String(a.user_id),
        sub_account_from_type: 'spot',
        sub_account_to: String(b.user_id),
        sub_account_to_type: 'futures',
        amount: '1',
      }
      ok(await main.client.post('/wallet/sub_account_to_sub_account', body))
      const { tx_id } = ok(await a.client.post('/wallet/sub_account_to_sub_account', body))
      assert.equal(await platform.balance(b.user_id, 'BTC', 'futures'), '2')
      refused(await b.client.post('/wallet/sub_account_to_sub_account', body), 403, 'FORBIDDEN')
      const to = (change: object) =>
        main.client.post('/wallet/sub_account_to_sub_account', { ...body, ...change })
      // The message names what was sent, and what to send instead.
      refused(
        await to({ sub_account_to: String(stranger.user_id) }),
        400,
        'SUB_ACCOUNT_NOT_FOUND',
        new RegExp(`sub_account_to: .* ${stranger.user_id} .*GET /sub_accounts`),
      )
      refused(
        await to({ sub_account_from: String(stranger.user_id) }),
        400,
        'SUB_ACCOUNT_NOT_FOUND',
        /sub_account_from: /,
      )
      refused(await to({ amount: '2' }), 400, 'BALANCE_NOT_ENOUGH')
      refused(
        await to({ sub_account_to: String(a.user_id), sub_account_to_type: 'spot' }),
        400,
        'INVALID_PARAM_VALUE',
        new RegExp(`sub_account_to, sub_account_to_type: ${a.user_id}, spot is where`),
      )
      const eth = await to({ currency: 'ETH' })
      refused(
        eth,
        400,
        'INVALID_PARAM_VALUE',
        /^currency: .*\(sub_account_to_type\).* ETH; send USDT, BTC, POINT/,
      )
      assert.ok(!/settle:/.test(eth.text), 'nobody sent a settle')
      refused(await to({ sub_account_to_type: 'options' }), 400, 'INVALID_PARAM_VALUE')
      assert.equal(ok(await a.client.get('/wallet/order_status', { tx_id })).status, 'SUCCESS')
      ok(await main.client.post(`/sub_accounts/${b.user_id}/lock`), 204)
      refused(await to({}), 400, 'SUB_ACCOUNT_LOCKED')
    })
  })

  describe('push', () => {
    test('received at once, or asked first: accept, refuse, cancel, expire', async () => {
      const sender = await platform.user()
      const receiver = await platform.user()
      await platform.credit(sender.user_id, 'USDT', '100')
      const push = async (): Promise<number> =>
        ok(
          await sender.client.post('/withdrawals/push', {
            receive_uid: receiver.user_id,
            currency: 'usdt',
            amount: '10',
          }),
        ).id
      const first = await push()
      const seen = ok(await sender.client.get('/wallet/push', { id: first }))
      assert.deepEqual(ok(await sender.client.get('/wallet/push', { id: first, from: 1, to: 2 })), [])
      assert.equal(seen[0].status, 'RECEIVED')
      assert.equal(seen[0].transaction_type, 'withdraw')
      const got = ok(await receiver.client.get('/wallet/push', { transaction_type: 'deposit' }))
      assert.equal(got[0].id, first)
      assert.equal(got[0].transaction_type, 'deposit')
      assert.equal(await platform.balance(receiver.user_id, 'USDT'), '10')
      await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { push_acceptance: 'manual' })
      const [accepted, refusedOne, cancelled, expired] = [
        await push(),
        await push(),
        await push(),
        await push(),
      ]
      const waiting = ok(await sender.client.get('/wallet/push', { limit: 1 }))[0]
      assert.equal(waiting.status, 'PENDING')
      assert.notEqual(waiting.message, '')
      assert.equal(await platform.balance(sender.user_id, 'USDT'), '50')
      const answer = (id: number, verb: string) => platform.operator.ok('POST', `/push/${id}/${verb}`)
      assert.equal((await answer(accepted, 'accept')).status, 'RECEIVED')
      assert.equal((await answer(refusedOne, 'refuse')).status, 'REFUSED')
      assert.equal((await answer(cancelled, 'cancel')).status, 'CANCELLED')
      refused(
        await platform.operator.call('POST', `/push/${cancelled}/accept`),
        400,
        'INVALID_PARAM_VALUE',
        /CANCELLED/,
      )
      refused(await platform.operator.call('POST', '/push/9999/accept'), 404, 'NOT_FOUND')
      platform = await platform.restart()
      await platform.operator.ok('POST', '/clock', { advance_seconds: 7 * DAY - 10 })
      const client = platform.client(sender.credential)
      assert.equal(ok(await client.get('/wallet/push', { id: expired }))[0].status, 'PENDING')
      await platform.operator.ok('POST', '/clock', { advance_seconds: 20 })
      assert.equal(ok(await client.get('/wallet/push', { id: expired }))[0].status, 'CANCELLED')
      assert.equal(await platform.balance(sender.user_id, 'USDT'), '80')
      assert.equal(await platform.balance(receiver.user_id, 'USDT'), '20')
    })

    test('each refusal has its label', async () => {
      const sender = await platform.user()
      const receiver = await platform.user()
      const sub = await platform.user({ parent: receiver.user_id })
      const own = await platform.user({ parent: sender.user_id })
      await platform.credit(sender.user_id, 'USDT', '5')
      const push = (change: object) =>
        sender.client.post('/withdrawals/push', {
          receive_uid: receiver.user_id,
          currency: 'USDT',
          amount: '1',
          ...change,
        })
      refused(await push({ receive_uid: 424242 }), 400, 'RECEIVE_ERROR', /424242/)
      refused(await push({ receive_uid: sender.user_id }), 400, 'RECEIVE_ERROR')
      refused(await push({ receive_uid: sub.user_id }), 400, 'RECEIVE_ERROR')
      refused(await push({ amount: '6' }), 400, 'BALANCE_NOT_ENOUGH')
      refused(await push({ currency: 'NOPE' }), 400, 'INVALID_CURRENCY')
      refused(await push({ amount: '0.123456789' }), 400, 'INVALID_PARAM_VALUE')
      await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { state: 2 })
      refused(await push({}), 400, 'RISK_ERROR')
      refused(await receiver.client.get('/wallet/push'), 403, 'ACCOUNT_LOCKED')
      refused(
        await own.client.post('/withdrawals/push', {
          receive_uid: sender.user_id,
          currency: 'USDT',
          amount: '1',
        }),
        403,
        'FORBIDDEN',
      )
      assert.equal(await platform.balance(sender.user_id, 'USDT'), '5')
    })
  })

  test('currencies and chains, public', async () => {
    const anyone = platform.client()
    const list = ok(await anyone.get('/spot/currencies'))
    const names = list.map((one: { currency: string }) => one.currency)
    for (const name of ['BTC', 'ETH', 'USDT', 'USDC', 'SOL', 'XRP', 'DOGE', 'GT', 'POINT'])
      assert.ok(names.includes(name), name)
    const usdt = ok(await anyone.get('/spot/currencies/usdt'))
    assert.deepEqual(
      usdt.chains.map((one: { name: string }) => one.name),
      ['ETH', 'TRX', 'SOL'],
    )
    refused(await anyone.get('/spot/currencies/NOPE'), 404, 'INVALID_CURRENCY')
    const chains = ok(await anyone.get('/wallet/currency_chains', { currency: 'XRP' }))
    assert.equal(chains[0].is_tag, 1)
    refused(
      await anyone.get('/wallet/currency_chains', { currency: 'PEPU' }),
      400,
      'INVALID_CURRENCY',
      /low-cap/,
    )
    refused(await anyone.get('/wallet/currency_chains'), 400, 'MISSING_REQUIRED_PARAM')
    assert.deepEqual(ok(await platform.demo().get('/wallet/getLowCapExchangeList')), ['PEPU'])
    const rules = ok(await platform.demo().get('/wallet/withdraw_status'))
    const eth = rules.find((one: { currency: string }) => one.currency === 'USDT')
    assert.deepEqual(eth.withdraw_fix_on_chains, { ETH: '3', TRX: '1', SOL: '1' })
    assert.equal(eth.withdraw_percent, '0%')
    refused(
      await platform.demo().get('/wallet/withdraw_status', { currency: 'PEPU' }),
      400,
      'INVALID_CURRENCY',
    )
  })

  test('saved addresses, by currency, chain, verification and page', async () => {
    const { client, user_id } = await platform.user()
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address: ETH_OUTSIDE })
    await save(platform, user_id, { currency: 'USDT', chain: 'ETH', address: ETH_OUTSIDE, verified: false })
    await save(platform, user_id, { currency: 'USDT', chain: 'TRX', address: outside('tron') })
    const list = async (query: Record<string, string | number>) =>
      ok(await client.get('/wallet/saved_address', query))
    assert.equal((await list({ currency: 'usdt' })).length, 2)
    assert.deepEqual((await list({ currency: 'USDT', verified: '0' }))[0].verified, '0')
    assert.equal((await list({ currency: 'USDT', chain: 'trx' }))[0].address, outside('tron'))
    assert.equal((await list({ limit: 2, page: 2 })).length, 1)
    refused(
      await client.get('/wallet/saved_address', { currency: 'ETH', limit: 101 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await client.get('/wallet/saved_address', { currency: 'NOPE' }), 400, 'INVALID_CURRENCY')
    const bad = { currency: 'USDT', chain: 'TRX', address: 'nonsense', verified: true }
    refused(
      await platform.operator.call('POST', `/users/${user_id}/saved_addresses`, bad),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await platform.operator.call('POST', '/users/1/saved_addresses', bad), 404, 'USER_NOT_FOUND')
  })

  test('total balance: index prices, four currencies, a minute old at most', async () => {
    const { client, user_id } = await platform.user()
    await platform.operator.ok('PUT', '/prices', { BTC: '50000', ETH: '2500' })
    await platform.credit(user_id, 'BTC', '1')
    await platform.credit(user_id, 'USDT', '100', { account: 'futures', settle: 'usdt' })
    await platform.credit(user_id, 'ETH', '2', { account: 'margin', currency_pair: 'ETH_USDT' })
    const total = async (currency: string) => ok(await client.get('/wallet/total_balance', { currency }))
    const usdt = await total('USDT')
    assert.equal(usdt.total.amount, '55100')
    assert.equal(usdt.details.spot.amount, '50000')
    assert.equal(usdt.details.futures.amount, '100')
    assert.equal(usdt.details.margin.amount, '5000')
    assert.equal((await total('BTC')).total.amount, '1.102')
    assert.equal((await total('CNY')).total.amount, '396720')
    assert.equal((await total('usd')).total.currency, 'USD', 'names in any case')
    await platform.credit(user_id, 'USDT', '1000')
    assert.equal((await total('USDT')).total.amount, '55100')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    assert.equal((await total('USDT')).total.amount, '56100')
    refused(await client.get('/wallet/total_balance', { currency: 'EUR' }), 400, 'INVALID_PARAM_VALUE')
    await platform.operator.ok('PUT', '/prices', { BTC: null, ETH: null })
    refused(await platform.operator.call('PUT', '/prices', { BTC: '0' }), 400, 'INVALID_PARAM_VALUE')
    refused(await platform.operator.call('PUT', '/prices', { NOPE: '1' }), 400, 'INVALID_CURRENCY')
    refused(await platform.operator.call('PUT', '/prices', { BTC: 1 }), 400, 'INVALID_PARAM_VALUE')
    assert.equal((await platform.operator.ok('GET', '/prices')).BTC.source, 'configured')
  })

  test('balances of sub-accounts in all four kinds', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const empty = await platform.user({ parent: main.user_id })
    await platform.credit(sub.user_id, 'BTC', '1')
    await platform.credit(sub.user_id, 'USDT', '7', { account: 'futures', settle: 'usdt' })
    await platform.credit(sub.user_id, 'POINT', '3', { account: 'futures', settle: 'usdt' })
    await platform.credit(sub.user_id, 'ETH', '2', { account: 'margin', currency_pair: 'ETH_USDT' })
    const get = async (kind: string, query: Record<string, string | number> = {}) =>
      ok(await main.client.get(`/wallet/sub_account_${kind}`, query))
    assert.deepEqual(await get('balances'), [
      { uid: String(sub.user_id), available: { BTC: '1' }, locking: {} },
      { uid: String(empty.user_id), available: {}, locking: {} },
    ])
    assert.equal((await get('balances', { limit: 1, page: 2 }))[0].uid, String(empty.user_id))
    const [margin] = await get('margin_balances', { sub_uid: sub.user_id })
    assert.equal(margin.available[0].currency_pair, 'ETH_USDT')
    assert.equal(margin.available[0].base.available, '2')
    const [futures] = await get('futures_balances', { sub_uid: sub.user_id, settle: 'USDT' })
    assert.equal(futures.available.usdt.total, '7')
    assert.equal(futures.available.usdt.point, '3')
    assert.equal(futures.available.usdt.history.dnw, '7')
    assert.ok(futures.available.usdt.update_time > 1_700_000_000)
    assert.deepEqual((await get('futures_balances', { sub_uid: empty.user_id }))[0].available, {})
    assert.equal((await get('cross_margin_balances', { sub_uid: sub.user_id }))[0].available.user_id, 0)
    for (const kind of ['balances', 'margin_balances', 'futures_balances', 'cross_margin_balances']) {
      refused(
        await main.client.get(`/wallet/sub_account_${kind}`, { sub_uid: '1' }),
        400,
        'SUB_ACCOUNT_NOT_FOUND',
      )
      refused(await sub.client.get(`/wallet/sub_account_${kind}`), 403, 'FORBIDDEN')
    }
  })

  test('small balances become GT at index prices', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'DOGE', '4')
    await platform.credit(user_id, 'XRP', '1')
    await platform.credit(user_id, 'BTC', '1')
    await platform.operator.ok('PUT', '/prices', { DOGE: '0.1', XRP: '0.5', GT: '8', BTC: '50000' })
    const dust = ok(await client.get('/wallet/small_balance'))
    assert.deepEqual(dust, [
      { currency: 'DOGE', available_balance: '4', estimated_as_btc: '0.000008', convertible_to_gt: '0.05' },
      { currency: 'XRP', available_balance: '1', estimated_as_btc: '0.00001', convertible_to_gt: '0.0625' },
    ])
    refused(
      await client.post('/wallet/small_balance', { currency: ['BTC'] }),
      400,
      'INVALID_PARAM_VALUE',
      /BTC/,
    )
    refused(await client.post('/wallet/small_balance', {}), 400, 'MISSING_REQUIRED_PARAM')
    ok(await client.post('/wallet/small_balance', { currency: ['doge'] }))
    ok(await client.post('/wallet/small_balance', { is_all: true }))
    assert.equal(await platform.balance(user_id, 'GT'), '0.1125')
    assert.equal(await platform.balance(user_id, 'DOGE'), '0')
    const history = ok(await client.get('/wallet/small_balance_history'))
    assert.equal(history[0].currency, 'XRP')
    assert.equal(
      ok(await client.get('/wallet/small_balance_history', { limit: 1, page: 2 }))[0].currency,
      'DOGE',
    )
    assert.equal(ok(await client.get('/wallet/small_balance_history', { currency: 'doge' })).length, 1)
    const told = async (query: Record<string, string>) =>
      ok(await client.get('/spot/account_book', query)).map(
        (line: Record<string, string>) =>
          `${line['type']} ${line['code']} ${line['currency']} ${line['change']}`,
      )
    assert.deepEqual(await told({ type: 'dust_swap_dctd' }), [
      'dust_swap_dctd 1301 XRP -1',
      'dust_swap_dctd 1301 DOGE -4',
    ])
    assert.deepEqual(await told({ code: '1302' }), [
      'dust_swap_gt_add 1302 GT 0.0625',
      'dust_swap_gt_add 1302 GT 0.05',
    ])
    // The XRP and DOGE above were worth 0.9 USDT; a family turns 100 USDT worth an hour.
    for (let i = 0; i < 99; i++) {
      await platform.credit(user_id, 'XRP', '2')
      ok(await client.post('/wallet/small_balance', { currency: ['XRP'] }))
    }
    await platform.credit(user_id, 'XRP', '2')
    refused(await client.post('/wallet/small_balance', { is_all: true }), 400, 'AMOUNT_TOO_MUCH', /next hour/)
    await platform.operator.ok('PUT', '/prices', { DOGE: null, XRP: null, GT: null, BTC: null })
  })

  test('permissions: reading withdrawals is wallet, making them is withdrawal', async () => {
    const { user_id } = await platform.user()
    const key = await platform.key(user_id, [{ name: 'wallet', read_only: false }])
    const client = platform.client(key)
    ok(await client.get('/wallet/withdrawals'))
    const body = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
    refused(await client.post('/withdrawals', body), 403, 'FORBIDDEN', /withdrawal/)
    refused(await client.delete('/withdrawals/w1'), 403, 'FORBIDDEN')
    assert.ok(allPerms().length > 5)
  })
})
