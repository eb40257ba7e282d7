import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { scaled } from '../api/limiter.ts'
import { refuseUpgrade, type Upgrade, type Upgrades } from '../http/upgrade.ts'
import { addressBlock, microsNow } from '../http/words.ts'
import type { Label } from '../labels.ts'
import { Connected, TIMES, type Times } from './connected.ts'
import { textFrame } from './frames.ts'
import { faultOf, handshakeOf } from './handshake.ts'
import type { Attach, CallAnswer, CallLimits, Pace, ToDesk, ToDoor, Verdict } from './line.ts'
import { LongFrames } from './long-frames.ts'
import { boundsOf, type Bounds, type Member, type Outbox } from './outbox.ts'
import { productOf } from './paths.ts'
import { Turns } from './turns.ts'

export interface DoorParts {
  readonly attach: Attach
  readonly trustProxy: number
  /** Bytes that may wait on one connection. */
  readonly queue: number
  /** Multiplier of all rate limits; null: there are none. */
  readonly rateLimits: number | null
  /** How long each thing may take; real ones where nothing is said. */
  readonly times?: Partial<Times>
}
export const FRAME_MAX = 1024 * 1024
/** Frames in any second on a connection. */
const FRAMES_A_SECOND = 500
/** In so many pieces nobody sends a frame, or so few bytes at a time. */
const FRAGMENTS_MAX = 1_024
const CHUNKS_MAX = 4_096
/** More than a frame has, its pieces' heads included: pieces may be empty, and those are not counted. */
const UNDER_WAY_MAX = 2 * FRAME_MAX
/** Of all frames that are under way to us and not whole. */
const UNFINISHED_MAX = 64 * 1024 * 1024
/** So much of one costs nothing. */
const UNFINISHED_FREE = 64 * 1024

/**
 * Where sockets are: upgrades connections, reads frames and hands them to the desk, and sends what the desk says. It
 * keeps every connection within its bounds, and decides nothing.
 */
export class SocketDoor implements ToDoor, Upgrades {
  private readonly parts: DoorParts
  private readonly times: Times
  private readonly desk: ToDesk
  private readonly server: WebSocketServer
  private readonly bounds: Bounds
  private readonly framesMax: number
  private readonly longFrames: LongFrames
  private readonly turns: Turns
  private readonly sockets = new Map<number, Connected>()
  private readonly topics = new Map<number, Map<number, Member>>()
  private readonly sweeper: NodeJS.Timeout
  private dirty: Outbox[] = []
  private last = 0
  private closing = false
  private emptied: (() => void) | undefined
  private toldOfWaiting = false

