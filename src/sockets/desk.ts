import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveDesk } from '../api/endpoint.ts'
import { AuthenticationFailure } from '../api/authenticate.ts'
import { DELTA_EFFECTS, PUSH_EFFECTS, type Faults } from '../api/faults.ts'
import { addressBlock, traceId } from '../http/words.ts'
import { Refusal, type Label } from '../labels.ts'
import { API_KEY } from '../core/tables/keys.ts'
import { USER } from '../core/tables/users.ts'
import { CommandRows } from '../events/rows.ts'
import type { CommittedCommand, Subscription } from '../machine/stream.ts'
import type { Log } from '../runtime/log.ts'
import { Books } from './book-streams.ts'
import { CALL_CHANNELS } from './call-channels.ts'
import type { Calls } from './calls.ts'
import { CHANNEL_BY_NAME, type Channel, type PrivateChannel, type PublicChannel } from './channels.ts'
import { revoked, type Credentials, type Session } from './credentials.ts'
import {
  BAD_ARGUMENT,
  BadRequest,
  BrokenFrame,
  NOT_ALLOWED,
  UNAVAILABLE,
  answerFrame,
  badArgument,
  labelled,
  pongFrame,
  pushFrame,
  readRequest,
  type FrameError,
  type Request,
} from './envelope.ts'
import type { Attach, Handshake, ToDesk, ToDoor, Verdict } from './line.ts'
import { MarketStreams } from './market-streams.ts'
import { addressOf, productOf, type Product } from './paths.ts'
import { Peer, type PeerParts } from './peer.ts'
import { PrivateStreams, cover, uncover, type PrivateSubscription } from './private-streams.ts'
import { prefixIn, prefixOf } from './products.ts'
import type { SocketFigures } from './figures.ts'
import { Topics } from './topics.ts'
import { UnifiedStreams } from './unified-streams.ts'

export interface SocketDeskParts {
  readonly desk: LiveDesk
  readonly credentials: Credentials
  readonly calls: Pick<Calls, 'take' | 'unanswered'>
  readonly figures: SocketFigures
  readonly log: Log
  readonly ready: () => boolean
  /** From one address, all products together; Infinity: no limit. */
  readonly connectionsMax: number
  readonly faults: Faults
}
/** What operators see of a connection. */
export interface SocketStatus {
  readonly conn_id: string
  readonly ip: string
  readonly product: string
  readonly since: number
  readonly user_ids: readonly number[]
  readonly subscriptions: number
  readonly queue_bytes: number
  readonly frames_in: number
  readonly frames_out: number
}

const SUBSCRIPTIONS_MAX = 10_000
/** Rows of commits that may wait to be told: a second of the busiest there is. */
const ROWS_MAX = 2_000_000
const PINGS = new Set(['spot.ping', 'futures.ping', 'options.ping', 'unified.ping', 'announcement.ping'])

/**
 * Beside the core: every connection, what it listens to, and what it is told. What commands did is told in the order of
 * their commits, after their replies, and never before they are durable.
 */
export class SocketDesk {
  private readonly parts: SocketDeskParts
  private readonly peers = new Map<ToDoor, Map<number, Peer>>()
  private readonly byId = new Map<string, Peer>()
  private readonly addresses = new Map<string, number>()
  private readonly books: Books
  private readonly markets: MarketStreams
  private readonly privates: PrivateStreams
  private readonly unified: UnifiedStreams
  private readonly topics: Topics
  private readonly peerParts: PeerParts
  private commits: Subscription | undefined
  private stopping = false

  constructor(parts: SocketDeskParts) {
    this.parts = parts
    const { desk, figures, log, faults } = parts
    const now = (): number => desk.clock.peek()
    const failed = (error: unknown): void => {
      if (!this.stopping) log.error('a stream could not be told', { error })
    }
    this.books = new Books(desk.core, now)
    this.markets = new MarketStreams(desk, failed)
    this.privates = new PrivateStreams(desk.core, now)
    this.unified = new UnifiedStreams(desk, failed)
    this.topics = new Topics({
      count: (channel, frames) => figures.sent(channel, frames),
      fault: ({ channel, stream }) =>
        faults.active
          ? faults.ofFrame({ channel }, stream?.pace === 'delta' ? DELTA_EFFECTS : PUSH_EFFECTS)
          : undefined,
    })
    this.peerParts = {
      sent: (channel) => figures.sent(channel, 1),
      // Whoever is logged in is watched: the key may be taken back.
      loggedIn: () => this.listen(),
      fault: (channel, user_id) => (faults.active ? faults.ofFrame({ channel, user_id }) : undefined),
    }
  }

