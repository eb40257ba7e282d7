import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import { FIRST_OPERATOR } from '../../src/core/operators/operators.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../../src/endpoints.ts'
import { Random } from '../sim/random.ts'
import { brokenBytes, faultOfBroken } from './broken-http.ts'
import { Forge, type Forged, type Mood } from './forge.ts'
import { proofLines, requestBytes, spoilLines, type Proof } from './heads.ts'
import { faultOf } from './judge.ts'
import { Pool, scopeOf } from './pool.ts'
import { fuzzSockets } from './sockets.ts'
import { Lane, type WireReply } from './wire.ts'
import { FuzzWorld } from './world.ts'

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  /** Processes that speak HTTP in front of the core. */
  readonly gateways: number
}
export interface FuzzReport {
  requests: number
  /** HTTP statuses, and kinds of frames. */
  readonly statuses: Record<string, number>
  readonly labels: Record<string, number>
  /** Endpoints that were called, and those of them that once did what they were asked. */
  readonly called: Set<string>
  readonly succeeded: Set<string>
  readonly violations: string[]
  /** Bytes that the heap held after a collection: at the end of what changes things, and while nothing is changed. */
  readonly heap: number[]
  /** From the first of these to the last. */
  growth: number
}
/** Many times what it varies by; a leak of 2 KB in each request is more. */
export const HEAP_GROWTH_MAX = 5_000_000

/** They would end the world that the others are sent to. */
const LEFT_OUT = new Set(['POST /operator/v1/reset'])
/** They act on whatever else is under way. */
const ALONE = /^(PUT|POST) \/operator\/v1\/(faults|clock)$/
/** A password is hashed for each of them, which is slow on purpose. */
const SLOW_EVERY = 8
const SLOW = /\/(sign-in|sign-up|password|elevate|factor)/
/** They take away what all others need: only what nobody trades is meant. */
const TAKES_AWAY = /\/(halt|delist|relist|remove|resume)$|^\/(chains|currencies|markets|contracts)\//
const LANES = 16
const PEOPLE_EVERY = 2_500
/** So many of the last answers may say that somebody is let in no more; then everybody comes anew. */
const SHUT_OUT = 60
const SIGNED_OUT = 8

interface Target {
  readonly prefix: string
  readonly endpoint: AnyEndpoint
  readonly name: string
}
const targetsOf = (prefix: string, list: readonly AnyEndpoint[]): Target[] =>
  list
    .map((endpoint) => ({ prefix, endpoint, name: `${endpoint.method} ${prefix}${endpoint.path}` }))
    .filter(({ name }) => !LEFT_OUT.has(name.replace('/console/operator', '/operator')))
const OPERATOR = operatorEndpoints(undefined as never)
const GROUPS = {
  trading: targetsOf('/api/v4', tradingEndpoints),
  operator: targetsOf('/operator/v1', OPERATOR),
  console: targetsOf('/console/v1', consoleEndpoints({ surface: 'all' } as never)),
  page: [...targetsOf('/console/api/v4', tradingEndpoints), ...targetsOf('/console/operator/v1', OPERATOR)],
}
export const ALL_TARGETS: readonly string[] = [...GROUPS.trading, ...GROUPS.operator, ...GROUPS.console].map(
  ({ name }) => name,
)
const ALONE_TARGETS = GROUPS.operator.filter(({ name }) => ALONE.test(name))
type Group = keyof typeof GROUPS
const SHARES: readonly [Group, number][] = [
  ['trading', 0.6],
  ['operator', 0.2],
  ['console', 0.06],
  ['page', 0.14],
]
/** Of all requests: frames of sockets, HTTP that is none, and what is sent when nothing may change. */
const FRAMES = 0.15
const BROKEN = 0.05
const QUIET = 0.25

/** One world, and as many requests as are asked for. */
export class Fuzz {
  private readonly options: FuzzOptions
  private readonly random: Random
  private readonly pool: Pool
  private readonly forge: Forge
  private readonly turns = new Map<Group, number>()
  private world!: FuzzWorld
  readonly report: FuzzReport = {
    requests: 0,
    statuses: {},
    labels: {},
    called: new Set(),
    succeeded: new Set(),
    violations: [],
    heap: [],
    growth: 0,
  }
  private constructor(options: FuzzOptions) {
    this.options = options
    this.random = new Random(options.seed)
    this.pool = new Pool(this.random)
    this.forge = new Forge(this.random, this.pool)
  }
  static async run(options: FuzzOptions): Promise<FuzzReport> {
    const fuzz = new Fuzz(options)
    fuzz.world = await FuzzWorld.open(options.gateways)
    try {
      await fuzz.go()
    } finally {
      await fuzz.world.close()
    }
    return fuzz.report
  }

