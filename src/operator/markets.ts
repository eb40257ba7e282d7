import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { decimal, integer, object, oneOf, optional } from '../api/fields.ts'
import { array, decimalText, int, int64, nullable, shape, str } from '../api/shapes.ts'
import { shownRules } from '../api/spot/market-data.ts'
import { pairField } from '../api/wallet.ts'
import { TRADE_STATUSES, type MarketChange } from '../core/tables/world/markets.ts'

const bound = nullable(decimalText)
const marketShape = shape({
  id: str,
  base: str,
  quote: str,
  precision: int,
  amount_precision: int,
  min_base_amount: bound,
  min_quote_amount: bound,
  max_base_amount: bound,
  max_quote_amount: bound,
  fee: decimalText,
  trade_status: str,
  'status?': str,
  up_rate: decimalText,
  down_rate: decimalText,
  slippage: decimalText,
  liquidation_bound: decimalText,
  market_order_max_stock: bound,
  market_order_max_money: bound,
  buy_start: int64,
  sell_start: int64,
  delisting_time: int64,
  reference_price: decimalText,
})
const PAIR = { currency_pair: pairField }
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const
const SECOND_MAX = 9_999_999_999

export const operatorMarketEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/markets',
    summary: 'Lists the markets with all their rules',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(marketShape),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world }) => world.allMarkets.map(({ config }) => shownRules(config))),
  }),
  endpoint({
    method: 'GET',
    path: '/markets/{currency_pair}',
    summary: 'Shows the rules of a market',
    access: operatorOf('viewer'),
    limit: null,
    params: PAIR,
    status: 200,
    reply: marketShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, path }) =>
      desk.core.read(({ world }) => shownRules(world.market(path.currency_pair, 'path').config)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/markets/{currency_pair}',
    summary: 'Changes rules of a market: trade_status, bounds, fee, price protection; at once',
    access: operatorOf('operator'),
    // Whoever is on duty can stop a market.
    guarded: {
      role: 'admin',
      when: ({ body }) =>
        Object.entries(body).some(([name, value]) => name !== 'trade_status' && value !== null),
    },
    limit: null,
    params: PAIR,
    body: object({
      min_base_amount: optional(decimal()),
      min_quote_amount: optional(decimal()),
      max_base_amount: optional(decimal()),
      max_quote_amount: optional(decimal()),
      fee: optional(decimal()),
      trade_status: optional(oneOf(...TRADE_STATUSES)),
      up_rate: optional(decimal()),
      down_rate: optional(decimal()),
      slippage: optional(decimal()),
      liquidation_bound: optional(decimal()),
      market_order_max_stock: optional(decimal()),
      market_order_max_money: optional(decimal()),
      buy_start: optional(integer(0, SECOND_MAX)),
      sell_start: optional(integer(0, SECOND_MAX)),
      delisting_time: optional(integer(0, SECOND_MAX)),
    }),
    status: 200,
    reply: marketShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, operator, path, body }) => {
      const change = Object.fromEntries(
        Object.entries(body).filter(([, value]) => value !== null),
      ) as MarketChange
      const changed = { currency_pair: path.currency_pair, change, actor: operator }
      return shownRules(await desk.core.submit('market.change', changed))
    },
  }),
]
