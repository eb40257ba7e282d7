import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RequestLog, masked, type NewRequest } from '../../src/api/request-log.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

const A_REQUEST: NewRequest = {
  at: 1,
  micros: 2,
  method: 'POST',
  path: '/x',
  query: 'a=1',
  ip: '127.0.0.1',
  userId: 7,
  key: undefined,
  operator: undefined,
  status: 200,
  timestamp: undefined,
  remain: undefined,
  limit: undefined,
  dropped: false,
  ignored: undefined,
  body: undefined,
  reply: '',
}

describe('the log of requests', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const look = (query = '') => platform.operator.ok('GET', `/requests?${query}`)

  test('holds bodies and replies, filtered, and goes on after an id', async () => {
    const { client, user_id, credential } = await platform.user()
    const { last } = await look()
    const first = await client.get('/account/detail', 'a=1')
    ok(first)
    refused(
      await client.post('/wallet/transfers', { currency: 'NONE', nothing: true }),
      400,
      'MISSING_REQUIRED_PARAM',
    )
    const wrong = platform.client({ ...credential, secret: 'x' })
    refused(await wrong.get('/account/detail'), 401, 'INVALID_SIGNATURE')
    ok(await platform.client().get('/spot/time'))
    const { requests, ...place } = await look(`after=${last}`)
    assert.deepEqual(place, { last: last + 4, missed: 0 })
    assert.deepEqual(
      requests.map(({ method, path, query, status, user_id, body }: Record<string, unknown>) => [
        method,
        path,
        query,
        status,
        user_id,
        body,
      ]),
      [
        ['GET', '/api/v4/account/detail', 'a=1', 200, user_id, ''],
        ['POST', '/api/v4/wallet/transfers', '', 400, user_id, '{"currency":"NONE","nothing":true}'],
        ['GET', '/api/v4/account/detail', '', 401, user_id, ''],
        ['GET', '/api/v4/spot/time', '', 200, null, ''],
      ],
    )
    assert.equal(requests[0].key, credential.key)
    assert.match(requests[0].timestamp as string, /^\d{10}$/)
    assert.deepEqual(
      [requests[0].remain, requests[0].limit].map(String),
      ['requests-remain', 'limit'].map((name) => first.headers.get(`x-svc-ratelimit-${name}`)),
    )
    assert.equal(requests[3].timestamp, null)
    assert.equal(JSON.parse(requests[1].reply as string).label, 'MISSING_REQUIRED_PARAM')
    const paths = async (query: string): Promise<number[]> =>
      (await look(`after=${last}&${query}`)).requests.map(({ id }: { id: number }) => id - last)
    assert.deepEqual(await paths(`user_id=${user_id}`), [1, 2, 3])
    assert.deepEqual(await paths('path=/account/*'), [1, 3])
    assert.deepEqual(await paths('path=/api/v4/spot/time'), [4])
    assert.deepEqual(await paths('status=4xx'), [2, 3])
    assert.deepEqual(await paths('status=401'), [3])
    assert.deepEqual(await paths('limit=2'), [1, 2])
    assert.equal((await look(`after=${last}&limit=2`)).last, last + 2, 'the next look goes on there')
    assert.deepEqual(
      (await look('limit=1')).requests.map(({ id }: { id: number }) => id - last),
      [4],
    )
    refused(await platform.operator.call('GET', '/requests?status=4'), 400, 'INVALID_PARAM_VALUE', /4xx/)
    const viewer = await platform.colleague('reader', 'viewer')
    refused(await viewer.call('GET', '/requests'), 403, 'FORBIDDEN')
  })

  test('shows no password, secret, token or signature, and cuts what is long', async () => {
    const { credential, client, user_id } = await platform.user()
    const { token } = await platform.operator.ok('POST', '/operators', { name: 'fresh', role: 'viewer' })
    ok(await client.post('/sub_accounts', { login_name: 'sub_of_log', password: 'hunter2hunter2' }), 201)
    await platform.operator.ok('PATCH', `/users/${user_id}`, { password: 'hunter2"hunter2' })
    await client.request('POST', '/sub_accounts', {
      rawBody: '{"login_name":"x","pass\\u0077ord":"hunter2hunter2"',
    })
    await client.get('/account/detail', 'password=hunter2&secret=hunter2')
    await client.post('/wallet/transfers', { currency: 'x'.repeat(100_000) })
    const reply = await platform.operator.call('GET', '/requests?limit=1000')
    assert.doesNotMatch(reply.text, /hunter2/)
    for (const secret of [credential.secret, token as string, platform.operator.token])
      assert.ok(!reply.text.includes(secret))
    const long = reply.body.requests.at(-1)
    assert.ok(long.body.length <= 4096)
    assert.ok(long.body_length > 100_000)
    assert.match(reply.text, /\\"password\\":\\"\*\*\*\\"/)
  })

  test('tells of replies that a fault kept back', async () => {
    await platform.operator.ok('POST', '/faults', { effect: 'drop_reply', times: 1 })
    await assert.rejects(platform.client().get('/spot/time'))
    const { requests } = await look('path=/spot/time&limit=1')
    assert.equal(requests[0].dropped, true)
  })

  test('masks name by name, wherever the text was cut', () => {
    assert.equal(masked('{"a":"password","password":"x"}'), '{"a":"password","password":"***"}')
    assert.equal(masked('["password", ":", "x"]'), '["password", ":", "x"]')
    assert.equal(masked('{"secret" : 12, "b":1}'), '{"secret" : "***", "b":1}')
    assert.equal(masked('{"password":"abc'), '{"password":"***"')
    assert.equal(masked('{"text":"a=b&c","n":"?password=1"}'), '{"text":"a=b&c","n":"?password=***"}')
    assert.equal(masked('a=1&token=abc'), 'a=1&token=***')
  })

  test('is bounded, and tells how many were missed', () => {
    const log = new RequestLog()
    const filter = { user_id: null, path: null, status: null, limit: 1000 }
    for (let i = 0; i < 2_500; i++) log.add(A_REQUEST)
    const all = log.find({ ...filter, after: null })
    assert.deepEqual([all.requests.length, all.requests[0]!.id, all.last], [1000, 1501, 2500])
    assert.equal(log.find({ ...filter, after: 100 }).missed, 1400)
    assert.deepEqual(log.find({ ...filter, after: 2500 }), { last: 2500, missed: 0, requests: [] })
    assert.equal(log.find({ ...filter, after: 9999 }).last, 2500, 'as after a reset')
    // A place that is used again tells nothing of who had it before, however long the texts were.
    const long = '\u{1d11e}ä"'.repeat(3_000)
    for (const [body, reply] of [
      [Buffer.from(long), long],
      ['{"b":1}', 'short'],
      [undefined, ''],
    ] as const) {
      for (let i = 0; i < 1_000; i++) log.add({ ...A_REQUEST, query: `n=${i}`, body, reply })
      const told = log.find({ ...filter, after: null }).requests
      assert.equal(told.length, 1000)
      for (const [i, one] of told.entries()) {
        assert.deepEqual([one.path, one.query], ['/x', `n=${i}`])
        assert.deepEqual([one.bodyLength, one.replyLength], [body?.length ?? 0, reply.length])
        assert.equal(one.reply, Buffer.from(reply.slice(0, 4096)).toString())
        assert.equal(one.body, typeof body === 'string' ? body : (body?.toString('utf8', 0, 4096) ?? ''))
      }
    }
    log.clear()
    assert.deepEqual(log.find({ ...filter, after: 7 }), { last: 0, missed: 0, requests: [] })
  })
})