  private async go(): Promise<void> {
    const { requests } = this.options
    const { world, pool, report } = this
    await world.learn(pool)
    const lanes = Array.from({ length: LANES }, () => new Lane(world.url))
    const http = Math.floor(requests * (1 - FRAMES - BROKEN - QUIET))
    for (let people = PEOPLE_EVERY; report.requests < http;) {
      await this.batch(lanes, undefined)
      if (report.requests > people || this.shutOut > SHUT_OUT) {
        people = report.requests + PEOPLE_EVERY
        await this.renew()
      } else if (this.signedOut > SIGNED_OUT) {
        this.signedOut = 0
        await world.sessions()
      }
    }
    await this.renew()
    const frames = await fuzzSockets(world, this.random, pool, Math.floor(requests * FRAMES))
    report.requests += frames.sent
    report.violations.push(...frames.violations)
    for (const [kind, count] of Object.entries(frames.kinds))
      report.statuses[kind] = (report.statuses[kind] ?? 0) + count
    await this.broken(Math.floor(requests * BROKEN))
    await world.prove()
    await this.quiet(lanes, requests - report.requests)
    for (const lane of lanes) lane.close()
    await world.prove()
  }
  private shutOut = 0
  private alone = 0
  private signedOut = 0
  private async renew(): Promise<void> {
    this.shutOut = 0
    await this.world.people()
    await this.world.learn(this.pool)
  }

  private target(reads: boolean): { group: Group; target: Target } {
    const { random } = this
    for (;;) {
      let drawn = random.next()
      const group = SHARES.find(([, share]) => (drawn -= share) < 0)?.[0] ?? 'trading'
      const list = GROUPS[group]
      // In turn, from a place that the seed decides: all of them come, and each world begins elsewhere.
      const turn = (this.turns.get(group) ?? random.below(list.length) - 1) + 1
      this.turns.set(group, turn)
      const target = list[turn % list.length]!
      if (reads && target.endpoint.method !== 'GET') continue
      if (SLOW.test(target.name) && Math.floor(turn / list.length) % SLOW_EVERY !== 0) continue
      return { group, target }
    }
  }
  private async batch(lanes: readonly Lane[], mood: Mood | undefined, reads = false): Promise<void> {
    await Promise.all(
      lanes.map(async (lane) => {
        const { group, target } = this.target(reads)
        if (ALONE.test(target.name.replace('/console', ''))) return
        await this.one(lane, group, target, mood)
      }),
    )
    if (reads || !this.random.chance(0.02)) return
    const alone = ALONE_TARGETS[this.alone++ % ALONE_TARGETS.length]!
    await this.one(lanes[0]!, 'operator', alone, mood)
    await this.world.platform.operator.ok('PUT', '/faults', [])
  }

