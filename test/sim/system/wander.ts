import type { AnyEndpoint } from '../../../src/api/endpoint.ts'
import { operatorEndpoints, tradingEndpoints } from '../../../src/endpoints.ts'
import { Forge } from '../../fuzz/forge.ts'
import { Pool, scopeOf } from '../../fuzz/pool.ts'
import { Random } from '../random.ts'
import type { Cast, Member } from './cast.ts'
import type { Answer, House } from './house.ts'
import type { Step } from './plan.ts'

/** What would change the world for those whom the model follows, or end it, is left to steps of their own. */
const LEFT_OUT =
  /^(POST \/(clock|reset|operators|faults|console|agents|markets\/(halt|resume)|proposals|due|users)|PUT \/(faults|policy|prices)|DELETE \/(operators|orders|sockets)|PATCH \/chains)\b/
/** Of operators: these are about somebody, or about a chain, that the model does not follow. */
const ABOUT_USERS = /^(PATCH|POST) \/users\/\{uid\}/
const ABOUT_MONEY = /^POST \/(withdrawals|deposits|push)\/\{id\}/
const CHAINS = ['TRX', 'SOL', 'DOGE'] as const
const LISTED = /^(POST|PATCH) \/(markets|currencies|contracts)\//
const COINS = { TRX: 'TRX', SOL: 'SOL', DOGE: 'DOGE' } as const
const RECENT = 30
const CANDIDATES = 3

/** Strays and operators who use any endpoint there is, rightly or with a fault. What they do is held against the invariants alone. */
export class Wander {
  private readonly random = new Random(0)
  private readonly pool = new Pool(this.random)
  private readonly forge = new Forge(this.random, this.pool)
  /** What each endpoint has done for anybody so far. */
  private readonly succeeded = new Map<AnyEndpoint, number>()
  private readonly house: House
  private readonly cast: Cast
  private readonly trading: readonly AnyEndpoint[]
  private readonly operator: readonly AnyEndpoint[]

