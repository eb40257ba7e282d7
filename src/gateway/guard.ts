import { isIP } from 'node:net'
import { BODY_MAX } from '../http/bodies.ts'
import { CONSOLE_HEADER_NAMES } from '../http/exchange.ts'
import { microsNow } from '../http/words.ts'
import { LABELS } from '../labels.ts'
import { FRAME_MAX } from '../sockets/door.ts'
import { BESIDE_MAX, isPlain } from '../sockets/waiting-calls.ts'
import type { Head } from './channel.ts'
import type { KnownSecrets, Proven, SignedHead } from './known-secrets.ts'
import { record, string } from './plain.ts'
import { SOCKETS_MAX, TO_CORE, TO_GATEWAY, UNANSWERED_MAX } from './protocol.ts'

/** An honest gateway counts for itself; what crosses on its way is allowed for. */
const SLACK = 2
const HEADERS: ReadonlySet<string> = new Set(CONSOLE_HEADER_NAMES)
/** Pages by the names under which they are counted. Neither metrics, which are the operator's, nor names that are made up. */
const PAGES: ReadonlySet<unknown> = new Set([
  '/',
  '/assets',
  '/docs',
  '/openapi.json',
  '/asyncapi.json',
  '/healthz',
  '/readyz',
])
const LOG_LINES = 20
/** So many clients at so many addresses no gateway has: who makes them up fills the counts of limits. */
const ADDRESSES_MAX = 65_536
const SPAN_MS = 10_000
const TEXT_MAX = 1_000
const LIST_MAX = 100

/** What is handed on to gateways, and nothing else ever. */
const HANDED_ON: ReadonlySet<number> = new Set(Object.values(TO_GATEWAY))

/** A request that is not answered yet. */
interface Open {
  bytes: number
  /** Of one whose body is still to come: what the signature covers beside it. */
  half: SignedHead | undefined
  /** Its body may come. */
  go: boolean
}

/**
 * Between the core and one gateway of another machine, which may have been stolen. Whatever the gateway says is taken for
 * what a client could have sent, and no more: what it claims about signatures is thrown away and found out here, what it
 * says of itself is bounded, and what no gateway would say throws. Secrets that the core tells stay here.
 */
export class Guard {
  private readonly secrets: KnownSecrets
  private readonly open = new Map<number, Open>()
  private readonly looks = new Set<number>()
  private readonly sockets = new Set<number>()
  private readonly judged = new Set<number>()
  private ready = false
  private logged = 0
  private readonly addresses = new Set<string>()
  private since = 0
  /** Bytes of bodies that are not answered yet. */
  bytes = 0

  constructor(secrets: KnownSecrets) {
    this.secrets = secrets
  }
  /** What the core is told of it; undefined: nothing. */
  toCore(head: Head, text: Buffer | undefined): Head | undefined {
    const now = performance.now()
    if (now - this.since > SPAN_MS) {
      this.since = now
      this.logged = 0
      this.addresses.clear()
    }
    switch (head[0]) {
      case TO_CORE.ASK:
      case TO_CORE.HEAD:
        return this.ask(head, text)
      case TO_CORE.BODY:
        return this.body(head, text)
      case TO_CORE.UNREADABLE: {
        const id = whole(head[2])
        this.half(id)
        const { label, message, status } = refusal({ label: head[3], message: head[4], status: head[5] })
        return [TO_CORE.UNREADABLE, -1, id, label, message, status]
      }
      case TO_CORE.GONE: {
        const id = whole(head[2])
        if (this.open.get(id)?.half === undefined) return undefined
        this.close(id)
        return [TO_CORE.GONE, -1, id]
      }
      case TO_CORE.LOOK: {
        const id = whole(head[2])
        this.enter(this.looks, id)
        return [TO_CORE.LOOK, -1, id, PAGES.has(head[3]) ? head[3] : '/', this.address(head[4])]
      }
      case TO_CORE.FIGURES:
        return [TO_CORE.FIGURES, -1, whole(head[2]), whole(head[3])]
      case TO_CORE.LOG:
        return this.log(head)
      case TO_CORE.READY:
        if (this.ready) throw new TypeError('it was ready before')
        this.ready = true
        return [TO_CORE.READY, -1]
      case TO_CORE.PONG:
      case TO_CORE.PAUSED:
        return [head[0], -1]
      // Its connections and the room for their bodies are on its own machine.
      case TO_CORE.LEFT:
        return undefined
      default:
        return this.socket(head, text)
    }
  }
  /** What the gateway is told; undefined: nothing. */
  toGateway(head: Head): Head | undefined {
    const [kind, , id, ...rest] = head as [number, number, number, ...unknown[]]
    switch (kind) {
      case TO_GATEWAY.REPLY: {
        const [status, headers, drop, proven] = rest
        if (proven !== undefined) this.secrets.learn(proven as Proven)
        this.close(id)
        return drop === 1 ? [kind, -1, id, status, headers, 1] : [kind, -1, id, status, headers]
      }
      case TO_GATEWAY.GO: {
        const open = this.open.get(id)
        if (open === undefined) return undefined
        open.go = true
        return head
      }
      case TO_GATEWAY.SIGHT:
        this.looks.delete(id)
        return head
      case TO_GATEWAY.VERDICT:
        this.judged.delete(id)
        if (rest.length > 0) this.sockets.delete(id)
        return head
      default:
        return HANDED_ON.has(kind) ? head : undefined
    }
  }

