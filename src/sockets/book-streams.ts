import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import type { State } from '../core/state.ts'
import { SIDES, type Side } from '../core/tables/exchange/order.ts'
import { bookLevelEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import { SPOT_MARKET } from '../core/tables/exchange/exchange.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import { format, priceOf, type Amount } from '../money/amount.ts'
import { FollowedBook, type BookWindow, type LevelChange, type LevelText } from './followed-book.ts'
import { pushFrame } from './envelope.ts'
import type { Pace } from './line.ts'
import { Pacer } from './pacer.ts'
import type { Begin, Outlet, Stream } from './stream.ts'

interface Followed {
  readonly book: FollowedBook
  /** Shows everything up to this batch. */
  readonly since: number
  readonly marked: Set<() => void>
}
/** The books that somebody watches, each followed once, whatever the number and kind of its streams. */
export class Books {
  private readonly core: Pick<Core<State, Commands>, 'snapshot'>
  private readonly now: () => number
  private readonly followed = new Map<string, Promise<Followed>>()
  private readonly ready = new Map<string, Followed>()
  private readonly users = new Map<string, number>()

  constructor(core: Pick<Core<State, Commands>, 'snapshot'>, now: () => number) {
    this.core = core
    this.now = now
  }
  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.ready.size === 0) return
    const figures = rows.of(SPOT_MARKET)
    if (figures.length === 0) return
    let changes: Map<string, LevelChange[]> | undefined
    for (const { before, after } of figures) {
      if (after === undefined || before?.book_id === after.book_id) continue
      const followed = this.ready.get(after.pair)
      if (followed === undefined || command.sequence <= followed.since) continue
      changes ??= byMarket(command, rows)
      followed.book.apply(changes.get(after.pair) ?? [], after.book_id, after.update_at)
      for (const mark of followed.marked) mark()
    }
  }
  /** Everything was replaced: what is known is no longer true. */
  clear(): void {
    this.followed.clear()
    this.ready.clear()
    this.users.clear()
  }

  readonly ticker =
    (pair: string): Begin =>
    (outlet) =>
      this.begin(pair, (followed) => tickerStream(pair, followed.book, outlet, this.now))
  readonly snapshots =
    (pair: string, level: number, ms: number): Begin =>
    (outlet) =>
      this.begin(pair, (followed) => snapshotStream(pair, level, ms, followed.book, outlet, this.now))
  readonly updates =
    (pair: string, level: number, ms: number): Begin =>
    (outlet) =>
      this.begin(
        pair,
        (followed) => new DeltaStream(updateShape(pair, level), level, ms, followed.book, outlet, this.now),
      )
  readonly obu =
    (pair: string, level: number, ms: number): Begin =>
    (outlet) =>
      this.begin(
        pair,
        (followed) => new DeltaStream(obuShape(pair, level), level, ms, followed.book, outlet, this.now),
      )

  private async begin(pair: string, make: (followed: Followed) => BookStream): Promise<Stream> {
    this.users.set(pair, (this.users.get(pair) ?? 0) + 1)
    let following = this.followed.get(pair)
    if (following === undefined) this.followed.set(pair, (following = this.follow(pair)))
    const followed = await following.catch((error: unknown) => {
      // What could not begin, because its market was taken away for example, is begun anew by the next.
      if (this.followed.get(pair) === following) {
        this.followed.delete(pair)
        this.users.delete(pair)
      }
      throw error
    })
    const stream = make(followed)
    followed.marked.add(stream.mark)
    return {
      pace: stream.pace,
      first: () => stream.first(),
      close: () => {
        stream.close()
        followed.marked.delete(stream.mark)
        const left = (this.users.get(pair) ?? 1) - 1
        if (left > 0) this.users.set(pair, left)
        else if (this.ready.get(pair) === followed) {
          this.users.delete(pair)
          this.ready.delete(pair)
          this.followed.delete(pair)
        }
      },
    }
  }
  private async follow(pair: string): Promise<Followed> {
    const { sequence, value } = await this.core.snapshot(({ spot }) => ({
      levels: { buy: spot.book(pair).depth('buy', Infinity), sell: spot.book(pair).depth('sell', Infinity) },
      figures: spot.figuresOf(pair),
    }))
    const { book_id, update_at } = value.figures
    const followed = {
      book: new FollowedBook(value.levels, book_id, update_at),
      since: sequence,
      marked: new Set<() => void>(),
    }
    this.ready.set(pair, followed)
    return followed
  }
}

function byMarket(command: CommittedCommand, rows: CommandRows): Map<string, LevelChange[]> {
  const markets = new Map<string, LevelChange[]>()
  for (const event of bookLevelEvents(command, rows)) {
    const list = markets.get(event.market)
    if (list === undefined) markets.set(event.market, [event])
    else list.push(event)
  }
  return markets
}

interface BookStream extends Stream {
  /** The book's id has moved. */
  readonly mark: () => void
}
const millis = (micros: number): number => Math.floor(micros / 1000)
const levelsText = (levels: readonly LevelText[]): string => JSON.stringify(levels)

/** One of which the newest frame is enough. */
class NewestStream implements BookStream {
  readonly pace: Pace = 'newest'
  private readonly pacer: Pacer
  private frame: string
  /** `next` is undefined where there is nothing new to tell. */
  constructor(ms: number, outlet: Outlet, first: string, next: () => string | undefined) {
    this.frame = first
    this.pacer = new Pacer(ms, () => {
      const frame = next()
      if (frame !== undefined) outlet.publish((this.frame = frame))
    })
  }
  readonly mark = (): void => this.pacer.mark()
  first(): string {
    return this.frame
  }
  close(): void {
    this.pacer.stop()
  }
}

