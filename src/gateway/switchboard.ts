import type { Duplex } from 'node:stream'
import type { Checked, Passage, ReadFault } from '../api/passage.ts'
import type { Pipeline } from '../api/pipeline.ts'
import type { Sight } from '../docs/sights.ts'
import type { BodyRoom } from '../http/bodies.ts'
import type { PlainReply } from '../http/exchange.ts'
import { LABELS, Refusal, type Label } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import type { Attach } from '../sockets/line.ts'
import type { Breath } from './breath.ts'
import { Channel, type Bounds, type Head } from './channel.ts'
import { number, record, string } from './plain.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY, type AskHead, type Settings } from './protocol.ts'
import { RemoteDoor } from './remote-door.ts'

export interface SwitchboardParts {
  readonly pipeline: Pipeline
  readonly look: (path: string, ip: string) => Sight
  readonly settings: Settings
  readonly room: BodyRoom
  /** How its sockets find the desk. */
  readonly attach: Attach
  /** Between its frames and those of others. */
  readonly breath?: Breath | undefined
  readonly log: Log
  readonly ready: () => void
  readonly left: (address: string) => void
  /** It has got a connection that was handed to it. */
  readonly took?: (number: number) => void
  readonly closed: (why: string) => void
  /** It is on another machine: its program may be of another version, where the protocol is the same. */
  readonly remote?: boolean
  /** It has said that nothing more comes. */
  readonly paused?: () => void
}
/** Of a gateway on another machine: who leaves so much unread is cut. */
const REMOTE_BOUNDS: Bounds = { frameMax: 256 * 1024 * 1024, unsentMax: 64 * 1024 * 1024 }

/**
 * The core's end of the line to one gateway: runs what it asks for through the pipeline. A gateway that says what none
 * would say is cut off.
 */
export class Switchboard {
  private readonly channel: Channel
  private readonly parts: SwitchboardParts
  private readonly leave: (() => void) | undefined
  /** Requests whose body is still being read. */
  private readonly halves = new Map<number, Passage>()
  /** What its unfinished bodies hold, by address. */
  private readonly held = new Map<string, number>()
  /** Its sockets, from READY on. */
  private sockets: RemoteDoor | undefined
  /** Since when it has said nothing, where it was asked whether it is there. */
  private awaited: number | undefined
  /** Requests that are not answered yet. */
  private unanswered = 0
  private readonly whenAnswered: (() => void)[] = []
  /** As the gateway tells. */
  cut = 0
  connections = 0
  /** It listens. */
  ready = false

