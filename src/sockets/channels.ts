import { INTERVALS } from '../api/spot/intervals.ts'
import type { State } from '../core/state.ts'
import type { Permission } from '../core/tables/keys.ts'
import type { Books } from './book-streams.ts'
import { badArgument } from './envelope.ts'
import type { MarketStreams } from './market-streams.ts'
import type { Begin } from './stream.ts'

/** What public channels are made from. */
export interface Sources {
  readonly books: Books
  readonly markets: MarketStreams
}
/** A stream that a subscription asks for. */
export interface Wanted {
  /** The same name is the same stream. */
  readonly name: string
  readonly begin: (sources: Sources) => Begin
}
/** What a private subscription covers: markets or currencies by name, or all of them. */
export type Covered = readonly string[] | 'all'
export const ALL = '!all'

interface Described {
  readonly name: string
  /** Below which prefix of addresses it is served. */
  readonly product: 'spot' | 'unified'
  readonly summary: string
  /** How its payload is written. */
  readonly payload: string
  /** How often something comes. */
  readonly pace: string
}
export interface PublicChannel extends Described {
  readonly access: 'public'
  /** A second subscription to the same stream is refused. */
  readonly single?: boolean
  /** `known`: names must be of markets that there are. */
  read(payload: unknown, world: State['world'], known: boolean): Wanted[]
}
export interface PrivateChannel extends Described {
  readonly access: Permission
  read(payload: unknown, world: State['world'], known: boolean): Covered
}
export type Channel = PublicChannel | PrivateChannel

const REAL_TIME = 'real time'
const PAIRS = '["BTC_USDT", …]'
const PAIRS_OR_ALL = `${PAIRS} or ["${ALL}"]`

/** A number is taken for the text that it spells. */
function texts(payload: unknown, how: string): string[] {
  if (!Array.isArray(payload) || payload.length === 0) badArgument(`payload: a list is needed, ${how}`)
  return (payload as unknown[]).map((item) =>
    typeof item === 'string' || typeof item === 'number'
      ? String(item)
      : badArgument(`payload: each element is a text, ${how}`),
  )
}
function pairOf(name: string, world: State['world'], known: boolean): string {
  const market = world.findMarket(name)
  if (market !== undefined) return market.id
  return known ? badArgument(`unknown currency pair: ${name.slice(0, 80)}`) : name.toUpperCase()
}
const pairsOf = (payload: unknown, world: State['world'], known: boolean): string[] => [
  ...new Set(texts(payload, PAIRS).map((name) => pairOf(name, world, known))),
]
function pairsOrAll(payload: unknown, world: State['world'], known: boolean): Covered {
  const names = texts(payload, PAIRS_OR_ALL)
  const pairs = names.filter((name) => name !== ALL)
  if (pairs.length < names.length) {
    // Beside "!all" single names add nothing; but one that is unknown is a mistake all the same.
    for (const name of pairs) pairOf(name, world, known)
    return 'all'
  }
  return [...new Set(pairs.map((name) => pairOf(name, world, known)))]
}
function oneOf(what: string, value: string | undefined, allowed: readonly string[]): string {
  const found = allowed.find((one) => one === value?.toLowerCase())
  return (
    found ??
    badArgument(
      `${what}: ${value === undefined ? 'it is missing' : `"${value.slice(0, 40)}" is not known`}; it is one of ${allowed.join(', ')}`,
    )
  )
}

const SNAPSHOT_LEVELS = ['5', '10', '20', '50', '100']
const SNAPSHOT_PACES = ['100ms', '1000ms']
/** Levels by pace. */
const UPDATE_LEVELS: Readonly<Record<string, number>> = { '20ms': 20, '100ms': 100 }
/** Milliseconds by level. */
const OBU_PACES: Readonly<Record<string, number>> = { '50': 20, '400': 100 }
const INTERVAL_NAMES = [...INTERVALS.map(({ name }) => name), '1w']
const msOf = (pace: string): number => Number(pace.slice(0, -2))

const perPair =
  (channel: string, begin: (sources: Sources, pair: string) => Begin): PublicChannel['read'] =>
  (payload, world, known) =>
    pairsOf(payload, world, known).map((pair) => ({
      name: `${channel} ${pair}`,
      begin: (sources) => begin(sources, pair),
    }))

