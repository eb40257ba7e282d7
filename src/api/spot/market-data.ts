import { numberedPages, windowFields } from '../history.ts'
import type { Book } from '../../core/tables/exchange/book.ts'
import { SPOT_TRADE, type Trade } from '../../core/tables/exchange/trades.ts'
import type { Market, MarketConfig } from '../../core/tables/world/markets.ts'
import type { World } from '../../core/tables/world/world.ts'
import { insuranceName } from '../../core/ledger/accounts.ts'
import { LEDGER_LINE } from '../../core/ledger/ledger.ts'
import { notFound, refuse } from '../../labels.ts'
import { canonical, format, parsePrice, type Amount, type Price } from '../../money/amount.ts'
import { PUBLIC, endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { decimal, flag, id, integer, oneOf, optional, time, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, decimalText, int, int64, nullable, shape, str } from '../shapes.ts'
import { currencyField, pairField } from '../wallet.ts'
import { candleRange, candleRow, candles, toldRange } from './candles.ts'
import { INTERVALS, intervalOf } from './intervals.ts'
import { ticker, tickerShape } from './tickers.ts'
import { millisText, secondsText } from './views.ts'
import { skipped, timeSpan } from './span.ts'

const bound = nullable(decimalText)
const pairShape = shape({
  id: str,
  base: str,
  base_name: str,
  quote: str,
  quote_name: str,
  trade_quotes: array(str),
  fee: decimalText,
  min_base_amount: bound,
  min_quote_amount: bound,
  max_base_amount: bound,
  max_quote_amount: bound,
  amount_precision: int,
  precision: int,
  trade_status: str,
  sell_start: int64,
  buy_start: int64,
  delisting_time: int64,
  type: str,
  trade_url: str,
  st_tag: bool,
  up_rate: decimalText,
  down_rate: decimalText,
  slippage: decimalText,
  market_order_max_stock: bound,
  market_order_max_money: bound,
})
const DECIMAL_RULES = [
  'min_base_amount',
  'min_quote_amount',
  'max_base_amount',
  'max_quote_amount',
  'fee',
  'up_rate',
  'down_rate',
  'slippage',
  'liquidation_bound',
  'market_order_max_stock',
  'market_order_max_money',
  'reference_price',
] as const satisfies readonly (keyof MarketConfig)[]
/** A market's rules as replies show them, however the file or an operator wrote their figures. */
export function shownRules(config: MarketConfig): MarketConfig {
  const shown: Partial<Record<(typeof DECIMAL_RULES)[number], string>> = {}
  for (const name of DECIMAL_RULES) {
    const text = config[name]
    if (text !== null) shown[name] = canonical(text)
  }
  return { ...config, ...shown }
}
function pairView(world: World, { config }: Market): object {
  const { reference_price: _, liquidation_bound: __, status: ___, ...rules } = shownRules(config)
  return {
    ...rules,
    base_name: world.currency(config.base).name,
    quote_name: world.currency(config.quote).name,
    trade_quotes: [config.quote],
    type: 'normal',
    trade_url: '',
    st_tag: false,
  }
}

/** Neighbouring levels become one of a coarser price: buys are rounded down, sales up. */
function grouped(
  levels: readonly { price: Price; amount: Amount }[],
  step: bigint,
  up: boolean,
  limit: number,
) {
  const merged: { price: bigint; amount: bigint }[] = []
  for (const { price, amount } of levels) {
    const rest = price % step
    const at = rest === 0n ? price : up ? price - rest + step : price - rest
    const last = merged.at(-1)
    if (last?.price === at) last.amount += amount
    else if (merged.length === limit) break
    else merged.push({ price: at, amount })
  }
  return merged as { price: Price; amount: Amount }[]
}
/** The best levels of a side; a step of 0 is no grouping. */
export const depth = (book: Book, side: 'buy' | 'sell', step: bigint, limit: number) =>
  step === 0n ? book.depth(side, limit) : grouped(book.depth(side, Infinity), step, side === 'sell', limit)
const rows = (levels: ReturnType<typeof depth>): string[][] =>
  levels.map(({ price, amount }) => [format(price), format(amount)])
/** How coarse the prices of a book are asked for: a multiple of its tick. */
export function stepOf(interval: string, tick: Price): bigint {
  const step: bigint = parsePrice(interval)!
  if (step % tick !== 0n)
    refuse('INVALID_PARAM_VALUE', `interval: "${interval}" is not a multiple of the tick ${format(tick)}`)
  return step
}

const tradeShape = shape({
  id: str,
  create_time: str,
  create_time_ms: str,
  currency_pair: str,
  side: str,
  amount: decimalText,
  price: decimalText,
  sequence_id: str,
})
export const tradeView = (trade: Trade) => ({
  id: String(trade.id),
  create_time: secondsText(trade.at),
  create_time_ms: millisText(trade.at),
  currency_pair: trade.pair,
  side: trade.side,
  amount: format(trade.amount),
  price: format(trade.price),
  sequence_id: String(trade.sequence),
})

interface TradeQuery {
  readonly currency_pair: string
  readonly limit: number
  readonly page: number
  readonly last_id: number | null
  readonly reverse: boolean
  readonly from: number | null
  readonly to: number | null
}
/** Newest first: from memory where it reaches far enough, else from the store. */
async function publicTrades(
  call: { readonly desk: Desk; set(name: string, value: string | number): void },
  query: TradeQuery,
): Promise<Trade[]> {
  const skip = skipped(query.page, query.limit)
  return query.last_id === null
    ? tradesByTime(call, query, skip)
    : tradesById(call.desk, query.last_id, query, skip)
}
/** Newest first; no more of them are looked at than it takes. */
function newestOf(
  list: readonly Trade[],
  holds: (trade: Trade) => boolean,
  skip: number,
  limit: number,
): Trade[] {
  const page: Trade[] = []
  let passed = 0
  for (let i = list.length - 1; i >= 0 && page.length < limit; i--)
    if (holds(list[i]!) && passed++ >= skip) page.push(list[i]!)
  return page
}
async function tradesByTime(
  call: Parameters<typeof publicTrades>[0],
  query: TradeQuery,
  skip: number,
): Promise<Trade[]> {
  const { desk } = call
  const { limit } = query
  const { pair, from, to, recent } = await desk.core.read(({ spot, world }) => {
    const pair = world.market(query.currency_pair).id
    const { from, to } = timeSpan(call, query, { usual: 30, most: 30 })
    const list = spot.trades.of(pair)
    const page = newestOf(list, ({ at }) => at >= from && at <= to, skip, limit)
    const known = spot.trades.covers(pair, 1) || (list[0] !== undefined && list[0].at < from)
    return { pair, from, to, recent: page.length === limit || known ? page : undefined }
  })
  const where = 'where "pair" = ? and "at" >= ? and "at" <= ? order by "at" desc, "id" desc limit ? offset ?'
  return recent ?? desk.store.select(SPOT_TRADE, where, [pair, from, to, limit, skip])
}
/** Those next to an id on one side of it, so that no trade is passed over from call to call. */
async function tradesById(
  desk: Desk,
  lastId: number,
  { currency_pair, limit, reverse }: TradeQuery,
  skip: number,
): Promise<Trade[]> {
  const { pair, recent } = await desk.core.read(({ spot, world }) => {
    const pair = world.market(currency_pair).id
    const list = spot.trades.of(pair)
    const first = reverse ? 0 : list.findLastIndex(({ id }) => id <= lastId) + 1 + skip
    const page = reverse
      ? newestOf(list, ({ id }) => id < lastId, skip, limit)
      : list.slice(first, first + limit)
    const known = spot.trades.covers(pair, reverse ? 1 : lastId + 1)
    return { pair, recent: known || (reverse && page.length === limit) ? page : undefined }
  })
  const [beyond, order] = reverse ? ['<', 'desc'] : ['>', 'asc']
  const where = `where "pair" = ? and "id" ${beyond} ? order by "id" ${order} limit ? offset ?`
  const near = recent ?? (await desk.store.select(SPOT_TRADE, where, [pair, lastId, limit, skip]))
  return reverse ? near : near.reverse()
}

const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const

export const marketDataEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/spot/currency_pairs',
    summary: 'Lists the markets',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(pairShape),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world }) => world.allMarkets.map((market) => pairView(world, market))),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/currency_pairs/{currency_pair}',
    summary: 'Shows one market',
    access: PUBLIC,
    limit: LIMITS.public,
    params: { currency_pair: pairField },
    status: 200,
    reply: pairShape,
    refuses: ['INVALID_CURRENCY_PAIR'],
    handle: async ({ desk, path }) =>
      desk.core.read(({ world }) =>
        pairView(
          world,
          world.findMarket(path.currency_pair) ??
            notFound(
              'INVALID_CURRENCY_PAIR',
              `currency_pair: "${path.currency_pair}" is not a market of this platform; GET /spot/currency_pairs lists them`,
            ),
        ),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/tickers',
    summary: 'Last price, best prices and 24 hour figures of one market or all',
    access: PUBLIC,
    limit: LIMITS.public,
    query: { currency_pair: optional(pairField), timezone: optional(oneOf('utc0', 'utc8', 'all')) },
    status: 200,
    reply: array(tickerShape),
    refuses: PAIR_LABELS,
    handle: async ({ desk, query }) => {
      if (query.currency_pair?.includes(',') === true)
        refuse(
          'INVALID_CURRENCY_PAIR',
          `currency_pair: "${query.currency_pair}" is a list; name one market, or none for all`,
        )
      return desk.core.read((state) => {
        const one = query.currency_pair === null ? undefined : state.world.market(query.currency_pair)
        const options = { timezone: query.timezone, sizes: one !== undefined }
        const markets = one === undefined ? state.world.allMarkets : [one]
        return markets.map(({ id: pair }) => ticker(state, pair, desk.clock.seconds(), options))
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/order_book',
    summary: "A market's open prices, best first; id counts the book's changes",
    access: PUBLIC,
    limit: LIMITS.public,
    query: {
      currency_pair: pairField,
      interval: withDefault(decimal(), '0'),
      limit: withDefault(integer(1, 1000), 10),
      with_id: withDefault(flag(), false),
    },
    status: 200,
    reply: shape({
      'id?': int64,
      current: int64,
      update: int64,
      asks: array(array(str)),
      bids: array(array(str)),
    }),
    refuses: PAIR_LABELS,
    handle: async ({ desk, query }) =>
      desk.core.read(({ spot, world }) => {
        const { id: pair, tick } = world.market(query.currency_pair)
        const step = stepOf(query.interval, tick)
        const book = spot.book(pair)
        const { book_id, update_at } = spot.figuresOf(pair)
        return {
          ...(query.with_id && { id: book_id }),
          current: Math.floor(desk.clock.peek() / 1000),
          update: Math.floor(update_at / 1000),
          asks: rows(depth(book, 'sell', step, query.limit)),
          bids: rows(depth(book, 'buy', step, query.limit)),
        }
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/trades',
    summary: "A market's trades, newest first",
    access: PUBLIC,
    limit: LIMITS.public,
    query: {
      currency_pair: pairField,
      limit: withDefault(integer(1, 1000), 100),
      last_id: optional(id()),
      reverse: withDefault(flag(), false),
      ...windowFields,
      page: withDefault(integer(1, 100_001), 1),
    },
    status: 200,
    reply: array(tradeShape),
    refuses: PAIR_LABELS,
    handle: async (call) => (await publicTrades(call, call.query)).map(tradeView),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/candlesticks',
    summary: 'Candles: time, quote volume, close, high, low, open, base volume, closed',
    access: PUBLIC,
    limit: LIMITS.public,
    query: {
      currency_pair: pairField,
      interval: withDefault(oneOf(...INTERVALS.map(({ name }) => name), '1w'), '30m'),
      limit: optional(integer(1, 1000)),
      ...windowFields,
    },
    status: 200,
    reply: array(array(str)),
    refuses: PAIR_LABELS,
    handle: async (call) => {
      const { desk, query } = call
      const interval = intervalOf(query.interval)
      const now = desk.clock.seconds()
      const range = () => toldRange(call, candleRange(query, interval, now))
      const list = await candles(desk, query.currency_pair, interval, range)
      return list.map((candle) => candleRow(candle, interval, now))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/insurance_history',
    summary: 'Balances of the insurance fund over time, newest first',
    access: PUBLIC,
    limit: LIMITS.public,
    query: {
      business: oneOf('margin', 'unified'),
      currency: currencyField,
      from: time(),
      to: time(),
      ...numberedPages(100_001, 1000, 30),
    },
    status: 200,
    reply: array(shape({ currency: str, balance: decimalText, time: int64 })),
    refuses: ['INVALID_CURRENCY'],
    handle: async (call) => {
      const { desk, query } = call
      const found = await desk.core.read(({ ledger, world }) => {
        const { currency } = world.currency(query.currency)
        return { currency, account: ledger.find(0, insuranceName(query.business), currency) }
      })
      const { from, to } = timeSpan(call, query, { usual: 30, most: 30 })
      const { currency, account } = found
      if (account === undefined) return []
      const lines = await desk.store.select(
        LEDGER_LINE,
        'where "account" = ? and "at" >= ? and "at" <= ? order by "at" desc, "id" desc limit ? offset ?',
        [account.id, from, to, query.limit, skipped(query.page, query.limit)],
      )
      return lines.map(({ after, at }) => ({ currency, balance: format(after), time: Math.floor(at / 1e6) }))
    },
  }),
]
