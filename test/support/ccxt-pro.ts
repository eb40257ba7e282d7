import ccxt from 'ccxt'
import type { Credential } from './client.ts'
import { checkFrame } from './frames.ts'
import type { Frame } from './socket.ts'

/** Where a platform is: REST, and its sockets. */
export interface Place {
  readonly url: string
  address(path?: string): string
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
export type Exchange = any

const open: Exchange[] = []

/** An unmodified ccxt with sockets: only its addresses are changed. */
export async function pro(
  venue: Place,
  credential?: Credential,
  {
    name = 'gate',
    path = '/ws/v4/',
    more = {},
  }: { name?: 'gate' | 'gateeu'; path?: string; more?: object } = {},
): Promise<Exchange> {
  const exchange: Exchange = new ccxt.pro[name]({
    enableRateLimit: false,
    ...(credential && { apiKey: credential.key, secret: credential.secret }),
    ...more,
  })
  const { api } = exchange.urls
  for (const group of ['public', 'private'])
    for (const product of Object.keys(api[group])) api[group][product] = `${venue.url}/api/v4`
  api.spot = venue.address(path)
  for (const settle of ['usdt', 'btc']) {
    api.swap[settle] = venue.address(`/fx-ws/v4/ws/${settle}`)
    api.future[settle] = venue.address(`/fx-ws/v4/ws/delivery/${settle}`)
  }
  // It sees each frame after us. Microseconds in answers of calls are texts by then, so those are held elsewhere.
  const handle = exchange.handleMessage.bind(exchange) as (client: unknown, frame: Frame) => unknown
  exchange.handleMessage = (client: unknown, frame: Frame) => {
    if (frame['header'] === undefined) checkFrame(frame)
    return handle(client, frame)
  }
  await exchange.loadHttpProxyAgent()
  await exchange.loadMarkets()
  open.push(exchange)
  return exchange
}

export async function closeAll(): Promise<void> {
  for (const exchange of open.splice(0)) await exchange.close()
}
