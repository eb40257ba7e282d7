import type { Surface } from '../docs/site.ts'

/** Both sides must be of one mind: it changes with any of what follows. */
export const PROTOCOL = 5

/** From a gateway to the core. After kind and length of the text: */
export const TO_CORE = {
  /** protocol, version of the program; these stay where they are in every protocol */
  HELLO: 0,
  /** A whole request; see `AskHead`. Its text is the body. */
  ASK: 1,
  /** The same before its body is read: answered by GO or by REPLY. */
  HEAD: 2,
  /** id, serial, fits, fault: the body of a HEAD that may go on */
  BODY: 3,
  /** id, label, message, status: the body of a HEAD can't be read */
  UNREADABLE: 4,
  /** id: the client of a HEAD went away */
  GONE: 5,
  /** id, path, ip: a page or a sign of life */
  LOOK: 6,
  /** addresses whose connection ended */
  LEFT: 7,
  /** how many clients were cut for not reading, by now; of a gateway on another machine: how many are connected */
  FIGURES: 8,
  /** level, message, fields */
  LOG: 9,
  /** It listens. */
  READY: 10,
  /** id, address, bytes: room for an unfinished body; answered by ROOM */
  HOLD: 11,
  /** address, bytes: of it, given back */
  RELEASE: 12,
  /** The answer to PING. */
  PONG: 13,
  /** socket, path, ip, channel id or null, 1 where sizes are decimal, the visitor of the console: answered by VERDICT */
  SOCKET_OPEN: 14,
  /** socket, microseconds at which it came: a frame, its text */
  SOCKET_RECEIVED: 15,
  /** socket, code */
  SOCKET_CLOSED: 16,
  /** socket, topic */
  SOCKET_BEHIND: 17,
  /** [socket, bytes] of each that has some */
  SOCKETS_WAITING: 18,
  /** The answer to PAUSE: nothing more comes until RESUME. */
  PAUSED: 19,
  /** It is there. */
  BEAT: 20,
  /** socket, microseconds at which it came, number at its door, channel, payload without req_param: its text is the req_param */
  SOCKET_CALLED: 21,
  /** number: a connection that was handed over is here; of a gateway on this machine */
  TOOK: 22,
} as const
/** From the core to a gateway. What sockets are told about a batch follows the batch's replies. */
export const TO_GATEWAY = {
  /** settings */
  WELCOME: 0,
  /** id, status, headers, 1 where the connection is to be dropped, [key, secret, serial] where one was proven */
  REPLY: 1,
  /** id */
  GO: 2,
  /** id, sight */
  SIGHT: 3,
  /** Finish what is under way, and end. */
  STOP: 4,
  /** id, bytes that are granted */
  ROOM: 5,
  /** Are you there? */
  PING: 6,
  /** socket; status, label, message where it is refused */
  VERDICT: 7,
  /** socket: a frame for it, its text */
  SOCKET_SEND: 8,
  /** socket, topic, pace */
  SOCKET_JOIN: 9,
  /** socket, topic */
  SOCKET_LEAVE: 10,
  /** topic, 1 where it must not be left out: a frame for all that joined, its text */
  PUBLISH: 11,
  /** socket, topic: a whole picture, its text */
  SOCKET_RESTART: 12,
  /** socket, code, reason */
  SOCKET_CLOSE: 13,
  /** socket */
  SOCKET_CUT: 14,
  /** code, reason */
  SOCKETS_CLOSE: 15,
  /** topic: frames of it were left out, because too much was waiting for this gateway */
  MISSED: 16,
  /** 1 where this core is the active one, the address of that one or null, its epoch: to gateways on other machines, as all that follow */
  VIEW: 17,
  /** Send nothing more, and hold what comes: the core moves, or stops. What was sent is answered. */
  PAUSE: 18,
  /** It stays after all. */
  RESUME: 19,
  /** It is there. */
  BEAT: 20,
  /** protocol, version of the program: they do not fit, and the line ends; these stay where they are in every protocol */
  UNSUITED: 21,
  /** socket, client_id, ids */
  SOCKET_NAME: 22,
  /** socket, number of the call, the platform's time, its limits where it has some */
  SOCKET_ACKNOWLEDGE: 23,
  /** socket, number of the call, the platform's time, status, copies, its limits where it has some: its text is the data */
  SOCKET_ANSWER: 24,
} as const

/** Requests, pages and handshakes of sockets that a gateway on another machine may have unanswered; it keeps to it by itself. */
export const UNANSWERED_MAX = 16_384
/** Sockets that it may have. */
export const SOCKETS_MAX = 65_536
/** Both sides of a line between machines say so often that they are there, */
export const BEAT_MS = 500
/** and whoever was not heard for so long is gone. */
export const SILENT_MS = 4_000

/** What a gateway must know; nothing of it is secret. */
export interface Settings {
  readonly mode: 'sandbox' | 'live'
  readonly surface: Surface
  readonly host: string
  readonly hosts: readonly string[]
  readonly cors: readonly string[]
  readonly trustProxy: number
  readonly requestMs: number
  /** Bytes that may wait on one socket. */
  readonly socketQueue: number
  readonly rateLimits: number | null
  readonly version: string
}
/** A request, in the order of the members that follow kind and length. */
export type AskHead = [
  kind: number,
  length: number,
  id: number,
  method: string,
  path: string,
  rawQuery: string,
  ip: string,
  inTime: number,
  /** 1: a body comes with it. */
  hasBody: number,
  headers: Record<string, string>,
  /** 0: the signature was not looked at. */
  serial: number,
  fits: number,
  fault: unknown,
]
