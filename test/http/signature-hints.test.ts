import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { mistakeOf } from '../../src/api/signature-hints.ts'
import { bodyDigest, sign, signatureString, type SignedParts } from '../../src/api/signature.ts'
import { PERMISSIONS } from '../../src/core/tables/keys.ts'
import { ok, refused, send, type Credential, type Reply } from '../support/client.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'

const sha512 = (text: string): string => createHash('sha512').update(text).digest('hex')
const hmac = (algorithm: string, secret: string | Buffer, text: string): Buffer =>
  createHmac(algorithm, secret).update(text).digest()

describe('a wrong signature', () => {
  let platform: TestPlatform
  let credential: Credential
  let other: Credential
  before(async () => {
    platform = await TestPlatform.start()
    const user = await platform.user()
    credential = user.credential
    const perms = PERMISSIONS.map((name) => ({ name, read_only: false }))
    other = await platform.key(user.user_id, perms)
  })
  after(() => platform.stop())

  const PATH = '/api/v4/spot/orders'
  const QUERY = 'status=open&currency_pair=BTC_USDT&limit=5'
  const BODY = '{"currency_pair":"BTC_USDT","side":"buy","amount":"1"}'
  const timestamp = (): string => String(Math.floor(platform.now()))
  const get = (at: string): SignedParts => ({
    method: 'GET',
    path: PATH,
    query: QUERY,
    bodyDigest: sha512(''),
    timestamp: at,
  })
  const post = (at: string): SignedParts => ({
    method: 'POST',
    path: PATH,
    query: '',
    bodyDigest: sha512(BODY),
    timestamp: at,
  })
  const sendGet = (at: string, SIGN: string): Promise<Reply> =>
    send(platform.url, 'GET', `${PATH}?${QUERY}`, undefined, { KEY: credential.key, Timestamp: at, SIGN })
  const sendPost = (at: string, SIGN: string, body = BODY): Promise<Reply> =>
    send(platform.url, 'POST', PATH, body, {
      KEY: credential.key,
      Timestamp: at,
      SIGN,
      'Content-Type': 'application/json',
    })
  function fits(reply: Reply, mistake: string, words: RegExp): void {
    refused(reply, 401, 'INVALID_SIGNATURE', words)
    assert.equal(reply.body.mistake, mistake)
    assert.ok(!reply.text.includes(credential.secret) && !reply.text.includes(other.secret))
  }

  test('is told which mistake in the signed text fits', async () => {
    const at = timestamp()
    const cases: [mistake: string, words: RegExp, change: Partial<SignedParts>][] = [
      ['method_case', /lower case/, { method: 'get' }],
      ['path_prefix', /without \/api\/v4/, { path: '/spot/orders' }],
      ['query_missing', /query was not signed/, { query: '' }],
      ['query_in_path', /part of the path/, { path: `${PATH}?${QUERY}`, query: '' }],
      ['query_mark', /with the \?/, { query: `?${QUERY}` }],
      ['query_order', /another order/, { query: 'currency_pair=BTC_USDT&limit=5&status=open' }],
      ['query_order', /another order/, { query: 'limit=5&status=open&currency_pair=BTC_USDT' }],
      ['timestamp_milliseconds', /milliseconds/, { timestamp: `${at}000` }],
      ['timestamp_text', /another text of the time/, { timestamp: `${at}.0` }],
      ['body_digest_missing', /left empty/, { bodyDigest: '' }],
      ['body_not_sent', /a body \{\} was signed/, { bodyDigest: sha512('{}') }],
    ]
    for (const [mistake, words, change] of cases)
      fits(
        await sendGet(at, sign(credential.secret, signatureString({ ...get(at), ...change }))),
        mistake,
        words,
      )
    const bodies: [mistake: string, words: RegExp, digest: string][] = [
      ['body_not_signed', /sent but not signed/, sha512('')],
      ['body_hash', /SHA-256/, createHash('sha256').update(BODY).digest('hex')],
      ['body_plain', /body itself was signed/, BODY],
      ['body_digest_form', /upper case/, sha512(BODY).toUpperCase()],
      [
        'body_not_as_sent',
        /another text of the body/,
        sha512('{"currency_pair": "BTC_USDT", "side": "buy", "amount": "1"}'),
      ],
      ['body_not_as_sent', /another text of the body/, sha512(JSON.stringify(JSON.parse(BODY), null, 2))],
      [
        'body_not_as_sent',
        /another text of the body/,
        sha512('{"amount":"1","currency_pair":"BTC_USDT","side":"buy"}'),
      ],
    ]
    for (const [mistake, words, digest] of bodies)
      fits(
        await sendPost(at, sign(credential.secret, signatureString({ ...post(at), bodyDigest: digest }))),
        mistake,
        words,
      )
    const lines = [get(at).method, PATH, QUERY, sha512(''), at]
    fits(await sendGet(at, sign(credential.secret, lines.join(''))), 'separator', /line breaks/)
    fits(await sendGet(at, sign(credential.secret, lines.join('\\n'))), 'separator', /line breaks/)
  })

  test('is told which mistake in its making fits', async () => {
    const at = timestamp()
    const text = signatureString(get(at))
    const { key, secret } = credential
    const cases: [mistake: string, words: RegExp, sign: string][] = [
      ['sha256', /HMAC-SHA256|HMAC-SHA-256/, hmac('sha256', secret, text).toString('hex')],
      ['base64', /base64/, hmac('sha512', secret, text).toString('base64')],
      ['base64', /base64/, Buffer.from(sign(secret, text)).toString('base64')],
      ['sha256+base64', /SHA-256.*base64/, hmac('sha256', secret, text).toString('base64')],
      ['prefix_0x', /0x/, `0x${sign(secret, text)}`],
      ['secret_is_key', /with the API key/, sign(key, text)],
      [
        'secret_decoded',
        /decoded from hex/,
        hmac('sha512', Buffer.from(secret, 'hex'), text).toString('hex'),
      ],
      ['secret_space', /line break or space/, sign(`${secret}\n`, text)],
      ['no_hmac', /plain hash/, sha512(text + secret)],
      ['wrong_secret', new RegExp(`another key of this account, ${other.key}`), sign(other.secret, text)],
      ['unknown', /most likely not that of this key/, sign('0'.repeat(64), text)],
      ['unknown', /most likely not/, hmac('sha256', '0'.repeat(64), text).toString('hex')],
      ['form', /128 hex digits/, 'not a signature'],
      [
        'sha256+method_case',
        /SHA-256.*; and the method was signed in lower case/,
        hmac('sha256', secret, signatureString({ ...get(at), method: 'get' })).toString('hex'),
      ],
    ]
    for (const [mistake, words, SIGN] of cases) fits(await sendGet(at, SIGN), mistake, words)
    // Upper-case hex is no mistake: the bytes are the same.
    ok(await sendGet(at, sign(secret, text).toUpperCase()))
  })

  test("does not tell of anybody else's key", async () => {
    const stranger = await platform.user()
    const at = timestamp()
    const reply = await sendGet(at, sign(stranger.credential.secret, signatureString(get(at))))
    fits(reply, 'unknown', /most likely not/)
    assert.ok(!reply.text.includes(stranger.credential.key))
  })

  test('a Timestamp in milliseconds is told as such', async () => {
    const at = `${timestamp()}000`
    refused(
      await sendGet(at, sign(credential.secret, signatureString(get(at)))),
      401,
      'REQUEST_EXPIRED',
      /looks like milliseconds$/,
    )
    refused(await sendGet('1000', 'x'), 401, 'REQUEST_EXPIRED', /send Unix seconds within 60 s of it$/)
  })

  test('is explained only while it is counted and below the limit, and never in live mode', async () => {
    const few = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1', KONTOR_AUTH_FAILURES: '3' })
    const user = await few.user()
    const wrong = few.client({ ...user.credential, secret: user.credential.key })
    for (let i = 0; i < 3; i++)
      assert.equal((await wrong.get('/account/detail')).body.mistake, 'secret_is_key')
    const over = await wrong.get('/account/detail')
    refused(over, 429, 'TOO_MANY_REQUESTS')
    assert.deepEqual(Object.keys(over.body as object).sort(), ['label', 'message'])
    await few.stop()
    const live = await TestPlatform.start(LIVE)
    const { credential: known } = await live.user({ perms: [{ name: 'account', read_only: true }] })
    const reply = await live.client({ ...known, secret: known.key }).get('/account/detail')
    refused(reply, 401, 'INVALID_SIGNATURE', /^Signature mismatch$/)
    assert.deepEqual(Object.keys(reply.body as object).sort(), ['label', 'message'])
    await live.stop()
  })

  test('a large body or query costs a bounded number of tries', () => {
    const body = Buffer.from(`[${'{"a":[1,2,3]},'.repeat(70_000)}0]`)
    const query = Array.from({ length: 2_000 }, (_, i) => `p${i}=${i}`).join('&')
    const parts = { method: 'POST', path: PATH, query, bodyDigest: bodyDigest(body), timestamp: '1' }
    const others = Array.from({ length: 20 }, (_, i) => [`k${i}`, `s${i}`] as const)
    const start = performance.now()
    assert.equal(
      mistakeOf({ key: 'k', secret: 's', parts, body, sign: 'a'.repeat(128), others }).mistake,
      'unknown',
    )
    assert.ok(performance.now() - start < 3_000)
    const deep = Buffer.from('['.repeat(30_000) + ']'.repeat(30_000))
    const attempt = { key: 'k', secret: 's', parts, body: deep, sign: 'a'.repeat(128), others }
    assert.equal(mistakeOf(attempt).mistake, 'unknown')
  })
})
