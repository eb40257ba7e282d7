import { call, type Query } from '../../api/client.ts'

export type Interval = NonNullable<Query<'GET /api/v4/spot/candlesticks'>['interval']>
/** Drawn in floats: a chart has no more digits than the screen has points. */
export interface Candle {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}
/** Where a chart's candles come from: what was, by REST, and what comes, by a stream. */
export interface CandleSource {
  readonly key: string
  readonly load: (interval: Interval) => Promise<readonly Candle[]>
  readonly channel: string
  readonly payload: (interval: Interval) => readonly string[]
  readonly read: (result: unknown, interval: Interval) => readonly Candle[]
}
/** As sockets push one. */
export interface CandlePush {
  readonly t: number | string
  readonly c: string
  readonly h: string
  readonly l: string
  readonly o: string
  readonly n: string
  readonly a?: string
}
export const pushed = ({ t, c, h, l, o, a = '0' }: CandlePush): Candle => ({
  time: Number(t),
  open: Number(o),
  high: Number(h),
  low: Number(l),
  close: Number(c),
  volume: Number(a),
})

export const spotCandles = (pair: string): CandleSource => ({
  key: pair,
  load: async (interval) =>
    (
      await call('GET /api/v4/spot/candlesticks', { query: { currency_pair: pair, interval, limit: 500 } })
    ).map((row) => ({
      time: Number(row[0]),
      close: Number(row[2]),
      high: Number(row[3]),
      low: Number(row[4]),
      open: Number(row[5]),
      volume: Number(row[6] ?? row[1]),
    })),
  channel: 'spot.candlesticks',
  payload: (interval) => [interval, pair],
  read: (result, interval) => {
    const push = result as CandlePush
    return push.n === `${interval}_${pair}` ? [pushed(push)] : []
  },
})
