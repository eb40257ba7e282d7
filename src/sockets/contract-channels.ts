import type { JsonSchema } from '../api/fields.ts'
import { CONTRACT_INTERVALS } from '../api/futures/intervals.ts'
import type { Look } from '../api/futures/order-views.ts'
import { isListed } from '../api/futures/paths.ts'
import { PUSHED_INTERVALS, type PushedInterval } from '../api/futures/stats.ts'
import { INDEX, MARK } from '../core/futures/prices.ts'
import type { Contract } from '../core/tables/world/contracts.ts'
import { contractBook } from './book-forms.ts'
import { lookAt } from './contract-look.ts'
import { badArgument } from './envelope.ts'
import { contractCandles, contractTicker, contractTrades } from './market-forms.ts'
import { accountOf } from './paths.ts'
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
  type PrivateChannel,
  type PublicChannel,
  type Sources,
  type Wanted,
} from './payloads.ts'
import * as shapes from './contract-result-shapes.ts'
import { OBU } from './result-shapes.ts'
import type { Begin } from './stream.ts'

const CONTRACTS = `["BTC_USDT", …] or ["${ALL}"]`
const CANDLES = '["1m", "BTC_USDT"], or mark_BTC_USDT, index_BTC_USDT'

/** A contract that a payload names, of the address's group and settle currency. */
interface Named {
  readonly id: string
  readonly name: string
  /** Undefined when a subscription ends to what is there no more. */
  readonly contract: Contract | undefined
}
function contractNamed(given: string, { world, known, address }: Asked): Named {
  const name = given.toUpperCase()
  const id = `${accountOf(address)}/${name}`
  const contract = world.findContract(id)
  if (contract !== undefined && isListed(contract)) return { id, name, contract }
  return known ? badArgument(`unknown contract ${given.slice(0, 80)}`) : { id, name, contract }
}
/** Beside the word for all of them single names add nothing. */
function contractsNamed(payload: unknown, asked: Asked): (Named & { readonly all: boolean })[] {
  const given = texts(payload, CONTRACTS)
  const named = given.filter((name) => name !== ALL).map((name) => contractNamed(name, asked))
  const account = accountOf(asked.address)
  const all = given.includes(ALL)
  const found = all
    ? asked.world.allContracts
        .filter((contract) => contract.account === account && isListed(contract))
        .map((contract) => ({ id: contract.id, name: contract.name, contract }))
    : named
  return [...new Map(found.map((one) => [one.id, { ...one, all }])).values()]
}

/** Where sizes are told there are two streams: as numbers, and as texts. */
const sized = (name: string, asked: Asked): string => (asked.texts ? `${name} texts` : name)
const perContract =
  (channel: string, begin: (sources: Sources, named: Named, look: Look) => Begin): PublicChannel['read'] =>
  (payload, asked) => {
    const look = lookAt(accountOf(asked.address), asked.texts)
    return contractsNamed(payload, asked).map((named) => ({
      name: sized(`${channel} ${named.id}`, asked),
      all: named.all,
      begin: (sources) => begin(sources, named, look),
    }))
  }

const SNAPSHOT_LEVELS = ['100', '50', '20', '10', '5', '1']
const SNAPSHOT_MS = 100
/** Levels by pace, the usual one first. */
const UPDATE_LEVELS: Readonly<Record<string, readonly string[]>> = {
  '20ms': ['20'],
  '100ms': ['100', '50', '20'],
}
const DATED_LEVELS = ['100', '50', '20', '10', '5']
const DATED_UPDATES: Readonly<Record<string, readonly string[]>> = {
  '100ms': DATED_LEVELS,
  '1000ms': DATED_LEVELS,
}
/** Milliseconds by level. */
const OBU_PACES: Readonly<Record<string, number>> = { '50': 20, '400': 100 }
const isDated = ({ address }: Asked): boolean => address.startsWith('delivery')

