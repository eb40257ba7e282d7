import { secondsOf } from '../../time.ts'
import type { Amount, Price } from '../../../money/amount.ts'
import { Table, type TableSpec, type Tx } from '../../../machine/table.ts'
import { remembered, type Remembered } from './trades.ts'

/** What happened in a span of time. Times are seconds. */
export interface Candle {
  readonly open_time: number
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
  readonly base: Amount
  readonly quote: Amount
}
/** A candle of a series as it is kept: the one that is still growing, or a closed one in its slot. */
export interface SeriesCandle extends Candle {
  readonly series: string
}
export interface ClosedCandle extends SeriesCandle {
  readonly slot: string
}
const COLUMNS = {
  series: 'text',
  open_time: 'int',
  open: 'amount',
  high: 'amount',
  low: 'amount',
  close: 'amount',
  base: 'amount',
  quote: 'amount',
} as const
const nowSpec = (name: string): TableSpec<SeriesCandle> => ({ name, key: ['series'], columns: COLUMNS })
export const CANDLE_NOW = nowSpec('spot_candle_now')
export const CONTRACT_CANDLE_NOW = nowSpec('contract_candle_now')
/** Closed candles live in slots that are used again: each series keeps its newest ones, and no more. */
const closedSpec = (name: string): TableSpec<ClosedCandle> => ({
  name,
  key: ['slot'],
  columns: { slot: 'text', ...COLUMNS },
  live: () => false,
  rewritten: true,
})
export const SPOT_CANDLE = closedSpec('spot_candle')
export const CONTRACT_CANDLE = closedSpec('contract_candle')

export interface Span {
  readonly seconds: number
  readonly keep: number
}
/** The spans that are kept; all others are put together from them. `keep` bounds what the store holds. */
export const BASE_SPANS = [
  { seconds: 1, keep: 10_800 },
  { seconds: 10, keep: 10_080 },
  { seconds: 60, keep: 10_080 },
  { seconds: 300, keep: 61_000 },
  { seconds: 3_600, keep: 100_000 },
  { seconds: 86_400, keep: 36_500 },
] as const satisfies readonly Span[]
/** Of contracts, whose marks and indexes have candles too: none is shorter than ten seconds. */
export const CONTRACT_SPANS = BASE_SPANS.slice(1)

export const seriesOf = (pair: string, seconds: number): string => `${pair}/${seconds}`

/** Recent closed candles of a series that stay in memory: a day of minutes is asked for again and again. */
const RECENT_MAX = 1_500

export class Candles {
  readonly now: Table<SeriesCandle>
  readonly closed: Table<ClosedCandle>
  readonly spans: readonly Span[]
  /** How many of a series stay in memory. */
  readonly recentOf: (series: string) => number
  private readonly recent = new Map<string, Candle[]>()
  /** Series of which the store knows more than memory does. */
  private readonly trimmed = new Set<string>()
  private readonly names = new Map<string, readonly string[]>()

