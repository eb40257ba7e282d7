import { createHmac } from 'node:crypto'
import { Client, OperatorClient } from '../test/support/client.ts'
import type { ServerInfo } from './servers.ts'
import { SocketLine, clientFrame } from './socket-line.ts'

/** What drives a stream of frames: requests over a socket of its own, each answered once. */
export interface Drive {
  readonly name: string
  readonly port: number
  /** What a subscriber sends. */
  readonly subscribe: Buffer
  /** A request that makes so many frames for every subscriber; resolves when its reply is in, with the time. */
  request(frames: 1 | typeof BATCH): Promise<number>
  close(): Promise<void>
}
/** Orders in one call, as many as a batch may have in one market: each is one trade and one frame. */
export const BATCH = 10

const PAIR = 'BTC_USDT'
const PRICE = '60000'
const time = (): number => Math.floor(Date.now() / 1000)
export const subscription = (channel: string, payload: unknown): Buffer =>
  clientFrame(JSON.stringify({ time: time(), id: 1, channel, event: 'subscribe', payload }))

export const callFrame = (channel: string, req_id: string, req_param: unknown): Buffer =>
  clientFrame(JSON.stringify({ time: time(), channel, event: 'api', payload: { req_id, req_param } }))

const FAILED = Buffer.from('"succeeded":false')
const WELL = Buffer.from('"status":"200"')
const ACK = Buffer.from('"ack":true')
/** An ack comes before the answer and says nothing. */
export const isAck = (bytes: Buffer, from: number): boolean => bytes.subarray(from, from + 120).includes(ACK)
export const isWell = (bytes: Buffer, from: number, to: number): boolean => {
  const frame = bytes.subarray(from, to)
  return frame.includes(WELL) && !frame.includes(FAILED)
}

/** A logged-in line whose calls are answered in order. */
export async function loggedIn({ port, key, secret }: ServerInfo): Promise<SocketLine> {
  const line = await SocketLine.open(port)
  const timestamp = String(time())
  const signature = createHmac('sha512', secret).update(`api\nspot.login\n{}\n${timestamp}`).digest('hex')
  const payload = { req_id: 'login', req_param: {}, api_key: key, timestamp, signature }
  await new Promise<void>((resolve, reject) => {
    line.take = (bytes, from, to) =>
      isWell(bytes, from, to) ? resolve() : reject(new Error(bytes.toString('utf8', from, to)))
    line.write(clientFrame(JSON.stringify({ time: time(), channel: 'spot.login', event: 'api', payload })))
  })
  line.take = undefined
  return line
}
/** Requests on one line, answered in order. */
function inOrder(line: SocketLine): (frame: Buffer) => Promise<number> {
  const waiting: { resolve: (at: number) => void; reject: (why: Error) => void }[] = []
  line.take = (bytes, from, to) => {
    if (isAck(bytes, from)) return
    const { resolve, reject } = waiting.shift()!
    if (isWell(bytes, from, to)) resolve(performance.now())
    else reject(new Error(bytes.toString('utf8', from, Math.min(to, from + 600))))
  }
  return (frame) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      line.write(frame)
    })
}

/** One account that sells as much as anybody wants; the demo account, which drives, has the money for it. */
export async function fund(info: ServerInfo): Promise<void> {
  const url = `http://127.0.0.1:${info.port}`
  const operator = new OperatorClient(url, info.token)
  const [demo] = (await operator.ok('GET', '/users?login_name=demo')) as unknown as { user_id: number }[]
  const { user_id } = await operator.ok('POST', '/users', { login_name: 'maker' })
  for (const [user, currency, amount] of [
    [demo!.user_id, 'USDT', '1000000000'],
    [demo!.user_id, 'BTC', '1000'],
    [user_id, 'BTC', '10000'],
  ] as const)
    await operator.ok('POST', `/users/${String(user)}/credit`, { account: 'spot', currency, amount })
  const { key, secret } = await operator.ok('POST', `/users/${String(user_id)}/keys`, {
    name: 'maker',
    mode: 1,
    perms: [{ name: 'spot' }],
    ip_whitelist: [],
  })
  const maker = new Client(url, { key: String(key), secret: String(secret) })
  for (let i = 0; i < 20; i++) {
    const body = { currency_pair: PAIR, side: 'sell', amount: '50', price: PRICE }
    const { status, text } = await maker.request('POST', '/spot/orders', { body })
    if (status !== 201) throw new Error(text)
  }
}
/** Orders of the demo account, each of which takes a little from a large one: one order, one trade, one frame. */
export async function trades(info: ServerInfo): Promise<Drive> {
  const line = await loggedIn(info)
  const send = inOrder(line)
  const order = (i: number): object => ({
    text: `t-${i}`,
    currency_pair: PAIR,
    side: 'buy',
    amount: '0.0001',
    price: PRICE,
    time_in_force: 'ioc',
  })
  const one = callFrame('spot.order_place', 'r', order(0))
  const several = callFrame(
    'spot.order_place',
    'r',
    Array.from({ length: BATCH }, (_, i) => order(i)),
  )
  return {
    name: 'kontor',
    port: info.port,
    subscribe: subscription('spot.trades', [PAIR]),
    request: (frames) => send(frames === 1 ? one : several),
    close: () => line.close(),
  }
}
/** The bare server broadcasts as many frames, of as many bytes, for each request. */
export async function broadcasts({ port }: ServerInfo, bytes: number): Promise<Drive> {
  const line = await SocketLine.open(port)
  const send = inOrder(line)
  const order = { currency_pair: PAIR, side: 'buy', amount: '0.0001', price: PRICE, time_in_force: 'ioc' }
  const of = (frames: number): Buffer =>
    clientFrame(
      JSON.stringify({
        event: 'api',
        frames,
        bytes,
        req_param: Array.from({ length: frames }, () => order),
      }),
    )
  const [one, several] = [of(1), of(BATCH)]
  return {
    name: 'bare ws',
    port,
    subscribe: clientFrame('{"event":"subscribe"}'),
    request: (frames) => send(frames === 1 ? one : several),
    close: () => line.close(),
  }
}

/** Resting bids whose amounts are changed in turn: each change is told by its price and amount. */
export async function amendments(
  info: ServerInfo,
): Promise<{ amend: () => Promise<{ name: string; at: number }>; close: () => Promise<void> }> {
  const client = new Client(`http://127.0.0.1:${info.port}`, info)
  const orders = await Promise.all(
    Array.from({ length: 16 }, async (_, i) => {
      const price = String(40_000 + i)
      const body = { currency_pair: PAIR, side: 'buy', amount: '0.01', price }
      const { status, text, body: placed } = await client.request('POST', '/spot/orders', { body })
      if (status !== 201) throw new Error(text)
      return { price, order_id: (placed as { id: string }).id }
    }),
  )
  const line = await loggedIn(info)
  const send = inOrder(line)
  let count = 0
  return {
    amend: async () => {
      const { price, order_id } = orders[count % orders.length]!
      const amount = String((10_001 + (count++ % 90_000)) / 1e6)
      const at = await send(
        callFrame('spot.order_amend', 'a', { order_id, currency_pair: PAIR, account: 'spot', amount }),
      )
      return { name: `${price} ${amount}`, at }
    },
    close: () => line.close(),
  }
}
