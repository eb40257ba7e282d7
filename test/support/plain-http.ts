import { Agent, request, type IncomingHttpHeaders } from 'node:http'

/** What tests look at in a reply's headers, by the names that `Headers` has for it. */
export interface ReplyHeaders {
  get(name: string): string | null
  has(name: string): boolean
  getSetCookie(): string[]
}
export interface PlainReply {
  readonly status: number
  readonly headers: ReplyHeaders
  readonly text: string
}

const agent = new Agent({ keepAlive: true })

/**
 * One request of node's own client: `fetch` takes three times as much of the processor for each, and a quarter of a second
 * for the first. What fails, fails as it does there.
 */
export function exchange(
  url: string,
  method: string,
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
  waitMs?: number,
): Promise<PlainReply> {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => reject(new TypeError('fetch failed', { cause }))
    const signal = waitMs === undefined ? {} : { signal: AbortSignal.timeout(waitMs) }
    const asked = request(
      url,
      { method, agent, headers: { ...headers, ...length }, ...signal },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', failed)
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: headersOf(response.headers),
            text: Buffer.concat(parts).toString(),
          }),
        )
      },
    )
    asked.on('error', failed)
    asked.end(body)
  })
}
function headersOf(headers: IncomingHttpHeaders): ReplyHeaders {
  const of = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
  return {
    get: (name) => of(name) ?? null,
    has: (name) => of(name) !== undefined,
    getSetCookie: () => headers['set-cookie'] ?? [],
  }
}
