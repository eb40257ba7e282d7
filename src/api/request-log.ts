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
const KEPT = 1_000
/** Characters of a body or reply that are kept. */
const CUT = 4_096

/**
 * The last requests of a sandbox, in memory, for people who want to see what their client really sends. Writing one
 * down costs an object and the copy of a short text; everything else is done when somebody looks.
 */
export class RequestLog {
  private readonly ring: LoggedRequest[] = []
  private last = 0

  get next(): number {
    return this.last + 1
  }
  add(request: LoggedRequest): void {
    this.last = request.id
    this.ring[request.id % KEPT] = request
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
      const request = this.ring[id % KEPT]
      return request?.id === id && isMeant(request, filter) ? request : undefined
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
function isMeant(request: LoggedRequest, { user_id, users, path, status }: RequestFilter): boolean {
  if (users !== undefined && !users.has(request.userId ?? 0)) return false
  if (user_id !== null && request.userId !== user_id) return false
  if (status !== null && !statusMatches(status, String(request.status))) return false
  return path === null || pathMatches(path, request.path)
}
const statusMatches = (wanted: string, status: string): boolean =>
  wanted.endsWith('xx') ? wanted[0] === status[0] : wanted === status

/** A copy: a slice would keep the whole text in memory, and a socket's buffer as well. */
export const kept = (text: string): string =>
  text.length <= CUT ? text : Buffer.from(text.slice(0, CUT)).toString()
export const keptBody = (body: Buffer | undefined): string =>
  body === undefined ? '' : body.toString('utf8', 0, CUT)

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