const SERIES = /^(mark_|index_)(.+)$/i
function candlesWanted(payload: unknown, asked: Asked): Wanted[] {
  const [first, given] = texts(payload, CANDLES, 2)
  const interval = oneOf('interval', first, CONTRACT_INTERVALS)
  const [, figure = '', name = given] = SERIES.exec(given ?? '') ?? []
  const { id, contract } = contractNamed(
    name ?? badArgument(`payload: the contract is missing, ${CANDLES}`),
    asked,
  )
  const prefix = figure === '' ? '' : figure.toLowerCase() === MARK ? MARK : INDEX
  const look = lookAt(accountOf(asked.address), asked.texts)
  return [
    {
      name: sized(`futures.candlesticks ${interval} ${prefix}${id}`, asked),
      begin: ({ contractMarkets }) =>
        contractMarkets.ofCandles(contractCandles(contract!, prefix, interval, look)),
    },
  ]
}
const STATS = '["BTC_USDT", "5m"]'
function statsWanted(payload: unknown, asked: Asked): Wanted[] {
  const [given, second] = texts(payload, STATS, 2)
  const { id, contract } = contractNamed(given!, asked)
  const interval = oneOf('interval', second, Object.keys(PUSHED_INTERVALS)) as PushedInterval
  const look = lookAt(accountOf(asked.address), asked.texts)
  return [
    {
      name: sized(`futures.contract_stats ${id} ${interval}`, asked),
      begin: ({ contractMarkets }) => contractMarkets.ofStats(contract!, interval, look),
    },
  ]
}
function snapshotsWanted(payload: unknown, asked: Asked): Wanted[] {
  const [given, second, third = '0'] = texts(payload, '["BTC_USDT", "20", "0"]', 3)
  const { id, name } = contractNamed(given!, asked)
  const level = oneOf('limit', second, SNAPSHOT_LEVELS)
  oneOf('interval', third, ['0'])
  const form = contractBook(name, asked.texts)
  return [
    {
      name: sized(`futures.order_book ${id} ${level}`, asked),
      begin: ({ contractBooks }) => contractBooks.snapshots(id, form, Number(level), SNAPSHOT_MS),
    },
  ]
}
function updatesWanted(payload: unknown, asked: Asked): Wanted[] {
  const [given, second, third] = texts(payload, '["BTC_USDT", "100ms", "100"]', 3)
  const { id, name } = contractNamed(given!, asked)
  const paces = isDated(asked) ? DATED_UPDATES : UPDATE_LEVELS
  const pace = oneOf('interval', second, Object.keys(paces))
  const level = Number(third === undefined ? paces[pace]![0] : oneOf('level', third, paces[pace]!))
  const form = contractBook(name, asked.texts).update(level)
  return [
    {
      name: sized(`futures.order_book_update ${id} ${pace} ${level}`, asked),
      begin: ({ contractBooks }) => contractBooks.deltas(id, form, level, msOf(pace)),
    },
  ]
}
function obuWanted(stream: string, asked: Asked): Wanted {
  const named = obuNamed(stream, 'contract', 'ob.BTC_USDT.50')
  const { id, name } = contractNamed(named.name, asked)
  const size = oneOf('level', named.level, Object.keys(OBU_PACES))
  const level = Number(size)
  return {
    name: `futures.obu ${id} ${size}`,
    title: `ob.${name}.${size}`,
    // Its levels are texts for everybody.
    begin: ({ contractBooks }) =>
      contractBooks.deltas(id, contractBook(name, true).obu(level), level, OBU_PACES[size]!),
  }
}

