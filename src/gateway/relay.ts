import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseQuery, type ReadFault, type Route } from '../api/passage.ts'
import { faultOf, wantsBody } from '../api/reading.ts'
import type { Match, Router } from '../api/router.ts'
import { answer } from '../api/serve.ts'
import type { Sight } from '../docs/sights.ts'
import { BrokenOff, type Bodies } from '../http/bodies.ts'
import {
  CONSOLE_HEADER_NAMES,
  CONSOLE_PATH,
  HEADER_NAMES,
  plainRequest,
  type PlainRequest,
} from '../http/exchange.ts'
import type { Serve } from '../http/starting.ts'
import { accepts, addressBlock, isJsonType } from '../http/words.ts'
import { Refusal } from '../labels.ts'
import { Channel, type Head } from './channel.ts'
import { KnownSecrets, type Proven } from './known-secrets.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY, UNANSWERED_MAX, type Settings } from './protocol.ts'
import { RemoteDesk } from './remote-desk.ts'

export interface RelayParts {
  readonly version: string
  readonly welcome: (settings: Settings) => void
  readonly stop: () => void
  readonly closed: (why: string) => void
  /** Of a line to another machine: VIEW, PAUSE, RESUME, BEAT and UNSUITED. */
  readonly told?: (head: Head) => void
  /** It could not be sent any more. */
  readonly back?: (asked: Asked) => void
}
/** What a gateway needs to read requests; known after the welcome. */
export interface Reading {
  readonly router: Router<Route>
  readonly bodies: Bodies
  readonly settings: Settings
}
/** A request on its way to the core, and its reply on its way back. */
export interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly plain: PlainRequest
  route: Match<Route> | undefined
  /** Being read, or read; kept until it is sent, and of what changes nothing until it is answered. */
  body: Promise<Buffer | undefined> | undefined
  /** The whole of it has left for the core, which alone knows from here on whether it was carried out. */
  sent: boolean
  /** It was asked before, and lost. */
  again: boolean
}
/** What only looks. */
export const changesNothing = ({ plain: { method } }: Asked): boolean => method === 'GET' || method === 'HEAD'
/** A body of so many bytes is read as far as it came with the head, whoever sends it. */
const SHORT = 4 * 1024
/** Of a line to another machine: so much waits to leave that nothing is added to it. */
const UNSENT_MAX = 64 * 1024 * 1024
/** No request has this number. */
const NOBODY = -1
const LOST: Sight = {
  kind: 'refused',
  status: 503,
  label: 'TOO_BUSY',
  message: 'the platform is away for a moment; try again in a second',
  retryAfter: 1,
}

/**
 * The gateway's end of the line: hands requests to the core and its replies to clients. It checks the signature and
 * reads the body beforehand; whatever it finds, the core alone decides what is answered.
 */
export class Relay {
  private readonly channel: Channel
  /** Where this gateway's sockets are answered. */
  readonly desk: RemoteDesk
  private reading: Reading | undefined
  /** Of a gateway beside the core: to one on another machine no secret is ever told. */
  private readonly secrets = new KnownSecrets()
  private readonly waiting = new Map<number, Asked>()
  /** Requests whose body waits for the core's word. */
  private readonly asking = new Map<number, () => void>()
  private readonly looking = new Map<number, (sight: Sight) => void>()
  private readonly holding = new Map<number, (bytes: number) => void>()
  private readonly parts: RelayParts
  private last = 0
  private resting = false

