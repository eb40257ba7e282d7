import type { Desk } from '../api/endpoint.ts'
import type { Look } from '../api/futures/order-views.ts'
import { contractStats, type PushedInterval } from '../api/futures/stats.ts'
import { candlesOf, type CandleSource } from '../api/spot/candles.ts'
import type { Interval } from '../api/spot/intervals.ts'
import type { State } from '../core/state.ts'
import {
  CANDLE_NOW,
  CONTRACT_CANDLE_NOW,
  type Candle,
  type SeriesCandle,
} from '../core/tables/exchange/candles.ts'
import { CONTRACT_TRADE, SPOT_TRADE, type Trade } from '../core/tables/exchange/trades.ts'
import type { Contract } from '../core/tables/world/contracts.ts'
import { tradeEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import type { TableSpec } from '../machine/table.ts'
import type { Said } from './book-forms.ts'
import { pushFrame } from './envelope.ts'
import type { Pace } from './line.ts'
import type { Begin, Outlet, Stream } from './stream.ts'

const TICKER_MS = 1_000
const CANDLE_MS = 2_000
/** Who holds how much is counted anew each time. */
const STATS_MS = 5_000
/** How often the clock is looked at for windows that have closed. */
const CLOSING_MS = 100
/** When the clock jumps over many windows, so many of the last ones are told. */
const CLOSED_MAX = 100

/** The rows that tell of a venue's markets. */
export interface MarketVenue {
  readonly trades: TableSpec<Trade>
  readonly candles: TableSpec<SeriesCandle>
}
export const SPOT_MARKETS: MarketVenue = { trades: SPOT_TRADE, candles: CANDLE_NOW }
export const CONTRACT_MARKETS: MarketVenue = { trades: CONTRACT_TRADE, candles: CONTRACT_CANDLE_NOW }

/** A series of candles, and how each is told. */
export interface CandleForm {
  /** Undefined of a market that is gone: nothing more is told of it. */
  readonly source: (state: State) => CandleSource | undefined
  /** The name that the series' rows have: a market, or a figure of it. */
  readonly series: string
  readonly interval: Interval
  readonly said: (candle: Candle, closed: boolean) => Said
}

/** Figures of a venue's markets: at each pace what REST says at that moment, told after the commit of all that it shows. */
export class MarketStreams {
  private readonly desk: Desk
  private readonly onError: (error: unknown) => void
  private readonly venue: MarketVenue
  private readonly trades = new Map<string, Set<(trades: readonly Trade[]) => void>>()
  private readonly grown = new Map<string, Set<() => void>>()

  constructor(desk: Desk, onError: (error: unknown) => void, venue: MarketVenue) {
    this.desk = desk
    this.onError = onError
    this.venue = venue
  }
  /** Public trades of a command; they come last of what it is told by. */
  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.grown.size > 0)
      for (const { after } of rows.of(this.venue.candles)) {
        if (after === undefined) continue
        const { series } = after
        for (const mark of this.grown.get(series.slice(0, series.lastIndexOf('/'))) ?? []) mark()
      }
    if (this.trades.size === 0) return
    const markets = new Map<string, Trade[]>()
    for (const { market, trade } of tradeEvents(command, rows, this.venue.trades)) {
      if (!this.trades.has(market)) continue
      const list = markets.get(market)
      if (list === undefined) markets.set(market, [trade])
      else list.push(trade)
    }
    for (const [market, list] of markets) for (const tell of this.trades.get(market)!) tell(list)
  }

  /** `said`: the frames of those that one command made in the market. */
  readonly ofTrades =
    (pair: string, said: (trades: readonly Trade[]) => readonly Said[]): Begin =>
    (outlet) => {
      const leave = listen(this.trades, pair, (trades) => {
        for (const one of said(trades)) outlet.publish(pushFrame(this.now(), ...one))
      })
      return Promise.resolve({ pace: 'each', first: () => undefined, close: leave })
    }
  /** `look` is undefined of a market that is gone; `now` in seconds. */
  readonly ofTicker =
    (channel: string, look: (state: State, now: number) => object | undefined): Begin =>
    (outlet) =>
      FigureStream.begin(outlet, TICKER_MS, this.onError, async () => {
        const figures = await this.desk.core.read((state) => look(state, this.desk.clock.seconds()))
        return figures === undefined
          ? undefined
          : {
              told: JSON.stringify(figures),
              frame: (told) => pushFrame(this.now(), channel, told),
            }
      })
  /** The span that runs, with what it was at its end when another has begun. */
  readonly ofStats =
    (contract: Contract, interval: PushedInterval, look: Look): Begin =>
    (outlet) => {
      let last = Infinity
      const query = { contract: contract.name, from: null, interval, limit: 2 }
      return FigureStream.begin(outlet, STATS_MS, this.onError, async () => {
        const rows = await contractStats(this.desk, contract.settle, query, look)
        const newest = rows.at(-1)
        if (newest === undefined) return undefined
        const told = rows.filter(({ time }) => time >= Math.min(last, newest.time))
        last = newest.time
        return {
          told: JSON.stringify(told.map((row) => ({ contract: contract.name, ...row }))),
          frame: (text) => pushFrame(this.now(), 'futures.contract_stats', text),
        }
      })
    }
  readonly ofCandles =
    (form: CandleForm): Begin =>
    (outlet) =>
      CandleStream.begin(this.desk, form, outlet, this.onError, (mark) =>
        listen(this.grown, form.series, mark),
      )
  private now(): number {
    return this.desk.clock.peek()
  }
}

