import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that one connection may have unanswered; pipelining more is refused, a total there is none. */
export const UNANSWERED_MAX = 32
/** Who sends this many beyond it in one go is not a client. */
const FLOOD = 96
/** While so many bytes wait to be read by the client, its next request waits too. */
const HOLD_BYTES = 256 * 1024
/** More than this waits for nobody. */
const WAITING_MAX = 8 * 1024 * 1024
/** However slowly it reads, the client must have caught up after this long. */
const BEHIND_MS = 120_000

/** One client's connection: what it has asked for and not got, and how it reads what it gets. */
export class Connection {
  readonly socket: Socket
  readonly address: string
  /** Requests without their whole reply, in order. */
  readonly replies = new Set<ServerResponse>()
  /** No more requests are taken; those before still get their replies. */
  over = false
  /** It is a socket now, and somebody else looks after it. */
  given = false
  /** What the parser refused, told when everything before it is answered. */
  farewell: string | undefined
  private readonly held: (() => void)[] = []
  private then: (() => void) | undefined
  private ignored = 0
  private flushed = 0
  private progressAt = 0
  private behindSince = 0

  constructor(socket: Socket, address: string) {
    this.socket = socket
    this.address = address
  }
  /** True: the request is to be carried out, now or when the client has read more. */
  take(response: ServerResponse): boolean {
    if (this.over) {
      // They came in one packet with what was refused. Too many of them would only fill memory.
      if (++this.ignored > FLOOD) this.socket.destroy()
      return false
    }
    this.replies.add(response)
    return true
  }
  get full(): boolean {
    return this.replies.size > UNANSWERED_MAX
  }
  /** Runs it now, or when the client has read what waits for it. */
  start(serve: () => void): void {
    if (this.replies.size > 1 && (this.held.length > 0 || this.waiting > HOLD_BYTES)) this.held.push(serve)
    else serve()
  }
  answered(response: ServerResponse): void {
    this.replies.delete(response)
    while (this.held.length > 0 && this.waiting <= HOLD_BYTES) this.held.shift()!()
    if (this.replies.size === 0) this.goOn()
  }
  /** Runs it when nothing is unanswered, and never where the connection ends before. */
  whenAnswered(then: () => void): void {
    this.then = then
    if (this.replies.size === 0) this.goOn()
  }
  private goOn(): void {
    const { then } = this
    this.then = undefined
    then?.()
  }
  closed(): void {
    this.then = undefined
    this.replies.clear()
    this.held.length = 0
  }
  /** Complete requests that still wait for their reply. */
  get owed(): boolean {
    for (const reply of this.replies) if (reply.req.complete) return true
    return false
  }
  /** Bytes of replies that the client has not taken yet. */
  private get waiting(): number {
    let bytes = this.socket.writableLength
    for (const reply of this.replies) if (reply.socket === null) bytes += reply.writableLength
    return bytes
  }
  /** Looked at from time to time: a client that does not read what it asked for is cut. */
  stuck(now: number, patienceMs: number): boolean {
    if (this.socket.writableLength === 0) {
      this.behindSince = 0
      return false
    }
    const flushed = taken(this.socket)
    if (this.behindSince === 0) {
      this.behindSince = now
      this.progressAt = now
    } else if (flushed !== this.flushed) this.progressAt = now
    this.flushed = flushed
    return (
      now - this.progressAt > patienceMs || now - this.behindSince > BEHIND_MS || this.waiting > WAITING_MAX
    )
  }
}

/** Bytes that left for the client. Of a long reply that is on its way the handle alone knows how far it got. */
function taken(socket: Socket): number {
  const { _handle, _bytesDispatched } = socket as Socket & {
    readonly _handle?: { readonly writeQueueSize?: number } | null
    readonly _bytesDispatched?: number
  }
  const queued = _handle?.writeQueueSize
  if (queued === undefined || _bytesDispatched === undefined)
    return socket.bytesWritten - socket.writableLength
  return _bytesDispatched - queued
}
