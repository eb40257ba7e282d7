import { setTimeout as sleep } from 'node:timers/promises'
import { tradingEndpoints } from '../../src/endpoints.ts'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CHANNELS } from '../../src/sockets/channels.ts'
import { closeAll, pro, type Exchange } from '../../test/support/ccxt-pro.ts'
import { closeClients, Gateio } from '../../test/support/gateio.ts'
import type { Channels } from '../../test/coverage/data.ts'
import type { Actor, FuzzWorld } from '../../test/fuzz/world.ts'

/** Frames that came from clients so far, by channel. */
async function framesIn(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = text.matchAll(/^kontor_ws_frames_total\{([^}]*)\} (\d+)$/gm)
  const counts = new Map<string, number>()
  for (const [, labels, count] of found) {
    const channel = /channel="([^"]+)"/.exec(labels!)?.[1]
    if (channel !== undefined && /direction="in"/.test(labels!)) counts.set(channel, Number(count))
  }
  return counts
}
const prefixOf = (name: string): string => name.split('.')[0]!
const ADDRESSES: Readonly<Record<string, { path: string; key: string }>> = {
  spot: { path: '/ws/v4/', key: 'spotV4' },
  unified: { path: '/v4/ws/unified', key: 'spotV4' },
  futures: { path: '/v4/ws/usdt', key: 'perpFuturesUSDTV4' },
}
const ENDPOINTS = new Map(tradingEndpoints.map((one) => [`${one.method} ${one.path}`, one]))

/** gateio-api subscribes to whatever it is told, and has a method for each call. */
async function gateio(world: FuzzWorld, actor: Actor): Promise<void> {
  const place = { address: (path?: string) => world.url.replace(/^http/, 'ws') + (path ?? '/ws/v4/') }
  for (const [prefix, { path, key }] of Object.entries(ADDRESSES)) {
    const client = new Gateio(place, actor.credential, { path })
    const topics = CHANNELS.filter(({ name }) => prefixOf(name) === prefix).map(
      ({ name, payload, access }) => {
        const named = [...payload.matchAll(/"([^"]+)"/g)].map(([, text]) => text!)
        return {
          topic: name,
          payload:
            access !== 'public' && prefix === 'futures'
              ? [String(actor.user_id), ...named.filter((text) => text.includes('_'))]
              : named,
        }
      },
    )
    client.socket.subscribe(topics, key as never)
    await sleep(1_500)
    for (const { channel, rest, kind } of CALL_CHANNELS) {
      if (prefixOf(channel) !== prefix || kind === 'login') continue
      const endpoint = ENDPOINTS.get(rest[0] ?? '')
      const param =
        endpoint === undefined || /batch|ids$/.test(channel)
          ? []
          : { contract: 'BTC_USDT', currency_pair: 'BTC_USDT', order_id: '1', status: 'open' }
      await Promise.race([
        client.socket.sendWSAPIRequest(key as never, channel as never, param as never).catch(() => undefined),
        sleep(1_000),
      ])
    }
  }
  closeClients()
}
/** ccxt has a method for what people do; which channels that takes is its own affair. */
async function ccxtPro(world: FuzzWorld, actor: Actor): Promise<void> {
  const place = {
    url: world.url,
    address: (path?: string) => world.url.replace(/^http/, 'ws') + (path ?? '/ws/v4/'),
  }
  const exchange: Exchange = await pro(place, actor.credential)
  const spot = 'BTC/USDT'
  const swap = 'BTC/USDT:USDT'
  const calls: [method: string, ...args: unknown[]][] = []
  for (const symbol of [spot, swap]) {
    for (const method of ['watchTicker', 'watchTrades', 'watchOrderBook', 'watchOrders', 'watchMyTrades'])
      calls.push([method, symbol])
    calls.push(['watchTickers', [symbol]], ['watchBidsAsks', [symbol]], ['watchOHLCV', symbol, '1m'])
    calls.push(
      ['watchTradesForSymbols', [symbol]],
      ['watchBalance', { type: symbol === spot ? 'spot' : 'swap' }],
    )
    const price = symbol === spot ? 50_000 : 55_000
    calls.push(
      ['createOrderWs', symbol, 'limit', 'buy', symbol === spot ? 0.01 : 1, price],
      ['createOrdersWs', [{ symbol, type: 'limit', side: 'buy', amount: symbol === spot ? 0.01 : 1, price }]],
    )
    calls.push(
      ['fetchOpenOrdersWs', symbol],
      ['fetchClosedOrdersWs', symbol],
      ['fetchOrderWs', '1', symbol],
      ['editOrderWs', '1', symbol, 'limit', 'buy', symbol === spot ? 0.01 : 1, price],
    )
    calls.push(['cancelOrderWs', '1', symbol], ['cancelAllOrdersWs', symbol])
  }
  calls.push(
    ['watchPositions', [swap]],
    ['watchMyLiquidations', swap],
    ['watchMyLiquidationsForSymbols', [swap]],
    ['watchBalance', { type: 'margin' }],
  )
  for (const [method, ...args] of calls) {
    if (typeof exchange[method] !== 'function') continue
    await Promise.race([(exchange[method](...args) as Promise<unknown>).catch(() => undefined), sleep(400)])
  }
  await closeAll()
}

/** Which channels and calls each client was served at. */
export async function driveChannels(world: FuzzWorld): Promise<Channels> {
  const [actor] = world.actors as [Actor]
  const unified = world.actors[2]!
  const served: Channels = {}
  const known = new Set([...CHANNELS.map(({ name }) => name), ...CALL_CHANNELS.map(({ channel }) => channel)])
  for (const [client, drive] of [
    [
      'gateio-api',
      async () => {
        await gateio(world, actor)
        await gateio(world, unified)
      },
    ],
    ['ccxt.pro', () => ccxtPro(world, actor)],
  ] as const) {
    const before = await framesIn(world.url)
    await drive()
    for (const [channel, count] of await framesIn(world.url))
      if (known.has(channel) && count > (before.get(channel) ?? 0)) (served[channel] ??= []).push(client)
  }
  return served
}
