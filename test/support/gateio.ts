import assert from 'node:assert/strict'
import { WebsocketAPIClient, WebsocketClient } from 'gateio-api'
import type { Credential } from './client.ts'
import { checkFrame } from './frames.ts'
import type { Frame } from './socket.ts'
import { until, type Venue } from './venue.ts'

export const SPOT = 'spotV4'
export const PAIR = 'BTC_USDT'
export const PUBLIC: readonly (readonly [string, string[]])[] = [
  ['spot.tickers', [PAIR, 'ETH_USDT']],
  ['spot.trades', [PAIR]],
  ['spot.trades_v2', [PAIR]],
  ['spot.candlesticks', ['1m', PAIR]],
  ['spot.book_ticker', [PAIR]],
  ['spot.order_book', [PAIR, '20', '100ms']],
  ['spot.order_book_update', [PAIR, '100ms']],
  ['spot.obu', [`ob.${PAIR}.50`]],
]
export const PRIVATE: readonly (readonly [string, string[]?])[] = [
  ['spot.orders', [PAIR]],
  ['spot.usertrades', ['!all']],
  ['spot.balances'],
  ['spot.margin_balances'],
  ['spot.funding_balances'],
  ['spot.cross_balances'],
  ['spot.priceorders', ['!all']],
]
export const requests = (channels: readonly (readonly [string, string[]?])[]) =>
  channels.map(([topic, payload]) => ({ topic, payload }))

const stop: (() => void)[] = []

/** An unmodified gateio-api, and every event that it tells of. */
export class Gateio {
  readonly socket: WebsocketClient
  readonly api: WebsocketAPIClient
  readonly responses: Frame[] = []
  readonly updates: Frame[] = []
  readonly exceptions: Frame[] = []
  readonly authenticated: Frame[] = []
  /** Names of what becomes of its connections: open, reconnect, reconnected. */
  readonly life: string[] = []
  /** Connections that had a pong, as often as they had one. */
  readonly pongs: string[] = []

  constructor(
    venue: Pick<Venue, 'address'>,
    credential?: Credential,
    { path = '/ws/v4/', pingInterval = 10_000 } = {},
  ) {
    const quiet = (): void => undefined
    const trace = (...what: unknown[]): void => {
      if (what[0] === 'Received pong') this.pongs.push((what[1] as { wsKey: string }).wsKey)
    }
    this.api = new WebsocketAPIClient(
      {
        ...(credential && { apiKey: credential.key, apiSecret: credential.secret }),
        wsUrl: venue.address(path),
        pingInterval,
        attachEventListeners: false,
      },
      { trace, info: quiet, error: quiet },
    )
    this.socket = this.api.getWSClient()
    const keep = (list: Frame[]) => (event: unknown) => void list.push(event as Frame)
    this.socket.on('response', keep(this.responses))
    this.socket.on('update', ({ wsKey: _, ...frame }: Frame) => {
      checkFrame(frame)
      this.updates.push(frame)
    })
    this.socket.on('exception', keep(this.exceptions))
    this.socket.on('authenticated', keep(this.authenticated))
    for (const name of ['open', 'reconnect', 'reconnected'] as const)
      this.socket.on(name, ({ wsKey }: { wsKey: string }) => void this.life.push(`${name} ${wsKey}`))
    stop.push(() => this.socket.closeAll(true))
  }
  /** Answers to subscriptions of a channel, by event. */
  answers(channel: string, event = 'subscribe'): Frame[] {
    return this.responses.filter((frame) => frame['channel'] === channel && frame['event'] === event)
  }
  pushed(channel: string): Frame[] {
    return this.updates.filter((frame) => frame['channel'] === channel)
  }
  /** Answers and acks of a call of the trading API. */
  replies(requestId: string): Frame[] {
    return this.responses.filter((frame) => frame['request_id'] === requestId)
  }
}
export function closeClients(): void {
  for (const close of stop.splice(0)) close()
}

/** Each was taken, and said back. */
export async function answered(
  client: Gateio,
  channels: readonly (readonly [string, string[]?])[],
  event = 'subscribe',
) {
  for (const [channel, payload] of channels) {
    const [answer] = await until(`an answer of ${channel}`, () => {
      const answers = client.answers(channel, event)
      return answers.length > 0 && answers
    })
    assert.deepEqual(answer!['result'], { status: 'success' }, JSON.stringify(answer))
    assert.deepEqual(answer!['payload'], payload)
    assert.equal('error' in answer! || 'id' in answer!, false)
  }
}
