import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { GENESIS_HASH, auditHash } from '../../src/core/tables/audit.ts'
import { add, amountOf, format } from '../../src/money/amount.ts'
import { Client, OperatorClient, ok, refused } from '../support/client.ts'
import { LIVE, TOKEN, TestPlatform } from '../support/platform.ts'

describe('operator API', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('status', async () => {
    const status = await platform.operator.ok('GET', '/status')
    assert.deepEqual([status.mode, status.store], ['sandbox', 'sqlite'])
    assert.ok(Math.abs(status.now - Date.now() / 1000) < 5)
    assert.match(status.version, /^\d+\.\d+\.\d+/)
    assert.ok(status.sequence > 0)
  })
  test('the first start made a world to play in, and its credentials are private', async () => {
    const path = join(platform.data, 'credentials.json')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(statSync(join(platform.data, 'secret.key')).mode & 0o777, 0o600)
    const credentials = JSON.parse(readFileSync(path, 'utf8'))
    assert.deepEqual(credentials.accounts.length, 3)
    const main = new Client(platform.url, credentials)
    const subs = ok(await main.get('/sub_accounts'))
    assert.deepEqual(
      subs.map(({ user_id }: { user_id: number }) => user_id),
      credentials.accounts.slice(1).map(({ user_id }: { user_id: number }) => user_id),
    )
    for (const account of credentials.accounts)
      ok(await new Client(platform.url, account).get('/account/detail'))
    assert.ok(Number(await platform.balance(credentials.accounts[0].user_id, 'BTC')) > 0)
  })
  test('operators: made, listed, removed; a token works until then', async () => {
    const made = await platform.operator.ok('POST', '/operators', { name: 'eve', role: 'viewer' })
    const eve = new OperatorClient(platform.url, made.token)
    assert.ok((await eve.ok('GET', '/operators')).some(({ name }: { name: string }) => name === 'eve'))
    refused(await eve.call('POST', '/users', { login_name: 'x' }), 403, 'FORBIDDEN', /viewer/)
    refused(
      await platform.operator.call('POST', '/operators', { name: 'eve', role: 'admin' }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(
      await platform.operator.call('POST', '/operators', { name: 'bob', role: 'king' }),
      400,
      'INVALID_PARAM_VALUE',
      /role/,
    )
    ok(await platform.operator.call('DELETE', '/operators/eve'), 204)
    refused(await eve.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
    refused(await platform.operator.call('DELETE', '/operators/eve'), 404, 'NOT_FOUND')
    refused(
      await platform.operator.call('DELETE', '/operators/admin'),
      400,
      'INVALID_PARAM_VALUE',
      /last admin/,
    )
  })
  test('users: made, shown and changed', async () => {
    const user = await platform.operator.ok('POST', '/users', {
      login_name: 'carol',
      email: 'c@x.example',
      password: 'p',
      vip: 2,
    })
    const changed = await platform.operator.ok('PATCH', `/users/${user.user_id}`, {
      vip: 5,
      push_acceptance: 'manual',
      withdraw_day_limit: '01000.00',
    })
    assert.deepEqual(
      [changed.vip, changed.push_acceptance, changed.withdraw_day_limit, changed.state],
      [5, 'manual', '1000', 1],
    )
    assert.deepEqual(await platform.operator.ok('GET', `/users/${user.user_id}`), changed)
    const sub = await platform.operator.ok('POST', '/users', {
      login_name: 'carol_sub',
      parent: user.user_id,
    })
    assert.deepEqual([sub.parent, sub.email], [user.user_id, 'c@x.example'])
    refused(
      await platform.operator.call('POST', '/users', { login_name: 'x1', parent: sub.user_id }),
      400,
      'INVALID_PARAM_VALUE',
      /sub-account/,
    )
    refused(
      await platform.operator.call('POST', '/users', { login_name: 'x1', parent: 999 }),
      400,
      'USER_NOT_FOUND',
    )
    refused(
      await platform.operator.call('POST', '/users', { login_name: 'x1', type: 3 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(
      await platform.operator.call('POST', '/users', { login_name: 'CAROL' }),
      400,
      'INVALID_PARAM_VALUE',
      /taken/,
    )
    refused(
      await platform.operator.call('PATCH', `/users/${sub.user_id}`, { vip: 1 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await platform.operator.call('GET', '/users/999'), 404, 'USER_NOT_FOUND')
    for (const path of ['/users/999/liquidations', '/users/999/risk/explain', '/ledger/liabilities/999'])
      refused(await platform.operator.call('GET', path), 404, 'USER_NOT_FOUND', /999/)
    // A name in the path that nobody ever listed: also where it is asked what became of it.
    for (const [path, body] of [
      ['', undefined],
      ['/delisting', undefined],
      ['', {}],
      ['/halt', {}],
    ] as const) {
      const method = body === undefined ? 'GET' : path === '' ? 'PATCH' : 'POST'
      const market = (name: string) => platform.operator.call(method, `/markets/${name}${path}`, body)
      refused(await market('ZZZ_USDT'), 404, 'INVALID_CURRENCY', /ZZZ/)
      refused(await market('ETH_DOGE'), 404, 'INVALID_CURRENCY_PAIR', /ETH_DOGE/)
    }
    refused(await platform.operator.call('GET', '/currencies/ZZZ/delisting'), 404, 'INVALID_CURRENCY')
    refused(await platform.operator.call('PATCH', '/users/999', {}), 404, 'USER_NOT_FOUND')
    refused(
      await platform.operator.call('PATCH', `/users/${user.user_id}`, { state: 3 }),
      400,
      'INVALID_PARAM_VALUE',
      /state/,
    )
    const listed = await platform.operator.ok('GET', `/users?from=${user.user_id}&limit=2`)
    assert.deepEqual(listed, [changed, sub])
  })
  test('making an account is quick, password included', async () => {
    await platform.operator.ok('POST', '/users', { login_name: 'warm_up', password: 'p' })
    const start = performance.now()
    await platform.operator.ok('POST', '/users', { login_name: 'quick', password: 'long enough' })
    assert.ok(performance.now() - start < 5_000, 'some 100 ms on a quiet machine')
  })
  test('credit comes out of operator equity, in every kind of account', async () => {
    const { user_id } = await platform.user()
    const credit = (body: object) => platform.operator.call('POST', `/users/${user_id}/credit`, body)
    ok(await credit({ account: 'spot', currency: 'btc', amount: '0.12345678' }))
    ok(await credit({ account: 'margin', currency: 'BTC', amount: '1', currency_pair: 'BTC_USDT' }))
    ok(await credit({ account: 'futures', currency: 'USDT', amount: '2', settle: 'usdt' }))
    ok(await credit({ account: 'delivery', currency: 'USDT', amount: '3', settle: 'usdt' }))
    ok(await credit({ account: 'options', currency: 'USDT', amount: '4' }))
    const balances = await platform.operator.ok('GET', `/users/${user_id}/balances`)
    assert.deepEqual(
      balances.map((b: Record<string, string>) => [
        b['account'],
        b['currency'],
        b['available'],
        b['locked'],
        b['currency_pair'],
        b['settle'],
      ]),
      [
        ['delivery', 'USDT', '3', '0', '', 'usdt'],
        ['futures', 'USDT', '2', '0', '', 'usdt'],
        ['margin', 'BTC', '1', '0', 'BTC_USDT', ''],
        ['options', 'USDT', '4', '0', '', ''],
        ['spot', 'BTC', '0.12345678', '0', '', ''],
      ],
    )
    refused(await credit({ currency: 'NOPE', amount: '1' }), 400, 'INVALID_CURRENCY')
    refused(
      await credit({ currency: 'BTC', amount: '0.123456789' }),
      400,
      'INVALID_PARAM_VALUE',
      /8 decimals/,
    )
    refused(await credit({ currency: 'BTC', amount: '0' }), 400, 'INVALID_PARAM_VALUE')
    refused(
      await credit({ account: 'futures', currency: 'BTC', amount: '1' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /settle/,
    )
    refused(
      await platform.operator.call('POST', '/users/999/credit', { currency: 'BTC', amount: '1' }),
      404,
      'USER_NOT_FOUND',
    )
  })
  test('balances at a past second', async () => {
    const { user_id } = await platform.user()
    const start = platform.now()
    await platform.credit(user_id, 'USDT', '1')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 })
    const later = platform.now()
    await platform.credit(user_id, 'USDT', '2')
    await platform.credit(user_id, 'BTC', '5')
    // A whole second means all of it.
    const whole = Math.floor(platform.now())
    const at = async (seconds: number) =>
      (await platform.operator.ok('GET', `/users/${user_id}/balances?at=${seconds.toFixed(3)}`)).map(
        (row: Record<string, string>) => [row['currency'], row['available']],
      )
    assert.deepEqual(await at(start - 1), [])
    const rows = await platform.operator.ok('GET', `/users/${user_id}/balances?at=${whole}`)
    assert.deepEqual(
      rows.map((row: Record<string, string>) => row['available']),
      ['5', '3'],
    )
    assert.deepEqual(await at(start + 60), [['USDT', '1']])
    assert.deepEqual(await at(later - 1), [['USDT', '1']])
    assert.deepEqual(await at(later + 60), [
      ['BTC', '5'],
      ['USDT', '3'],
    ])
  })
  test('the clock moves forward only, for everything, and keeps its distance over a restart', async () => {
    const own = await TestPlatform.start()
    const before = (await own.operator.ok('GET', '/clock')).now
    const { now } = await own.operator.ok('POST', '/clock', { advance_seconds: 86_400 })
    assert.ok(now - before >= 86_400 && now - before < 86_410)
    const target = (now as number) + 1000
    assert.ok(
      Math.abs((await own.operator.ok('POST', '/clock', { now: Math.floor(target) })).now - target) < 2,
    )
    refused(
      await own.operator.call('POST', '/clock', { now: Math.floor(before) }),
      400,
      'INVALID_PARAM_VALUE',
      /run back/,
    )
    refused(await own.operator.call('POST', '/clock', {}), 400, 'MISSING_REQUIRED_PARAM')
    refused(
      await own.operator.call('POST', '/clock', { now: before + 60, advance_seconds: 1 }),
      400,
      'INVALID_PARAM_VALUE',
      /not both/,
    )
    refused(await own.operator.call('POST', '/clock', { advance_seconds: '-5' }), 400, 'INVALID_PARAM_VALUE')
    const { client, credential } = await own.user()
    // A client of the real time and one of the platform's both go on; strict takes the platform's alone.
    ok(await new Client(own.url, credential).get('/account/detail'))
    ok(await client.get('/account/detail'))
    const again = await own.restart({ KONTOR_TIMESTAMPS: 'strict' })
    refused(await new Client(again.url, credential).get('/account/detail'), 401, 'REQUEST_EXPIRED')
    ok(await again.client(credential).get('/account/detail'))
    const after = (await again.operator.ok('GET', '/clock')).now
    assert.ok(after >= Math.floor(target) && after < target + 30, `${after} is not just after ${target}`)
    assert.ok(ok(await again.client().get('/spot/time')).server_time >= Math.floor(target) * 1000)
    await again.stop()
  })
  test('faults on demand: errors, delays, dropped replies and duplicates', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100')
    const set = (rules: object[]) => platform.operator.ok('PUT', '/faults', rules)
    await set([{ match: { path: '/spot/time' }, effect: 'error', status: 503, label: 'TOO_BUSY', times: 1 }])
    refused(await platform.client().get('/spot/time'), 503, 'TOO_BUSY')
    ok(await platform.client().get('/spot/time'))
    assert.deepEqual(await platform.operator.ok('GET', '/faults'), [])
    await set([{ match: { user_id, method: 'GET' }, effect: 'delay', delay_ms: 300 }])
    const start = performance.now()
    ok(await client.get('/account/detail'))
    assert.ok(performance.now() - start >= 295)
    const transfer = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '1' }
    await set([{ match: { path: '/wallet/*' }, effect: 'drop_reply', times: 1 }])
    await assert.rejects(client.post('/wallet/transfers', transfer))
    assert.equal(await platform.balance(user_id, 'USDT'), '99', 'the reply is lost, the transfer is not')
    await set([{ match: { path: '/api/v4/wallet/transfers' }, effect: 'duplicate', times: 1 }])
    ok(await client.post('/wallet/transfers', transfer))
    assert.equal(
      await platform.balance(user_id, 'USDT'),
      '97',
      'a request without an id of its own happens twice',
    )
    await set([{ effect: 'error', probability: 0 }])
    ok(await client.get('/account/detail'))
    refused(
      await platform.operator.call('PUT', '/faults', [{ effect: 'explode' }]),
      400,
      'INVALID_PARAM_VALUE',
      /effect/,
    )
    await set([])
  })
  test('the audit log is complete and chained', async () => {
    const records = await platform.operator.ok('GET', '/audit?limit=1000')
    assert.ok(records.length > 20)
    let previous = GENESIS_HASH
    for (const [i, record] of records.entries()) {
      assert.equal(record.id, i + 1)
      assert.equal(record.previous_hash, previous)
      assert.equal(auditHash({ ...record, at: Number(record.at) }), record.hash)
      assert.equal(record.operator, 'admin')
      previous = record.hash
    }
    const actions = new Set(records.map(({ action }: { action: string }) => action))
    for (const action of [
      'user.create',
      'user.change',
      'user.credit',
      'key.create',
      'operator.create',
      'operator.delete',
      'clock.set',
      'faults.set',
    ])
      assert.ok(actions.has(action), action)
    assert.deepEqual(await platform.operator.ok('GET', '/audit?from=3&limit=2'), records.slice(2, 4))
    assert.ok(!JSON.stringify(records).includes(TOKEN))
  })
  test('the ledger proof adds up', async () => {
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
    assert.match(proof.state_hash, /^[0-9a-f]{64}$/)
    const btc = proof.currencies.find(({ currency }: { currency: string }) => currency === 'BTC')
    const { equity, ...others } = btc.accounts as Record<string, string>
    const owed = Object.values(others)
      .map(amountOf)
      .reduce(add, amountOf(btc.user_liabilities as string))
    assert.deepEqual([btc.total, equity], ['0', `-${format(owed)}`])
  })
  test('reset: the world of the first start again, with the same keys', async () => {
    const own = await TestPlatform.start()
    const before = (await own.operator.ok('GET', '/ledger/proof')).currencies
    const extra = await own.user()
    await own.credit(extra.user_id, 'BTC', '3')
    await own.operator.ok('POST', '/clock', { advance_seconds: 1000 })
    await own.operator.ok('POST', '/reset')
    assert.deepEqual((await own.operator.ok('GET', '/ledger/proof')).currencies, before)
    refused(await extra.client.get('/account/detail'), 401, 'INVALID_KEY')
    ok(await own.demo().get('/account/detail'))
    assert.ok(Math.abs((await own.operator.ok('GET', '/clock')).now - Date.now() / 1000) < 5)
    const again = await own.restart()
    assert.deepEqual((await again.operator.ok('GET', '/ledger/proof')).currencies, before)
    await again.stop()
  })
  test('reset: nothing that was reckoned before it is told after it', async () => {
    const own = await TestPlatform.start({ KONTOR_CLOCK: '1800000000' })
    const total = async (): Promise<string> => ok(await own.demo().get('/wallet/total_balance')).total.amount
    const { user_id: demo } = own.platform.credentials.accounts[0]!
    interface World {
      readonly amount: number
      readonly sequence: number
      readonly root: string
      readonly total: string
    }
    const begin = async (amount: number): Promise<World> => {
      await own.operator.ok('POST', '/reset')
      await own.credit(demo, 'USDT', String(amount))
      const { sequence, root, currencies } = await own.operator.ok('GET', '/ledger/liabilities')
      const { sum } = currencies.find(({ currency }: { currency: string }) => currency === 'USDT')
      assert.equal(
        sum,
        (await own.operator.ok('GET', '/ledger/proof')).currencies.find(
          ({ currency }: { currency: string }) => currency === 'USDT',
        ).user_liabilities,
      )
      return { amount, sequence, root, total: await total() }
    }
    // Only where one comes to the same batch as the one before could anything be taken for the other; how many batches there
    // are depends on the moment.
    let one = await begin(1_000)
    let other = await begin(2_000)
    for (let amount = 3_000; one.sequence !== other.sequence; amount += 1_000) {
      assert.ok(amount < 20_000, 'no two worlds came to the same batch')
      one = other
      other = await begin(amount)
    }
    assert.notEqual(one.root, other.root)
    assert.equal(Number(other.total) - Number(one.total), other.amount - one.amount)
    await own.stop()
  })
  test('live mode has no demo world, and what drives a sandbox is not there', async () => {
    const live = await TestPlatform.start(LIVE)
    for (const [method, path] of [
      ['GET', '/clock'],
      ['POST', '/clock'],
      ['GET', '/faults'],
      ['PUT', '/faults'],
      ['POST', '/reset'],
      ['POST', '/users/10001/credit'],
    ] as const)
      refused(await live.operator.call(method, path, method === 'GET' ? undefined : {}), 404, 'NOT_FOUND')
    assert.deepEqual(await live.operator.ok('GET', '/users'), [])
    assert.deepEqual((await live.operator.ok('GET', '/status')).mode, 'live')
    await live.stop()
  })
})
