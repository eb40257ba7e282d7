import { Agent, request } from 'node:http'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Credential } from './client.ts'

/** What became of one signed call, as the client can know it. */
export type Outcome =
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  | { readonly is: 'ok'; readonly body: any }
  | { readonly is: 'refused'; readonly status: number; readonly label: string; readonly message: string }
  /** Lost on the way, or told by the platform itself that it does not know. */
  | { readonly is: 'unknown'; readonly why: string }
  /** Nobody took the connection: it can't have happened. */
  | { readonly is: 'unsent'; readonly why: string }

/** A client with one connection, kept open while it lasts. */
export class Caller {
  private readonly credential: Credential
  private readonly timeoutMs: number
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 })
  constructor(credential: Credential, timeoutMs: number) {
    this.credential = credential
    this.timeoutMs = timeoutMs
  }
  async call(
    base: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { query = {}, body }: { query?: Readonly<Record<string, string>>; body?: unknown } = {},
  ): Promise<Outcome> {
    const fullPath = `/api/v4${path}`
    const search = new URLSearchParams(query).toString()
    const text = body === undefined ? undefined : JSON.stringify(body)
    const timestamp = String(Math.floor(Date.now() / 1000))
    const message = signatureString({
      method,
      path: fullPath,
      query: search,
      bodyDigest: bodyDigest(text === undefined ? undefined : Buffer.from(text)),
      timestamp,
    })
    const headers = {
      KEY: this.credential.key,
      Timestamp: timestamp,
      SIGN: sign(this.credential.secret, message),
      ...(text !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(text)),
      }),
    }
    return new Promise<Outcome>((resolve) => {
      const call = request(`${base}${fullPath}${search === '' ? '' : `?${search}`}`, {
        method,
        headers,
        agent: this.agent,
      })
      const timer = setTimeout(() => {
        resolve({ is: 'unknown', why: `no answer in ${this.timeoutMs} ms` })
        call.destroy()
      }, this.timeoutMs)
      call.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        const why = error.code ?? error.message
        resolve({ is: why === 'ECONNREFUSED' ? 'unsent' : 'unknown', why })
      })
      call.on('response', (response) => {
        let reply = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => (reply += piece))
        response.on('close', () => {
          clearTimeout(timer)
          resolve(
            response.complete ? outcomeOf(response.statusCode!, reply) : { is: 'unknown', why: 'cut off' },
          )
        })
      })
      call.end(text)
    })
  }
  close(): void {
    this.agent.destroy()
  }
}
function outcomeOf(status: number, reply: string): Outcome {
  // 500 says that the platform has met a defect: a failure of some part is none.
  if (status === 500) return { is: 'refused', status, label: 'DEFECT', message: reply.slice(0, 300) }
  if (status > 500) return { is: 'unknown', why: `${status} ${reply.slice(0, 200)}` }
  const body = (reply === '' ? {} : JSON.parse(reply)) as { label?: string; message?: string }
  if (status < 300) return { is: 'ok', body }
  return { is: 'refused', status, label: String(body.label), message: String(body.message) }
}

const MISSING = new Set([
  'ORDER_NOT_FOUND',
  'CLIENT_ID_NOT_FOUND',
  'NOT_FOUND',
  'ORDER_CLOSED',
  'ORDER_CANCELLED',
])
/** There is none such, or none any more. */
export const isMissing = (label: string | undefined): boolean => label !== undefined && MISSING.has(label)
