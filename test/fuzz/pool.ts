import type { JsonSchema } from '../../src/api/fields.ts'
import type { Random } from '../sim/random.ts'

const KEPT = 40
const DEPTH = 4
const PRICES = ['60000', '59000', '61000', '30000', '3000', '2900.5', '0.1', '1']
const AMOUNTS = [
  '1',
  '0.001',
  '0.01',
  '0.1',
  '5',
  '10',
  '100',
  '1000',
  '0',
  '0.00000001',
  '0.000000000000000001',
  '99999999999999999999',
]
const CURRENCIES = ['USDT', 'BTC', 'ETH', 'GT', 'DOGE', 'USDC', 'POINT', 'usdt']
const PAIRS = ['BTC_USDT', 'ETH_USDT', 'DOGE_USDT', 'btc_usdt']
/** Names of parameters that mean the same. */
const SAME: Readonly<Record<string, string>> = {
  uid: 'user_id',
  sub_uid: 'user_id',
  sub_account: 'user_id',
  sub_account_from: 'user_id',
  sub_account_to: 'user_id',
  receive_uid: 'user_id',
  push_uid: 'user_id',
  order_id: 'id',
  id_string: 'id',
  tx_id: 'id',
  withdraw_id: 'id',
  loan_id: 'id',
  last_id: 'id',
  market: 'currency_pair',
  client_order_id: 'text',
  withdraw_order_id: 'text',
}
const KNOWN: Readonly<Record<string, readonly unknown[]>> = {
  currency: CURRENCIES,
  currencies: [...CURRENCIES, 'BTC,ETH'],
  currency_pair: PAIRS,
  currency_pairs: [...PAIRS, 'BTC_USDT,ETH_USDT'],
  contract: ['BTC_USDT', 'ETH_USDT', 'BTC_USD', 'DOGE_USDT'],
  settle: ['usdt', 'btc', 'USDT'],
  group: ['futures', 'delivery'],
  chain: ['ETH', 'BTC', 'TRX', 'SOL', 'DOGE', 'eth'],
  price: PRICES,
  trigger_price: PRICES,
  limit_price: PRICES,
  amount: AMOUNTS,
  size: [1, -1, 2, -3, 0, '5', '-5', 1_000_000],
  limit: [1, 2, 10, 100, 1000],
  page: [1, 2, 1000],
  offset: [0, 1, 100],
  leverage: ['0', '1', '5', '10', '125'],
  reason: ['because', ''],
  section: ['orders', 'trades', 'ledger', 'deposits', 'withdrawals'],
  interval: ['1m', '5m', '1h', '1d', '10s', '7d'],
  name: ['fuzz', 'fuzz_2', 'demo'],
  login_name: ['fuzz_login', 'another_1'],
  password: ['correct horse battery', 'x'],
}
const GENERATED = new Set([
  ...Object.keys(KNOWN),
  'id',
  'user_id',
  'text',
  'key',
  'address',
  'txid',
  'conn_id',
  'stp_id',
  'memo',
])

/** Where things with ids of one kind are: what a path names before its parameters. */
export function scopeOf(path: string): string {
  const plain = path
    .replace(/^\/console(?=\/(api|operator))/, '')
    .replace(/^\/(api\/v4|operator\/v1|console\/v1)/, '')
  const [kind] = plain.replace(/\/(futures|delivery)\/(\{settle\}|\w+)/, '/$1').split('/{')
  return kind!
    .replace(
      /\/(batch_cancel|batch_amend|cancel_batch|amend_batch|batch|bbo|open|finished)_orders.*/,
      '/orders',
    )
    .replace(/\/(trail|chase)\/\w+$/, '/$1')
    .replace(/\/(orders|price_orders|sub_accounts|withdrawals|deposits)\/.*$/, '/$1')
    .replace(/^\/wallet\/(withdrawals|deposits|push)/, '/$1')
    .replace('/wallet/sub_account_transfers', '/sub_accounts')
    .replace('/wallet/sub_account_to_sub_account', '/sub_accounts')
}
interface Seen {
  readonly value: unknown
  /** Whose it is, as far as somebody asked for it. */
  readonly owner: number | undefined
}

