import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { base32, codeAt, stepAt } from '../../src/console/totp.ts'
import { ok, refused } from '../support/client.ts'
import { Browser, linkFor, signedIn } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'

const PASSWORD = 'correct horse battery'
const now = (): number => Date.now() / 1000
/** Of a step that is not over at once. */
const code = (secret: string, off = 0): string => codeAt(secret, stepAt(now()) + off)
const credentials = (name: string, more: object = {}) => ({
  kind: 'account',
  name,
  password: PASSWORD,
  ...more,
})

test('codes are those of RFC 6238', () => {
  const secret = base32(Buffer.from('12345678901234567890'))
  for (const [seconds, eight] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1234567890, '89005924'],
    [20000000000, '65353130'],
  ] as const)
    assert.equal(codeAt(secret, stepAt(seconds)), eight.slice(2))
})

describe('signing up and in', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  let made = 0
  const person = async (): Promise<{ name: string; browser: Browser; user_id: number }> => {
    const name = `person_${++made}`
    const browser = new Browser(platform.url)
    const { account } = await browser.ok('POST', '/v1/sign-up', { name, password: PASSWORD })
    return { name, browser, user_id: account.user_id as number }
  }
  const factorOf = async (browser: Browser): Promise<{ secret: string; recovery: string[] }> => {
    const { secret, otpauth_url } = await browser.ok('POST', '/v1/factor', {})
    assert.match(
      otpauth_url as string,
      new RegExp(`^otpauth://totp/Kontor%3A\\w+\\?secret=${String(secret)}&issuer=Kontor$`),
    )
    const { recovery_codes } = await browser.ok('POST', '/v1/factor/confirm', {
      code: code(secret as string),
    })
    return { secret: secret as string, recovery: recovery_codes as string[] }
  }

  test('a name and a password make an account, and bring one back in', async () => {
    const { name, user_id, browser } = await person()
    assert.equal((await browser.ok('GET', '/api/v4/account/detail')).user_id, user_id)
    const again = new Browser(platform.url)
    const { account } = await again.ok('POST', '/v1/sign-in', credentials(name.toUpperCase()))
    assert.deepEqual([account.user_id, account.password, account.factor], [user_id, true, false])
    refused(
      await again.post('/v1/sign-up', { name, password: PASSWORD }),
      400,
      'INVALID_PARAM_VALUE',
      /taken/,
    )
    for (const password of ['short', 'aaaaaaaaaaaa', `my_${name}_and`])
      refused(await again.post('/v1/sign-up', { name, password }), 400, 'INVALID_PARAM_VALUE', /password/)
  })
  test('who is wrong learns nothing: not whether there is such a name, nor in time', async () => {
    const { name } = await person()
    const { user_id } = await person()
    const sub = `${name}_sub`
    await platform.operator.ok('POST', '/users', { login_name: sub, parent: user_id, password: PASSWORD })
    const texts = new Set<string>()
    const timed = async (body: object): Promise<number> => {
      const from = performance.now()
      const reply = await new Browser(platform.url).post('/v1/sign-in', body)
      refused(reply, 401, 'INVALID_CREDENTIALS')
      texts.add(reply.text)
      return performance.now() - from
    }
    const known = await timed(credentials(name, { password: 'not the password' }))
    const unknown = await timed(credentials('nobody_here'))
    await timed(credentials(sub))
    await timed({ ...credentials('admin'), kind: 'operator' })
    await timed(credentials('demo'))
    assert.equal(texts.size, 1, [...texts].join())
    assert.ok(unknown > known / 4, `${unknown} ms of nobody, ${known} ms of somebody`)
  })
  test('guesses are throttled by name, before the right one passes', async () => {
    const { name } = await person()
    const guess = (password: string) =>
      new Browser(platform.url).post('/v1/sign-in', credentials(name, { password }))
    const replies = await Promise.all(Array.from({ length: 12 }, () => guess('wrong password')))
    assert.equal(replies.filter(({ status }) => status === 401).length, 10)
    const late = await guess(PASSWORD)
    refused(late, 429, 'TOO_MANY_REQUESTS', /wrong passwords/)
    assert.ok(Number(late.headers.get('retry-after')) > 60)
    const other = await person()
    ok(await new Browser(platform.url).post('/v1/sign-in', credentials(other.name)))
  })
  test('guesses of one who is signed in are throttled too, whichever call they are made by', async () => {
    const [factored, plain] = [await person(), await person()]
    await factorOf(factored.browser)
    await plain.browser.ok('POST', '/v1/factor', {})
    const wrong = { current: 'wrong password', next: 'another horse battery' }
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, () => plain.browser.post('/v1/password', wrong)),
      ...Array.from({ length: 10 }, () => factored.browser.call('DELETE', '/v1/factor', { code: '000000' })),
    ])
    for (const reply of replies) refused(reply, 401, 'INVALID_CREDENTIALS')
    const right = { current: PASSWORD, next: wrong.next }
    refused(await plain.browser.post('/v1/password', right), 429, 'TOO_MANY_REQUESTS')
    refused(await plain.browser.post('/v1/factor/confirm', { code: '000000' }), 429, 'TOO_MANY_REQUESTS')
    refused(await plain.browser.post('/v1/elevate', { password: PASSWORD }), 429, 'TOO_MANY_REQUESTS')
    const taken = await factored.browser.call('DELETE', '/v1/factor', { code: '000000' })
    refused(taken, 429, 'TOO_MANY_REQUESTS')
  })
  test('a second factor is asked for, and a code is good once', async () => {
    const { name, browser } = await person()
    const { secret } = await factorOf(browser)
    const at = new Browser(platform.url)
    refused(await at.post('/v1/sign-in', credentials(name)), 401, 'SECOND_FACTOR_REQUIRED')
    refused(await at.post('/v1/sign-in', credentials(name, { code: '000000' })), 401, 'INVALID_CREDENTIALS')
    const good = code(secret, 1)
    assert.equal(ok(await at.post('/v1/sign-in', credentials(name, { code: good }))).account.factor, true)
    const replayed = await new Browser(platform.url).post('/v1/sign-in', credentials(name, { code: good }))
    refused(replayed, 401, 'INVALID_CREDENTIALS', /used already/)
    const older = code(secret)
    refused(
      await new Browser(platform.url).post('/v1/sign-in', credentials(name, { code: older })),
      401,
      'INVALID_CREDENTIALS',
    )
    const far = code(secret, 3)
    refused(
      await new Browser(platform.url).post('/v1/sign-in', credentials(name, { code: far })),
      401,
      'INVALID_CREDENTIALS',
    )
    refused(
      await new Browser(platform.url).post(
        '/v1/sign-in',
        credentials(name, { password: 'x', code: code(secret, 1) }),
      ),
      401,
      'INVALID_CREDENTIALS',
    )
  })
  test('a recovery code is good once, in place of a code', async () => {
    const { name, browser } = await person()
    const { recovery } = await factorOf(browser)
    assert.equal(new Set(recovery).size, 10)
    const entering = (given: string) =>
      new Browser(platform.url).post('/v1/sign-in', credentials(name, { code: given }))
    ok(await entering(recovery[3]!))
    refused(await entering(recovery[3]!), 401, 'INVALID_CREDENTIALS')
    ok(await entering(recovery[4]!.toUpperCase().replaceAll('-', ' ')))
  })
  test('the factor goes with a code of it, and not without', async () => {
    const { name, browser } = await person()
    const { secret, recovery } = await factorOf(browser)
    refused(await browser.call('DELETE', '/v1/factor', { code: '123456' }), 401, 'INVALID_CREDENTIALS')
    refused(await browser.post('/v1/factor', {}), 400, 'INVALID_PARAM_VALUE', /already/)
    assert.equal((await browser.call('DELETE', '/v1/factor', { code: recovery[0] })).status, 204)
    ok(await new Browser(platform.url).post('/v1/sign-in', credentials(name)))
    refused(await browser.post('/v1/factor/confirm', { code: code(secret) }), 400, 'INVALID_PARAM_VALUE')
  })
  test('secrets are nowhere in the clear: neither in the tables nor in the commands', async () => {
    const { browser } = await person()
    const { secret, recovery } = await factorOf(browser)
    const token = browser.token()!
    const { store, core } = platform.platform.desk
    await core.idle()
    const rows = JSON.stringify([
      ...(await store.query('select * from "login"', [])),
      ...(await store.query('select * from "console_session"', [])),
      ...(await store.query('select * from "user_account"', [])),
      ...(await store.query('select commands from command_batch', [])),
    ])
    assert.match(rows, /login\.factor\.confirm/)
    for (const hidden of [secret, recovery[0]!, token, PASSWORD]) assert.ok(!rows.includes(hidden), hidden)
  })
  test('a new password ends the other sessions, and takes the present one', async () => {
    const { name, browser } = await person()
    const other = new Browser(platform.url)
    await other.ok('POST', '/v1/sign-in', credentials(name))
    const next = 'another horse battery'
    refused(await browser.post('/v1/password', { next }), 401, 'INVALID_CREDENTIALS', /current/)
    refused(await browser.post('/v1/password', { current: 'wrong', next }), 401, 'INVALID_CREDENTIALS')
    assert.equal((await browser.post('/v1/password', { current: PASSWORD, next })).status, 204)
    refused(await other.get('/api/v4/account/detail'), 401, 'INVALID_CREDENTIALS')
    ok(await browser.get('/api/v4/account/detail'))
    refused(await other.post('/v1/sign-in', credentials(name)), 401, 'INVALID_CREDENTIALS')
    ok(await other.post('/v1/sign-in', credentials(name, { password: next })))
  })
  test('sessions are listed, and end one by one', async () => {
    const { name, browser, user_id } = await person()
    const other = new Browser(platform.url)
    await other.ok('POST', '/v1/sign-in', credentials(name), { 'User-Agent': 'Another/1.0' })
    const list = await browser.ok('GET', '/v1/sessions')
    assert.deepEqual(
      list.map(({ current, agent }: { current: boolean; agent: string }) => [
        current,
        agent === 'Another/1.0',
      ]),
      [
        [true, false],
        [false, true],
      ],
    )
    const stranger = await person()
    refused(await stranger.browser.call('DELETE', `/v1/sessions/${String(list[1].id)}`), 404, 'NOT_FOUND')
    assert.equal((await browser.call('DELETE', `/v1/sessions/${String(list[1].id)}`)).status, 204)
    refused(await other.get('/v1/sessions'), 401, 'INVALID_CREDENTIALS')
    assert.equal((await browser.ok('GET', '/v1/sessions')).length, 1)
    for (let i = 0; i < 25; i++) await signedIn(platform, { user_id })
    assert.equal(
      (await platform.platform.desk.core.read(({ logins }) => logins.sessionsOf(`account:${user_id}`)))
        .length,
      20,
    )
  })
  test('operators have passwords, too, and end with their token', async () => {
    const colleague = await platform.colleague('olga')
    const { token } = await colleague.ok('POST', '/console_links', {})
    const browser = new Browser(platform.url)
    await browser.ok('POST', '/v1/enter', { token })
    assert.equal((await browser.post('/v1/password', { next: PASSWORD })).status, 204)
    const { operator } = await new Browser(platform.url).ok('POST', '/v1/sign-in', {
      ...credentials('olga'),
      kind: 'operator',
    })
    assert.deepEqual([operator.name, operator.role], ['olga', 'operator'])
    refused(
      await new Browser(platform.url).post('/v1/sign-in', credentials('olga')),
      401,
      'INVALID_CREDENTIALS',
    )
    await colleague.ok('POST', '/operators/me/token', { name: 'olga' })
    refused(await browser.get('/operator/v1/status'), 401, 'INVALID_CREDENTIALS')
    const back = new Browser(platform.url)
    await back.ok('POST', '/v1/sign-in', { ...credentials('olga'), kind: 'operator' })
    await platform.operator.ok('DELETE', '/operators/olga')
    refused(await back.get('/operator/v1/status'), 401, 'INVALID_CREDENTIALS')
    await platform.colleague('olga')
    refused(await back.get('/operator/v1/status'), 401, 'INVALID_CREDENTIALS')
    refused(
      await back.post('/v1/sign-in', { ...credentials('olga'), kind: 'operator' }),
      401,
      'INVALID_CREDENTIALS',
    )
  })
  test('a browser that signs in anew leaves no session behind', async () => {
    const { name, browser, user_id } = await person()
    const before = browser.cookie
    await browser.ok('POST', '/v1/sign-in', credentials(name))
    assert.notEqual(browser.cookie, before)
    refused(await browser.get('/api/v4/account/detail', { Cookie: before }), 401, 'INVALID_CREDENTIALS')
    assert.equal(
      (await platform.platform.desk.core.read(({ logins }) => logins.sessionsOf(`account:${user_id}`)))
        .length,
      1,
    )
  })
})

test('who may sign up is a setting', async () => {
  for (const mode of ['off', 'invited'] as const) {
    const platform = await TestPlatform.start({ KONTOR_SIGN_UP: mode })
    const browser = new Browser(platform.url)
    assert.equal((await browser.ok('GET', '/v1/platform')).sign_up, mode)
    const asked = { name: 'somebody', password: PASSWORD }
    refused(await browser.post('/v1/sign-up', asked), 403, 'FORBIDDEN')
    const { token } = await platform.operator.ok('POST', '/console_invitations', {})
    const invited = await browser.post('/v1/sign-up', { ...asked, invitation: token })
    if (mode === 'off') refused(invited, 403, 'FORBIDDEN')
    else {
      ok(invited, 201)
      const second = { ...asked, name: 'another', invitation: token }
      refused(await new Browser(platform.url).post('/v1/sign-up', second), 401, 'INVALID_CREDENTIALS')
      const link = await linkFor(platform, { user_id: platform.platform.credentials.accounts[0]!.user_id })
      const wrongKind = { ...second, invitation: link }
      refused(
        await new Browser(platform.url).post('/v1/sign-up', wrongKind),
        401,
        'INVALID_CREDENTIALS',
        /kind/,
      )
    }
    await platform.stop()
  }
})
