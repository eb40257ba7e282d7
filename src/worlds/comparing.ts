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

/** What is meant by an id: an order's may be the same number as a trade's. */
function kindOf(member: string, path: string): string {
  if (/^(main_|sub_)?uid$|^user(_id)?$/.test(member)) return 'user'
  const noun = /^ids?$/.test(member) ? nounIn(path) : member.replace(/_(id|key)s?$/, '')
  return noun.replace(/^my_/, '').replace(/s$/, '')
}
/** The last word of a path that is no id. */
const nounIn = (path: string): string =>
  path
    .split('/')
    .reverse()
    .find((part) => /^[a-z_]{3,}$/.test(part)) ?? ''

/** Recorded answers against those of another world, in which the same things may have other names. */
export class Answers {
  readonly differences: Difference[] = []
  /** By kind and name. */
  private readonly here = new Map<string, string>()
  private readonly there = new Map<string, string>()
  /** By name alone, for who does not know the kind: as long as there is one. */
  private readonly any = new Map<string, string | undefined>()
  /** Its times are its own as well. */
  private readonly foreign: boolean

  constructor(foreign: boolean) {
    this.foreign = foreign
  }
  /** What is called so in the recording has this name here; false: one of the two has another already. */
  learn(kind: string, recorded: Scalar, here: Scalar): boolean {
    const [was, is] = [`${kind} ${recorded}`, `${kind} ${here}`]
    const [known, named] = [this.here.get(was), this.there.get(is)]
    if (known !== undefined || named !== undefined) return known === is && named === was
    this.here.set(was, is)
    this.there.set(is, was)
    const name = String(recorded)
    const other = this.any.has(name) && this.any.get(name) !== String(here)
    this.any.set(name, other ? undefined : String(here))
    return true
  }
  pathHere(path: string): string {
    const parts = path.split('/')
    return parts
      .map((part, i) =>
        encodeURIComponent(this.nameHere(decoded(part), kindOf('id', parts.slice(0, i).join('/')))),
      )
      .join('/')
  }
  queryHere(query: string, path: string): string {
    return query
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=')
        if (at === -1) return pair
        const value = decoded(pair.slice(at + 1).replaceAll('+', ' '))
        const mapped = this.nameHere(value, kindOf(pair.slice(0, at), path))
        return mapped === value ? pair : `${pair.slice(0, at)}=${encodeURIComponent(mapped)}`
      })
      .join('&')
  }
  bodyHere(body: unknown, path: string, name = ''): unknown {
    if (body === MASK) return STAND_IN
    if (isScalar(body)) {
      const mapped = this.nameHere(String(body), kindOf(name, path))
      return typeof body === 'number' ? Number(mapped) : mapped
    }
    if (Array.isArray(body)) return body.map((item) => this.bodyHere(item, path, name))
    if (!isObject(body)) return body
    return Object.fromEntries(
      Object.entries(body).map(([member, value]) => [member, this.bodyHere(value, path, member)]),
    )
  }
  /** Amounts are no names, whatever else is called so: unless its kind says so, only what is long enough is one. */
  private nameHere(value: string, kind: string): string {
    const found = this.here.get(`${kind} ${value}`)
    if (found !== undefined) return found.slice(kind.length + 1)
    return (value.length >= 8 ? this.any.get(value) : undefined) ?? value
  }

  compare(
    line: number,
    request: string,
    path: string,
    recorded: { readonly status: number; readonly reply?: unknown },
    replayed: { readonly status: number; readonly reply?: unknown },
  ): void {
    const tell = (where: string, was: unknown, is: unknown): void =>
      void this.differences.push({ line, request, where, recorded: shown(was), replayed: shown(is) })
    if (recorded.status !== replayed.status) tell('status', recorded.status, replayed.status)
    this.walk({ path, tell }, 'reply', '', recorded.reply, replayed.reply)
  }
  private walk(walk: Walk, where: string, name: string, was: unknown, is: unknown): void {
    const { path, tell } = walk
    if (Array.isArray(was) && Array.isArray(is)) {
      if (was.length !== is.length) tell(`${where}.length`, was.length, is.length)
      for (let i = 0; i < Math.min(was.length, is.length); i++)
        this.walk(walk, `${where}.${i}`, name, was[i], is[i])
      return
    }
    if (isObject(was) && isObject(is)) {
      for (const member of new Set([...Object.keys(was), ...Object.keys(is)]))
        this.walk(walk, `${where}.${member}`, member, was[member], is[member])
      return
    }
    if (was === is) {
      if (isScalar(was) && NAMES.test(name)) this.learn(kindOf(name, path), was, was)
      return
    }
    if (isScalar(was) && isScalar(is) && typeof was === typeof is) {
      if (was === MASK || is === MASK) return
      if (NAMES.test(name) && this.learn(kindOf(name, path), was, is)) return
      if (this.foreign && TIMES.test(name)) return
      // A message may tell what something is called.
      if (typeof was === 'string' && this.retold(was) === is) return
    }
    tell(where, was, is)
  }
  private retold(text: string): string {
    return text.replaceAll(/[\w-]+/g, (word) => this.any.get(word) ?? word)
  }
}
interface Walk {
  readonly path: string
  readonly tell: (where: string, was: unknown, is: unknown) => void
}
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
