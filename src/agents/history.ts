import type { Candle } from '../core/spot/candles.ts'
import type { PriceHistory } from '../core/spot/spot.ts'
import type { Amount, Price } from '../money/amount.ts'
import type { Market } from '../core/world/markets.ts'
import { dayVolatility, exact, hashText } from './dice.ts'

const MINUTE = 60
const DAY = 86_400
const DAYS = 30
/** Waves of these periods in seconds make up the path; each is as wide as the square root of its period. */
const PERIODS = [10 * DAY, 3 * DAY, DAY, 8 * 3_600, 2 * 3_600, 1_800, 420, 100, 25]

/** A fixed number from -1 to 1 for a place on a wave. */
function grain(seed: number, place: number): number {
  let mixed = Math.imul((seed ^ Math.imul(place | 0, 0x9e3779b1)) >>> 0, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2_147_483_648 - 1
}
function wave(seed: number, x: number): number {
  const place = Math.floor(x)
  const part = x - place
  const smooth = part * part * (3 - 2 * part)
  return grain(seed, place) * (1 - smooth) + grain(seed, place + 1) * smooth
}

/**
 * Thirty days of candles from before a sandbox's first start. They are a function of the seed and the time, so
 * that nothing is stored and every interval agrees with every other; they end at the market's first price.
 */
export class MadeHistory implements PriceHistory {
  private readonly markets: ReadonlyMap<string, Market>
  private readonly seed: number
  /** Seconds: where the market's own trades begin. */
  private readonly end: number
  private readonly long = new Map<string, Candle[]>()
  private readonly recent = new Map<string, { minute: number; list: Candle[] }>()

  constructor(markets: readonly Market[], seed: number, end: number) {
    this.markets = new Map(markets.map((market) => [market.id, market]))
    this.seed = seed
    this.end = Math.floor(end)
  }
  candles(pair: string, seconds: number, from: number, to: number): Candle[] {
    const market = this.markets.get(pair)
    if (market === undefined) return []
    const first = Math.max(from, this.end - DAYS * DAY)
    const start = first - (first % seconds)
    const end = Math.min(to, this.end)
    if (start >= end) return []
    if (seconds < 3_600) return this.span(market, seconds, start, end)
    const key = `${pair}/${seconds}`
    let all = this.long.get(key)
    if (all === undefined) {
      const begin = this.end - DAYS * DAY
      this.long.set(key, (all = this.span(market, seconds, begin - (begin % seconds), this.end)))
    }
    return all.filter(({ open_time }) => open_time >= start && open_time < end)
  }
  /** The price that the market's own trades begin with. */
  last(pair: string): Candle | undefined {
    const market = this.markets.get(pair)
    return market === undefined ? undefined : this.short(market, this.end - 1, this.end)
  }
  minutes(pair: string, from: number, to: number): Candle[] {
    if (from >= this.end) return []
    const minute = Math.floor(from / MINUTE)
    const known = this.recent.get(pair)
    if (known?.minute === minute) return known.list
    const list = this.candles(pair, MINUTE, from, to)
    this.recent.set(pair, { minute, list })
    return list
  }

  private span(market: Market, seconds: number, start: number, end: number): Candle[] {
    const list: Candle[] = []
    for (let time = start; time < end; time += seconds) {
      const until = Math.min(time + seconds, this.end)
      list.push(seconds <= MINUTE ? this.short(market, time, until) : this.joined(market, time, until))
    }
    return list
  }
  /** One candle of a minute or less, off the path itself. */
  private short(market: Market, start: number, end: number): Candle {
    const seed = hashText(market.id) ^ this.seed
    const open = this.price(market, start)
    const close = this.price(market, end)
    const volatility = dayVolatility(market.base, market.quote) * Math.sqrt((end - start) / DAY)
    const reach = (side: number): number => 1 + Math.abs(grain(seed + side, start)) * volatility * 0.6
    const high = Math.max(open, close) * reach(1)
    const low = Math.min(open, close) / reach(2)
    const traded = (end - start) * (30 + 60 * (1 + grain(seed + 3, Math.floor(start / MINUTE))))
    const dollars = close * this.worth(market.quote)
    const base = exact(traded / Math.max(dollars, 1e-9) / 10, market.config.amount_precision)
    const [o, h, l, c] = [open, high, low, close].map((price) => this.tick(market, price)) as [
      Price,
      Price,
      Price,
      Price,
    ]
    return {
      open_time: start,
      open: o,
      high: h,
      low: l,
      close: c,
      base,
      quote: ((base * c) / 10n ** 18n) as Amount,
    }
  }
  private joined(market: Market, start: number, end: number): Candle {
    let candle: Candle | undefined
    const begin = Math.max(start, this.end - DAYS * DAY)
    for (let time = begin - (begin % MINUTE); time < end; time += MINUTE) {
      const next = this.short(market, time, Math.min(time + MINUTE, end))
      candle =
        candle === undefined
          ? { ...next, open_time: start }
          : {
              open_time: start,
              open: candle.open,
              high: next.high > candle.high ? next.high : candle.high,
              low: next.low < candle.low ? next.low : candle.low,
              close: next.close,
              base: (candle.base + next.base) as Amount,
              quote: (candle.quote + next.quote) as Amount,
            }
    }
    return candle!
  }
  /** The path: it meets the reference price at the end. */
  private price(market: Market, time: number): number {
    const seed = hashText(market.id) ^ this.seed
    const volatility = dayVolatility(market.base, market.quote)
    let distance = 0
    for (const [i, period] of PERIODS.entries())
      distance +=
        volatility *
        Math.sqrt(period / DAY) *
        0.8 *
        (wave(seed + i, time / period) - wave(seed + i, this.end / period))
    return Number(market.config.reference_price) * Math.exp(distance)
  }
  /** Dollars of a quote currency, by the price that its own market begins with. */
  private worth(quote: string): number {
    return Number(this.markets.get(`${quote}_USDT`)?.config.reference_price ?? 1)
  }
  private tick(market: Market, price: number): Price {
    const value = exact(price, market.config.precision) as bigint as Price
    return value === 0n ? market.tick : value
  }
}
