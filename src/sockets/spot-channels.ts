import type { JsonSchema } from '../api/fields.ts'
import { INTERVALS } from '../api/spot/intervals.ts'
import { spotBook } from './book-forms.ts'
import { badArgument } from './envelope.ts'
import { spotCandles, spotTicker, spotTrades } from './market-forms.ts'
import {
  ALL,
  EVERYTHING,
  REAL_TIME,
  msOf,
  namesOrAll,
  obuNamed,
  oneOf,
  texts,
  type Asked,
  type Channel,
  type Covered,
  type PrivateChannel,
  type PublicChannel,
  type Sources,
  type Wanted,
} from './payloads.ts'
import * as shapes from './result-shapes.ts'
import type { Begin } from './stream.ts'

const PAIRS = '["BTC_USDT", …]'
const PAIRS_OR_ALL = `${PAIRS} or ["${ALL}"]`

function pairOf(name: string, { world, known }: Asked): string {
  const market = world.findMarket(name)
  if (market !== undefined) return market.id
  return known ? badArgument(`unknown currency pair: ${name.slice(0, 80)}`) : name.toUpperCase()
}
const pairsOf = (payload: unknown, asked: Asked): string[] => [
  ...new Set(texts(payload, PAIRS).map((name) => pairOf(name, asked))),
]
const pairsOrAll = (payload: unknown, asked: Asked): Covered =>
  namesOrAll(texts(payload, PAIRS_OR_ALL), (name) => pairOf(name, asked))

const SNAPSHOT_LEVELS = ['5', '10', '20', '50', '100']
const SNAPSHOT_PACES = ['100ms', '1000ms']
/** Levels by pace. */
const UPDATE_LEVELS: Readonly<Record<string, number>> = { '20ms': 20, '100ms': 100 }
/** Milliseconds by level. */
const OBU_PACES: Readonly<Record<string, number>> = { '50': 20, '400': 100 }
const INTERVAL_NAMES = [...INTERVALS.map(({ name }) => name), '1w']

const perPair =
  (channel: string, begin: (sources: Sources, pair: string) => Begin): PublicChannel['read'] =>
  (payload, asked) =>
    pairsOf(payload, asked).map((pair) => ({
      name: `${channel} ${pair}`,
      begin: (sources) => begin(sources, pair),
    }))

const PUBLIC_SPOT: readonly PublicChannel[] = [
  {
    name: 'spot.tickers',
    product: 'spot',
    access: 'public',
    summary: 'Last price, best prices and 24 hour figures, when one of them changed',
    payload: PAIRS,
    pace: '1000ms',
    result: shapes.TICKER,
    read: perPair('spot.tickers', ({ markets }, pair) => markets.ofTicker('spot.tickers', spotTicker(pair))),
  },
  ...['spot.trades', 'spot.trades_v2'].map((name): PublicChannel => ({
    name,
    product: 'spot',
    access: 'public',
    summary: name === 'spot.trades' ? 'Each trade' : 'The same as spot.trades',
    payload: PAIRS,
    pace: REAL_TIME,
    result: shapes.TRADE,
    read: perPair(name, ({ markets }, pair) => markets.ofTrades(pair, spotTrades(name))),
  })),
  {
    name: 'spot.candlesticks',
    product: 'spot',
    access: 'public',
    summary: 'The candle that grows, and each one once more when it has closed (w: true)',
    payload: '["1m", "BTC_USDT"]',
    pace: '2000ms',
    result: shapes.CANDLE,
    read: (payload, asked) => {
      const [first, name] = texts(payload, '["1m", "BTC_USDT"]', 2)
      const interval = oneOf('interval', first, INTERVAL_NAMES)
      const pair = pairOf(name ?? badArgument('payload: the pair is missing, ["1m", "BTC_USDT"]'), asked)
      return [
        {
          name: `spot.candlesticks ${interval} ${pair}`,
          begin: ({ markets }) => markets.ofCandles(spotCandles(pair, interval)),
        },
      ]
    },
  },
  {
    name: 'spot.book_ticker',
    product: 'spot',
    access: 'public',
    summary: 'The best bid and ask, when one of them changed',
    payload: PAIRS,
    pace: '10ms',
    result: shapes.BOOK_TICKER,
    read: perPair('spot.book_ticker', ({ books }, pair) => books.ticker(pair, spotBook(pair))),
  },
  {
    name: 'spot.order_book',
    product: 'spot',
    access: 'public',
    summary: 'The best prices as a whole, when the book has moved',
    payload: '["BTC_USDT", "20", "100ms"]',
    pace: '100ms or 1000ms',
    result: shapes.BOOK,
    read: (payload, asked) => {
      const [name, second, third] = texts(payload, '["BTC_USDT", "20", "100ms"]', 3)
      const pair = pairOf(name!, asked)
      const level = oneOf('level', second, SNAPSHOT_LEVELS)
      const pace = oneOf('interval', third, SNAPSHOT_PACES)
      return [
        {
          name: `spot.order_book ${pair} ${level} ${pace}`,
          begin: ({ books }) => books.snapshots(pair, spotBook(pair), Number(level), msOf(pace)),
        },
      ]
    },
  },
  {
    name: 'spot.order_book_update',
    product: 'spot',
    access: 'public',
    summary: 'What changed among the best 20 (20ms) or 100 (100ms) prices; a whole picture first',
    payload: '["BTC_USDT", "100ms"]',
    pace: '20ms or 100ms',
    result: shapes.BOOK_UPDATE,
    read: (payload, asked) => {
      const [name, second] = texts(payload, '["BTC_USDT", "100ms"]', 2)
      const pair = pairOf(name!, asked)
      const pace = oneOf('interval', second, Object.keys(UPDATE_LEVELS))
      const level = UPDATE_LEVELS[pace]!
      return [
        {
          name: `spot.order_book_update ${pair} ${pace}`,
          begin: ({ books }) => books.deltas(pair, spotBook(pair).update(level), level, msOf(pace)),
        },
      ]
    },
  },
  {
    name: 'spot.obu',
    product: 'spot',
    access: 'public',
    single: true,
    summary: 'What changed among the best 50 (20ms) or 400 (100ms) prices; a whole picture first',
    payload: '["ob.BTC_USDT.50", …]',
    pace: '20ms or 100ms',
    result: shapes.OBU,
    read: (payload, asked) => {
      const names = texts(payload, '["ob.BTC_USDT.50", …]').map((stream) => obuOf(stream, asked))
      return [...new Map(names.map((one) => [one.name, one])).values()]
    },
  },
]
function obuOf(stream: string, asked: Asked): Wanted {
  const named = obuNamed(stream, 'pair', 'ob.BTC_USDT.50')
  const pair = pairOf(named.name, asked)
  const size = oneOf('level', named.level, Object.keys(OBU_PACES))
  const level = Number(size)
  return {
    name: `ob.${pair}.${size}`,
    begin: ({ books }) => books.deltas(pair, spotBook(pair).obu(level), level, OBU_PACES[size]!),
  }
}

