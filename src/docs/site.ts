import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { clientIp, refuseRequest, usualHeaders } from '../http/words.ts'
import { asyncapi } from './asyncapi.ts'
import { ConsoleFiles } from './console-files.ts'
import { openapi, surfacesOf } from './openapi.ts'
import { contentPolicy, referencePage } from './pages.ts'
import { SAFE, chooseCoding, knows, send, type Coding } from './sending.ts'
import type { Sight } from './sights.ts'

/** `public` has no metrics, `operator` has no reference: they are on addresses of their own. Each has the console. */
export type Surface = 'all' | 'public' | 'operator'
export interface SiteParts {
  readonly surface: Surface
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly console: readonly AnyEndpoint[]
  readonly version: string
  readonly mode: 'sandbox' | 'live'
  readonly trustProxy: number
  /** Asked for each path that is served here: by whom, and what is answered. */
  readonly look: (path: string, ip: string) => Sight | Promise<Sight>
}
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

/** Everything that is not an API: pages for people, signs of life for machines. */
export class Site {
  private readonly parts: SiteParts
  private readonly makers: ReadonlyMap<string, () => Page>
  private readonly made = new Map<string, Page>()
  private readonly console = ConsoleFiles.here()

  constructor(parts: SiteParts) {
    this.parts = parts
    const { version, surface, mode } = parts
    const surfaces = surfacesOf(parts)
    const pages: [string, () => Page][] = [
      ['/docs', () => htmlPage(referencePage(surfaces, version, mode === 'sandbox'))],
      ['/openapi.json', () => jsonPage(JSON.stringify(openapi(surfaces, version)))],
      ['/asyncapi.json', () => jsonPage(JSON.stringify(asyncapi(version)))],
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
    const asked = metrics || this.makers.has(path) ? path : this.console.counted(path, request)
    if (asked === undefined) return false
    this.answer(asked, request, response, path)
    return true
  }
  /** `asked` is the name under which requests are counted: every route of the console is one page. */
  private answer(asked: string, request: IncomingMessage, response: ServerResponse, path = asked): void {
    const { look, trustProxy } = this.parts
    const sight = look(asked, clientIp(request, trustProxy))
    if (sight instanceof Promise)
      sight.then(
        (seen) => this.show(path, seen, request, response),
        () => request.socket.destroy(),
      )
    else this.show(path, sight, request, response)
  }
  private show(path: string, sight: Sight, request: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent || response.destroyed) return
    if (sight.kind === 'page')
      if (this.makers.has(path)) this.sendPage(this.page(path), request, response)
      else this.console.send(path, request, response)
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
      response.writeHead(304, [...headers, ...usualHeaders(request)] as string[])
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
