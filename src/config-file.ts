import type {
  DiscountTier,
  IsolatedMarket,
  IsolatedTier,
  LoanCurrency,
  MarginTier,
  RateCurve,
  UnifiedConfig,
} from './core/tables/world/unified.ts'
import {
  ADDRESS_FORMATS,
  CURRENCY_STATUSES,
  SENDER_STOPS,
  type ChainConfig,
  type CurrencyChain,
} from './core/tables/world/chains.ts'
import {
  CONTRACT_STATUSES,
  CYCLES,
  type ContractConfig,
  type TierConfig,
} from './core/tables/world/contracts.ts'
import { MARKET_STATUSES, TRADE_STATUSES, type MarketConfig } from './core/tables/world/markets.ts'
import type { Policy } from './core/tables/world/policy.ts'
import type { CurrencyConfig, PriceFeedConfig, WorldConfig } from './core/tables/world/config.ts'
import { meant } from './nearest.ts'

/**
 * The configuration file, member by member. Each section is written against the type that the platform reads, so that
 * the compiler misses what is not described; a test holds docs/CONFIG.md against it. What the members mean together
 * (bounds, names that must exist) is `checkWorld`'s.
 */
export type Member =
  /** `type` is for the documents, `what` completes "must be …". */
  | {
      readonly is: 'value'
      readonly type: string
      readonly what: string
      readonly fits: (value: unknown) => boolean
    }
  | { readonly is: 'list'; readonly of: Member }
  /** Keys are data. */
  | { readonly is: 'map'; readonly of: Member }
  | { readonly is: 'object'; readonly members: Members }
  | { readonly is: 'optional'; readonly of: Member }
export type Members = Readonly<Record<string, Member>>
/** Every member of a type, and none besides. */
type Describes<T> = { readonly [M in keyof Required<T>]: Member }

const value = (type: string, what: string, fits: (value: unknown) => boolean): Member => ({
  is: 'value',
  type,
  what,
  fits,
})
const text = value('text', 'a text', (given) => typeof given === 'string')
/** No sign, no exponent, at most 18 decimals: what amounts and rates are read from. */
const DECIMAL = /^\d{1,20}(\.\d{1,18})?$/
const isDecimal = (given: unknown): boolean => typeof given === 'string' && DECIMAL.test(given)
const decimal = value('decimal', 'a decimal string such as "1.5"', isDecimal)
const decimalOrNull = value(
  'decimal or null',
  'a decimal string such as "1.5", or null',
  (given) => given === null || isDecimal(given),
)
/** Where a tier may have no end; the other list's sign is understood as well. */
const limit = (open: string): Member =>
  value(
    `decimal or "${open}"`,
    `a decimal string, or "${open}" for no end`,
    (given) => given === '' || given === '+' || isDecimal(given),
  )
const whole = value(
  'whole number',
  'a whole number, not below 0',
  (given) => Number.isSafeInteger(given) && Number(given) >= 0,
)
const number = value('number', 'a number', (given) => typeof given === 'number' && Number.isFinite(given))
const flag = value('true or false', 'true or false', (given) => typeof given === 'boolean')
const oneOf = (...names: readonly (string | null)[]): Member =>
  value(names.map(String).join(', '), `one of ${names.map(String).join(', ')}`, (given) =>
    (names as readonly unknown[]).includes(given),
  )
const list = (of: Member): Member => ({ is: 'list', of })
const map = (of: Member): Member => ({ is: 'map', of })
const optional = (of: Member): Member => ({ is: 'optional', of })
const object = <T>(members: Describes<T>): Member => ({ is: 'object', members: members })

