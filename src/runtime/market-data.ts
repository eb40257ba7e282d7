import { BASE_SPANS, RECENT_MAX as CANDLES_MAX, SPOT_CANDLE, seriesOf } from '../core/tables/exchange/candles.ts'
import { RECENT_MAX as TRADES_MAX, SPOT_TRADE } from '../core/tables/exchange/trades.ts'
import type { State } from '../core/state.ts'
import type { Store } from '../store/store.ts'

/** At start: the newest trades and candles come back into memory, so that public data is served from there. */
export async function primeMarketData(state: State, store: Pick<Store, 'select'>): Promise<void> {
  const { trades, candles } = state.spot
  trades.clear()
  candles.clear()
  if (state.world.configured === undefined) return
  const traded = state.world.allMarkets.filter(({ id }) => state.spot.figures.get(id) !== undefined)
  await Promise.all(
    traded.map(async ({ id }) => {
      const newest = 'order by "id" desc limit ?'
      const rows = await store.select(SPOT_TRADE, `where "pair" = ? ${newest}`, [id, TRADES_MAX])
      trades.prime(id, rows.reverse())
      for (const { seconds } of BASE_SPANS) {
        const series = seriesOf(id, seconds)
        const where = 'where "series" = ? order by "open_time" desc limit ?'
        const closed = await store.select(SPOT_CANDLE, where, [series, CANDLES_MAX])
        candles.prime(series, closed.reverse())
      }
    }),
  )
}
