import { randomBytes } from 'node:crypto'
import type { FramePlan } from '../api/faults.ts'
import { traceId } from '../http/words.ts'
import type { CallConnection } from './call-connection.ts'
import type { Session } from './credentials.ts'
import { HeldBack } from './held-back.ts'
import type { CallAnswer, CallLimits, Handshake, ToDoor } from './line.ts'
import { kindOf, type Product as Address } from './paths.ts'
import type { Product } from './products.ts'
import type { Listener, PrivateSubscription } from './subscribers.ts'
import type { Member, Topic } from './topics.ts'

export interface PeerParts {
  /** Somebody has logged in on it. */
  readonly loggedIn: (peer: Peer) => void
  /** Counts a frame that goes out. */
  readonly sent: (channel: string) => void
  /** What a fault does to a push. */
  readonly fault: (channel: string, userId: number) => FramePlan | undefined
}

interface Signed {
  readonly subscription: PrivateSubscription
  /** By key. */
  readonly sessions: Map<string, Session>
}
/** A topic that it has joined: by its own name, by the word for all of them, or both. */
interface Joined {
  /** How many frames had been told there before. */
  readonly since: number
  named: boolean
  all: boolean
}

/** A connection, as the desk knows it: who speaks on it, and what it listens to. */
export class Peer implements CallConnection, Member, Listener {
  readonly door: ToDoor
  readonly socket: number
  readonly conn_id = randomBytes(8).toString('hex')
  readonly conn_trace_id = traceId()
  readonly ids = `"conn_id":"${this.conn_id}","conn_trace_id":"${this.conn_trace_id}"`
  readonly client_id: string
  readonly ip: string
  readonly channelId: string | null
  /** Numbers of contracts are written as texts; of dated ones never. */
  readonly sizeTexts: boolean
  readonly address: Address
  /** What the names of its channels begin with, roughly: usdt and btc are one product. */
  readonly product: Product
  readonly settle: string
  /** Seconds of the platform's clock. */
  readonly since: number
  private readonly joined = new Map<Topic, Joined>()
  /** Public channels of which it wants all there is. */
  readonly alls = new Set<string>()
  /** By channel and account, and with which keys each was signed: a later one takes nothing from an earlier one. */
  readonly subscriptions = new Map<string, Signed>()
  /** Subscriptions are taken in one after the other. */
  tail: Promise<void> = Promise.resolve()
  closed = false
  queueBytes = 0
  framesIn = 0
  private sentAlone = 0
  private introduced = false
  private readonly parts: PeerParts
  private loggedIn: Session | undefined
  private readonly heldBack = new HeldBack()

  constructor(
    door: ToDoor,
    socket: number,
    address: Address,
    { ip, channelId, sizeDecimal }: Handshake,
    since: number,
    parts: PeerParts,
  ) {
    this.door = door
    this.socket = socket
    this.address = address
    this.product = kindOf(address)
    this.settle = address.split('_')[1] ?? ''
    this.ip = ip
    this.client_id = `${ip}-0xc0${randomBytes(4).toString('hex')}`
    this.channelId = channelId
    this.sizeTexts = sizeDecimal && this.product !== 'delivery'
    this.since = since
    this.parts = parts
  }
  get session(): Session | undefined {
    return this.loggedIn
  }
  set session(session: Session | undefined) {
    this.loggedIn = session
    if (session !== undefined) this.parts.loggedIn(this)
  }
  /** The answer to a call, or to anything; a second argument names the channel of a push. */
  send(text: string): void
  send(channel: string, text: string): void
  send(first: string, second?: string): void {
    const [channel, text] = second === undefined ? [undefined, first] : [first, second]
    if (this.closed) return
    this.sentAlone++
    if (channel !== undefined) this.parts.sent(channel)
    this.door.send(this.socket, text)
  }
  acknowledge(n: number, now: number, limits: CallLimits): void {
    if (this.closed) return
    this.introduce()
    this.sentAlone++
    this.door.acknowledge(this.socket, n, now, limits)
  }
  answer(answer: CallAnswer): void {
    if (this.closed) return
    this.introduce()
    this.sentAlone += answer.copies
    this.door.answer(this.socket, answer)
  }
  private introduce(): void {
    if (this.introduced) return
    this.introduced = true
    this.door.name(this.socket, this.client_id, this.ids)
  }
  push(channel: string, userId: number, text: string): void {
    const plan = this.parts.fault(channel, userId)
    this.heldBack.send(
      plan,
      () => this.send(channel, text),
      () => this.cut(),
    )
  }
  cut(): void {
    this.door.cut(this.socket)
  }
  get topics(): Iterable<Topic> {
    return this.joined.keys()
  }
  has(topic: Topic): boolean {
    return this.joined.has(topic)
  }
  /** `all`: by the word for all of them. */
  join(topic: Topic, all = false): void {
    topic.join(this)
    let joined = this.joined.get(topic)
    if (joined === undefined)
      this.joined.set(topic, (joined = { since: topic.published, named: false, all: false }))
    joined[all ? 'all' : 'named'] = true
  }
  /** Takes one way back; false: it had not joined it, or stays there by the other. */
  part(topic: Topic, all = false): boolean {
    const joined = this.joined.get(topic)
    if (joined === undefined) return false
    joined[all ? 'all' : 'named'] = false
    return !joined.named && !joined.all && this.leave(topic)
  }
  /** False: it had not joined it. */
  leave(topic: Topic): boolean {
    const joined = this.joined.get(topic)
    if (joined === undefined) return false
    this.joined.delete(topic)
    this.sentAlone += topic.published - joined.since
    topic.leave(this)
    return true
  }
  get framesOut(): number {
    let frames = this.sentAlone
    for (const [topic, { since }] of this.joined) frames += topic.published - since
    return frames
  }
  /** How many subscriptions it has: streams, and names of private channels. */
  get count(): number {
    let count = this.joined.size
    for (const { subscription } of this.subscriptions.values())
      count += subscription.names.size + (subscription.all ? 1 : 0)
    return count
  }
  /** Everybody whose data it may get. */
  sessions(): Session[] {
    const sessions = [...this.subscriptions.values()].flatMap(({ sessions }) => [...sessions.values()])
    return this.session === undefined ? sessions : [this.session, ...sessions]
  }
}