  constructor(house: House, cast: Cast) {
    this.house = house
    this.cast = cast
    // Those that change something three times as often as those that look.
    this.trading = tradingEndpoints.flatMap((one) => (one.method === 'GET' ? [one] : [one, one, one]))
    this.operator = operatorEndpoints(undefined as never)
      .filter(
        ({ method, path }) => !LEFT_OUT.test(`${method} ${path}`) || ABOUT_USERS.test(`${method} ${path}`),
      )
      .flatMap((one) => (one.method === 'GET' ? [one] : [one, one, one, one]))
    for (const settle of ['usdt', 'btc'])
      this.pool.contracts.set(`futures/${settle}`, settle === 'usdt' ? ['ETH_USDT', 'SOL_USDT'] : ['BTC_USD'])
  }
  /** What others were answered may be named too. */
  saw(path: string, body: unknown, owner: number): void {
    this.pool.see(body, scopeOf(`/api/v4${path}`), owner)
  }
  /** Tells which endpoint it was, and what was answered; undefined: nothing was sent. */
  async anything(step: Step): Promise<{ name: string; answer: Answer } | undefined> {
    Object.assign(this.random, new Random(step.n[0]!))
    for (const { user } of this.cast.strays.slice(-5)) this.pool.see({ user_id: user })
    return step.n[1]! % 3 === 0
      ? this.operate()
      : this.trade(this.cast.strays[step.who % this.cast.strays.length]!)
  }
  private async trade(anybody: Member): Promise<{ name: string; answer: Answer } | undefined> {
    const endpoint = this.seldom(this.trading)
    const made = this.forge.make('/api/v4', endpoint, this.random.chance(0.85) ? 'right' : 'spoiled')
    const path = elsewhere(made.path)
    const query = elsewhere(made.query)
    const body = made.body === undefined ? undefined : Buffer.from(elsewhere(made.body.toString()))
    if (this.followed(path, query, body?.toString())) return undefined
    // Mostly who owns what it names.
    const owner = this.random.chance(0.9) ? this.pool.owner : undefined
    const { user, credential } = this.cast.strays.find((one) => one.user === owner) ?? anybody
    const answer = await this.house.signed(credential, made.method, `/api/v4${path}`, query, body)
    if (answer.status < 300) this.pool.see(answer.body, scopeOf(`/api/v4${endpoint.path}`), user)
    this.count(endpoint, answer)
    return { name: `${endpoint.method} /api/v4${endpoint.path}`, answer }
  }
  private async operate(): Promise<{ name: string; answer: Answer } | undefined> {
    const { random } = this
    const endpoint = this.seldom(this.operator)
    const told = `${endpoint.method} ${endpoint.path}`
    const made = this.forge.make('/operator/v1', endpoint, random.chance(0.85) ? 'right' : 'spoiled')
    const chain = random.pick(CHAINS)
    const stray = random.pick(this.cast.strays).user
    let [path, body] = [made.path, made.body?.toString()]
    if (ABOUT_USERS.test(told)) path = endpoint.path.replace('{uid}', String(stray)).replace('{key}', 'none')
    if (ABOUT_MONEY.test(told)) {
      const id = this.idOf(/^POST \/(\w+)/.exec(told)![1]!)
      if (id === undefined) return undefined
      path = endpoint.path.replace('{id}', id)
    }
    if (endpoint.path.startsWith('/chains/{chain}')) {
      path = path.replace(/^\/chains\/[^/]*/, `/chains/${chain}`)
      if (told.endsWith('/deposits'))
        body = JSON.stringify({
          user_id: stray,
          currency: COINS[chain],
          amount: String(1 + random.below(900)),
        })
      if (told.endsWith('/reorg')) body = JSON.stringify({ depth: 1 + random.below(12), drop: [] })
      if (told.endsWith('/transactions/{txid}')) {
        const tx = random.pick([...this.house.state.sim.txsOf(chain), undefined].slice(-RECENT))
        path = `/chains/${chain}/transactions/${tx?.txid ?? 'none'}`
      }
    }
    if (LISTED.test(told))
      path = path.replace(/BTC_USDT|ETH_USDT|btc_usdt/, 'DOGE_USDT').replace(/\b(BTC|ETH|USDT)$/, 'DOGE')
    if (endpoint.method !== 'GET' && this.followed(path, made.query, body)) return undefined
    const full = `${path}${made.query === '' ? '' : `?${made.query}`}`
    const answer = await this.house.operateRaw(endpoint.method, full, body)
    if (answer.status < 300) this.pool.see(answer.body, scopeOf(`/operator/v1${endpoint.path}`))
    this.count(endpoint, answer)
    return { name: `${endpoint.method} /operator/v1${endpoint.path}`, answer }
  }
  /** Of a few the one that has succeeded least often, so that all get their turn. */
  private seldom(all: readonly AnyEndpoint[]): AnyEndpoint {
    const few = Array.from({ length: CANDIDATES }, () => this.random.pick(all))
    const times = (one: AnyEndpoint): number => this.succeeded.get(one) ?? 0
    return few.reduce((best, one) => (times(one) < times(best) ? one : best))
  }
  /** A refusal counts a little: some are never anything else. */
  private count(endpoint: AnyEndpoint, { status }: Answer): void {
    this.succeeded.set(endpoint, (this.succeeded.get(endpoint) ?? 0) + (status < 300 ? 1 : 0.1))
  }
  /** One of the newest that belong to strays. */
  private idOf(kind: string): string | undefined {
    const { wallet } = this.house.state
    const strays = new Set(this.cast.strays.map(({ user }) => user))
    const { withdrawals, deposits, pushes } = wallet
    const rows =
      { withdrawals: withdrawals.table, deposits: deposits.table, push: pushes }[kind]?.values() ?? []
    const ids: string[] = []
    for (const row of rows as Iterable<{ id: unknown; user_id?: number; push_uid?: number }>)
      if (strays.has(row.user_id ?? row.push_uid ?? 0)) ids.push(String(row.id))
    return ids.length === 0 ? undefined : this.random.pick(ids.slice(-RECENT))
  }
  /** Whether it names somebody whom the model follows. */
  private followed(...texts: readonly (string | undefined)[]): boolean {
    for (const text of texts)
      for (const [id] of (text ?? '').matchAll(/\d{5,}/g)) if (this.cast.followed.has(Number(id))) return true
    return false
  }
}
/** The market that the model has is the model's. */
const elsewhere = (text: string): string => text.replaceAll(/btc_usdt/gi, 'ETH_USDT')