  constructor(stream: Duplex, parts: RelayParts) {
    this.parts = parts
    this.channel = new Channel(stream, {
      message: (head, text) => this.message(head, text),
      closed: parts.closed,
    })
    this.desk = new RemoteDesk(this.channel)
    this.channel.push([TO_CORE.HELLO, -1, PROTOCOL, parts.version])
  }
  begin(reading: Reading): void {
    this.reading = reading
    this.channel.push([TO_CORE.READY, -1])
  }
  took(number: number): void {
    this.channel.push([TO_CORE.TOOK, -1, number])
  }
  left(address: string): void {
    this.channel.push([TO_CORE.LEFT, -1, address])
  }
  figures(cut: number, ...connections: number[]): void {
    this.channel.push([TO_CORE.FIGURES, -1, cut, ...connections])
  }
  beat(): void {
    this.channel.push([TO_CORE.BEAT, -1])
  }
  close(why: string): void {
    this.channel.close(why)
  }
  /** Room for an unfinished body. */
  hold(address: string, bytes: number): Promise<number> {
    const id = ++this.last
    return new Promise((resolve) => {
      this.holding.set(id, resolve)
      this.channel.push([TO_CORE.HOLD, -1, id, address, bytes])
    })
  }
  release(address: string, bytes: number): void {
    this.channel.push([TO_CORE.RELEASE, -1, address, bytes])
  }
  log(level: 'warn' | 'error', message: string, fields: Record<string, unknown>): void {
    this.channel.push([TO_CORE.LOG, -1, level, message, fields])
  }
  look(path: string, ip: string): Promise<Sight> {
    if (this.channel.closed) return Promise.resolve(LOST)
    const id = ++this.last
    return new Promise((resolve) => {
      this.looking.set(id, resolve)
      this.channel.push([TO_CORE.LOOK, -1, id, path, ip])
    })
  }
  /** What the core has still to answer. */
  private get unanswered(): number {
    return this.waiting.size + this.looking.size + this.desk.unjudged
  }
  /** More may not be asked now: it is unanswered, or has not even left. */
  get full(): boolean {
    return this.unanswered >= UNANSWERED_MAX || this.channel.waiting > UNSENT_MAX
  }
  /** Nothing more is sent. What the core has not got whole is taken back, and may be asked of another. */
  pause(): void {
    this.resting = this.desk.resting = true
    for (const [id, asked] of this.waiting)
      if (!asked.sent) {
        this.forget(id)
        this.channel.push([TO_CORE.GONE, -1, id])
        this.parts.back?.(asked)
      }
    this.channel.push([TO_CORE.PAUSED, -1])
  }
  resume(): void {
    this.resting = this.desk.resting = false
  }
  private get shut(): boolean {
    return this.resting || this.channel.closed
  }
  /** The line is gone: those whose reply will never come. */
  lost(): Asked[] {
    const all = [...this.waiting.values()]
    this.waiting.clear()
    this.asking.clear()
    for (const show of this.looking.values()) show(LOST)
    this.looking.clear()
    this.desk.lost()
    return all
  }

  readonly serve: Serve = (request, response) => {
    const plain = plainRequest(request, this.reading!.settings.trustProxy)
    this.take({ request, response, plain, route: undefined, body: undefined, sent: false, again: false })
  }
  take(asked: Asked): void {
    const { request, plain } = asked
    const match = this.reading!.router.find(plain.method, plain.path)
    const route = 'route' in match ? match : undefined
    asked.route = route
    const unread = route !== undefined && !wantsBody(route.route.endpoint)
    if (!plain.hasBody || unread) this.ask(asked, undefined)
    // A short body comes with the head. Of any other the core is asked first whether somebody should read it.
    else if (
      route !== undefined &&
      asked.body === undefined &&
      request.headers.expect === undefined &&
      Number(request.headers['content-length']) <= SHORT
    )
      this.readShort(asked)
    // A core of a later version may know what is not known here.
    else this.askFirst(asked)
  }

  private ask(asked: Asked, body: Buffer | undefined): void {
    if (this.shut) {
      this.parts.back?.(asked)
      return
    }
    const id = this.expect(asked)
    const head = askHead(TO_CORE.ASK, id, asked.plain)
    this.judge(head, asked, body, 10)
    head[12] = this.fault(asked, body)
    this.channel.push(head, body)
    sent(asked)
  }
  private readShort(asked: Asked): void {
    const { request } = asked
    let id: number | undefined
    const late = setImmediate(() => {
      request.pause()
      id = this.sendHead(asked, () => request.resume())
    })
    this.read(asked).then(
      (body) => {
        clearImmediate(late)
        if (id === undefined) this.ask(asked, body)
        else this.sendBody(asked, id, body)
      },
      (error: unknown) => {
        clearImmediate(late)
        this.brokenOff(asked, id ?? this.sendHead(asked, () => undefined), error)
      },
    )
  }
  private askFirst(asked: Asked): void {
    const { request } = asked
    const id = this.sendHead(asked, () => {
      // Another core may have let it come, and was gone before it was there.
      if (asked.body !== undefined) request.resume()
      else if (request.destroyed && !request.complete) {
        this.brokenOff(asked, id, new BrokenOff('the client went away'))
        return
      }
      this.read(asked).then(
        (body) => this.sendBody(asked, id, body),
        (error: unknown) => this.brokenOff(asked, id, error),
      )
    })
  }
  private read(asked: Asked): Promise<Buffer | undefined> {
    const { request, response, plain } = asked
    return (asked.body ??= this.reading!.bodies.read(request, response, addressBlock(plain.ip)))
  }
  private sendHead(asked: Asked, go: () => void): number {
    if (this.shut) {
      this.parts.back?.(asked)
      return NOBODY
    }
    const id = this.expect(asked)
    this.asking.set(id, go)
    this.channel.push(askHead(TO_CORE.HEAD, id, asked.plain))
    return id
  }
  private sendBody(asked: Asked, id: number, body: Buffer | undefined): void {
    // The core has answered without it, or is gone.
    if (!this.waiting.has(id)) return
    const head: Head = [TO_CORE.BODY, -1, id, 0, 0, this.fault(asked, body)]
    this.judge(head, asked, body, 3)
    this.channel.push(head, body)
    sent(asked)
  }
  private brokenOff(asked: Asked, id: number, error: unknown): void {
    if (!this.waiting.has(id)) return
    if (error instanceof Refusal) {
      const { label, message, status } = error
      this.channel.push([TO_CORE.UNREADABLE, -1, id, label, message, status])
      asked.sent = true
      return
    }
    this.forget(id)
    this.channel.push([TO_CORE.GONE, -1, id])
  }
  private expect(asked: Asked): number {
    const id = ++this.last
    this.waiting.set(id, asked)
    return id
  }
  private forget(id: number): void {
    this.waiting.delete(id)
    this.asking.delete(id)
  }

