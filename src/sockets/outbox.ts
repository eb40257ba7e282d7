import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Pace } from './line.ts'

/** As in the WebSocket API. */
const OPEN = 1

/** What may wait to be sent on one connection. */
export interface Bounds {
  /** Over so many bytes the reader is cut. */
  readonly bytes: number
  /** From so many on what can be left out is left out. */
  readonly merge: number
}
export const boundsOf = (bytes: number): Bounds => ({ bytes, merge: Math.floor(bytes / 8) })

/** So many bytes are handed to the system at a time; what is behind them can still be taken back. */
const HANDED_MAX = 256 * 1024
/** Whole pictures that are asked for at a time: each may be long. */
const ASKED_MAX = 8

/** One socket in one topic. */
export interface Member {
  readonly outbox: Outbox
  readonly topic: number
  readonly pace: Pace
  /** Frames were left out, and a whole picture has not come yet. */
  behind: boolean
}
export interface Owner {
  /** Something was written in this turn: `flush` is called at its end. */
  dirty(outbox: Outbox): void
  /** There is room again, and this topic needs a whole picture. */
  behind(topic: number): void
  /** More waits than may. */
  overflow(waiting: number): void
}

/** What is on its way to one socket: handed to the system, queued behind that, or held back for room. */
export class Outbox {
  private readonly ws: WebSocket
  private readonly socket: Socket
  private readonly owner: Owner
  private readonly bounds: Bounds
  private readonly merge: number
  private readonly handedMax: number
  /** Frames of this turn, which leave together at its end: mostly there is one. */
  private first: Buffer | undefined
  private others: Buffer[] | undefined
  private gathered = 0
  private shut = false
  /** Frames behind what was handed over, each with the time at which it came; undefined: none. */
  private queue: { readonly frame: Buffer; readonly at: number }[] | undefined
  private sent = 0
  private queued = 0
  /** Frames of which the newest is enough, until there is room. */
  private held: Map<number, Buffer> | undefined
  private heldBytes = 0
  /** Topics that need a whole picture, until there is room. */
  private missed: Map<number, Member> | undefined
  private asked: Set<number> | undefined
  /** What had been handed over at this time has not left since. */
  private mark: { readonly at: number; readonly bytes: number } | undefined
  /** Is called when nothing is queued any more. */
  private drain: (() => void) | undefined

  constructor(ws: WebSocket, socket: Socket, bounds: Bounds, owner: Owner) {
    this.ws = ws
    this.socket = socket
    this.bounds = bounds
    this.owner = owner
    // Below this mark nobody tells when there is room again.
    this.merge = Math.max(socket.writableHighWaterMark, bounds.merge)
    this.handedMax = Math.min(this.merge, HANDED_MAX)
  }
  get waiting(): number {
    return this.handed + this.queued + this.heldBytes
  }
  /** Never left out. */
  send(frame: Buffer): void {
    // Behind a close frame nothing may follow.
    if (this.shut || this.ws.readyState !== OPEN) return
    if (this.queue === undefined && this.handed < this.handedMax) this.hand(frame)
    else this.enqueue(frame)
  }
  /** As the pace of its topic says. */
  publish(member: Member, frame: Buffer, kept: boolean): void {
    const { pace, topic } = member
    if (pace === 'each') this.send(frame)
    else if (pace === 'newest') {
      const roomy = this.roomy
      if (this.held !== undefined && (kept || roomy)) this.letGo(topic)
      if (kept || roomy) this.send(frame)
      else this.hold(topic, frame)
    } else if (member.behind) return
    else if (kept || this.roomy) this.send(frame)
    else this.miss(member)
  }
  /** A frame of this topic does not come: if it was a delta, the next ones are of no use. */
  miss(member: Member): void {
    if (member.pace !== 'delta' || member.behind) return
    this.putOff(member)
    this.catchUp()
  }
  /** A whole picture for one who was behind. */
  restart(member: Member, frame: Buffer): void {
    this.asked?.delete(member.topic)
    if (this.shut) return
    if (this.roomy) {
      this.missed?.delete(member.topic)
      member.behind = false
      this.send(frame)
    } else this.putOff(member)
    this.catchUp()
  }
  leave(topic: number): void {
    this.letGo(topic)
    this.missed?.delete(topic)
    if (this.asked?.delete(topic) === true) this.catchUp()
  }
  /** Nothing more is taken; `then` when everything before it was handed over. */
  end(then: () => void): void {
    this.shut = true
    this.drain = then
    this.held = undefined
    this.heldBytes = 0
    this.missed = undefined
    this.asked = undefined
    if (this.queue === undefined) this.drained()
  }
  /** Nothing more is taken, and what is not handed over is thrown away. */
  drop(): void {
    this.queue = undefined
    this.queued = 0
    this.first = this.others = undefined
    this.gathered = 0
    this.end(() => undefined)
  }
  /** The end of the turn in which something was written. */
  flush(): void {
    this.write()
    if (this.socket.writableNeedDrain || !this.hasMore) return
    // The system took it all at once: of that nobody tells.
    this.drained()
  }
  private write(): void {
    const { first, others, socket } = this
    if (first === undefined) return
    this.first = this.others = undefined
    this.gathered = 0
    // Not behind a close frame.
    if (this.ws.readyState !== OPEN) return
    if (others === undefined) socket.write(first)
    else {
      socket.cork()
      socket.write(first)
      for (const frame of others) socket.write(frame)
      socket.uncork()
    }
  }
  /** What was handed over has left. */
  readonly drained = (): void => {
    this.refill()
    this.catchUp()
    if (this.queue !== undefined || this.drain === undefined) return
    this.write()
    const { drain } = this
    this.drain = undefined
    drain()
  }
  /** Looked at from time to time: for how long has the oldest frame been waiting? */
  age(now: number): number {
    const { socket } = this
    const length = socket.writableLength
    if (length === 0) this.mark = undefined
    else {
      const handed = socket.bytesWritten
      if (this.mark === undefined || handed - length >= this.mark.bytes)
        this.mark = { at: now, bytes: handed }
    }
    const oldest = this.queue?.[this.sent]?.at ?? now
    return now - Math.min(oldest, this.mark?.at ?? now)
  }

