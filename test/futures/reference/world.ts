import type { ContractConfig } from '../../../src/core/tables/world/contracts.ts'
import { E, dec, min } from './numbers.ts'

/** What the reference knows: plain objects in maps, nothing derived is kept. */

export interface Tier {
  readonly limit: bigint
  readonly rate: bigint
  readonly leverage: bigint
  readonly deduction: bigint
}
export interface Contract {
  readonly id: string
  /** group/settle. */
  readonly account: string
  readonly settle: string
  readonly currency: string
  readonly name: string
  readonly base: string
  readonly linear: boolean
  readonly q: bigint
  readonly tick: bigint
  readonly markTick: bigint
  readonly tf: bigint
  readonly makerMax: bigint
  readonly tiers: readonly Tier[]
  readonly sizeMin: bigint
  readonly sizeMax: bigint
  readonly marketMax: bigint
  readonly leverageMin: bigint
  readonly leverageMax: bigint
  readonly crossDefault: bigint
  readonly deviate: bigint
  readonly slip: bigint
  readonly ordersLimit: number
  readonly interval: number
  readonly interest: bigint
  readonly rateLimit: bigint
  readonly impact: bigint
  readonly bound: bigint
  /** Of a dated one: what a year adds to the bound, when it ends (Unix seconds; 0: never), what its end costs. */
  readonly boundYear: bigint
  readonly expires: number
  readonly settleFee: bigint
  status: string
  /** It has come to its end, and its positions are being closed. */
  settling: boolean
}
/** The smallest unit of USDT and BTC. */
export const UNIT = E / 10n ** 8n

export function contractOf(config: ContractConfig): Contract {
  const tiers: Tier[] = []
  for (const { risk_limit, maintenance_rate, leverage_max } of config.tiers) {
    const below = tiers.at(-1)
    const rate = dec(maintenance_rate)
    const deduction = below === undefined ? 0n : below.deduction + (below.limit * (rate - below.rate)) / E
    tiers.push({ limit: dec(risk_limit), rate, leverage: dec(leverage_max), deduction })
  }
  const linear = config.type === 'direct'
  const marketMax = BigInt(config.market_order_size_max)
  return {
    id: `${config.group}/${config.settle}/${config.name}`,
    account: `${config.group}/${config.settle}`,
    settle: config.settle,
    currency: config.settle.toUpperCase(),
    name: config.name,
    base: config.underlying.split('_')[0]!,
    linear,
    q: linear ? dec(config.quanto_multiplier) : E,
    tick: dec(config.order_price_round),
    markTick: dec(config.mark_price_round),
    tf: dec(config.taker_fee_rate),
    makerMax: dec(config.maker_fee_rate),
    tiers,
    sizeMin: BigInt(config.order_size_min),
    sizeMax: BigInt(config.order_size_max),
    marketMax: marketMax === 0n ? BigInt(config.order_size_max) : marketMax,
    leverageMin: dec(config.leverage_min),
    leverageMax: dec(config.leverage_max),
    crossDefault: min(dec(config.cross_leverage_default), dec(config.leverage_max)),
    deviate: dec(config.order_price_deviate),
    slip: dec(config.market_order_slip_ratio),
    ordersLimit: config.orders_limit,
    interval: config.funding_interval,
    interest: dec(config.interest_rate),
    rateLimit: dec(config.funding_rate_limit),
    impact: dec(config.funding_impact_value),
    bound: dec(config.mark_bound),
    boundYear: dec(config.mark_bound_year),
    expires: config.expire_time,
    settleFee: dec(config.settle_fee_rate),
    status: config.status,
    settling: false,
  }
}

