import assert from 'node:assert/strict'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import { exchange, type ReplyHeaders } from './plain-http.ts'
import { record, recordLabel } from './recorder.ts'
import { checkReply, endpointAt } from './shape.ts'

/** A small client that signs for real, and holds every reply against its declared shape. */
export interface Reply {
  readonly status: number
  readonly headers: ReplyHeaders
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  readonly body: any
  readonly text: string
}
export interface Credential {
  readonly key: string
  readonly secret: string
}
export interface RequestOptions {
  readonly query?: string | Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  /** Sent as it is, instead of a JSON body. */
  readonly rawBody?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timestamp?: string
}

export class Client {
  readonly url: string
  readonly credential: Credential | undefined
  readonly now: () => number
  constructor(url: string, credential?: Credential, now: () => number = () => Date.now() / 1000) {
    this.url = url
    this.credential = credential
    this.now = now
  }
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const query =
      typeof options.query === 'string'
        ? options.query
        : new URLSearchParams(
            Object.entries(options.query ?? {}).map(([name, value]): [string, string] => [
              name,
              String(value),
            ]),
          ).toString()
    const fullPath = `/api/v4${path}`
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
    if (this.credential !== undefined) {
      const timestamp = options.timestamp ?? String(Math.floor(this.now()))
      const message = signatureString({
        method,
        path: fullPath,
        query,
        bodyDigest: bodyDigest(body === undefined ? undefined : Buffer.from(body)),
        timestamp,
      })
      headers['KEY'] = this.credential.key
      headers['Timestamp'] = timestamp
      headers['SIGN'] = sign(this.credential.secret, message)
    }
    return send(this.url, method, fullPath + (query === '' ? '' : `?${query}`), body, {
      ...headers,
      ...options.headers,
    })
  }
  get(path: string, query?: RequestOptions['query']): Promise<Reply> {
    return this.request('GET', path, query === undefined ? {} : { query })
  }
  post(path: string, body?: unknown): Promise<Reply> {
    return this.request('POST', path, { body })
  }
  put(path: string, body?: unknown): Promise<Reply> {
    return this.request('PUT', path, { body })
  }
  patch(path: string, body?: unknown, query?: RequestOptions['query']): Promise<Reply> {
    return this.request('PATCH', path, { body, ...(query !== undefined && { query }) })
  }
  delete(path: string, query?: RequestOptions['query']): Promise<Reply> {
    return this.request('DELETE', path, query === undefined ? {} : { query })
  }
}

export class OperatorClient {
  readonly url: string
  readonly token: string
  constructor(url: string, token: string) {
    this.url = url
    this.token = token
  }
  call(method: string, path: string, body?: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return send(this.url, method, `/operator/v1${path}`, text, {
      Authorization: `Bearer ${this.token}`,
      ...(text !== undefined && { 'Content-Type': 'application/json' }),
    })
  }
  /** For steps that must succeed. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  async ok(method: string, path: string, body?: unknown): Promise<any> {
    const reply = await this.call(method, path, body)
    assert.ok(reply.status < 300, `${method} ${path} → ${reply.status} ${reply.text}`)
    return reply.body
  }
}

export async function send(
  url: string,
  method: string,
  pathAndQuery: string,
  body: string | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const response = await exchange(url + pathAndQuery, method, body, headers)
  const { text } = response
  const reply: Reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
  }
  const [path] = pathAndQuery.split('?') as [string]
  checkReply(method, path, reply)
  const served = endpointAt(method, path.replace(/^\/console(?=\/(api|operator)\/)/, ''))
  if (served !== undefined) for (const label of labelsOf(reply)) recordLabel(served.name, label)
  if (served !== undefined && !path.startsWith('/console/api/') && !path.startsWith('/console/operator/'))
    record(served.name, served.endpoint, {
      method,
      path: pathAndQuery,
      body: jsonOf(body),
      status: reply.status,
      reply: reply.body as unknown,
    })
  return reply
}

/** Of a batch each item has its own. */
function labelsOf({ status, body }: Reply): (string | undefined)[] {
  if (status >= 300) return [(body as { label?: string } | undefined)?.label]
  const items = Array.isArray(body) ? (body as unknown[]) : []
  const refused = items.flatMap((item) =>
    item !== null && typeof item === 'object' && 'succeeded' in item && 'label' in item && item.label !== ''
      ? [item.label as string]
      : [],
  )
  return [undefined, ...refused]
}

/** A refusal with this label and status; its message names what is wrong. */
export function refused(reply: Reply, status: number, label: string, mention?: RegExp): void {
  assert.equal(`${reply.status} ${String(reply.body?.label)}`, `${status} ${label}`, reply.text)
  assert.equal(typeof reply.body.message, 'string')
  if (mention !== undefined) assert.match(reply.body.message as string, mention)
}
export function ok(reply: Reply, status = 200): Reply['body'] {
  assert.equal(reply.status, status, reply.text)
  return reply.body
}

function jsonOf(body: string | undefined): unknown {
  try {
    return body === undefined ? undefined : (JSON.parse(body) as unknown)
  } catch {
    return undefined
  }
}
