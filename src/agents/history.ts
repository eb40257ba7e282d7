import { joined, type Candle } from '../core/tables/exchange/candles.ts'
import type { PriceHistory } from '../core/tables/spot/spot.ts'
import { ONE, type Amount, type Price } from '../money/amount.ts'
import type { Market } from '../core/tables/world/markets.ts'
import { dayVolatility, exact, hashText } from './dice.ts'

const MINUTE = 60
const HOUR = 3_600
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
const smooth = (part: number): number => part * part * (3 - 2 * part)

/** A wave as wide as its market makes it. Who goes along it in small steps meets the same two grains again and again. */
export class Wave {
  private readonly seed: number
  private readonly period: number
  private readonly width: number
  private place = Number.NaN
  private left = 0
  private right = 0
  private readonly atEnd: number

  /** Without an end it wanders around 0. */
  constructor(seed: number, period: number, volatility: number, end?: number) {
    this.seed = seed
    this.period = period
    this.width = volatility * Math.sqrt(period / DAY) * 0.8
    this.atEnd = end === undefined ? 0 : this.height(end)
  }
  /** How far above its end it is. */
  at(time: number): number {
    return this.width * (this.height(time) - this.atEnd)
  }
  private height(time: number): number {
    const x = time / this.period
    const place = Math.floor(x)
    if (place !== this.place) {
      this.place = place
      this.left = grain(this.seed, place)
      this.right = grain(this.seed, place + 1)
    }
    const share = smooth(x - place)
    return this.left * (1 - share) + this.right * share
  }
}
/** A minute or less of a path, before its prices are rounded. */
interface Stretch {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly base: Amount
  readonly quote: Amount
}
/** The path of one market's price: it meets the reference price at its end. */
class Path {
  private readonly market: Market
  private readonly seed: number
  private readonly volatility: number
  private readonly waves: readonly Wave[]
  /** Dollars of the quote currency. */
  private readonly dollars: number
  private known = { time: Number.NaN, price: 0 }

  constructor(market: Market, seed: number, end: number, dollars: number) {
    this.market = market
    this.seed = hashText(market.id) ^ seed
    this.volatility = dayVolatility(market.base, market.quote)
    this.waves = PERIODS.map((period, i) => new Wave(this.seed + i, period, this.volatility, end))
    this.dollars = dollars
  }
  stretch(start: number, end: number): Stretch {
    const open = this.price(start)
    const close = this.price(end)
    const volatility = this.volatility * Math.sqrt((end - start) / DAY)
    const reach = (side: number): number => 1 + Math.abs(grain(this.seed + side, start)) * volatility * 0.6
    const traded = (end - start) * (30 + 60 * (1 + grain(this.seed + 3, Math.floor(start / MINUTE))))
    const base = exact(
      traded / Math.max(close * this.dollars, 1e-9) / 10,
      this.market.config.amount_precision,
    )
    return {
      open,
      high: Math.max(open, close) * reach(1),
      low: Math.min(open, close) / reach(2),
      close,
      base,
      quote: ((base * this.tick(close)) / ONE) as Amount,
    }
  }
  candle(open_time: number, { open, high, low, close, base, quote }: Stretch): Candle {
    return {
      open_time,
      open: this.tick(open),
      high: this.tick(high),
      low: this.tick(low),
      close: this.tick(close),
      base,
      quote,
    }
  }
  private price(time: number): number {
    // The end of one stretch is the beginning of the next.
    if (this.known.time === time) return this.known.price
    let distance = 0
    for (const wave of this.waves) distance += wave.at(time)
    const price = Number(this.market.config.reference_price) * Math.exp(distance)
    this.known = { time, price }
    return price
  }
  private tick(price: number): Price {
    const value = exact(price, this.market.config.precision) as bigint as Price
    return value === 0n ? this.market.tick : value
  }
}

/**
 * Thirty days of candles from before a sandbox's first start. They are a function of the seed and the time, so
 * that nothing is stored and every interval agrees with every other; they end at the market's first price. Only what
 * is asked for is made, because everybody waits for it: hours are kept, and days are put together from them.
 */
export class MadeHistory implements PriceHistory {
  private readonly paths: ReadonlyMap<string, Path>
  /** Seconds: where the market's own trades begin. */
  private readonly end: number
  private readonly begin: number
  private readonly hours = new Map<string, Candle>()
  private readonly recent = new Map<string, { minute: number; list: Candle[] }>()

  constructor(markets: readonly Market[], seed: number, end: number) {
    this.end = Math.floor(end)
    this.begin = this.end - DAYS * DAY
    // Dollars of a quote currency, by the price that its own market begins with.
    const prices = new Map(markets.map(({ id, config }) => [id, Number(config.reference_price)]))
    this.paths = new Map(
      markets.map((market) => [
        market.id,
        new Path(market, seed, this.end, prices.get(`${market.quote}_USDT`) ?? 1),
      ]),
    )
  }
  candles(pair: string, seconds: number, from: number, to: number): Candle[] {
    const path = this.paths.get(pair)
    const list: Candle[] = []
    if (path === undefined) return list
    const first = Math.max(from, this.begin)
    const last = Math.min(to, this.end)
    for (let time = first - (first % seconds); time < last; time += seconds)
      list.push(this.candle(pair, path, seconds, time))
    return list
  }
  /** The price that the market's own trades begin with. */
  last(pair: string): Candle | undefined {
    const path = this.paths.get(pair)
    return path?.candle(this.end - 1, path.stretch(this.end - 1, this.end))
  }
  minutes(pair: string, from: number, to: number): Candle[] {
    if (from >= this.end) return []
    const minute = Math.floor(from / MINUTE)
    const known = this.recent.get(pair)
    if (known?.minute === minute) return known.list
    // A minute later it is the same list without its first.
    const list =
      known !== undefined && known.minute < minute
        ? known.list.filter(({ open_time }) => open_time >= minute * MINUTE)
        : this.candles(pair, MINUTE, from, to)
    this.recent.set(pair, { minute, list })
    return list
  }

  private candle(pair: string, path: Path, seconds: number, start: number): Candle {
    const end = Math.min(start + seconds, this.end)
    if (seconds <= MINUTE) return path.candle(start, path.stretch(start, end))
    if (seconds < HOUR) return this.ofMinutes(path, start, end)
    if (seconds > HOUR) return { ...this.candles(pair, HOUR, start, end).reduce(joined), open_time: start }
    const key = `${pair}/${start}`
    let hour = this.hours.get(key)
    if (hour === undefined) this.hours.set(key, (hour = this.ofMinutes(path, start, end)))
    return hour
  }
  /** Rounded at the end alone: rounding changes no order. */
  private ofMinutes(path: Path, start: number, end: number): Candle {
    const begin = Math.max(start, this.begin)
    let time = begin - (begin % MINUTE)
    let all = path.stretch(time, Math.min(time + MINUTE, end))
    for (time += MINUTE; time < end; time += MINUTE) {
      const next = path.stretch(time, Math.min(time + MINUTE, end))
      all = {
        open: all.open,
        high: Math.max(all.high, next.high),
        low: Math.min(all.low, next.low),
        close: next.close,
        base: (all.base + next.base) as Amount,
        quote: (all.quote + next.quote) as Amount,
      }
    }
    return path.candle(start, all)
  }
}
