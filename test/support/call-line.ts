import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { sign } from '../../src/api/signature.ts'
import { microsNow } from '../../src/http/words.ts'
import type { CallConnection } from '../../src/sockets/call-connection.ts'
import type { Session } from '../../src/sockets/credentials.ts'
import type { Product } from '../../src/sockets/products.ts'
import type { Credential } from './client.ts'
import { checkFrame } from './frames.ts'
import type { TestPlatform } from './platform.ts'

/** A frame of the trading API, as a client reads it. */
export interface ApiAnswer {
  readonly request_id: string
  readonly ack?: boolean
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into frames freely
  readonly header: any
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into frames freely
  readonly data: any
}

/** A connection without a socket, which keeps what it is sent. */
export class CallLine implements CallConnection {
  readonly conn_id = randomBytes(8).toString('hex')
  readonly conn_trace_id = randomBytes(16).toString('hex')
  readonly ids = `"conn_id":"${this.conn_id}","conn_trace_id":"${this.conn_trace_id}"`
  readonly client_id = '127.0.0.1-0xc000a1b2c3'
  readonly ip: string
  readonly product: Product
  readonly settle: string
  readonly channelId: string | null
  readonly sizeTexts: boolean
  session: Session | undefined = undefined
  readonly texts: string[] = []
  readonly frames: ApiAnswer[] = []
  cuts = 0
  private readonly platform: TestPlatform
  private readonly waiting = new Map<string, (answer: ApiAnswer) => void>()
  private last = 0

  constructor(
    platform: TestPlatform,
    options: {
      product?: Product
      ip?: string
      channelId?: string
      settle?: string
      sizeTexts?: boolean
    } = {},
  ) {
    this.platform = platform
    this.product = options.product ?? 'spot'
    this.ip = options.ip ?? '127.0.0.1'
    this.channelId = options.channelId ?? null
    this.settle = options.settle ?? ''
    this.sizeTexts = options.sizeTexts ?? false
  }
  send(text: string): void {
    const frame = JSON.parse(text) as ApiAnswer
    checkFrame(frame)
    this.texts.push(text)
    this.frames.push(frame)
    if (frame.ack === undefined) {
      this.waiting.get(frame.request_id)?.(frame)
      this.waiting.delete(frame.request_id)
    }
  }
  acknowledge(): void {
    assert.fail('the desk has read the call itself')
  }
  answer(): void {
    assert.fail('the desk has read the call itself')
  }
  cut(): void {
    this.cuts++
  }
  /** A frame as the desk hands it on; `text` where its very letters matter. */
  give(frame: Record<string, unknown>, text = JSON.stringify(frame)): void {
    const { channel, time } = frame
    // Read from the text, as the desk does: what is read belongs to the call.
    const { payload } = JSON.parse(text) as { payload: unknown }
    this.platform.platform.calls.take(this, {
      channel: channel as string,
      time,
      payload,
      text,
      at: microsNow(),
    })
  }
  /** Sends a call, and gives its answer. */
  call(channel: string, req_param?: unknown, more: Record<string, unknown> = {}): Promise<ApiAnswer> {
    const req_id = (more['req_id'] as string | undefined) ?? `r-${++this.last}`
    const answer = new Promise<ApiAnswer>((resolve) => this.waiting.set(req_id, resolve))
    this.give({
      time: this.seconds(),
      channel,
      event: 'api',
      payload: { req_id, ...(req_param !== undefined && { req_param }), ...more },
    })
    return answer
  }
  login({ key, secret }: Credential, more: Record<string, unknown> = {}): Promise<ApiAnswer> {
    const timestamp = String(this.seconds())
    const channel = `${this.product === 'delivery' ? 'futures' : this.product}.login`
    const signature = sign(secret, `api\n${channel}\n{}\n${timestamp}`)
    return this.call(channel, {}, { api_key: key, timestamp, signature, ...more })
  }
  private seconds(): number {
    return Math.floor(this.platform.now())
  }
}

/** What a call that succeeds gives. */
export function resultOf(answer: ApiAnswer): ApiAnswer['data'] {
  assert.equal(answer.header.status, '200', JSON.stringify(answer.data))
  return answer.data.result
}
/** A refusal with this status and label; its message says what is wrong. */
export function refusedCall(answer: ApiAnswer, status: number, label: string, mention?: RegExp): void {
  const { errs } = answer.data
  assert.equal(`${answer.header.status} ${String(errs?.label)}`, `${status} ${label}`, JSON.stringify(answer))
  if (mention !== undefined) assert.match(errs.message as string, mention)
}
