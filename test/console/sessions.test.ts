import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, send } from '../support/client.ts'
import { Browser, linkFor, signedIn } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let main: number
let sub: number
before(async () => {
  platform = await TestPlatform.start()
  const { accounts } = platform.platform.credentials
  main = accounts[0]!.user_id
  sub = accounts.find(({ parent }) => parent === main)!.user_id
})
after(() => platform.stop())

describe('coming in by a link', () => {
  test('a link that is good once signs in, and then no more', async () => {
    const token = await linkFor(platform, { user_id: main })
    const browser = new Browser(platform.url)
    const reply = await browser.post('/v1/enter', { token })
    const { account, operator, mode } = ok(reply)
    assert.deepEqual([account.user_id, account.name, operator, mode], [main, 'demo', null, 'sandbox'])
    assert.equal(account.accounts[0].kind, 'main')
    assert.ok(
      account.accounts.some(
        (one: { user_id: number; kind: string }) => one.user_id === sub && one.kind === 'sub',
      ),
    )
    const [cookie] = reply.headers.getSetCookie() as [string]
    assert.match(cookie, /^kontor_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
    assert.equal(reply.headers.get('cache-control'), 'no-store')
    refused(await new Browser(platform.url).post('/v1/enter', { token }), 401, 'INVALID_CREDENTIALS', /link/)
    assert.equal((await browser.ok('GET', '/v1/session')).account.user_id, main)
  })
  test('a link of the start is good again and again, until it ends', async () => {
    const token = await linkFor(platform, { user_id: main }, { many: true })
    for (let i = 0; i < 2; i++) ok(await new Browser(platform.url).post('/v1/enter', { token }))
    const late = await linkFor(platform, { user_id: main }, { many: true, seconds: 0 })
    refused(await new Browser(platform.url).post('/v1/enter', { token: late }), 401, 'INVALID_CREDENTIALS')
  })
  test('operators make one for themselves, and one for an account', async () => {
    const own = await platform.operator.ok('POST', '/console_links', {})
    assert.equal(own.path, `/enter#${String(own.token)}`)
    const browser = new Browser(platform.url)
    const { operator, account } = await browser.ok('POST', '/v1/enter', { token: own.token })
    assert.deepEqual([operator.name, operator.role, account], ['admin', 'admin', null])
    const theirs = await platform.operator.ok('POST', `/users/${main}/console_link`, {})
    const both = await browser.ok('POST', '/v1/enter', { token: theirs.token })
    assert.deepEqual([both.operator.name, both.account.user_id], ['admin', main], 'one browser may hold both')
    refused(
      await platform.operator.call('POST', `/users/${sub}/console_link`, {}),
      400,
      'USER_NOT_FOUND',
      /main/,
    )
  })
})

describe('the same endpoints, by session', () => {
  test('trading and operator calls work, each with its own session', async () => {
    const browser = await signedIn(platform, { user_id: main })
    assert.equal((await browser.ok('GET', '/api/v4/account/detail')).user_id, main)
    refused(await browser.get('/operator/v1/status'), 401, 'INVALID_CREDENTIALS')
    const operator = await signedIn(platform, { operator: 'admin' })
    assert.equal((await operator.ok('GET', '/operator/v1/status')).mode, 'sandbox')
    refused(await operator.get('/api/v4/account/detail'), 401, 'INVALID_CREDENTIALS')
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '1000', account: 'spot' }
    const placed = await browser.ok('POST', '/api/v4/spot/orders', order)
    assert.equal(placed.status, 'open')
    await browser.ok('DELETE', `/api/v4/spot/orders/${String(placed.id)}?currency_pair=BTC_USDT`)
  })
  test('X-Kontor-Account chooses one of the own accounts, and no other', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const stranger = await platform.user()
    const at = (account: string) => browser.get('/api/v4/account/detail', { 'X-Kontor-Account': account })
    assert.equal(ok(await at(String(sub))).user_id, sub)
    assert.equal(ok(await at(String(main))).user_id, main)
    for (const other of [String(stranger.user_id), '0', '-1', 'x', `${sub}.0`, ''])
      refused(await at(other), 403, 'FORBIDDEN', /X-Kontor-Account/)
    const reply = await browser.call('POST', '/api/v4/withdrawals', {}, { 'X-Kontor-Account': String(sub) })
    refused(reply, 403, 'FORBIDDEN', /sub-account/)
    const other = await signedIn(platform, { user_id: stranger.user_id })
    refused(await other.get('/api/v4/account/detail', { 'X-Kontor-Account': String(sub) }), 403, 'FORBIDDEN')
  })
  test('roles of operators hold', async () => {
    await platform.colleague('watcher', 'viewer')
    const browser = await signedIn(platform, { operator: 'watcher' })
    ok(await browser.get('/operator/v1/status'))
    refused(
      await browser.post('/operator/v1/clock', { advance_seconds: 1 }),
      403,
      'FORBIDDEN',
      /viewer.*operator/,
    )
  })
  test('/api/v4 and /operator/v1 know no cookie', async () => {
    const browser = await signedIn(platform, { user_id: main })
    await signedIn(platform, { operator: 'admin' }, browser)
    const headers = { Cookie: browser.cookie, 'X-Kontor-CSRF': browser.csrf.get('account')! }
    for (const path of ['/api/v4/account/detail', '/operator/v1/status'])
      refused(await send(platform.url, 'GET', path, undefined, headers), 401, 'MISSING_REQUIRED_HEADER')
  })
  test('keys and tokens do not open the console', async () => {
    const headers = { Authorization: `Bearer ${platform.operator.token}` }
    refused(
      await send(platform.url, 'GET', '/console/operator/v1/status', undefined, headers),
      401,
      'INVALID_CREDENTIALS',
    )
  })
})

describe('going out', () => {
  test('sign-out ends the session, not only the cookie', async () => {
    const browser = await signedIn(platform, { user_id: main })
    const { cookie } = browser
    refused(await browser.post('/v1/sign-out', {}, { 'X-Kontor-CSRF': undefined }), 403, 'FORBIDDEN', /CSRF/)
    assert.equal((await browser.post('/v1/sign-out')).status, 204)
    assert.equal(browser.token(), undefined)
    refused(await browser.get('/api/v4/account/detail', { Cookie: cookie }), 401, 'INVALID_CREDENTIALS')
  })
  test('of two kinds the named one goes', async () => {
    const browser = await signedIn(platform, { user_id: main })
    await signedIn(platform, { operator: 'admin' }, browser)
    await browser.ok('POST', '/v1/sign-out', { kind: 'operator' })
    const { account, operator } = await browser.ok('GET', '/v1/session')
    assert.deepEqual([account?.user_id, operator], [main, null])
  })
})

test('what the platform is', async () => {
  const told = await new Browser(platform.url).ok('GET', '/v1/platform')
  assert.deepEqual([told.mode, told.sign_up, told.rooms], ['sandbox', 'open', ['account', 'operator', 'lab']])
})
