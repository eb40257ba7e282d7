import type { HeaderName } from '../http/exchange.ts'
import { refuse } from '../labels.ts'
import { isObject } from './credentials.ts'

const ID_MAX = 64

/** A req_id is a text or a number, and comes back as a text. */
export function requestId(value: unknown): string {
  if (value === undefined || value === null) return ''
  const id = typeof value === 'number' ? String(value) : value
  if (typeof id !== 'string') refuse('INVALID_PARAM_VALUE', 'req_id must be a string or a number')
  if (id.length > ID_MAX) refuse('INVALID_PARAM_VALUE', `req_id is longer than ${ID_MAX} characters`)
  return id
}

const KNOWN: ReadonlySet<string> = new Set<HeaderName>([
  'x-gate-exptime',
  'x-svc-exptime',
  'x-gate-channel-id',
  'x-svc-channel-id',
])
/** What a call carries in place of headers: names in any case. The handshake told the program that orders, for all calls. */
export function headersIn(given: unknown, channelId: string | null): Record<string, string> {
  const headers: Record<string, string> = {}
  if (isObject(given))
    for (const [name, value] of Object.entries(given)) {
      const known = name.toLowerCase()
      if (!KNOWN.has(known)) continue
      if (typeof value === 'string' || typeof value === 'number') headers[known] = String(value)
    }
  if (
    channelId !== null &&
    headers['x-gate-channel-id'] === undefined &&
    headers['x-svc-channel-id'] === undefined
  )
    headers['x-gate-channel-id'] = channelId
  return headers
}