  /** How a door announces itself. */
  readonly attach: Attach = (door) => {
    const mine = new Map<number, Peer>()
    this.peers.set(door, mine)
    const line: ToDesk = {
      open: (socket, handshake) => this.open(door, socket, handshake),
      received: (socket, text, at) => {
        const peer = mine.get(socket)
        if (peer !== undefined) this.received(peer, text, at)
      },
      closed: (socket, code) => {
        const peer = mine.get(socket)
        if (peer !== undefined) this.leave(peer, code)
      },
      behind: (socket, topic) => {
        const peer = mine.get(socket)
        const text = this.topics.get(topic)?.stream?.first()
        if (peer !== undefined && text !== undefined) door.restart(socket, topic, text)
      },
      waiting: (bytes) => {
        for (const peer of mine.values()) peer.queueBytes = 0
        for (const [socket, waiting] of bytes) {
          const peer = mine.get(socket)
          if (peer !== undefined) peer.queueBytes = waiting
        }
      },
      gone: () => {
        for (const peer of [...mine.values()]) this.leave(peer, ABNORMAL)
        this.peers.delete(door)
      },
    }
    return line
  }

  /** Whether anybody is subscribed to anything. */
  get watched(): boolean {
    for (const { count } of this.byId.values()) if (count > 0) return true
    return false
  }
  list(): SocketStatus[] {
    return [...this.byId.values()].map((peer) => ({
      conn_id: peer.conn_id,
      ip: peer.ip,
      product: peer.address,
      since: peer.since,
      user_ids: [...new Set(peer.sessions().map(({ user_id }) => user_id))].sort((a, b) => a - b),
      subscriptions: peer.count,
      queue_bytes: peer.queueBytes,
      frames_in: peer.framesIn,
      frames_out: peer.framesOut,
    }))
  }
  /** False: there is none of this name. */
  close(connId: string, code: number, reason: string): boolean {
    const peer = this.byId.get(connId)
    peer?.door.close(peer.socket, code, reason)
    return peer !== undefined
  }
  get connections(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { address } of this.byId.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    return counts
  }
  get subscriptions(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const add = (channel: string, count: number): void =>
      void counts.set(channel, (counts.get(channel) ?? 0) + count)
    for (const peer of this.byId.values()) {
      for (const { channel } of peer.topics) add(channel, 1)
      for (const { subscription } of peer.subscriptions.values())
        add(subscription.channel, subscription.names.size + (subscription.all ? 1 : 0))
    }
    return counts
  }
  get queueBytes(): number {
    let bytes = 0
    for (const peer of this.byId.values()) bytes += peer.queueBytes
    return bytes
  }

  /** The world begins anew: what anybody knew is no longer true. */
  reset(): void {
    for (const door of this.peers.keys()) door.closeAll(1012, 'the sandbox was reset')
    this.topics.clear()
    this.books.clear()
    this.privates.clear()
    this.unified.clear()
  }
  /** Nobody new; everybody is told, and let go when what was received is answered. */
  async stop(): Promise<void> {
    this.stopping = true
    const now = this.parts.desk.clock.peek()
    const result = JSON.stringify({
      type: 'upgrade',
      msg: 'the platform is stopping; connect again in a few seconds',
    })
    for (const peer of this.byId.values()) {
      const channel = `${prefixOf(peer.product)}.system`
      peer.send(channel, pushFrame(now, channel, result))
    }
    const late = performance.now() + FINISH_MS
    while (this.parts.calls.unanswered > 0 && performance.now() < late) await sleep(5)
    for (const door of this.peers.keys()) door.closeAll(1001, 'the platform is stopping')
  }