/** Of one contract: what its mark and its funding are made of. */
export interface Prices {
  index: bigint
  mark: bigint
  last: bigint | undefined
  /** (best bid + best ask) / 2 - index, from a second on until the next. */
  basis: [second: number, basis: bigint][]
  rate: bigint
  /** Of the running period, one a minute. */
  premiums: bigint[]
  fundingSum: bigint
  nextFunding: number
  minute: number
  /** Trades in the book. */
  sequence: number
  /** The index at the full minutes of the last half hour. */
  ending: bigint[]
  /** When any of this was another the last time. */
  at: number
}
export type Mode = 'single' | 'dual_long' | 'dual_short'
export interface Order {
  readonly id: number
  readonly user: number
  readonly contract: string
  readonly buy: boolean
  readonly market: boolean
  readonly tif: string
  readonly text: string
  amendText: string
  price: bigint
  /** Contracts. */
  amount: bigint
  left: bigint
  filled: bigint
  filledTotal: bigint
  fee: bigint
  iceberg: bigint
  shown: bigint
  refreshed: boolean
  rank: number
  readonly stp: number
  readonly stpAct: string
  status: 'open' | 'closed' | 'cancelled'
  finish: string
  readonly created: number
  updated: number
  readonly reduceOnly: boolean
  readonly more: Readonly<Record<string, unknown>> | null
}
export interface Position {
  readonly id: string
  readonly user: number
  readonly contract: string
  readonly mode: Mode
  size: bigint
  cost: bigint
  margin: bigint
  /** 0: cross. */
  leverage: bigint
  crossLimit: bigint
  isolatedLeverage: bigint
  riskLimit: bigint
  liquidating: number
  funded: bigint
  pnl: bigint
  fee: bigint
  fund: bigint
  history: bigint
  lastClose: bigint
  maxSize: bigint
  opened: bigint
  openedValue: bigint
  closed: bigint
  closedValue: bigint
  openAt: number
}
export type PriceType = 'last' | 'mark' | 'index'
/** Waits for a price, then places an order. */
export interface PriceOrder {
  readonly id: number
  readonly user: number
  readonly contract: string
  readonly kind: string
  type: PriceType
  readonly above: boolean
  trigger: bigint
  readonly initial: Initial
  /** The order whose stop it is; 0: of none. */
  readonly of: number
  /** A stop is inactive until its order has opened something, and invalid when that never did. */
  status: 'open' | 'finished' | 'inactive' | 'invalid'
  finish: string
  reason: string
  /** The order that it placed. */
  placed: number
  ended: number
}
export interface Initial {
  size: string
  price: bigint
  tif: string
  readonly text: string
  readonly close: boolean
  readonly reduceOnly: boolean
  readonly autoSize: 'close_long' | 'close_short' | null
  readonly marginMode: string | null
}
/** Follows a price, and places an order when that comes back. */
export interface Trail {
  readonly id: number
  readonly user: number
  readonly contract: string
  /** Signed. */
  amount: bigint
  activation: bigint
  above: boolean
  type: PriceType
  offset: { readonly by: bigint; readonly ratio: boolean }
  offsetText: string
  readonly reduceOnly: boolean
  readonly related: boolean
  readonly marginMode: string | null
  status: 'pending' | 'active' | 'success' | 'cancelled' | 'failed'
  /** The best price since it is active. */
  extremum: bigint
  placed: number
  label: string
  ended: number
}
/** Keeps an order at the best price of its side, and lives as long as that. */
export interface Chase {
  readonly id: number
  readonly user: number
  readonly contract: string
  /** Signed. */
  readonly amount: bigint
  /** Never beyond this price; 0: none. */
  readonly limit: bigint
  /** How far behind the others' best price; undefined: at the best price. */
  readonly gap: { readonly by: bigint; readonly ratio: boolean } | undefined
  readonly text: string
  order: number
  /** The price that it wanted last. */
  wanted: bigint
  amended: number
  status: 'active' | 'success' | 'cancelled' | 'failed'
  /** Why it failed. */
  label: string
  reason: string
  /** What its order was in the end. */
  end: { price: bigint; finish: string; filled: bigint; filledTotal: bigint } | undefined
  ended: number
}
/** What those who chase in a contract saw last of its best prices, and when. */
export interface Seen {
  bid: bigint
  ask: bigint
  at: number
}
export interface Account {
  readonly user: number
  readonly account: string
  dual: boolean
  liquidating: number
  dnw: bigint
  pnl: bigint
  fee: bigint
  fund: bigint
}
/** A unified account whose contracts are settled in its USDT, and what the rest of it is worth. */
export interface Shared {
  readonly portfolio: boolean
  /** What all its currencies count for, and what its debts need, with so much USDT, a loan of it and its interest. */
  standing(cash: bigint, loan: bigint, interest: bigint): Standing
  /** Whether it is being liquidated as a whole. */
  isLocked(): boolean
}
export interface Standing {
  readonly balance: bigint
  readonly initial: bigint
  readonly maintenance: bigint
}
export interface User {
  readonly id: number
  readonly maker: bigint
  readonly taker: bigint
  stp: number
}
/** Work that falls due; the same time: in the order in which it was named. */
export interface Due {
  readonly at: number
  readonly kind: string
  readonly of: string
  readonly input: Readonly<Record<string, string | number>>
}
export type Records = Record<string, Record<string, unknown>[]>

