import { proposalShape } from '../../src/api/guarded.ts'
import { LABELS, type Label } from '../../src/labels.ts'
import { endpointAt, mismatch } from '../support/shape.ts'
import type { WireReply } from './wire.ts'

/** What any request may be told, whatever it asks for; the rest is declared by the endpoint that says it. */
export const ANY_REQUEST: readonly Label[] = [
  'INVALID_PARAM_VALUE',
  'INVALID_REQUEST_BODY',
  'MISSING_REQUIRED_PARAM',
  'BAD_REQUEST',
  'INVALID_CONTENT_TYPE',
  'NOT_ACCEPTABLE',
  'TOO_MANY_REQUESTS',
  'TOO_FAST',
]
/** What the door says to those who must show who they are. */
export const ANY_SIGNED: readonly Label[] = [
  'INVALID_CREDENTIALS',
  'INVALID_KEY',
  'INVALID_SIGNATURE',
  'MISSING_REQUIRED_HEADER',
  'REQUEST_EXPIRED',
  'IP_FORBIDDEN',
  'READ_ONLY',
  'FORBIDDEN',
  'ACCOUNT_LOCKED',
]
const NO_ROUTE: readonly Label[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED']
const isLabel = (text: unknown): text is Label => typeof text === 'string' && Object.hasOwn(LABELS, text)

/** What is wrong with a refusal, whoever gave it; undefined: nothing. */
export function faultOfRefusal(body: unknown): string | undefined {
  if (body === null || typeof body !== 'object') return 'a refusal without a JSON object'
  const { label, message } = body as { label?: unknown; message?: unknown }
  if (!isLabel(label)) return `no label of the catalogue: ${JSON.stringify(label)}`
  if (typeof message !== 'string' || message === '') return 'a refusal without a message'
  if (label === 'SERVER_ERROR') return 'SERVER_ERROR'
  return undefined
}
/** Which labels an address may answer with. */
export function allowedAt(method: string, path: string): readonly Label[] {
  const console = path.startsWith('/console/')
  const direct = path.replace(/^\/console(?=\/(api|operator)\/)/, '')
  const served = endpointAt(method, direct)
  if (served === undefined) return NO_ROUTE
  const { access, refuses } = served.endpoint
  return [...ANY_REQUEST, ...refuses, ...(console || access.kind !== 'public' ? ANY_SIGNED : [])]
}

/** What is wrong with a reply to a request that HTTP itself can read; undefined: nothing. */
export function faultOf(method: string, path: string, reply: WireReply): string | undefined {
  const text = reply.body.toString()
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    return `not JSON: ${text.slice(0, 200)}`
  }
  if (!/^[0-9a-f]{32}$/.test(reply.headers.get('x-svc-trace-id') ?? '')) return 'no trace id'
  if (reply.status >= 300) {
    const fault = faultOfRefusal(body)
    if (fault !== undefined) return fault
    const { label } = body as { label: Label }
    const allowed = allowedAt(method, path)
    if (reply.status >= 500 && !(label === 'TOO_BUSY' && allowed.includes(label)))
      return `${reply.status} ${label}`
    return allowed.includes(label) ? undefined : `${label} is not declared`
  }
  const served = endpointAt(method, path.replace(/^\/console(?=\/(api|operator)\/)/, ''))
  if (served === undefined) return `${reply.status} at an address that nobody serves`
  const { endpoint } = served
  try {
    if (reply.status === 202 && endpoint.guarded !== undefined)
      mismatch(proposalShape, (body as { proposal: unknown }).proposal, 'proposal')
    else if (reply.status !== endpoint.status) return `${reply.status} instead of ${endpoint.status}`
    else if (endpoint.reply === null) return text === '' ? undefined : 'a body where none is declared'
    else mismatch(endpoint.reply, body, 'reply')
  } catch (error) {
    return `not the declared shape: ${(error as Error).message.slice(0, 300)}`
  }
  return undefined
}
