import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { SecretBox } from '../../src/runtime/secrets.ts'
import { Client, ok, refused, send, type Reply } from '../support/client.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'

test('the published vectors', () => {
  const path = '/api/v4/futures/orders'
  const timestamp = '1541993715'
  const get = {
    method: 'GET',
    path,
    query: 'contract=BTC_USD&status=finished&limit=50',
    bodyDigest: bodyDigest(undefined),
    timestamp,
  }
  assert.equal(
    sign('secret', signatureString(get)),
    '55f84ea195d6fe57ce62464daaa7c3c02fa9d1dde954e4c898289c9a2407a3d6fb3faf24deff16790d726b66ac9f74526668b13bd01029199cc4fcc522418b8a',
  )
  const body = '{"contract":"BTC_USD","type":"limit","size":100,"price":6800,"time_in_force":"gtc"}'
  const post = { method: 'POST', path, query: '', bodyDigest: bodyDigest(Buffer.from(body)), timestamp }
  assert.equal(
    sign('secret', signatureString(post)),
    'eae42da914a590ddf727473aff25fc87d50b64783941061f47a3fdb92742541fc4c2c14017581b4199a1418d54471c269c03a38d788d802e2c306c37636389f0',
  )
})

describe('authentication', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const PATH = '/api/v4/account/detail'
  const now = (): string => String(Math.floor(Date.now() / 1000))
  const call = (headers: Record<string, string>, path = PATH): Promise<Reply> =>
    send(platform.url, 'GET', path, undefined, headers)

  test('each missing header is named', async () => {
    refused(await call({}), 401, 'MISSING_REQUIRED_HEADER', /Timestamp/)
    refused(await call({ Timestamp: now() }), 401, 'MISSING_REQUIRED_HEADER', /KEY/)
    refused(await call({ Timestamp: now(), KEY: 'x' }), 401, 'MISSING_REQUIRED_HEADER', /SIGN/)
  })
  test('the clock is checked before the key, the key before the signature', async () => {
    const { key } = (await platform.user()).credential
    const stale = String(Math.floor(Date.now() / 1000) - 100)
    refused(
      await call({ Timestamp: stale, KEY: 'nobody', SIGN: 'x' }),
      401,
      'REQUEST_EXPIRED',
      /\d{10}\.\d{3}/,
    )
    refused(await call({ Timestamp: `${now()}000`, KEY: 'nobody', SIGN: 'x' }), 401, 'REQUEST_EXPIRED')
    refused(await call({ Timestamp: 'soon', KEY: 'nobody', SIGN: 'x' }), 401, 'REQUEST_EXPIRED')
    refused(await call({ Timestamp: now(), KEY: 'nobody', SIGN: 'x' }), 401, 'INVALID_KEY')
    refused(await call({ Timestamp: now(), KEY: key, SIGN: 'x' }), 401, 'INVALID_SIGNATURE')
    refused(await call({ Timestamp: now(), KEY: key, SIGN: 'a'.repeat(128) }), 401, 'INVALID_SIGNATURE')
  })
  test('60 seconds either way are allowed, and decimals in the timestamp', async () => {
    const { client } = await platform.user()
    for (const shift of [-59, 59])
      ok(await client.request('GET', '/account/detail', { timestamp: String(platform.now() + shift) }))
    for (const shift of [-61, 61])
      refused(
        await client.request('GET', '/account/detail', {
          timestamp: String(Math.floor(platform.now()) + shift),
        }),
        401,
        'REQUEST_EXPIRED',
      )
    ok(await client.request('GET', '/account/detail', { timestamp: platform.now().toFixed(7) }))
  })
  test('the query may be signed raw or decoded in three ways', async () => {
    const { credential } = await platform.user()
    const raw = 'name=a%2Cb+c%C3%A9&x=%20'
    const forms = [raw, 'name=a,b+cé&x= ', 'name=a,b cé&x= ', 'name=a,b+cÃ©&x= ']
    for (const query of forms) {
      const timestamp = now()
      const path = '/api/v4/account/stp_groups'
      const message = signatureString({
        method: 'GET',
        path,
        query,
        bodyDigest: bodyDigest(undefined),
        timestamp,
      })
      const SIGN = sign(credential.secret, message)
      ok(await call({ KEY: credential.key, Timestamp: timestamp, SIGN }, `${path}?${raw}`))
      refused(
        await call({ KEY: credential.key, Timestamp: timestamp, SIGN }, `${path}?${raw}1`),
        401,
        'INVALID_SIGNATURE',
      )
    }
  })
  test('a wrong signature shows what the server signed, never the secret; in live mode nothing', async () => {
    const { credential } = await platform.user()
    const wrong = new Client(platform.url, { ...credential, secret: '0'.repeat(64) })
    const reply = await wrong.request('POST', '/wallet/transfers', { body: { a: 1 }, query: 'b=2' })
    refused(reply, 401, 'INVALID_SIGNATURE')
    const [method, path, query, digest] = (reply.body.signature_string as string).split('\n')
    assert.deepEqual(
      [method, path, query, digest],
      ['POST', '/api/v4/wallet/transfers', 'b=2', bodyDigest(Buffer.from('{"a":1}'))],
    )
    assert.equal(reply.body.signature_parts.body_sha512, digest)
    assert.ok(!reply.text.includes(credential.secret))
    const live = await TestPlatform.start(LIVE)
    // One that can't withdraw: the others wait for a second operator.
    const user = await live.user({ perms: [{ name: 'account', read_only: true }] })
    const mismatch = await new Client(live.url, { ...user.credential, secret: 'x' }).get('/account/detail')
    refused(mismatch, 401, 'INVALID_SIGNATURE')
    assert.deepEqual(Object.keys(mismatch.body as object).sort(), ['label', 'message'])
    await live.stop()
  })
  test('account state, IP list and permission come after the signature, in this order', async () => {
    const { user_id, client, credential } = await platform.user({ perms: [], ip_whitelist: ['10.1.2.3'] })
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 2 })
    refused(
      await new Client(platform.url, { ...credential, secret: 'wrong' }).get('/account/detail'),
      401,
      'INVALID_SIGNATURE',
    )
    refused(await client.get('/account/detail'), 403, 'ACCOUNT_LOCKED')
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 1 })
    refused(await client.get('/account/detail'), 403, 'IP_FORBIDDEN', /127\.0\.0\.1/)
    const here = platform.client(await platform.key(user_id, [], ['127.0.0.1']))
    refused(await here.get('/account/detail'), 403, 'FORBIDDEN', /"account"/)
    const reader = platform.client(await platform.key(user_id, [{ name: 'wallet', read_only: true }]))
    refused(await reader.post('/wallet/transfers', {}), 403, 'READ_ONLY')
    refused(await reader.get('/wallet/order_status', { tx_id: 5 }), 404, 'NOT_FOUND')
  })
  test('a disabled key can not be used until it is enabled again', async () => {
    const { client, credential, user_id } = await platform.user()
    const path = `/users/${user_id}/keys/${credential.key}`
    await platform.operator.ok('PATCH', path, { state: 2 })
    refused(await client.get('/account/detail'), 401, 'INVALID_CREDENTIALS', /disabled/)
    await platform.operator.ok('PATCH', path, { state: 1 })
    ok(await client.get('/account/detail'))
    refused(
      await platform.operator.call('PATCH', `/users/${user_id}/keys/none`, { state: 1 }),
      404,
      'NOT_FOUND',
    )
  })
  test('a key of another environment can not be used', async () => {
    const { user_id } = await platform.user()
    const secret = 'ab'.repeat(32)
    const { key } = await platform.platform.desk.core.submit('key.create', {
      main: null,
      user_id,
      key: 'c0ffee'.padEnd(32, '0'),
      secret_box: new SecretBox('ef'.repeat(32)).seal(secret),
      name: 'elsewhere',
      mode: 1,
      perms: [{ name: 'account', read_only: false }],
      ip_whitelist: [],
      actor: null,
    })
    const client = new Client(platform.url, { key, secret })
    refused(await client.get('/account/detail'), 401, 'INVALID_CREDENTIALS', /KONTOR_SECRET_KEY/)
  })
  test('trusted proxies decide which address counts', async () => {
    const proxied = await TestPlatform.start({ KONTOR_TRUST_PROXY: '1' })
    const { client } = await proxied.user({ ip_whitelist: ['10.1.2.3'] })
    const from = (list: string): Promise<Reply> =>
      client.request('GET', '/account/detail', { headers: { 'X-Forwarded-For': list } })
    ok(await from('10.1.2.3'))
    refused(await from('10.1.2.3, 10.9.9.9'), 403, 'IP_FORBIDDEN', /10\.9\.9\.9/)
    await proxied.stop()
    const { client: direct } = await platform.user({ ip_whitelist: ['10.1.2.3'] })
    refused(
      await direct.request('GET', '/account/detail', { headers: { 'X-Forwarded-For': '10.1.2.3' } }),
      403,
      'IP_FORBIDDEN',
    )
  })
})