/** What there is: names that the platform has, and ids that its answers told. */
export class Pool {
  private readonly random: Random
  private readonly seen = new Map<string, Seen[]>()
  /** Contracts by group and settle currency. */
  readonly contracts = new Map<string, string[]>()
  private account = 'futures/usdt'
  private scope = ''
  /** Whose thing the last request names. */
  owner: number | undefined
  constructor(random: Random) {
    this.random = random
  }
  /** What the next request is about: its contracts are those of this account, its ids those of this place. */
  about(path: string): string {
    const settle = this.random.pick(['usdt', 'usdt', 'usdt', 'btc'])
    this.account = `${path.startsWith('/delivery') ? 'delivery' : 'futures'}/${settle}`
    this.scope = scopeOf(path)
    this.owner = undefined
    return settle
  }
  /** Keeps what an answer tells that a later request may name. */
  see(value: unknown, scope = '', owner?: number, depth = 0): void {
    if (value === null || typeof value !== 'object' || depth > DEPTH) return
    if (Array.isArray(value)) {
      for (const item of value.slice(0, 5)) this.see(item, scope, owner, depth + 1)
      return
    }
    for (const [name, member] of Object.entries(value)) {
      const same = SAME[name] ?? name
      if (typeof member === 'object') this.see(member, scope, owner, depth + 1)
      else if (GENERATED.has(same) && member !== '' && member !== 0) {
        this.keep(same, { value: member, owner })
        if (scope !== '') this.keep(`${scope} ${same}`, { value: member, owner })
      }
    }
  }
  private keep(name: string, seen: Seen): void {
    if (String(seen.value).length > 128) return
    const list = this.seen.get(name) ?? []
    if (list.length < KEPT) list.push(seen)
    else list[this.random.below(KEPT)] = seen
    this.seen.set(name, list)
  }
  /** Something of this name; undefined: nothing is known of it. */
  of(name: string): unknown {
    const same = SAME[name] ?? name
    const { random } = this
    if (same === 'contract' && random.chance(0.9))
      return random.pick(this.contracts.get(this.account) ?? ['BTC_USDT'])
    const known = KNOWN[same]
    const seen =
      (random.chance(0.85) ? this.seen.get(`${this.scope} ${same}`) : undefined) ?? this.seen.get(same)
    if (known !== undefined && (seen === undefined || random.chance(0.8))) return random.pick(known)
    if (seen === undefined) return undefined
    const { value, owner } = random.pick(seen)
    this.owner = owner
    return value
  }

  /** A value that the declaration allows, often at its edge. */
  valid(name: string, schema: JsonSchema): unknown {
    const { random } = this
    const list = schema['enum'] as readonly unknown[] | undefined
    if (list !== undefined && random.chance(0.95)) return random.pick(list)
    const known = this.of(name)
    if (
      known !== undefined &&
      random.chance(0.85) &&
      schema['type'] !== 'array' &&
      schema['type'] !== 'object'
    )
      return known
    switch (schema['type']) {
      case 'integer':
      case 'number':
        return this.number(schema)
      case 'boolean':
        return random.chance(0.5)
      case 'array':
        return Array.from({ length: random.below(4) }, () =>
          this.valid(name, (schema['items'] ?? {}) as JsonSchema),
        )
      case 'object':
        return this.object(schema)
      default:
        return this.text(schema)
    }
  }
  private number({ minimum, maximum, type }: JsonSchema): number {
    const { random } = this
    const low = typeof minimum === 'number' ? minimum : 0
    const high = typeof maximum === 'number' ? maximum : 2_000_000_000
    const within = (value: number): number => Math.min(high, Math.max(low, value))
    const value = random.pick([
      low,
      high,
      within(low + 1),
      within(high - 1),
      within(random.below(10)),
      within(random.below(2_000_000_000)),
    ])
    return type === 'number' && random.chance(0.3) ? within(value + 0.5) : value
  }
  private text(schema: JsonSchema): string {
    const { random } = this
    if (schema['format'] === 'decimal') return random.pick([...AMOUNTS, ...PRICES])
    const examples = schema['examples'] as readonly string[] | undefined
    if (examples !== undefined && random.chance(0.7)) return random.pick(examples)
    const max = typeof schema['maxLength'] === 'number' ? Math.min(schema['maxLength'], 5_000) : 64
    return random.pick(['1', 'a', 'BTC', 't-1', 'abc_1', 'x'.repeat(max), String(random.below(1_000_000))])
  }
  private object(schema: JsonSchema): Record<string, unknown> {
    const required = (schema['required'] ?? []) as readonly string[]
    const made: Record<string, unknown> = {}
    for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>))
      if (required.includes(name) ? this.random.chance(0.98) : this.random.chance(0.3))
        made[name] = this.valid(name, member)
    return made
  }
}
