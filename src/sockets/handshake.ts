import type { IncomingMessage } from 'node:http'
import { channelOf } from '../api/spot/order-fields.ts'
import { clientIp } from '../http/words.ts'
import type { Label } from '../labels.ts'
import type { Handshake } from './line.ts'
import { isConsole } from './paths.ts'

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

export function handshakeOf(request: IncomingMessage, trustProxy: number): Handshake {
  const { url = '/' } = request
  const mark = url.indexOf('?')
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const path = mark === -1 ? url : url.slice(0, mark)
  return {
    path,
    ip: clientIp(request, trustProxy),
    channelId: channelOf({ header }) ?? null,
    sizeDecimal: (header('x-gate-size-decimal') ?? header('x-svc-size-decimal')) === '1',
    visitor: isConsole(path)
      ? {
          cookie: header('cookie') ?? null,
          host: header('host') ?? null,
          origin: header('origin') ?? null,
          site: header('sec-fetch-site') ?? null,
          account: mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get('account'),
        }
      : null,
  }
}
