import { IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Label } from '../labels.ts'
import { usualHeaders } from './words.ts'

/** Takes over a connection whose request asks for another protocol; `head` came behind it already. */
export type Upgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void
/** Those who speak that protocol. */
export interface Upgrades {
  /** Is this path theirs? */
  serves(path: string): boolean
  readonly upgrade: Upgrade
}

/**
 * A request that becomes a socket only where it asks for one. Node gives every request with an Upgrade header to who
 * listens for them; but some clients offer HTTP/2 with each request that they send (`Upgrade: h2c`), and must be
 * served as if they had not.
 */
export class ServedMessage extends IncomingMessage {
  private offered = false
  get upgrade(): boolean {
    return this.offered && (this.method === 'CONNECT' || asksForSocket(this))
  }
  set upgrade(offered: boolean | null) {
    this.offered = offered === true
  }
}
const asksForSocket = ({ method, httpVersion, headers }: IncomingMessage): boolean =>
  method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket'

/** What was refused may still be on its way: so long the connection stays, for the client to read why. */
const LINGER_MS = 1_000

/** A refusal on a connection that no longer speaks HTTP otherwise; it ends. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Socket,
  status: number,
  label: Label,
  message: string,
  headers: readonly (string | number)[] = [],
): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  socket.on('error', () => undefined)
  socket.resume()
  socket.end(plainReply(request, status, label, message, headers))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** A whole reply as text, after which the connection closes. */
export function plainReply(
  request: IncomingMessage | undefined,
  status: number,
  label: Label,
  message: string,
  headers: readonly (string | number)[] = [],
): string {
  const body = JSON.stringify({ label, message })
  const all = [...usualHeaders(request), ...headers]
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  for (let i = 0; i < all.length; i += 2) head += `${all[i]!}: ${all[i + 1]!}\r\n`
  return `${head}Connection: close\r\n\r\n${body}`
}
