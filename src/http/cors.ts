import type { IncomingMessage, ServerResponse } from 'node:http'
import { CLIENTS_PREFIX, KNOWN_HEADERS, METHODS, VENDOR_PREFIX, usualHeaders } from './words.ts'

/** Headers that pages send: those of a signed request, and what clients put on each of theirs. */
const SENT = [
  'KEY',
  'SIGN',
  'Timestamp',
  'Content-Type',
  'X-Client-Request-Id',
  ...['Exptime', 'Channel-Id', 'Size-Decimal'].flatMap((name) => [
    `X-${CLIENTS_PREFIX}-${name}`,
    `X-${VENDOR_PREFIX}-${name}`,
  ]),
]
/** Headers of replies that pages may read beyond the few that browsers let them. */
const READ = [
  'X-In-Time',
  'X-Out-Time',
  'X-Pagination-Limit',
  'X-Pagination-Offset',
  'X-Pagination-Total',
  'X-Applied-From',
  'X-Applied-To',
  'Retry-After',
  'X-Client-Request-Id',
  ...KNOWN_HEADERS.flatMap((name) => [`X-${VENDOR_PREFIX}-${name}`, `X-${CLIENTS_PREFIX}-${name}`]),
  `X-${VENDOR_PREFIX}-Ignored`,
]
const REMEMBER_SECONDS = 600

/**
 * Lets pages of chosen origins call the trading API from a browser. Nothing else is ever opened to pages: neither the
 * operator API, nor the documentation, nor metrics. No cookies are involved: a request proves itself by its signature.
 */
export class Cors {
  private readonly origins: ReadonlySet<string>
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins)
  }
  get off(): boolean {
    return this.origins.size === 0
  }
  /** For a request of the trading API; true: it was a preflight, and is answered. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin } = request.headers
    if (origin === undefined) return false
    const allowed = this.allowed(origin)
    // What a cache keeps for one origin is not for another.
    if (!this.origins.has('*')) response.setHeader('Vary', 'Origin')
    if (allowed === undefined) return false
    response.setHeader('Access-Control-Allow-Origin', allowed)
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      response.setHeader('Access-Control-Expose-Headers', READ.join(', '))
      return false
    }
    response.setHeader('Access-Control-Allow-Methods', METHODS.join(', '))
    response.setHeader('Access-Control-Allow-Headers', SENT.join(', '))
    response.setHeader('Access-Control-Max-Age', REMEMBER_SECONDS)
    // A page from the internet that calls a platform on this machine is asked about twice by some browsers.
    if (request.headers['access-control-request-private-network'] === 'true')
      response.setHeader('Access-Control-Allow-Private-Network', 'true')
    request.resume()
    response.writeHead(204, usualHeaders(request) as string[])
    response.end()
    return true
  }
  private allowed(origin: string): string | undefined {
    if (this.origins.has('*')) return '*'
    return this.origins.has(origin.toLowerCase()) ? origin : undefined
  }
}
