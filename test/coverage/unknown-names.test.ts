import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import type { Fields, JsonSchema } from '../../src/api/fields.ts'
import type { Label } from '../../src/labels.ts'
import { exampleOf } from '../../src/docs/example.ts'
import { ENDPOINTS } from '../../tools/conformance/document.ts'
import { argumentsOf, type Arguments, type Scene } from '../../tools/conformance/arguments.ts'
import { sceneOf } from '../../tools/conformance/drive.ts'
import { encoded } from '../fuzz/forge.ts'
import { FuzzWorld, type Actor } from '../fuzz/world.ts'
import type { Reply } from '../support/client.ts'

/** What is named wrongly, and what is to be said of it. */
interface Wrong {
  readonly label: Label
  readonly names: RegExp
  readonly value: string
  readonly where?: RegExp
}
const PAIR = /^(currency_pair|currency_pairs|market)$/
const WRONGS: readonly Wrong[] = [
  {
    label: 'INVALID_CURRENCY',
    names: /^(currency|currencies|coin|debt_currencies|enable_list|borrow_currency)$/,
    value: 'NOPE',
  },
  { label: 'INVALID_CURRENCY', names: PAIR, value: 'NOPE_USDT' },
  { label: 'INVALID_CURRENCY_PAIR', names: PAIR, value: 'ETH_DOGE' },
  { label: 'CONTRACT_NOT_FOUND', names: /^(contract|contracts)$/, value: 'NOPE_USDT' },
  { label: 'USER_NOT_FOUND', names: /^(uid|user_id)$/, value: '999999999' },
  {
    label: 'SUB_ACCOUNT_NOT_FOUND',
    names: /^(user_id|sub_account|sub_account_from|sub_account_to|sub_uid)$/,
    value: '999999999',
  },
  { label: 'ORDER_NOT_FOUND', names: /^order_id$|^id$/, value: '999999999' },
  { label: 'NOT_FOUND', names: /^(id|chain|stp_id|tx_id|key|txid|conn_id|name|settle)$/, value: '999999999' },
  { label: 'INVALID_WITHDRAW_ID', names: /^(id|withdrawal_id)$/, value: 'w999999999' },
]
const EXPIRES: Label = 'REQUEST_EXPIRED'

/** Said of something else, or only when something else is so: each has a test of its own, or is excused. */
const OTHERWISE: ReadonlySet<string> = new Set([
  // Only of one whose owner nobody knows.
  'POST /operator/v1/deposits/{id}/release USER_NOT_FOUND 999999999',
])
/** Where the recorded example is about something else. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /operator/v1/agents/scenario CONTRACT_NOT_FOUND': {
    name: 'basis',
    settle: 'usdt',
    contract: 'BTC_USDT',
    change: 0.01,
    seconds: 10,
  },
  'POST /operator/v1/chains/{chain}/deposits': { user_id: 1, currency: 'ETH', amount: '1' },
  'POST /operator/v1/users/{uid}/credit': {
    account: 'margin',
    currency: 'USDT',
    amount: '1',
    currency_pair: 'BTC_USDT',
  },
}

/** The same arguments with another name; undefined: nothing there has such a name. */
function renamed(args: Arguments, endpoint: AnyEndpoint, { names, value }: Wrong): Arguments | undefined {
  const seen: string[] = []
  const change = (source: unknown): unknown => {
    if (Array.isArray(source)) return source.map(change)
    if (source === null || typeof source !== 'object') return source
    return Object.fromEntries(
      Object.entries(source).map(([name, member]) => {
        if (!names.test(name)) return [name, change(member)]
        seen.push(name)
        return [name, Array.isArray(member) ? [value] : typeof member === 'number' ? Number(value) : value]
      }),
    )
  }
  const params = change(args.params) as Arguments['params']
  const query = change(args.query) as Record<string, unknown>
  const body = change(args.body)
  if (seen.length === 0) {
    const own = Object.keys((endpoint.query ?? {}) as Fields).find((name) => names.test(name))
    const properties = (endpoint.body?.schema ?? {})['properties'] as Record<string, JsonSchema> | undefined
    const inner = Object.keys(properties ?? {}).find((name) => names.test(name))
    if (own !== undefined) query[own] = value
    else if (inner !== undefined && !Array.isArray(body))
      return {
        ...args,
        params,
        query,
        body: {
          ...(body as object | undefined),
          [inner]: properties![inner]!['type'] === 'array' ? [value] : value,
        },
      }
    else return undefined
  }
  return { ...args, params, query, body }
}

