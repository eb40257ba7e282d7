import type { State } from '../../core/state.ts'
import { joined, seriesOf, type Candle } from '../../core/tables/exchange/candles.ts'
import type { Exchange } from '../../core/tables/exchange/exchange.ts'
import type { PriceHistory } from '../../core/tables/spot/spot.ts'
import { refuse } from '../../labels.ts'
import { ZERO, format } from '../../money/amount.ts'
import type { Desk } from '../endpoint.ts'
import type { Interval } from './intervals.ts'

const POINTS_MAX = 1_000
const HORIZON_POINTS = 10_000

export interface CandleQuery {
  readonly limit: number | null
  readonly from: number | null
  readonly to: number | null
}
/** First and last bucket that a query asks for. */
export function candleRange(
  query: CandleQuery,
  interval: Interval,
  now: number,
): { first: number; last: number } {
  const { limit } = query
  if (limit !== null && (query.from !== null || query.to !== null))
    refuse('INVALID_PARAM_VALUE', 'limit: can not be used together with from or to; leave one of them out')
  // As they were sent: in one bucket of a long interval they look like the right order.
  if (query.from !== null && query.to !== null && query.from > query.to)
    refuse('INVALID_PARAM_VALUE', `from: ${query.from} is after to, ${query.to}`)
  const back = (start: number, steps: number): number => {
    for (let i = 0; i < steps; i++) start = interval.start(start - 1)
    return start
  }
  if (query.from === null && query.to === null) {
    const last = interval.start(now)
    return { first: back(last, (limit ?? 100) - 1), last }
  }
  const from = query.from === null ? undefined : interval.start(Math.floor(query.from))
  const to = interval.start(
    Math.floor(query.to ?? Math.min(now, from! + (POINTS_MAX - 1) * interval.seconds)),
  )
  const last = Math.min(to, interval.start(now))
  // Where the beginning is ours, an end that lies in the future makes it no later.
  const first = from ?? back(last, 99)
  if (from !== undefined && (to - first) / interval.seconds > POINTS_MAX - 1)
    refuse(
      'INVALID_PARAM_VALUE',
      `Candlestick range too broad: at most ${POINTS_MAX} points for each request; narrow from and to`,
    )
  if (first < now - (HORIZON_POINTS + 1) * interval.seconds)
    refuse(
      'INVALID_PARAM_VALUE',
      `Candlestick too long ago: at most the last ${HORIZON_POINTS} points of ${interval.name} are kept`,
    )
  return { first, last }
}

/** The headers that say which candles are shown: the times at which the first and the last of them begin. */
export function toldRange(
  call: { set(name: string, value: string | number): void },
  range: { readonly first: number; readonly last: number },
): { first: number; last: number } {
  call.set('X-Applied-From', range.first)
  call.set('X-Applied-To', Math.max(range.first, range.last))
  return range
}

/** A venue, and a series of candles there. */
export interface CandleSource {
  readonly exchange: Pick<Exchange, 'candles'> & { readonly history: PriceHistory | undefined }
  readonly pair: string
  /** Nothing more comes: after a restart memory knows nothing of it. */
  readonly ended?: boolean
}
/** Candles of a market from one bucket to another; a bucket without trades repeats the last close. */
export const candles = (
  desk: Desk,
  currencyPair: string,
  interval: Interval,
  rangeOf: () => { first: number; last: number },
): Promise<Candle[]> =>
  candlesOf(
    desk,
    ({ spot, world }) => ({ exchange: spot, pair: world.market(currencyPair).id }),
    interval,
    rangeOf,
  )
/** The same of any venue; none of what is not there, or no more. */
export async function candlesOf(
  desk: Desk,
  sourceOf: (state: State) => CandleSource | undefined,
  interval: Interval,
  rangeOf: () => { first: number; last: number },
): Promise<Candle[]> {
  const looked = await desk.core.read((state) => {
    const source = sourceOf(state)
    if (source === undefined) return undefined
    const { exchange, pair, ended = false } = source
    const range = rangeOf()
    const end = interval.next(range.last)
    const series = seriesOf(pair, interval.base)
    const { candles, history } = exchange
    // A range that begins after the made history begins with its last price.
    const last = history?.last(pair)
    const prior = last !== undefined && last.open_time < range.first ? [last] : []
    const list = [...candles.of(series), ...candles.tail(pair, interval.base)].filter(
      (candle) => candle.open_time < end,
    )
    return {
      spec: candles.closed.spec,
      series,
      range,
      made: [...prior, ...(history?.candles(pair, interval.base, range.first, end) ?? [])],
      covered: !ended && candles.covers(series, range.first),
      list,
      end,
    }
  })
  if (looked === undefined) return []
  const { spec, series, range, made, covered, ...seen } = looked
  let { list } = seen
  if (!covered) {
    const before = list[0]?.open_time ?? seen.end
    const older = await desk.store.select(
      spec,
      'where "series" = ? and "open_time" >= ? and "open_time" < ? order by "open_time"',
      [series, range.first, before],
    )
    // The one before them tells the price that empty buckets begin with.
    const where = 'where "series" = ? and "open_time" < ? order by "open_time" desc limit 1'
    const prior = await desk.store.select(spec, where, [series, range.first])
    list = [...prior, ...older, ...list]
  }
  return merge([...made, ...list], interval, range)
}

function merge(
  list: readonly Candle[],
  interval: Interval,
  range: { first: number; last: number },
): Candle[] {
  const merged: Candle[] = []
  let close: Candle['close'] | undefined
  let i = 0
  // What lies before the range only tells the price that it begins with.
  for (; i < list.length && list[i]!.open_time < range.first; i++) close = list[i]!.close
  for (let start = range.first; start <= range.last; start = interval.next(start)) {
    const end = interval.next(start)
    let candle: Candle | undefined
    for (; i < list.length && list[i]!.open_time < end; i++)
      candle = candle === undefined ? { ...list[i]!, open_time: start } : joined(candle, list[i]!)
    if (candle !== undefined) {
      merged.push(candle)
      close = candle.close
    } else if (close !== undefined)
      merged.push({ open_time: start, open: close, high: close, low: close, close, base: ZERO, quote: ZERO })
  }
  return merged
}
/** Open time, quote volume, close, high, low, open, base volume, whether the window is closed. */
export const candleRow = (candle: Candle, interval: Interval, now: number): string[] => [
  String(candle.open_time),
  format(candle.quote),
  format(candle.close),
  format(candle.high),
  format(candle.low),
  format(candle.open),
  format(candle.base),
  String(interval.next(candle.open_time) <= now),
]
