import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { hasBody } from './bodies.ts'
import { refuse, type Label } from '../labels.ts'

/** The HTTP side of every surface: writing replies, the headers that all of them carry, who asks. */

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]
/** The vendor's part of header names. */
export const VENDOR_PREFIX = 'Svc'
/** What clients call it: headers of replies that they know are told by both names. */
export const CLIENTS_PREFIX = 'Gate'
/** The vendor's headers that clients know. */
export const KNOWN_HEADERS = [
  'Trace-ID',
  'RateLimit-Requests-Remain',
  'RateLimit-Limit',
  'RateLimit-Reset-Timestamp',
] as const
const CLIENTS_NAMES: ReadonlyMap<unknown, string> = new Map(
  KNOWN_HEADERS.map((name) => [`X-${VENDOR_PREFIX}-${name}`, `X-${CLIENTS_PREFIX}-${name}`]),
)
/** Names and values in turn: adds the names that clients know. */
export function tellByBothNames(headers: (string | number)[]): (string | number)[] {
  for (let i = 0, end = headers.length; i < end; i += 2) {
    const name = CLIENTS_NAMES.get(headers[i])
    if (name !== undefined) headers.push(name, headers[i + 1]!)
  }
  return headers
}

export const microsNow = (): number => Date.now() * 1000 + (Math.floor(performance.now() * 1000) % 1000)

/** Random bytes that nobody has seen yet are no platform's state, as the system's own pool is none: all of a process may draw on it. */
let pool = ''
let used = 0
/** 32 hex digits; drawn from a pool, because each request needs one. */
export function traceId(): string {
  if (used === pool.length) {
    pool = randomBytes(4096).toString('hex')
    used = 0
  }
  return pool.slice(used, (used += 32))
}

/** JSON nested so deep that reading it would overflow the stack is refused like any other bad JSON. */
const DEPTH_MAX = 64
/** So little text is read as soon as looked at. */
const SHORT = 1024
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** Brackets and braces differ in one bit. */
const BRACE = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

/**
 * Why a text is not read as a whole, told by its brackets and commas where it is a long one: to read nothing but brackets,
 * or a million values, takes a hundred times as long as to look at them. A short one may be deep all the same.
 */
export function unreadable(text: string, commas: number): string | undefined {
  const found = text.length > SHORT ? look(text, commas) : FINE
  if (found === FINE) return undefined
  return found === DEEP ? 'is nested too deep' : `has more than ${commas} values`
}
const DEEP = -1
const FINE = -2
/** Where the comma stands that is one too many; or whether it is deep. */
function look(text: string, commas: number): number {
  let level = 0
  let left = commas
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (code === COMMA) {
      if (--left < 0) return at
    } else if ((code | BRACE) === OPEN) {
      if (++level > DEPTH_MAX) return DEEP
    } else if ((code | BRACE) === CLOSE) level--
  }
  return FINE
}
/** A text up to a comma, with all that is open there closed. */
function cutAt(text: string, end: number): string {
  let closing = ''
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if ((code | BRACE) === OPEN) closing = (code === OPEN ? '}' : ']') + closing
    else if ((code | BRACE) === CLOSE) closing = closing.slice(1)
  }
  return text.slice(0, end) + closing
}
/** Where the text's quote is closed; what is never closed ends with it. */
function stringEnd(text: string, start: number): number {
  let end = start
  do {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
  } while (isEscaped(text, end))
  return end
}
function isEscaped(text: string, at: number): boolean {
  let from = at
  while (text.charCodeAt(from - 1) === BACKSLASH) from--
  return (at - from) % 2 === 1
}

export interface ReadJson {
  readonly value: unknown
  /** It has more than was read. */
  readonly more: boolean
}
/**
 * Of a body with more commas than that the beginning alone is read: to make a million values of a text takes a hundred
 * times as long as to look at it.
 */
export function parseJson(body: Buffer, commas = Infinity): ReadJson {
  let value: unknown
  if (!isUtf8(body)) refuse('INVALID_REQUEST_BODY', 'the body is not UTF-8 text')
  const text = body.toString()
  const end = text.length > SHORT ? look(text, commas) : FINE
  if (end === DEEP) refuseDepth('the body')
  const more = end !== FINE
  try {
    value = JSON.parse(more ? cutAt(text, end) : text)
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it is nested too deep'
    return refuse('INVALID_REQUEST_BODY', `the body is not JSON: ${why.slice(0, 200)}`)
  }
  // So few bytes can't be nested too deep, and of so many it is known.
  if (text.length > DEPTH_MAX && text.length <= SHORT) refuseDeep(value, 'the body')
  return { value, more }
}
/** What is called so in the refusal. */
export function refuseDeep(value: unknown, what: string): void {
  if (tooDeep(value)) refuseDepth(what)
}
const refuseDepth = (what: string): never =>
  refuse('INVALID_REQUEST_BODY', `${what} is nested deeper than ${DEPTH_MAX} levels`)
