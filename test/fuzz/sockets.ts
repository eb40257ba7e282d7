import { createHmac, randomBytes } from 'node:crypto'
import { WebSocket } from 'ws'
import { tradingEndpoints } from '../../src/endpoints.ts'
import { exampleOf } from '../../src/docs/example.ts'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CHANNELS } from '../../src/sockets/channels.ts'
import type { Label } from '../../src/labels.ts'
import type { Random } from '../sim/random.ts'
import { checkFrame } from '../support/frames.ts'
import { signature } from '../support/socket.ts'
import { Forge } from './forge.ts'
import { ANY_REQUEST, ANY_SIGNED, faultOfRefusal } from './judge.ts'
import type { Pool } from './pool.ts'
import { HOSTILE_TEXTS, Raw, hostileJson, jsonText } from './values.ts'
import type { Actor, FuzzWorld } from './world.ts'

export interface FrameReport {
  sent: number
  readonly violations: string[]
  readonly kinds: Record<string, number>
}
const ADDRESSES = [
  '/ws/v4/',
  '/v4/ws/spot',
  '/v4/ws/unified',
  '/v4/ws/usdt',
  '/v4/ws/btc',
  '/v4/ws/delivery/usdt',
  '/v4/ws/delivery/btc',
  '/v4/ws/options',
  '/console/ws',
  '/console/ws/futures/usdt',
  '/console/ws/unified',
]
const FRAMES = 30
const SESSIONS = 8
/** What a connection may be ended with: by what it sent, and never by a defect of ours. */
const CODES = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009])
const ENDPOINTS = new Map(tradingEndpoints.map((one) => [`${one.method} ${one.path}`, one]))
/** What calls alone are told. */
const OF_CALLS: readonly Label[] = ['INVALID_ARGUMENT', 'AUTHENTICATION_FAILED', 'NOT_FOUND', 'TOO_BUSY']

type Answer = Record<string, any> // eslint-disable-line @typescript-eslint/no-explicit-any -- whatever comes

/** What is wrong with a frame that came; undefined: nothing. */
export function faultOfFrame(frame: Answer): string | undefined {
  try {
    checkFrame(frame)
  } catch (error) {
    return (error as Error).message
  }
  const { header, data, channel, error, result } = frame
  if (header !== undefined) {
    if (data?.errs === undefined)
      return header.status === '200' ? undefined : `status ${String(header.status)} without errs`
    const fault = faultOfRefusal(data.errs)
    if (fault !== undefined) return fault
    if (Number(header.status) >= 500 && data.errs.label !== 'TOO_BUSY')
      return `status ${String(header.status)}`
    const declared = CALL_CHANNELS.find((one) => one.channel === header.channel)
    const own = (declared?.rest ?? []).flatMap((name) => ENDPOINTS.get(name)?.refuses ?? [])
    return [...ANY_REQUEST, ...ANY_SIGNED, ...OF_CALLS, ...own].includes(data.errs.label as Label)
      ? undefined
      : `${String(header.channel)}: ${String(data.errs.label)} is not declared`
  }
  if (typeof channel !== 'string') return 'a frame without a channel'
  if (error === undefined || error === null) return undefined
  if (![1, 2, 3, 4].includes(error.code as number) || typeof error.message !== 'string')
    return `error ${JSON.stringify(error)}`
  if (/defect/.test(error.message as string)) return error.message as string
  return result?.status === 'fail' || result === null ? undefined : 'an error without a failed result'
}
const isPush = ({ event, requestId, header }: Answer): boolean =>
  requestId === undefined && header === undefined && (event === 'update' || event === 'all')