  private async one(lane: Lane, group: Group, target: Target, mood: Mood | undefined): Promise<void> {
    const { random, report } = this
    const forged = this.tame(target, this.forge.make(target.prefix, target.endpoint, mood))
    const proof = this.proof(group, target)
    const asked =
      proof !== undefined && 'credential' in proof
        ? this.world.actors.find(({ credential }) => credential === proof.credential)?.user_id
        : undefined
    const lines = proofLines(forged, target.prefix, proof)
    const spoiled = random.chance(0.12)
    if (spoiled) spoilLines(lines, random)
    const several = !spoiled && random.chance(0.03) ? 2 + random.below(3) : 1
    const bytes = requestBytes(forged, target.prefix, lines, random.chance(0.1) ? random : undefined)
    let replies: WireReply[]
    report.requests += several
    report.called.add(target.name)
    try {
      replies = await lane.send(
        several === 1 ? bytes : Buffer.concat(Array.from({ length: several }, () => bytes)),
        several,
      )
    } catch (error) {
      this.violated(bytes, (error as Error).message)
      return
    }
    for (const reply of replies) this.judge(target, forged, reply, bytes, asked)
  }
  private judge(
    target: Target,
    forged: Forged,
    reply: WireReply,
    bytes: Buffer,
    asked: number | undefined,
  ): void {
    const { report } = this
    report.statuses[reply.status] = (report.statuses[reply.status] ?? 0) + 1
    const path = target.prefix + forged.path
    const fault = faultOf(forged.method, path, reply)
    if (fault !== undefined && !this.excused(reply)) this.violated(bytes, `${target.name}: ${fault}`)
    const text = reply.body.toString()
    if (text === '') {
      if (reply.status < 300) report.succeeded.add(target.name)
      return
    }
    const body = JSON.parse(text) as { label?: string }
    if (reply.status < 300) {
      report.succeeded.add(target.name)
      this.pool.see(body, scopeOf(target.prefix + target.endpoint.path), asked)
    } else report.labels[body.label ?? ''] = (report.labels[body.label ?? ''] ?? 0) + 1
    if (body.label === 'ACCOUNT_LOCKED' || body.label === 'INVALID_KEY') this.shutOut++
    if (body.label === 'INVALID_CREDENTIALS') this.signedOut++
  }
  /** A head that asked for it: the host is another, or the expectation can't be met. */
  private excused({ status, body }: WireReply): boolean {
    return (
      (status === 403 || status === 417 || status === 400 || status === 426) &&
      /"label":"(FORBIDDEN|BAD_REQUEST|INVALID_PROTOCOL)"/.test(body.toString())
    )
  }
  /** What would take the world away from the others is aimed at what nobody needs. */
  private tame({ prefix, endpoint, name }: Target, forged: Forged): Forged {
    if (name.endsWith('POST /operator/v1/clock') || name.endsWith('POST /console/operator/v1/clock')) {
      const tame = [
        '{"advance_seconds":1}',
        '{"advance_seconds":600}',
        '{"advance_seconds":0}',
        '{"now":1}',
        '{"advance_seconds":"x"}',
        '{"advance_seconds":1e999}',
        '{"advance_seconds":-1}',
        '{}',
        '[]',
        '{"now":null,"advance_seconds":3700}',
      ]
      return { ...forged, body: Buffer.from(this.random.pick(tame)) }
    }
    if (forged.method !== 'GET' && prefix.includes('operator') && TAKES_AWAY.test(endpoint.path))
      return {
        ...forged,
        path: forged.path.replace(/(BTC|ETH|USDT|btc|usdt)(?=\/|$)|BTC_USDT|ETH_USDT|btc_usdt/, (found) =>
          found.includes('_') ? 'DOGE_USDT' : 'DOGE',
        ),
      }
    // Whoever sets the world right again stays.
    if (endpoint.path.startsWith('/operators/{name}') && forged.path.split('/')[2] === FIRST_OPERATOR)
      return { ...forged, path: endpoint.path.replace('{name}', 'nobody') }
    if (name.includes('/markets/halt')) return { ...forged, body: Buffer.from('[]') }
    return forged
  }
  private proof(group: Group, { endpoint, prefix }: Target): Proof {
    const { random, world } = this
    const { access, method } = endpoint
    if (random.chance(0.03)) return undefined
    if (group === 'operator') return { lines: [['Authorization', `Bearer ${world.admin.token}`]] }
    if (group === 'trading') {
      if (access.kind === 'public' && random.chance(0.8)) return undefined
      // Most often whoever has what is named asks for it.
      const owner = random.chance(0.85)
        ? world.actors.find(({ user_id }) => user_id === this.pool.owner)
        : undefined
      return { credential: (owner ?? random.pick(world.actors)).credential, now: world.platform.now() }
    }
    const browser =
      prefix.includes('operator') || (access.kind === 'session' && random.chance(0.3))
        ? world.desk
        : world.account
    const csrf = browser.csrf.get('operator') ?? browser.csrf.get('account') ?? ''
    return {
      lines: [
        ['Cookie', browser.cookie],
        ...(method === 'GET'
          ? []
          : ([
              ['Origin', 'http://127.0.0.1'],
              ['X-Kontor-CSRF', csrf],
            ] as [string, string][])),
      ],
    }
  }

  private async broken(count: number): Promise<void> {
    const { report, random } = this
    for (let i = 0; i < count; i += LANES)
      await Promise.all(
        Array.from({ length: Math.min(LANES, count - i) }, async () => {
          const { group, target } = this.target(false)
          if (ALONE.test(target.name.replace('/console', ''))) return
          const forged = this.tame(target, this.forge.make(target.prefix, target.endpoint, 'right'))
          const whole = requestBytes(
            forged,
            target.prefix,
            proofLines(forged, target.prefix, this.proof(group, target)),
            undefined,
          )
          const bytes = brokenBytes(whole, random)
          report.requests++
          report.statuses['broken'] = (report.statuses['broken'] ?? 0) + 1
          const fault = await faultOfBroken(this.world.url, bytes)
          if (fault !== undefined) this.violated(bytes, `broken HTTP: ${fault}`)
        }),
      )
  }
  /** Nothing is changed by what only reads: so nothing may be held that was not held before. */
  private async quiet(lanes: readonly Lane[], count: number): Promise<void> {
    const { report } = this
    const begun = report.requests
    for (const part of [0.2, 0.6, 1]) {
      while (report.requests < begun + count * part) await this.batch(lanes, undefined, true)
      report.heap.push(heapNow())
    }
    report.growth = report.heap.at(-1)! - report.heap[0]!
  }
  private violated(bytes: Buffer, what: string): void {
    if (this.report.violations.length < 200)
      this.report.violations.push(`${what}\n    ${JSON.stringify(bytes.toString('latin1').slice(0, 1_500))}`)
  }
}

let collect: (() => void) | undefined
/** What is held after everything that nobody needs is gone. */
function heapNow(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  assert.ok(heapUsed > 0)
  return heapUsed + external
}
