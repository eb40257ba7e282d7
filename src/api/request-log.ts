import { pathMatches } from './faults.ts'

/** One request as it was served. Other headers are not kept: they hold signatures and tokens. */
export interface LoggedRequest {
  readonly id: number
  /** Microseconds of the platform's clock. */
  readonly at: number
  readonly micros: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly ip: string
  readonly userId: number | undefined
  readonly key: string | undefined
  readonly operator: string | undefined
  readonly status: number
  /** The moment that was signed, as it was sent; undefined: none was. */
  readonly timestamp: string | undefined
  /** What was left of its rate window afterwards. */
  readonly remain: number | undefined
  readonly limit: number | undefined
  /** A fault kept the reply back. */
  readonly dropped: boolean
  /** Parameters that nothing reads. */
  readonly ignored: readonly string[] | undefined
  readonly body: string
  readonly bodyLength: number
  readonly reply: string
  readonly replyLength: number
}
/** One request, whole, for who writes a session down. It still holds what must not be written. */
export interface WitnessedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly userId: number | undefined
  readonly key: string | undefined
  readonly operator: string | undefined
  readonly body: Buffer | undefined
  /** Microseconds of the platform's clock at which it was answered. */
  readonly at: number
  readonly arrived: number
  readonly status: number
  readonly reply: string
  /** A fault kept the reply back. */
  readonly dropped: boolean
}
/** Whoever has one gives it back. */
export type Turn = () => void
export interface Witness {
  /** Before a request is carried out: one after the other. */
  turn(): Promise<Turn>
  see(request: WitnessedRequest): void
}
export interface RequestFilter {
  readonly after: number | null
  readonly user_id: number | null
  /** Any of these; left out: all. */
  readonly users?: ReadonlySet<number>
  readonly path: string | null
  /** A status, or a class of them such as 4xx. */
  readonly status: string | null
  readonly limit: number
}
/** As it comes: whatever is long is cut, and told by its length. */
export interface NewRequest extends Omit<LoggedRequest, 'id' | 'body' | 'bodyLength' | 'replyLength'> {
  readonly body: Buffer | string | undefined
}
const KEPT = 1_000
/** Characters of a body or reply that are kept. */
const CUT = 4_096

/**
 * The last requests of a sandbox, in memory, for people who want to see what their client really sends. Writing one
 * down costs the copy of a short text; everything else is done when somebody looks.
 */
export class RequestLog {
  private readonly ring: Slot[] = []
  private last = 0

  add(request: NewRequest): void {
    const id = ++this.last
    const slot = (this.ring[id % KEPT] ??= new Slot())
    slot.keep(id, request)
  }
  clear(): void {
    this.ring.length = 0
    this.last = 0
  }
  /** With `after` the oldest that follow it, else the newest; in the order of their coming. */
  find(filter: RequestFilter): { last: number; missed: number; requests: LoggedRequest[] } {
    const first = Math.max(1, this.last - KEPT + 1)
    const requests: LoggedRequest[] = []
    const wanted = (id: number): LoggedRequest | undefined => {
      const slot = this.ring[id % KEPT]
      return slot?.id === id && isMeant(slot, filter) ? slot.told() : undefined
    }
    if (filter.after === null) {
      for (let id = this.last; id >= first && requests.length < filter.limit; id--) {
        const request = wanted(id)
        if (request !== undefined) requests.push(request)
      }
      return { last: this.last, missed: 0, requests: requests.reverse() }
    }
    let id = Math.max(first, filter.after + 1)
    const missed = Math.max(0, first - 1 - filter.after)
    for (; id <= this.last && requests.length < filter.limit; id++) {
      const request = wanted(id)
      if (request !== undefined) requests.push(request)
    }
    return { last: Math.min(this.last, id - 1), missed, requests }
  }
}
function isMeant(
  request: Pick<LoggedRequest, 'userId' | 'status' | 'path'>,
  { user_id, users, path, status }: RequestFilter,
): boolean {
  if (users !== undefined && !users.has(request.userId ?? 0)) return false
  if (user_id !== null && request.userId !== user_id) return false
  if (status !== null && !statusMatches(status, String(request.status))) return false
  return path === null || pathMatches(path, request.path)
}
const statusMatches = (wanted: string, status: string): boolean =>
  wanted.endsWith('xx') ? wanted[0] === status[0] : wanted === status

const NO_BYTES = Buffer.alloc(0)
/** Room for texts is made in steps of so many bytes, */
const STEP = 512
/** and a character takes so many of them at most. */
const BYTES_MAX = 3

