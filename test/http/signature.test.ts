import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { replayStore } from '../../src/checks/replay-store.ts'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { openSnapshot } from '../../src/store/open.ts'
import { ok, refused, send, type Credential, type Reply } from '../support/client.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'

interface Captured {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
}
/** A signed request, as somebody who listens would have it. `signedQuery` is what the client put into the signature. */
function capture(
  { key, secret }: Credential,
  method: string,
  path: string,
  options: { query?: string; signedQuery?: string; body?: unknown; timestamp?: string } = {},
): Captured {
  const { query = '', signedQuery = query } = options
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const timestamp = options.timestamp ?? String(Math.floor(Date.now() / 1000))
  const parts = {
    method,
    path: `/api/v4${path}`,
    query: signedQuery,
    bodyDigest: bodyDigest(body === undefined ? undefined : Buffer.from(body)),
    timestamp,
  }
  const headers = {
    KEY: key,
    Timestamp: timestamp,
    SIGN: sign(secret, signatureString(parts)),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  return { method, path: `/api/v4${path}${query === '' ? '' : `?${query}`}`, body, headers }
}

describe('a captured signature', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const replay = (url: string, { method, path, body, headers }: Captured): Promise<Reply> =>
    send(url, method, path, body, headers)
  const order = (currency_pair: string, price: string) => ({ currency_pair, side: 'buy', amount: '1', price })

  test('does not fit a wider request: the query is split before it is decoded', async () => {
    const { client, user_id, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '1000')
    ok(await client.post('/spot/orders', order('BTC_USDT', '10')), 201)
    ok(await client.post('/spot/orders', order('SOL_USDT', '10')), 201)
    const pair = capture(credential, 'DELETE', '/spot/orders', { query: 'currency_pair=BTC_USDT' })
    // Read as one parameter without a value, it would name no market: all orders would be cancelled.
    for (const query of [
      'currency_pair%3DBTC_USDT',
      'currency_pair%3dBTC_USDT',
      'currency_pair=BTC_USDT'.replace('=', '%3D').replace('_', '%5F'),
    ])
      refused(
        await replay(platform.url, { ...pair, path: `/api/v4/spot/orders?${query}` }),
        401,
        'INVALID_SIGNATURE',
      )
    const two = capture(credential, 'DELETE', '/spot/orders', {
      query: 'account=spot&currency_pair=BTC_USDT',
    })
    for (const query of ['account=spot%26currency_pair=BTC_USDT', 'account=spot%26currency_pair%3DBTC_USDT'])
      refused(
        await replay(platform.url, { ...two, path: `/api/v4/spot/orders?${query}` }),
        401,
        'INVALID_SIGNATURE',
      )
    const encoded = capture(credential, 'DELETE', '/spot/orders', { query: 'currency%5Fpair=BTC_USDT' })
    const twice = { ...encoded, path: '/api/v4/spot/orders?currency%255Fpair=BTC_USDT' }
    refused(await replay(platform.url, twice), 401, 'INVALID_SIGNATURE')
    assert.equal((ok(await client.get('/spot/open_orders')) as unknown[]).length, 2, 'both still rest')
    // The same parameters, otherwise encoded, are the same request.
    ok(await replay(platform.url, { ...pair, path: '/api/v4/spot/orders?currency%5Fpair=BTC%5FUSDT' }))
    assert.equal((ok(await client.get('/spot/open_orders')) as unknown[]).length, 1)
  })
  test('decoded forms stay: values may hold an equals sign, parameters come from the raw query', async () => {
    const { credential } = await platform.user()
    const get = (query: string, signedQuery: string): Promise<Reply> =>
      replay(platform.url, capture(credential, 'GET', '/account/stp_groups', { query, signedQuery }))
    for (const signed of ['name=a%3Db%2Cc+d', 'name=a=b,c+d', 'name=a=b,c d'])
      ok(await get('name=a%3Db%2Cc+d', signed))
    ok(await get('name=%E9', 'name=é'))
    ok(await get('name=%C3%A9', 'name=é'))
    refused(await get('name=%C3%A9', 'name=e'), 401, 'INVALID_SIGNATURE')
  })
  test('can be sent again as it is, unless the key has replay protection', async () => {
    const receiver = (await platform.user()).user_id
    const sender = await platform.user()
    await platform.credit(sender.user_id, 'USDT', '100')
    const body = { receive_uid: receiver, currency: 'USDT', amount: '10' }
    const push = (credential: Credential, timestamp?: string) =>
      capture(credential, 'POST', '/withdrawals/push', {
        body,
        ...(timestamp !== undefined && { timestamp }),
      })
    const plain = push(sender.credential)
    ok(await replay(platform.url, plain))
    ok(await replay(platform.url, plain))
    assert.equal(await platform.balance(sender.user_id, 'USDT'), '80', 'off by default')

    const key = await platform.operator.ok('POST', `/users/${sender.user_id}/keys`, {
      name: 'careful',
      perms: allPerms(),
      replay_protection: true,
    })
    assert.equal(key.replay_protection, true)
    const careful = push(key as Credential)
    ok(await replay(platform.url, careful))
    refused(await replay(platform.url, careful), 400, 'DUPLICATE_REQUEST', /another Timestamp/)
    const shouted = {
      ...careful,
      headers: { ...careful.headers, SIGN: careful.headers['SIGN']!.toUpperCase() },
    }
    refused(await replay(platform.url, shouted), 400, 'DUPLICATE_REQUEST')
    assert.equal(await platform.balance(sender.user_id, 'USDT'), '70')
    ok(await replay(platform.url, push(key as Credential, `${careful.headers['Timestamp']!}.5`)))
    assert.equal(await platform.balance(sender.user_id, 'USDT'), '60', 'signed anew it is another request')

    const address = `/users/${sender.user_id}/keys/${sender.credential.key}`
    refused(await platform.operator.call('PATCH', address, {}), 400, 'MISSING_REQUIRED_PARAM')
    assert.equal((await platform.operator.ok('PATCH', address, { replay_protection: true })).state, 1)
    const race = push(sender.credential, platform.now().toFixed(3))
    const replies = await Promise.all(Array.from({ length: 10 }, () => replay(platform.url, race)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(400)])
    assert.equal(await platform.balance(sender.user_id, 'USDT'), '50')
  })
  test('protection covers what carries an id, never an order without a text', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    await platform.credit(main.user_id, 'USDT', '1000')
    const path = `/users/${main.user_id}/keys/${main.credential.key}`
    await platform.operator.ok('PATCH', path, { replay_protection: true })
    const twice = async (request: Captured): Promise<Reply> => {
      const first = await replay(platform.url, request)
      assert.ok(first.status < 300, first.text)
      return replay(platform.url, request)
    }
    const ioc = { ...order('BTC_USDT', '10'), time_in_force: 'ioc' }
    const post = (address: string, body: unknown) => capture(main.credential, 'POST', address, { body })
    ok(await twice(post('/spot/orders', ioc)), 201)
    ok(await twice(post('/spot/orders', { ...ioc, text: 'apiv4' })), 201)
    // The first has ended, so its text may be used again; its request may not.
    refused(await twice(post('/spot/orders', { ...ioc, text: 't-1' })), 400, 'DUPLICATE_REQUEST', /SIGN/)
    refused(
      await twice(post('/spot/batch_orders', [{ ...ioc, text: 't-2' }])),
      400,
      'DUPLICATE_REQUEST',
      /SIGN/,
    )
    const transfer = { sub_account: sub.user_id, currency: 'USDT', amount: '1', direction: 'to' }
    ok(await twice(post('/wallet/sub_account_transfers', transfer)))
    const named = { ...transfer, client_order_id: 'c-1' }
    refused(await twice(post('/wallet/sub_account_transfers', named)), 400, 'DUPLICATE_REQUEST', /SIGN/)
    ok(
      await twice(
        post('/wallet/transfers', {
          currency: 'USDT',
          from: 'spot',
          to: 'futures',
          settle: 'usdt',
          amount: '1',
        }),
      ),
    )
    // A request that a fault delivers twice happens once.
    await platform.operator.ok('PUT', '/faults', [
      { effect: 'duplicate', times: 1, match: { user_id: main.user_id } },
    ])
    const receiver = (await platform.user()).user_id
    const pushed = post('/withdrawals/push', { receive_uid: receiver, currency: 'USDT', amount: '5' })
    refused(await replay(platform.url, pushed), 400, 'DUPLICATE_REQUEST')
    assert.equal(await platform.balance(receiver, 'USDT'), '5')
  })
  test("a sub-account's key has it too, and a client that does not know it leaves it on", async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const keys = `/sub_accounts/${sub.user_id}/keys`
    const made = ok(
      await main.client.post(keys, { name: 'a', perms: allPerms(true), replay_protection: true }),
    )
    const key = `${keys}/${String(made.key)}`
    const setting = async (): Promise<boolean> => ok(await main.client.get(key)).replay_protection as boolean
    ok(await main.client.put(key, { name: 'b', perms: allPerms(true) }), 204)
    assert.equal(await setting(), true)
    ok(await main.client.put(key, { name: 'b', perms: allPerms(true), replay_protection: false }), 204)
    assert.equal(await setting(), false)
  })
  test('is remembered over a restart and a move of the clock, and no longer than it is good for', async () => {
    let own = await TestPlatform.start()
    const { credential, user_id } = await own.user()
    await own.credit(user_id, 'USDT', '1000')
    const receiver = (await own.user()).user_id
    await own.operator.ok('PATCH', `/users/${user_id}/keys/${credential.key}`, { replay_protection: true })
    const body = { receive_uid: receiver, currency: 'USDT', amount: '1' }
    const push = (timestamp: string) => capture(credential, 'POST', '/withdrawals/push', { body, timestamp })
    const captured = push(String(Math.floor(Date.now() / 1000)))
    ok(await replay(own.url, captured))
    own = await own.restart()
    refused(await replay(own.url, captured), 400, 'DUPLICATE_REQUEST')
    // A sandbox takes the real time beside its own: so does the memory.
    await own.operator.ok('POST', '/clock', { advance_seconds: 3600 })
    for (let i = 0; i < 8; i++) ok(await replay(own.url, push((own.now() + i / 10).toFixed(3))))
    refused(await replay(own.url, captured), 400, 'DUPLICATE_REQUEST')
    own = await own.restart({ KONTOR_TIMESTAMPS: 'strict' })
    const { table } = own.platform.desk.core.state.seenRequests
    const remembered = (): number => table.size
    assert.equal(remembered(), 9)
    for (let round = 0; round < 4; round++) {
      await own.operator.ok('POST', '/clock', { advance_seconds: 121 })
      ok(await replay(own.url, push(own.now().toFixed(3))))
    }
    assert.ok(remembered() <= 2, `${remembered()} are remembered`)
    refused(await replay(own.url, captured), 401, 'REQUEST_EXPIRED')
    assert.equal(await own.balance(receiver, 'USDT'), '13')
    // What was forgotten, and when, is the same when the commands run again.
    await own.platform.stop()
    const snapshot = await openSnapshot({ data: own.data, databaseUrl: undefined })
    await replayStore(snapshot)
    await snapshot.close()
    own = await TestPlatform.start({}, own.data)
    await own.stop()
  })
  test('can not be kept alive by a body that takes its time', async () => {
    const { core } = platform.platform.desk
    const { credential } = await platform.user()
    const late = {
      key: credential.key,
      signature: 'ab'.repeat(64),
      timestamp: platform.platform.desk.clock.peek() - 61e6,
      real: null,
    }
    await assert.rejects(core.submit('key.once', late), { label: 'REQUEST_EXPIRED' })
  })
})