  private open(door: ToDoor, socket: number, handshake: Handshake): Verdict {
    const address = productOf(handshake.path)
    if (address === undefined)
      return refused(
        404,
        'NOT_FOUND',
        `${handshake.path.slice(0, 80)} is no address of sockets; /ws/v4/ is, for spot`,
      )
    if (this.stopping)
      return refused(503, 'TOO_BUSY', 'the platform is stopping; connect again in a few seconds')
    if (!this.parts.ready())
      return refused(503, 'TOO_BUSY', 'the platform is starting; try again in a second')
    const block = addressBlock(handshake.ip)
    const count = this.addresses.get(block) ?? 0
    if (count >= this.parts.connectionsMax)
      return refused(
        429,
        'TOO_MANY_REQUESTS',
        `${count} sockets of ${handshake.ip} are open, which is the most for one address; use fewer, with more channels on each`,
      )
    this.addresses.set(block, count + 1)
    const since = this.parts.desk.clock.seconds()
    const peer = new Peer(door, socket, address, handshake, since, this.peerParts)
    this.peers.get(door)!.set(socket, peer)
    this.byId.set(peer.conn_id, peer)
    return { accepted: true }
  }
  private leave(peer: Peer, code: number): void {
    peer.closed = true
    this.parts.figures.closed(code)
    this.peers.get(peer.door)?.delete(peer.socket)
    this.byId.delete(peer.conn_id)
    const block = addressBlock(peer.ip)
    const left = (this.addresses.get(block) ?? 1) - 1
    if (left === 0) this.addresses.delete(block)
    else this.addresses.set(block, left)
    for (const topic of peer.topics) {
      topic.leave(peer)
      this.topics.settled(topic, false)
    }
    peer.topics.clear()
    for (const { subscription } of peer.subscriptions.values()) this.end(subscription)
    peer.subscriptions.clear()
    this.hush()
  }

  private received(peer: Peer, text: string, at: number): void {
    peer.framesIn++
    let request: Request
    try {
      request = readRequest(text)
    } catch (error) {
      if (!(error instanceof BrokenFrame)) throw error
      this.parts.figures.received('')
      const { id, channel, event, code, message } = error
      this.answer(peer, { id, channel, event, payload: undefined }, { code, message })
      return
    }
    const { channel, event, time, id, payload } = request
    const isPing = PINGS.has(channel)
    // Names that clients make up must not become names of figures.
    this.parts.figures.received(isPing || KNOWN.has(channel) ? channel : '')
    if (isPing) peer.send(pongFrame(this.parts.desk.clock.peek(), prefixIn(channel), id))
    else if (event === 'api') this.parts.calls.take(peer, { channel, time, id, payload, text, at })
    else if (event === 'subscribe' || event === 'unsubscribe')
      // One after the other: an end that overtook its beginning would end nothing.
      peer.tail = peer.tail.then(() => this.attempt(peer, request, text))
    else
      this.answer(
        peer,
        request,
        event === ''
          ? { code: 1, message: 'event is missing: "subscribe", "unsubscribe" or "api"' }
          : {
              code: BAD_ARGUMENT,
              message: `event: "${event.slice(0, 40)}" is not known; it is one of subscribe, unsubscribe, api`,
            },
      )
  }
  private async attempt(peer: Peer, request: Request, text: string): Promise<void> {
    if (peer.closed) return
    try {
      const channel = channelOf(peer.address, request.channel)
      if (request.event === 'unsubscribe') this.unsubscribe(peer, channel, request)
      else if (channel.access === 'public') await this.subscribe(peer, channel, request)
      else await this.subscribePrivate(peer, channel, request, text)
    } catch (error) {
      this.answer(peer, request, this.errorOf(error, request))
    }
  }
  private errorOf(error: unknown, { channel }: Request): FrameError {
    if (error instanceof BadRequest) return { code: error.code, message: error.message }
    if (error instanceof Refusal) {
      const detail = error instanceof AuthenticationFailure ? error.detail : undefined
      return { code: NOT_ALLOWED, message: labelled(error.label, error.message, detail) }
    }
    if (this.stopping) return { code: UNAVAILABLE, message: 'the platform is stopping' }
    this.parts.log.error('a subscription failed unexpectedly', { channel, error })
    return { code: UNAVAILABLE, message: 'a defect of the platform, which has been logged; try again' }
  }
  private answer(
    peer: Peer,
    request: Pick<Request, 'id' | 'channel' | 'event' | 'payload'>,
    error?: FrameError,
  ): void {
    peer.send(answerFrame(this.parts.desk.clock.peek(), peer.conn_id, traceId(), request, error))
  }

