import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveDesk } from '../api/endpoint.ts'
import type { Faults } from '../api/faults.ts'
import { API_KEY } from '../core/tables/keys.ts'
import { SESSION } from '../core/tables/logins.ts'
import { USER } from '../core/tables/users.ts'
import { LISTED_CONTRACT } from '../core/tables/world/listed.ts'
import type { CommandRows } from '../events/rows.ts'
import { addressBlock } from '../http/words.ts'
import { Refusal, type Label } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import { CALL_CHANNELS } from './call-channels.ts'
import type { Calls } from './calls.ts'
import { CHANNEL_BY_NAME } from './channels.ts'
import type { Credentials, Session } from './credentials.ts'
import { BAD_ARGUMENT, BrokenFrame, pongFrame, pushFrame, readRequest, type Request } from './envelope.ts'
import type { SocketFigures } from './figures.ts'
import type { Attach, Handshake, ToDesk, ToDoor, Verdict } from './line.ts'
import { Live } from './live.ts'
import { kindOf, productOf } from './paths.ts'
import { Peer, type PeerParts } from './peer.ts'
import { PINGS, prefixIn, prefixOf } from './products.ts'
import { Subscribing } from './subscribing.ts'

export interface SocketDeskParts {
  readonly desk: LiveDesk
  readonly credentials: Credentials
  readonly calls: Pick<Calls, 'take' | 'unanswered'>
  readonly figures: SocketFigures
  readonly log: Log
  readonly ready: () => boolean
  /** From one address, all products together; Infinity: no limit. */
  readonly connectionsMax: number
  /** What multiplies all limits; null: they are off. */
  readonly rateLimits: number | null
  readonly faults: Faults
}

/**
 * Beside the core: every connection, what it listens to, and what it is told. What commands did is told in the order of
 * their commits, after their replies, and never before they are durable.
 */
export class SocketDesk {
  private readonly parts: SocketDeskParts
  private readonly peers = new Map<ToDoor, Map<number, Peer>>()
  private readonly byId = new Map<string, Peer>()
  private readonly addresses = new Map<string, number>()
  private readonly live: Live
  private readonly subscribing: Subscribing
  private readonly peerParts: PeerParts
  private stopping = false
  /** Everybody was let go: what still comes is not carried out, because nobody could be told. */
  private over = false
  private heardAt = 0
  private readonly visitors = setInterval(() => this.reviewVisitors(), VISITORS_MS).unref()

