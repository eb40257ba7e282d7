import { notFound, refuse } from '../../../labels.ts'
import { ONE, parseRate, rateOf, type Price, type Rate } from '../../../money/amount.ts'
import { Table, type TableSpec } from '../../../machine/table.ts'
import {
  checkChains,
  checkTransport,
  withChange,
  type ChainChange,
  type ChainConfig,
  type CurrencyChain,
  type CurrencyChange,
} from './chains.ts'
import { checkListing } from './check-listing.ts'
import {
  checkMarket,
  compileMarket,
  completeMarket,
  type Market,
  type MarketConfig,
  type MarketOverlay,
} from './markets.ts'
import { checkContracts, type ContractOverlay } from './contract-rules.ts'
import type { Contract } from './contracts.ts'
import { Contracts } from './listed.ts'
import { checkPolicy, completePolicy, type Policy } from './policy.ts'
import {
  canonicalIsolated,
  canonicalLoan,
  checkUnified,
  compileTerms,
  type IsolatedMarket,
  type LoanTerms,
} from './unified.ts'
import type { CurrencyConfig, PriceFeedConfig, WorldConfig } from './config.ts'

export type { MarketConfig } from './markets.ts'

export interface Setting {
  readonly name: string
  readonly value: unknown
}
export const SETTING: TableSpec<Setting> = {
  name: 'setting',
  key: ['name'],
  columns: { name: 'text', value: 'json' },
}

const OPEN_ORDERS_MAX = 1_000
const SUB_ACCOUNTS_MAX = 500
/** Where the file says nothing of it. */
const JUMP = '0.05'

/** The setting that tells whether money is real here. */
export const LIVE = 'live'
/** Settings of these prefixes hold what an operator changed in a market, a currency or a contract. */
export const MARKET_SETTING = 'market:'
export const CURRENCY_SETTING = 'currency:'
export const CONTRACT_SETTING = 'contract:'
/** The setting that stops all markets, while it is there. */
export const HALT = 'halt'
export interface Halt {
  readonly by: string
  /** Seconds. */
  readonly at: number
  readonly reason: string
}

/** Typed views of the settings table, rebuilt whenever a setting changes. */
export class World {
  readonly settings = new Table(SETTING)
  private config: WorldConfig | undefined
  private currencies = new Map<string, CurrencyConfig>()
  private chains = new Map<string, ChainConfig>()
  private markets = new Map<string, Market>()
  readonly contracts = new Contracts({
    precisionOf: (currency) => this.currencies.get(currency)?.precision,
    overlayOf: (id) => this.settings.get(CONTRACT_SETTING + id)?.value as ContractOverlay | undefined,
  })
  private loanCurrencies = new Map<string, LoanTerms>()
  private isolated = new Map<string, IsolatedMarket>()

