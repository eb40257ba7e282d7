import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { microsNow } from '../../../src/http/words.ts'
import type { ToDesk, ToDoor } from '../../../src/sockets/line.ts'
import { signature } from '../../support/socket.ts'
import type { Member } from './cast.ts'
import type { House } from './house.ts'

const PAIR = 'BTC_USDT'
const SOCKET = 1
const LEVELS = '100'
/** What is paced comes a little later than the commit. */
const PACE_MS = 20
const PATIENCE_MS = 5_000

interface Frame {
  readonly id?: number
  readonly channel: string
  readonly event: string
  readonly error?: unknown
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- frames are looked into freely
  readonly result: any
}
type Side = Map<string, string>
type Levels = readonly (readonly [string, string])[]

/**
 * A client of sockets, without a port: it follows the book of the model's market and the balances of one account, by what
 * it is told alone. Its door is this class.
 */
export class Ears implements ToDoor {
  private readonly house: House
  private line: ToDesk | undefined
  private readonly topics = new Set<number>()
  private readonly answers = new Map<number, Frame>()
  private book: { id: number; b: Side; a: Side } | undefined
  private early: Frame[] = []
  private balances = new Map<string, string>()
  private last = 0
  frames = 0

  constructor(house: House) {
    this.house = house
  }
  /** The process is another one: nobody hears of the old one. */
  gone(): void {
    this.line = undefined
    this.topics.clear()
    this.book = undefined
    this.early = []
    this.balances = new Map()
  }
  async listen(member: Member): Promise<void> {
    if (this.line !== undefined) return
    this.line = this.house.platform.attach(this)
    const handshake = { path: '/ws/v4/', ip: '127.0.0.1', channelId: null, sizeDecimal: false, visitor: null }
    assert.ok((await this.line.open(SOCKET, handshake)).accepted)
    await this.subscribe('spot.order_book_update', [PAIR, '100ms'])
    await this.subscribe('spot.balances', undefined, member)
    const { id, bids, asks } = await this.rest(member)
    this.book = { id, b: new Map(bids), a: new Map(asks) }
    for (const frame of this.early.splice(0)) this.follow(frame)
    this.member = member
  }
  private member: Member | undefined
  private async rest({ credential }: Member): Promise<{ id: number; bids: Levels; asks: Levels }> {
    const query = { currency_pair: PAIR, limit: LEVELS, with_id: 'true' }
    return (await this.house.call(credential, { method: 'GET', path: '/spot/order_book', query })).body
  }
  private async subscribe(channel: string, payload: unknown, member?: Member): Promise<void> {
    const id = ++this.last
    const time = Math.floor(this.house.now)
    const auth = member && { auth: signature(channel, 'subscribe', time, member.credential) }
    const frame = { time, id, channel, event: 'subscribe', payload, ...auth }
    this.line!.received(SOCKET, JSON.stringify(frame), microsNow())
    const began = performance.now()
    while (!this.answers.has(id)) {
      assert.ok(performance.now() - began < PATIENCE_MS, `${channel} was not answered`)
      await sleep(1)
    }
    const { error } = this.answers.get(id)!
    assert.ok(error === undefined || error === null, `${channel}: ${JSON.stringify(error)}`)
  }
  /** What was heard is what REST tells now, as soon as it has come. False: nobody listened. */
  async compare(available: (currency: string) => string): Promise<boolean> {
    if (this.book === undefined) return false
    const began = performance.now()
    for (;;) {
      const patient = performance.now() - began < PATIENCE_MS
      try {
        const { id, bids, asks } = await this.rest(this.member!)
        assert.equal(this.book.id, id, 'the book that was followed over a socket')
        assert.deepEqual(sorted(this.book.b), sorted(new Map(bids)), 'bids as a socket told them')
        assert.deepEqual(sorted(this.book.a), sorted(new Map(asks)), 'asks as a socket told them')
        for (const [currency, told] of this.balances)
          assert.equal(told, available(currency), `available ${currency} as a socket told it`)
        return true
      } catch (error) {
        if (!patient) throw error
        await sleep(PACE_MS)
      }
    }
  }

  send(_socket: number, text: string): void {
    this.heard(text)
  }
  name(): void {}
  acknowledge(): void {}
  answer(): void {}
  join(_socket: number, topic: number): void {
    this.topics.add(topic)
  }
  leave(_socket: number, topic: number): void {
    this.topics.delete(topic)
  }
  publish(topic: number, text: string): void {
    if (this.topics.has(topic)) this.heard(text)
  }
  restart(_socket: number, _topic: number, text: string): void {
    this.heard(text)
  }
  close(): void {
    this.gone()
  }
  cut(): void {
    this.gone()
  }
  closeAll(): void {
    this.gone()
  }
  private heard(text: string): void {
    const frame = JSON.parse(text) as Frame
    this.frames++
    if (frame.id !== undefined && frame.event !== 'update') this.answers.set(frame.id, frame)
    else if (frame.event === 'update') this.follow(frame)
  }
  private follow(frame: Frame): void {
    if (frame.channel === 'spot.balances')
      for (const { currency, available } of frame.result as { currency: string; available: string }[])
        this.balances.set(currency, available)
    if (frame.channel !== 'spot.order_book_update') return
    if (this.book === undefined) {
      this.early.push(frame)
      return
    }
    const { U, u, b, a } = frame.result as { U: number; u: number; b: Levels; a: Levels }
    if (u <= this.book.id) return
    assert.ok(U <= this.book.id + 1, `the book goes on at ${U}, and was at ${this.book.id}`)
    for (const [side, levels] of [
      [this.book.b, b],
      [this.book.a, a],
    ] as const)
      for (const [price, left] of levels)
        if (left === '0') side.delete(price)
        else side.set(price, left)
    this.book.id = u
  }
}
const sorted = (side: Side): (readonly [string, string])[] =>
  [...side].sort(([one], [other]) => Number(one) - Number(other))
