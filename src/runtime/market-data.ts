import { INDEX, MARK, PREMIUM } from '../core/futures/prices.ts'
import { CONTRACT_CANDLE, SPOT_CANDLE, seriesOf } from '../core/tables/exchange/candles.ts'
import type { Exchange } from '../core/tables/exchange/exchange.ts'
import { CONTRACT_TRADE, RECENT_MAX as TRADES_MAX, SPOT_TRADE } from '../core/tables/exchange/trades.ts'
import type { State } from '../core/state.ts'
import type { Store } from '../store/store.ts'

type Reader = Pick<Store, 'select'>
interface Venue {
  readonly exchange: Exchange
  readonly trade: typeof SPOT_TRADE
  readonly candle: typeof SPOT_CANDLE
  /** What has traded, and every series of candles. */
  readonly pairs: readonly string[]
  readonly series: readonly string[]
}

/** At start: the newest trades and candles come back into memory, so that public data is served from there. */
export async function primeMarketData(state: State, store: Reader): Promise<void> {
  const { spot, futures, world } = state
  for (const { trades, candles } of [spot, futures]) {
    trades.clear()
    candles.clear()
  }
  if (world.configured === undefined) return
  const pairs = world.allMarkets.map(({ id }) => id).filter((id) => spot.figures.get(id) !== undefined)
  const contracts = world.allContracts.map(({ id }) => id)
  await Promise.all([
    prime(store, { exchange: spot, trade: SPOT_TRADE, candle: SPOT_CANDLE, pairs, series: pairs }),
    prime(store, {
      exchange: futures,
      trade: CONTRACT_TRADE,
      candle: CONTRACT_CANDLE,
      pairs: contracts.filter((id) => futures.figures.get(id) !== undefined),
      series: contracts
        .flatMap((id) => [id, MARK + id, INDEX + id, PREMIUM + id])
        .filter((pair) => futures.candles.tail(pair, Infinity).length > 0),
    }),
  ])
}
async function prime(store: Reader, { exchange, trade, candle, pairs, series }: Venue): Promise<void> {
  const { trades, candles } = exchange
  const newestTrades = async (pair: string): Promise<void> => {
    const rows = await store.select(trade, 'where "pair" = ? order by "id" desc limit ?', [pair, TRADES_MAX])
    trades.prime(pair, rows.reverse())
  }
  const newestCandles = async (pair: string): Promise<void> => {
    for (const { seconds } of candles.spans) {
      const name = seriesOf(pair, seconds)
      const where = 'where "series" = ? order by "open_time" desc limit ?'
      const closed = await store.select(candle, where, [name, candles.recentOf(name)])
      candles.prime(name, closed.reverse())
    }
  }
  await Promise.all([...pairs.map(newestTrades), ...series.map(newestCandles)])
}
