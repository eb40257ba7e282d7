import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from './bodies.ts'
import {
  VENDOR_PREFIX,
  clientIp,
  echoed,
  microsNow,
  replyAndLinger,
  tellByBothNames,
  traceId,
} from './words.ts'

/**
 * A request and its reply without a socket: what the checks of the API work on. They come from HTTP in this process or
 * from a gateway, and may come from anything else that can name a method, a path and headers.
 */
export interface PlainRequest {
  readonly method: string
  readonly path: string
  /** As it stands in the URL, without the question mark. */
  readonly rawQuery: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Whether a body comes with it. */
  readonly hasBody: boolean
  readonly ip: string
  /** Microseconds of the real time at which it arrived. */
  readonly inTime: number
}
export interface PlainReply {
  readonly status: number
  /** Names and values in turn: the form that node writes fastest. */
  readonly headers: (string | number)[]
  /** JSON; undefined: a reply without a body. */
  readonly text: string | undefined
  /** A fault that was asked for: the connection ends without a reply. */
  readonly drop: boolean
}

/** The headers of a request that anything behind HTTP looks at. */
export const HEADER_NAMES = [
  'key',
  'timestamp',
  'sign',
  'authorization',
  'accept',
  'content-type',
  'x-gate-exptime',
  'x-svc-exptime',
  'x-gate-channel-id',
  'x-svc-channel-id',
  'x-gate-size-decimal',
  'x-svc-size-decimal',
] as const
/** The same of requests below /console; of no others is a cookie ever looked at. */
export const CONSOLE_HEADER_NAMES = [
  ...HEADER_NAMES,
  'cookie',
  'host',
  'origin',
  'referer',
  'sec-fetch-site',
  'user-agent',
  'x-kontor-account',
  'x-kontor-csrf',
] as const
export type HeaderName = (typeof CONSOLE_HEADER_NAMES)[number]
export const CONSOLE_PATH = '/console/'

export function plainRequest(request: IncomingMessage, trustProxy: number): PlainRequest {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  return {
    method: request.method ?? 'GET',
    path: mark === -1 ? url : url.slice(0, mark),
    rawQuery: mark === -1 ? '' : url.slice(mark + 1),
    headers: request.headers,
    hasBody: hasBody(request),
    ip: clientIp(request, trustProxy),
    inTime: microsNow(),
  }
}

const TRACE = `X-${VENDOR_PREFIX}-Trace-ID`
/** What all replies carry. */
export const traceHeaders = (inTime: number): (string | number)[] => [
  TRACE,
  traceId(),
  'X-In-Time',
  inTime,
  'X-Out-Time',
  Math.max(inTime, microsNow()),
]
/** Writes a reply, with the headers that all of them carry. */
export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  inTime: number,
  { status, headers, text, drop }: PlainReply,
): void {
  if (drop) {
    request.socket.destroy()
    return
  }
  if (response.headersSent || response.destroyed) return
  const { complete } = request
  if (!complete) headers.push('Connection', 'close')
  headers.push(...echoed(request.headers), ...traceHeaders(inTime))
  if (text !== undefined)
    headers.push('Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text))
  response.writeHead(status, tellByBothNames(headers) as string[])
  if (complete) response.end(text ?? '')
  else replyAndLinger(request, response, text ?? '')
}
