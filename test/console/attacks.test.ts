import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { IDLE_SECONDS, SESSION_SECONDS } from '../../src/core/logins/sessions.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { Browser, linkFor, signedIn } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'

/** A request with any header at all, the Host included. */
function raw(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => {
        const told = new Headers()
        for (const [name, value] of Object.entries(response.headers)) told.set(name, String(value))
        const json = text.startsWith('{') || text.startsWith('[') ? (JSON.parse(text) as unknown) : undefined
        resolve({ status: response.statusCode!, headers: told, text, body: json })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('attacks on the console', () => {
  let platform: TestPlatform
  let main: number
  before(async () => {
    platform = await TestPlatform.start()
    main = platform.platform.credentials.accounts[0]!.user_id
  })
  after(() => platform.stop())
  const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '1000', account: 'spot' }

  test('forged requests: no token, a wrong one, that of another session or of the other kind', async () => {
    const victim = await signedIn(platform, { user_id: main })
    await signedIn(platform, { operator: 'admin' }, victim)
    const thief = await signedIn(platform, { user_id: (await platform.user()).user_id })
    const tokens = [
      undefined,
      '',
      'x',
      '0'.repeat(32),
      thief.csrf.get('account'),
      victim.csrf.get('operator'),
    ]
    for (const token of tokens)
      for (const [method, path, body] of [
        ['POST', '/api/v4/spot/orders', order],
        ['DELETE', '/api/v4/spot/orders?currency_pair=BTC_USDT', undefined],
        ['POST', '/v1/keys', { name: 'x' }],
        ['POST', '/v1/password', { next: 'a long new password' }],
        ['DELETE', '/v1/sessions/1', undefined],
      ] as const)
        refused(await victim.call(method, path, body, { 'X-Kontor-CSRF': token }), 403, 'FORBIDDEN', /CSRF/)
    refused(
      await victim.post(
        '/operator/v1/clock',
        { advance_seconds: 1 },
        { 'X-Kontor-CSRF': victim.csrf.get('account') },
      ),
      403,
      'FORBIDDEN',
      /CSRF/,
    )
    ok(await victim.post('/api/v4/spot/orders', order), 201)
  })
  test('pages elsewhere: Origin, Referer and Sec-Fetch-Site', async () => {
    const victim = await signedIn(platform, { user_id: main })
    const { port } = new URL(platform.url)
    const elsewhere = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://127.0.0.1:1' },
      { Origin: `http://localhost:${port}` },
      { Origin: `${platform.url}@evil.example` },
      { Origin: `${platform.url}.evil.example` },
      { Origin: undefined, Referer: 'https://evil.example/page' },
      { Origin: undefined, Referer: 'nonsense' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'none' },
    ]
    for (const headers of elsewhere) {
      const told = JSON.stringify(headers)
      const reply = await victim.call('POST', '/api/v4/spot/orders', order, headers)
      assert.equal(`${reply.status} ${String(reply.body.label)}`, '403 FORBIDDEN', told)
      const token = await linkFor(platform, { user_id: main })
      const entered = await victim.call('POST', '/v1/enter', { token }, headers)
      assert.equal(entered.status, 403, `nobody is signed in by a page elsewhere: ${told}`)
    }
    for (const headers of elsewhere.filter((one) => one.Origin !== undefined))
      assert.equal(
        (await victim.call('GET', '/v1/session', undefined, headers)).status,
        403,
        'nor told who is',
      )
    assert.equal(
      (await victim.call('GET', '/v1/session', undefined, { 'Sec-Fetch-Site': 'cross-site' })).status,
      403,
    )
    ok(await victim.get('/v1/session', { 'Sec-Fetch-Site': 'none' }))
    ok(await victim.get('/v1/session', { 'Sec-Fetch-Site': 'same-origin', Origin: platform.url }))
  })
  test('a form of another page can send no JSON', async () => {
    const victim = await signedIn(platform, { user_id: main })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      refused(
        await victim.call('POST', '/v1/sign-in', { kind: 'account' }, { 'Content-Type': type }),
        400,
        'INVALID_CONTENT_TYPE',
      )
  })
  test('a name that was pointed at this machine (DNS rebinding) is not answered', async () => {
    const victim = await signedIn(platform, { user_id: main })
    const { port } = new URL(platform.url)
    const Host = `rebound.example:${port}`
    const headers = { Host, Cookie: victim.cookie, Origin: `http://${Host}` }
    for (const path of ['/', '/console/v1/session', '/console/v1/platform', '/console/api/v4/account/detail'])
      refused(await raw(platform.url, 'GET', path, headers), 403, 'FORBIDDEN', /Host/)
  })
  test('no page may be shown in a frame, read by another origin, or kept by a cache', async () => {
    const page = await raw(platform.url, 'GET', '/', { Accept: 'text/html' })
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
    assert.equal(page.headers.get('x-frame-options'), 'DENY')
    const told = await new Browser(platform.url).get('/v1/session')
    assert.equal(told.headers.get('cache-control'), 'no-store')
    assert.equal(told.headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(told.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(told.headers.get('access-control-allow-origin'), null)
  })
  test('CORS of the trading API opens nothing of the console', async () => {
    const open = await TestPlatform.start({ KONTOR_CORS: '*' })
    const headers = { Origin: 'https://bot.example', 'Access-Control-Request-Method': 'POST' }
    for (const path of [
      '/console/v1/session',
      '/console/api/v4/spot/orders',
      '/console/operator/v1/status',
    ]) {
      const preflight = await raw(open.url, 'OPTIONS', path, headers)
      assert.equal(preflight.headers.get('access-control-allow-origin'), null, path)
      const read = await raw(open.url, 'GET', path, { Origin: 'https://bot.example' })
      assert.equal(read.headers.get('access-control-allow-origin'), null)
      assert.ok(read.status === 403 || read.status === 405, `${path} ${read.status}`)
    }
    await open.stop()
  })
  test('fixation: a value that was there before signing in is never adopted', async () => {
    const planted = 'a'.repeat(64)
    const browser = new Browser(platform.url)
    browser.cookies.set('kontor_session', planted)
    await signedIn(platform, { user_id: main }, browser)
    assert.notEqual(browser.token(), planted)
    assert.equal(
      (await new Browser(platform.url).get('/v1/session', { Cookie: `kontor_session=${planted}` })).body
        .account,
      null,
    )
    // The thief's own session, planted beside the victim's: neither is believed.
    const thief = await signedIn(platform, { user_id: (await platform.user()).user_id })
    const both = [
      `kontor_session=${thief.token()!}; ${browser.cookie}`,
      `${browser.cookie}; kontor_session=${thief.token()!}`,
    ]
    for (const Cookie of both)
      refused(await browser.get('/api/v4/account/detail', { Cookie }), 401, 'INVALID_CREDENTIALS')
  })
  test('a session is of one kind: under the other cookie it is nobody', async () => {
    const account = await signedIn(platform, { user_id: main })
    const operator = await signedIn(platform, { operator: 'admin' })
    const as = (name: string, value: string) => ({ Cookie: `${name}=${value}` })
    refused(
      await account.get('/operator/v1/status', as('kontor_operator', account.token()!)),
      401,
      'INVALID_CREDENTIALS',
    )
    refused(
      await account.get('/api/v4/account/detail', as('kontor_session', operator.token('operator')!)),
      401,
      'INVALID_CREDENTIALS',
    )
    for (const value of ['', 'x', '__proto__', '0'.repeat(64)])
      refused(
        await account.get('/api/v4/account/detail', as('kontor_session', value)),
        401,
        'INVALID_CREDENTIALS',
      )
  })
  test('a locked or frozen account does nothing through a session either', async () => {
    const { user_id } = await platform.user()
    const sub = await platform.user({ parent: user_id })
    const browser = await signedIn(platform, { user_id })
    await browser.ok('POST', `/api/v4/sub_accounts/${sub.user_id}/lock`)
    refused(
      await browser.get('/api/v4/account/detail', { 'X-Kontor-Account': String(sub.user_id) }),
      403,
      'ACCOUNT_LOCKED',
    )
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 2 })
    refused(await browser.get('/api/v4/account/detail'), 403, 'ACCOUNT_LOCKED')
    refused(await browser.post('/v1/keys', { name: 'x' }), 403, 'ACCOUNT_LOCKED')
  })
  test('every endpoint below /console refuses who has no session, and an account is no operator', async () => {
    const nobody = new Browser(platform.url)
    const spec = (await (await fetch(`${platform.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { 'x-access': { kind: string } }>>
    }
    let count = 0
    for (const [path, methods] of Object.entries(spec.paths))
      for (const [method, { 'x-access': access }] of Object.entries(methods)) {
        if (access.kind === 'public') continue
        const below = path.startsWith('/console') ? path.slice('/console'.length) : path
        const body = method === 'post' || method === 'put' || method === 'patch' ? {} : undefined
        const reply = await nobody.call(method.toUpperCase(), below.replace(/\{\w+\}/g, '1'), body)
        assert.equal(
          `${reply.status} ${String(reply.body?.label)}`,
          '401 INVALID_CREDENTIALS',
          `${method} ${path}`,
        )
        count++
      }
    assert.ok(count > 150, String(count))
  })
  test('a cookie value that nobody may read is in no log and no answer', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const told = JSON.stringify([
      await browser.ok('GET', '/v1/session'),
      await browser.ok('GET', '/v1/sessions'),
      await platform.operator.ok('GET', '/requests?limit=1000'),
      await platform.operator.ok('GET', '/audit?limit=1000'),
    ])
    assert.ok(!told.includes(browser.token()!))
    assert.ok(!/token_hash/.test(told))
  })
  test('time: a session that rested too long, or is too old, is over', async () => {
    const { sessions } = platform.platform.desk.core.state.logins
    for (const [member, over] of [
      ['last_seen', IDLE_SECONDS],
      ['created_at', SESSION_SECONDS],
    ] as const)
      for (const [age, status] of [
        [over - 60, 200],
        [over, 401],
      ] as const) {
        const browser = new Browser(platform.url)
        const token = await linkFor(platform, { user_id: main })
        const { account } = await browser.ok('POST', '/v1/enter', { token })
        const session = sessions.get(account.session_id as number)!
        // Nobody waits for days: the row is as it will be then.
        sessions.swap(session.id, { ...session, [member]: session[member] - age }, 'load')
        assert.equal((await browser.get('/api/v4/account/detail')).status, status, `${member} ${age}`)
      }
  })
})

test('a restart keeps sessions, a moved clock ends none, a reset ends them all', async () => {
  let platform = await TestPlatform.start(withoutContracts())
  const main = platform.platform.credentials.accounts[0]!.user_id
  const browser = await signedIn(platform, { user_id: main })
  platform = await platform.restart()
  const moved = new Browser(platform.url)
  for (const [name, value] of browser.cookies) moved.cookies.set(name, value)
  assert.equal((await moved.ok('GET', '/v1/session')).account.user_id, main)
  await platform.operator.ok('POST', '/clock', { advance_seconds: 30 * 86_400 })
  ok(await moved.get('/api/v4/account/detail'))
  await platform.operator.ok('POST', '/reset')
  assert.equal((await moved.ok('GET', '/v1/session')).account, null)
  refused(await moved.get('/api/v4/account/detail'), 401, 'INVALID_CREDENTIALS')
  await platform.stop()
})

test('with an address of their own operators sign in there, and accounts do not', async () => {
  const platform = await TestPlatform.start({ KONTOR_OPERATOR_LISTEN: '127.0.0.1:0' })
  const { url, operatorUrl } = platform.platform
  assert.notEqual(url, operatorUrl)
  const main = platform.platform.credentials.accounts[0]!.user_id
  const [outside, inside] = [new Browser(url), new Browser(operatorUrl)]
  assert.deepEqual((await outside.ok('GET', '/v1/platform')).rooms, ['account', 'lab'])
  assert.deepEqual((await inside.ok('GET', '/v1/platform')).rooms, ['operator'])
  const token = await linkFor(platform, { operator: 'admin' }, { many: true })
  refused(await outside.post('/v1/enter', { token }), 403, 'FORBIDDEN', /address/)
  await inside.ok('POST', '/v1/enter', { token })
  ok(await inside.get('/operator/v1/status'))
  refused(
    await inside.post('/v1/enter', { token: await linkFor(platform, { user_id: main }) }),
    403,
    'FORBIDDEN',
  )
  // Cookies know no ports: the same browser sends this one to the public address, where it is nobody.
  for (const [name, value] of inside.cookies) outside.cookies.set(name, value)
  assert.equal((await outside.ok('GET', '/v1/session')).operator, null)
  refused(await outside.get('/operator/v1/status'), 404, 'NOT_FOUND')
  refused(await outside.get('/v1/sessions?kind=operator'), 401, 'INVALID_CREDENTIALS')
  refused(
    await outside.post('/v1/sign-in', { kind: 'operator', name: 'admin', password: 'x' }),
    403,
    'FORBIDDEN',
  )
  refused(await inside.get('/v1/keys'), 404, 'NOT_FOUND')
  await platform.stop()
})
