import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { usualHeaders } from '../http/words.ts'
import { besideUs } from '../places.ts'
import { SAFE, chooseCoding, knows, send, type Coding } from './sending.ts'

/** The console as `console/build.js` left it: one page for every route, and files with a hash in their name. */
interface File {
  readonly headers: readonly string[]
  readonly etag: string
  readonly bytes: Readonly<Record<Coding, Buffer>>
}

/** First parts of the paths that are routes of the console: what the page itself shows, without asking for another. */
export const ROUTES: ReadonlySet<string> = new Set([
  'enter',
  'futures',
  'keys',
  'lab',
  'operate',
  'settings',
  'sign-in',
  'sign-up',
  'sub-accounts',
  'trade',
  'unified',
  'wallet',
])
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  json: 'application/json',
}
/** Stands in the page where the nonce of its styles goes. */
const NONCE = '__NONCE__'
const FOLDER = fileURLToPath(besideUs('../../console/dist/'))

export class ConsoleFiles {
  private static made: ConsoleFiles | undefined
  /** Read once in a process, whatever it has of addresses. */
  static here(): ConsoleFiles {
    return (this.made ??= new ConsoleFiles(FOLDER))
  }
  private readonly files = new Map<string, File>()
  /** Around the nonce. Undefined: nobody has built it. */
  private readonly page: readonly string[] | undefined

  constructor(folder: string) {
    const index = join(folder, 'index.html')
    if (!existsSync(index)) return
    this.page = readFileSync(index, 'utf8').split(NONCE)
    for (const name of readdirSync(join(folder, 'assets'))) {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
      if (type !== undefined) this.files.set(`/assets/${name}`, fileAt(join(folder, 'assets', name), type))
    }
  }
  /** Under which name requests for this path are counted; undefined: it is nothing of the console's. */
  counted(path: string, request: IncomingMessage): string | undefined {
    if (path === '/') return '/'
    if (path.startsWith('/assets/')) return this.files.has(path) ? '/assets' : undefined
    const end = path.indexOf('/', 1)
    if (!ROUTES.has(path.slice(1, end === -1 ? undefined : end))) return undefined
    const { accept = '*/*' } = request.headers
    return accept.includes('text/html') || accept.includes('*/*') ? '/' : undefined
  }
  send(path: string, request: IncomingMessage, response: ServerResponse): void {
    const file = this.files.get(path)
    if (file !== undefined) sendFile(file, request, response)
    else if (this.page !== undefined) sendIndex(this.page, response)
    else send(response, 503, Buffer.from(UNBUILT), ['Content-Type', 'text/plain; charset=utf-8', ...SAFE])
  }
}

const UNBUILT =
  'kontor: the console is not built here; run npm ci in the checkout (the API is at /api/v4, its reference at /docs)\n'

/**
 * Scripts of our own files alone. Styles of our files and those that the page's own script makes, which know the nonce;
 * `style` attributes are set by the component library and can't be told apart by a nonce.
 */
const policy = (nonce: string): string =>
  [
    `default-src 'self'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `style-src-attr 'unsafe-inline'`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `object-src 'none'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
  ].join('; ')

/** It is small and has a new nonce each time: nobody keeps it. */
function sendIndex(page: readonly string[], response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64url')
  send(response, 200, Buffer.from(page.join(nonce)), [
    'Content-Type',
    'text/html; charset=utf-8',
    'Cache-Control',
    'no-cache',
    'Content-Security-Policy',
    policy(nonce),
    'X-Frame-Options',
    'DENY',
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'Permissions-Policy',
    'camera=(), geolocation=(), microphone=()',
    ...SAFE,
  ])
}

function sendFile(file: File, request: IncomingMessage, response: ServerResponse): void {
  const coding = chooseCoding(request.headers['accept-encoding'])
  const etag = coding === 'identity' ? `"${file.etag}"` : `"${file.etag}-${coding}"`
  const headers = ['ETag', etag, ...file.headers]
  if (knows(request.headers['if-none-match'], etag)) {
    response.writeHead(304, [...headers, ...usualHeaders(request)] as string[])
    response.end()
    return
  }
  const coded = coding === 'identity' ? headers : [...headers, 'Content-Encoding', coding]
  send(response, 200, file.bytes[coding], coded)
}

function fileAt(path: string, type: string): File {
  const identity = readFileSync(path)
  return {
    etag: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
    bytes: { identity, gzip: readFileSync(`${path}.gz`), br: readFileSync(`${path}.br`) },
    headers: [
      'Content-Type',
      type,
      'Cache-Control',
      'public, max-age=31536000, immutable',
      'Vary',
      'Accept-Encoding',
      'Cross-Origin-Resource-Policy',
      'same-origin',
      ...SAFE,
    ],
  }
}
