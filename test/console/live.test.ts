import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { codeAt, stepAt } from '../../src/console/totp.ts'
import { ok, refused, type Reply } from '../support/client.ts'
import { Browser, signedIn } from '../support/console.ts'
import { LivePlatform } from '../support/live.ts'

const PASSWORD = 'correct horse battery'
const code = (secret: string, off = 0): string => codeAt(secret, stepAt(Date.now() / 1000) + off)

describe('the console of a live platform', () => {
  let live: LivePlatform
  let made = 0
  before(async () => {
    live = await LivePlatform.start({ KONTOR_SIGN_UP: 'open' })
    await live.operator('first_op')
    await live.operator('second_op')
  })
  after(() => live.stop())
  const person = async () => {
    const name = `person_${++made}`
    const browser = new Browser(live.platform.url)
    const { account } = await browser.ok('POST', '/v1/sign-up', { name, password: PASSWORD })
    return { name, browser, user_id: account.user_id as number }
  }
  /** Minutes later. */
  const lower = async (browser: Browser): Promise<void> => {
    const { account, operator } = await browser.ok('GET', '/v1/session')
    const { core } = live.platform.platform.desk
    const id = ((account ?? operator) as { session_id: number }).session_id
    const session = core.state.logins.sessions.get(id)!
    // Nobody waits five minutes: the row is as it will be then.
    core.state.logins.sessions.swap(id, { ...session, elevated_until: 0 }, 'load')
  }
  const withdrawal = { currency: 'USDT', chain: 'TRX', amount: '50', address: 'TXwithdrawal' }

  test('what is dear takes a code of the last minutes', async () => {
    const { browser } = await person()
    const dear: [string, string, unknown][] = [
      ['POST', '/api/v4/withdrawals', withdrawal],
      ['POST', '/api/v4/withdrawals/push', { receive_uid: 1, currency: 'USDT', amount: '1' }],
      ['POST', '/api/v4/sub_accounts/1/keys', {}],
      ['PUT', '/api/v4/sub_accounts/1/keys/k', {}],
      ['POST', '/v1/factor', {}],
      ['POST', '/v1/password', { current: PASSWORD, next: 'another horse battery' }],
      ['POST', '/v1/keys', { name: 'k' }],
      ['PUT', '/v1/keys/k', { name: 'k' }],
      ['POST', '/v1/addresses', {}],
    ]
    await lower(browser)
    for (const [method, path, body] of dear)
      refused(await browser.call(method, path, body), 403, 'ELEVATION_REQUIRED', /elevate/)
    ok(await browser.get('/api/v4/account/detail'))
    refused(await browser.post('/v1/elevate', {}), 401, 'INVALID_CREDENTIALS')
    refused(await browser.post('/v1/elevate', { password: 'wrong password' }), 401, 'INVALID_CREDENTIALS')
    const { elevated_until } = await browser.ok('POST', '/v1/elevate', { password: PASSWORD })
    assert.ok(Math.abs(elevated_until - Date.now() / 1000 - 300) < 5)
    const { secret } = await browser.ok('POST', '/v1/factor', {})
    await browser.ok('POST', '/v1/factor/confirm', { code: code(secret as string) })
    await lower(browser)
    refused(await browser.post('/v1/elevate', { password: PASSWORD }), 401, 'SECOND_FACTOR_REQUIRED')
    await browser.ok('POST', '/v1/elevate', { code: code(secret as string, 1) })
    for (const [method, path, body] of dear)
      assert.notEqual((await browser.call(method, path, body)).body?.label, 'ELEVATION_REQUIRED', path)
  })
  test('operators, too: approvals, and all that takes two', async () => {
    const { token } = await live.as('first_op').ok('POST', '/console_links', {})
    const browser = new Browser(live.platform.url)
    await browser.ok('POST', '/v1/enter', { token })
    for (const path of [
      '/operator/v1/withdrawals/w1/approve',
      '/operator/v1/proposals/1/confirm',
      '/operator/v1/users/10001/keys',
      '/operator/v1/operators/me/token',
      '/operator/v1/console_links',
    ])
      refused(await browser.post(path, {}), 403, 'ELEVATION_REQUIRED')
    refused(await browser.post('/v1/elevate', { password: PASSWORD }), 401, 'INVALID_CREDENTIALS')
    assert.equal((await browser.post('/v1/password', { next: PASSWORD })).status, 204)
    await browser.ok('POST', '/v1/elevate', { password: PASSWORD })
    refused(await browser.post('/operator/v1/proposals/999/confirm', {}), 404, 'NOT_FOUND')
  })
  test('a lost factor takes two operators, of whom neither holds the link, and closes withdrawals for a day', async () => {
    const { browser, name, user_id } = await person()
    const { secret } = await browser.ok('POST', '/v1/factor', {})
    await browser.ok('POST', '/v1/factor/confirm', { code: code(secret as string) })
    await live.credit(user_id, 'USDT', '100')
    const [first, second] = [live.as('first_op'), live.as('second_op')]
    const asked: Reply = await first.call('POST', `/users/${user_id}/console_link`, {})
    assert.equal(asked.status, 202, asked.text)
    const { token_first_half, proposal } = asked.body
    assert.ok(!asked.text.includes('token_hash'))
    refused(await first.call('POST', `/proposals/${String(proposal.id)}/confirm`), 403, 'FORBIDDEN')
    const push = () =>
      browser.post('/api/v4/withdrawals/push', { receive_uid: other.user_id, currency: 'USDT', amount: '1' })
    const other = await person()
    const enter = (token: string) => new Browser(live.platform.url).post('/v1/enter', { token })
    refused(await enter(token_first_half as string), 401, 'INVALID_CREDENTIALS')
    const { token_second_half } = await second.ok('POST', `/proposals/${String(proposal.id)}/confirm`)
    await browser.ok('POST', '/v1/elevate', { code: code(secret as string, 1) })
    refused(await push(), 400, 'API_WITHDRAW_DISABLED', /closed until \d{10} /)
    refused(await browser.post('/api/v4/withdrawals', withdrawal), 400, 'API_WITHDRAW_DISABLED', /recovered/)
    // Nor does an operator help him out.
    refused(
      await first.call('POST', `/users/${user_id}/withdrawals`, withdrawal),
      400,
      'API_WITHDRAW_DISABLED',
    )
    const token = `${String(token_first_half)}${String(token_second_half)}`
    const back = new Browser(live.platform.url)
    const { account } = await back.ok('POST', '/v1/enter', { token })
    assert.deepEqual([account.user_id, account.factor], [user_id, false])
    refused(await browser.get('/api/v4/account/detail'), 401, 'INVALID_CREDENTIALS')
    refused(await enter(token), 401, 'INVALID_CREDENTIALS')
    refused(await back.post('/v1/factor', {}), 403, 'ELEVATION_REQUIRED')
    const password = 'a third horse battery'
    assert.equal((await back.post('/v1/password', { next: password })).status, 204)
    refused(await back.post('/v1/password', { next: password }), 403, 'ELEVATION_REQUIRED')
    const signed = new Browser(live.platform.url)
    await signed.ok('POST', '/v1/sign-in', { kind: 'account', name, password })
    const mine = { receive_uid: other.user_id, currency: 'USDT', amount: '1' }
    refused(await signed.post('/api/v4/withdrawals/push', mine), 400, 'API_WITHDRAW_DISABLED')
    await live.pass(86_401)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const passed = await signed.post('/api/v4/withdrawals/push', mine)
    assert.notEqual(passed.body?.label, 'API_WITHDRAW_DISABLED', passed.text)
  })
  test('away from the machine itself the cookie is bound to TLS and to this host', async () => {
    const { token } = await live.as('second_op').ok('POST', '/console_links', {})
    const host = '10.1.2.3'
    const browser = new Browser(live.platform.url)
    const headers = { Host: host, Origin: `http://${host}` }
    refused(await rawEnter(live.platform.url, token as string, headers), 403, 'FORBIDDEN', /https/)
    const reply = await rawEnter(live.platform.url, token as string, {
      Host: host,
      Origin: `https://${host}`,
    })
    const [cookie] = reply.cookies as [string]
    assert.match(
      cookie,
      /^__Host-kontor_operator=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
    )
    const value = /=([0-9a-f]{64})/.exec(cookie)![1]!
    // Under the other name, which a neighbouring page could set, it counts for nothing there.
    const seen = async (Cookie: string) => (await rawGet(live.platform.url, { Host: host, Cookie })).operator
    assert.equal((await seen(`__Host-kontor_operator=${value}`))?.name, 'second_op')
    assert.equal(await seen(`kontor_operator=${value}`), null)
    assert.equal(browser.cookies.size, 0)
  })
  test('a link of the sandbox kind is not made', async () => {
    const { user_id } = await person()
    const browser = await signedIn(live.platform, { operator: 'first_op' })
    refused(await browser.post(`/operator/v1/users/${user_id}/console_link`, {}), 403, 'ELEVATION_REQUIRED')
  })
})

/** With a Host of one's own, which fetch does not let anybody set. */
interface Raw extends Reply {
  readonly cookies: string[]
}
function raw(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: new Headers(),
          cookies: response.headers['set-cookie'] ?? [],
          text,
          body: JSON.parse(text) as unknown,
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
const rawEnter = (url: string, token: string, headers: Record<string, string>): Promise<Raw> =>
  raw(
    url,
    'POST',
    '/console/v1/enter',
    { ...headers, 'Content-Type': 'application/json' },
    JSON.stringify({ token }),
  )
const rawGet = async (url: string, headers: Record<string, string>) =>
  (await raw(url, 'GET', '/console/v1/session', headers)).body as { operator: { name: string } | null }
