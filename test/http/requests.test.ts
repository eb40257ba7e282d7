import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { ok, refused, send, type Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

/** Everything that any request may meet: routes, negotiation, bodies, headers, times. */
describe('requests', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  /** What a request is answered with, to the end of its connection. */
  const answered = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(platform.url).port), '127.0.0.1', () => socket.write(text))
      let all = ''
      socket.on('data', (chunk) => (all += chunk.toString()))
      socket.on('close', () => resolve(all))
      socket.on('error', reject)
    })
  const raw = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Reply> => send(platform.url, method, path, body, headers)

  test('an unknown address is 404 in JSON, on every surface', async () => {
    for (const path of [
      '/api/v4/nothing',
      '/api/v4/spot/time/',
      '/api/v5/spot/time',
      '/nowhere',
      '/api/v4',
      '/operator/v1/x',
    ])
      refused(await raw('GET', path), 404, 'NOT_FOUND', /docs/)
    // Named by the reference, built later: a clear 404 too.
    refused(await platform.demo().get('/options/positions'), 404, 'NOT_FOUND')
  })
  test('a flag in a query is true or false in any case, as every language writes it', async () => {
    const book = async (with_id: string) =>
      platform.demo().get('/spot/order_book', { currency_pair: 'BTC_USDT', with_id })
    for (const yes of ['true', 'True', 'TRUE', '1'])
      assert.equal(typeof ok(await book(yes)).id, 'number', yes)
    for (const no of ['false', 'False', 'FALSE', '0', '']) assert.equal(ok(await book(no)).id, undefined, no)
    for (const bad of ['yes', 'on', '2', 'truee', 'null'])
      refused(await book(bad), 400, 'INVALID_PARAM_VALUE', /with_id: .* must be true or false/)
    const mode = (dual_mode: string) =>
      platform.demo().request('POST', '/futures/usdt/dual_mode', { query: { dual_mode } })
    assert.equal(ok(await mode('True')).in_dual_mode, true)
    assert.equal(ok(await mode('False')).in_dual_mode, false)
  })
  test('a known address with another method is 405 and says which are allowed', async () => {
    const reply = await raw('DELETE', '/api/v4/spot/time')
    refused(reply, 405, 'METHOD_NOT_ALLOWED', /DELETE.*GET/)
    assert.equal(reply.headers.get('allow'), 'GET')
    const keys = await raw('PATCH', '/api/v4/sub_accounts/1/keys/2')
    assert.equal(keys.headers.get('allow'), 'DELETE, GET, PUT')
    refused(await raw('PUT', '/api/v4/sub_accounts/unified_mode'), 405, 'METHOD_NOT_ALLOWED')
  })
  test('the route is checked before negotiation, negotiation before authentication', async () => {
    refused(await raw('GET', '/api/v4/nothing', { Accept: 'text/html' }), 404, 'NOT_FOUND')
    refused(await raw('GET', '/api/v4/wallet/order_status', { Accept: 'text/html' }), 400, 'NOT_ACCEPTABLE')
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    refused(await raw('POST', '/api/v4/wallet/transfers', form, 'a=1'), 400, 'INVALID_CONTENT_TYPE')
  })
  test('Accept: only an explicit no is a no', async () => {
    for (const accept of [
      'application/json',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.5',
      'text/*, */*;q=0.1',
    ])
      ok(await raw('GET', '/api/v4/spot/time', { Accept: accept }))
    refused(
      await raw('GET', '/api/v4/spot/time', { Accept: 'text/html' }),
      400,
      'NOT_ACCEPTABLE',
      /text\/html/,
    )
    refused(await raw('GET', '/api/v4/spot/time', { Accept: 'application/json;q=0' }), 400, 'NOT_ACCEPTABLE')
  })
  test('a POST without a body may say any content type; with one it must be JSON', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const path = `/sub_accounts/${sub.user_id}/lock`
    for (const options of [
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      { body: {} },
      {},
    ])
      ok(await main.client.request('POST', path, options), 204)
    const wrong = { rawBody: 'currency=BTC', headers: { 'Content-Type': 'text/plain' } }
    refused(
      await main.client.request('POST', '/wallet/transfers', wrong),
      400,
      'INVALID_CONTENT_TYPE',
      /text\/plain/,
    )
  })
  test('a body of more values than anybody sends is refused by its beginning, as it would be as a whole', async () => {
    const { client } = await platform.user()
    const post = (path: string, rawBody: string): Promise<Reply> => client.request('POST', path, { rawBody })
    const flat = (item: string): string => `[${`${item},`.repeat(300_000)}${item}]`
    const members = Array.from({ length: 50_000 }, (_, i) => `"m${i}":1`).join()
    const transfer = '"currency":"BTC","from":"spot","to":"margin","amount":"1","currency_pair":"BTC_USDT"'
    for (const item of ['1', '{}', '[]']) {
      refused(await post('/wallet/transfers', flat(item)), 400, 'INVALID_REQUEST_BODY', /JSON object/)
      refused(await post('/spot/batch_orders', flat(item)), 400, 'INVALID_PARAM_VALUE', /at most 200/)
      refused(await post('/wallet/transfers', `{"amount":${flat(item)}}`), 400, 'MISSING_REQUIRED_PARAM')
    }
    refused(
      await post('/spot/batch_orders', JSON.stringify('1,'.repeat(500_000))),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await post('/wallet/transfers', `{${members}}`), 400, 'MISSING_REQUIRED_PARAM')
    refused(
      await post('/wallet/transfers', `{${transfer},${members}}`),
      400,
      'INVALID_REQUEST_BODY',
      /more than/,
    )
    // 8,192 commas are read.
    const some = Array.from({ length: 8_192 - 4 }, (_, i) => `"m${i}":1`).join()
    refused(await post('/wallet/transfers', `{${transfer},${some}}`), 400, 'BALANCE_NOT_ENOUGH')
  })
  test('a body that is not JSON, not an object, too deep or too long is a 400', async () => {
    const { client } = await platform.user()
    const post = (rawBody: string): Promise<Reply> => client.request('POST', '/wallet/transfers', { rawBody })
    for (const body of ['{', 'nonsense', '[1]', '"text"', '12', '{"a":1}}'])
      refused(await post(body), 400, 'INVALID_REQUEST_BODY')
    refused(await post(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`), 400, 'INVALID_REQUEST_BODY')
    refused(await post(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`), 400, 'INVALID_REQUEST_BODY')
    // Told by its brackets, before anybody reads it.
    refused(await post('['.repeat(5000)), 400, 'INVALID_REQUEST_BODY', /nested deeper/)
    refused(await post(`{"currency":"${'{'.repeat(5000)}"}`), 400, 'INVALID_PARAM_VALUE')
    refused(await post(`{"currency":"${'x'.repeat(1024 * 1024)}"}`), 400, 'INVALID_REQUEST_BODY', /1048576/)
    refused(
      await post('{"currency":"BTC\\u0000","from":"spot","to":"margin","amount":"1"}'),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(
      await post('{"currency":"\\ud800","from":"spot","to":"margin","amount":"1"}'),
      400,
      'INVALID_PARAM_VALUE',
    )
  })
  test('bytes that are not UTF-8 are a 400', async () => {
    const { credential } = await platform.user()
    const { bodyDigest, sign, signatureString } = await import('../../src/api/signature.ts')
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
    const timestamp = String(Math.floor(Date.now() / 1000))
    const path = '/api/v4/wallet/transfers'
    const message = signatureString({
      method: 'POST',
      path,
      query: '',
      bodyDigest: bodyDigest(body),
      timestamp,
    })
    const response = await fetch(platform.url + path, {
      method: 'POST',
      body,
      headers: { KEY: credential.key, Timestamp: timestamp, SIGN: sign(credential.secret, message) },
    })
    assert.equal(response.status, 400)
    assert.equal(((await response.json()) as { label: string }).label, 'INVALID_REQUEST_BODY')
  })
  test('null and empty count as absent, unknown fields are ignored', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10')
    const transfer = {
      currency: 'usdt',
      from: 'spot',
      to: 'futures',
      amount: '1',
      settle: 'USDT',
      currency_pair: '',
    }
    ok(
      await client.post('/wallet/transfers', {
        ...transfer,
        id: null,
        unknown: { a: 1 },
        currency_pair: null,
      }),
    )
    refused(
      await client.post('/wallet/transfers', { ...transfer, amount: null }),
      400,
      'MISSING_REQUIRED_PARAM',
      /amount/,
    )
    refused(
      await client.post('/wallet/transfers', { ...transfer, amount: '' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /amount/,
    )
    refused(await client.post('/wallet/transfers'), 400, 'MISSING_REQUIRED_PARAM', /currency/)
    ok(await client.get('/account/stp_groups', { name: '', something: 'else' }))
  })
  test('amounts are decimal strings, positive, without sign or exponent', async () => {
    const { client } = await platform.user()
    for (const amount of [
      '-1',
      '+1',
      '1e3',
      '0x10',
      '1,5',
      '.5',
      '5.',
      ' 1',
      'NaN',
      'Infinity',
      '1.1234567890123456789',
      '123456789012345678901',
      1,
      1.5,
      true,
      {},
      ['1'],
    ])
      refused(
        await client.post('/wallet/transfers', {
          currency: 'USDT',
          from: 'spot',
          to: 'futures',
          settle: 'usdt',
          amount,
        }),
        400,
        'INVALID_PARAM_VALUE',
        /^amount: /,
      )
    refused(
      await client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'futures',
        settle: 'usdt',
        amount: '0.00',
      }),
      400,
      'INVALID_PARAM_VALUE',
      /amount.*zero/,
    )
  })
  test('every response carries its times and trace id, and echoes the client id', async () => {
    const before = Date.now() * 1000 - 2000
    const reply = await raw('GET', '/api/v4/spot/time', { 'X-Client-Request-Id': 'abc-1' })
    assert.equal(reply.headers.get('x-client-request-id'), 'abc-1')
    const [inTime, outTime] = [
      Number(reply.headers.get('x-in-time')),
      Number(reply.headers.get('x-out-time')),
    ]
    assert.ok(before <= inTime && inTime <= outTime && outTime <= Date.now() * 1000 + 2000)
    const error = await raw('GET', '/nothing', { 'X-Client-Request-Id': 'y'.repeat(64) })
    assert.equal(error.headers.get('x-client-request-id'), 'y'.repeat(64))
    assert.equal(
      (await raw('GET', '/nothing', { 'X-Client-Request-Id': 'y'.repeat(65) })).headers.get(
        'x-client-request-id',
      ),
      null,
    )
    const told = 'X-Client-Request-Id: abc-2'
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket'
    for (const [path, more] of [
      ...['/healthz', '/metrics', '/docs', '/', '/ws/v4/'].map((path) => [path, 'Connection: close']),
      ['/ws/v4/', upgrade],
      ['/ws/v5/', upgrade],
    ] as [string, string][])
      assert.ok(
        (await answered(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n${told}\r\n\r\n`)).includes(
          told,
        ),
        path,
      )
  })
  test('what the HTTP parser refuses is answered in JSON too', async () => {
    for (const text of [
      'NONSENSE\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`,
    ]) {
      const answer = await answered(text)
      assert.match(answer, /^HTTP\/1\.1 400 /)
      assert.equal((JSON.parse(answer.split('\r\n\r\n')[1]!) as { label: string }).label, 'BAD_REQUEST')
    }
  })
  test('a body on GET is not read, but it is covered by the signature', async () => {
    const { credential } = await platform.user()
    const { bodyDigest, sign, signatureString } = await import('../../src/api/signature.ts')
    const timestamp = String(Math.floor(Date.now() / 1000))
    const path = '/api/v4/account/detail'
    const get = (body: string, signed: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const message = signatureString({
          method: 'GET',
          path,
          query: '',
          bodyDigest: bodyDigest(Buffer.from(signed)),
          timestamp,
        })
        const request = httpRequest(
          platform.url + path,
          {
            method: 'GET',
            headers: {
              KEY: credential.key,
              Timestamp: timestamp,
              SIGN: sign(credential.secret, message),
              'Content-Length': body.length,
            },
          },
          (response) => {
            response.resume()
            resolve(response.statusCode!)
          },
        )
        request.on('error', reject)
        request.end(body)
      })
    assert.equal(await get('not json at all', 'not json at all'), 200)
    assert.equal(await get('not json at all', ''), 401)
  })
  test('pages for people and machines', async () => {
    for (const [path, type] of [
      ['/', 'text/html; charset=utf-8'],
      ['/docs', 'text/html; charset=utf-8'],
      ['/openapi.json', 'application/json'],
      ['/healthz', 'application/json'],
      ['/readyz', 'application/json'],
      ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
    ] as const) {
      const response = await fetch(platform.url + path)
      assert.equal(response.status, 200, path)
      assert.equal(response.headers.get('content-type'), type)
      assert.ok((await response.text()).length > 10)
    }
    const metrics = await (await fetch(`${platform.url}/metrics`)).text()
    assert.match(metrics, /kontor_requests_total\{route="GET \/api\/v4\/spot\/time",status="200"\} \d+/)
  })
})
