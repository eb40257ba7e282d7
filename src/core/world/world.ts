import { refuse } from '../../labels.ts'
import { Table, type TableSpec } from '../table.ts'
import {
  checkMarket,
  compileMarket,
  completeMarket,
  type Market,
  type MarketChange,
  type MarketConfig,
} from './markets.ts'

export type { MarketConfig } from './markets.ts'

/**
 * What is traded and under which rules. The configuration file is taken into the state by a command, so that
 * a replay needs nothing but the commands, and an operator's changes outlive a restart.
 */
export interface CurrencyConfig {
  readonly currency: string
  readonly name: string
  /** Decimals of its smallest unit. */
  readonly precision: number
  /** SPOT: main area; PILOT: innovation area. */
  readonly asset_class: 'SPOT' | 'PILOT'
  /** No chains, deposits or withdrawals through the API. */
  readonly low_cap: boolean
}
export interface WorldConfig {
  readonly currencies: readonly CurrencyConfig[]
  readonly markets: readonly MarketConfig[]
  readonly settle: { readonly futures: readonly string[]; readonly delivery: readonly string[] }
  readonly limits: {
    readonly keys_max: number
    /** Most that a contract account may hold after a transfer, in units of its settle currency. */
    readonly contract_ceiling: string
  }
}

export interface Setting {
  readonly name: string
  readonly value: unknown
}
export const SETTING: TableSpec<Setting> = {
  name: 'setting',
  key: ['name'],
  columns: { name: 'text', value: 'json' },
}

/** Settings of this prefix hold what an operator changed in a market. */
export const MARKET_SETTING = 'market:'

/** Typed views of the settings table, rebuilt whenever a setting changes. */
export class World {
  readonly settings = new Table(SETTING)
  private config: WorldConfig | undefined
  private currencies = new Map<string, CurrencyConfig>()
  private markets = new Map<string, Market>()

  constructor() {
    this.settings.observe((before, after) => {
      const name = (after ?? before)!.name
      if (name === 'world') {
        this.config = after?.value as WorldConfig | undefined
        this.currencies = new Map(this.config?.currencies.map((currency) => [currency.currency, currency]))
      } else if (!name.startsWith(MARKET_SETTING)) return
      this.markets = new Map(this.config?.markets.map((market) => [market.id, this.compile(market)]))
    })
  }
  /** A market as configured, with what the operator has changed since. */
  private compile(market: MarketConfig): Market {
    const change = this.settings.get(MARKET_SETTING + market.id)?.value as MarketChange | undefined
    const precisionOf = (currency: string): number => this.currencies.get(currency)!.precision
    const config = completeMarket({ ...market, ...change })
    return compileMarket(config, precisionOf(market.base), precisionOf(market.quote))
  }
  get configured(): WorldConfig | undefined {
    return this.config
  }
  private get must(): WorldConfig {
    if (this.config === undefined) throw new TypeError('the world is not configured')
    return this.config
  }
  get keysMax(): number {
    return this.must.limits.keys_max
  }
  get contractCeiling(): string {
    return this.must.limits.contract_ceiling
  }
  get allCurrencies(): readonly CurrencyConfig[] {
    return this.must.currencies
  }
  get allMarkets(): Market[] {
    return [...this.markets.values()]
  }
  settles(kind: 'futures' | 'delivery'): readonly string[] {
    return this.must.settle[kind]
  }
  /** Names in requests are matched without regard to case. */
  findCurrency(name: string): CurrencyConfig | undefined {
    return this.currencies.get(name.toUpperCase())
  }
  currency(name: string): CurrencyConfig {
    return (
      this.findCurrency(name) ??
      refuse(
        'INVALID_CURRENCY',
        `currency: "${name}" is not a currency of this platform; GET /spot/currencies lists them`,
      )
    )
  }
  findMarket(name: string): Market | undefined {
    return this.markets.get(name.toUpperCase())
  }
  market(name: string): Market {
    const market = this.findMarket(name)
    if (market !== undefined) return market
    for (const part of name.split('_'))
      if (this.findCurrency(part) === undefined)
        refuse('INVALID_CURRENCY', `currency_pair: "${part}" in "${name}" is not a currency of this platform`)
    return refuse(
      'INVALID_CURRENCY_PAIR',
      `currency_pair: "${name}" is not a market of this platform; GET /spot/currency_pairs lists them`,
    )
  }
}

/** Checks a configuration as a whole; the error says where it is wrong. */
export function checkWorld(world: WorldConfig): void {
  const names = new Set<string>()
  for (const [i, { currency, precision }] of world.currencies.entries()) {
    const where = `currencies[${i}]`
    if (!/^[A-Z0-9]{1,20}$/.test(currency))
      throw new TypeError(`${where}.currency must be 1 to 20 of A-Z 0-9`)
    if (names.has(currency)) throw new TypeError(`${where}.currency ${currency} is there twice`)
    if (!Number.isInteger(precision) || precision < 0 || precision > 18)
      throw new TypeError(`${where}.precision must be a whole number from 0 to 18`)
    names.add(currency)
  }
  const markets = new Set<string>()
  for (const [i, { id, base, quote }] of world.markets.entries()) {
    const where = `markets[${i}]`
    if (id !== `${base}_${quote}`) throw new TypeError(`${where}.id must be ${base}_${quote}`)
    for (const part of [base, quote])
      if (!names.has(part)) throw new TypeError(`${where} names ${part}, which is not among the currencies`)
    if (markets.has(id)) throw new TypeError(`${where}.id ${id} is there twice`)
    markets.add(id)
    checkMarket(
      completeMarket(world.markets[i]!),
      (name) => world.currencies.find(({ currency }) => currency === name)!.precision,
    )
  }
  for (const settle of [...world.settle.futures, ...world.settle.delivery])
    if (!names.has(settle.toUpperCase()))
      throw new TypeError(`settle names ${settle}, which is not among the currencies`)
  if (!Number.isInteger(world.limits.keys_max) || world.limits.keys_max < 1)
    throw new TypeError('limits.keys_max must be a whole number above 0')
}
