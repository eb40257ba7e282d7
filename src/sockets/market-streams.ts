import { candleRow, candles } from '../api/spot/candles.ts'
import type { Desk } from '../api/endpoint.ts'
import { intervalOf, type Interval } from '../api/spot/intervals.ts'
import { ticker } from '../api/spot/tickers.ts'
import { tradeView } from '../api/spot/market-data.ts'
import { SPOT_MARKET } from '../core/tables/exchange/exchange.ts'
import type { Trade } from '../core/tables/exchange/trades.ts'
import { tradeEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import { pushFrame } from './envelope.ts'
import type { Pace } from './line.ts'
import type { Begin, Outlet, Stream } from './stream.ts'

const TICKER_MS = 1_000
const CANDLE_MS = 2_000
/** How often the clock is looked at for windows that have closed. */
const CLOSING_MS = 100
/** When the clock jumps over many windows, so many of the last ones are told. */
const CLOSED_MAX = 100

/** Figures of markets: at each pace what REST says at that moment, told after the commit of all that it shows. */
export class MarketStreams {
  private readonly desk: Desk
  private readonly onError: (error: unknown) => void
  private readonly trades = new Map<string, Set<(trade: Trade) => void>>()
  private readonly traded = new Map<string, Set<() => void>>()

  constructor(desk: Desk, onError: (error: unknown) => void) {
    this.desk = desk
    this.onError = onError
  }
  /** Public trades of a command; they come last of what it is told by. */
  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.traded.size > 0)
      for (const { before, after } of rows.of(SPOT_MARKET))
        if (after !== undefined && before?.sequence !== after.sequence)
          for (const mark of this.traded.get(after.pair) ?? []) mark()
    if (this.trades.size > 0)
      for (const { trade } of tradeEvents(command, rows))
        for (const tell of this.trades.get(trade.pair) ?? []) tell(trade)
  }

  readonly ofTrades =
    (pair: string, channel: string): Begin =>
    (outlet) => {
      const leave = listen(this.trades, pair, (trade) =>
        outlet.publish(pushFrame(this.now(), channel, JSON.stringify(tradeRecord(trade)))),
      )
      return Promise.resolve({ pace: 'each', first: () => undefined, close: leave })
    }
  readonly ofTicker =
    (pair: string): Begin =>
    (outlet) =>
      FigureStream.begin(outlet, TICKER_MS, this.onError, async () => {
        const options = { timezone: null, sizes: false }
        const figures = await this.desk.core.read((state) =>
          // It may be gone meanwhile.
          state.world.findMarket(pair) === undefined
            ? undefined
            : ticker(state, pair, this.desk.clock.seconds(), options),
        )
        return figures === undefined
          ? undefined
          : {
              told: JSON.stringify(figures),
              frame: (told) => pushFrame(this.now(), 'spot.tickers', told),
            }
      })
  readonly ofCandles =
    (pair: string, name: string): Begin =>
    (outlet) =>
      CandleStream.begin(this.desk, pair, name, outlet, this.onError, (mark) =>
        listen(this.traded, pair, mark),
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

function tradeRecord(trade: Trade): object {
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
  private frame: string | undefined
  private told: string | undefined
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
      if (figures === undefined || figures.told === stream.told) return false
      stream.told = figures.told
      stream.frame = figures.frame(figures.told)
      return true
    }
    await see()
    stream.timer = every(ms, onError, async () => {
      if ((await see()) && !stream.over) outlet.publish(stream.frame!)
    })
    return stream
  }
  first(): string | undefined {
    return this.frame
  }
  close(): void {
    this.over = true
    clearInterval(this.timer)
  }
}

/** The window that grows, after trades and at most at its pace; and each window once more when it has closed. */
class CandleStream implements Stream {
  readonly pace: Pace = 'each'
  private readonly desk: Desk
  private readonly pair: string
  private readonly name: string
  private readonly interval: Interval
  private readonly outlet: Outlet
  private frame: string | undefined
  /** The window that was told last: seconds. */
  private start = 0
  private traded = false
  private last = 0
  private over = false
  private timer: NodeJS.Timeout | undefined
  private leave: (() => void) | undefined

  private constructor(desk: Desk, pair: string, name: string, outlet: Outlet) {
    this.desk = desk
    this.pair = pair
    this.name = name
    this.interval = intervalOf(name)
    this.outlet = outlet
  }
  static async begin(
    desk: Desk,
    pair: string,
    name: string,
    outlet: Outlet,
    onError: (error: unknown) => void,
    listen: (mark: () => void) => () => void,
  ): Promise<CandleStream> {
    const stream = new CandleStream(desk, pair, name, outlet)
    stream.leave = listen(() => (stream.traded = true))
    stream.start = stream.interval.start(desk.clock.seconds())
    stream.frame = (await stream.frames(stream.start, stream.start)).at(-1)
    stream.last = performance.now()
    stream.timer = every(CLOSING_MS, onError, () => (stream.due() ? stream.tell() : undefined))
    return stream
  }
  first(): string | undefined {
    return this.frame
  }
  close(): void {
    this.over = true
    clearInterval(this.timer)
    this.leave?.()
  }

  private due(): boolean {
    const closed = this.interval.start(this.desk.clock.seconds()) > this.start
    return closed || (this.traded && performance.now() - this.last >= CANDLE_MS)
  }
  private async tell(): Promise<void> {
    const now = this.interval.start(this.desk.clock.seconds())
    const { traded } = this
    this.traded = false
    this.last = performance.now()
    const { start, seconds } = this.interval
    const first = Math.max(this.start, start(now - CLOSED_MAX * seconds))
    // Of the window that has just begun only if there is something to tell.
    const frames = await this.frames(first, now)
    const grows = frames.length > 0 && traded
    this.start = now
    if (this.over) return
    this.frame = frames.at(-1) ?? this.frame
    for (const frame of grows || first === now ? frames : frames.slice(0, -1)) this.outlet.publish(frame)
  }
  private async frames(first: number, last: number): Promise<string[]> {
    const { desk, pair, interval, name } = this
    const list = await candles(desk, pair, interval, () => ({ first, last }))
    return list.map((candle) => {
      const closes = interval.next(candle.open_time)
      const [t, v, c, h, l, o, a] = candleRow(candle, interval, closes)
      const w = candle.open_time < last
      return pushFrame(
        desk.clock.peek(),
        'spot.candlesticks',
        JSON.stringify({ t, v, c, h, l, o, n: `${name}_${pair}`, a, w }),
      )
    })
  }
}