/** Writing it again would overflow the stack, too. */
export const tooDeep = (value: unknown): boolean => depth(value, 0) > DEPTH_MAX
function depth(value: unknown, level: number): number {
  if (value === null || typeof value !== 'object' || level > DEPTH_MAX) return level
  let deepest = level + 1
  const look = (member: unknown): boolean => {
    if (member !== null && typeof member === 'object') deepest = Math.max(deepest, depth(member, level + 1))
    return deepest > DEPTH_MAX
  }
  // A list has names too, as many texts as it is long.
  if (Array.isArray(value)) (value as unknown[]).some(look)
  else for (const name in value) if (look((value as Readonly<Record<string, unknown>>)[name])) break
  return deepest
}

/** Is this reply's type among those that the client takes? Only an explicit no counts. */
export function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined || header.trim() === '') return true
  const [major] = type.split('/')
  return header.split(',').some((part) => {
    const [range, ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false
    return range === type || range === '*/*' || range === `${major}/*`
  })
}

export function isJsonType(header: string): boolean {
  if (header === 'application/json') return true
  const type = header.split(';')[0]!.trim().toLowerCase()
  return type === 'application/json' || type.endsWith('+json')
}

/** The address of the client, seen through as many proxies as are trusted. */
export function clientIp(request: IncomingMessage, trustedProxies: number): string {
  const direct = plainIp(request.socket.remoteAddress ?? '')
  if (trustedProxies === 0) return direct
  const forwarded = request.headers['x-forwarded-for']
  const chain = [
    ...(forwarded === undefined
      ? []
      : String(forwarded)
          .split(',')
          .map((ip) => plainIp(ip.trim()))),
    direct,
  ]
  const told = chain[Math.max(0, chain.length - 1 - trustedProxies)]!
  // What is no address would be a name that the caller makes up.
  return isIP(told) === 0 ? direct : told
}
const plainIp = (ip: string): string =>
  ip.startsWith('::ffff:') ? ip.slice(7) : ip === '::1' ? '127.0.0.1' : ip

/** What limits by address count as one: a network of IPv6 (/64) belongs to one customer, who may use all of it. */
export function addressBlock(ip: string): string {
  if (!ip.includes(':')) return ip
  const [head, tail] = ip.split('::', 2) as [string, string?]
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? 0 : tail.split(':').length
  while (tail !== undefined && groups.length + after < 8) groups.push('0')
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** What a client calls its request is told back. */
export function echoed(headers: Readonly<Record<string, unknown>>): string[] {
  const id = headers['x-client-request-id']
  return typeof id === 'string' && /^[\x20-\x7e]{1,64}$/.test(id) ? ['X-Client-Request-Id', id] : []
}
/** Headers that every reply carries, whoever gives it: names and values in turn. Undefined: nobody could read the request. */
export function usualHeaders(request: IncomingMessage | undefined): (string | number)[] {
  const inTime = microsNow()
  return tellByBothNames([
    ...echoed(request?.headers ?? {}),
    `X-${VENDOR_PREFIX}-Trace-ID`,
    traceId(),
    'X-In-Time',
    inTime,
    'X-Out-Time',
    Math.max(inTime, microsNow()),
  ])
}
/** A refusal from outside the API: by the server, its pages, or its doorkeeper. */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  label: Label,
  message: string,
  headers: readonly (string | number)[] = [],
): void {
  const body = JSON.stringify({ label, message })
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    Buffer.byteLength(body),
    ...usualHeaders(response.req),
    ...headers,
  ] as string[])
  if (hasBody(response.req)) replyAndLinger(response.req, response, body)
  else response.end(body)
}

const LINGER_BYTES = 64 * 1024
const LINGER_MS = 1_000
/**
 * Sends a reply to a request whose body has not arrived, on a connection that closes. Closing at once would throw
 * the reply away with what is still coming, so this reads on for a little: 64 KiB, and a second at most.
 */
export function replyAndLinger(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (text === '') {
    response.end()
    return
  }
  response.write(text)
  let read = 0
  const end = (): void => {
    clearTimeout(timer)
    if (!response.writableEnded) response.end()
  }
  const timer = setTimeout(() => {
    end()
    request.socket.destroySoon()
  }, LINGER_MS)
  request.on('data', (chunk: Buffer) => {
    // Not a byte more; the client has the rest of the second to look at its reply.
    if ((read += chunk.length) > LINGER_BYTES) request.pause()
  })
  request.on('end', end)
  request.on('error', end)
  request.on('close', end)
}
