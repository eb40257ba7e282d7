import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal, refuse } from '../labels.ts'

/** The HTTP side of every surface: reading bodies, writing replies, the headers that all of them carry. */
export const BODY_MAX = 1024 * 1024

export const microsNow = (): number => Date.now() * 1000 + (Math.floor(performance.now() * 1000) % 1000)

let pool = randomBytes(4096)
let used = 0
/** 32 hex digits; drawn from a pool, because each request needs one. */
export function traceId(): string {
  if (used + 16 > pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  return pool.toString('hex', used, (used += 16))
}

/** Undefined when there is none. Over the limit: refused as soon as that is known. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const announced = request.headers['content-length']
  if (announced === undefined && request.headers['transfer-encoding'] === undefined) return NO_BODY
  if (announced === '0') return NO_BODY
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let refused = false
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_MAX) chunks.push(chunk)
      else if (!refused) {
        refused = true
        chunks.length = 0
        reject(new Refusal('INVALID_REQUEST_BODY', `the body is over ${BODY_MAX} bytes; send less at a time`))
      }
    })
    request.on('end', () => {
      if (!refused) resolve(chunks.length === 1 ? chunks[0] : size === 0 ? undefined : Buffer.concat(chunks))
    })
    request.on('error', reject)
  })
}
const NO_BODY = Promise.resolve(undefined)

/** JSON nested so deep that reading it would overflow the stack is refused like any other bad JSON. */
const DEPTH_MAX = 64

export function parseJson(body: Buffer): unknown {
  let value: unknown
  if (!isUtf8(body)) refuse('INVALID_REQUEST_BODY', 'the body is not UTF-8 text')
  try {
    value = JSON.parse(body.toString())
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it is nested too deep'
    return refuse('INVALID_REQUEST_BODY', `the body is not JSON: ${why.slice(0, 200)}`)
  }
  if (depth(value, 0) > DEPTH_MAX)
    refuse('INVALID_REQUEST_BODY', `the body is nested deeper than ${DEPTH_MAX} levels`)
  return value
}
function depth(value: unknown, level: number): number {
  if (value === null || typeof value !== 'object' || level > DEPTH_MAX) return level
  let deepest = level + 1
  for (const member of Object.values(value)) {
    if (member === null || typeof member !== 'object') continue
    deepest = Math.max(deepest, depth(member, level + 1))
    if (deepest > DEPTH_MAX) break
  }
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
  return chain[Math.max(0, chain.length - 1 - trustedProxies)]!
}
const plainIp = (ip: string): string =>
  ip.startsWith('::ffff:') ? ip.slice(7) : ip === '::1' ? '127.0.0.1' : ip

export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
