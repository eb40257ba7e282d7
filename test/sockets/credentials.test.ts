import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AuthenticationFailure } from '../../src/api/authenticate.ts'
import { Door } from '../../src/api/door.ts'
import { Limiter } from '../../src/api/limiter.ts'
import { sign } from '../../src/api/signature.ts'
import { ConsoleAccess } from '../../src/console/access.ts'
import type { Perm } from '../../src/core/tables/keys.ts'
import { Refusal } from '../../src/labels.ts'
import { Credentials, type LoginFrame } from '../../src/sockets/credentials.ts'
import { CallLine, refusedCall, resultOf } from '../support/call-line.ts'
import { refused } from '../support/client.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'

const NOW = 1_700_000_000
const HOME = '127.0.0.1'

describe('who speaks on a socket', () => {
  let platform: TestPlatform
  let credentials: Credentials
  let seen: Map<string, number>
  let made = 0
  before(async () => {
    // A clock that stands, and nobody else's time counts.
    platform = await TestPlatform.start({ KONTOR_CLOCK: String(NOW), KONTOR_TIMESTAMPS: 'strict' })
    fresh()
  })
  after(() => platform.stop())
  const fresh = (max = 1_000): void => {
    seen = new Map()
    const { desk } = platform.platform
    const sessions = new ConsoleAccess(desk)
    credentials = new Credentials(new Door(desk, new Limiter(1), max, seen), desk.core.state, sessions)
  }
  /** A key with the secret of the specification's vectors. */
  const keyOf = async (perms: readonly Perm[] = allPerms(), ip_whitelist: string[] = []): Promise<string> => {
    const { user_id } = await platform.user()
    return keyFor(user_id, perms, ip_whitelist)
  }
  const keyFor = async (user_id: number, perms: readonly Perm[], ip_whitelist: string[] = []) => {
    const { core, secrets } = platform.platform.desk
    const key = `k${String(++made).padStart(31, '0')}`
    const secret_box = secrets.seal('secret')
    const rest = { name: 'v', mode: 1 as const, main: null, actor: 'test' }
    await core.submit('key.create', { user_id, perms, ip_whitelist, key, secret_box, ...rest })
    return key
  }
  const subscribe = (key: string, SIGN: string, more: object = {}, ip = HOME) =>
    credentials.subscription(
      {
        channel: 'spot.orders',
        event: 'subscribe',
        time: NOW,
        auth: { method: 'api_key', KEY: key, SIGN },
        text: `{"time":${NOW},"channel":"spot.orders"}`,
        ...more,
      },
      'spot',
      ip,
    )
  const failure = (run: () => unknown, label: string, mention: RegExp): Refusal => {
    try {
      run()
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error))
      assert.equal(error.label, label, error.message)
      assert.match(error.message, mention)
      return error
    }
    return assert.fail(`no ${label}`)
  }
  const SUBSCRIBED =
    '0dc17b76097b2726573e30bde2a792ce238bbd452f414d949a5f71d5bf1dd50e8e8166a762af6614f0228360882c6e35df2ac39ed0eba1be8b02d9ca1ec9c6c9'

  test('a subscription: the vector, time as a number or as digits, each as it was sent', async () => {
    const key = await keyOf()
    const session = subscribe(key, SUBSCRIBED)
    assert.deepEqual(session, {
      user_id: platform.platform.desk.core.state.keys.get(key)!.user_id,
      key,
      need: 'spot',
    })
    subscribe(key, SUBSCRIBED, { time: String(NOW) })
    assert.equal(seen.get(key), NOW)
    const late = `${NOW}.50`
    const signed = sign('secret', `channel=spot.orders&event=subscribe&time=${late}`)
    subscribe(key, signed, { time: Number(late), text: `{"time": ${late}}` })
    failure(() => subscribe(key, signed, { event: 'unsubscribe' }), 'INVALID_SIGNATURE', /mismatch/)
  })

  test('REST order: what is missing, clock, key, signature, account, address, permission', async () => {
    const key = await keyOf([{ name: 'wallet', read_only: false }], ['10.0.0.1'])
    const { user_id } = platform.platform.desk.core.state.keys.get(key)!
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 2 })
    const auth = { method: 'api_key', KEY: 'nobody', SIGN: 'x' }
    const old = { time: NOW - 61, text: `{"time":${NOW - 61}}` }
    failure(() => subscribe(key, 'x', { auth: undefined }), 'MISSING_REQUIRED_HEADER', /: auth;/)
    failure(() => subscribe(key, 'x', { auth: [auth] }), 'MISSING_REQUIRED_HEADER', /: auth;/)
    failure(
      () => subscribe(key, 'x', { auth: { ...auth, method: 'jwt' } }),
      'INVALID_CREDENTIALS',
      /"jwt".*api_key/,
    )
    failure(() => subscribe(key, 'x', { auth: { KEY: key } }), 'INVALID_CREDENTIALS', /auth\.method/)
    failure(() => subscribe(key, 'x', { time: undefined }), 'MISSING_REQUIRED_HEADER', /: time;/)
    failure(() => subscribe('', 'x'), 'MISSING_REQUIRED_HEADER', /: auth\.KEY;/)
    failure(() => subscribe(key, ''), 'MISSING_REQUIRED_HEADER', /: auth\.SIGN;/)
    failure(() => subscribe(key, 'x', { ...old, auth }), 'REQUEST_EXPIRED', /61\.0 s behind/)
    failure(() => subscribe(key, 'x', { time: 'soon', auth }), 'REQUEST_EXPIRED', /not a Unix time/)
    failure(() => subscribe(key, 'x', { auth }), 'INVALID_KEY', /no such API key/)
    failure(() => subscribe(key, 'x'), 'INVALID_SIGNATURE', /mismatch/)
    failure(() => subscribe(key, SUBSCRIBED), 'ACCOUNT_LOCKED', /locked/)
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 1 })
    failure(() => subscribe(key, SUBSCRIBED), 'IP_FORBIDDEN', /127\.0\.0\.1/)
    failure(() => subscribe(key, SUBSCRIBED, {}, '10.0.0.1'), 'FORBIDDEN', /"spot"/)
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${key}`, { state: 2 })
    failure(() => subscribe(key, SUBSCRIBED), 'INVALID_CREDENTIALS', /disabled/)
  })

  test('margin is enough for spot; unified needs its own', async () => {
    const margin = await keyOf([{ name: 'margin', read_only: true }])
    subscribe(margin, SUBSCRIBED)
    const frame = { channel: 'unified.assets', event: 'subscribe', time: NOW, text: `{"time":${NOW}}` }
    const SIGN = sign('secret', `channel=unified.assets&event=subscribe&time=${NOW}`)
    const auth = { method: 'api_key', KEY: margin, SIGN }
    failure(() => credentials.subscription({ ...frame, auth }, 'unified', HOME), 'FORBIDDEN', /"unified"/)
  })

  test('the sandbox tells which text it would have signed', async () => {
    const error = failure(() => subscribe('k0', 'x'), 'INVALID_KEY', /no such/)
    assert.equal((error as AuthenticationFailure).detail, undefined)
    const key = await keyOf()
    const wrong = failure(() => subscribe(key, 'f'.repeat(128)), 'INVALID_SIGNATURE', /signature_string/)
    assert.deepEqual((wrong as AuthenticationFailure).detail, {
      signature_string: `channel=spot.orders&event=subscribe&time=${NOW}`,
    })
  })

  const VECTORS = {
    '': 'fda6efd05e40791f1059365daecc597f520349bd009ecaa64454e137d73a181e6bcdeb466148db04b38adfc8800a2e46ab4e4ac02eee77a8a2a2ece43d6d720c',
    '{}': '03cd3c385a7f3b5002acb584da5556d0b47b19b8430534b567283f5f56d6016f341e3bd9aa8565c8fdd81c0d5c76afe725c4ca712083f9823069d0f5ccf69226',
    '""': '1ce931d8aba2cf774e2ecf424fa2d7ba270e95dbaa87898a084b7f87b79f1f9bb57b13753188d3a4d5b540cf31c072577a29159fc039c1129ea892f0926cbc30',
    null: '77910f41469d2e9d153263163367220eebc8b8f4fe0a7b5468ec058ff11a5c1b3631ea19227c49426886f04871c912fb2ebb01115f14aa7eb8ae82614274a83c',
  }
  const loginText = (payload: string): LoginFrame => {
    const text = `{"time":${NOW},"channel":"spot.login","event":"api","payload":${payload}}`
    const frame = JSON.parse(text) as LoginFrame & { payload: Record<string, unknown> }
    return { ...frame, text }
  }
  const login = (payload: string) => credentials.login(loginText(payload), 'spot', HOME)

  test('a login: the vectors, each way of nothing as it was sent or as an empty text', async () => {
    const key = await keyOf()
    const parts = (signature: string): string =>
      `"api_key":"${key}","timestamp":"${NOW}","signature":"${signature}"`
    for (const [param, signature] of Object.entries(VECTORS)) {
      const member = param === '' ? '' : `,"req_param":${param}`
      login(`{${parts(signature)}${member}}`)
      login(`{${parts(VECTORS[''])}${member}}`)
    }
    // Nothing else stands for nothing, and one nothing does not stand for another.
    for (const [param, signature] of [
      ['{}', VECTORS['""']],
      ['null', VECTORS['{}']],
      ['{"a":1}', VECTORS['']],
      ['[]', VECTORS['']],
      ['0', VECTORS['']],
    ])
      failure(() => login(`{${parts(signature!)},"req_param":${param!}}`), 'INVALID_SIGNATURE', /mismatch/)
    const spaced = '{ "a" : 1.0 , "b":"}" }'
    const signature = sign('secret', `api\nspot.login\n${spaced}\n${NOW}`)
    login(`{${parts(signature)},"req_param":${spaced}}`)
    const error = failure(
      () => login(`{${parts('f'.repeat(128))},"req_param":${spaced}}`),
      'INVALID_SIGNATURE',
      /./,
    )
    assert.equal(
      (error as AuthenticationFailure).detail!['signature_string'],
      `api\nspot.login\n${spaced}\n${NOW}`,
    )
  })

  test('the timestamp of the payload, or else the time of the frame; the one that was signed must be near', async () => {
    const key = await keyOf()
    const payload = (timestamp: unknown, signature: string): string =>
      JSON.stringify({ api_key: key, timestamp, signature, req_param: {} })
    login(payload(`${NOW}123`, VECTORS['{}']))
    login(payload(undefined, VECTORS['{}']))
    login(payload(NOW, VECTORS['{}']))
    const old = sign('secret', `api\nspot.login\n{}\n${NOW - 100}`)
    failure(() => login(payload(String(NOW - 100), old)), 'REQUEST_EXPIRED', /100\.0 s behind/)
    const frame = { ...loginText(payload(String(NOW - 100), old)), time: NOW - 100 }
    failure(() => credentials.login(frame, 'spot', HOME), 'REQUEST_EXPIRED', /behind/)
    failure(
      () => login(`{"api_key":"${key}","timestamp":"${NOW}"}`),
      'MISSING_REQUIRED_HEADER',
      /: signature;/,
    )
    failure(() => login(`{"signature":"x","timestamp":"${NOW}"}`), 'MISSING_REQUIRED_HEADER', /: api_key;/)
  })

  test('guesses are counted, and a right signature passes over the limit', async () => {
    const key = await keyOf()
    fresh(3)
    for (let i = 0; i < 10; i++)
      failure(() => subscribe(key, SUBSCRIBED, { time: 1, text: '{"time":1}' }), 'REQUEST_EXPIRED', /./)
    for (let i = 0; i < 3; i++) failure(() => subscribe(key, 'f'.repeat(128)), 'INVALID_SIGNATURE', /./)
    failure(() => subscribe(key, 'f'.repeat(128)), 'TOO_MANY_REQUESTS', /failed authentications from 127/)
    failure(() => subscribe('nobody', 'x'), 'TOO_MANY_REQUESTS', /./)
    subscribe(key, SUBSCRIBED)
    failure(() => subscribe(key, 'f'.repeat(128), {}, '10.9.9.9'), 'INVALID_SIGNATURE', /./)
    fresh()
  })

  test('what ends a right that was there: key, state, address, permission, account and its main account', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const revoked = (need: 'spot' | 'unified') =>
      credentials.revoked({ user_id: sub.user_id, key: sub.credential.key, need }, HOME)
    const at = `/sub_accounts/${sub.user_id}/keys/${sub.credential.key}`
    const { key } = sub.credential
    const why = () => revoked('spot')?.label
    const put = (perms: object[], ip_whitelist: string[] = []) =>
      main.client.put(at, { name: 'k', perms, ip_whitelist })
    const SPOT = { name: 'spot', read_only: false }
    assert.equal(why(), undefined)
    await put([{ name: 'spot', read_only: true }])
    assert.equal(why(), undefined, 'rights to write that go end nothing')
    await put([{ name: 'margin', read_only: true }])
    assert.equal(why(), undefined)
    assert.equal(revoked('unified')?.label, 'FORBIDDEN')
    await put([{ name: 'wallet', read_only: true }])
    assert.equal(why(), 'FORBIDDEN')
    await put([SPOT], ['10.0.0.1'])
    assert.equal(why(), 'IP_FORBIDDEN')
    await put([SPOT], ['10.0.0.1', HOME])
    assert.equal(why(), undefined)
    await main.client.post(`/sub_accounts/${sub.user_id}/lock`)
    assert.equal(why(), 'ACCOUNT_LOCKED')
    await main.client.post(`/sub_accounts/${sub.user_id}/unlock`)
    assert.equal(why(), undefined)
    await platform.operator.ok('PATCH', `/users/${main.user_id}`, { state: 2 })
    assert.equal(why(), 'ACCOUNT_LOCKED')
    await platform.operator.ok('PATCH', `/users/${main.user_id}`, { state: 1 })
    await platform.operator.ok('PATCH', `/users/${sub.user_id}/keys/${key}`, { state: 3 })
    assert.equal(why(), 'INVALID_CREDENTIALS')
    await main.client.delete(at)
    assert.deepEqual(revoked('spot'), {
      label: 'INVALID_KEY',
      message: 'the key was deleted',
    })
  })
})

test('failed logins count together with those of REST, for the address', async () => {
  const platform = await TestPlatform.start({
    KONTOR_CLOCK: String(NOW),
    KONTOR_RATE_LIMITS: '1',
    KONTOR_AUTH_FAILURES: '4',
  })
  const { credential, client } = await platform.user()
  const wrong = { key: credential.key, secret: 'not it' }
  const line = new CallLine(platform)
  refusedCall(await line.login(wrong), 401, 'INVALID_SIGNATURE', /mismatch/)
  assert.ok((line.frames[0]!.data.errs.signature_string as string).startsWith('api\nspot.login\n{}\n'))
  refused(await platform.client(wrong).get('/account/detail'), 401, 'INVALID_SIGNATURE')
  refusedCall(await line.login(wrong), 401, 'INVALID_SIGNATURE')
  refused(await platform.client(wrong).get('/account/detail'), 401, 'INVALID_SIGNATURE')
  refusedCall(await line.login(wrong), 429, 'TOO_MANY_REQUESTS', /failed authentications.*\(211\)$/)
  assert.equal(line.frames.at(-1)!.data.errs.signature_string, undefined)
  refused(await platform.client(wrong).get('/account/detail'), 429, 'TOO_MANY_REQUESTS')
  resultOf(await line.login(credential))
  assert.equal((await client.get('/account/detail')).status, 200)
  await platform.stop()
})