export class Refused extends Error {
  readonly label: string
  constructor(label: string) {
    super(label)
    this.label = label
  }
}
export const refuse = (label: string): never => {
  throw new Refused(label)
}

export const isWaiting = ({ status }: PriceOrder): boolean => status === 'open' || status === 'inactive'
export const isTrailing = ({ status }: Trail): boolean => status === 'pending' || status === 'active'
const copies = <K, V extends object>(map: Map<K, V>): Map<K, V> =>
  new Map([...map].map(([key, row]) => [key, { ...row }]))

export class World {
  readonly contracts: Map<string, Contract>
  readonly users = new Map<number, User>()
  readonly shared = new Map<number, Shared>()
  prices = new Map<string, Prices>()
  /** Open ones. */
  orders = new Map<number, Order>()
  positions = new Map<string, Position>()
  accounts = new Map<string, Account>()
  /** Of owner, name and currency. */
  money = new Map<string, bigint>()
  counters: Record<string, number> = {}
  due: Due[] = []
  /** Those that have ended are kept. */
  priceOrders = new Map<number, PriceOrder>()
  trails = new Map<number, Trail>()
  chases = new Map<number, Chase>()
  seen = new Map<string, Seen>()
  /** The order that is being matched: in no book for a moment, and open all the same. */
  matching = 0
  /** Whose the orders were that have ended: user and account, by id. */
  ended = new Map<number, string>()
  /** Of the running command. */
  at = 0
  records: Records = {}
  touched = new Map<number, Order>()
  /** Contracts whose prices may be others now. */
  moved = new Set<string>()
  /** In which order units were begun with that fell together: nothing says which goes first. */
  order: readonly string[] = []
  /** What the fund's positions have won or lost in contracts that are not here. */
  fundElsewhere = 0n
  /** What happened, for whoever wants to know that it did. */
  readonly met = new Map<string, number>()

