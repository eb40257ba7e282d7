import { refuse } from '../../../labels.ts'
import {
  ONE_RATE,
  amountOf,
  parseAmount,
  parseRate,
  priceOf,
  rateOf,
  unitOf,
  type Amount,
  type Price,
  type Rate,
} from '../../../money/amount.ts'

/** The rules of one spot market, as the configuration and the operator write them. */
export interface MarketConfig {
  readonly id: string
  readonly base: string
  readonly quote: string
  /** Decimals of prices. */
  readonly precision: number
  /** Decimals of amounts. */
  readonly amount_precision: number
  /** Null: no bound. */
  readonly min_base_amount: string | null
  readonly min_quote_amount: string | null
  readonly max_base_amount: string | null
  readonly max_quote_amount: string | null
  /** Percent; the rate of tier 0, and the most that anybody pays. */
  readonly fee: string
  readonly trade_status: TradeStatus
  /** Left out: trading. What is halted or being delisted is untradable, whatever trade_status says. */
  readonly status?: MarketStatus
  /** A buy may be priced at most last x (1 + up_rate), a sale at least last x (1 - down_rate). */
  readonly up_rate: string
  readonly down_rate: string
  /** The widest slippage that a market order may ask for. */
  readonly slippage: string
  /** How far from the index price a liquidation may sell or buy, as a ratio. */
  readonly liquidation_bound: string
  /** Caps of market orders: base of a sale, quote of a buy. Null: no cap. */
  readonly market_order_max_stock: string | null
  readonly market_order_max_money: string | null
  /** Unix seconds; 0 when long past (starts) or not planned (delisting). */
  readonly buy_start: number
  readonly sell_start: number
  readonly delisting_time: number
  /** Where the sandbox's market agents begin. */
  readonly reference_price: string
}
export const TRADE_STATUSES = ['untradable', 'buyable', 'sellable', 'tradable'] as const
export type TradeStatus = (typeof TRADE_STATUSES)[number]
/**
 * The steps out of the market, in order. halted: no new orders and no matching, those that wait may be cancelled.
 * delisting: all of them are cancelled, and nothing is lent. What comes after is that the row is gone.
 */
export const MARKET_STATUSES = ['trading', 'halted', 'delisting'] as const
export type MarketStatus = (typeof MARKET_STATUSES)[number]

/** What an operator may change while the market is open. */
export const MARKET_SETTINGS = [
  'min_base_amount',
  'min_quote_amount',
  'max_base_amount',
  'max_quote_amount',
  'fee',
  'trade_status',
  'up_rate',
  'down_rate',
  'slippage',
  'liquidation_bound',
  'market_order_max_stock',
  'market_order_max_money',
  'buy_start',
  'sell_start',
  'delisting_time',
] as const satisfies readonly (keyof MarketConfig)[]
export type MarketChange = Partial<Pick<MarketConfig, (typeof MARKET_SETTINGS)[number]>>
/** All that an operator's calls may have changed: `gone` hides the row that the file still has. */
export type MarketOverlay = MarketChange & { readonly status?: MarketStatus | 'gone' }

/** Also for what no market turns into what is owed. */
export const LIQUIDATION_BOUND = '0.03'
const BOUND_MOST = rateOf('0.2')

const DEFAULTS = {
  min_base_amount: null,
  min_quote_amount: '3',
  max_base_amount: null,
  max_quote_amount: '5000000',
  fee: '0.2',
  trade_status: 'tradable',
  up_rate: '9',
  down_rate: '0.9',
  slippage: '1',
  liquidation_bound: LIQUIDATION_BOUND,
  market_order_max_stock: null,
  market_order_max_money: null,
  buy_start: 0,
  sell_start: 0,
  delisting_time: 0,
} as const

/** A market from its name, its precisions and a price, with the usual rules for all else. */
export function marketOf(
  id: string,
  precision: number,
  amount_precision: number,
  reference_price: string,
  more: Partial<MarketConfig> = {},
): MarketConfig {
  const [base, quote] = id.split('_') as [string, string]
  return { ...DEFAULTS, id, base, quote, precision, amount_precision, reference_price, ...more }
}

/** A configuration file may leave the usual rules out. */
export const completeMarket = (market: Partial<MarketConfig> & Pick<MarketConfig, 'id'>): MarketConfig =>
  ({ ...DEFAULTS, reference_price: '1', ...market }) as MarketConfig