  constructor(parts: DoorParts) {
    this.parts = parts
    this.times = { ...TIMES, ...parts.times }
    this.bounds = boundsOf(parts.queue)
    this.framesMax = scaled(FRAMES_A_SECOND, parts.rateLimits)
    this.longFrames = new LongFrames(parts.rateLimits)
    this.turns = new Turns(parts.rateLimits)
    this.server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: FRAME_MAX,
      maxFragments: FRAGMENTS_MAX,
      maxBufferedChunks: CHUNKS_MAX,
      skipUTF8Validation: false,
    })
    this.server.on('wsClientError', (error, socket, request) =>
      refuseUpgrade(request, socket as Socket, 400, 'BAD_REQUEST', error.message),
    )
    this.desk = parts.attach(this)
    this.sweeper = setInterval(() => this.sweep(), this.times.sweepMs).unref()
  }
  get size(): number {
    return this.sockets.size
  }

  serves(path: string): boolean {
    return productOf(path) !== undefined
  }
  readonly upgrade: Upgrade = (request, socket, head) => {
    const fault = faultOf(request)
    if (fault !== undefined) {
      refuseUpgrade(request, socket, fault.status, fault.label, fault.message, fault.headers)
      return
    }
    if (this.closing) {
      refuseUpgrade(request, socket, 503, 'TOO_BUSY', 'the platform is stopping')
      return
    }
    const id = ++this.last
    const handshake = handshakeOf(request, this.parts.trustProxy)
    const from = addressBlock(handshake.ip)
    const verdict = this.desk.open(id, handshake)
    const judge = (verdict: Verdict): void => this.judged(id, from, verdict, request, socket, head)
    if (verdict instanceof Promise) void verdict.then(judge)
    else judge(verdict)
  }

  send(socket: number, text: string | Uint8Array): void {
    this.sockets.get(socket)?.outbox.send(textFrame(text))
  }
  name(socket: number, clientId: string, ids: string): void {
    this.sockets.get(socket)?.calls?.name(clientId, ids)
  }
  acknowledge(socket: number, n: number, now: number, limits: CallLimits): void {
    const connected = this.sockets.get(socket)
    const text = connected?.calls?.acknowledge(n, now, limits)
    if (text !== undefined) connected!.outbox.send(textFrame(text))
  }
  answer(socket: number, answer: CallAnswer): void {
    const connected = this.sockets.get(socket)
    const text = connected?.calls?.answer(answer)
    if (text === undefined || answer.copies === 0) return
    const frame = textFrame(text)
    for (let copy = 0; copy < answer.copies; copy++) connected!.outbox.send(frame)
  }
  join(socket: number, topic: number, pace: Pace): void {
    const connected = this.sockets.get(socket)
    if (connected === undefined || connected.ending) return
    let members = this.topics.get(topic)
    if (members === undefined) this.topics.set(topic, (members = new Map<number, Member>()))
    if (members.has(socket)) return
    members.set(socket, { outbox: connected.outbox, topic, pace, behind: false })
    connected.topics.add(topic)
  }
  leave(socket: number, topic: number): void {
    const connected = this.sockets.get(socket)
    if (connected?.topics.delete(topic) !== true) return
    this.part(socket, topic)
    connected.outbox.leave(topic)
  }
  publish(topic: number, text: string | Uint8Array, kept = false): void {
    const members = this.topics.get(topic)
    if (members === undefined) return
    const frame = textFrame(text)
    for (const member of members.values()) member.outbox.publish(member, frame, kept)
  }
  /** Frames of this topic were lost on their way to this door. */
  missed(topic: number): void {
    for (const member of this.topics.get(topic)?.values() ?? []) member.outbox.miss(member)
  }
  restart(socket: number, topic: number, text: string | Uint8Array): void {
    const member = this.topics.get(topic)?.get(socket)
    member?.outbox.restart(member, textFrame(text))
  }
  close(socket: number, code: number, reason: string): void {
    this.sockets.get(socket)?.close(code, reason)
  }
  cut(socket: number): void {
    this.sockets.get(socket)?.terminate(1006)
  }
  closeAll(code: number, reason: string): void {
    const all = [...this.sockets.values()]
    for (const connected of all) connected.close(code, reason)
    const late = (): void => {
      for (const connected of all) connected.terminate(code)
    }
    if (all.length > 0) setTimeout(late, this.times.closeMs)
  }
  /** Takes nobody any more; resolves when all are gone, soon. */
  shut(): Promise<void> {
    this.closing = true
    this.closeAll(1001, 'the platform stops')
    return new Promise((resolve) => {
      const gone = (): void => {
        clearInterval(this.sweeper)
        this.turns.end()
        resolve()
      }
      if (this.sockets.size === 0) gone()
      else this.emptied = gone
    })
  }

  private judged(
    id: number,
    from: string,
    verdict: Verdict,
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): void {
    if (!verdict.accepted) {
      refuseUpgrade(request, socket, verdict.status, verdict.label as Label, verdict.message)
      return
    }
    if (this.closing) refuseUpgrade(request, socket, 503, 'TOO_BUSY', 'the platform is stopping')
    else this.server.handleUpgrade(request, socket, head, (ws) => this.connected(id, from, ws, socket))
    // It went away while it was waiting, or asked for what `ws` refuses.
    if (!this.sockets.has(id)) this.desk.closed(id, 1006)
  }
  private connected(id: number, from: string, ws: WebSocket, socket: Socket): void {
    const { times, bounds, framesMax, longFrames, turns } = this
    const connected = new Connected(ws, socket, bounds, framesMax, times, {
      dirty: (outbox) => this.wrote(outbox),
      behind: (topic) => this.desk.behind(id, topic),
      received: (text) => this.desk.received(id, text, microsNow()),
      called: (call, at) => this.desk.called(id, call, at),
      weighed: (bytes, now) => longFrames.take(from, bytes, now),
      passes: (now) => turns.take(from, now),
      owes: (now) => turns.owe(from, now),
      waits: (waiter, now) => turns.wait(from, waiter, now),
      ending: () => this.partAll(id),
      gone: (code) => {
        this.partAll(id)
        this.sockets.delete(id)
        this.desk.closed(id, code)
        if (this.sockets.size === 0) this.emptied?.()
      },
    })
    this.sockets.set(id, connected)
  }
  private part(socket: number, topic: number): void {
    const members = this.topics.get(topic)
    members?.delete(socket)
    if (members?.size === 0) this.topics.delete(topic)
  }
  private partAll(socket: number): void {
    const connected = this.sockets.get(socket)
    if (connected === undefined) return
    for (const topic of connected.topics) this.part(socket, topic)
    connected.topics.clear()
  }

  /** All that is written to a socket in one turn leaves together. */
  private wrote(outbox: Outbox): void {
    if (this.dirty.length === 0) process.nextTick(this.flush)
    this.dirty.push(outbox)
  }
  private readonly flush = (): void => {
    const { dirty } = this
    this.dirty = []
    for (const outbox of dirty) outbox.flush()
  }

  private sweep(): void {
    const now = performance.now()
    const waiting: [socket: number, bytes: number][] = []
    const halves: Connected[] = []
    for (const [id, connected] of this.sockets) {
      connected.look(now)
      const bytes = connected.outbox.waiting
      if (bytes > 0) waiting.push([id, bytes])
      if (connected.ending) continue
      const { unfinished } = connected
      if (unfinished > UNDER_WAY_MAX) connected.refuse(1008, 'a frame of more pieces than anybody sends')
      else if (unfinished > UNFINISHED_FREE) halves.push(connected)
    }
    if (waiting.length > 0 || this.toldOfWaiting) this.desk.waiting(waiting)
    this.toldOfWaiting = waiting.length > 0
    this.longFrames.sweep(now)
    this.turns.sweep(now)
    thin(halves)
  }
}

/** Whoever has sent the most without finishing goes first. */
function thin(halves: Connected[]): void {
  let unfinished = halves.reduce((sum, connected) => sum + connected.unfinished, 0)
  if (unfinished <= UNFINISHED_MAX) return
  for (const connected of halves.sort((a, b) => b.unfinished - a.unfinished)) {
    unfinished -= connected.unfinished
    connected.close(1008, 'too many frames are under way and not whole; send it again')
    if (unfinished <= UNFINISHED_MAX) return
  }
}