  constructor() {
    this.settings.observe((before, after) => {
      const name = (after ?? before)!.name
      const ofCurrency = name.startsWith(CURRENCY_SETTING)
      if (name === 'world') this.config = after?.value as WorldConfig | undefined
      else if (name.startsWith('chain:')) {
        this.layChanges()
        return
      } else if (name.startsWith(CONTRACT_SETTING)) {
        this.contracts.lay(this.config?.contracts ?? [])
        return
      } else if (!ofCurrency && !name.startsWith(MARKET_SETTING) && name !== HALT) return
      if (name === 'world' || ofCurrency) this.layChanges()
      this.layMarkets()
      this.contracts.lay(this.config?.contracts ?? [])
      this.layMargin()
    })
  }
  /** An operator's changes are settings of their own, so that a new configuration file does not undo them. */
  private layChanges(): void {
    const change = (name: string): unknown => this.settings.get(name)?.value
    this.currencies = new Map()
    for (const currency of this.config?.currencies ?? []) {
      const { status, ...rest } = (change(CURRENCY_SETTING + currency.currency) ?? {}) as CurrencyChange
      if (status === 'gone') continue
      const laid = withChange(currency, rest)
      const config = status === undefined ? laid : { ...laid, status }
      this.currencies.set(
        currency.currency,
        config.status === 'withdraw_only' ? { ...config, deposit_enabled: false } : config,
      )
    }
    this.chains = new Map(
      this.config?.chains.map((chain) => [
        chain.chain,
        { ...chain, ...(change(`chain:${chain.chain}`) as ChainChange | undefined) },
      ]),
    )
  }
  private layMarkets(): void {
    this.markets = new Map()
    for (const market of this.config?.markets ?? []) {
      const { id, base, quote } = market
      const gone = this.overlay(id)?.status === 'gone'
      if (!gone && this.currencies.has(base) && this.currencies.has(quote))
        this.markets.set(id, this.compile(market))
    }
  }
  /** By its id, group and settle included; also one that has ended. */
  findContract(id: string): Contract | undefined {
    return this.contracts.find(id)
  }
  /** By the name that a client gave, in whatever letters. */
  contractNamed(group: string, settle: string, name: string): Contract | undefined {
    return (
      this.contracts.named(group, settle, name) ?? this.contracts.named(group, settle, name.toUpperCase())
    )
  }
  /** A contract that a row names. */
  mustContract(id: string): Contract {
    const contract = this.contracts.find(id)
    if (contract === undefined) throw new TypeError(`there is no contract ${id}`)
    return contract
  }
  /** A price in USDT, in the quote currency of a contract's index. */
  inQuoteOf({ inUsd }: Pick<Contract, 'inUsd'>, price: Price): Price {
    if (!inUsd) return price
    return ((price * rateOf(this.exchangeRates['USD'] ?? '1')) / ONE) as Price
  }
  /** Those that have not ended, by id. */
  get allContracts(): readonly Contract[] {
    return this.contracts.open
  }
  private overlay(pair: string): MarketOverlay | undefined {
    return this.settings.get(MARKET_SETTING + pair)?.value as MarketOverlay | undefined
  }
  /** A file that names fewer currencies or markets need not name them again here. What leaves is no longer lent. */
  private layMargin(): void {
    const { currencies = [], isolated = [] } = this.config?.unified ?? {}
    this.loanCurrencies = new Map(
      currencies
        .filter(({ currency }) => this.currencies.has(currency))
        .map(canonicalLoan)
        .map((row) => [
          row.currency,
          compileTerms(this.isLeaving(row.currency) ? { ...row, loan_status: 'disable' } : row),
        ]),
    )
    this.isolated = new Map(
      isolated
        .filter(({ currency_pair }) => this.markets.has(currency_pair))
        .map((row) => [row.currency_pair, canonicalIsolated(row)]),
    )
  }
  get loanCurrencyNames(): string[] {
    return [...this.loanCurrencies.keys()]
  }
  loanTerms(currency: string): LoanTerms | undefined {
    return this.loanCurrencies.get(currency)
  }
  get isolatedMarkets(): readonly IsolatedMarket[] {
    return [...this.isolated.values()]
  }
  isolatedMarket(pair: string): IsolatedMarket | undefined {
    return this.isolated.get(pair)
  }
  get lenderShare(): string {
    return this.must.unified.lender_share
  }
  get quickRepay(): { readonly spread: string; readonly hourUsdt: string } {
    const { quick_repay_spread = '0.005', quick_repay_hour_usdt = '200000' } = this.must.unified
    return { spread: quick_repay_spread, hourUsdt: quick_repay_hour_usdt }
  }
  tierUpRate(vip: number): string {
    const rates = this.must.unified.tier_up_rates ?? []
    return rates[Math.min(vip, rates.length - 1)] ?? '1'
  }
  /** A market as configured, with what the operator has changed since. */
  private compile(market: MarketConfig): Market {
    const change = this.overlay(market.id) as Partial<MarketConfig> | undefined
    const precisionOf = (currency: string): number => this.currencies.get(currency)!.precision
    const config = completeMarket({ ...market, ...change })
    const { base, quote } = market
    const stopped = this.halt !== undefined || this.isLeaving(base) || this.isLeaving(quote)
    return compileMarket(config, precisionOf(base), precisionOf(quote), stopped)
  }
  /** Set while all markets are halted at once. */
  get halt(): Halt | undefined {
    return this.settings.get(HALT)?.value as Halt | undefined
  }
  /** On its way out: it may be withdrawn, and nothing else is given for it. */
  isLeaving(currency: string): boolean {
    return this.currencies.get(currency)?.status === 'withdraw_only'
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
  get openOrdersMax(): number {
    return this.must.limits.open_orders_max ?? OPEN_ORDERS_MAX
  }
  get subAccountsMax(): number {
    return this.must.limits.sub_accounts_max ?? SUB_ACCOUNTS_MAX
  }
  get contractCeiling(): string {
    return this.must.limits.contract_ceiling
  }
  get allCurrencies(): readonly CurrencyConfig[] {
    return [...this.currencies.values()]
  }
  get allChains(): readonly ChainConfig[] {
    return [...this.chains.values()]
  }
  /** What the database was marked as; undefined before its first start. */
  get marked(): boolean | undefined {
    return (this.settings.get(LIVE)?.value as { live: boolean } | undefined)?.live
  }
  /** Real money: prices must be trusted. A platform that was never told is a sandbox. */
  get live(): boolean {
    return this.marked === true
  }
  get policy(): Policy {
    // What was kept before a rule was made does not name it.
    return completePolicy((this.settings.get('policy')?.value ?? this.must.policy) as Policy, this.live)
  }
  get priceFeed(): PriceFeedConfig | undefined {
    return this.must.price_feed
  }
  /** By so much of itself a price may differ at once before it is doubted. */
  get priceJump(): Rate {
    return rateOf(this.priceFeed?.jump ?? JUMP)
  }
  get exchangeRates(): Readonly<Record<string, string>> {
    return this.must.exchange_rates
  }
  findChain(name: string): ChainConfig | undefined {
    return this.chains.get(name.toUpperCase())
  }
  /** A chain that a row names. */
  mustChain(name: string): ChainConfig {
    return this.findChain(name) ?? notFound('NOT_FOUND', `chain: there is no chain "${name}"`)
  }
  /** A currency that moves on chains; a low-cap token says why it does not. */
  transported(name: string): CurrencyConfig {
    const currency = this.currency(name)
    if (currency.low_cap)
      refuse(
        'INVALID_CURRENCY',
        `currency: ${currency.currency} is a low-cap token (GET /wallet/getLowCapExchangeList): it has no chains, deposits or withdrawals through the API`,
      )
    return currency
  }
  /** The currency on the named chain; left out only where it has exactly one. */
  currencyChain(config: CurrencyConfig, name: string | null): CurrencyChain {
    const names = config.chains.map(({ chain }) => chain)
    if (names.length === 0)
      refuse('INVALID_CURRENCY', `currency: ${config.currency} is on no chain; it can't be moved in or out`)
    if (name === null) {
      if (names.length === 1) return config.chains[0]!
      refuse(
        'MISSING_REQUIRED_PARAM',
        `Missing required parameter: chain; ${config.currency} is on ${names.join(', ')}`,
      )
    }
    const wanted = name.toUpperCase()
    return (
      config.chains.find(({ chain }) => chain === wanted) ??
      refuse(
        'INVALID_PARAM_VALUE',
        `chain: ${config.currency} is not on "${name}"; one of ${names.join(', ')}`,
      )
    )
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
  /** `parameter` is what the caller wrote it under. */
  currency(name: string, parameter = 'currency'): CurrencyConfig {
    return (
      this.findCurrency(name) ??
      refuse(
        'INVALID_CURRENCY',
        `${parameter}: "${name}" is not a currency of this platform; GET /spot/currencies lists them`,
      )
    )
  }
  findMarket(name: string): Market | undefined {
    return this.markets.get(name) ?? this.markets.get(name.toUpperCase())
  }
  market(name: string, where: 'path' | 'parameter' = 'parameter', parameter = 'currency_pair'): Market {
    const market = this.findMarket(name)
    if (market !== undefined) return market
    const say = where === 'path' ? notFound : refuse
    // Only what is written like a pair has currencies that could be the mistake.
    const parts = /^[^_,/-]+_[^_,/-]+$/.test(name) ? name.split('_') : undefined
    for (const part of parts ?? [])
      if (this.findCurrency(part) === undefined)
        say('INVALID_CURRENCY', `${parameter}: "${part}" in "${name}" is not a currency of this platform`)
    const form = parts === undefined ? '; a pair is written BASE_QUOTE, such as BTC_USDT' : ''
    return say(
      'INVALID_CURRENCY_PAIR',
      `${parameter}: "${name}" is not a market of this platform${form}; GET /spot/currency_pairs lists them`,
    )
  }
}

/** Checks a configuration as a whole; the error says where it is wrong. */
function checkFeed({ url, seconds, stale_seconds, jump = '0.05', second_url = url }: PriceFeedConfig): void {
  for (const [name, address] of Object.entries({ url, second_url }))
    if (typeof address !== 'string' || !/^https?:\/\/[^ ]+$/.test(address))
      throw new TypeError(`price_feed.${name} must begin with http:// or https://`)
  const part = typeof jump === 'string' ? parseRate(jump) : undefined
  if (part === undefined || part === 0n || part >= ONE)
    throw new TypeError('price_feed.jump must be a decimal string above 0 and below 1, such as "0.05"')
  if (!(seconds >= 1)) throw new TypeError('price_feed.seconds must be a number, at least 1')
  if (!(stale_seconds >= seconds))
    throw new TypeError('price_feed.stale_seconds must be at least price_feed.seconds')
}
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
  checkChains(world.chains, names)
  const chains = new Set(world.chains.map(({ chain }) => chain))
  for (const [i, currency] of world.currencies.entries()) checkTransport(currency, chains, `currencies[${i}]`)
  checkPolicy(world.policy)
  checkUnified(world.unified)
  if (world.price_feed !== undefined) checkFeed(world.price_feed)
  for (const money of ['CNY', 'USD'])
    if (parseRate(world.exchange_rates[money] ?? '') === undefined)
      throw new TypeError(`exchange_rates.${money} must be a decimal string`)
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
  checkListing(world)
  for (const settle of [...world.settle.futures, ...world.settle.delivery])
    if (!names.has(settle.toUpperCase()))
      throw new TypeError(`settle names ${settle}, which is not among the currencies`)
  checkContracts(world)
  const { keys_max } = world.limits
  if (!Number.isInteger(keys_max) || keys_max < 1 || keys_max > 1_000)
    throw new TypeError('limits.keys_max must be a whole number from 1 to 1000')
  const { open_orders_max = OPEN_ORDERS_MAX } = world.limits
  if (!Number.isInteger(open_orders_max) || open_orders_max < 1 || open_orders_max > 10_000)
    throw new TypeError('limits.open_orders_max must be a whole number from 1 to 10000')
  const { sub_accounts_max = SUB_ACCOUNTS_MAX } = world.limits
  if (!Number.isInteger(sub_accounts_max) || sub_accounts_max < 1 || sub_accounts_max > 10_000)
    throw new TypeError('limits.sub_accounts_max must be a whole number from 1 to 10000')
}