  /** Notes which secret the signature was held against, and whether it fits, where it stands in this head. */
  private judge(head: Head, { plain, route }: Asked, body: Buffer | undefined, at: 3 | 10): void {
    if (route?.route.endpoint.access.kind !== 'key') return
    const verdict = this.secrets.verdict(plain, body)
    if (verdict === undefined) return
    head[at] = verdict.serial
    head[at + 1] = verdict.fits ? 1 : 0
  }
  private fault({ plain, route }: Asked, body: Buffer | undefined): ReadFault | null {
    if (body === undefined || route === undefined) return null
    const { mode } = this.reading!.settings
    return faultOf(route.route.endpoint, mode, route.params, parseQuery(plain.rawQuery), body) ?? null
  }

  private message(head: Head, text: Buffer | undefined): void {
    switch (head[0]) {
      case TO_GATEWAY.REPLY:
        this.reply(head, text)
        return
      case TO_GATEWAY.GO:
        taken(this.asking, head[2])?.()
        return
      case TO_GATEWAY.SIGHT:
        taken(this.looking, head[2])?.(head[3] as Sight)
        return
      case TO_GATEWAY.PING:
        this.channel.push([TO_CORE.PONG, -1])
        return
      case TO_GATEWAY.ROOM:
        taken(this.holding, head[2])?.(head[3] as number)
        return
      case TO_GATEWAY.WELCOME:
        this.parts.welcome(head[2] as Settings)
        return
      case TO_GATEWAY.STOP:
        this.parts.stop()
        return
      case TO_GATEWAY.VIEW:
      case TO_GATEWAY.PAUSE:
      case TO_GATEWAY.RESUME:
      case TO_GATEWAY.BEAT:
      case TO_GATEWAY.UNSUITED:
        this.parts.told?.(head)
        return
      default:
        if (this.desk.message(head, text)) return
        throw new TypeError(`a message of kind ${head[0]}`)
    }
  }
  private reply([, , id, status, headers, drop, proven]: Head, text: Buffer | undefined): void {
    if (proven !== undefined) this.secrets.learn(proven as Proven)
    this.asking.delete(id as number)
    const asked = taken(this.waiting, id)
    if (asked === undefined) return
    void answer(asked.request, asked.response, asked.plain.inTime, {
      status: status as number,
      headers: headers as (string | number)[],
      text: text?.toString(),
      drop: drop === 1,
    })
  }
}

/** What changes something is never sent twice: nobody needs its body any more. */
function sent(asked: Asked): void {
  asked.sent = true
  if (!changesNothing(asked)) asked.body = undefined
}

function taken<T>(map: Map<number, T>, id: unknown): T | undefined {
  const value = map.get(id as number)
  map.delete(id as number)
  return value
}

function askHead(kind: number, id: number, plain: PlainRequest): Head {
  const { method, path, rawQuery, ip, inTime, hasBody } = plain
  const headers = handedOn(plain)
  return [kind, -1, id, method, path, rawQuery, ip, inTime, hasBody ? 1 : 0, headers, 0, 0, null]
}
/** The headers that are looked at behind HTTP; negotiation that comes to nothing is left out. */
function handedOn({ headers, path }: PlainRequest): Record<string, string> {
  const handed: Record<string, string> = {}
  for (const name of path.startsWith(CONSOLE_PATH) ? CONSOLE_HEADER_NAMES : HEADER_NAMES) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (name === 'accept' && accepts(value, 'application/json')) continue
    if (name === 'content-type' && isJsonType(value)) continue
    handed[name] = value
  }
  return handed
}
