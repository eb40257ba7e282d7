import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { microsNow } from '../http/words.ts'
import { FrameRate } from './frame-rate.ts'
import type { Called } from './line.ts'
import { Outbox, type Bounds, type Owner } from './outbox.ts'
import type { Waiter } from './turns.ts'
import { plainCallIn, WaitingCalls } from './waiting-calls.ts'

export interface Times {
  /** After so long without a frame the client is asked for one, */
  readonly pingMs: number
  /** and after so long it is gone. */
  readonly silentMs: number
  /** A frame that has been waiting for so long: the reader is cut. */
  readonly patienceMs: number
  /** What waits before a close must be gone after so long, */
  readonly closeMs: number
  /** and the client's answer must have come. */
  readonly handshakeMs: number
  readonly sweepMs: number
}
export const TIMES: Times = {
  pingMs: 20_000,
  silentMs: 60_000,
  patienceMs: 30_000,
  closeMs: 1_000,
  handshakeMs: 5_000,
  sweepMs: 1_000,
}

/** Who is told of what happens on a connection. */
export interface Told extends Pick<Owner, 'dirty' | 'behind'> {
  received(text: string): void
  called(call: Called, at: number): void
  /** A text frame of so many bytes has come. False: that is too much of its address. */
  weighed(bytes: number, now: number): boolean
  /** A text frame may be handed on. False: others of its address come first. */
  passes(now: number): boolean
  /** Something else has come, and is done with. False: what comes next must wait. */
  owes(now: number): boolean
  /** It is held back until its turn comes. */
  waits(waiter: Waiter, now: number): void
  /** It closes; from here on it gets nothing more. */
  ending(): void
  gone(code: number): void
}

/**
 * Who was held back has sent more than was read: what he sent in many seconds comes in one, when it is his turn, and he
 * is not cut for that within so long.
 */
const EXCUSED_MS = 10_000
/** Of a connection; more than clients' frames are in what is read at once. */
const HELD_MAX = 2_048

/** One connection: what comes in, how long it has been silent, and how it ends. */
export class Connected implements Owner, Waiter {
  readonly outbox: Outbox
  readonly topics = new Set<number>()
  /** Undefined: nothing was called on it. */
  calls: WaitingCalls | undefined
  private readonly ws: WebSocket
  private readonly socket: Socket
  private readonly framesMax: number
  private readonly times: Times
  private readonly told: Told
  private rate: FrameRate | undefined
  private heardAt = performance.now()
  /** Frames that wait for their turn; undefined: it is not held back. */
  private held: string[] | undefined
  private heldAt = -Infinity
  private pingedAt = 0
  private readUpTo: number
  /** The code with which this side closes, or refused what came. */
  private code: number | undefined
  private reason = ''
  private closingSince: number | undefined
  private sentClose = false

  constructor(ws: WebSocket, socket: Socket, bounds: Bounds, framesMax: number, times: Times, told: Told) {
    this.ws = ws
    this.socket = socket
    this.readUpTo = socket.bytesRead
    this.framesMax = framesMax
    this.times = times
    this.told = told
    this.outbox = new Outbox(ws, socket, bounds, this)
    socket.on('drain', this.outbox.drained)
    ws.on('message', this.message)
    ws.on('ping', this.beaten)
    ws.on('pong', this.beaten)
    ws.on('error', this.broken)
    ws.on('close', this.closed)
  }
  get ending(): boolean {
    return this.closingSince !== undefined
  }
  /** Bytes of a frame that is under way, about. */
  get unfinished(): number {
    return this.socket.bytesRead - this.readUpTo
  }
  /** When all that waits is sent, or can't be in time. */
  close(code: number, reason: string): void {
    if (!this.end(code, reason)) return
    this.outbox.end(this.sayGoodbye)
  }
  /** And nothing more is read: it sends what never ends. */
  refuse(code: number, reason: string): void {
    this.close(code, reason)
    this.ws.pause()
  }
  terminate(code: number): void {
    this.code ??= code
    this.end(code, '')
    this.ws.terminate()
  }
  /** From time to time. */
  look(now: number): void {
    const { pingMs, silentMs, patienceMs, closeMs, handshakeMs } = this.times
    if (this.closingSince !== undefined) {
      const since = now - this.closingSince
      if (since > closeMs + handshakeMs) this.ws.terminate()
      else if (since > closeMs && !this.sentClose) {
        this.outbox.drop()
        this.sayGoodbye()
      }
      return
    }
    if (this.ws.readyState !== this.ws.OPEN) {
      // The client closes, and `ws` has answered.
      this.sentClose = true
      this.closingSince = now
      this.outbox.drop()
      this.told.ending()
      return
    }
    const silent = now - this.heardAt
    if (silent > silentMs) this.terminate(1006)
    else if (this.outbox.age(now) > patienceMs) this.overflow(this.outbox.waiting)
    else if (silent > pingMs && now - this.pingedAt > pingMs) {
      this.pingedAt = now
      this.ws.ping()
    }
  }

