import type { Difference } from './public.ts'

type Scalar = string | number
const isScalar = (value: unknown): value is Scalar => typeof value === 'string' || typeof value === 'number'
/** Members that name something: what they name in this world follows from where they stood first. */
const NAMES = /(^|_)(id|key|address|txid|hash|token|link|sub_uid|uid|chain_id|secret)s?$/i
/** Members that tell a time. */
const TIMES = /(^t$|time|(^|_)(at|from|to|now|until|since|expires?|created|updated|date)(_ms)?$)/i
const SHOWN = 200
const MASK = '***'
/** In place of a secret that was not written down. */
const STAND_IN = 'Replayed-0-Secret'

/** Recorded answers against those of another world, in which the same things may have other names. */
export class Answers {
  readonly differences: Difference[] = []
  private readonly here = new Map<Scalar, Scalar>()
  private readonly there = new Map<Scalar, Scalar>()
  /** Its times are its own as well. */
  private readonly foreign: boolean

  constructor(foreign: boolean) {
    this.foreign = foreign
  }
  /** What is called so in the recording has this name here; false: one of the two has another already. */
  learn(recorded: Scalar, here: Scalar): boolean {
    const [known, named] = [this.here.get(recorded), this.there.get(here)]
    if (known !== undefined || named !== undefined) return known === here && named === recorded
    this.here.set(recorded, here)
    this.there.set(here, recorded)
    return true
  }
  pathHere(path: string): string {
    return path
      .split('/')
      .map((part) => encodeURIComponent(String(this.nameHere(decoded(part)))))
      .join('/')
  }
  queryHere(query: string): string {
    return query
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=')
        if (at === -1) return pair
        const value = decoded(pair.slice(at + 1).replaceAll('+', ' '))
        const mapped = String(this.nameHere(value))
        return mapped === value ? pair : `${pair.slice(0, at)}=${encodeURIComponent(mapped)}`
      })
      .join('&')
  }
  bodyHere(body: unknown): unknown {
    if (body === MASK) return STAND_IN
    if (isScalar(body)) return this.nameHere(body)
    if (Array.isArray(body)) return body.map((item) => this.bodyHere(item))
    if (typeof body !== 'object' || body === null) return body
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, this.bodyHere(value)]))
  }
  /** A number may be written as a text elsewhere, and an id is both. */
  private nameHere<T extends Scalar>(value: T): Scalar {
    const found = this.here.get(value)
    if (found !== undefined) return found
    if (typeof value === 'string' && /^\d+$/.test(value)) {
      const number = this.here.get(Number(value))
      if (number !== undefined) return String(number)
    }
    return value
  }

  compare(
    line: number,
    request: string,
    recorded: { readonly status: number; readonly reply?: unknown },
    replayed: { readonly status: number; readonly reply?: unknown },
  ): void {
    const tell = (where: string, was: unknown, is: unknown): void =>
      void this.differences.push({ line, request, where, recorded: shown(was), replayed: shown(is) })
    if (recorded.status !== replayed.status) tell('status', recorded.status, replayed.status)
    this.walk('reply', '', recorded.reply, replayed.reply, tell)
  }
  private walk(where: string, name: string, was: unknown, is: unknown, tell: Tell): void {
    if (Array.isArray(was) && Array.isArray(is)) {
      if (was.length !== is.length) tell(`${where}.length`, was.length, is.length)
      for (let i = 0; i < Math.min(was.length, is.length); i++)
        this.walk(`${where}.${i}`, name, was[i], is[i], tell)
      return
    }
    if (isObject(was) && isObject(is)) {
      for (const member of new Set([...Object.keys(was), ...Object.keys(is)]))
        this.walk(`${where}.${member}`, member, was[member], is[member], tell)
      return
    }
    if (was === is) {
      if (isScalar(was) && NAMES.test(name)) this.learn(was, was)
      return
    }
    if (isScalar(was) && isScalar(is) && typeof was === typeof is) {
      if (was === MASK || is === MASK) return
      if (NAMES.test(name) && this.learn(was, is)) return
      if (this.foreign && TIMES.test(name)) return
      // A message may tell what something is called.
      if (typeof was === 'string' && this.retold(was) === is) return
    }
    tell(where, was, is)
  }
  private retold(text: string): string {
    return text.replaceAll(/[\w-]+/g, (word) => String(this.nameHere(word)))
  }
}
type Tell = (where: string, was: unknown, is: unknown) => void
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