/** Bytes of frames that break the rules of the protocol. */
function brokenFrame(random: Random): Buffer {
  const masked = (first: number, second: number, payload: Buffer): Buffer => {
    const mask = randomBytes(4)
    return Buffer.concat([
      Buffer.from([first, second | 0x80]),
      mask,
      Buffer.from(payload.map((byte, i) => byte ^ mask[i % 4]!)),
    ])
  }
  const text = Buffer.from('{"channel":"spot.ping"}')
  const kinds: readonly (() => Buffer)[] = [
    () => Buffer.concat([Buffer.from([0x81, text.length]), text]),
    () => masked(0x83, text.length, text),
    () => masked(0x8f, text.length, text),
    () => masked(0xc1, text.length, text),
    () => masked(0xf1, text.length, text),
    () => masked(0x80, text.length, text),
    () => Buffer.concat([masked(0x01, 2, text.subarray(0, 2)), masked(0x81, 2, text.subarray(2, 4))]),
    () => Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(8, 0xff), randomBytes(20)]),
    () => Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0]), randomBytes(20)]),
    () => masked(0x81, 4, Buffer.from([0xff, 0xc0, 0x80, 0xed])),
    () => masked(0x82, 3, Buffer.from([1, 2, 3])),
    () => masked(0x89, 126, Buffer.alloc(128)),
    () => masked(0x09, 2, Buffer.alloc(2)),
    () => masked(0x88, 1, Buffer.alloc(1)),
    () => masked(0x88, 2, Buffer.from([0x03, 0xed])),
    () => masked(0x88, 2, Buffer.from([0, 0])),
    () => masked(0x88, 4, Buffer.from([0x03, 0xe8, 0xff, 0xfe])),
    () => randomBytes(1 + random.below(200)),
    () =>
      Buffer.concat(
        Array.from({ length: 300 }, (_, i) => masked(i === 0 ? 0x01 : 0x00, 1, Buffer.from('a'))),
      ),
    () => Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
  ]
  return random.pick(kinds)()
}

class Session {
  private readonly world: FuzzWorld
  private readonly random: Random
  private readonly forge: Forge
  private readonly pool: Pool
  private readonly report: FrameReport
  private readonly actor: Actor
  private readonly path: string
  private ws!: WebSocket
  private answers = 0
  private expected = 0
  private code: number | undefined
  private readonly last: string[] = []

