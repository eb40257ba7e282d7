import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from '../../src/endpoints.ts'
import { OperatorClient, refused, send, type Client, type Reply } from '../support/client.ts'
import { TestPlatform, allPerms } from '../support/platform.ts'

/** Walks every declared endpoint: who may call it, and how often. */
const concrete = (path: string): string => path.replace(/\{\w+\}/g, '1')
const call = (client: Client, { method, path, body }: AnyEndpoint): Promise<Reply> =>
  client.request(method, concrete(path), body === undefined ? {} : { body: {} })
const keyed = tradingEndpoints.filter(({ access }) => access.kind === 'key')
const nameOf = ({ method, path }: AnyEndpoint): string => `${method} ${path}`

/** What behaviour.md says about a path's group, written down again on purpose. */
function expectedPermission({ method, path }: AnyEndpoint): string {
  const [group] = path.slice(1).split('/') as [string]
  if (group === 'withdrawals') return 'withdrawal'
  if (group === 'margin') return 'spot'
  assert.ok(method.length > 0)
  return group
}

describe('permissions', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('each endpoint needs the permission of its group, and writing needs more than reading', async () => {
    const clients = new Map<string, { without: Client; readOnly: Client; full: Client }>()
    for (const endpoint of keyed) {
      const permission = expectedPermission(endpoint)
      let three = clients.get(permission)
      if (three === undefined) {
        const others = allPerms().filter(
          ({ name }) => name !== permission && !(permission === 'spot' && name === 'margin'),
        )
        // An account has a bound on its keys.
        const { user_id } = await platform.user()
        three = {
          without: platform.client(await platform.key(user_id, others)),
          readOnly: platform.client(await platform.key(user_id, [{ name: permission, read_only: true }])),
          full: platform.client(await platform.key(user_id, [{ name: permission, read_only: false }])),
        }
        clients.set(permission, three)
      }
      refused(await call(three.without, endpoint), 403, 'FORBIDDEN', new RegExp(`"?${permission}`))
      const read = await call(three.readOnly, endpoint)
      if (endpoint.method === 'GET') assert.notEqual(read.status, 403, `${nameOf(endpoint)} ${read.text}`)
      else refused(read, 403, 'READ_ONLY')
      assert.ok(![401, 403].includes((await call(three.full, endpoint)).status), nameOf(endpoint))
    }
  })
  test('margin opens spot and spot opens margin', async () => {
    const { user_id } = await platform.user()
    for (const name of ['spot', 'margin']) {
      const client = platform.client(await platform.key(user_id, [{ name, read_only: false }]))
      for (const endpoint of keyed.filter(({ path }) => /^\/(spot|margin)\//.test(path)))
        assert.notEqual((await call(client, endpoint)).status, 403, nameOf(endpoint))
    }
  })
  test('calls of the main account alone refuse the keys of sub-accounts', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    const mainOnly = keyed.filter(({ access }) => access.kind === 'key' && access.main)
    assert.ok(mainOnly.length >= 11)
    assert.ok(keyed.filter(({ path }) => path.startsWith('/sub_accounts')).every((e) => mainOnly.includes(e)))
    for (const endpoint of mainOnly)
      refused(await call(sub.client, endpoint), 403, 'FORBIDDEN', /main account/)
  })
  test('without a signature only public endpoints answer', async () => {
    const nobody = platform.client()
    for (const endpoint of tradingEndpoints) {
      const reply = await call(nobody, endpoint)
      if (endpoint.access.kind === 'public') assert.notEqual(reply.status, 401, nameOf(endpoint))
      else refused(reply, 401, 'MISSING_REQUIRED_HEADER')
    }
  })
  test('operators: no token, a wrong token, and each role against each call', async () => {
    const endpoints = operatorEndpoints(undefined as never)
    const roles = ['viewer', 'operator', 'admin'] as const
    const clients = await Promise.all(
      roles.map(async (role) => {
        const { token } = await platform.operator.ok('POST', '/operators', { name: `some_${role}`, role })
        return new OperatorClient(platform.url, token as string)
      }),
    )
    for (const { method, path, access } of endpoints) {
      assert.ok(access.kind === 'operator')
      if (path === '/reset') continue // tried in a platform of its own
      const address = `/operator/v1${concrete(path)}`
      refused(
        await send(platform.url, method, address, undefined, {}),
        401,
        'MISSING_REQUIRED_HEADER',
        /Authorization/,
      )
      const wrong = { Authorization: 'Bearer nonsense' }
      refused(await send(platform.url, method, address, undefined, wrong), 401, 'INVALID_CREDENTIALS')
      for (const [i, role] of roles.entries()) {
        const reply = await clients[i]!.call(
          method,
          concrete(path),
          method === 'GET' || method === 'DELETE' ? undefined : {},
        )
        if (i < roles.indexOf(access.role))
          refused(reply, 403, 'FORBIDDEN', new RegExp(`${role}.*${access.role}`))
        else assert.ok(![401, 403, 500].includes(reply.status), `${method} ${path} as ${role}: ${reply.text}`)
      }
    }
  })
})