  constructor(configs: readonly ContractConfig[]) {
    const all = configs.map(contractOf).sort((a, b) => (a.id < b.id ? -1 : 1))
    this.contracts = new Map(all.map((one) => [one.id, one]))
  }
  meet(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1)
  }
  next(counter: string): number {
    return (this.counters[counter] = (this.counters[counter] ?? 0) + 1)
  }
  record(log: string, row: Record<string, unknown>): void {
    ;(this.records[log] ??= []).push(row)
  }
  schedule(at: number, kind: string, of: string, input: Due['input'] = {}): void {
    this.due.push({ at, kind, of, input })
  }
  /** All of it succeeds, or nothing of it has happened. */
  whole<T>(work: () => T): T {
    const { prices, orders, positions, accounts, money, counters, due, ended } = this
    const { priceOrders, trails, chases, seen } = this
    const touched = new Map(this.touched)
    const moved = new Set(this.moved)
    const records = Object.fromEntries(Object.entries(this.records).map(([log, rows]) => [log, [...rows]]))
    this.prices = new Map([...prices].map(([id, row]) => [id, { ...row, basis: [...row.basis] }]))
    this.orders = copies(orders)
    this.positions = copies(positions)
    this.accounts = copies(accounts)
    this.money = new Map(money)
    this.counters = { ...counters }
    this.due = [...due]
    this.priceOrders = new Map(
      [...priceOrders].map(([id, row]) => [id, { ...row, initial: { ...row.initial } }]),
    )
    this.trails = copies(trails)
    this.chases = copies(chases)
    this.seen = copies(seen)
    const before = ended.size
    try {
      return work()
    } catch (error) {
      const news = [...this.ended.keys()].slice(before)
      for (const id of news) this.ended.delete(id)
      Object.assign(this, { prices, orders, positions, accounts, money, counters, due })
      Object.assign(this, { priceOrders, trails, chases, seen, records, touched, moved, matching: 0 })
      throw error
    }
  }
  balance(name: string): bigint {
    return this.money.get(name) ?? 0n
  }
  move(from: string, to: string, amount: bigint): void {
    this.money.set(from, this.balance(from) - amount)
    this.money.set(to, this.balance(to) + amount)
  }
  contract(id: string): Contract {
    return this.contracts.get(id)!
  }
  priceOf(id: string): Prices {
    return this.prices.get(id)!
  }
  account(user: number, account: string): Account | undefined {
    return this.accounts.get(`${user}/${account}`)
  }
  isDual(user: number, account: string): boolean {
    return this.account(user, account)?.dual === true
  }
  /** As it is, or as it would begin. */
  position(user: number, contract: Contract, mode: Mode): Position {
    const id = `${user}/${contract.id}/${mode}`
    return (
      this.positions.get(id) ?? {
        id,
        user,
        contract: contract.id,
        mode,
        size: 0n,
        cost: 0n,
        margin: 0n,
        leverage: 0n,
        crossLimit: contract.crossDefault,
        isolatedLeverage: min(10n * E, contract.leverageMax),
        riskLimit: 0n,
        liquidating: 0,
        funded: this.prices.get(contract.id)?.fundingSum ?? 0n,
        pnl: 0n,
        fee: 0n,
        fund: 0n,
        history: 0n,
        lastClose: 0n,
        maxSize: 0n,
        opened: 0n,
        openedValue: 0n,
        closed: 0n,
        closedValue: 0n,
        openAt: 0,
      }
    )
  }
  positionsOf(user: number, contract: Contract): Position[] {
    const modes: Mode[] = this.isDual(user, contract.account) ? ['dual_long', 'dual_short'] : ['single']
    return modes.map((mode) => this.position(user, contract, mode))
  }
  /** Those that hold something in an account. */
  held(user: number, account: string): Position[] {
    return [...this.positions.values()].filter(
      (row) => row.user === user && row.size !== 0n && row.contract.startsWith(`${account}/`),
    )
  }
  /** All that waits for a price, of a user in an account; those who chase wait for none, but count. */
  waitingOf(user: number, account: string): (PriceOrder | Trail)[] {
    return this.waiting().filter((one) => one.user === user && one.contract.startsWith(`${account}/`))
  }
  waiting(): (PriceOrder | Trail)[] {
    const prices = [...this.priceOrders.values()].filter(isWaiting)
    return [...prices, ...[...this.trails.values()].filter(isTrailing)]
  }
  chasing(): Chase[] {
    return [...this.chases.values()].filter(({ status }) => status === 'active')
  }
  /** How many of an account's wait, of all kinds. */
  waitCount(user: number, account: string): number {
    const own = this.chasing().filter((one) => one.user === user && one.contract.startsWith(`${account}/`))
    return this.waitingOf(user, account).length + own.length
  }
  openOf(user: number, contract: string): Order[] {
    return [...this.orders.values()].filter((row) => row.user === user && row.contract === contract)
  }
  /** One side of the book, the best first. */
  side(contract: string, buys: boolean): Order[] {
    return [...this.orders.values()]
      .filter((row) => row.contract === contract && row.buy === buys && row.rank > 0)
      .sort((a, b) => (a.price === b.price ? a.rank - b.rank : a.price < b.price === buys ? 1 : -1))
  }
}
