import { seriesOf, type Candle } from '../../core/tables/exchange/candles.ts'
import type { State } from '../../core/state.ts'
import type { Exchange } from '../../core/tables/exchange/exchange.ts'
import type { PriceHistory } from '../../core/tables/spot/spot.ts'
import { stepOf, ZERO, format, type Amount, type Price } from '../../money/amount.ts'
import { decimalText, shape, str } from '../shapes.ts'

const MINUTE = 60
const DAY = 86_400

export const tickerShape = shape({
  currency_pair: str,
  last: decimalText,
  lowest_ask: str,
  highest_bid: str,
  'lowest_size?': str,
  'highest_size?': str,
  change_percentage: str,
  'change_utc0?': str,
  'change_utc8?': str,
  base_volume: decimalText,
  quote_volume: decimalText,
  high_24h: decimalText,
  low_24h: decimalText,
})
export type Timezone = 'utc0' | 'utc8' | 'all'

/** Percent, two decimals. */
export function changeText(from: Price | undefined, to: Price): string {
  if (from === undefined || from === 0n) return '0'
  const hundredths = Number(((to - from) * 10_000n) / from)
  return format((BigInt(hundredths) * stepOf(2)) as Price)
}
type Traded = Pick<Exchange, 'candles' | 'lastPrice'> & { readonly history: PriceHistory | undefined }
/** Minutes of the last day, oldest first, with the one before them; the newest may be in parts. */
function minutes({ candles, history }: Traded, pair: string, now: number): Candle[] {
  const series = seriesOf(pair, MINUTE)
  const all = [...candles.of(series), ...candles.tail(pair, MINUTE)]
  const made = history?.minutes(pair, now - DAY - MINUTE, now) ?? []
  return made.length === 0 ? all : [...made, ...all]
}
/** The price at a moment: the close of the last minute before it, or the open of the first after it. */
function priceAt(list: readonly Candle[], second: number): Price | undefined {
  for (let i = list.length - 1; i >= 0; i--) if (list[i]!.open_time < second) return list[i]!.close
  return list[0]?.open
}
/** What happened in a market in the last 24 hours. */
export interface DayFigures {
  readonly last: Price
  readonly high: Price
  readonly low: Price
  readonly base: Amount
  readonly quote: Amount
  /** Its minutes. */
  readonly day: readonly Candle[]
  /** The price of 24 hours ago, and of midnight in two zones. */
  readonly before: Price | undefined
  readonly utc0: Price | undefined
  readonly utc8: Price | undefined
}
export function dayFigures(exchange: Traded, pair: string, now: number): DayFigures {
  const list = minutes(exchange, pair, now)
  const since = now - DAY
  const day = list.filter((candle) => candle.open_time + MINUTE > since)
  const last = exchange.lastPrice(pair) ?? list.at(-1)?.close ?? (0n as Price)
  let high = last
  let low = last
  let base: bigint = ZERO
  let quote: bigint = ZERO
  for (const candle of day) {
    if (candle.high > high) high = candle.high
    if (candle.low < low) low = candle.low
    base += candle.base
    quote += candle.quote
  }
  return {
    last,
    high,
    low,
    base: base as Amount,
    quote: quote as Amount,
    day,
    before: priceAt(list, since),
    utc0: priceAt(list, now - (now % DAY)),
    utc8: priceAt(list, now - ((now + 8 * 3_600) % DAY)),
  }
}

export function ticker(
  state: State,
  pair: string,
  now: number,
  options: { readonly timezone: Timezone | null; readonly sizes: boolean },
): Record<string, string> {
  const { last, high, low, base, quote, before, utc0, utc8 } = dayFigures(state.spot, pair, now)
  const book = state.spot.book(pair)
  const ask = book.sell.best
  const bid = book.buy.best
  const { timezone } = options
  return {
    currency_pair: pair,
    last: format(last),
    lowest_ask: ask === undefined ? '' : format(ask.price),
    highest_bid: bid === undefined ? '' : format(bid.price),
    ...(options.sizes && {
      lowest_size: ask === undefined ? '' : format(ask.amount as Amount),
      highest_size: bid === undefined ? '' : format(bid.amount as Amount),
    }),
    change_percentage: changeText(before, last),
    ...((timezone === 'utc0' || timezone === 'all') && { change_utc0: changeText(utc0, last) }),
    ...((timezone === 'utc8' || timezone === 'all') && { change_utc8: changeText(utc8, last) }),
    base_volume: format(base),
    quote_volume: format(quote),
    high_24h: format(high),
    low_24h: format(low),
  }
}