/**
 * One place of the ring, used again and again. Its texts lie in bytes of its own: thousands of strings that live for a
 * second each would grow old in the heap, and be collected at the expense of everybody's requests. Members one by one:
 * this is done for every request.
 */
class Slot {
  id = 0
  userId: number | undefined
  status = 0
  private at = 0
  private micros = 0
  private method = ''
  private ip = ''
  private key: string | undefined
  private operator: string | undefined
  private timestamp: string | undefined
  private remain: number | undefined
  private limit: number | undefined
  private dropped = false
  private ignored: readonly string[] | undefined
  private bodyLength = 0
  private replyLength = 0
  private bytes = NO_BYTES
  private pathEnd = 0
  private queryEnd = 0
  private bodyEnd = 0
  private replyEnd = 0

  keep(id: number, request: NewRequest): void {
    const { body } = request
    this.id = id
    this.userId = request.userId
    this.status = request.status
    this.at = request.at
    this.micros = request.micros
    this.method = request.method
    this.ip = request.ip
    this.key = request.key
    this.operator = request.operator
    this.timestamp = request.timestamp
    this.remain = request.remain
    this.limit = request.limit
    this.dropped = request.dropped
    this.ignored = request.ignored
    this.bodyLength = body?.length ?? 0
    this.replyLength = request.reply.length
    const path = cut(request.path)
    const query = cut(request.query)
    const sent = typeof body === 'string' ? cut(body) : body?.subarray(0, CUT)
    const reply = cut(request.reply)
    // Bytes that it takes at most: to count them first takes as long as to write them.
    const most = BYTES_MAX * (path.length + query.length + reply.length + (sent?.length ?? 0))
    if (this.bytes.length < most) this.bytes = Buffer.allocUnsafeSlow(Math.ceil(most / STEP) * STEP)
    this.pathEnd = this.bytes.write(path, 0)
    this.queryEnd = query === '' ? this.pathEnd : this.pathEnd + this.bytes.write(query, this.pathEnd)
    this.bodyEnd = this.queryEnd
    if (typeof sent === 'string') this.bodyEnd += this.bytes.write(sent, this.queryEnd)
    else if (sent !== undefined) {
      this.bytes.set(sent, this.queryEnd)
      this.bodyEnd += sent.length
    }
    this.replyEnd = this.bodyEnd + this.bytes.write(reply, this.bodyEnd)
  }
  get path(): string {
    return this.text(0, this.pathEnd)
  }
  told(): LoggedRequest {
    const { id, at, micros, method, ip, userId, key, operator, status, timestamp, remain, limit } = this
    return {
      ...{ id, at, micros, method, ip, userId, key, operator, status, timestamp, remain, limit },
      dropped: this.dropped,
      ignored: this.ignored,
      path: this.path,
      query: this.text(this.pathEnd, this.queryEnd),
      body: this.text(this.queryEnd, this.bodyEnd),
      bodyLength: this.bodyLength,
      reply: this.text(this.bodyEnd, this.replyEnd),
      replyLength: this.replyLength,
    }
  }
  private text(from: number, to: number): string {
    return this.bytes.toString('utf8', from, to)
  }
}
const cut = (text: string): string => (text.length <= CUT ? text : text.slice(0, CUT))
/** A copy: a slice would keep the whole text in memory. */
export const kept = (text: string): string => (text.length <= CUT ? text : Buffer.from(cut(text)).toString())

const SECRET_NAME = /pass(word|wd|phrase)?$|secret|token|second_half|mnemonic|private/i
const MASK = '***'
/** String by string, so that the place is known; what was cut off may lack its end. */
const STRINGS = /"((?:[^"\\]|\\.)*)"(?:(\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,{}[\]"]+)?)?/g
/** Text without what nobody should read over a shoulder. */
export function masked(text: string): string {
  return text
    .replace(STRINGS, (whole, name: string, colon: string | undefined, value: string | undefined) =>
      colon === undefined || value === undefined || !SECRET_NAME.test(plain(name))
        ? whole
        : `"${name}"${colon}"${MASK}"`,
    )
    .replace(/(^|[?&])([^=&"{\s]*)=([^&"\s]*)/g, (whole, before: string, name: string) =>
      SECRET_NAME.test(name) ? `${before}${name}=${MASK}` : whole,
    )
}
/** A name may be written with escapes. */
function plain(name: string): string {
  if (!name.includes('\\')) return name
  try {
    return JSON.parse(`"${name}"`) as string
  } catch {
    return name
  }
}
