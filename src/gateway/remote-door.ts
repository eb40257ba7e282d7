import type { SocketVisitor } from '../api/sessions.ts'
import type {
  Attach,
  CallAnswer,
  CallLimits,
  Handshake,
  Pace,
  ToDesk,
  ToDoor,
  Verdict,
} from '../sockets/line.ts'
import type { Channel, Head } from './channel.ts'
import { number, record, string } from './plain.ts'
import { TO_CORE, TO_GATEWAY } from './protocol.ts'

/** While so much waits for a gateway, what can be left out of the streams is left out. */
const WAITING_MAX = 4 * 1024 * 1024

interface Topic {
  readonly pace: Pace
  readonly sockets: Set<number>
}
/**
 * The core's end of the line to a gateway's sockets. A gateway that can't keep up with what is published must not
 * make its REST replies late or fill memory here: as a slow reader does, it gets the newest alone, and whole pictures
 * afterwards.
 */
export class RemoteDoor implements ToDoor {
  private readonly channel: Channel
  private readonly desk: ToDesk
  private readonly topics = new Map<number, Topic>()
  private readonly held = new Map<number, string>()
  private readonly missed = new Set<number>()
  private readonly known = new Map<number, Set<number>>()
  private over = false

  constructor(channel: Channel, attach: Attach) {
    this.channel = channel
    this.desk = attach(this)
  }
  send(socket: number, text: string): void {
    this.channel.push([TO_GATEWAY.SOCKET_SEND, -1, socket], text)
  }
  name(socket: number, clientId: string, ids: string): void {
    this.channel.push([TO_GATEWAY.SOCKET_NAME, -1, socket, clientId, ids])
  }
  acknowledge(socket: number, n: number, now: number, limits: CallLimits): void {
    const head: Head = [TO_GATEWAY.SOCKET_ACKNOWLEDGE, -1, socket, n, now]
    if (limits !== undefined) head.push(...limits)
    this.channel.pushAlong(head)
  }
  answer(socket: number, { n, now, limits, status, data, copies }: CallAnswer): void {
    const head: Head = [TO_GATEWAY.SOCKET_ANSWER, -1, socket, n, now, status, copies]
    if (limits !== undefined) head.push(...limits)
    this.channel.push(head, data)
  }
  join(socket: number, topic: number, pace: Pace): void {
    const own = this.known.get(socket)
    if (own === undefined) return
    own.add(topic)
    let known = this.topics.get(topic)
    if (known === undefined) this.topics.set(topic, (known = { pace, sockets: new Set() }))
    known.sockets.add(socket)
    this.channel.push([TO_GATEWAY.SOCKET_JOIN, -1, socket, topic, pace])
  }
  leave(socket: number, topic: number): void {
    if (this.known.get(socket)?.delete(topic) !== true) return
    this.part(socket, topic)
    this.channel.push([TO_GATEWAY.SOCKET_LEAVE, -1, socket, topic])
  }
  publish(topic: number, text: string, kept = false): void {
    const known = this.topics.get(topic)
    // Nobody there listens.
    if (known === undefined) return
    if (known.pace === 'each' || this.roomy) {
      this.tellMissed(topic)
      this.pass(topic, text, kept)
    } else if (known.pace === 'delta') this.missed.add(topic)
    else if (kept) this.pass(topic, text, kept)
    else this.held.set(topic, text)
  }
  restart(socket: number, topic: number, text: string): void {
    this.channel.push([TO_GATEWAY.SOCKET_RESTART, -1, socket, topic], text)
  }
  close(socket: number, code: number, reason: string): void {
    this.channel.push([TO_GATEWAY.SOCKET_CLOSE, -1, socket, code, reason])
  }
  cut(socket: number): void {
    this.channel.push([TO_GATEWAY.SOCKET_CUT, -1, socket])
  }
  closeAll(code: number, reason: string): void {
    this.channel.push([TO_GATEWAY.SOCKETS_CLOSE, -1, code, reason])
  }
  /** The gateway has read what waited for it. */
  caughtUp(): void {
    for (const [topic, text] of this.held) this.pass(topic, text, false)
    for (const topic of this.missed) this.tellMissed(topic)
  }
  /** The gateway is gone. */
  gone(): void {
    if (this.over) return
    this.over = true
    this.desk.gone()
  }