  constructor(world: FuzzWorld, random: Random, forge: Forge, pool: Pool, report: FrameReport) {
    this.world = world
    this.random = random
    this.forge = forge
    this.pool = pool
    this.report = report
    this.actor = random.pick(world.actors)
    this.path = random.pick(ADDRESSES)
  }
  /** The code with which it was closed. */
  private closed(): number | undefined {
    return this.code
  }
  async run(): Promise<void> {
    const { world, random } = this
    const headers: Record<string, string> = this.path.startsWith('/console')
      ? { Cookie: world.account.cookie, Origin: world.url }
      : {}
    if (random.chance(0.2)) headers['X-Gate-Size-Decimal'] = '1'
    // Compression is not offered; whoever asks for it is served without.
    this.ws = new WebSocket(world.url.replace(/^http/, 'ws') + this.path, {
      headers,
      perMessageDeflate: random.chance(0.3),
    })
    this.ws.on('message', (data: Buffer) => this.take(data.toString()))
    this.ws.on('close', (code) => (this.code = code))
    this.ws.on('error', () => undefined)
    await new Promise((resolve) => {
      this.ws.on('open', resolve)
      this.ws.on('close', resolve)
    })
    if (this.closed() !== undefined) {
      this.count('refused')
      this.report.sent++
      return
    }
    if (random.chance(0.8)) this.send(this.login())
    for (let i = 0; i < FRAMES; i++) this.send(this.frame())
    await this.until(
      () => this.answers >= this.expected || this.closed() !== undefined,
      'not every frame was answered',
    )
    if (this.closed() === undefined && random.chance(0.4)) await this.breakIt()
    this.ws.terminate()
    const code = this.closed()
    if (code !== undefined && !CODES.has(code)) this.violated(`closed with ${code}`)
  }
  private async breakIt(): Promise<void> {
    const bytes = brokenFrame(this.random)
    this.report.sent++
    this.count('broken frame')
    const { _socket: socket } = this.ws as unknown as { _socket: { write(bytes: Buffer): void } }
    socket.write(bytes)
    // What a frame of rubbish means may be that more is to come.
    const end = Date.now() + 300
    while (this.closed() === undefined && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  private async until(done: () => boolean, what: string): Promise<void> {
    const end = Date.now() + 10_000
    while (!done()) {
      if (Date.now() > end) {
        this.violated(`${what}: ${this.answers} of ${this.expected}`)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  private take(text: string): void {
    let frame: Answer
    try {
      frame = JSON.parse(text) as Answer
    } catch {
      this.violated(`not JSON: ${text.slice(0, 200)}`)
      return
    }
    if (isPush(frame)) {
      this.pool.see(frame['result'])
      this.count('push')
      return
    }
    if (frame['ack'] === true) return
    this.answers++
    this.pool.see(frame['data']?.result)
    this.count(
      frame['header'] !== undefined
        ? `call ${String(frame['header'].status)}`
        : frame['error']
          ? `frame error ${String(frame['error'].code)}`
          : 'frame ok',
    )
    const fault = faultOfFrame(frame)
    if (fault !== undefined) this.violated(fault)
  }
  private send(text: string): void {
    if (this.ws.readyState !== this.ws.OPEN) return
    this.report.sent++
    this.expected++
    this.last.push(text.slice(0, 600))
    if (this.last.length > 6) this.last.shift()
    this.ws.send(text)
  }
  private login(): string {
    const { key, secret } = this.actor.credential
    const channel = this.path.includes('unified')
      ? 'unified.login'
      : /usdt|btc/.test(this.path)
        ? 'futures.login'
        : this.path.includes('options')
          ? 'options.login'
          : 'spot.login'
    const timestamp = String(Math.floor(this.world.platform.now()))
    const sign = createHmac('sha512', secret).update(`api\n${channel}\n{}\n${timestamp}`).digest('hex')
    return JSON.stringify({
      time: Number(timestamp),
      channel,
      event: 'api',
      payload: { req_id: 'in', req_param: {}, api_key: key, timestamp, signature: sign },
    })
  }
  private frame(): string {
    const { random, forge } = this
    const drawn = random.next()
    const right =
      drawn < 0.45 ? this.call() : drawn < 0.9 ? this.subscription() : { time: 1, channel: 'spot.ping' }
    if (random.chance(0.03))
      return random
        .pick([
          '',
          ' ',
          '{',
          'null',
          '[]',
          '1',
          '"x"',
          '{}',
          '\u0000',
          '{"channel":1}',
          '[[[[',
          `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
          ...HOSTILE_TEXTS,
        ])
        .toWellFormed()
    const text = jsonText(random.chance(0.3) ? forge.spoil(right) : right)
    return (random.chance(0.02) ? text.slice(0, random.below(text.length)) : text).toWellFormed()
  }
  private call(): object {
    const { random } = this
    const { channel, rest } = random.pick(CALL_CHANNELS)
    const name = rest.length === 0 ? undefined : random.pick(rest)
    const endpoint = name === undefined ? undefined : ENDPOINTS.get(name)
    const example = name === undefined ? undefined : exampleOf(name.replace(' ', ' /api/v4'))?.body
    const req_param =
      endpoint === undefined ? hostileJson(random) : this.forge.param(endpoint, example, this.forge.mood())
    return {
      time: Math.floor(this.world.platform.now()),
      channel,
      event: 'api',
      payload: {
        req_id: random.chance(0.9) ? 'x' : hostileJson(random),
        req_param,
        ...(random.chance(0.1) && {
          req_header: { 'x-gate-exptime': hostileJson(random), 'X-Gate-Size-Decimal': '1' },
        }),
      },
    }
  }
  private subscription(): object {
    const { random, world, actor } = this
    const channel = random.pick(CHANNELS)
    const event = random.chance(0.8) ? 'subscribe' : 'unsubscribe'
    const time = Math.floor(world.platform.now())
    const named = [...channel.payload.matchAll(/"([^"]+)"/g)].map(([, text]) => text!)
    const payload: unknown = random.chance(0.75)
      ? named
      : random.chance(0.5)
        ? named.map((text) => (random.chance(0.5) ? text : hostileJson(random)))
        : hostileJson(random)
    return {
      time,
      ...(random.chance(0.9) ? { id: random.below(1_000) } : { id: hostileJson(random) }),
      channel: channel.name,
      event,
      payload,
      ...(channel.access !== 'public' && {
        auth: random.chance(0.9)
          ? signature(channel.name, event, time, actor.credential)
          : hostileJson(random),
      }),
      ...(random.chance(0.05) && { extra: new Raw('{"__proto__":{"polluted":1}}') }),
    }
  }
  private count(kind: string): void {
    this.report.kinds[kind] = (this.report.kinds[kind] ?? 0) + 1
  }
  private violated(what: string): void {
    if (this.report.violations.length < 100)
      this.report.violations.push(
        `socket ${this.path}: ${what}\n    ${JSON.stringify(this.last).slice(0, 3_000)}`,
      )
  }
}

/** So many frames on sockets of every address: subscriptions, calls, rubbish and broken frames. */
export async function fuzzSockets(
  world: FuzzWorld,
  random: Random,
  pool: Pool,
  count: number,
): Promise<FrameReport> {
  const report: FrameReport = { sent: 0, violations: [], kinds: {} }
  const forge = new Forge(random, pool)
  while (report.sent < count)
    await Promise.all(
      Array.from({ length: SESSIONS }, () => new Session(world, random, forge, pool, report).run()),
    )
  return report
}