const common = { product: 'futures', access: 'public' } as const
const PUBLIC_CONTRACTS: readonly PublicChannel[] = [
  {
    ...common,
    name: 'futures.tickers',
    takesAll: true,
    summary: 'Last, mark and index price, funding rate and 24 hour figures, when one of them changed',
    payload: CONTRACTS,
    pace: '1000ms',
    result: shapes.TICKERS,
    // Its sizes are texts for everybody.
    read: (payload, asked) =>
      contractsNamed(payload, asked).map(({ id, all }) => ({
        name: `futures.tickers ${id}`,
        all,
        begin: ({ contractMarkets }) => contractMarkets.ofTicker('futures.tickers', contractTicker(id)),
      })),
  },
  {
    ...common,
    name: 'futures.trades',
    takesAll: true,
    summary: "Trades; the sign of the size is the taker's",
    payload: CONTRACTS,
    pace: REAL_TIME,
    result: shapes.TRADES,
    read: perContract('futures.trades', ({ contractMarkets }, { id }, look) =>
      contractMarkets.ofTrades(id, contractTrades(look)),
    ),
  },
  {
    ...common,
    name: 'futures.book_ticker',
    takesAll: true,
    summary: 'The best bid and ask, when one of them changed',
    payload: CONTRACTS,
    pace: '10ms',
    result: shapes.BOOK_TICKER,
    read: (payload, asked) =>
      contractsNamed(payload, asked).map(({ id, name, all }) => ({
        name: sized(`futures.book_ticker ${id}`, asked),
        all,
        begin: ({ contractBooks }) => contractBooks.ticker(id, contractBook(name, asked.texts)),
      })),
  },
  {
    ...common,
    name: 'futures.order_book',
    summary: 'The best prices as a whole, when the book has moved',
    payload: '["BTC_USDT", "20", "0"]',
    pace: '100ms',
    result: shapes.BOOK,
    event: 'all',
    read: snapshotsWanted,
  },
  {
    ...common,
    name: 'futures.order_book_update',
    summary: 'What changed among the best prices; a whole picture first',
    payload: '["BTC_USDT", "100ms", "100"]',
    pace: '20ms or 100ms; of dated contracts 100ms or 1000ms',
    result: shapes.BOOK_UPDATE,
    read: updatesWanted,
  },
  {
    ...common,
    name: 'futures.obu',
    perpetual: true,
    single: true,
    summary: 'What changed among the best 50 (20ms) or 400 (100ms) prices; a whole picture first',
    payload: '["ob.BTC_USDT.50", …]',
    pace: '20ms or 100ms',
    result: OBU,
    read: (payload, asked) => {
      const wanted = texts(payload, '["ob.BTC_USDT.50", …]').map((stream) => obuWanted(stream, asked))
      return [...new Map(wanted.map((one) => [one.name, one])).values()]
    },
  },
  {
    ...common,
    name: 'futures.candlesticks',
    summary: 'The candle that grows, and each one once more when it has closed (w: true)',
    payload: CANDLES,
    pace: '2000ms',
    result: shapes.CANDLES,
    read: candlesWanted,
  },
  {
    ...common,
    name: 'futures.contract_stats',
    perpetual: true,
    endsAll: 'unsub_all',
    summary:
      'Open interest, takers, holders and liquidations of the span that runs, and of each when it has ended',
    payload: `${STATS}; to end all: ["unsub_all"]`,
    pace: '5000ms',
    result: shapes.STATS,
    read: statsWanted,
  },
  {
    ...common,
    name: 'futures.public_liquidates',
    takesAll: true,
    perpetual: true,
    summary: 'Orders that liquidate positions, of each contract one a second at most',
    payload: CONTRACTS,
    pace: '1000ms',
    result: shapes.PUBLIC_LIQUIDATES,
    read: perContract('futures.public_liquidates', ({ liquidations }, { id }, look) =>
      liquidations.of(id, look),
    ),
  },
]

const USER_AND_CONTRACTS = `["USER_ID", "BTC_USDT", …] or ["USER_ID", "${ALL}"]`
/** Whatever stands for the user id is not looked at: the key's account is meant. */
const ofContracts = (name: string, summary: string, result: JsonSchema): PrivateChannel => ({
  name: `futures.${name}`,
  product: 'futures',
  access: 'futures',
  summary,
  payload: USER_AND_CONTRACTS,
  pace: REAL_TIME,
  result,
  read: (payload, asked) => {
    const [, ...names] = texts(payload, USER_AND_CONTRACTS)
    if (names.length === 0) badArgument(`payload: contracts are missing, ${USER_AND_CONTRACTS}`)
    return namesOrAll(names, (one) => contractNamed(one, asked).id)
  },
})
const PRIVATE_CONTRACTS: readonly PrivateChannel[] = [
  ofContracts(
    'orders',
    "The account's orders as each command leaves them: _new, _update, or how they ended",
    shapes.ORDERS,
  ),
  ofContracts('usertrades', "The account's own trades", shapes.FILLS),
  ofContracts(
    'autoorders',
    'Price orders: created, changed, fired, cancelled, expired, failed',
    shapes.PRICE_ORDERS,
  ),
  ofContracts('positions', 'Positions, when a command changed them', shapes.POSITIONS),
  ofContracts('liquidates', "Orders that liquidated the account's positions", shapes.LIQUIDATES),
  ofContracts(
    'auto_deleverages',
    'What the account was made to give up by auto-deleveraging',
    shapes.DELEVERAGES,
  ),
  ofContracts('position_closes', 'Positions that ended', shapes.CLOSES),
  ofContracts(
    'reduce_risk_limits',
    'Positions that a liquidation has reduced, and their tier now',
    shapes.REDUCTIONS,
  ),
  {
    name: 'futures.balances',
    product: 'futures',
    access: 'futures',
    summary: "Every change of the account's money, as its account book has it",
    payload: '["USER_ID"] or none',
    pace: REAL_TIME,
    result: shapes.BALANCES,
    read: () => EVERYTHING,
  },
]
export const CONTRACT_CHANNELS: readonly Channel[] = [...PUBLIC_CONTRACTS, ...PRIVATE_CONTRACTS]
