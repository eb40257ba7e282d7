import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addressBlock } from '../../src/http/words.ts'
import { OperatorClient, ok, refused, type Reply } from '../support/client.ts'
import { TestPlatform, TOKEN } from '../support/platform.ts'

/** On a clock that stands no window slides, however slow the machine is. */
const start = (env: Record<string, string>): Promise<TestPlatform> =>
  TestPlatform.start({ KONTOR_CLOCK: '1790000000', KONTOR_RATE_LIMITS: '1', ...env })

describe('failed authentications', () => {
  test('what any web page can send locks nobody out: only guesses count', async () => {
    const platform = await start({ KONTOR_AUTH_FAILURES: '5' })
    const { client, credential, user_id } = await platform.user()
    const nobody = platform.client()
    for (let i = 0; i < 20; i++) {
      refused(await nobody.get('/account/detail'), 401, 'MISSING_REQUIRED_HEADER')
      refused(await client.request('GET', '/account/detail', { timestamp: '1000' }), 401, 'REQUEST_EXPIRED')
      const reply = await fetch(`${platform.url}/operator/v1/status`)
      assert.equal(reply.status, 401)
      await reply.text()
    }
    const disabled = await platform.key(user_id, [])
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${disabled.key}`, { state: 2 })
    for (let i = 0; i < 20; i++)
      refused(await platform.client(disabled).get('/account/detail'), 401, 'INVALID_CREDENTIALS')
    ok(await client.get('/account/detail'))
    await platform.operator.ok('GET', '/status')

    const wrong = platform.client({ ...credential, secret: 'x' })
    for (let i = 0; i < 5; i++) refused(await wrong.get('/account/detail'), 401, 'INVALID_SIGNATURE')
    const late = await wrong.get('/account/detail')
    refused(late, 429, 'TOO_MANY_REQUESTS', /failed authentications from 127\.0\.0\.1/)
    assert.ok(Number(late.headers.get('retry-after')) >= 1)
    refused(
      await platform.client({ key: 'f'.repeat(32), secret: 'x' }).get('/account/detail'),
      429,
      'TOO_MANY_REQUESTS',
    )
    // A right signature is no guess; a token might be.
    ok(await client.get('/account/detail'))
    ok(await client.post('/account/stp_groups', { name: 'with a body' }))
    refused(await platform.operator.call('GET', '/status'), 429, 'TOO_MANY_REQUESTS')
    await platform.stop()
  })
  test('who may not do something is told what is left, and uses nothing up', async () => {
    const platform = await start({})
    const { client, user_id } = await platform.user()
    const reader = platform.client(await platform.key(user_id, [{ name: 'wallet', read_only: true }]))
    const left = (reply: Reply) =>
      ['requests-remain', 'limit', 'reset-timestamp'].map((name) =>
        Number(reply.headers.get(`x-svc-ratelimit-${name}`)),
      )
    for (let i = 0; i < 2; i++) {
      const refusal = await reader.post('/wallet/transfers', {})
      refused(refusal, 403, 'READ_ONLY')
      assert.deepEqual(left(refusal), [80, 80, 1790000000])
      const other = await reader.get('/spot/accounts')
      refused(other, 403, 'FORBIDDEN')
      assert.deepEqual(left(other).slice(0, 2), [200, 200])
    }
    refused(await client.post('/wallet/transfers', {}), 400, 'MISSING_REQUIRED_PARAM')
    assert.deepEqual(left(await reader.post('/wallet/transfers', {})).slice(0, 2), [79, 80])
    const locked = async () => client.get('/wallet/fee')
    await platform.operator.ok('PATCH', `/users/${user_id}`, { state: 2 })
    refused(await locked(), 403, 'ACCOUNT_LOCKED')
    assert.deepEqual(left(await locked()).slice(0, 2), [200, 200])
    await platform.stop()
  })
  test('wrong tokens count, and over the limit the right one does not pass', async () => {
    const platform = await start({ KONTOR_RATE_LIMITS: '100', KONTOR_AUTH_FAILURES: '3' })
    const guess = new OperatorClient(platform.url, `${TOKEN}x`)
    for (let i = 0; i < 3; i++) refused(await guess.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
    refused(await guess.call('GET', '/status'), 429, 'TOO_MANY_REQUESTS')
    refused(await platform.operator.call('GET', '/status'), 429, 'TOO_MANY_REQUESTS')
    await platform.stop()
  })
  test('a network of IPv6 counts as one address', () => {
    assert.equal(addressBlock('10.1.2.3'), '10.1.2.3')
    assert.equal(addressBlock('2001:db8:1:2:3:4:5:6'), addressBlock('2001:db8:1:2::9'))
    assert.notEqual(addressBlock('2001:db8:1:2::9'), addressBlock('2001:db8:1:3::9'))
    assert.equal(addressBlock('2001:db8::1'), '2001:db8:0:0::/64')
    assert.equal(addressBlock('::'), '0:0:0:0::/64')
  })
})

describe('rate buckets', () => {
  test('invented, empty and otherwise written market names open none of their own', async () => {
    const platform = await start({})
    const amend = async (names: readonly unknown[], query = ''): Promise<Reply[]> => {
      const { client } = await platform.user()
      const replies: Reply[] = []
      for (const currency_pair of names)
        replies.push(
          await client.request('PATCH', '/spot/orders/1', { query, body: { currency_pair, price: '1' } }),
        )
      return replies
    }
    const refusedOf = (replies: readonly Reply[]): number =>
      replies.filter(({ status }) => status === 429).length
    const invented = Array.from({ length: 20 }, (_, i) => `NO${i}_USDT`)
    assert.equal(refusedOf(await amend(invented)), 10, 'unknown names share one bucket')
    assert.equal(refusedOf(await amend([...invented.slice(0, 10), '', null, 7, ['BTC_USDT']])), 4)
    const spellings = ['BTC_USDT', 'btc_usdt', 'Btc_Usdt', 'bTC_uSDT']
    assert.equal(refusedOf(await amend([...spellings, ...spellings, ...spellings])), 2)
    // An empty name in the body means the one in the query, for the limit as for the order.
    const mixed = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? '' : 'BTC_USDT'))
    assert.equal(refusedOf(await amend(mixed, 'currency_pair=BTC_USDT')), 10)
    await platform.stop()
  })
  test('a batch that one of its markets refuses uses up nothing of the others', async () => {
    const platform = await start({})
    const { client } = await platform.user()
    const orders = (...pairs: string[]): Promise<Reply> =>
      client.post(
        '/spot/batch_orders',
        pairs.map((currency_pair) => ({ currency_pair, side: 'buy', amount: '1', price: '1' })),
      )
    for (let i = 0; i < 10; i++) ok(await orders('BTC_USDT'))
    for (let i = 0; i < 10; i++) {
      const reply = await orders('ETH_USDT', 'BTC_USDT')
      refused(reply, 429, 'TOO_MANY_REQUESTS')
      assert.equal(reply.headers.get('x-gate-ratelimit-requests-remain'), '0')
    }
    for (let i = 0; i < 10; i++) {
      const reply = await orders('ETH_USDT', 'SOL_USDT')
      ok(reply)
      assert.equal(reply.headers.get('x-gate-ratelimit-requests-remain'), String(9 - i))
    }
    refused(await orders('ETH_USDT'), 429, 'TOO_MANY_REQUESTS')
    await platform.stop()
  })
  test('pages are limited by address; signs of life are not', async () => {
    const platform = await start({})
    const statuses = async (path: string): Promise<number[]> => {
      const found: number[] = []
      for (let i = 0; i < 205; i++) {
        const reply = await fetch(platform.url + path)
        found.push(reply.status)
        if (reply.status === 429) {
          assert.equal(((await reply.json()) as { label: string }).label, 'TOO_MANY_REQUESTS')
          assert.ok(Number(reply.headers.get('retry-after')) >= 1)
        } else await reply.arrayBuffer()
      }
      return found
    }
    assert.deepEqual((await statuses('/')).slice(198), [200, 200, 429, 429, 429, 429, 429])
    assert.ok((await statuses('/healthz')).every((status) => status === 200))
    await platform.stop()
  })
  test('what a caller writes into X-Forwarded-For is an address, or nothing', async () => {
    const platform = await start({
      KONTOR_AUTH_FAILURES: '3',
      KONTOR_TRUST_PROXY: '1',
    })
    const guess = platform.client({ key: 'f'.repeat(32), secret: 'x' })
    const from = (name: string): Promise<Reply> =>
      guess.request('GET', '/account/detail', { headers: { 'X-Forwarded-For': name } })
    for (let i = 0; i < 3; i++) refused(await from(`made-up-${i}`), 401, 'INVALID_KEY')
    refused(await from('made-up-4'), 429, 'TOO_MANY_REQUESTS')
    refused(await from('10.1.1.1'), 401, 'INVALID_KEY')
    await platform.stop()
  })
})