  private async subscribe(peer: Peer, channel: PublicChannel, request: Request): Promise<void> {
    const { desk } = this.parts
    const wanted = channel.read(request.payload, desk.core.state.world, true)
    this.bound(peer, wanted.length)
    if (channel.single === true)
      for (const { name } of wanted) {
        const topic = this.topics.find(name)
        if (topic !== undefined && peer.topics.has(topic)) badArgument(`Alert sub ${name}`)
      }
    this.listen()
    const sources = { books: this.books, markets: this.markets }
    const opened = wanted.map(({ name, begin }) => this.topics.open(name, channel.name, begin(sources)))
    const topics = await Promise.all(opened).catch(async (error: unknown) => {
      for (const one of await Promise.allSettled(opened))
        if (one.status === 'fulfilled') this.topics.settled(one.value)
      throw error
    })
    if (!peer.closed) {
      this.answer(peer, request)
      for (const topic of topics) {
        topic.join(peer)
        peer.topics.add(topic)
      }
    }
    for (const topic of topics) this.topics.settled(topic)
    this.hush()
  }
  private async subscribePrivate(
    peer: Peer,
    channel: PrivateChannel,
    request: Request,
    text: string,
  ): Promise<void> {
    const { desk, credentials } = this.parts
    const session = credentials.subscription({ ...request, text }, channel.access, peer.ip)
    const userId = session.user_id
    const unified = channel.product === 'unified'
    if (unified && desk.core.state.margin.of(userId).mode === 'classic')
      badArgument(
        labelled(
          'ACCOUNT_EXCEPTION',
          'the account is not in a unified mode; PUT /unified/unified_mode first',
        ),
      )
    const covered = channel.read(request.payload, desk.core.state.world, true)
    this.bound(peer, covered === 'all' ? 1 : covered.length)
    const name = `${channel.name} ${userId}`
    this.listen()
    if (unified) await this.unified.prepare(userId)
    else await this.privates.prepare(channel.name, userId)
    if (peer.closed) {
      if (!unified) this.privates.release(channel.name, userId)
      this.hush()
      return
    }
    this.answer(peer, request)
    const known = peer.subscriptions.get(name)
    if (known !== undefined) {
      cover(known.subscription, covered)
      known.session = session
      if (unified) await this.unified.begin(known.subscription)
      else this.privates.release(channel.name, userId)
      return
    }
    const subscription: PrivateSubscription = {
      listener: peer,
      channel: channel.name,
      userId,
      all: false,
      names: new Set<string>(),
    }
    cover(subscription, covered)
    peer.subscriptions.set(name, { subscription, session })
    if (unified) await this.unified.begin(subscription)
    else this.privates.add(subscription)
    // Something may have changed while it was prepared.
    this.review(peer)
  }
  private unsubscribe(peer: Peer, channel: Channel, request: Request): void {
    const { world } = this.parts.desk.core.state
    if (channel.access === 'public')
      for (const { name } of channel.read(request.payload, world, false)) {
        const topic = this.topics.find(name)
        if (topic === undefined || !peer.topics.delete(topic)) continue
        topic.leave(peer)
        this.topics.settled(topic, false)
      }
    else {
      const covered = channel.read(request.payload, world, false)
      for (const [name, { subscription }] of peer.subscriptions)
        if (subscription.channel === channel.name && uncover(subscription, covered)) {
          peer.subscriptions.delete(name)
          this.end(subscription)
        }
    }
    this.answer(peer, request)
    this.hush()
  }
  private end(subscription: PrivateSubscription): void {
    if (subscription.channel.startsWith('unified.')) this.unified.remove(subscription)
    else this.privates.remove(subscription)
  }
  private bound(peer: Peer, more: number): void {
    if (peer.count + more > SUBSCRIPTIONS_MAX)
      badArgument(`at most ${SUBSCRIPTIONS_MAX} subscriptions on a connection; open another one`)
  }

