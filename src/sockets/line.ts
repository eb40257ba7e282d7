import type { SocketVisitor } from '../api/sessions.ts'

/**
 * The line between the doors, where sockets are (the core's process, or a gateway), and the desk beside the core, which
 * decides everything. What goes over it is plain, so that it travels the same within a process and between two, and
 * each direction keeps its order. A socket's number is its door's own.
 */

/** What a socket's handshake told. */
export interface Handshake {
  /** Without its query. */
  readonly path: string
  readonly ip: string
  /** X-Gate-Channel-Id, in either spelling. */
  readonly channelId: string | null
  /** X-Gate-Size-Decimal: 1, in either spelling. */
  readonly sizeDecimal: boolean
  /** At the console's addresses alone. */
  readonly visitor: SocketVisitor | null
}
/** Whether it may go on; a refusal is answered as REST would. */
export type Verdict =
  | { readonly accepted: true }
  | {
      readonly accepted: false
      readonly status: number
      readonly label: string
      readonly message: string
    }

/**
 * How the frames of a topic bear a reader who is slow: `each` of them is sent or the reader is cut, the `newest` one is
 * enough, or they are `delta`s, and he who missed one needs a whole picture.
 */
export type Pace = 'each' | 'newest' | 'delta'

/** A call of the trading API that its door has read, and keeps until it is answered. */
export interface Called {
  /** The door's own, of this socket. */
  readonly n: number
  readonly channel: string
  /** `req_param` is read already where desk and door are of one process; else it is read from `param`. */
  readonly payload: Readonly<Record<string, unknown>>
  /** The source text of its req_param. */
  readonly param: string | undefined
}
/** What is left of a window, how much goes into it, and when it is reset (ms); undefined: no window counts it. */
export type CallLimits = readonly [remain: number, limit: number, resetMs: number] | undefined

/** What came of a call. */
export interface CallAnswer {
  /** The door's number of it. */
  readonly n: number
  /** The platform's time, in microseconds. */
  readonly now: number
  readonly limits: CallLimits
  readonly status: number
  /** JSON. */
  readonly data: string
  /** So many are sent, mostly one. */
  readonly copies: number
}

/** What a door tells the desk. */
export interface ToDesk {
  /** Before the upgrade. From `accepted` on the desk knows the socket, until `closed`. */
  open(socket: number, handshake: Handshake): Verdict | Promise<Verdict>
  /** A text frame, read whole; `at` in microseconds of real time. */
  received(socket: number, text: string, at: number): void
  /** A frame that is a call, and nothing else: answered by `answer`, and before that by `acknowledge` where it has one. */
  called(socket: number, call: Called, at: number): void
  /** It is gone, with this code, or never came to be. */
  closed(socket: number, code: number): void
  /** Frames of this topic were left out; the reader has room again and needs a whole picture: answered by `restart`. */
  behind(socket: number, topic: number): void
  /** From time to time: of every socket that has some, how many bytes wait to be sent. */
  waiting(bytes: readonly (readonly [socket: number, bytes: number])[]): void
  /** The door is gone, and all its sockets. */
  gone(): void
}

/** What the desk tells a door. Of sockets that are gone nothing happens. */
export interface ToDoor {
  /** To one socket, in order, never left out. */
  send(socket: number, text: string): void
  /** What the frames of calls say of this connection; before the first of them. */
  name(socket: number, clientId: string, ids: string): void
  /** The call was received: the door makes the frame. `now` is the platform's time, in microseconds. */
  acknowledge(socket: number, n: number, now: number, limits: CallLimits): void
  /** What came of it; the door makes the frame, and forgets the call. */
  answer(socket: number, answer: CallAnswer): void
  /** From here on the socket gets what is published under this topic. */
  join(socket: number, topic: number, pace: Pace): void
  leave(socket: number, topic: number): void
  /**
   * To all sockets of this door that joined: made once, the same bytes for all. `kept`: not left out either where the
   * topic's pace would allow it; an older frame that waits for room goes instead.
   */
  publish(topic: number, text: string, kept?: boolean): void
  /** A whole picture for one who was behind, and from here on what is published. */
  restart(socket: number, topic: number, text: string): void
  close(socket: number, code: number, reason: string): void
  /** Without a close handshake: a fault that was asked for. */
  cut(socket: number): void
  /** Every socket: first this text made for it (the desk sends it), then close 1001, when all that waits is sent, within a second. */
  closeAll(code: number, reason: string): void
}

/** What the doors are given: how a door announces itself. */
export type Attach = (door: ToDoor) => ToDesk