/** The reference's table, written down again on purpose: requests, seconds, basis. */
function expectedLimit({ method, path, access }: AnyEndpoint): readonly [number, number, string] {
  const name = `${method} ${path}`
  const balances = /^GET \/wallet\/(total_balance|sub_account_(margin_|futures_|cross_margin_)?balances)$/
  const transfers = /^POST \/wallet\/(transfers|sub_account_transfers|sub_account_to_sub_account)$/
  if (access.kind === 'public') return [200, 10, 'ip']
  if (name === 'POST /withdrawals') return [1, 3, 'uid']
  if (name === 'POST /withdrawals/push') return [1, 10, 'uid']
  if (balances.test(name) || transfers.test(name)) return [80, 10, 'uid']
  if (/^\/(wallet|withdrawals)/.test(path)) return [200, 10, 'uid']
  if (
    /^(POST \/spot\/(orders|batch_orders|amend_batch_orders)|PATCH \/spot\/orders\/\{order_id\})$/.test(name)
  )
    return [10, 1, 'uid+market']
  if (/^(DELETE \/spot\/orders(\/\{order_id\})?|POST \/spot\/cancel_batch_orders)$/.test(name))
    return [200, 1, 'uid']
  if (path.startsWith('/spot')) return [200, 10, 'uid']
  const contracts = /^(\w+) \/(futures|delivery)\/\{settle\}(\/.*)$/.exec(name)
  if (contracts !== null) return expectedOfContracts(contracts[2]!, `${contracts[1]} ${contracts[3]}`)
  if (path.startsWith('/sub_accounts')) return [80, 10, 'uid']
  if (name === 'POST /unified/loans') return [15, 10, 'uid']
  return [150, 10, 'uid']
}

function expectedOfContracts(group: string, name: string): readonly [number, number, string] {
  const dated = group === 'delivery'
  if (/^(POST \/(orders|batch_orders|bbo_orders|batch_amend_orders)|PUT \/orders\/\{order_id\})$/.test(name))
    return dated ? [500, 10, 'uid'] : [100, 1, 'uid']
  if (/^(DELETE \/orders(\/\{order_id\})?|POST \/(batch_cancel_orders|countdown_cancel_all))$/.test(name))
    return dated ? [500, 10, 'uid'] : [200, 1, 'uid']
  return [200, 10, 'uid']
}

describe('rate limits', () => {
  test('the declared limits are those of the reference', () => {
    for (const endpoint of tradingEndpoints) {
      const { requests, seconds, basis } = endpoint.limit!
      assert.deepEqual([requests, seconds, basis], expectedLimit(endpoint), nameOf(endpoint))
    }
  })
  test('each endpoint passes exactly its number, then refuses with its label and tells when to come back', async () => {
    const multiplier = 0.05
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: String(multiplier) })
    for (const endpoint of tradingEndpoints) {
      const { requests, label } = endpoint.limit!
      const { client } = await platform.user()
      const allowed = Math.max(1, Math.floor(requests * multiplier))
      const replies: Reply[] = []
      for (let i = 0; i <= allowed; i++) replies.push(await call(client, endpoint))
      const last = replies.pop()!
      for (const [i, reply] of replies.entries()) {
        assert.notEqual(reply.status, 429, nameOf(endpoint))
        assert.equal(reply.headers.get('x-svc-ratelimit-limit'), String(allowed), nameOf(endpoint))
        assert.equal(
          reply.headers.get('x-svc-ratelimit-requests-remain'),
          String(allowed - 1 - i),
          nameOf(endpoint),
        )
      }
      refused(last, 429, label)
      assert.equal(
        label,
        endpoint.path === '/withdrawals' && endpoint.method === 'POST' ? 'TOO_FAST' : 'TOO_MANY_REQUESTS',
      )
      assert.ok(Number(last.headers.get('retry-after')) >= 1)
      assert.ok(Number(last.headers.get('x-svc-ratelimit-reset-timestamp')) >= Math.floor(platform.now()))
    }
    await platform.stop()
  })
  test('the window slides with the platform clock; accounts are counted apart', async () => {
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '0.1' })
    const [one, two] = [await platform.user(), await platform.user()]
    for (let i = 0; i < 15; i++) assert.equal((await one.client.get('/account/detail')).status, 200)
    refused(await one.client.get('/account/detail'), 429, 'TOO_MANY_REQUESTS')
    assert.equal((await two.client.get('/account/detail')).status, 200)
    assert.equal(
      (await one.client.get('/account/rate_limit')).status,
      200,
      'another endpoint has its own window',
    )
    await platform.operator.ok('POST', '/clock', { advance_seconds: '11' })
    assert.equal(
      (await one.client.get('/account/detail')).headers.get('x-svc-ratelimit-requests-remain'),
      '14',
    )
    await platform.stop()
  })
  test('refused requests count, those that fail authentication do not', async () => {
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '0.1' })
    const { client, credential } = await platform.user()
    const left = async (): Promise<number> =>
      Number(
        (await client.get('/wallet/order_status', { tx_id: 1 })).headers.get(
          'x-svc-ratelimit-requests-remain',
        ),
      )
    const before = await left()
    refused(await client.get('/wallet/order_status'), 400, 'MISSING_REQUIRED_PARAM')
    await platform.client({ ...credential, secret: 'wrong' }).get('/wallet/order_status', { tx_id: 1 })
    assert.equal(await left(), before - 2)
    await platform.stop()
  })
  test('failed authentications are limited by address', async () => {
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1' })
    const { client } = await platform.user()
    const guess = platform.client({ key: '0'.repeat(32), secret: 'x' })
    for (let i = 0; i < 100; i++) refused(await guess.get('/account/detail'), 401, 'INVALID_KEY')
    const reply = await guess.get('/account/detail')
    refused(reply, 429, 'TOO_MANY_REQUESTS', /failed authentications/)
    assert.ok(Number(reply.headers.get('retry-after')) >= 1)
    // Nobody guesses a signature: a right one passes, and nobody can lock out his neighbours.
    assert.equal((await client.get('/account/detail')).status, 200)
    refused(await platform.operator.call('GET', '/status'), 429, 'TOO_MANY_REQUESTS')
    assert.equal((await platform.client().get('/spot/time')).status, 200)
    await platform.stop()
  })
})