  /** From here on commits are collected. */
  private listen(): void {
    this.commits ??= this.parts.desk.core.commits.subscribe(ROWS_MAX, () => this.hear())
  }
  /** Nobody listens any more: the core need not collect what changes. */
  private hush(): void {
    if (this.topics.size > 0 || !this.privates.idle) return
    for (const { subscriptions, session } of this.byId.values())
      if (subscriptions.size > 0 || session !== undefined) return
    this.commits?.close()
    this.commits = undefined
  }
  private hear(): void {
    const taken = this.commits?.take()
    if (taken === undefined) return
    if (taken.lost) this.lost()
    const begun = performance.now()
    for (const { commands } of taken.batches) for (const command of commands) this.told(command)
    this.parts.figures.lagged(taken.waited + performance.now() - begun)
  }
  private told(command: CommittedCommand): void {
    const rows = new CommandRows(command)
    this.reviewAfter(rows)
    this.privates.hear(command, rows)
    this.markets.hear(command, rows)
    this.books.hear(command, rows)
  }
  /** What was missed can't be made good: who relies on it must begin again. */
  private lost(): void {
    for (const door of this.peers.keys()) door.closeAll(1011, 'the streams fell behind; connect again')
  }

  /** Whose key or account a command changed may have lost the right to listen. */
  private reviewAfter(rows: CommandRows): void {
    const keys = new Set(
      rows.of(API_KEY).flatMap(({ before, after }) => {
        const key = after ?? before
        return key === undefined ? [] : [key.key]
      }),
    )
    const users = new Set(rows.of(USER).map(({ before, after }) => (after ?? before)?.user_id))
    if (keys.size === 0 && users.size === 0) return
    const { state } = this.parts.desk.core
    for (const peer of this.byId.values())
      if (
        peer
          .sessions()
          .some(
            ({ key, user_id }) =>
              keys.has(key) || users.has(user_id) || users.has(state.users.get(user_id)?.parent_id ?? 0),
          )
      )
        this.review(peer)
  }
  private review(peer: Peer): void {
    for (const session of peer.sessions()) {
      const why = this.whyNot(peer, session)
      if (why === undefined) continue
      // From here on nothing of this account reaches it.
      for (const { subscription } of peer.subscriptions.values()) this.end(subscription)
      peer.subscriptions.clear()
      peer.session = undefined
      peer.door.close(peer.socket, 1008, `${why.label}: ${why.message}`.slice(0, REASON_MAX))
      return
    }
  }
  private whyNot(peer: Peer, { key, need }: Session): { label: Label; message: string } | undefined {
    return revoked(this.parts.desk.core.state, key, peer.ip, need)
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  ...CHANNEL_BY_NAME.keys(),
  ...CALL_CHANNELS.map(({ channel }) => channel),
])
const ABNORMAL = 1006
/** Calls that were received get so long to be answered, when the platform stops. */
const FINISH_MS = 800
/** A close frame holds 125 bytes, two of them the code; messages are ASCII. */
const REASON_MAX = 123
const refused = (status: number, label: Label, message: string): Verdict => ({
  accepted: false,
  status,
  label,
  message,
})

/** The channel of a name, if this address serves it. */
function channelOf(address: Product, name: string): Channel {
  const channel = CHANNEL_BY_NAME.get(name)
  const here = prefixOf(address.split('_')[0] as Parameters<typeof prefixOf>[0])
  const prefix = prefixIn(name)
  if (channel !== undefined && channel.product === here) return channel
  if (channel !== undefined) badArgument(`${name} is served at ${addressOf(channel.product)}; connect there`)
  if (prefix === here && (here === 'futures' || here === 'options'))
    badArgument(`unknown contract: ${here} are not traded on this platform yet`)
  if (prefix !== here && ['futures', 'options'].includes(prefix))
    badArgument(
      `${name.slice(0, 40)} is served at ${addressOf(prefix === 'futures' ? 'futures_usdt' : 'options')}; connect there`,
    )
  return badArgument(
    `unknown channel: ${name.slice(0, 80)}; /docs lists them, of this address ${[...CHANNEL_BY_NAME.values()]
      .filter(({ product }) => product === here)
      .map((one) => one.name)
      .join(', ')}`,
  )
}
