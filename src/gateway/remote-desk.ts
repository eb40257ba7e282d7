import type { SocketDoor } from '../sockets/door.ts'
import type { Attach, Called, CallLimits, Handshake, Pace, ToDesk, Verdict } from '../sockets/line.ts'
import type { Channel, Head } from './channel.ts'
import { TO_CORE, TO_GATEWAY } from './protocol.ts'

const AWAY: Verdict = {
  accepted: false,
  status: 503,
  label: 'TOO_BUSY',
  message: 'the platform is away for a moment; connect again in a second',
}

/** A gateway's end of the line to the desk: what its door says goes to the core, and what the desk says comes back. */
export class RemoteDesk implements ToDesk {
  private readonly channel: Channel
  private readonly judging = new Map<number, (verdict: Verdict) => void>()
  private door: SocketDoor | undefined
  /** The core wants to hear nothing more; whoever said something is closed, and so told. */
  resting = false

  constructor(channel: Channel) {
    this.channel = channel
  }
  readonly attach: Attach = (door) => {
    this.door = door as SocketDoor
    return this
  }
  open(socket: number, { path, ip, channelId, sizeDecimal, visitor }: Handshake): Promise<Verdict> {
    if (this.channel.closed) return Promise.resolve(AWAY)
    return new Promise((resolve) => {
      this.judging.set(socket, resolve)
      const head: Head = [TO_CORE.SOCKET_OPEN, -1, socket, path, ip, channelId, sizeDecimal ? 1 : 0]
      if (visitor !== null) head.push(visitor)
      this.channel.push(head)
    })
  }
  received(socket: number, text: string, at: number): void {
    if (!this.resting) this.channel.push([TO_CORE.SOCKET_RECEIVED, -1, socket, at], text)
  }
  called(socket: number, { n, channel, payload, param }: Called, at: number): void {
    if (this.resting) return
    const { req_param: _, ...beside } = payload
    this.channel.push([TO_CORE.SOCKET_CALLED, -1, socket, at, n, channel, beside], param)
  }
  closed(socket: number, code: number): void {
    this.channel.push([TO_CORE.SOCKET_CLOSED, -1, socket, code])
  }
  behind(socket: number, topic: number): void {
    this.channel.push([TO_CORE.SOCKET_BEHIND, -1, socket, topic])
  }
  waiting(bytes: readonly (readonly [number, number])[]): void {
    this.channel.push([TO_CORE.SOCKETS_WAITING, -1, ...bytes])
  }
  /** Handshakes that the core has still to decide about. */
  get unjudged(): number {
    return this.judging.size
  }
  /** The core is gone. */
  lost(): void {
    for (const tell of this.judging.values()) tell(AWAY)
    this.judging.clear()
  }
  /** With this process its connection to the core goes, and that says it. */
  gone(): void {}

  /** False: the message is none of these. */
  message(head: Head, text: Buffer | undefined): boolean {
    const door = this.door!
    const [kind, , first, second, third] = head as [number, number, number, number, string]
    switch (kind) {
      case TO_GATEWAY.PUBLISH:
        door.publish(first, text!, second === 1)
        return true
      case TO_GATEWAY.SOCKET_SEND:
        door.send(first, text!)
        return true
      case TO_GATEWAY.SOCKET_ANSWER:
        this.answer(head, text)
        return true
      case TO_GATEWAY.SOCKET_ACKNOWLEDGE:
        door.acknowledge(first, second, head[4] as number, limitsIn(head, 5))
        return true
      case TO_GATEWAY.SOCKET_NAME:
        door.name(first, String(second), third)
        return true
      case TO_GATEWAY.SOCKET_JOIN:
        door.join(first, second, third as Pace)
        return true
      case TO_GATEWAY.SOCKET_LEAVE:
        door.leave(first, second)
        return true
      case TO_GATEWAY.SOCKET_RESTART:
        door.restart(first, second, text!)
        return true
      case TO_GATEWAY.MISSED:
        door.missed(first)
        return true
      case TO_GATEWAY.SOCKET_CLOSE:
        door.close(first, second, third)
        return true
      case TO_GATEWAY.SOCKET_CUT:
        door.cut(first)
        return true
      case TO_GATEWAY.SOCKETS_CLOSE:
        door.closeAll(first, String(head[3]))
        return true
      case TO_GATEWAY.VERDICT:
        this.judged(head)
        return true
      default:
        return false
    }
  }
  private answer(head: Head, data: Buffer | undefined): void {
    const [, , socket, n, now, status, copies] = head as [number, number, ...number[]]
    this.door!.answer(socket!, {
      n: n!,
      now: now!,
      limits: limitsIn(head, 7),
      status: status!,
      data: data!.toString(),
      copies: copies!,
    })
  }
  private judged([, , socket, status, label, message]: Head): void {
    const tell = this.judging.get(socket as number)
    this.judging.delete(socket as number)
    tell?.(
      status === undefined
        ? { accepted: true }
        : {
            accepted: false,
            status: status as number,
            label: label as string,
            message: message as string,
          },
    )
  }
}

/** They are the last members, where there are any. */
const limitsIn = (head: Head, from: number): CallLimits =>
  head.length > from ? (head.slice(from) as unknown as CallLimits) : undefined
