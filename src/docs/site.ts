import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { clientIp, microsNow, refuseRequest, usualHeaders } from '../http/words.ts'
import { openapi, surfacesOf } from './openapi.ts'
import { contentPolicy, landingPage, referencePage } from './pages.ts'
import type { Sight } from './sights.ts'

/** `public` has no metrics, `operator` has nothing else: they are on addresses of their own. */
export type Surface = 'all' | 'public' | 'operator'
export interface SiteParts {
  readonly surface: Surface
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly console: readonly AnyEndpoint[]
  readonly version: string
  readonly trustProxy: number
  /** Asked for each path that is served here: by whom, and what is answered. */
  readonly look: (path: string, ip: string) => Sight | Promise<Sight>
}
type Coding = 'br' | 'gzip' | 'identity'
/** What is sent of a page: bytes that were made once and are shared by all who read it. */
interface Version {
  readonly bytes: Buffer
  readonly etag: string
}
type Page = Readonly<Record<Coding, Version>> & { readonly headers: readonly string[] }

const TYPES = {
  json: ['Content-Type', 'application/json'],
  metrics: ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
} as const
const SAFE = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'] as const

/** Everything that is not an API: pages for people, signs of life for machines. */
export class Site {
  private readonly parts: SiteParts
  private readonly makers: ReadonlyMap<string, () => Page>
  private readonly made = new Map<string, Page>()

  constructor(parts: SiteParts) {
    this.parts = parts
    const { version, surface } = parts
    const surfaces = surfacesOf(parts)
    const pages: [string, () => Page][] = [
      ['/', () => htmlPage(landingPage(version))],
      ['/docs', () => htmlPage(referencePage(surfaces, version))],
      ['/openapi.json', () => jsonPage(JSON.stringify(openapi(surfaces, version)))],
    ]
    this.makers = new Map(surface === 'operator' ? [] : pages)
  }
  /** Signs of life: answered whatever Host is named and however often. */
  serveHealth(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    if (path !== '/healthz' && path !== '/readyz') return false
    this.answer(path, request, response)
    return true
  }
  /** False: this is no page. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const metrics = path === '/metrics' && this.parts.surface !== 'public'
    if (!metrics && !this.makers.has(path)) return false
    this.answer(path, request, response)
    return true
  }
  private answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    const { look, trustProxy } = this.parts
    const sight = look(path, clientIp(request, trustProxy))
    if (sight instanceof Promise)
      sight.then(
        (seen) => this.show(path, seen, request, response),
        () => request.socket.destroy(),
      )
    else this.show(path, sight, request, response)
  }
  private show(path: string, sight: Sight, request: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent || response.destroyed) return
    if (sight.kind === 'page') this.sendPage(this.page(path), request, response)
    else if (sight.kind === 'text')
      send(response, 200, Buffer.from(sight.text), [...TYPES[sight.type], ...SAFE])
    else {
      const headers = sight.retryAfter === undefined ? [] : ['Retry-After', sight.retryAfter]
      refuseRequest(response, sight.status, sight.label, sight.message, headers)
    }
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

function send(response: ServerResponse, status: number, bytes: Buffer, headers: readonly string[]): void {
  const all = [...headers, 'Content-Length', bytes.length, ...usualHeaders(microsNow())]
  response.writeHead(status, all as string[])
  response.end(bytes)
}
