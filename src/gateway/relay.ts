import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { parseQuery, type ReadFault, type Route } from '../api/passage.ts'
import { faultOf, wantsBody } from '../api/reading.ts'
import type { Match, Router } from '../api/router.ts'
import { answer } from '../api/serve.ts'
import { bodyDigest, verifySignature } from '../api/signature.ts'
import type { Sight } from '../docs/sights.ts'
import { BrokenOff, type Bodies } from '../http/bodies.ts'
import {
  CONSOLE_HEADER_NAMES,
  CONSOLE_PATH,
  HEADER_NAMES,
  plainRequest,
  type PlainReply,
  type PlainRequest,
} from '../http/exchange.ts'
import type { Serve } from '../http/starting.ts'
import { accepts, addressBlock, isJsonType } from '../http/words.ts'
import { Refusal } from '../labels.ts'
import { Channel, type Head } from './channel.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY, type AskHead, type Settings } from './protocol.ts'
import { RemoteDesk } from './remote-desk.ts'

export interface RelayParts {
  readonly version: string
  readonly welcome: (settings: Settings) => void
  readonly stop: () => void
  readonly closed: (why: string) => void
}
/** What a gateway needs to read requests; known after the welcome. */
export interface Reading {
  readonly router: Router<Route>
  readonly bodies: Bodies
  readonly settings: Settings
}
/** A request whose body is not there yet. */
interface Half {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly plain: PlainRequest
  readonly route: Match<Route>
}
/** A body of so many bytes is read as far as it came with the head, whoever sends it. */
const SHORT = 4 * 1024
/** Secrets of keys whose right signature the core has seen; more are never kept. */
const SECRETS_MAX = 50_000

/**
 * The gateway's end of the line: hands requests to the core and its replies to clients. It checks the signature and
 * reads the body beforehand; whatever it finds, the core alone decides what is answered.
 */
export class Relay {
  private readonly channel: Channel
  /** Where this gateway's sockets are answered. */
  readonly desk: RemoteDesk
  private reading: Reading | undefined
  private readonly secrets = new Map<string, { readonly secret: string; readonly serial: number }>()
  private readonly waiting = new Map<number, (reply: PlainReply) => void>()
  /** Requests whose body waits for the core's word. */
  private readonly asking = new Map<number, () => void>()
  private readonly looking = new Map<number, (sight: Sight) => void>()
  private readonly holding = new Map<number, (bytes: number) => void>()
  private readonly parts: RelayParts
  private last = 0

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
  left(address: string): void {
    this.channel.push([TO_CORE.LEFT, -1, address])
  }
  figures(cut: number): void {
    this.channel.push([TO_CORE.FIGURES, -1, cut])
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
    const id = ++this.last
    return new Promise((resolve) => {
      this.looking.set(id, resolve)
      this.channel.push([TO_CORE.LOOK, -1, id, path, ip])
    })
  }

  readonly serve: Serve = (request, response) => {
    const { router, settings } = this.reading!
    const plain = plainRequest(request, settings.trustProxy)
    const match = router.find(plain.method, plain.path)
    const route = 'route' in match ? match : undefined
    if (!plain.hasBody || route === undefined || !wantsBody(route.route.endpoint))
      this.ask(request, response, plain, route, undefined)
    // A short body comes with the head. Of any other the core is asked first whether somebody should read it.
    else if (request.headers.expect === undefined && Number(request.headers['content-length']) <= SHORT)
      this.readShort({ request, response, plain, route })
    else this.askFirst({ request, response, plain, route })
  }