  /** False: the message is none of these. */
  message(head: Head, text: Buffer | undefined): boolean {
    switch (head[0]) {
      case TO_CORE.SOCKET_RECEIVED:
        this.desk.received(number(head[2]), (text ?? '').toString(), number(head[3]))
        return true
      case TO_CORE.SOCKET_CALLED:
        this.called(head, text)
        return true
      case TO_CORE.SOCKET_OPEN:
        this.open(head)
        return true
      case TO_CORE.SOCKET_CLOSED:
        this.closed(number(head[2]))
        this.desk.closed(number(head[2]), number(head[3]))
        return true
      case TO_CORE.SOCKET_BEHIND:
        // Of what it does not listen to it is told nothing.
        if (this.known.get(number(head[2]))?.has(number(head[3])) === true)
          this.desk.behind(number(head[2]), number(head[3]))
        return true
      case TO_CORE.SOCKETS_WAITING:
        this.desk.waiting(head.slice(2) as [number, number][])
        return true
      default:
        return false
    }
  }
  private called([, , socket, at, n, channel, beside]: Head, text: Buffer | undefined): void {
    const param = text?.toString()
    const payload = record(beside) as Record<string, unknown>
    if (param !== undefined) payload['req_param'] = JSON.parse(param)
    this.desk.called(number(socket), { n: number(n), channel: string(channel), payload, param }, number(at))
  }
  private tellMissed(topic: number): void {
    if (this.missed.delete(topic)) this.channel.push([TO_GATEWAY.MISSED, -1, topic])
  }
  private get roomy(): boolean {
    return this.channel.waiting < WAITING_MAX
  }
  private pass(topic: number, text: string, kept: boolean): void {
    this.held.delete(topic)
    this.channel.push([TO_GATEWAY.PUBLISH, -1, topic, kept ? 1 : 0], text)
  }
  private open([, , socket, path, ip, channelId, sizeDecimal, visitor]: Head): void {
    const id = number(socket)
    if (this.known.has(id)) throw new TypeError(`socket ${id} is there already`)
    const handshake: Handshake = {
      path: string(path),
      ip: string(ip),
      channelId: channelId === null ? null : string(channelId),
      sizeDecimal: sizeDecimal === 1,
      visitor: visitor === undefined ? null : visitorOf(record(visitor)),
    }
    this.known.set(id, new Set())
    const verdict = this.desk.open(id, handshake)
    if (verdict instanceof Promise) void verdict.then((verdict) => this.judged(id, verdict))
    else this.judged(id, verdict)
  }
  private judged(socket: number, verdict: Verdict): void {
    if (verdict.accepted) this.channel.push([TO_GATEWAY.VERDICT, -1, socket])
    else {
      this.known.delete(socket)
      const { status, label, message } = verdict
      this.channel.push([TO_GATEWAY.VERDICT, -1, socket, status, label, message])
    }
  }
  private closed(socket: number): void {
    for (const topic of this.known.get(socket) ?? []) this.part(socket, topic)
    this.known.delete(socket)
  }
  private part(socket: number, topic: number): void {
    const known = this.topics.get(topic)
    known?.sockets.delete(socket)
    if (known?.sockets.size !== 0) return
    this.topics.delete(topic)
    this.held.delete(topic)
    this.missed.delete(topic)
  }
}

function visitorOf({ cookie, host, origin, site, account }: Record<string, unknown>): SocketVisitor {
  const told = (value: unknown): string | null => (value === null ? null : string(value))
  return {
    cookie: told(cookie),
    host: told(host),
    origin: told(origin),
    site: told(site),
    account: told(account),
  }
}
