import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import type { Fields, JsonSchema } from '../../src/api/fields.ts'
import { exampleOf } from '../../src/docs/example.ts'
import type { Random } from '../sim/random.ts'
import type { Pool } from './pool.ts'
import { HOSTILE_NAMES, Raw, Twice, hostileJson, hostileText, jsonText } from './values.ts'

/** A request as it goes out; who signs it comes later. */
export interface Forged {
  readonly method: string
  /** Below the prefix, encoded. */
  readonly path: string
  /** As it stands in the URL. */
  readonly query: string
  readonly body: Buffer | undefined
  readonly mood: Mood
}

/** How much of a request is wrong. */
export type Mood = 'right' | 'spoiled' | 'rubbish'

/** Builds requests from declarations: right ones, ones with a few faults, and rubbish. */
export class Forge {
  private readonly random: Random
  private readonly pool: Pool
  private settle = 'usdt'
  constructor(random: Random, pool: Pool) {
    this.random = random
    this.pool = pool
  }
  mood(): Mood {
    const drawn = this.random.next()
    return drawn < 0.35 ? 'right' : drawn < 0.85 ? 'spoiled' : 'rubbish'
  }
  make(prefix: string, endpoint: AnyEndpoint, mood = this.mood()): Forged {
    const example = exampleOf(
      `${endpoint.method} ${prefix.replace('/console/api', '/api').replace('/console/operator', '/operator')}${endpoint.path}`,
    )
    const where = this.random.below(3)
    this.settle = this.pool.about(endpoint.path)
    const body = this.bodyOf(endpoint, example?.body, mood === 'spoiled' && where !== 0 ? 'right' : mood)
    return {
      mood,
      method: endpoint.method,
      path: this.pathOf(endpoint, mood === 'spoiled' && where !== 1 ? 'right' : mood),
      query: this.queryOf(endpoint, example?.path, mood === 'spoiled' && where !== 2 ? 'right' : mood),
      body: body === undefined ? undefined : this.bytesOf(body, mood),
    }
  }

  /** All that an endpoint takes, in one object: as calls over sockets name it. */
  param({ params, query, body }: AnyEndpoint, example: unknown, mood: Mood): unknown {
    if (mood === 'rubbish' && this.random.chance(0.3)) return hostileJson(this.random)
    const right: Record<string, unknown> = {}
    for (const [name, { schema, required }] of Object.entries({
      ...(params as Fields | undefined),
      ...(query as Fields | undefined),
    }))
      if (required || this.random.chance(0.3)) right[name] = this.pool.valid(name, schema)
    const inner =
      body === undefined
        ? undefined
        : example !== undefined && this.random.chance(0.7)
          ? this.freshened(structuredClone(example))
          : this.pool.valid('', body.schema)
    if (Array.isArray(inner)) return mood === 'right' ? inner : this.spoiled(inner)
    Object.assign(right, inner)
    if (mood === 'right') return right
    for (let i = 0; mood === 'rubbish' && i < 4; i++) this.spoilWithin(right)
    return this.spoiled(right)
  }
  /** Anything with faults in it. */
  spoil(right: object): unknown {
    return this.spoiled(right)
  }

