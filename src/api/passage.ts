import type { HeaderName, PlainRequest } from '../http/exchange.ts'
import type { Session } from '../core/tables/logins.ts'
import { refuse, type Label } from '../labels.ts'
import type { Recognized } from './authenticate.ts'
import type { AnyEndpoint, Call, Caller, Desk, Method } from './endpoint.ts'
import { object, type Field, type Unknown } from './fields.ts'
import type { Allowance } from './limiter.ts'

export interface Route {
  readonly endpoint: AnyEndpoint
  readonly path: string
  /** Below /console: a session of a browser is the access, and it has rate windows of its own. */
  readonly console?: boolean
}
/**
 * What a gateway found out about a request before it handed it on. Nothing of it is believed beyond what it says: the
 * signature was right or wrong under this very secret, and the body reads as this fault, which is told in its turn.
 */
export interface Checked {
  /** Which opening of the key's secret it was held against; 0: none. */
  readonly serial: number
  readonly fits: boolean
  readonly fault: ReadFault | undefined
}
/** JSON or fields that can't be read. */
export interface ReadFault {
  readonly label: Label
  readonly message: string
  readonly status: number
  readonly ignored: string[] | undefined
  /** The markets that the request counts for, because its body is not read again. */
  readonly markets: readonly string[]
}
/** One request on its way through the checks. */
export interface Passage {
  readonly request: PlainRequest
  readonly inTime: number
  readonly method: Method
  readonly path: string
  readonly rawQuery: string
  readonly ip: string
  checked: Checked | undefined
  route: Route | undefined
  params: Readonly<Record<string, string>>
  query: Record<string, string>
  /** The look at its body follows the one at its headers; what came in between is looked at before it is carried out. */
  atOnce: boolean
  caller: Caller | undefined
  /** Of a signed request whose clock and key are good; its signature is, once there is a caller. */
  signed: Recognized | undefined
  operator: string | undefined
  /** Of a call below /console. */
  session: Session | undefined
  allowance: Allowance | undefined
  dropReply: boolean
  /** Members of the request that nothing reads, as the sandbox tells them. */
  ignored: string[] | undefined
  body: Buffer | undefined
  /** Names and values in turn: the form that node writes fastest. */
  readonly headers: (string | number)[]
}

/** What a handler sees of a request. */
export class EndpointCall implements Call<object, object, unknown> {
  readonly desk: Desk
  readonly path: object
  readonly query: object
  readonly body: unknown
  private readonly passage: Passage
  constructor(desk: Desk, passage: Passage, path: object, query: object, body: unknown) {
    this.desk = desk
    this.passage = passage
    this.path = path
    this.query = query
    this.body = body
  }
  get ip(): string {
    return this.passage.ip
  }
  get caller(): Caller {
    if (this.passage.caller === undefined) throw new TypeError('this endpoint has no caller')
    return this.passage.caller
  }
  get operator(): string {
    if (this.passage.operator === undefined) throw new TypeError('this endpoint has no operator')
    return this.passage.operator
  }
  get session(): Session {
    if (this.passage.session === undefined) throw new TypeError('this endpoint has no session')
    return this.passage.session
  }
  header(name: HeaderName): string | undefined {
    return header(this.passage.request.headers[name])
  }
  readonly set = (name: string, value: string | number): void => {
    this.passage.headers.push(name, value)
  }
}

export const header = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

export function parseQuery(raw: string): Record<string, string> {
  if (raw === '') return {}
  const query: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of new URLSearchParams(raw)) {
    // A list may come as one text with commas or as a repeated parameter.
    const before = query[name]
    query[name] = before === undefined ? value : `${before},${value}`
  }
  return query
}
export function decodeSegment(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return refuse(
      'INVALID_PARAM_VALUE',
      `${name}: "${value.slice(0, 80)}" is not a well-formed part of a URL`,
    )
  }
}
/** A request without a body is one with nothing in it: every required parameter is missing. */
export const readBodyField = (body: Field<unknown>, value: unknown, unknown: Unknown | undefined): unknown =>
  body.read(value === undefined || value === null ? {} : value, '', unknown)

/** The body of a call by operators that takes none. */
export const NOTHING: Field<unknown> = object({})

const IGNORED_MAX = 10
const IGNORED_LENGTH = 512
/**
 * Keeps what a client sent in vain, so that the sandbox can tell: at most ten names and 512 bytes together, of
 * characters that a header may hold.
 */
export function noteIgnored(
  passage: { ignored: string[] | undefined },
  prefix: string,
  member: string,
): void {
  const names = (passage.ignored ??= [])
  if (names.length >= IGNORED_MAX) return
  const name = `${prefix}${member}`.slice(0, IGNORED_LENGTH).replace(/[^A-Za-z0-9_.[\]-]/g, '?')
  const length = names.reduce((sum, { length }) => sum + length + 2, name.length)
  if (length <= IGNORED_LENGTH && !names.includes(name)) names.push(name)
}