  private ask(head: Head, body: Buffer | undefined): Head {
    const [kind, , id, method, path, rawQuery, ip, , hasBody, headers, , , fault] = head
    const number = whole(id)
    if (this.open.has(number)) throw new TypeError(`request ${number} is there already`)
    this.count()
    const signed = {
      method: string(method),
      path: string(path),
      rawQuery: string(rawQuery),
      headers: headersIn(headers),
    }
    const isHead = kind === TO_CORE.HEAD
    if (isHead && body !== undefined) throw new TypeError('a head has a body')
    const bytes = lengthOf(body, BODY_MAX)
    const open: Open = { bytes, half: isHead ? signed : undefined, go: false }
    this.open.set(number, open)
    this.bytes += bytes
    const verdict = isHead ? undefined : this.secrets.verdict(signed, body)
    return [
      kind,
      -1,
      number,
      signed.method,
      signed.path,
      signed.rawQuery,
      this.address(ip),
      // By this machine's clock, whatever another one says.
      microsNow(),
      hasBody === 1 ? 1 : 0,
      signed.headers,
      verdict?.serial ?? 0,
      verdict?.fits === true ? 1 : 0,
      isHead ? null : faultIn(fault),
    ]
  }
  private body([, , id, , , fault]: Head, body: Buffer | undefined): Head {
    const number = whole(id)
    const [open, signed] = this.half(number)
    open.bytes = lengthOf(body, BODY_MAX)
    this.bytes += open.bytes
    const verdict = this.secrets.verdict(signed, body)
    return [TO_CORE.BODY, -1, number, verdict?.serial ?? 0, verdict?.fits === true ? 1 : 0, faultIn(fault)]
  }
  private half(id: number): [Open, SignedHead] {
    const open = this.open.get(id)
    if (open?.half === undefined || !open.go) throw new TypeError(`request ${id} awaits no body`)
    const { half } = open
    open.half = undefined
    return [open, half]
  }
  private close(id: number): void {
    this.bytes -= this.open.get(id)?.bytes ?? 0
    this.open.delete(id)
  }
  private enter(set: Set<number>, id: number): void {
    if (set.has(id)) throw new TypeError(`${id} is there already`)
    this.count()
    set.add(id)
  }
  private count(): void {
    if (this.open.size + this.looks.size + this.judged.size >= UNANSWERED_MAX * SLACK)
      throw new RangeError('too much of it is unanswered')
  }

  /** Of a client that was gone before it was asked for nobody knows one. */
  private address(value: unknown): string {
    if (value === '') return '0.0.0.0'
    if (isIP(string(value)) === 0) throw new TypeError('an address is none')
    this.addresses.add(value as string)
    if (this.addresses.size > ADDRESSES_MAX) throw new RangeError('its clients have too many addresses')
    return value as string
  }

