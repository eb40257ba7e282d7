import { Agent, request } from 'node:http'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Credential } from './client.ts'

export interface LineReply {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
  readonly body: any
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** One connection that stays: whoever has it, talks to the same gateway. */
export class Line {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 })
  private readonly url: string
  private readonly credential: Credential | undefined
  private readonly now: () => number
  constructor(url: string, credential?: Credential, now: () => number = () => Date.now() / 1000) {
    this.url = url
    this.credential = credential
    this.now = now
  }
  /** `timestamp` and `secret` for those who sign wrongly on purpose. */
  call(
    method: string,
    path: string,
    body?: unknown,
    { timestamp = String(Math.floor(this.now())), secret = this.credential?.secret ?? '' } = {},
  ): Promise<LineReply> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const [plain, query = ''] = path.split('?', 2) as [string, string?]
    const message = signatureString({
      method,
      path: plain,
      query,
      bodyDigest: bodyDigest(Buffer.from(text)),
      timestamp,
    })
    const signed =
      this.credential === undefined
        ? {}
        : { KEY: this.credential.key, Timestamp: timestamp, SIGN: sign(secret, message) }
    const headers = {
      ...signed,
      ...(body !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      }),
    }
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { method, headers, agent: this.agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: response.statusCode!,
            body: text === '' ? undefined : JSON.parse(text),
            headers: response.headers,
          })
        })
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }
  close(): void {
    this.agent.destroy()
  }
}