/** The rules of a market in the numbers that matching works with. */
export interface Market {
  readonly config: MarketConfig
  /** Nothing is placed and nothing matches: by its own status, its currencies', or because all markets are halted. */
  readonly halted: boolean
  readonly id: string
  readonly base: string
  readonly quote: string
  readonly basePrecision: number
  readonly quotePrecision: number
  readonly tick: Price
  /** The book counts prices in ticks by plain numbers: they stay below 2^53. */
  readonly priceMax: Price
  readonly lot: Amount
  readonly minBase: Amount
  readonly minQuote: Amount
  readonly maxBase: Amount | undefined
  readonly maxQuote: Amount | undefined
  readonly marketMaxBase: Amount | undefined
  readonly marketMaxQuote: Amount | undefined
  readonly upRate: Rate
  readonly downRate: Rate
  readonly slippageMax: Rate
  readonly liquidationBound: Rate
  /** A ratio, not percent. */
  readonly feeMax: Rate
}
const TICKS_MAX = BigInt(Number.MAX_SAFE_INTEGER)
export function compileMarket(
  given: MarketConfig,
  basePrecision: number,
  quotePrecision: number,
  stopped = false,
): Market {
  const halted = stopped || (given.status ?? 'trading') !== 'trading'
  const config: MarketConfig = halted ? { ...given, trade_status: 'untradable' } : given
  const bound = (text: string | null): Amount | undefined => (text === null ? undefined : amountOf(text))
  return {
    config,
    halted,
    id: config.id,
    base: config.base,
    quote: config.quote,
    basePrecision,
    quotePrecision,
    tick: unitOf(config.precision) as bigint as Price,
    priceMax: (unitOf(config.precision) * TICKS_MAX) as Price,
    lot: unitOf(config.amount_precision),
    minBase: amountOf(config.min_base_amount ?? '0'),
    minQuote: amountOf(config.min_quote_amount ?? '0'),
    maxBase: bound(config.max_base_amount),
    maxQuote: bound(config.max_quote_amount),
    marketMaxBase: bound(config.market_order_max_stock),
    marketMaxQuote: bound(config.market_order_max_money),
    upRate: rateOf(config.up_rate),
    downRate: rateOf(config.down_rate),
    slippageMax: rateOf(config.slippage),
    liquidationBound: rateOf(config.liquidation_bound),
    feeMax: (rateOf(config.fee) / 100n) as Rate,
  }
}

/**
 * A market's values must be exact: price x amount never has more decimals than the quote currency, so that a
 * trade's value is never rounded. The message says where a configuration breaks this.
 */
export function checkMarket(market: MarketConfig, precisionOf: (currency: string) => number): void {
  const where = `market ${market.id}`
  const { precision, amount_precision } = market
  if (!Number.isInteger(precision) || precision < 0)
    throw new TypeError(`${where}: precision must be a whole number`)
  if (!Number.isInteger(amount_precision) || amount_precision < 0)
    throw new TypeError(`${where}: amount_precision must be a whole number`)
  if (amount_precision > precisionOf(market.base))
    throw new TypeError(`${where}: amount_precision is beyond the precision of ${market.base}`)
  if (precision + amount_precision > precisionOf(market.quote))
    throw new TypeError(
      `${where}: precision + amount_precision must not exceed the ${precisionOf(market.quote)} decimals of ${market.quote}`,
    )
  if (!TRADE_STATUSES.includes(market.trade_status))
    throw new TypeError(`${where}: trade_status must be one of ${TRADE_STATUSES.join(', ')}`)
  if (market.status !== undefined && !MARKET_STATUSES.includes(market.status))
    throw new TypeError(`${where}: status must be one of ${MARKET_STATUSES.join(', ')}`)
  const bound = parseRate(market.liquidation_bound)
  if (bound === undefined || bound === 0n || bound > BOUND_MOST)
    throw new TypeError(`${where}: liquidation_bound must be a decimal string above 0 and at most 0.2`)
  priceOf(market.reference_price)
  compileMarket(market, precisionOf(market.base), precisionOf(market.quote))
}

/** The same for an operator's change, answered as a refusal. */
export function checkMarketChange(change: MarketChange): void {
  for (const [name, value] of Object.entries(change))
    if (typeof value === 'string' && name !== 'trade_status' && parseAmount(value) === undefined)
      refuse('INVALID_PARAM_VALUE', `${name}: "${value}" is not a decimal such as "1.5"`)
  if (change.down_rate !== undefined && parseRate(change.down_rate)! > ONE_RATE)
    refuse('INVALID_PARAM_VALUE', `down_rate: "${change.down_rate}" must be from 0 to 1`)
  if (change.liquidation_bound !== undefined) {
    const bound = parseRate(change.liquidation_bound)!
    if (bound === 0n || bound > BOUND_MOST)
      refuse(
        'INVALID_PARAM_VALUE',
        `liquidation_bound: "${change.liquidation_bound}" must be a ratio above 0 and at most 0.2`,
      )
  }
  if (change.fee !== undefined && parseRate(change.fee)! > rateOf('10'))
    refuse('INVALID_PARAM_VALUE', `fee: "${change.fee}" is a percentage of at most 10`)
}
