import assert from 'node:assert/strict'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import type { JsonSchema } from '../../src/api/fields.ts'
import { proposalShape } from '../../src/api/guarded.ts'
import { addRoute } from '../../src/api/pipeline.ts'
import { Router } from '../../src/api/router.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../../src/endpoints.ts'
import type { Reply } from './client.ts'

/** Every reply that a test receives is held against the declaration of its endpoint. */
const router = new Router<AnyEndpoint>()
/** Addresses of endpoints, in the order in which the reference lists them. */
const groups = [
  ['/api/v4', tradingEndpoints],
  ['/operator/v1', operatorEndpoints(undefined as never)],
  ['/console/v1', consoleEndpoints({ surface: 'all' } as never)],
] as const
for (const [prefix, list] of groups) for (const endpoint of list) addRoute(router, prefix, endpoint, endpoint)
/** The console's ways to the same endpoints. */
const direct = (path: string): string => path.replace(/^\/console(?=\/(api|operator)\/)/, '')

/** The endpoint that serves an address, by its name in the reference. */
export function endpointAt(
  method: string,
  path: string,
): { name: string; endpoint: AnyEndpoint } | undefined {
  const match = router.find(method, path)
  if ('allow' in match) return undefined
  const [prefix] = groups.find(([prefix]) => path.startsWith(`${prefix}/`))!
  return { name: `${method} ${prefix}${match.route.path}`, endpoint: match.route }
}
export function checkReply(method: string, path: string, reply: Reply): void {
  for (const header of ['x-in-time', 'x-out-time'])
    assert.match(reply.headers.get(header) ?? '', /^\d{16}$/, `${method} ${path} lacks ${header}`)
  assert.match(reply.headers.get('x-svc-trace-id') ?? '', /^[0-9a-f]{32}$/)
  for (const name of [
    'trace-id',
    'ratelimit-requests-remain',
    'ratelimit-limit',
    'ratelimit-reset-timestamp',
  ])
    assert.equal(reply.headers.get(`x-gate-${name}`), reply.headers.get(`x-svc-${name}`))
  checkBody(method, path, reply)
}
/** The same of one that came without the headers of HTTP. */
export function checkBody(method: string, path: string, reply: Omit<Reply, 'headers'>): void {
  if (reply.status >= 300) {
    assert.equal(typeof reply.body?.label, 'string', `${method} ${path} → ${reply.status} ${reply.text}`)
    assert.ok((reply.body.message as string).length > 0)
    return
  }
  const match = router.find(method, direct(path))
  if ('allow' in match) return
  const { status, reply: schema, guarded } = match.route
  if (reply.status === 202 && guarded !== undefined)
    return mismatch(proposalShape, reply.body.proposal, `${method} ${path}`)
  assert.equal(reply.status, status, `${method} ${path}`)
  if (schema === null) assert.equal(reply.text, '')
  else mismatch(schema, reply.body, `${method} ${path}`)
}

/** The part of JSON Schema that shapes.ts speaks. Fails with the place that differs. */
export function mismatch(schema: JsonSchema, value: unknown, where: string): void {
  const anyOf = schema['anyOf'] as readonly JsonSchema[] | undefined
  if (anyOf !== undefined) {
    // Most of them are "or null": a fault that nobody reads costs more than all the rest.
    const others = anyOf.filter(({ type }) => (type === 'null') === (value === null))
    if (others.length === 1) return mismatch(others[0]!, value, where)
    const faults = anyOf.map((option) => {
      try {
        mismatch(option, value, where)
        return undefined
      } catch (error) {
        return error as Error
      }
    })
    if (faults.every((fault) => fault !== undefined)) throw faults[0]!
    return
  }
  switch (schema['type']) {
    case undefined:
      return
    case 'null':
      return assert.equal(value, null, where)
    case 'string':
      assert.equal(typeof value, 'string', `${where}: ${JSON.stringify(value)} is not a string`)
      if (schema['format'] === 'decimal')
        assert.match(value as string, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/, `${where}: not a canonical decimal`)
      if (Array.isArray(schema['enum']))
        assert.ok(schema['enum'].includes(value), `${where}: ${String(value)}`)
      return
    case 'boolean':
      return assert.equal(typeof value, 'boolean', where)
    case 'integer':
      assert.ok(
        Number.isSafeInteger(value) && (value as number) < 1e15,
        `${where}: ${String(value)} is not an integer`,
      )
      return
    case 'number':
      return assert.equal(typeof value, 'number', where)
    case 'array':
      assert.ok(Array.isArray(value), `${where} is not an array`)
      for (const [i, item] of value.entries()) mismatch(schema['items'] as JsonSchema, item, `${where}[${i}]`)
      return
    case 'object':
      return checkObject(schema, value, where)
    default:
      assert.fail(`unknown type in the schema of ${where}`)
  }
}

function checkObject(schema: JsonSchema, value: unknown, where: string): void {
  assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value), `${where} is not an object`)
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  for (const name of (schema['required'] ?? []) as string[])
    assert.ok(Object.hasOwn(value, name), `${where} lacks ${name}`)
  for (const [name, member] of Object.entries(value)) {
    if (properties[name] !== undefined) mismatch(properties[name], member, `${where}.${name}`)
    else if (schema['additionalProperties'] === false)
      assert.fail(`${where} has the undeclared member ${name}`)
    else if (typeof schema['additionalProperties'] === 'object')
      mismatch(schema['additionalProperties'] as JsonSchema, member, `${where}.${name}`)
  }
}
