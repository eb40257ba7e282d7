import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { TOKEN, TestPlatform } from '../support/platform.ts'

const PAGE = 'https://bot.example.com'
const preflight = (url: string, path: string, origin: string): Promise<Response> =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'key,sign,timestamp,content-type',
      'Access-Control-Request-Private-Network': 'true',
    },
  })
const allowed = (response: Response): string | null => response.headers.get('access-control-allow-origin')

describe('pages of other origins', () => {
  const running: TestPlatform[] = []
  const start = async (env: Record<string, string>): Promise<TestPlatform> => {
    const platform = await TestPlatform.start(env)
    running.push(platform)
    return platform
  }
  after(() => Promise.all(running.map((platform) => platform.stop())))

  test('off by default: no header, and a preflight is not answered', async () => {
    const { url } = await start({})
    const got = await fetch(`${url}/api/v4/spot/time`, { headers: { Origin: PAGE } })
    assert.equal(got.status, 200)
    assert.equal(allowed(got), null)
    const asked = await preflight(url, '/api/v4/spot/orders', PAGE)
    assert.equal(asked.status, 405)
    assert.equal(allowed(asked), null)
  })
  test('a named origin may call the trading API, signed too; nobody else, and nothing else', async () => {
    const platform = await start({ KONTOR_CORS: `${PAGE}, http://localhost:5173` })
    const { url } = platform
    const asked = await preflight(url, '/api/v4/spot/orders', PAGE)
    assert.equal(asked.status, 204)
    assert.equal(allowed(asked), PAGE)
    assert.match(asked.headers.get('access-control-allow-headers')!, /KEY, SIGN, Timestamp, Content-Type/)
    // What ccxt and gate-api send with each request of theirs, or may be told to send.
    const sent = asked.headers.get('access-control-allow-headers')!.toLowerCase().split(', ')
    for (const name of ['channel-id', 'size-decimal', 'exptime'])
      assert.ok(sent.includes(`x-gate-${name}`) && sent.includes(`x-svc-${name}`), name)
    assert.match(asked.headers.get('access-control-allow-methods')!, /GET, POST, PUT, PATCH, DELETE/)
    assert.equal(asked.headers.get('access-control-allow-private-network'), 'true')
    assert.equal(asked.headers.get('access-control-allow-credentials'), null)
    const { credential } = await platform.user()
    const path = '/api/v4/account/detail'
    const timestamp = String(Math.floor(Date.now() / 1000))
    const message = signatureString({
      method: 'GET',
      path,
      query: '',
      bodyDigest: bodyDigest(undefined),
      timestamp,
    })
    const headers = {
      KEY: credential.key,
      Timestamp: timestamp,
      SIGN: sign(credential.secret, message),
      Origin: PAGE,
    }
    const got = await fetch(url + path, { headers })
    assert.equal(got.status, 200)
    assert.equal(allowed(got), PAGE)
    assert.equal(got.headers.get('vary'), 'Origin')
    assert.match(got.headers.get('access-control-expose-headers')!, /RateLimit-Requests-Remain/)
    assert.match(got.headers.get('access-control-expose-headers')!, /X-Applied-From, X-Applied-To/)
    assert.ok(Number(got.headers.get('x-in-time')) > 0)
    // A page must be able to read why it was refused.
    const refusal = await fetch(`${url}/api/v4/account/detail`, { headers: { Origin: PAGE } })
    assert.equal(refusal.status, 401)
    assert.equal(allowed(refusal), PAGE)
    for (const origin of [
      'https://evil.example.com',
      'https://bot.example.com.evil.com',
      'null',
      `${PAGE}:8443`,
    ]) {
      const other = await fetch(`${url}/api/v4/spot/time`, { headers: { Origin: origin } })
      assert.equal(allowed(other), null, origin)
      assert.equal((await preflight(url, '/api/v4/spot/orders', origin)).status, 405)
    }
    const operator = await fetch(`${url}/operator/v1/status`, {
      headers: { Origin: PAGE, Authorization: `Bearer ${TOKEN}` },
    })
    assert.equal(operator.status, 200)
    assert.equal(allowed(operator), null)
    assert.equal(allowed(await preflight(url, '/operator/v1/faults', PAGE)), null)
    assert.equal(allowed(await fetch(`${url}/metrics`, { headers: { Origin: PAGE } })), null)
    assert.equal(allowed(await preflight(url, '/api/../operator/v1/faults', PAGE)), null)
  })
  test('all origins, and mistakes', async () => {
    const { url } = await start({ KONTOR_CORS: '*' })
    assert.equal(allowed(await fetch(`${url}/api/v4/spot/time`, { headers: { Origin: 'null' } })), '*')
    for (const wrong of ['bot.example.com', 'https://bot.example.com/', 'https://*.example.com', 'ftp://x'])
      assert.throws(
        () => readConfig({ KONTOR_CORS: wrong }),
        /^Error: KONTOR_CORS .* is not an origin/,
        wrong,
      )
    assert.deepEqual(readConfig({ KONTOR_CORS: 'off' }).cors, [])
  })
})
