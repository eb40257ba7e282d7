import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from '../../src/endpoints.ts'
import type { Reply } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Random } from '../sim/random.ts'

/** Every endpoint is fed rubbish and half-right values: a 4xx or a success, never a 5xx, and the books balance. */
const TEXTS = [
  '',
  '0',
  '1',
  '-1',
  'abc',
  'BTC',
  'USDT',
  'BTC_USDT',
  '1e9',
  '99999999999999',
  'true',
  '[]',
  '{}',
  'buy',
  'spot',
  'é',
  'null',
  '1.5',
  '0.00000000000000000001',
  'gtc',
  'limit',
  'borrow',
  't-x',
  'usdt',
  'to',
  'multi_currency',
  '10001',
]
const VALUES: readonly unknown[] = [1, -1, 0, null, true, [], {}, ...TEXTS]
const ROUNDS = 8
/** They would end the run, or change who may drive it. */
const LEFT_OUT = ['/reset', '/clock', '/faults', '/operators/{name}']

describe('rubbish', () => {
  let platform: TestPlatform
  const random = new Random(Number(process.env['SEED'] ?? 1))
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  const rubbish = (endpoint: AnyEndpoint): { path: string; query: Record<string, string>; body: unknown } => {
    const query: Record<string, string> = {}
    for (const name of Object.keys((endpoint.query ?? {}) as object))
      if (random.chance(0.7)) query[name] = random.pick(TEXTS)
    const path = endpoint.path.replace(/\{\w+\}/g, () => encodeURIComponent(random.pick(TEXTS) || '1'))
    return { path, query, body: endpoint.body === undefined ? undefined : rubbishBody(endpoint.body.schema) }
  }
  const rubbishBody = (schema: Readonly<Record<string, unknown>>): unknown => {
    const body: Record<string, unknown> = {}
    for (const name of Object.keys(schema['properties'] ?? {}))
      if (random.chance(0.8)) body[name] = random.pick(VALUES)
    return schema['type'] === 'array' ? [body, random.pick(VALUES)].slice(0, random.below(3)) : body
  }
  const feed = async (
    endpoints: readonly AnyEndpoint[],
    send: (endpoint: AnyEndpoint, given: ReturnType<typeof rubbish>) => Promise<Reply>,
  ): Promise<void> => {
    const statuses = new Set<number>()
    for (let round = 0; round < ROUNDS; round++)
      for (const endpoint of endpoints) {
        const given = rubbish(endpoint)
        const reply = await send(endpoint, given)
        statuses.add(reply.status)
        assert.ok(
          reply.status < 500,
          `${endpoint.method} ${endpoint.path} ${JSON.stringify(given)}: ${reply.text}`,
        )
      }
    assert.ok(statuses.has(200) && statuses.has(400) && statuses.has(404), [...statuses].join(' '))
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    assert.deepEqual(platform.faults, [])
  }

  test('the trading API answers it with a label', async () => {
    const { client, user_id } = await platform.user()
    for (const currency of ['BTC', 'USDT', 'GT']) await platform.credit(user_id, currency, '1000')
    await feed(tradingEndpoints, ({ method }, { path, query, body }) =>
      client.request(method, path, { query, ...(body !== undefined && { body }) }),
    )
  })
  test('the operator API too', async () => {
    const endpoints = operatorEndpoints(undefined as never).filter(({ path }) => !LEFT_OUT.includes(path))
    await feed(endpoints, ({ method }, { path, query, body }) =>
      platform.operator.call(method, `${path}?${new URLSearchParams(query).toString()}`, body),
    )
  })
})
