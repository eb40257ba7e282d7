import { createHmac } from 'node:crypto'
import { WebSocket } from 'ws'
import type { Credential } from './client.ts'
import { checkFrame } from './frames.ts'

export type Frame = Record<string, any> // eslint-disable-line @typescript-eslint/no-explicit-any -- whatever comes

/** A client of the sockets, as plain as can be: it keeps what comes, and waits for what is asked for. */
export class SocketClient {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  /** Called with each frame as it comes. */
  listener: ((frame: Frame) => void) | undefined
  closed: { readonly code: number; readonly reason: string } | undefined
  private readonly waiting = new Set<{
    test: (frame: Frame) => boolean
    resolve: (frame: Frame) => void
    reject: (error: Error) => void
  }>()
  private readonly ended: Promise<void>
  private last = 0
  /** Seconds, as the platform's clock says. */
  private readonly now: () => number

  private readonly check: (frame: Frame) => void

  private constructor(ws: WebSocket, now: () => number, check: (frame: Frame) => void) {
    this.ws = ws
    this.now = now
    this.check = check
    ws.on('message', (data: Buffer) => this.take(JSON.parse(data.toString()) as Frame))
    this.ended = new Promise((resolve) =>
      ws.on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() }
        for (const { reject } of this.waiting) reject(new Error(`closed with ${code} ${reason.toString()}`))
        this.waiting.clear()
        resolve()
      }),
    )
    ws.on('error', () => undefined)
  }
  /** `url` of the platform, http. */
  static async open(
    url: string,
    now = (): number => Date.now() / 1000,
    path = '/ws/v4/',
    headers: Readonly<Record<string, string>> = {},
    check: (frame: Frame) => void = checkFrame,
  ): Promise<SocketClient> {
    const ws = new WebSocket(url.replace(/^http/, 'ws') + path, { headers })
    const client = new SocketClient(ws, now, check)
    await new Promise<void>((resolve, reject) => {
      ws.on('open', resolve)
      ws.on('error', reject)
    })
    return client
  }
  /** Behind it is a stand-in of the core, which says anything. */
  static toStandIn(url: string): Promise<SocketClient> {
    return SocketClient.open(url, undefined, undefined, undefined, () => undefined)
  }
  private take(frame: Frame): void {
    this.check(frame)
    this.frames.push(frame)
    this.listener?.(frame)
    for (const waiter of this.waiting)
      if (waiter.test(frame)) {
        this.waiting.delete(waiter)
        waiter.resolve(frame)
      }
  }
  /** The next frame from here on that passes. */
  next(test: (frame: Frame) => boolean, ms = 5_000): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const waiter = { test, resolve, reject }
      this.waiting.add(waiter)
      setTimeout(() => {
        if (this.waiting.delete(waiter)) reject(new Error(`no such frame came in ${ms} ms`))
      }, ms).unref()
    })
  }
  send(frame: unknown): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }
  request(event: string, channel: string, payload?: unknown, auth?: Credential): Promise<Frame> {
    const id = ++this.last
    const time = Math.floor(this.now())
    const answer = this.next((frame) => frame['id'] === id)
    this.send({
      time,
      id,
      channel,
      event,
      payload,
      ...(auth && { auth: signature(channel, event, time, auth) }),
    })
    return answer
  }
  subscribe(channel: string, payload?: unknown, auth?: Credential): Promise<Frame> {
    return this.request('subscribe', channel, payload, auth)
  }
  unsubscribe(channel: string, payload?: unknown): Promise<Frame> {
    return this.request('unsubscribe', channel, payload)
  }
  /** A call of the trading API: its answer, not its ack. */
  call(channel: string, req_param: unknown, payload: object = {}): Promise<Frame> {
    const req_id = `r${++this.last}`
    const answer = this.next((frame) => frame['request_id'] === req_id && frame['ack'] === undefined)
    this.send({
      time: Math.floor(this.now()),
      channel,
      event: 'api',
      payload: { req_id, req_param, ...payload },
    })
    return answer
  }
  login({ key, secret }: Credential, channel = 'spot.login'): Promise<Frame> {
    const timestamp = String(Math.floor(this.now()))
    const sign = createHmac('sha512', secret).update(`api\n${channel}\n{}\n${timestamp}`).digest('hex')
    return this.call(channel, {}, { api_key: key, timestamp, signature: sign })
  }
  /** What a channel has pushed so far. */
  pushed(channel: string): Frame[] {
    return this.frames.filter((frame) => frame['channel'] === channel && frame['event'] === 'update')
  }
  async close(): Promise<void> {
    this.ws.close()
    await this.ended
  }
  async whenClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    await this.ended
    return this.closed!
  }
}

export function signature(channel: string, event: string, time: number, { key, secret }: Credential): object {
  const text = `channel=${channel}&event=${event}&time=${time}`
  return { method: 'api_key', KEY: key, SIGN: createHmac('sha512', secret).update(text).digest('hex') }
}
