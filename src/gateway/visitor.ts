import type { TLSSocket } from 'node:tls'
import type { MessageChannel } from 'node:worker_threads'
import { Channel, type Bounds, type Head } from './channel.ts'
import { Guard } from './guard.ts'
import type { KnownSecrets } from './known-secrets.ts'
import type { View } from './line-messages.ts'
import { string } from './plain.ts'
import { PortStream } from './port-stream.ts'
import { BEAT_MS, PROTOCOL, SILENT_MS, TO_CORE, TO_GATEWAY } from './protocol.ts'

export interface VisitorParts {
  readonly name: string
  readonly version: string
  readonly secrets: KnownSecrets
  readonly view: () => View
  readonly makeChannel: () => MessageChannel
  /** It speaks our protocol: from here on the core may read what it says. */
  readonly arrived: (version: string, channel: MessageChannel) => void
  readonly gone: (why: string) => void
}
/** 256 heads of 16 KiB, whose every character may be written as two, and what bodies came in one turn. */
const BOUNDS: Bounds = { frameMax: 16 * 1024 * 1024, unsentMax: 64 * 1024 * 1024 }
/** While so much waits for the other side, nothing more is taken from this one. */
const WAITING_MAX = 4 * 1024 * 1024
/** Of bodies that are not answered. */
const BYTES_MAX = 64 * 1024 * 1024
/** Who does not read for so long is cut. */
const UNREAD_MS = 20_000
/** Who has shown a certificate says hello within this. */
const HELLO_MS = 5_000
const LINGER_MS = 1_000

/** One gateway of another machine, in the line's thread: what passes between it and the core passes the guard. */
export class Visitor {
  private readonly socket: TLSSocket
  private readonly parts: VisitorParts
  private readonly wire: Channel
  private readonly guard: Guard
  private inner: Channel | undefined
  private stream: PortStream | undefined
  private heardAt = performance.now()
  private behindSince: number | undefined
  private held = false
  private why: string | undefined
  private readonly began = performance.now()

  constructor(socket: TLSSocket, parts: VisitorParts) {
    this.socket = socket
    this.parts = parts
    this.guard = new Guard(parts.secrets)
    this.wire = new Channel(
      socket,
      {
        message: (head, text) => this.fromGateway(head, text),
        closed: (why) => {
          this.inner?.close(why)
          parts.gone(this.why ?? why)
        },
        drained: () => this.drained(),
      },
      BOUNDS,
    )
  }
  tell({ active, at, epoch = 0 }: View): void {
    if (this.inner !== undefined) this.wire.push([TO_GATEWAY.VIEW, -1, active ? 1 : 0, at ?? null, epoch])
  }
  /** Each says that it is there, and who was not heard is cut. Whoever we do not listen to is not missed. */
  beat(asleep: boolean): void {
    const now = performance.now()
    // Who was asleep has not heard anybody.
    if (asleep) this.heardAt = now
    if (this.inner !== undefined) this.wire.push([TO_GATEWAY.BEAT, -1])
    else if (now - this.began > HELLO_MS) this.end('it did not say hello')
    if (this.held) this.heardAt = now
    else if (now - this.heardAt > SILENT_MS + BEAT_MS) this.end('it was not heard any more')
    if (this.behindSince !== undefined && now - this.behindSince > UNREAD_MS) this.end('it does not read')
  }
  end(why: string): void {
    this.why ??= why
    this.wire.close(why)
  }

  private fromGateway(head: Head, text: Buffer | undefined): void {
    this.heardAt = performance.now()
    if (head[0] === TO_CORE.BEAT) return
    if (this.inner === undefined) {
      this.hello(head)
      return
    }
    const told = this.guard.toCore(head, text)
    if (told === undefined) return
    this.inner.push(told, text)
    if (!this.held && this.full) {
      this.held = true
      this.socket.pause()
    }
  }
  private hello([kind, , protocol, version]: Head): void {
    if (kind !== TO_CORE.HELLO) throw new TypeError('it did not say hello')
    if (protocol !== PROTOCOL) {
      this.wire.push([TO_GATEWAY.UNSUITED, -1, PROTOCOL, this.parts.version])
      this.why = `it speaks protocol ${String(protocol).slice(0, 20)}, and this core ${PROTOCOL}: upgrade one of them`
      this.finish()
      return
    }
    const told = string(version).slice(0, 40)
    const channel = this.parts.makeChannel()
    this.stream = new PortStream(channel.port1)
    this.inner = new Channel(this.stream, {
      message: (head, text) => this.toGateway(head, text),
      // The core has said all that it will say, or wants no more of this gateway.
      closed: () => this.finish(),
      drained: () => this.listenAgain(),
    })
    this.tell(this.parts.view())
    this.inner.push([TO_CORE.HELLO, -1, PROTOCOL, told])
    this.parts.arrived(told, channel)
  }
  private toGateway(head: Head, text: Buffer | undefined): void {
    const told = this.guard.toGateway(head)
    if (told !== undefined) this.wire.push(told, text)
    if (this.held) this.listenAgain()
    if (this.wire.waiting > WAITING_MAX && this.behindSince === undefined) {
      this.behindSince = performance.now()
      this.stream!.pause()
    }
  }
  /** Too much of it waits for the core. */
  private get full(): boolean {
    return this.inner!.waiting > WAITING_MAX || this.guard.bytes > BYTES_MAX
  }
  private listenAgain(): void {
    if (!this.held || this.full) return
    this.held = false
    this.heardAt = performance.now()
    this.socket.resume()
  }
  /** What was said is sent, and a little later the line ends, whether it was read or not. */
  private finish(): void {
    this.wire.finish()
    setTimeout(() => this.end('the core ended it'), LINGER_MS).unref()
  }
  private drained(): void {
    this.behindSince = undefined
    this.stream?.resume()
  }
}
