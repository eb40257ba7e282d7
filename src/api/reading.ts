import { parseJson } from '../http/words.ts'
import { Refusal, refuse } from '../labels.ts'
import type { AnyEndpoint } from './endpoint.ts'
import { readFields, refuseUnknown, type Fields, type Unknown } from './fields.ts'
import { NOTHING, decodeSegment, noteIgnored, readBodyField, type ReadFault } from './passage.ts'

/** What a body says; a fault in it is told only after the rate limit. */
export interface ReadBody {
  readonly value: unknown
  /** There is more of it than anybody reads. */
  readonly more: boolean
  readonly fault: unknown
}
/** All parameters of a call, read. */
export interface ReadCall {
  readonly path: object
  readonly query: object
  readonly body: unknown
}
/** One object: each other one would have a reader of its own written for it. */
const NO_FIELDS: Fields = {}
const NO_JSON: ReadBody = { value: undefined, more: false, fault: undefined }
/** Commas in a body; the longest that a client may send, in lists of orders or positions, have a quarter of it. */
const COMMAS_MAX = 8_192

/** Nobody reads what a stranger sends along, unless the endpoint takes a body. */
export const wantsBody = ({ access, body }: AnyEndpoint): boolean =>
  access.kind !== 'public' || body !== undefined

export function readJson(endpoint: AnyEndpoint, body: Buffer | undefined): ReadBody {
  const read =
    endpoint.access.kind === 'operator' ||
    endpoint.access.kind === 'session' ||
    (endpoint.body !== undefined && endpoint.method !== 'GET' && endpoint.method !== 'DELETE')
  if (!read || body === undefined) return NO_JSON
  try {
    // Operators list and import what is long.
    const { value, more } = parseJson(body, endpoint.access.kind === 'operator' ? Infinity : COMMAS_MAX)
    return { value, more, fault: undefined }
  } catch (fault) {
    return { value: undefined, more: false, fault }
  }
}

/** Reads all parameters at once; throws the first fault. */
export function readCall(
  endpoint: AnyEndpoint,
  mode: 'sandbox' | 'live',
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  json: ReadBody,
  noted: { ignored: string[] | undefined },
): ReadCall {
  if (json.fault !== undefined) throw json.fault as Error
  const decoded: Record<string, string> = {}
  for (const name in params) decoded[name] = decodeSegment(name, params[name]!)
  const call = readParts(endpoint, decoded, query, json.value, unknownOf(endpoint, mode, noted))
  // What is wrong with its beginning is told first, such as a list that is too long.
  if (json.more) refuse('INVALID_REQUEST_BODY', `the body has more than ${COMMAS_MAX} values`)
  return call
}
/** The same of parameters that are plain values already, from whatever they were taken. */
export function readParts(
  endpoint: AnyEndpoint,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
  value: unknown,
  unknown: Unknown | undefined,
): ReadCall {
  const field = endpoint.body ?? (isStrict(endpoint) ? NOTHING : undefined)
  const body: unknown = field === undefined ? undefined : readBodyField(field, value, unknown)
  endpoint.check?.(body)
  return {
    path: readFields((endpoint.params ?? NO_FIELDS) as Fields, params),
    query: readFields((endpoint.query ?? NO_FIELDS) as Fields, query, '', unknown),
    body,
  }
}
const isStrict = ({ access: { kind } }: AnyEndpoint): boolean => kind === 'operator' || kind === 'session'
/** Operators' mistakes and those of our own pages are refused. Clients send what other platforms read: the sandbox tells them what it ignores. */
function unknownOf(
  endpoint: AnyEndpoint,
  mode: 'sandbox' | 'live',
  noted: { ignored: string[] | undefined },
): Unknown | undefined {
  if (isStrict(endpoint)) return refuseUnknown
  if (mode === 'live') return undefined
  return (prefix, member) => noteIgnored(noted, prefix, member)
}

/** Reads a request on behalf of somebody who will read it again; only a fault comes out of it. */
export function faultOf(
  endpoint: AnyEndpoint,
  mode: 'sandbox' | 'live',
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  body: Buffer | undefined,
): ReadFault | undefined {
  const json = readJson(endpoint, body)
  const noted: { ignored: string[] | undefined } = { ignored: undefined }
  try {
    readCall(endpoint, mode, params, query, json, noted)
    return undefined
  } catch (error) {
    // Anything else is a defect, which shows where the request is carried out.
    if (!(error instanceof Refusal)) return undefined
    const { label, message, status } = error
    const markets = endpoint.markets?.(json.value, query) ?? []
    return { label, message, status, ignored: noted.ignored, markets }
  }
}