const PUBLIC_CHANNELS: readonly PublicChannel[] = [
  {
    name: 'spot.tickers',
    product: 'spot',
    access: 'public',
    summary: 'Last price, best prices and 24 hour figures, when one of them changed',
    payload: PAIRS,
    pace: '1000ms',
    read: perPair('spot.tickers', ({ markets }, pair) => markets.ofTicker(pair)),
  },
  ...['spot.trades', 'spot.trades_v2'].map((name): PublicChannel => ({
    name,
    product: 'spot',
    access: 'public',
    summary: name === 'spot.trades' ? 'Each trade' : 'The same as spot.trades',
    payload: PAIRS,
    pace: REAL_TIME,
    read: perPair(name, ({ markets }, pair) => markets.ofTrades(pair, name)),
  })),
  {
    name: 'spot.candlesticks',
    product: 'spot',
    access: 'public',
    summary: 'The candle that grows, and each one once more when it has closed (w: true)',
    payload: '["1m", "BTC_USDT"]',
    pace: '2000ms',
    read: (payload, world, known) => {
      const [first, name] = texts(payload, '["1m", "BTC_USDT"]')
      const interval = oneOf('interval', first, INTERVAL_NAMES)
      const pair = pairOf(
        name ?? badArgument('payload: the pair is missing, ["1m", "BTC_USDT"]'),
        world,
        known,
      )
      return [
        {
          name: `spot.candlesticks ${interval} ${pair}`,
          begin: ({ markets }) => markets.ofCandles(pair, interval),
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
    read: perPair('spot.book_ticker', ({ books }, pair) => books.ticker(pair)),
  },
  {
    name: 'spot.order_book',
    product: 'spot',
    access: 'public',
    summary: 'The best prices as a whole, when the book has moved',
    payload: '["BTC_USDT", "20", "100ms"]',
    pace: '100ms or 1000ms',
    read: (payload, world, known) => {
      const [name, second, third] = texts(payload, '["BTC_USDT", "20", "100ms"]')
      const pair = pairOf(name!, world, known)
      const level = oneOf('level', second, SNAPSHOT_LEVELS)
      const pace = oneOf('interval', third, SNAPSHOT_PACES)
      return [
        {
          name: `spot.order_book ${pair} ${level} ${pace}`,
          begin: ({ books }) => books.snapshots(pair, Number(level), msOf(pace)),
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
    read: (payload, world, known) => {
      const [name, second] = texts(payload, '["BTC_USDT", "100ms"]')
      const pair = pairOf(name!, world, known)
      const pace = oneOf('interval', second, Object.keys(UPDATE_LEVELS))
      return [
        {
          name: `spot.order_book_update ${pair} ${pace}`,
          begin: ({ books }) => books.updates(pair, UPDATE_LEVELS[pace]!, msOf(pace)),
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
    read: (payload, world, known) => {
      const names = texts(payload, '["ob.BTC_USDT.50", …]').map((stream) => obuOf(stream, world, known))
      return [...new Map(names.map((one) => [one.name, one])).values()]
    },
  },
]
function obuOf(stream: string, world: State['world'], known: boolean): Wanted {
  const [, name, level] = /^ob\.(.+)\.(\d+)$/i.exec(stream) ?? []
  if (name === undefined || level === undefined)
    badArgument(`payload: "${stream.slice(0, 80)}" is not a stream; write ob.<pair>.<level>, ob.BTC_USDT.50`)
  const pair = pairOf(name!, world, known)
  const size = oneOf('level', level, Object.keys(OBU_PACES))
  return { name: `ob.${pair}.${size}`, begin: ({ books }) => books.obu(pair, Number(size), OBU_PACES[size]!) }
}

const ofPairs = (name: string, summary: string): PrivateChannel => ({
  name,
  product: 'spot',
  access: 'spot',
  summary,
  payload: PAIRS_OR_ALL,
  pace: REAL_TIME,
  read: pairsOrAll,
})
const ofAccount = (name: string, summary: string): PrivateChannel => ({
  name,
  product: 'spot',
  access: 'spot',
  summary,
  payload: 'none',
  pace: REAL_TIME,
  read: () => 'all',
})
const CURRENCIES_OR_ALL = `["BTC", …] or ["${ALL}"]`
const PRIVATE_CHANNELS: readonly PrivateChannel[] = [
  ofPairs('spot.orders', "The account's orders as each command leaves them: put, update, finish"),
  ofPairs('spot.orders_v2', 'The same without fees'),
  ofPairs('spot.usertrades', "The account's own trades"),
  ofPairs('spot.usertrades_v2', 'The same without fees'),
  ofPairs('spot.priceorders', 'Price orders: created, fired, cancelled, expired, failed'),
  ofAccount('spot.balances', 'Spot balances, when a command changed them'),
  ofAccount('spot.margin_balances', 'Isolated margin balances and debts'),
  ofAccount('spot.funding_balances', 'What the account lends'),
  ofAccount('spot.cross_balances', 'The balances of a unified account'),
  ofAccount('spot.cross_loan', 'What a unified account owes'),
  {
    name: 'unified.assets',
    product: 'unified',
    access: 'unified',
    summary: 'Equity, debts and margin of the unified account',
    payload: '[] or none',
    pace: '1000ms',
    read: () => 'all',
  },
  {
    name: 'unified.asset_detail',
    product: 'unified',
    access: 'unified',
    summary: 'Currencies of the unified account that changed; all of them first',
    payload: CURRENCIES_OR_ALL,
    pace: '1000ms',
    read: (payload, world, known) => {
      const names = texts(payload, CURRENCIES_OR_ALL)
      if (names.includes(ALL))
        return names.length === 1 ? 'all' : badArgument(`payload: "${ALL}" or currencies, not both`)
      return [...new Set(names.map((name) => currencyOf(name, world, known)))]
    },
  },
]
function currencyOf(name: string, world: State['world'], known: boolean): string {
  const currency = world.findCurrency(name)
  if (currency !== undefined) return currency.currency
  return known ? badArgument(`unknown currency: ${name.slice(0, 80)}`) : name.toUpperCase()
}

/** Every channel that there is to subscribe to: serving and reference walk these. */
export const CHANNELS: readonly Channel[] = [...PUBLIC_CHANNELS, ...PRIVATE_CHANNELS]
export const CHANNEL_BY_NAME: ReadonlyMap<string, Channel> = new Map(
  CHANNELS.map((channel) => [channel.name, channel]),
)