describe('names that nobody knows', () => {
  let world: FuzzWorld
  let scene: Scene
  before(async () => {
    world = await FuzzWorld.open(0)
    scene = { ...(await sceneOf(world)), actor: world.actors[0]! }
  })
  after(() => world.close())

  const argumentsAt = async (name: string, endpoint: AnyEndpoint, label: Label): Promise<Arguments> => {
    const actor = endpoint.path.startsWith('/unified') ? (world.actors[2] as Actor) : scene.actor
    if (name.includes(' /api/v4')) return argumentsOf(endpoint, { ...scene, actor })
    const example = exampleOf(name)
    const [path = '', query = ''] = (example?.path ?? '').split('?')
    const parts = name.split(' ')[1]!.split('/')
    const values = path.split('/')
    const params = Object.fromEntries(
      parts.flatMap((part, i) => (part.startsWith('{') ? [[part.slice(1, -1), values[i] ?? '1']] : [])),
    )
    if ('uid' in params) params['uid'] = String(actor.user_id)
    if ('chain' in params) params['chain'] = 'ETH'
    const asked = Object.fromEntries(new URLSearchParams(query))
    return { params, query: asked, body: BODIES[`${name} ${label}`] ?? BODIES[name] ?? example?.body, actor }
  }
  const call = (
    name: string,
    { params, query, body, actor }: Arguments,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const [method, path] = name.split(' ') as [string, string]
    const filled = path.replace(/\{(\w+)\}/g, (_, one: string) => encoded(params[one] ?? '1'))
    const asked = Object.entries(query)
      .map(([one, value]) => `${one}=${encoded(String(value))}`)
      .join('&')
    if (filled.startsWith('/api/v4'))
      return actor.client.request(method, filled.slice(7), {
        query: asked,
        ...(body !== undefined && { body }),
        headers,
      })
    if (filled.startsWith('/operator/v1'))
      return world.platform.operator.call(
        method,
        `${filled.slice(12)}${asked === '' ? '' : `?${asked}`}`,
        body,
      )
    return world.account.call(method, `${filled.slice(8)}${asked === '' ? '' : `?${asked}`}`, body)
  }

  test('each endpoint that takes a name tells that it does not know it, with the label that it declares', async () => {
    const faults: string[] = []
    let tried = 0
    for (const { name, endpoint } of ENDPOINTS) {
      for (const wrong of WRONGS) {
        if (!endpoint.refuses.includes(wrong.label) || OTHERWISE.has(`${name} ${wrong.label} ${wrong.value}`))
          continue
        const args = renamed(await argumentsAt(name, endpoint, wrong.label), endpoint, wrong)
        if (args === undefined) continue
        tried++
        const reply = await call(name, args)
        // Of a batch each item is told for itself.
        const { label } = (Array.isArray(reply.body) ? reply.body[0] : reply.body) as { label?: string }
        if (label !== wrong.label)
          faults.push(`${name} ${wrong.label} ${wrong.value}: ${reply.status} ${reply.text.slice(0, 150)}`)
      }
      if (!endpoint.refuses.includes(EXPIRES) || !name.includes('/api/v4')) continue
      tried++
      const reply = await call(name, await argumentsAt(name, endpoint, EXPIRES), {
        'X-Gate-Exptime': '1000000000000',
      })
      if (reply.body?.label !== EXPIRES)
        faults.push(`${name} ${EXPIRES}: ${reply.status} ${reply.text.slice(0, 150)}`)
    }
    assert.deepEqual(faults, [])
    assert.ok(tried > 200, `${tried} were tried`)
  })
})