/** `chains[].node` of an EVM chain; docs/evm.md explains every member. */
export interface EvmSettings {
  readonly rpc_url: string
  readonly chain_id: number
  /** Of the account level (m/44'/60'/0'): deposit addresses are its children 0/USER_ID. */
  readonly xpub: string
  /** The environment variable that holds the hot wallet's key, or a keystore file and the variable of its password. */
  readonly key_env?: string
  readonly keystore?: string
  readonly password_env?: string
  /** The same for the sweeper's secret: an extended private key of the account level, or the words of its seed. */
  readonly sweeper_env?: string
  readonly sweeper_keystore?: string
  readonly sweeper_password_env?: string
  readonly poll_ms: number
  /** The first block to look at; left out, the tip of the first look. */
  readonly start_block?: number
  /** No payment is offered more than this for a unit of gas. */
  readonly max_fee_gwei: number
}
/** Which of them belong together is checked by the chain's adapter. */
const node = object<EvmSettings>({
  rpc_url: optional(text),
  chain_id: optional(whole),
  xpub: optional(text),
  key_env: optional(text),
  keystore: optional(text),
  password_env: optional(text),
  sweeper_env: optional(text),
  sweeper_keystore: optional(text),
  sweeper_password_env: optional(text),
  poll_ms: optional(whole),
  start_block: optional(whole),
  max_fee_gwei: optional(whole),
})
const chain = object<ChainConfig>({
  chain: text,
  name_en: text,
  name_cn: text,
  kind: oneOf('simulated', 'evm'),
  address_format: oneOf(...ADDRESS_FORMATS),
  tagged: flag,
  native: text,
  network_fee: decimal,
  min_confirms: whole,
  unlock_confirms: whole,
  auto_mine_seconds: whole,
  send_delay_seconds: whole,
  paused: flag,
  sender_stops_at: oneOf(null, ...SENDER_STOPS),
  node: optional(node),
})
const currencyChain = object<CurrencyChain>({
  chain: text,
  contract_address: text,
  decimal: whole,
  deposit_enabled: flag,
  withdraw_enabled: flag,
  min_deposit_amount: decimal,
  withdraw_amount_mini: decimal,
  withdraw_fix: decimal,
  withdraw_percent: decimal,
  hot_wallet: oneOf('auto', 'manual'),
  sweep_threshold: optional(decimal),
})
const currency = object<CurrencyConfig>({
  currency: text,
  name: text,
  name_cn: text,
  precision: whole,
  asset_class: oneOf('SPOT', 'PILOT'),
  low_cap: flag,
  status: optional(oneOf(...CURRENCY_STATUSES)),
  deposit_enabled: flag,
  withdraw_enabled: flag,
  withdraw_day_limit: decimal,
  withdraw_eachtime_limit: decimal,
  approval_amount: decimal,
  approvals: whole,
  index_price: decimal,
  index_price_trusted: optional(flag),
  chains: list(currencyChain),
})
const market = object<MarketConfig>({
  id: text,
  base: text,
  quote: text,
  precision: whole,
  amount_precision: whole,
  min_base_amount: optional(decimalOrNull),
  min_quote_amount: optional(decimalOrNull),
  max_base_amount: optional(decimalOrNull),
  max_quote_amount: optional(decimalOrNull),
  fee: optional(decimal),
  trade_status: optional(oneOf(...TRADE_STATUSES)),
  status: optional(oneOf(...MARKET_STATUSES)),
  up_rate: optional(decimal),
  down_rate: optional(decimal),
  slippage: optional(decimal),
  liquidation_bound: optional(decimal),
  market_order_max_stock: optional(decimalOrNull),
  market_order_max_money: optional(decimalOrNull),
  buy_start: optional(whole),
  sell_start: optional(whole),
  delisting_time: optional(whole),
  reference_price: optional(decimal),
})
const policy = object<Policy>({
  address_book_only: flag,
  new_address_hours: whole,
  changed_password_hours: whole,
  velocity: object<Policy['velocity']>({ hours: whole, count: whole, usdt: decimal }),
  verify_above_usdt: decimalOrNull,
  face_verify_above_usdt: decimalOrNull,
  internal_transfers: optional(oneOf('free', 'checked', 'off')),
  push_transfers: optional(oneOf('free', 'checked')),
  early_credit_usdt: optional(decimalOrNull),
  deposit_review_usdt: decimalOrNull,
  cancel_seconds: whole,
  day_limit_usdt: list(decimal),
})
const unified = object<UnifiedConfig>({
  currencies: list(
    object<LoanCurrency>({
      currency: text,
      loan_status: oneOf('enable', 'disable'),
      min_borrow_amount: decimal,
      user_max_borrow_amount: decimal,
      total_max_borrow_amount: decimal,
      discount_tiers: list(
        object<DiscountTier>({
          tier: text,
          discount: decimal,
          lower_limit: decimal,
          upper_limit: limit('+'),
          leverage: decimal,
        }),
      ),
      margin_tiers: list(
        object<MarginTier>({
          tier: text,
          margin_rate: decimal,
          lower_limit: decimal,
          upper_limit: limit(''),
          leverage: decimal,
        }),
      ),
      rate: object<RateCurve>({ base: decimal, kink: decimal, at_kink: decimal, full: decimal }),
      supply: decimal,
      insurance: decimal,
    }),
  ),
  isolated: list(
    object<IsolatedMarket>({
      currency_pair: text,
      base_min_borrow_amount: decimal,
      quote_min_borrow_amount: decimal,
      max_quote_amount: decimal,
      tiers: list(object<IsolatedTier>({ upper_limit: limit(''), mmr: decimal, leverage: decimal })),
    }),
  ),
  lender_share: decimal,
  quick_repay_spread: optional(decimal),
  quick_repay_hour_usdt: optional(decimal),
  tier_up_rates: optional(list(decimal)),
})
const contract = object<ContractConfig>({
  group: oneOf('futures', 'delivery'),
  settle: text,
  name: optional(text),
  underlying: optional(text),
  type: oneOf('direct', 'inverse'),
  quanto_multiplier: decimal,
  order_price_round: decimal,
  mark_price_round: decimal,
  order_size_min: optional(whole),
  order_size_max: optional(whole),
  market_order_size_max: optional(decimal),
  leverage_min: optional(decimal),
  leverage_max: decimal,
  cross_leverage_default: optional(decimal),
  maker_fee_rate: optional(decimal),
  taker_fee_rate: optional(decimal),
  order_price_deviate: optional(decimal),
  market_order_slip_ratio: optional(decimal),
  funding_interval: optional(whole),
  interest_rate: optional(decimal),
  funding_rate_limit: optional(decimal),
  funding_impact_value: optional(decimal),
  orders_limit: optional(whole),
  risk_limit_table: optional(text),
  tiers: list(object<TierConfig>({ risk_limit: decimal, maintenance_rate: decimal, leverage_max: decimal })),
  mark_bound: optional(decimal),
  mark_bound_year: optional(decimal),
  status: optional(oneOf(...CONTRACT_STATUSES)),
  create_time: optional(whole),
  launch_time: optional(whole),
  delisting_time: optional(whole),
  delisted_time: optional(whole),
  config_change_time: optional(whole),
  cycle: optional(oneOf(...CYCLES, '')),
  expire_time: optional(whole),
  settle_fee_rate: optional(decimal),
  basis_impact_value: optional(decimal),
})
const priceFeed = object<PriceFeedConfig>({
  url: text,
  seconds: number,
  stale_seconds: number,
  jump: optional(decimal),
  second_url: optional(text),
})