function listen<Listener>(
  all: Map<string, Set<Listener>>,
  pair: string,
  listener: NoInfer<Listener>,
): () => void {
  let set = all.get(pair)
  if (set === undefined) all.set(pair, (set = new Set()))
  set.add(listener)
  return () => {
    set.delete(listener)
    if (set.size === 0) all.delete(pair)
  }
}

/** One look after the other: one that is still under way is waited for. */
function every(
  ms: number,
  onError: (error: unknown) => void,
  look: () => Promise<void> | undefined,
): NodeJS.Timeout {
  let busy = false
  const run = async (): Promise<void> => {
    busy = true
    try {
      await look()
    } catch (error) {
      onError(error)
    } finally {
      busy = false
    }
  }
  return setInterval(() => void (busy || run()), ms).unref()
}

export interface Figures {
  /** What is compared: the same text is not told again. */
  readonly told: string
  frame(told: string): string
}
/** Looks at each interval, and tells what has changed. */
export class FigureStream implements Stream {
  readonly pace: Pace = 'newest'
  private known: Figures | undefined
  private timer: NodeJS.Timeout | undefined
  private over = false

  static async begin(
    outlet: Outlet,
    ms: number,
    onError: (error: unknown) => void,
    look: () => Promise<Figures | undefined>,
  ): Promise<FigureStream> {
    const stream = new FigureStream()
    const see = async (): Promise<boolean> => {
      const figures = await look()
      if (figures === undefined || figures.told === stream.known?.told) return false
      stream.known = figures
      return true
    }
    await see()
    stream.timer = every(ms, onError, async () => {
      if ((await see()) && !stream.over) outlet.publish(stream.first()!)
    })
    return stream
  }
  /** Made anew for whoever comes: it has the time of now. */
  first(): string | undefined {
    return this.known?.frame(this.known.told)
  }
  close(): void {
    this.over = true
    clearInterval(this.timer)
  }
}

/** The window that grows, after trades and at most at its pace; and each window once more when it has closed. */
class CandleStream implements Stream {
  readonly pace: Pace = 'newest'
  private readonly desk: Desk
  private readonly form: CandleForm
  private readonly outlet: Outlet
  /** What was told last, or would have been. */
  private newest: Said | undefined
  /** The window that was told last: seconds. */
  private start = 0
  private grown = false
  private last = 0
  private over = false
  private timer: NodeJS.Timeout | undefined
  private leave: (() => void) | undefined

  private constructor(desk: Desk, form: CandleForm, outlet: Outlet) {
    this.desk = desk
    this.form = form
    this.outlet = outlet
  }
  static async begin(
    desk: Desk,
    form: CandleForm,
    outlet: Outlet,
    onError: (error: unknown) => void,
    listen: (mark: () => void) => () => void,
  ): Promise<CandleStream> {
    const stream = new CandleStream(desk, form, outlet)
    stream.leave = listen(() => (stream.grown = true))
    stream.start = form.interval.start(desk.clock.seconds())
    stream.newest = (await stream.windows(stream.start, stream.start)).at(-1)?.said
    stream.last = performance.now()
    stream.timer = every(CLOSING_MS, onError, () => (stream.due() ? stream.tell() : undefined))
    return stream
  }
  first(): string | undefined {
    return this.newest === undefined ? undefined : this.frame(this.newest)
  }
  close(): void {
    this.over = true
    clearInterval(this.timer)
    this.leave?.()
  }

  private due(): boolean {
    const closed = this.form.interval.start(this.desk.clock.seconds()) > this.start
    return closed || (this.grown && performance.now() - this.last >= CANDLE_MS)
  }
  private async tell(): Promise<void> {
    const { start, seconds } = this.form.interval
    const now = start(this.desk.clock.seconds())
    const { grown } = this
    this.grown = false
    this.last = performance.now()
    const first = Math.max(this.start, start(now - CLOSED_MAX * seconds))
    // Of the window that has just begun only if there is something to tell.
    const windows = await this.windows(first, now)
    const grows = windows.length > 0 && grown
    this.start = now
    if (this.over) return
    this.newest = windows.at(-1)?.said ?? this.newest
    for (const { said, closed } of grows || first === now ? windows : windows.slice(0, -1))
      this.outlet.publish(this.frame(said), closed)
  }
  private frame(said: Said): string {
    return pushFrame(this.desk.clock.peek(), ...said)
  }
  private async windows(first: number, last: number): Promise<{ said: Said; closed: boolean }[]> {
    const { desk, form } = this
    const list = await candlesOf(desk, form.source, form.interval, () => ({ first, last }))
    return list.map((candle) => {
      const closed = candle.open_time < last
      return { said: form.said(candle, closed), closed }
    })
  }
}