  constructor(stream: Duplex, parts: SwitchboardParts) {
    this.parts = parts
    this.channel = new Channel(
      stream,
      {
        message: (head, text) => this.message(head, text),
        ...(parts.breath !== undefined && { read: () => parts.breath!.read() }),
        closed: (why) => {
          this.leave?.()
          this.halves.clear()
          for (const [address, bytes] of this.held) parts.room.give(address, bytes)
          this.held.clear()
          this.sockets?.gone()
          parts.closed(why)
        },
        drained: () => this.sockets?.caughtUp(),
      },
      parts.remote === true ? REMOTE_BOUNDS : undefined,
    )
    this.leave = parts.breath?.join(this.channel)
  }
  /** Looked at from time to time: does it still answer? */
  hangs(patienceMs: number): boolean {
    const now = performance.now()
    if (this.awaited !== undefined) return now - this.awaited > patienceMs
    this.awaited = now
    this.channel.push([TO_GATEWAY.PING, -1])
    return false
  }
  stop(): void {
    this.channel.push([TO_GATEWAY.STOP, -1])
  }
  /** It is to send nothing more, and says when that is so. */
  pause(): void {
    this.channel.push([TO_GATEWAY.PAUSE, -1])
  }
  resume(): void {
    this.channel.push([TO_GATEWAY.RESUME, -1])
  }
  /** Resolves when all that it asked for is answered. */
  answered(): Promise<void> {
    return this.unanswered === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.whenAnswered.push(resolve))
  }
  /** Ends the line when all that was said is read. */
  finish(): void {
    this.channel.finish()
  }
  close(): void {
    this.channel.close('the core stops')
  }

  private message(head: Head, text: Buffer | undefined): void {
    // Its answer may stand behind much that is still to be read: who speaks does not hang.
    if (this.awaited !== undefined) this.awaited = performance.now()
    switch (head[0]) {
      case TO_CORE.ASK:
        this.ask(head as unknown as AskHead, text)
        return
      case TO_CORE.HEAD:
        this.head(head as unknown as AskHead)
        return
      case TO_CORE.BODY:
        this.body(head, text)
        return
      case TO_CORE.UNREADABLE: {
        const [, , id, label, message, status] = head
        const passage = this.half(id)
        this.reply(
          number(id),
          passage,
          this.parts.pipeline.refuse(passage, refusalOf(label, message, status)),
        )
        return
      }
      case TO_CORE.GONE: {
        const passage = this.halves.get(number(head[2]))
        // It may have been answered before its client went.
        if (passage !== undefined) {
          this.parts.pipeline.brokenOff(this.half(head[2]))
          this.count()
        }
        return
      }
      case TO_CORE.LOOK: {
        const [, , id, path, ip] = head
        this.channel.push([TO_GATEWAY.SIGHT, -1, number(id), this.parts.look(string(path), string(ip))])
        return
      }
      case TO_CORE.LEFT:
        for (const address of head.slice(2)) this.parts.left(string(address))
        return
      case TO_CORE.TOOK:
        this.parts.took?.(number(head[2]))
        return
      case TO_CORE.FIGURES:
        this.cut = number(head[2])
        if (head.length > 3) this.connections = number(head[3])
        return
      case TO_CORE.HOLD: {
        const [, , id, address, bytes] = head
        const granted = this.parts.room.takeSome(string(address), number(bytes))
        this.hold(string(address), granted)
        this.channel.push([TO_GATEWAY.ROOM, -1, number(id), granted])
        return
      }
      case TO_CORE.RELEASE: {
        const [, , address, bytes] = head
        if (number(bytes) > (this.held.get(string(address)) ?? 0)) throw new RangeError('more than was held')
        this.parts.room.give(string(address), number(bytes))
        this.hold(string(address), -number(bytes))
        return
      }
      case TO_CORE.LOG:
        this.log(head)
        return
      case TO_CORE.HELLO:
        if (head[2] !== PROTOCOL || (this.parts.remote !== true && head[3] !== this.parts.settings.version))
          throw new TypeError(`it is of version ${String(head[3])}: the program on the disk was changed`)
        this.channel.push([TO_GATEWAY.WELCOME, -1, this.parts.settings])
        return
      case TO_CORE.PONG:
        this.awaited = undefined
        return
      case TO_CORE.READY:
        this.sockets ??= new RemoteDoor(this.channel, this.parts.attach)
        this.ready = true
        this.parts.ready()
        return
      case TO_CORE.PAUSED:
        this.parts.paused?.()
        return
      default:
        if (this.sockets?.message(head, text) === true) return
        throw new TypeError(`a message of kind ${head[0]}`)
    }
  }
  private hold(address: string, bytes: number): void {
    const held = (this.held.get(address) ?? 0) + bytes
    if (held === 0) this.held.delete(address)
    else this.held.set(address, held)
  }
  private ask(head: AskHead, body: Buffer | undefined): void {
    const passage = this.passage(head)
    this.unanswered++
    const reply = this.parts.pipeline.pass(passage, body)
    if (reply instanceof Promise) void reply.then((reply) => this.reply(head[2], passage, reply))
    else this.reply(head[2], passage, reply)
  }
  private head(head: AskHead): void {
    const passage = this.passage(head)
    this.unanswered++
    const reply = this.parts.pipeline.look(passage)
    if (reply !== undefined) {
      this.reply(head[2], passage, reply)
      return
    }
    this.halves.set(head[2], passage)
    this.channel.push([TO_GATEWAY.GO, -1, head[2]])
  }
  private body([, , id, serial, fits, fault]: Head, body: Buffer | undefined): void {
    const passage = this.half(id)
    passage.checked = checkedOf(serial, fits, fault)
    void this.parts.pipeline.finish(passage, body).then((reply) => this.reply(number(id), passage, reply))
  }
  private half(id: unknown): Passage {
    const passage = this.halves.get(number(id))
    if (passage === undefined) throw new TypeError(`request ${String(id)} is not known`)
    this.halves.delete(number(id))
    return passage
  }
  private passage(head: AskHead): Passage {
    const [, , id, method, path, rawQuery, ip, inTime, hasBody, headers, serial, fits, fault] = head
    number(id)
    const request = {
      method: string(method),
      path: string(path),
      rawQuery: string(rawQuery),
      headers: record(headers),
      hasBody: hasBody === 1,
      ip: string(ip),
      inTime: number(inTime),
    }
    return this.parts.pipeline.begin(request, checkedOf(serial, fits, fault))
  }
  private reply(id: number, passage: Passage, { status, headers, text, drop }: PlainReply): void {
    const head: Head = [TO_GATEWAY.REPLY, -1, id, status, headers]
    const { signed, caller, checked } = passage
    // Its signature was checked here, and was right: the gateway may do it the next time.
    const proven = caller !== undefined && signed !== undefined && checked?.serial !== signed.serial
    if (drop || proven) head.push(drop ? 1 : 0)
    if (proven) head.push([signed.key.key, signed.secret, signed.serial])
    this.channel.push(head, text)
    this.count()
  }
  /** One is answered, or its client is gone. */
  private count(): void {
    if (--this.unanswered === 0) for (const tell of this.whenAnswered.splice(0)) tell()
  }
  private log([, , level, message, fields]: Head): void {
    const { log } = this.parts
    if (level === 'error') log.error(string(message), record(fields))
    else log.warn(string(message), record(fields))
  }
}

function checkedOf(serial: unknown, fits: unknown, fault: unknown): Checked | undefined {
  if (serial === 0 && fault === null) return undefined
  return {
    serial: number(serial),
    fits: fits === 1,
    fault: fault === null ? undefined : faultOf(record(fault)),
  }
}
function faultOf({ label, message, status, ignored, markets }: Record<string, unknown>): ReadFault {
  const refusal = refusalOf(label, message, status)
  return {
    label: refusal.label,
    message: refusal.message,
    status: refusal.status,
    ignored: Array.isArray(ignored) ? ignored.map(string) : undefined,
    markets: Array.isArray(markets) ? markets.map(string) : [],
  }
}
function refusalOf(label: unknown, message: unknown, status: unknown): Refusal {
  if (!Object.hasOwn(LABELS, string(label))) throw new TypeError('an unknown label')
  return new Refusal(label as Label, string(message), number(status))
}
