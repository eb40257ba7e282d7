import { contractInterval } from '../api/futures/intervals.ts'
import { priceView, tradeView as contractTrade } from '../api/futures/market-data.ts'
import type { Look } from '../api/futures/order-views.ts'
import { isListed } from '../api/futures/paths.ts'
import { baseVolume, tickerView } from '../api/futures/ticker-views.ts'
import { candleRow } from '../api/spot/candles.ts'
import { intervalOf } from '../api/spot/intervals.ts'
import { tradeView } from '../api/spot/market-data.ts'
import { ticker } from '../api/spot/tickers.ts'
import type { State } from '../core/state.ts'
import type { Trade } from '../core/tables/exchange/trades.ts'
import type { Contract } from '../core/tables/world/contracts.ts'
import type { Said } from './book-forms.ts'
import type { CandleForm } from './market-streams.ts'

/** What public channels push of a market: what REST says, in the types that these channels have. */

export const spotTrades =
  (channel: string) =>
  (trades: readonly Trade[]): Said[] =>
    trades.map((trade) => [channel, JSON.stringify(spotTrade(trade))])
function spotTrade(trade: Trade): object {
  const { id, sequence_id, create_time, create_time_ms, side, currency_pair, amount, price } =
    tradeView(trade)
  const market = Number(sequence_id)
  return {
    id: Number(id),
    id_market: market,
    create_time: Number(create_time),
    create_time_ms,
    side,
    currency_pair,
    amount,
    price,
    range: `${market}-${market}`,
  }
}
export const spotTicker =
  (pair: string) =>
  (state: State, now: number): object | undefined =>
    // It may be gone meanwhile.
    state.world.findMarket(pair) === undefined
      ? undefined
      : ticker(state, pair, now, { timezone: null, sizes: false })
export function spotCandles(pair: string, name: string): CandleForm {
  const interval = intervalOf(name)
  return {
    source: ({ spot, world }) =>
      world.findMarket(pair) === undefined ? undefined : { exchange: spot, pair },
    series: pair,
    interval,
    said: (candle, w) => {
      const [t, v, c, h, l, o, a] = candleRow(candle, interval, interval.next(candle.open_time))
      return ['spot.candlesticks', JSON.stringify({ t, v, c, h, l, o, n: `${name}_${pair}`, a, w })]
    },
  }
}

/** All that one command traded in a contract. */
export const contractTrades =
  (look: Look) =>
  (trades: readonly Trade[]): Said[] => [
    ['futures.trades', JSON.stringify(trades.map((trade) => contractTradeRecord(trade, look)))],
  ]
function contractTradeRecord(trade: Trade, look: Look): object {
  const { is_internal, ...record } = contractTrade(trade, look)
  return {
    ...record,
    create_time_ms: Math.floor(trade.at / 1000),
    ...(is_internal && { is_internal }),
  }
}

const TICKER_MEMBERS = [
  'contract',
  'last',
  'change_percentage',
  'total_size',
  'low_24h',
  'high_24h',
  'volume_24h',
  'volume_24h_btc',
  'volume_24h_usd',
  'volume_24h_base',
  'volume_24h_quote',
  'volume_24h_settle',
  'mark_price',
  'funding_rate',
  'funding_rate_indicative',
  'index_price',
  'quanto_base_rate',
] as const
/** Without the best prices, which have a channel of their own. */
export const contractTicker =
  (id: string) =>
  (state: State, now: number): object | undefined => {
    const contract = state.world.findContract(id)
    if (contract === undefined || !isListed(contract)) return undefined
    const view = tickerView(state, contract, now)
    return [Object.fromEntries(TICKER_MEMBERS.map((name) => [name, view[name]]))]
  }
/** `prefix`: of its mark or its index, which have no volume. */
export function contractCandles(contract: Contract, prefix: string, name: string, look: Look): CandleForm {
  const { id, terms } = contract
  const n = `${name}_${prefix}${contract.name}`
  return {
    source: ({ futures, world }) => ({
      exchange: futures,
      pair: prefix + id,
      ended: world.findContract(id)?.config.status === 'delisted',
    }),
    series: prefix + id,
    interval: contractInterval(name),
    said: (candle, w) => {
      const { t, c, h, l, o } = priceView(candle)
      const v = look.sizes(candle.base)
      const a = baseVolume(terms, candle)
      return ['futures.candlesticks', JSON.stringify([{ t, v, c, h, l, o, n, a, w }])]
    },
  }
}