/** A section that is left out comes from the built-in world. */
export const SECTIONS = {
  currencies: list(currency),
  chains: list(chain),
  policy,
  price_feed: priceFeed,
  exchange_rates: map(decimal),
  markets: list(market),
  contracts: list(contract),
  settle: object<WorldConfig['settle']>({ futures: list(text), delivery: list(text) }),
  unified,
  limits: object<WorldConfig['limits']>({
    keys_max: whole,
    contract_ceiling: decimal,
    open_orders_max: optional(whole),
    sub_accounts_max: optional(whole),
  }),
} as const satisfies Describes<WorldConfig>
const FILE: Member = {
  is: 'object',
  members: Object.fromEntries(
    Object.entries(SECTIONS as Members).map(([name, section]) => [name, optional(section)]),
  ),
}

const SHOWN_MAX = 60
const shown = (given: unknown): string => {
  const json = JSON.stringify(given)
  return json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}…` : json
}
const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  given !== null && typeof given === 'object' && !Array.isArray(given)
/** Names come from the file: they must not break the line. */
const named = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, SHOWN_MAX))

/** What no member of the file may be: unknown, of another type, or missing. Each names its place and the mend. */
export const fileFaults = (file: unknown): string[] => faultsOf(FILE, file, '')

/** The same for some members of a section, none of which must be there. */
export function changeFaults(section: keyof typeof SECTIONS, change: unknown): string[] {
  const described: Member = SECTIONS[section]
  if (described.is !== 'object') throw new TypeError(`${section} is not an object`)
  const members = Object.entries(described.members).map(([name, of]): [string, Member] => [
    name,
    optional(of),
  ])
  return faultsOf({ is: 'object', members: Object.fromEntries(members) }, change, section)
}

function faultsOf(member: Member, given: unknown, where: string): string[] {
  if (member.is === 'optional') return faultsOf(member.of, given, where)
  if (member.is === 'value')
    return member.fits(given) ? [] : [`${where} must be ${member.what}, not ${shown(given)}`]
  if (member.is === 'list')
    return Array.isArray(given)
      ? given.flatMap((item: unknown, i) => faultsOf(member.of, item, `${where}[${i}]`))
      : [`${where} must be a list, not ${shown(given)}`]
  if (!isObject(given)) return [`${where} must be an object, not ${shown(given)}`]
  const at = (name: string): string => (where === '' ? named(name) : `${where}.${named(name)}`)
  if (member.is === 'map')
    return Object.entries(given).flatMap(([name, item]) => faultsOf(member.of, item, at(name)))
  const { members } = member
  const known = Object.keys(members)
  return [
    ...Object.entries(given).flatMap(([name, item]) =>
      Object.hasOwn(members, name)
        ? faultsOf(members[name]!, item, at(name))
        : [`${at(name)} is not known; ${meant(name, known)}`],
    ),
    ...known
      .filter((name) => members[name]!.is !== 'optional' && !Object.hasOwn(given, name))
      .map((name) => `${at(name)} is missing`),
  ]
}

const typeOf = (member: Member): string =>
  member.is === 'optional'
    ? `${typeOf(member.of)}; optional`
    : member.is === 'list'
      ? `list of ${typeOf(member.of)}`
      : member.is === 'value'
        ? member.type
        : member.is === 'map'
          ? `map of ${typeOf(member.of)}`
          : 'object'

/** The members of each object in the file, with their types: `currencies[].chains[]` → chain → text, … */
export function describeFile(): Map<string, Map<string, string>> {
  const tables = new Map<string, Map<string, string>>()
  const walk = (member: Member, where: string): void => {
    if (member.is === 'optional') return walk(member.of, where)
    if (member.is === 'list') return walk(member.of, `${where}[]`)
    if (member.is !== 'object') return
    const members = Object.entries(member.members)
    tables.set(where, new Map(members.map(([name, of]) => [name, typeOf(of)])))
    for (const [name, of] of members) walk(of, where === '' ? name : `${where}.${name}`)
  }
  walk(FILE, '')
  return tables
}