const TICKER_MS = 10
/** The best price of each side, when one of the four figures has changed. */
function tickerStream(pair: string, book: FollowedBook, outlet: Outlet, now: () => number): BookStream {
  const figures = (): string => {
    const bid = book.best('buy')
    const ask = book.best('sell')
    const [b, B] = bid === undefined ? ['', '0'] : [format(bid.price), format(bid.amount as Amount)]
    const [a, A] = ask === undefined ? ['', '0'] : [format(ask.price), format(ask.amount as Amount)]
    return `"b":"${b}","B":"${B}","a":"${a}","A":"${A}"`
  }
  let told = figures()
  const frame = (): string =>
    pushFrame(now(), 'spot.book_ticker', `{"t":${millis(book.at)},"u":${book.id},"s":"${pair}",${told}}`)
  return new NewestStream(TICKER_MS, outlet, frame(), () => {
    const is = figures()
    if (is === told) return undefined
    told = is
    return frame()
  })
}

/** The best prices as a whole, at each interval in which the id has moved. */
function snapshotStream(
  pair: string,
  level: number,
  ms: number,
  book: FollowedBook,
  outlet: Outlet,
  now: () => number,
): BookStream {
  const frame = (): string =>
    pushFrame(
      now(),
      'spot.order_book',
      `{"t":${millis(book.at)},"lastUpdateId":${book.id},"s":"${pair}","l":"${level}","bids":${levelsText(book.levels('buy', level))},"asks":${levelsText(book.levels('sell', level))}}`,
    )
  let { id } = book
  return new NewestStream(ms, outlet, frame(), () => {
    if (id === book.id) return undefined
    ;({ id } = book)
    return frame()
  })
}

/** What tells the two channels of deltas apart; levels are JSON. */
interface DeltaShape {
  readonly channel: string
  full(t: number, u: number, b: string, a: string): string
  delta(t: number, U: number, u: number, b: string, a: string): string
}
const updateShape = (pair: string, level: number): DeltaShape => {
  const rest = (t: number): string =>
    `"l":"${level}","e":"depthUpdate","E":${Math.floor(t / 1000)},"s":"${pair}"`
  return {
    channel: 'spot.order_book_update',
    // A client that does not know `full` sees a gap, and begins again.
    full: (t, u, b, a) => `{"t":${t},"full":true,${rest(t)},"U":${u},"u":${u},"b":${b},"a":${a}}`,
    delta: (t, U, u, b, a) => `{"t":${t},${rest(t)},"U":${U},"u":${u},"b":${b},"a":${a}}`,
  }
}
const obuShape = (pair: string, level: number): DeltaShape => {
  const name = `"s":"ob.${pair}.${level}"`
  return {
    channel: 'spot.obu',
    full: (t, u, b, a) => `{"t":${t},"full":true,${name},"u":${u},"b":${b},"a":${a}}`,
    delta: (t, U, u, b, a) => `{"t":${t},${name},"U":${U},"u":${u},"b":${b},"a":${a}}`,
  }
}

/**
 * Deltas without gaps. A newcomer begins with a whole picture of what the last delta left, so that the next one fits
 * for everybody.
 */
class DeltaStream implements BookStream {
  readonly pace: Pace = 'delta'
  private readonly shape: DeltaShape
  private readonly book: FollowedBook
  private readonly window: BookWindow
  private readonly now: () => number
  private readonly pacer: Pacer
  /** What the last delta left, by price. */
  private readonly shown: Readonly<Record<Side, Map<string, string>>>
  private id: number
  private t: number

  constructor(
    shape: DeltaShape,
    level: number,
    ms: number,
    book: FollowedBook,
    outlet: Outlet,
    now: () => number,
  ) {
    this.shape = shape
    this.book = book
    this.now = now
    this.window = book.open(level)
    this.shown = { buy: new Map(book.levels('buy', level)), sell: new Map(book.levels('sell', level)) }
    this.id = book.id
    this.t = millis(book.at)
    this.pacer = new Pacer(ms, () => {
      if (this.id !== book.id) outlet.publish(this.next())
    })
  }
  readonly mark = (): void => this.pacer.mark()
  first(): string {
    const side = (name: Side): string => {
      const levels = [...this.shown[name]].map(([price, amount]) => ({ at: priceOf(price), price, amount }))
      levels.sort((one, other) => (this.book.better(name, one.at, other.at) ? -1 : 1))
      return levelsText(levels.map(({ price, amount }) => [price, amount]))
    }
    return pushFrame(
      this.now(),
      this.shape.channel,
      this.shape.full(this.t, this.id, side('buy'), side('sell')),
    )
  }
  close(): void {
    this.pacer.stop()
    this.book.close(this.window)
  }
  private next(): string {
    const { book, shape } = this
    const changed = this.window.take(book)
    for (const side of SIDES)
      for (const [price, amount] of changed[side])
        if (amount === '0') this.shown[side].delete(price)
        else this.shown[side].set(price, amount)
    const U = this.id + 1
    this.id = book.id
    this.t = millis(book.at)
    const [b, a] = [levelsText(changed.buy), levelsText(changed.sell)]
    return pushFrame(this.now(), shape.channel, shape.delta(this.t, U, this.id, b, a))
  }
}