  constructor(parts: SocketDeskParts) {
    this.parts = parts
    const { figures, faults } = parts
    this.live = new Live(parts, {
      before: (rows) => this.reviewAfter(rows),
      lost: () => this.closeAll(1011, 'the streams fell behind; connect again'),
      // Whoever is logged in is watched: the key may be taken back.
      watched: () => [...this.byId.values()].some((peer) => peer.sessions().length > 0),
    })
    this.subscribing = new Subscribing(this.live, parts)
    this.peerParts = {
      sent: (channel) => figures.sent(channel, 1),
      // What happened to the key before anybody listened is looked at afterwards.
      loggedIn: (peer) =>
        void this.live.listen('keys').then(
          () => this.review(peer),
          () => undefined,
        ),
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
        const peer = this.hear(mine, socket)
        if (peer !== undefined) this.guarded(peer, () => this.received(peer, text, at))
      },
      called: (socket, { n, channel, payload, param }, at) => {
        const peer = this.hear(mine, socket)
        if (peer === undefined) return
        this.guarded(peer, () => {
          this.counted(peer, channel)
          this.parts.calls.take(peer, { channel, payload, at, n, param, text: '', time: undefined })
        })
      },
      closed: (socket, code) => {
        const peer = mine.get(socket)
        if (peer !== undefined) this.leave(peer, code)
      },
      behind: (socket, topic) => {
        const peer = mine.get(socket)
        const text = this.live.topics.get(topic)?.stream?.first()
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
  get count(): number {
    return this.byId.size
  }
  /** What operators see of each connection. */
  list() {
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
    this.closeAll(1012, 'the sandbox was reset')
    this.live.forget()
  }
  /** Nobody new; everybody is told, and let go when what was received is answered. */
  async stop(): Promise<void> {
    this.stopping = this.live.stopping = true
    clearInterval(this.visitors)
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
    if (this.byId.size > 0) this.heardAt = performance.now()
    // What was sent before it was told may still be on its way here.
    const busy = (now: number): boolean => this.parts.calls.unanswered > 0 || now - this.heardAt < QUIET_MS
    for (let now = performance.now(); busy(now) && now < late; now = performance.now()) await sleep(5)
    this.over = true
    this.closeAll(1001, 'the platform is stopping')
  }
  private hear(mine: ReadonlyMap<number, Peer>, socket: number): Peer | undefined {
    if (this.over) return undefined
    if (this.stopping) this.heardAt = performance.now()
    return mine.get(socket)
  }
  private closeAll(code: number, reason: string): void {
    for (const door of this.peers.keys()) door.closeAll(code, reason)
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
    let session: Session | undefined
    try {
      if (handshake.visitor !== null)
        session = this.parts.credentials.visit(handshake.visitor, kindOf(address), handshake.ip)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refused(error.status, error.label, error.message)
    }
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
    if (session !== undefined) peer.session = session
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
    this.subscribing.leave(peer)
  }

  private guarded(peer: Peer, take: () => void): void {
    try {
      take()
    } catch (error) {
      this.parts.log.error('a frame failed unexpectedly', { conn_id: peer.conn_id, error })
      peer.door.close(peer.socket, 1011, 'a defect of the platform, which has been logged')
    }
  }
  private counted(peer: Peer, channel: string): void {
    peer.framesIn++
    // Names that clients make up must not become names of figures.
    this.parts.figures.received(PINGS.has(channel) || KNOWN.has(channel) ? channel : '')
  }
  private received(peer: Peer, text: string, at: number): void {
    let request: Request
    try {
      request = readRequest(text)
    } catch (error) {
      if (!(error instanceof BrokenFrame)) throw error
      this.counted(peer, '')
      const { read, code, message } = error
      this.subscribing.answer(peer, read, { code, message })
      return
    }
    const { channel, event, time, id, payload } = request
    this.counted(peer, channel)
    if (PINGS.has(channel)) peer.send(pongFrame(this.parts.desk.clock.peek(), prefixIn(channel), id))
    else if (event === 'api') this.parts.calls.take(peer, { channel, time, payload, text, at })
    else if (event === 'subscribe' || event === 'unsubscribe')
      // One after the other: an end that overtook its beginning would end nothing.
      peer.tail = peer.tail.then(() => this.subscribing.attempt(peer, request, text))
    else
      this.subscribing.answer(
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
  /** Whose key or account a command changed may have lost the right to listen; what it listed somebody may want. */
  private reviewAfter(rows: CommandRows): void {
    const keys = new Set(
      rows.of(API_KEY).flatMap(({ before, after }) => {
        const key = after ?? before
        return key === undefined ? [] : [key.key]
      }),
    )
    const users = new Set(rows.of(USER).map(({ before, after }) => (after ?? before)?.user_id))
    if (rows.of(LISTED_CONTRACT).some(({ before }) => before === undefined))
      for (const peer of this.byId.values()) this.subscribing.widen(peer)
    const sessions = new Set(rows.of(SESSION).map(({ before, after }) => (after ?? before)?.id))
    if (keys.size === 0 && users.size === 0 && sessions.size === 0) return
    const { state } = this.parts.desk.core
    for (const peer of this.byId.values())
      if (
        peer
          .sessions()
          .some(
            ({ key, user_id, session_id }) =>
              keys.has(key) ||
              sessions.has(session_id) ||
              users.has(user_id) ||
              users.has(state.users.get(user_id)?.parent_id ?? 0),
          )
      )
        this.review(peer)
  }
  private review(peer: Peer): void {
    if (peer.closed) return
    for (const session of peer.sessions()) {
      const why = this.whyNot(peer, session)
      if (why === undefined) continue
      this.subscribing.endPrivate(peer)
      peer.session = undefined
      peer.door.close(peer.socket, 1008, `${why.label}: ${why.message}`.slice(0, REASON_MAX))
      return
    }
  }
  private whyNot(peer: Peer, session: Session): { label: Label; message: string } | undefined {
    return this.parts.credentials.revoked(session, peer.ip)
  }
  /** Sessions of browsers end by themselves, too. */
  private reviewVisitors(): void {
    for (const peer of this.byId.values()) if (peer.session?.session_id !== undefined) this.review(peer)
  }
}

const KNOWN: ReadonlySet<string> = new Set([
  ...CHANNEL_BY_NAME.keys(),
  ...CALL_CHANNELS.map(({ channel }) => channel),
])
const VISITORS_MS = 15_000
const ABNORMAL = 1006
/** Calls that were received get so long to be answered, when the platform stops. */
const FINISH_MS = 800
/** Nothing came for so long: nothing is on its way. */
const QUIET_MS = 100
/** A close frame holds 125 bytes, two of them the code; messages are ASCII. */
const REASON_MAX = 123
const refused = (status: number, label: Label, message: string): Verdict => ({
  accepted: false,
  status,
  label,
  message,
})