  private socket(head: Head, text: Buffer | undefined): Head | undefined {
    if (!this.ready) throw new TypeError(`a message of kind ${head[0]}`)
    const [kind, , number, second, ip, channelId, sizeDecimal, visitor] = head
    switch (kind) {
      case TO_CORE.SOCKET_OPEN: {
        const socket = whole(number)
        if (this.sockets.has(socket)) throw new TypeError(`socket ${socket} is there already`)
        if (this.sockets.size >= SOCKETS_MAX) throw new RangeError('it has too many sockets')
        this.enter(this.judged, socket)
        this.sockets.add(socket)
        const told: Head = [kind, -1, socket, string(second), this.address(ip)]
        told.push(channelId === null ? null : string(channelId), sizeDecimal === 1 ? 1 : 0)
        if (visitor !== undefined) told.push(record(visitor))
        return told
      }
      case TO_CORE.SOCKET_RECEIVED:
        lengthOf(text, FRAME_MAX)
        return this.sockets.has(whole(number)) ? [kind, -1, number, microsNow()] : undefined
      case TO_CORE.SOCKET_CALLED: {
        const [, , , , n, channel, beside] = head
        lengthOf(text, FRAME_MAX)
        const payload = record(beside)
        if (!isPlain(payload) || 'req_param' in payload || JSON.stringify(payload).length > BESIDE_MAX)
          throw new TypeError('a call is none')
        if (!this.sockets.has(whole(number))) return undefined
        return [kind, -1, number, microsNow(), whole(n), string(channel), payload]
      }
      case TO_CORE.SOCKET_CLOSED: {
        const code = whole(second)
        if (!this.sockets.delete(whole(number))) return undefined
        this.judged.delete(number as number)
        return [kind, -1, number, code >= 1000 && code < 5000 ? code : 1006]
      }
      case TO_CORE.SOCKET_BEHIND:
        return this.sockets.has(whole(number)) ? [kind, -1, number, whole(second)] : undefined
      case TO_CORE.SOCKETS_WAITING:
        return [kind, -1, ...head.slice(2, 2 + SOCKETS_MAX).map(pair)]
      default:
        throw new TypeError(`a message of kind ${head[0]}`)
    }
  }
  /** As much as an honest one has to tell: who floods the log hides in it. */
  private log([kind, , level, message, fields]: Head): Head | undefined {
    if (++this.logged > LOG_LINES) return undefined
    const told = JSON.stringify(record(fields)).length <= TEXT_MAX ? fields : {}
    return [kind, -1, level === 'error' ? 'error' : 'warn', string(message).slice(0, TEXT_MAX), told]
  }
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new TypeError('a number is none')
  return value as number
}
const pair = (value: unknown): [number, number] => {
  if (!Array.isArray(value)) throw new TypeError('a pair is none')
  return [whole(value[0]), whole(value[1])]
}
function lengthOf(text: Buffer | undefined, most: number): number {
  const length = text?.length ?? 0
  if (length > most) throw new RangeError(`a text of ${length} bytes`)
  return length
}
function headersIn(value: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(record(value)))
    if (HEADERS.has(name)) headers[name] = string(text)
  return headers
}
interface Told {
  readonly label: string
  readonly message: string
  readonly status: number
}
/** It says what the client did wrong: that is a status of that kind. */
function refusal({ label, message, status }: Readonly<Record<string, unknown>>): Told {
  if (!Object.hasOwn(LABELS, string(label))) throw new TypeError('an unknown label')
  const code = whole(status)
  if ((code < 400 || code > 499) && code !== 503) throw new TypeError('a status that is no refusal')
  return { label: label as string, message: string(message).slice(0, TEXT_MAX), status: code }
}
/** What is told with a label that is not known here, by a program of another version, is found again by reading. */
function faultIn(value: unknown): unknown {
  if (value === null || value === undefined) return null
  const { ignored, markets, ...told } = record(value) as Record<string, unknown>
  if (!Object.hasOwn(LABELS, string(told['label']))) return null
  return {
    ...refusal(told),
    ...(ignored !== undefined && { ignored: texts(ignored) }),
    markets: texts(markets),
  }
}
function texts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new TypeError('a list is none')
  return value.slice(0, LIST_MAX).map((one) => string(one).slice(0, TEXT_MAX))
}
