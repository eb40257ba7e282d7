import type { HeaderName } from '../http/exchange.ts'
import { refuse } from '../labels.ts'
import type { CallConnection } from './call-connection.ts'
import { isObject } from './credentials.ts'

export const ID_MAX = 64

/** A req_id is a text or a number, and comes back as a text. */
export function requestId(value: unknown): string {
  const id = idOf(value)
  if (id !== undefined) return id
  return typeof value === 'string' || typeof value === 'number'
    ? refuse('INVALID_PARAM_VALUE', `req_id is longer than ${ID_MAX} characters`)
    : refuse('INVALID_PARAM_VALUE', 'req_id must be a string or a number')
}
/** Undefined: it is none. */
export function idOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  const id = typeof value === 'number' ? String(value) : value
  return typeof id === 'string' && id.length <= ID_MAX ? id : undefined
}

const KNOWN: ReadonlySet<string> = new Set<HeaderName>([
  'x-gate-exptime',
  'x-svc-exptime',
  'x-gate-channel-id',
  'x-svc-channel-id',
  'x-gate-size-decimal',
  'x-svc-size-decimal',
])
/** What a call carries in place of headers: names in any case. What the handshake told is for all calls that do not. */
export function headersIn(
  given: unknown,
  { channelId, sizeTexts }: Pick<CallConnection, 'channelId' | 'sizeTexts'>,
): Record<string, string> {
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
  if (
    sizeTexts &&
    headers['x-gate-size-decimal'] === undefined &&
    headers['x-svc-size-decimal'] === undefined
  )
    headers['x-gate-size-decimal'] = '1'
  return headers
}