  constructor(
    now: TableSpec<SeriesCandle>,
    closed: TableSpec<ClosedCandle>,
    spans: readonly Span[],
    recentOf: (series: string) => number = () => RECENT_MAX,
  ) {
    this.now = new Table(now)
    this.closed = new Table(closed)
    this.spans = spans
    this.recentOf = recentOf
    // The stack of closed candles follows the growing one: forward it is pushed, on undo popped.
    this.now.observe((before, after, signal) => {
      if (before === undefined || after === undefined || signal === 'follow') return
      if (after.open_time > before.open_time) this.push(before)
      else if (after.open_time < before.open_time) this.of(after.series).pop()
    })
    // Within a batch that is followed one may have grown and others may have come and gone: the closed ones tell.
    this.closed.observe((_, after, signal) => {
      if (signal === 'follow' && after !== undefined) this.push(after)
    })
  }
  private push(candle: SeriesCandle): void {
    const list = this.of(candle.series)
    list.push(candle)
    const most = this.recentOf(candle.series)
    if (list.length <= 2 * most) return
    list.splice(0, most)
    this.trimmed.add(candle.series)
  }
  /** Closed ones, oldest first. */
  of(series: string): Candle[] {
    let list = this.recent.get(series)
    if (list === undefined) this.recent.set(series, (list = []))
    return list
  }
  /**
   * What came after the closed ones of a span, oldest first: the part of its growing candle that shorter spans
   * have closed already, then theirs, down to the shortest. Several may lie in one span.
   */
  tail(pair: string, seconds: number): Candle[] {
    const names = this.seriesNames(pair)
    const parts: Candle[] = []
    for (let i = this.spans.length - 1; i >= 0; i--) {
      if (this.spans[i]!.seconds > seconds) continue
      const part = this.now.get(names[i]!)
      if (part !== undefined) parts.push(part)
    }
    return parts
  }
  /** Whether memory knows all there is from this second on. */
  covers(series: string, from: number): boolean {
    return !this.trimmed.has(series) || (this.of(series)[0]?.open_time ?? Infinity) <= from
  }
  /** At start: what the store knows of the newest closed ones, oldest first. */
  prime(series: string, candles: readonly Candle[]): void {
    this.recent.set(series, [...candles])
    if (candles.length >= this.recentOf(series)) this.trimmed.add(series)
  }
  /** Nothing more comes to a market: what it was is in the store. */
  forget(pair: string): void {
    for (const series of this.seriesNames(pair)) {
      this.recent.delete(series)
      this.trimmed.add(series)
    }
    this.names.delete(pair)
  }
  /** The growing candle of the shortest span. */
  newest(pair: string): SeriesCandle | undefined {
    return this.now.get(this.seriesNames(pair)[0]!)
  }
  /** What is remembered beside the tables: others may go on from there. */
  get memory(): Remembered<Candle> {
    return remembered(this.recent, this.trimmed)
  }
  set memory(memory: Remembered<Candle>) {
    this.clear()
    for (const [series, candles] of memory.recent) this.recent.set(series, [...candles])
    for (const series of memory.trimmed) this.trimmed.add(series)
  }
  /** Before priming, and after a reset. */
  clear(): void {
    this.recent.clear()
    this.trimmed.clear()
  }

  /** A trade joins the growing candle of the shortest span; only what that one closes goes on to the longer ones. */
  add(tx: Tx, pair: string, at: number, price: Price, amount: Amount, value: Amount): void {
    const names = this.seriesNames(pair)
    const second = secondsOf(at)
    const open_time = second - (second % this.spans[0]!.seconds)
    const before = this.now.get(names[0]!)
    const own = tx.own(before)
    if (own?.open_time === open_time) {
      if (price > own.high) own.high = price
      if (price < own.low) own.low = price
      own.close = price
      own.base = (own.base + amount) as Amount
      own.quote = (own.quote + value) as Amount
    } else
      this.absorb(tx, names, 0, {
        open_time,
        open: price,
        high: price,
        low: price,
        close: price,
        base: amount,
        quote: value,
      })
  }
  private absorb(tx: Tx, names: readonly string[], i: number, part: Candle): void {
    const series = names[i]!
    const { seconds, keep } = this.spans[i]!
    const open_time = part.open_time - (part.open_time % seconds)
    const before = this.now.get(series)
    const grows = before?.open_time === open_time
    if (before !== undefined && !grows) {
      tx.put(this.closed, { slot: `${series}/${(before.open_time / seconds) % keep}`, ...before })
      if (i + 1 < this.spans.length) this.absorb(tx, names, i + 1, before)
    }
    const { open, high, low, close, base, quote } = grows ? joined(before, part) : part
    const candle = { series, open_time, open, high, low, close, base, quote, stamp: tx.stamp }
    tx.replace(this.now, series, before, candle)
  }
  private seriesNames(pair: string): readonly string[] {
    let names = this.names.get(pair)
    if (names === undefined)
      this.names.set(pair, (names = this.spans.map(({ seconds }) => seriesOf(pair, seconds))))
    return names
  }
}

/** Two parts of one span, the earlier first. */
export const joined = (first: Candle, next: Candle): Candle => ({
  open_time: first.open_time,
  open: first.open,
  high: first.high > next.high ? first.high : next.high,
  low: first.low < next.low ? first.low : next.low,
  close: next.close,
  base: (first.base + next.base) as Amount,
  quote: (first.quote + next.quote) as Amount,
})
