import { INDEX, MARK } from '../../core/futures/prices.ts'
import type { State } from '../../core/state.ts'
import type { Candle } from '../../core/tables/exchange/candles.ts'
import { CONTRACT_TRADE, type Trade } from '../../core/tables/exchange/trades.ts'
import { contractId, nameOfContract, type Contract } from '../../core/tables/world/contracts.ts'
import { Refusal } from '../../labels.ts'
import { format, priceOf, type Amount, type Price } from '../../money/amount.ts'
import { PUBLIC, endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { decimal, flag, id, integer, oneOf, optional, text, withDefault, type Field } from '../fields.ts'
import { paginationHeaders, windowFields } from '../history.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, decimalText, int64, num, shape, str } from '../shapes.ts'
import { candlesOf, toldRange } from '../spot/candles.ts'
import { depth, stepOf } from '../spot/market-data.ts'
import {
  contractShape,
  contractView,
  deliveryContractShape,
  deliveryContractView,
  tierShape,
  tierViews,
} from './contract-views.ts'
import { CONTRACT_INTERVALS, contractInterval, contractRange } from './intervals.ts'
import { fundHistory } from './insurance.ts'
import { COUNTED_MAX, Filter, listFields, storedPage } from './lists.ts'
import { floatSeconds, lookOf, type Look } from './order-views.ts'
import { CONTRACT_PATH, SETTLE, contractField, contractOf, settledOf, type Group } from './paths.ts'
import { sizeShape } from './sizes.ts'
import { deliveryTickerShape, tickerShape, tickerView } from './ticker-views.ts'

/** Contracts of a group and settle currency that have not ended, by name. */
export const contractsOf = ({ world }: State, { name }: Group, settle: string): readonly Contract[] =>
  world.allContracts.filter((contract) => contract.group === name && contract.settle === settle)

/** A contract that a query names; one that has ended keeps its history. */
export function everContract(
  { world }: State,
  { name: group }: Group,
  settle: string,
  name: string,
): Contract {
  const contract = world.findContract(contractId(group, settle, name.toUpperCase()))
  if (contract !== undefined) return contract
  throw new Refusal(
    'CONTRACT_NOT_FOUND',
    `contract: "${name}" is no contract of ${group}/${settle}; GET /${group}/${settle}/contracts lists them`,
  )
}

/** What some clients send, and nothing depends on: whatever it is. */
const unread: Field<unknown> = { ...optional(text()), read: (value) => value }

type Setter = (name: string, value: string | number) => void
/** Without a limit all of them. */
export function somePage<Row>(
  set: Setter,
  rows: readonly Row[],
  { limit, offset }: { readonly limit: number | null; readonly offset: number },
): readonly Row[] {
  paginationHeaders(set, { limit: limit ?? rows.length, offset }, rows.length)
  return rows.slice(offset, limit === null ? undefined : offset + limit)
}
export const somePageFields = {
  limit: optional(integer(1, 1000)),
  offset: withDefault(integer(0, 1_000_000), 0),
}

const tradeShape = shape({
  id: int64,
  create_time: num,
  create_time_ms: num,
  contract: str,
  size: sizeShape,
  price: decimalText,
  is_internal: bool,
})
/** The sign is the taker's. A trade past the book, of the fund or of who was deleveraged, has no place among the others. */
export const tradeView = (trade: Trade, { sizes }: Look) => ({
  id: trade.id,
  create_time: Math.floor(trade.at / 1e6),
  create_time_ms: floatSeconds(trade.at),
  contract: nameOfContract(trade.pair),
  size: sizes((trade.side === 'sell' ? -trade.amount : trade.amount) as Amount),
  price: format(trade.price),
  is_internal: trade.sequence === 0,
})
interface TradeQuery {
  readonly contract: string
  readonly limit: number
  readonly offset: number
  readonly last_id: number | null
  readonly from: number | null
  readonly to: number | null
}
/** Newest first: from memory where that holds all that is asked for, else from the store. */
async function publicTrades(
  { desk, set }: { readonly desk: Desk; readonly set: Setter },
  group: Group,
  settle: string,
  query: TradeQuery,
): Promise<Trade[]> {
  const { limit, offset } = query
  const plain = query.from === null && query.to === null && query.last_id === null
  const { pair, page } = await desk.core.read((state) => {
    const { id: pair, config } = everContract(state, group, settle, query.contract)
    const { trades } = state.futures
    const list = trades.of(pair)
    const newest = list.slice(Math.max(0, list.length - offset - limit), Math.max(0, list.length - offset))
    if (!plain || config.status === 'delisted' || (newest.length < limit && !trades.covers(pair, 1)))
      return { pair, page: undefined }
    // Those past the book are not in the market's own count.
    const past = list.filter(({ sequence }) => sequence === 0).length
    const total = Math.min(state.futures.figuresOf(pair).sequence + past, COUNTED_MAX)
    paginationHeaders(set, { limit, offset }, total)
    return { pair, page: newest.reverse() }
  })
  if (page !== undefined) return page
  const filter = new Filter().and('"pair" = ?', pair).and('"id" < ?', query.last_id).between('at', query)
  return storedPage(desk, set, CONTRACT_TRADE, filter, '"at" desc, "id" desc', { limit, offset })
}

function isFiner(interval: string, tick: Price): boolean {
  const step = priceOf(interval)
  return step > 0n && step < tick && tick % step === 0n
}

const SERIES = /^(mark_|index_)(.+)$/i
/** NAME, mark_NAME or index_NAME. */
function seriesNamed(contract: string): { readonly prefix: string; readonly name: string } {
  const [, prefix, name] = SERIES.exec(contract) ?? []
  if (prefix === undefined) return { prefix: '', name: contract }
  return { prefix: prefix.toLowerCase() === MARK ? MARK : INDEX, name: name! }
}
export const priceView = ({ open_time, close, high, low, open }: Candle) => ({
  t: open_time,
  c: format(close),
  h: format(high),
  l: format(low),
  o: format(open),
})
const POINTS_MAX = 2_000

const NOT_FOUND = ['CONTRACT_NOT_FOUND', 'INVALID_PARAM_VALUE'] as const

/** Public market data that both groups have; dated contracts have some of it in a shape of their own. */
export function contractDataEndpoints(group: Group): readonly AnyEndpoint[] {
  const perpetual = group.name === 'futures'
  const kind = perpetual ? 'perpetual' : 'dated'
  const view = perpetual ? contractView : deliveryContractView
  const common = { method: 'GET', access: PUBLIC, limit: LIMITS.public, status: 200 } as const
  const sizes = perpetual ? sizeShape : int64
  return [
    endpoint({
      ...common,
      path: `${group.base}/contracts`,
      summary: `Lists the ${kind} contracts of a settle currency, by name`,
      params: SETTLE,
      query: somePageFields,
      reply: array(perpetual ? contractShape : deliveryContractShape),
      refuses: ['INVALID_PARAM_VALUE'],
      handle: async (call) => {
        const { desk, path, query } = call
        const look = lookOf(group, call)
        return desk.core.read((state) =>
          somePage(call.set, contractsOf(state, group, path.settle), query).map((contract) =>
            view(state, contract, desk.clock.seconds(), look),
          ),
        )
      },
    }),
    endpoint({
      ...common,
      path: `${group.base}/contracts/{contract}`,
      summary: `Shows one ${kind} contract`,
      params: CONTRACT_PATH,
      reply: perpetual ? contractShape : deliveryContractShape,
      refuses: NOT_FOUND,
      handle: async (call) => {
        const { desk, path } = call
        const look = lookOf(group, call)
        return desk.core.read((state) => {
          const contract = contractOf(state, settledOf(group, path.settle), path.contract, 'path')
          return view(state, contract, desk.clock.seconds(), look)
        })
      },
    }),
    endpoint({
      ...common,
      path: `${group.base}/order_book`,
      summary: "A contract's open prices, best first; id counts the book's changes",
      params: SETTLE,
      query: {
        contract: contractField,
        interval: withDefault(decimal(), '0'),
        limit: withDefault(integer(1, 300), 10),
        with_id: withDefault(flag(), false),
      },
      reply: shape({
        'id?': int64,
        current: num,
        update: num,
        asks: array(shape({ p: decimalText, s: sizes })),
        bids: array(shape({ p: decimalText, s: sizes })),
      }),
      refuses: NOT_FOUND,
      handle: async (call) => {
        const { desk, path, query } = call
        const look = lookOf(group, call)
        return desk.core.read((state) => {
          const settled = settledOf(group, path.settle)
          const { id: pair, tick } = contractOf(state, settled, query.contract, 'parameter')
          // Clients of dated contracts choose among steps that may be finer than prices are: those merge nothing.
          const finer = !perpetual && isFiner(query.interval, tick)
          const step = finer ? 0n : stepOf(query.interval, tick)
          const { futures } = state
          const { book_id, update_at } = futures.figuresOf(pair)
          const levels = (side: 'buy' | 'sell') =>
            depth(futures.book(pair), side, step, query.limit).map(({ price, amount }) => ({
              p: format(price),
              s: look.sizes(amount),
            }))
          return {
            ...(query.with_id && { id: book_id }),
            current: floatSeconds(desk.clock.peek()),
            update: floatSeconds(update_at),
            asks: levels('sell'),
            bids: levels('buy'),
          }
        })
      },
    }),
    endpoint({
      ...common,
      path: `${group.base}/trades`,
      summary: "A contract's trades, newest first; the sign of the size is the taker's",
      params: SETTLE,
      query: {
        contract: contractField,
        limit: listFields.limit,
        ...(perpetual && { offset: listFields.offset }),
        last_id: optional(id()),
        ...windowFields,
      },
      reply: array(tradeShape),
      refuses: NOT_FOUND,
      handle: async (call) => {
        const look = lookOf(group, call)
        const query = { offset: 0, ...call.query }
        return (await publicTrades(call, group, call.path.settle, query)).map((one) => tradeView(one, look))
      },
    }),
    endpoint({
      ...common,
      path: `${group.base}/tickers`,
      summary: 'Last price, best prices, mark, index and 24 hour figures of one contract or all',
      params: SETTLE,
      query: { contract: optional(contractField), timezone: unread },
      reply: array(perpetual ? tickerShape : deliveryTickerShape),
      refuses: NOT_FOUND,
      handle: async ({ desk, path, query }) =>
        desk.core.read((state) => {
          const contracts =
            query.contract === null
              ? contractsOf(state, group, path.settle)
              : [contractOf(state, settledOf(group, path.settle), query.contract, 'parameter')]
          return contracts.map((contract) => tickerView(state, contract, desk.clock.seconds()))
        }),
    }),
    endpoint({
      ...common,
      path: `${group.base}/candlesticks`,
      summary: 'Candles of a contract, or of its mark or index price (mark_NAME, index_NAME), oldest first',
      params: SETTLE,
      query: {
        contract: contractField,
        ...windowFields,
        limit: optional(integer(1, POINTS_MAX)),
        interval: withDefault(oneOf(...CONTRACT_INTERVALS), '5m'),
        ...(perpetual && { timezone: withDefault(oneOf('utc0', 'utc8', 'all'), 'utc0') }),
      },
      reply: array(
        shape({
          t: num,
          'v?': sizes,
          c: decimalText,
          h: decimalText,
          l: decimalText,
          o: decimalText,
          ...(perpetual && { sum: decimalText }),
        }),
      ),
      refuses: NOT_FOUND,
      handle: async (call) => {
        const { desk, path, query } = call
        const { sizes } = lookOf(group, call)
        const interval = contractInterval(query.interval, query.timezone)
        const { prefix, name } = seriesNamed(query.contract)
        const list = await candlesOf(
          desk,
          (state) => {
            const { id, config } = everContract(state, group, path.settle, name)
            return { exchange: state.futures, pair: prefix + id, ended: config.status === 'delisted' }
          },
          interval,
          () => toldRange(call, contractRange(query, interval, desk.clock.seconds(), POINTS_MAX)),
        )
        return list.map((candle) => ({
          ...priceView(candle),
          ...(prefix === '' && { v: sizes(candle.base) }),
          ...(perpetual && { sum: format(candle.quote) }),
        }))
      },
    }),
    endpoint({
      ...common,
      path: `${group.base}/insurance`,
      summary: 'The insurance fund now and at each midnight, UTC, newest first',
      params: SETTLE,
      query: { limit: listFields.limit },
      reply: array(shape({ t: int64, b: decimalText })),
      refuses: ['INVALID_PARAM_VALUE'],
      handle: async ({ desk, path, query }) => fundHistory(desk, path.settle, query.limit),
    }),
    endpoint({
      ...common,
      path: `${group.base}/risk_limit_tiers`,
      summary: 'The risk limit tiers of one contract, or of all',
      params: SETTLE,
      query: {
        contract: optional(contractField),
        limit: withDefault(integer(1, 100), 100),
        offset: withDefault(integer(0, 1_000_000), 0),
      },
      reply: array(tierShape),
      refuses: NOT_FOUND,
      handle: async ({ desk, path, query, set }) =>
        desk.core.read((state) => {
          if (query.contract !== null)
            return tierViews(contractOf(state, settledOf(group, path.settle), query.contract, 'parameter'))
          return somePage(set, contractsOf(state, group, path.settle), query).flatMap((contract) =>
            tierViews(contract).map((tier) => ({ ...tier, contract: contract.name })),
          )
        }),
    }),
  ]
}