  private pathOf({ path, params }: AnyEndpoint, mood: Mood): string {
    return path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const schema = (params as Fields | undefined)?.[name]?.schema ?? {}
      const hostile = mood === 'rubbish' || (mood === 'spoiled' && this.random.chance(0.7))
      const value = hostile
        ? hostileText(this.random)
        : name === 'settle'
          ? this.settle
          : String(this.pool.valid(name, schema))
      return hostile && this.random.chance(0.1) ? this.rawSegment() : encoded(value) || '1'
    })
  }
  private rawSegment(): string {
    return this.random.pick([
      '%',
      '%zz',
      '%ff',
      '%00',
      '%ed%a0%80',
      '..',
      '.',
      '%2e%2e',
      '%2f',
      ';a=b',
      '%c0%af',
      'a%20b',
      '+',
      '%u0041',
    ])
  }
  private queryOf({ query }: AnyEndpoint, example: string | undefined, mood: Mood): string {
    const { random, pool } = this
    const fields = Object.entries((query ?? {}) as Fields)
    const given = new Map(new URLSearchParams(example?.split('?')[1] ?? ''))
    const pairs: [string, string][] = []
    for (const [name, { schema, required }] of fields) {
      if (mood === 'rubbish' ? random.chance(0.6) : required || given.has(name) || random.chance(0.15)) {
        const told = given.get(name)
        const value =
          told !== undefined && random.chance(0.4) && !/^\d+$/.test(told)
            ? told
            : plain(pool.valid(name, schema))
        pairs.push([name, mood === 'rubbish' ? hostileText(random) : value])
      }
    }
    if (mood === 'spoiled')
      this.spoilPairs(
        pairs,
        fields.map(([name]) => name),
      )
    let text = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
    if (mood !== 'right' && random.chance(0.1))
      text += random.pick([
        '&',
        '&&=',
        '&%',
        '&a=%zz',
        '&=1',
        '&__proto__=1',
        '&__proto__[x]=1',
        '&a[]=1&a[]=2',
        ';b=2',
        '?c',
        '&%00=%00',
        `&${'a=1&'.repeat(200)}`,
      ])
    return text
  }
  private spoilPairs(pairs: [string, string][], names: readonly string[]): void {
    const { random } = this
    for (let i = 0; i <= random.below(2); i++) {
      const name = names.length === 0 || random.chance(0.1) ? random.pick(HOSTILE_NAMES) : random.pick(names)
      const at = pairs.findIndex(([one]) => one === name)
      const how = random.below(4)
      if (at === -1 || how === 0) pairs.push([name, hostileText(random)])
      else if (how === 1) pairs.push([name, pairs[at]![1]])
      else if (how === 2) pairs.splice(at, 1)
      else pairs[at] = [name, hostileText(random)]
    }
  }

  private bodyOf({ body: field }: AnyEndpoint, example: unknown, mood: Mood): unknown {
    const { random } = this
    if (field === undefined)
      return mood === 'right' ? undefined : random.chance(0.3) ? hostileJson(random) : undefined
    if (mood === 'rubbish') return this.rubbish(field.schema)
    const right =
      example !== undefined && random.chance(0.7)
        ? this.freshened(structuredClone(example))
        : this.pool.valid('', field.schema)
    return mood === 'right' ? right : this.spoiled(right)
  }
  /** Ids of a test long ago become ids of now. */
  private freshened(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) return value.map((item) => this.freshened(item, name))
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(
        Object.entries(value).map(([member, inner]) => [member, this.freshened(inner, member)]),
      )
    const known = this.random.chance(name === 'contract' || name.endsWith('id') ? 0.9 : 0.15)
      ? this.pool.of(name)
      : undefined
    return known === undefined || typeof known !== typeof value ? value : known
  }
  private rubbish(schema: JsonSchema): unknown {
    const { random } = this
    if (random.chance(0.1)) return hostileJson(random)
    const properties = Object.keys(
      schema['properties'] ?? (schema['items'] as JsonSchema | undefined)?.['properties'] ?? {},
    )
    const body: Record<string, unknown> = {}
    for (const name of properties) if (random.chance(0.7)) body[name] = hostileJson(random)
    return schema['type'] === 'array' ? Array.from({ length: random.below(4) }, () => body) : body
  }
  /** One or two places of it are not what they should be. */
  private spoiled(right: unknown): unknown {
    const { random } = this
    if (right === null || typeof right !== 'object' || right instanceof Raw || random.chance(0.03))
      return hostileJson(random)
    for (let i = 0; i <= random.below(2); i++) this.spoilWithin(right as Record<string, unknown>)
    return right
  }
  private spoilWithin(source: Record<string, unknown>): void {
    const { random } = this
    const names = Object.keys(source)
    if (Array.isArray(source) && names.length === 0) {
      source.push(hostileJson(random))
      return
    }
    const name =
      !Array.isArray(source) && (names.length === 0 || random.chance(0.05))
        ? random.pick(HOSTILE_NAMES)
        : random.pick(names)
    const before = Object.hasOwn(source, name) ? source[name] : undefined
    if (
      before !== null &&
      typeof before === 'object' &&
      !(before instanceof Raw) &&
      !(before instanceof Twice) &&
      random.chance(0.6)
    ) {
      this.spoilWithin(before as Record<string, unknown>)
      return
    }
    const how = random.below(8)
    // As a computed member of a literal it is no way to the prototype.
    const put = (value: unknown): void =>
      void Object.defineProperty(source, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    if (how === 0) Reflect.deleteProperty(source, name)
    else if (how === 1) put([before])
    else if (how === 2) put({ [name]: before })
    else if (how === 3 && !Array.isArray(source)) put(new Twice(before ?? 1, hostileJson(random)))
    else if (how === 4 && typeof before === 'string')
      put(new Raw(/^-?\d+(\.\d+)?$/.test(before) ? before : 'null'))
    else put(hostileJson(random))
  }
  /** The text of a body, and now and then something that is no text, or another one. */
  private bytesOf(body: unknown, mood: Mood): Buffer {
    const { random } = this
    const text = jsonText(body)
    const bytes = Buffer.from(text)
    if (mood === 'right' || !random.chance(0.12)) return bytes
    const kinds: readonly (() => Buffer)[] = [
      () => bytes.subarray(0, random.below(bytes.length + 1)),
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
      () => Buffer.from(text, 'utf16le'),
      () => Buffer.from(text, 'latin1'),
      () =>
        Buffer.concat([
          bytes.subarray(0, bytes.length >> 1),
          Buffer.from([0xff, 0xc0, 0x80]),
          bytes.subarray(bytes.length >> 1),
        ]),
      () => Buffer.from(`/* a */ ${text}`),
      () => Buffer.from(text.replaceAll('"', "'")),
      () => Buffer.from(text.replace(/}$/, ',}')),
      () => Buffer.from(new URLSearchParams({ a: text }).toString()),
      () => Buffer.alloc(0),
      () => Buffer.alloc(random.below(300), 0),
      () => Buffer.from(`[${text}]`),
      () => Buffer.from(`${' '.repeat(2_000)}${text}\n`),
    ]
    return random.pick(kinds)()
  }
}

const plain = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(plain).join(',')
    : value !== null && typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
/** Lone surrogates too, as the bytes that they would be. */
export function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return [...Buffer.from(text.toWellFormed())]
      .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
      .join('')
  }
}
