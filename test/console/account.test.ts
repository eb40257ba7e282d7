import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { signedIn, type Browser } from '../support/console.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'
import { SocketClient } from '../support/socket.ts'

describe('what the console has beyond the API', () => {
  let platform: TestPlatform
  let main: number
  let sub: number
  let browser: Browser
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1' })
    const { accounts } = platform.platform.credentials
    main = accounts[0]!.user_id
    sub = accounts.find(({ parent }) => parent === main)!.user_id
    browser = await signedIn(platform, { user_id: main })
  })
  after(() => platform.stop())
  const asSub = (): Record<string, string> => ({ 'X-Kontor-Account': String(sub) })

  test('keys: made, used, changed, deleted; the secret is shown once', async () => {
    const body = { name: 'bot', perms: allPerms(), ip_whitelist: [], replay_protection: true }
    const made = ok(await browser.post('/v1/keys', body), 201)
    assert.equal(made.secret.length, 64)
    const client = platform.client(made)
    assert.equal(ok(await client.get('/account/detail')).user_id, main)
    const list = await browser.ok('GET', '/v1/keys')
    const mine = list.find(({ key }: { key: string }) => key === made.key)
    assert.deepEqual([mine.name, mine.replay_protection, 'secret' in mine], ['bot', true, false])
    const put = await browser.call('PUT', `/v1/keys/${String(made.key)}`, {
      name: 'reader',
      perms: [{ name: 'account', read_only: true }],
    })
    assert.equal(put.status, 204, put.text)
    refused(await client.get('/spot/accounts'), 403, 'FORBIDDEN')
    assert.equal((await browser.call('DELETE', `/v1/keys/${String(made.key)}`)).status, 204)
    refused(await client.get('/account/detail'), 401, 'INVALID_KEY')
    refused(await browser.call('DELETE', `/v1/keys/${String(made.key)}`), 404, 'NOT_FOUND')
  })
  test('keys of others are none of mine', async () => {
    const stranger = await platform.user()
    const at = `/v1/keys/${stranger.credential.key}`
    refused(await browser.call('DELETE', at), 404, 'NOT_FOUND')
    refused(await browser.call('PUT', at, { name: 'x' }), 404, 'NOT_FOUND')
    ok(await stranger.client.get('/account/detail'))
    const made = ok(await browser.post('/v1/keys', { name: 'sub', perms: allPerms(true) }, asSub()), 201)
    assert.equal(made.user_id, sub)
    refused(await browser.call('DELETE', `/v1/keys/${String(made.key)}`), 404, 'NOT_FOUND')
    refused(
      await browser.post('/v1/keys', { name: 'sub', perms: allPerms() }, asSub()),
      400,
      'INVALID_PARAM_VALUE',
      /withdrawal/,
    )
    assert.equal(
      (await browser.call('DELETE', `/v1/keys/${String(made.key)}`, undefined, asSub())).status,
      204,
    )
  })
  test('addresses: saved, cooled, withdrawn to, forgotten', async () => {
    const { address } = ok(await platform.demo().get('/wallet/deposit_address', { currency: 'BTC' }))
    const stranger = await platform.user()
    const theirs = ok(await stranger.client.get('/wallet/deposit_address', { currency: 'BTC' })).address
    assert.notEqual(theirs, address)
    const saved = ok(
      await browser.post('/v1/addresses', { currency: 'BTC', address: theirs, name: 'friend' }),
      201,
    )
    assert.ok([86_400, 86_401].includes(saved.usable_at - saved.create_time), 'a day, and not a second less')
    const list = await browser.ok('GET', '/v1/addresses')
    assert.ok(list.some(({ id, name }: { id: number; name: string }) => id === saved.id && name === 'friend'))
    const known = ok(await platform.demo().get('/wallet/saved_address', { currency: 'BTC' }))
    assert.ok(
      known.some(
        (one: { address: string; verified: string }) => one.address === theirs && one.verified === '1',
      ),
    )
    const again = ok(
      await browser.post('/v1/addresses', { currency: 'BTC', address: theirs, name: 'pal' }),
      201,
    )
    assert.deepEqual(
      [again.id, again.usable_at],
      [saved.id, saved.usable_at],
      'its time does not begin again',
    )
    refused(
      await browser.post('/v1/addresses', { currency: 'BTC', address: 'nonsense' }),
      400,
      'INVALID_PARAM_VALUE',
    )
    const other = await signedIn(platform, { user_id: stranger.user_id })
    refused(await other.call('DELETE', `/v1/addresses/${String(saved.id)}`), 404, 'NOT_FOUND')
    refused(
      await browser.post('/v1/addresses', { currency: 'BTC', address: theirs }, asSub()),
      403,
      'FORBIDDEN',
    )
    assert.equal((await browser.call('DELETE', `/v1/addresses/${String(saved.id)}`)).status, 204)
  })
  test('pushes: the receiver accepts or refuses, the sender cancels, nobody else does anything', async () => {
    const receiver = await platform.user()
    await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { push_acceptance: 'manual' })
    const theirs = await signedIn(platform, { user_id: receiver.user_id })
    const third = await signedIn(platform, { user_id: (await platform.user()).user_id })
    const push = async (): Promise<string> => {
      await platform.operator.ok('POST', '/clock', { advance_seconds: 11 })
      const body = { receive_uid: receiver.user_id, currency: 'USDT', amount: '5' }
      return String((await browser.ok('POST', '/api/v4/withdrawals/push', body)).id)
    }
    const first = await push()
    for (const [who, verb] of [
      [third, 'accept'],
      [third, 'cancel'],
      [browser, 'accept'],
      [theirs, 'cancel'],
    ] as const)
      refused(await who.post(`/v1/pushes/${first}/${verb}`), 404, 'NOT_FOUND')
    assert.equal(ok(await theirs.post(`/v1/pushes/${first}/accept`)).status, 'RECEIVED')
    assert.equal(await platform.balance(receiver.user_id, 'USDT'), '5')
    ok(await theirs.post(`/v1/pushes/${await push()}/refuse`))
    ok(await browser.post(`/v1/pushes/${await push()}/cancel`))
    assert.equal(await platform.balance(receiver.user_id, 'USDT'), '5')
    await platform.operator.ok('PUT', '/policy', { push_transfers: 'checked' })
    const held = await push()
    refused(await theirs.post(`/v1/pushes/${held}/accept`), 403, 'FORBIDDEN', /waits for the platform/)
    ok(await browser.post(`/v1/pushes/${held}/cancel`))
    await platform.operator.ok('PUT', '/policy', { push_transfers: 'free' })
  })
  test('worth: the line ends at the total balance, and begins before the money came', async () => {
    const { user_id, client } = await platform.user()
    const rich = await signedIn(platform, { user_id })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 7_200 })
    await platform.credit(user_id, 'USDT', '1000')
    await platform.credit(user_id, 'BTC', '1')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 7_200 })
    const { currency, points } = await rich.ok('GET', '/v1/worth?range=24h')
    assert.equal(currency, 'USDT')
    assert.equal(points.length, 25)
    assert.equal(points[0].total, '0')
    const { total } = ok(await client.get('/wallet/total_balance'))
    assert.equal(points.at(-1).total, total.amount)
    assert.ok(Number(points.at(-2).total) > 1000)
    // Where all of the money came after the last moment of a coarse line, a finer one is shown: which, the hour of the day decides.
    for (const range of ['7d', '30d'])
      assert.ok((await rich.ok('GET', `/v1/worth?range=${range}`)).points.length >= 25)
    refused(await rich.get('/v1/worth?range=1y'), 400, 'INVALID_PARAM_VALUE')
  })
  test('worth: who came just now sees a line by the minute, and by the hour later', async () => {
    const { user_id } = await platform.user()
    const young = await signedIn(platform, { user_id })
    const line = async (range = '24h'): Promise<readonly { time: number; total: string }[]> =>
      (await young.ok('GET', `/v1/worth?range=${range}`)).points
    assert.equal((await line()).length, 25)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3_600 })
    // Just after an hour: the next one is far.
    const into = (await platform.operator.ok('GET', '/clock')).now % 3_600
    await platform.operator.ok('POST', '/clock', { advance_seconds: Math.round(3_600 - into) + 60 })
    await platform.credit(user_id, 'USDT', '1000')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 180 })
    const minutes = await line()
    const held = minutes.filter(({ total }) => total === '1000')
    assert.ok(held.length >= 3 && held.length <= 5, JSON.stringify(held))
    assert.equal(held[1]!.time - held[0]!.time, 60)
    assert.equal(minutes[0]!.total, '0')
    const [first, second] = (await line('30d')).filter(({ total }) => total === '1000')
    assert.equal(second!.time - first!.time, 60)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3_600 })
    const hours = await line()
    assert.deepEqual([hours.length, hours.at(-2)!.total], [25, '1000'])
  })
  test('worth: nobody waits for prices of the time before there was money', async () => {
    const lively = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
    try {
      const { user_id } = lively.platform.credentials.accounts[0]!
      const rich = await signedIn(lively, { user_id })
      await lively.operator.ok('POST', '/clock', { advance_seconds: 7_200 })
      const asked: number[] = []
      await lively.platform.desk.core.read(({ spot: { history } }) => {
        const make = history!.candles.bind(history)
        history!.candles = (pair, seconds, from, to) => {
          asked.push(to - from)
          return make(pair, seconds, from, to)
        }
      })
      for (const [range, most] of [
        ['24h', 86_400],
        ['7d', 86_400],
        ['30d', 3 * 86_400],
      ] as const) {
        asked.length = 0
        const { points } = await rich.ok('GET', `/v1/worth?range=${range}`)
        assert.ok(Number(points.at(-1).total) > 1_000_000)
        if (range === '24h') assert.ok(Number(points.at(-2).total) > 1_000_000)
        assert.deepEqual(
          asked.filter((seconds) => seconds > most),
          [],
        )
      }
    } finally {
      await lively.stop()
    }
  })
  test('requests: those of the family’s keys, none of anybody else, none of the console', async () => {
    const stranger = await platform.user()
    await stranger.client.get('/spot/accounts')
    await platform.demo().get('/spot/accounts')
    await platform.demo('demo_bot').get('/spot/open_orders')
    await browser.ok('GET', '/api/v4/spot/fee')
    const { requests } = await browser.ok('GET', '/v1/requests?limit=1000')
    const users = new Set(requests.map((one: { user_id: number }) => one.user_id))
    assert.deepEqual([...users].sort(), [main, sub])
    assert.ok(requests.every(({ path }: { path: string }) => path.startsWith('/api/v4/')))
    assert.ok(!requests.some(({ path }: { path: string }) => path === '/api/v4/spot/fee'))
    const all = await platform.operator.ok('GET', '/requests?limit=1000')
    assert.ok(!all.requests.some(({ path }: { path: string }) => path.startsWith('/console/')))
  })
  test('limits: a page costs a bot nothing, and shows what is left of its windows', async () => {
    const { user_id, client, credential } = await platform.user()
    const page = await signedIn(platform, { user_id })
    const remain = async (): Promise<number> =>
      Number((await client.get('/account/detail')).headers.get('x-svc-ratelimit-requests-remain'))
    const before = await remain()
    for (let i = 0; i < 20; i++) ok(await page.get('/api/v4/account/detail'))
    assert.equal(await remain(), before - 1)
    const windows = await page.ok('GET', '/v1/limits')
    const mine = windows.find(({ bucket }: { bucket: string }) => bucket === 'GET /account/detail')
    assert.deepEqual([mine.limit, mine.remain, mine.seconds], [150, before - 1, 10])
    const socket = await SocketClient.open(platform.url, platform.now, '/v4/ws/usdt')
    await socket.login(credential, 'futures.login')
    await socket.call('futures.order_cancel', { order_id: '1' })
    const calls = (await page.ok('GET', '/v1/limits')).find(
      ({ bucket }: { bucket: string }) => bucket === 'futures.calls',
    )
    assert.deepEqual([calls.limit, calls.remain, calls.seconds], [100, 99, 1])
    await socket.close()
    let last = await page.get('/api/v4/account/detail')
    for (let i = 0; i < 150 && last.status === 200; i++) last = await page.get('/api/v4/account/detail')
    refused(last, 429, 'TOO_MANY_REQUESTS')
    assert.equal((await client.get('/account/detail')).status, 200)
  })
  test('sockets: one’s own', async () => {
    const { user_id, credential } = await platform.user()
    const page = await signedIn(platform, { user_id })
    const socket = await SocketClient.open(platform.url, platform.now)
    await socket.login(credential)
    const rows = await page.ok('GET', '/v1/sockets')
    assert.deepEqual(
      rows.map(({ user_ids }: { user_ids: number[] }) => user_ids),
      [[user_id]],
    )
    assert.deepEqual(await browser.ok('GET', '/v1/sockets'), [])
    await socket.close()
  })
})