  dirty(outbox: Outbox): void {
    this.told.dirty(outbox)
  }
  behind(topic: number): void {
    this.told.behind(topic)
  }
  overflow(waiting: number): void {
    if (!this.end(1013, `slow consumer: ${waiting} bytes waiting`)) return
    // What it does not read it will not get, and this alone is still told.
    this.outbox.drop()
    this.sayGoodbye()
  }

  /** False: it is closing already. */
  private end(code: number, reason: string): boolean {
    if (this.closingSince !== undefined) return false
    this.closingSince = performance.now()
    this.code ??= code
    this.reason = reason
    if (this.held !== undefined) this.readOn()
    this.told.ending()
    return true
  }
  private readonly sayGoodbye = (): void => {
    if (this.sentClose) return
    this.sentClose = true
    this.ws.close(this.code, this.reason)
  }
  private readonly message = (data: RawData, binary: boolean): void => {
    this.heard()
    // Who waited for his turn is counted when it comes.
    if (this.heardAt - this.heldAt > EXCUSED_MS) this.count()
    if (this.closingSince !== undefined) return
    const bytes = data as Buffer
    if (binary) this.close(1003, 'text frames alone are read')
    else if (!this.told.weighed(bytes.length, this.heardAt))
      this.refuse(1008, 'TOO_MANY_REQUESTS: too much in long frames from this address')
    else if (this.held !== undefined) this.keep(this.held, bytes)
    else if (this.told.passes(this.heardAt)) this.take(bytes.toString())
    else this.keep(this.holdBack(), bytes)
  }
  /** Pings and pongs are done with where they are read. */
  private readonly beaten = (): void => {
    this.heard()
    this.count()
    if (this.closingSince === undefined && !this.told.owes(this.heardAt) && this.held === undefined)
      this.holdBack()
  }
  private holdBack(): string[] {
    this.held = []
    this.heldAt = this.heardAt
    this.ws.pause()
    this.told.waits(this, this.heardAt)
    return this.held
  }
  /** What was read along with the frame that had to wait. */
  private keep(held: string[], frame: Buffer): void {
    held.push(frame.toString())
    if (held.length > HELD_MAX) this.close(1008, 'TOO_MANY_REQUESTS: too many short frames from this address')
  }
  handOn(now: number): boolean {
    const { held } = this
    if (held === undefined || this.closingSince !== undefined) return false
    this.heldAt = this.heardAt = now
    const text = held.shift()
    if (text !== undefined) this.take(text)
    this.outbox.weigh()
    if (held.length > 0) return true
    if (this.held !== undefined) this.readOn()
    return false
  }
  private readOn(): void {
    if (this.held !== undefined) this.held.length = 0
    this.held = undefined
    this.ws.resume()
  }
  private take(text: string): void {
    const call = plainCallIn(text)
    if (call === undefined) this.told.received(text)
    else {
      const at = microsNow()
      this.told.called((this.calls ??= new WaitingCalls()).add(call, at), at)
    }
  }
  private readonly heard = (): void => {
    const now = performance.now()
    this.heardAt = now
    this.readUpTo = this.socket.bytesRead
    // Who asks for answers without reading them.
    if (this.closingSince === undefined) this.outbox.weigh()
  }
  private count(): void {
    if (this.closingSince !== undefined || this.framesMax === Infinity) return
    if ((this.rate ??= new FrameRate()).count(this.heardAt) > this.framesMax)
      this.close(1008, `TOO_MANY_REQUESTS: over ${this.framesMax} frames in a second`)
  }
  /** What `ws` refuses it closes by itself. */
  private readonly broken = (error: Error & { readonly code?: string }): void => {
    this.code ??= CODES[error.code ?? ''] ?? (error.code?.startsWith('WS_ERR_') === true ? 1002 : 1006)
    this.sentClose = true
    if (this.end(this.code, '')) this.outbox.drop()
  }
  private readonly closed = (code: number): void => {
    this.end(code, '')
    this.outbox.drop()
    this.told.gone(this.code ?? code)
  }
}

const CODES: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
}
