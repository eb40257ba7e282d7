import { traceHeaders, type PlainReply, type PlainRequest } from '../http/exchange.ts'
import { echoed, microsNow, tellByBothNames } from '../http/words.ts'

type Answer = (request: PlainRequest, body: Buffer | undefined) => Promise<PlainReply>
const LOCAL = '127.0.0.1'

/** Requests of this process in the shape of `fetch`, through the same checks as those that come by HTTP. */
export const fetchOf =
  (answer: Answer): typeof globalThis.fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const bytes = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const inTime = microsNow()
    const headers: Record<string, string> = {}
    for (const [name, value] of request.headers) headers[name] = value
    const plain = {
      method: request.method,
      path: pathname,
      rawQuery: search.slice(1),
      headers,
      hasBody: bytes !== undefined,
      ip: LOCAL,
      inTime,
    }
    request.signal.throwIfAborted()
    const { status, headers: told, text, drop } = await answer(plain, bytes)
    // What a client sees of a connection that ends without a reply.
    if (drop) throw failed('other side closed')
    const reply = new Headers()
    const all = tellByBothNames([...told, ...echoed(headers), ...traceHeaders(inTime)])
    for (let i = 0; i < all.length; i += 2) reply.append(String(all[i]), String(all[i + 1]))
    if (text !== undefined) reply.set('Content-Type', 'application/json')
    return new Response(text ?? null, { status, headers: reply })
  }
const failed = (why: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(why), { code: 'UND_ERR_SOCKET' }) })
