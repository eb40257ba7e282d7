import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { addressBlock, clientIp, microsNow, refuseRequest, usualHeaders } from '../api/http.ts'
import type { Limiter } from '../api/limiter.ts'
import { LIMITS } from '../api/limits.ts'
import { openapi } from './openapi.ts'
import { contentPolicy, landingPage, referencePage } from './pages.ts'

export interface SiteParts {
  /** `public` has no metrics, `operator` has nothing else: they are on addresses of their own. */
  readonly surface: 'all' | 'public' | 'operator'
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly version: string
  readonly limiter: Limiter
  /** The platform's clock, in microseconds. */
  readonly now: () => number
  readonly trustProxy: number
  readonly metrics: () => string
  readonly ready: () => boolean
  /** What somebody should see to, though the platform is ready. */
  readonly details: () => readonly string[]
}
type Coding = 'br' | 'gzip' | 'identity'
/** What is sent of a page: bytes that were made once and are shared by all who read it. */
interface Version {
  readonly bytes: Buffer
  readonly etag: string
}
type Page = Readonly<Record<Coding, Version>> & { readonly headers: readonly string[] }

const SAFE = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'] as const

/** Everything that is not an API: pages for people, signs of life for machines. */
export class Site {
  private readonly parts: SiteParts
  private readonly makers: ReadonlyMap<string, () => Page>
  private readonly made = new Map<string, Page>()

  constructor(parts: SiteParts) {
    this.parts = parts
    const { trading, operator, version, surface } = parts
    const pages: [string, () => Page][] = [
      ['/', () => htmlPage(landingPage(version))],
      ['/docs', () => htmlPage(referencePage(trading, operator, version))],
      ['/openapi.json', () => jsonPage(JSON.stringify(openapi(trading, operator, version)))],
    ]
    this.makers = new Map(surface === 'operator' ? [] : pages)
  }
  /** Signs of life: answered whatever Host is named and however often. */
  serveHealth(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    if (path === '/healthz') sendJson(response, 200, '{"status":"ok"}')
    else if (path === '/readyz') {
      const details = this.parts.ready() ? this.parts.details() : []
      if (this.parts.ready())
        sendJson(response, 200, JSON.stringify({ status: 'ready', ...(details.length > 0 && { details }) }))
      else refuseRequest(response, 503, 'TOO_BUSY', 'not ready')
    } else return false
    return true
  }
  /** False: this is no page. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const metrics = path === '/metrics' && this.parts.surface !== 'public'
    if (!metrics && !this.makers.has(path)) return false
    if (!this.admit(path, request, response)) return true
    if (metrics) {
      const text = this.parts.metrics()
      send(response, 200, Buffer.from(text), [
        'Content-Type',
        'text/plain; version=0.0.4; charset=utf-8',
        ...SAFE,
      ])
    } else this.sendPage(this.page(path), request, response)
    return true
  }

  private admit(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const { limiter, now, trustProxy } = this.parts
    const { requests, seconds } = LIMITS.pages
    const at = now()
    const bucket = `page ${path} ${addressBlock(clientIp(request, trustProxy))}`
    const { allowed, resetAt } = limiter.admit(bucket, requests, seconds, at)
    if (allowed) return true
    const wait = Math.max(1, Math.ceil((resetAt - at) / 1e6))
    refuseRequest(
      response,
      429,
      'TOO_MANY_REQUESTS',
      `${path} is sent ${requests} times in ${seconds} s to one address; try again in ${wait} s`,
      ['Retry-After', wait],
    )
    return false
  }
  private page(path: string): Page {
    let page = this.made.get(path)
    if (page === undefined) this.made.set(path, (page = this.makers.get(path)!()))
    return page
  }
  private sendPage(page: Page, request: IncomingMessage, response: ServerResponse): void {
    const coding = chooseCoding(request.headers['accept-encoding'])
    const { bytes, etag } = page[coding]
    const headers = ['ETag', etag, 'Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding', ...page.headers]
    if (knows(request.headers['if-none-match'], etag)) {
      response.writeHead(304, [...headers, ...usualHeaders(microsNow())] as string[])
      response.end()
      return
    }
    send(response, 200, bytes, coding === 'identity' ? headers : [...headers, 'Content-Encoding', coding])
  }
}

const htmlPage = (text: string): Page =>
  makePage(text, [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Security-Policy',
    contentPolicy(),
    'X-Frame-Options',
    'DENY',
    ...SAFE,
  ])
const jsonPage = (text: string): Page => makePage(text, ['Content-Type', 'application/json', ...SAFE])

/** Strong enough to be small, quick enough to be made when it is first asked for. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }
function makePage(text: string, headers: readonly string[]): Page {
  const bytes = Buffer.from(text)
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return {
    headers,
    identity: { bytes, etag: `"${tag}"` },
    gzip: { bytes: gzipSync(bytes), etag: `"${tag}-gzip"` },
    br: { bytes: brotliCompressSync(bytes, BROTLI), etag: `"${tag}-br"` },
  }
}

/** The smallest that the client names; who names none gets the plain bytes. */
function chooseCoding(header: string | string[] | undefined): Coding {
  const named = new Set<string>()
  for (const part of String(header ?? '').split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) named.add(coding)
  }
  return named.has('br') ? 'br' : named.has('gzip') ? 'gzip' : 'identity'
}
/** If-None-Match: a list, compared weakly. */
const knows = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)

function sendJson(response: ServerResponse, status: number, text: string): void {
  send(response, status, Buffer.from(text), ['Content-Type', 'application/json', ...SAFE])
}
function send(response: ServerResponse, status: number, bytes: Buffer, headers: readonly string[]): void {
  const all = [...headers, 'Content-Length', bytes.length, ...usualHeaders(microsNow())]
  response.writeHead(status, all as string[])
  response.end(bytes)
}
