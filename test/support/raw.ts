import { connect, type Socket } from 'node:net'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Credential } from './client.ts'

/** A connection of one's own, for what no client library would send. */
export class RawConnection {
  readonly socket: Socket
  received = ''
  closed = false
  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => (this.received += chunk.toString('latin1')))
    socket.on('close', () => (this.closed = true))
    socket.on('error', () => undefined)
  }
  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.once('error', reject)
      socket.once('connect', () => resolve(new RawConnection(socket)))
    })
  }
  /** Sends and waits for the server to close. */
  async exchange(text: string | Buffer): Promise<string> {
    this.socket.write(text)
    await this.ended()
    return this.received
  }
  async ended(ms = 20_000): Promise<void> {
    await until(
      () => this.closed,
      ms,
      () => `the server has not closed: ${this.received.slice(0, 500)}`,
    )
  }
  /** Whole replies so far, told by their status lines. */
  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  }
  get body(): string {
    return this.received.slice(this.received.indexOf('\r\n\r\n') + 4)
  }
}

export async function until(
  done: () => boolean | Promise<boolean>,
  ms = 20_000,
  why: () => string = () => 'it did not happen',
): Promise<void> {
  const end = Date.now() + ms
  while (!(await done())) {
    if (Date.now() > end) throw new Error(why())
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** The headers of a signed request, as lines. */
export function signedHead(
  credential: Credential,
  method: string,
  path: string,
  body = '',
  timestamp = String(Math.floor(Date.now() / 1000)),
): string {
  const [plain, query = ''] = path.split('?', 2) as [string, string?]
  const digest = bodyDigest(Buffer.from(body))
  const message = signatureString({ method, path: plain, query, bodyDigest: digest, timestamp })
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nKEY: ${credential.key}\r\nTimestamp: ${timestamp}\r\nSIGN: ${sign(credential.secret, message)}\r\nContent-Type: application/json\r\n`
}