  private putOff(member: Member): void {
    member.behind = true
    ;(this.missed ??= new Map()).set(member.topic, member)
  }
  /** Whether something waits for room. */
  private get hasMore(): boolean {
    return (
      this.queue !== undefined ||
      this.held !== undefined ||
      this.missed !== undefined ||
      this.drain !== undefined
    )
  }
  private get roomy(): boolean {
    return this.handed + this.queued < this.merge
  }
  private get handed(): number {
    return this.socket.writableLength + this.gathered
  }
  private hand(frame: Buffer): void {
    this.gathered += frame.length
    if (this.first === undefined) {
      this.first = frame
      this.owner.dirty(this)
    } else (this.others ??= []).push(frame)
  }
  private enqueue(frame: Buffer): void {
    ;(this.queue ??= []).push({ frame, at: performance.now() })
    this.queued += frame.length
    this.weigh()
  }
  private hold(topic: number, frame: Buffer): void {
    this.letGo(topic)
    ;(this.held ??= new Map()).set(topic, frame)
    this.heldBytes += frame.length
    this.weigh()
  }
  private letGo(topic: number): void {
    const frame = this.held?.get(topic)
    if (frame === undefined) return
    this.held!.delete(topic)
    this.heldBytes -= frame.length
  }
  /** More than may wait? */
  weigh(): void {
    const { waiting } = this
    if (waiting > this.bounds.bytes) this.owner.overflow(waiting)
  }
  private refill(): void {
    do {
      this.take()
      this.write()
    } while (this.queue !== undefined && !this.socket.writableNeedDrain)
  }
  private take(): void {
    const { queue } = this
    if (queue === undefined) return
    while (this.sent < queue.length && this.handed < this.handedMax) {
      const { frame } = queue[this.sent++]!
      this.queued -= frame.length
      this.hand(frame)
    }
    if (this.sent === queue.length) {
      this.queue = undefined
      this.sent = 0
    } else if (this.sent > 1_000) {
      queue.splice(0, this.sent)
      this.sent = 0
    }
  }
  /** There may be room for what was held back. */
  private catchUp(): void {
    if (this.shut) return
    if (this.held !== undefined) {
      for (const [topic, frame] of this.held) {
        if (!this.roomy) return
        this.letGo(topic)
        this.send(frame)
      }
      this.held = undefined
    }
    const { missed } = this
    if (missed === undefined) return
    const asked = (this.asked ??= new Set())
    for (const topic of missed.keys()) {
      if (!this.roomy || asked.size >= ASKED_MAX) return
      missed.delete(topic)
      asked.add(topic)
      this.owner.behind(topic)
    }
    if (this.missed === missed && missed.size === 0) this.missed = undefined
  }
}