const ofPairs = (name: string, summary: string, result: JsonSchema): PrivateChannel => ({
  name,
  product: 'spot',
  access: 'spot',
  summary,
  payload: PAIRS_OR_ALL,
  pace: REAL_TIME,
  result,
  read: pairsOrAll,
})
const ofAccount = (name: string, summary: string, result: JsonSchema): PrivateChannel => ({
  name,
  product: 'spot',
  access: 'spot',
  summary,
  payload: 'none',
  pace: REAL_TIME,
  result,
  read: () => EVERYTHING,
})
const CURRENCIES_OR_ALL = `["BTC", …] or ["${ALL}"]`
const PRIVATE_SPOT: readonly PrivateChannel[] = [
  ofPairs(
    'spot.orders',
    "The account's orders as each command leaves them: put, update, finish",
    shapes.ORDERS,
  ),
  ofPairs('spot.orders_v2', 'The same without fees', shapes.ORDERS_V2),
  ofPairs('spot.usertrades', "The account's own trades", shapes.FILLS),
  ofPairs('spot.usertrades_v2', 'The same without fees', shapes.FILLS_V2),
  ofPairs('spot.priceorders', 'Price orders: created, fired, cancelled, expired, failed', shapes.PRICE_ORDER),
  ofAccount('spot.balances', 'Spot balances, when a command changed them', shapes.BALANCES),
  ofAccount('spot.margin_balances', 'Isolated margin balances and debts', shapes.MARGIN_BALANCES),
  ofAccount('spot.funding_balances', 'What the account lends', shapes.FUNDING_BALANCES),
  ofAccount('spot.cross_balances', 'The balances of a unified account', shapes.BALANCES),
  ofAccount('spot.cross_loan', 'What a unified account owes', shapes.LOAN),
  {
    name: 'unified.assets',
    product: 'unified',
    access: 'unified',
    summary: 'Equity, debts and margin of the unified account',
    payload: '[] or none',
    pace: '1000ms',
    result: shapes.ASSETS,
    read: () => EVERYTHING,
  },
  {
    name: 'unified.asset_detail',
    product: 'unified',
    access: 'unified',
    summary: 'Currencies of the unified account that changed; all of them first',
    payload: CURRENCIES_OR_ALL,
    pace: '1000ms',
    result: shapes.ASSET_DETAIL,
    read: (payload, asked) => {
      const names = texts(payload, CURRENCIES_OR_ALL)
      if (names.includes(ALL))
        return names.length === 1 ? EVERYTHING : badArgument(`payload: "${ALL}" or currencies, not both`)
      return { all: false, names: [...new Set(names.map((name) => currencyOf(name, asked)))] }
    },
  },
]
function currencyOf(name: string, { world, known }: Asked): string {
  const currency = world.findCurrency(name)
  if (currency !== undefined) return currency.currency
  return known ? badArgument(`unknown currency: ${name.slice(0, 80)}`) : name.toUpperCase()
}

/** Spot's and those of unified accounts. */
export const SPOT_CHANNELS: readonly Channel[] = [...PUBLIC_SPOT, ...PRIVATE_SPOT]
