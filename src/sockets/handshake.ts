import type { IncomingMessage } from 'node:http'
import { VENDOR_PREFIX, clientIp } from '../http/words.ts'
import type { Label } from '../labels.ts'
import type { Handshake } from './line.ts'

interface Fault {
  readonly status: number
  readonly label: Label
  readonly message: string
  readonly headers?: readonly string[]
}
const KEY = /^[+/0-9A-Za-z]{22}==$/

/** What is wrong with a request for a socket. What it asks for beyond one is taken out of it: nothing is chosen. */
export function faultOf({ headers }: IncomingMessage): Fault | undefined {
  delete headers['sec-websocket-protocol']
  delete headers['sec-websocket-extensions']
  if (headers['sec-websocket-version'] !== '13')
    return {
      status: 426,
      label: 'INVALID_PROTOCOL',
      message: 'Sec-WebSocket-Version must be 13',
      headers: ['Upgrade', 'websocket', 'Sec-WebSocket-Version', '13'],
    }
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    return {
      status: 400,
      label: 'INVALID_PROTOCOL',
      message: 'Sec-WebSocket-Key must be 16 bytes in Base64',
    }
  return undefined
}

const CHANNEL_ID_MAX = 64
export function handshakeOf(request: IncomingMessage, trustProxy: number): Handshake {
  const { url = '/', headers } = request
  const mark = url.indexOf('?')
  const own = (name: string): string | undefined => {
    const value = headers[`x-gate-${name}`] ?? headers[`x-${VENDOR_PREFIX.toLowerCase()}-${name}`]
    return typeof value === 'string' ? value : undefined
  }
  return {
    path: mark === -1 ? url : url.slice(0, mark),
    ip: clientIp(request, trustProxy),
    channelId: own('channel-id')?.slice(0, CHANNEL_ID_MAX) ?? null,
    sizeDecimal: own('size-decimal') === '1',
  }
}