  private ask(
    request: IncomingMessage,
    response: ServerResponse,
    plain: PlainRequest,
    route: Match<Route> | undefined,
    body: Buffer | undefined,
  ): void {
    const id = this.expect(request, response, plain)
    const head = askHead(TO_CORE.ASK, id, plain)
    if (route !== undefined) {
      head[10] = this.verdict(head, plain, route.route.endpoint, body)
      head[12] = this.fault(plain, route, body)
    }
    this.channel.push(head, body)
  }
  private readShort(half: Half): void {
    const { request, response, plain, route } = half
    let head: AskHead | undefined
    const late = setImmediate(() => {
      request.pause()
      head = this.sendHead(half, () => request.resume())
    })
    this.reading!.bodies.read(request, response, addressBlock(plain.ip)).then(
      (body) => {
        clearImmediate(late)
        if (head === undefined) this.ask(request, response, plain, route, body)
        else this.sendBody(half, head, body)
      },
      (error: unknown) => {
        clearImmediate(late)
        this.brokenOff(head ?? this.sendHead(half, () => undefined), error)
      },
    )
  }
  private askFirst(half: Half): void {
    const { request, response, plain } = half
    const head = this.sendHead(half, () => {
      const body =
        request.destroyed && !request.complete
          ? Promise.reject(new BrokenOff('the client went away'))
          : this.reading!.bodies.read(request, response, addressBlock(plain.ip))
      body.then(
        (body) => this.sendBody(half, head, body),
        (error: unknown) => this.brokenOff(head, error),
      )
    })
  }
  private sendHead({ request, response, plain }: Half, go: () => void): AskHead {
    const id = this.expect(request, response, plain)
    const head = askHead(TO_CORE.HEAD, id, plain)
    this.asking.set(id, go)
    this.channel.push([...head] as unknown as Head)
    return head
  }
  private sendBody({ plain, route }: Half, head: AskHead, body: Buffer | undefined): void {
    const [, , id] = head
    // The core has answered without it.
    if (!this.waiting.has(id)) return
    const serial = this.verdict(head, plain, route.route.endpoint, body)
    this.channel.push([TO_CORE.BODY, -1, id, serial, head[11], this.fault(plain, route, body)], body)
  }
  private brokenOff([, , id]: AskHead, error: unknown): void {
    if (!this.waiting.has(id)) return
    if (error instanceof Refusal) {
      const { label, message, status } = error
      this.channel.push([TO_CORE.UNREADABLE, -1, id, label, message, status])
      return
    }
    this.waiting.delete(id)
    this.asking.delete(id)
    this.channel.push([TO_CORE.GONE, -1, id])
  }
  private expect(request: IncomingMessage, response: ServerResponse, { inTime }: PlainRequest): number {
    const id = ++this.last
    this.waiting.set(id, (reply) => void answer(request, response, inTime, reply))
    return id
  }

  /** Which secret the signature was held against; whether it fits is noted beside it. 0: no secret is known. */
  private verdict(
    head: AskHead,
    plain: PlainRequest,
    { access }: AnyEndpoint,
    body: Buffer | undefined,
  ): number {
    if (access.kind !== 'key') return 0
    const { key, timestamp, sign } = head[9]
    if (!key || !timestamp || !sign) return 0
    const known = this.secrets.get(key)
    if (known === undefined) return 0
    const { method, path, rawQuery: query } = plain
    const parts = { method, path, query, bodyDigest: bodyDigest(body), timestamp }
    head[11] = verifySignature(known.secret, parts, sign) ? 1 : 0
    return known.serial
  }
  private fault(plain: PlainRequest, match: Match<Route>, body: Buffer | undefined): ReadFault | null {
    if (body === undefined) return null
    const { mode } = this.reading!.settings
    return faultOf(match.route.endpoint, mode, match.params, parseQuery(plain.rawQuery), body) ?? null
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
      default:
        if (this.desk.message(head, text)) return
        throw new TypeError(`a message of kind ${head[0]}`)
    }
  }
  private reply([, , id, status, headers, drop, proven]: Head, text: Buffer | undefined): void {
    if (proven !== undefined) this.learn(proven as [string, string, number])
    this.asking.delete(id as number)
    taken(
      this.waiting,
      id,
    )?.({
      status: status as number,
      headers: headers as (string | number)[],
      text: text?.toString(),
      drop: drop === 1,
    })
  }
  private learn([key, secret, serial]: [string, string, number]): void {
    this.secrets.delete(key)
    if (this.secrets.size >= SECRETS_MAX) this.secrets.delete(this.secrets.keys().next().value!)
    this.secrets.set(key, { secret, serial })
  }
}

function taken<T>(map: Map<number, T>, id: unknown): T | undefined {
  const value = map.get(id as number)
  map.delete(id as number)
  return value
}

function askHead(kind: number, id: number, plain: PlainRequest): AskHead {
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
