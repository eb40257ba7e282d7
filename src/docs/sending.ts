import type { ServerResponse } from 'node:http'
import { usualHeaders } from '../http/words.ts'

/** How pages and files go out: codings, conditions, the usual headers. */
export type Coding = 'br' | 'gzip' | 'identity'

/** No guessing of types, and no address of ours told to others. */
export const SAFE = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'] as const

/** The smallest that the client names; who names none gets the plain bytes. */
export function chooseCoding(header: string | string[] | undefined): Coding {
  const named = new Set<string>()
  for (const part of String(header ?? '').split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) named.add(coding)
  }
  return named.has('br') ? 'br' : named.has('gzip') ? 'gzip' : 'identity'
}
/** If-None-Match: a list, compared weakly. */
export const knows = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)

export function send(
  response: ServerResponse,
  status: number,
  bytes: Buffer,
  headers: readonly string[],
): void {
  const all = [...headers, 'Content-Length', bytes.length, ...usualHeaders(response.req)]
  response.writeHead(status, all as string[])
  response.end(bytes)
}