describe('timestamps', () => {
  test('while the clock is moved, the real time counts too, for x-gate-exptime as well; strict takes one clock', async () => {
    for (const strict of [false, true]) {
      const platform = await TestPlatform.start(strict ? { KONTOR_TIMESTAMPS: 'strict' } : {})
      const { credential, user_id } = await platform.user()
      await platform.credit(user_id, 'USDT', '100')
      await platform.operator.ok('POST', '/clock', { advance_seconds: 7200 })
      const client = platform.client(credential)
      const real = Math.floor(Date.now() / 1000)
      const get = (timestamp: number): Promise<Reply> =>
        client.request('GET', '/account/detail', { timestamp: String(timestamp) })
      ok(await get(real + 7200))
      // The server may look a second or two later than this clock was read.
      for (const shift of [-61, 65]) refused(await get(real + shift), 401, 'REQUEST_EXPIRED')
      const body = { currency_pair: 'BTC_USDT', side: 'buy', amount: '1', price: '10' }
      const place = (ms: number): Promise<Reply> =>
        client.request('POST', '/spot/orders', { body, headers: { 'x-gate-exptime': String(ms) } })
      if (strict) {
        refused(await get(real), 401, 'REQUEST_EXPIRED')
        refused(await place(Date.now() + 5_000), 401, 'REQUEST_EXPIRED')
      } else {
        ok(await get(real))
        ok(await place(Date.now() + 5_000), 201)
      }
      refused(await place(Date.now() - 5_000), 401, 'REQUEST_EXPIRED')
      await platform.stop()
    }
  })
})
