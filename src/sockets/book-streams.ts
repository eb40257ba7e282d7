import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import type { State } from '../core/state.ts'
import {
  CONTRACT_MARKET,
  SPOT_MARKET,
  type Exchange,
  type MarketFigures,
} from '../core/tables/exchange/exchange.ts'
import { CONTRACT_ORDER, SIDES, SPOT_ORDER, type Order, type Side } from '../core/tables/exchange/order.ts'
import { bookLevelEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import type { TableSpec } from '../machine/table.ts'
import { priceOf } from '../money/amount.ts'
import type { BookForm, DeltaForm, Said } from './book-forms.ts'
import { FollowedBook, type BookWindow, type LevelChange } from './followed-book.ts'
import { pushFrame } from './envelope.ts'
import type { Pace } from './line.ts'
import { Pacer } from './pacer.ts'
import type { Begin, Outlet, Stream } from './stream.ts'

/** Where the books are, and the rows that tell of them. */
export interface BookVenue {
  readonly exchange: (state: State) => Pick<Exchange, 'book' | 'figuresOf'>
  readonly markets: TableSpec<MarketFigures>
  readonly orders: TableSpec<Order>
}
export const SPOT_BOOKS: BookVenue = {
  exchange: ({ spot }) => spot,
  markets: SPOT_MARKET,
  orders: SPOT_ORDER,
}
export const CONTRACT_BOOKS: BookVenue = {
  exchange: ({ futures }) => futures,
  markets: CONTRACT_MARKET,
  orders: CONTRACT_ORDER,
}

interface Followed {
  readonly book: FollowedBook
  /** Shows everything up to this batch. */
  readonly since: number
  readonly marked: Set<() => void>
}
interface Following {
  readonly followed: Promise<Followed>
  /** Streams that show it. They are counted here and not by name: those of a world that is gone must not end one of the next. */
  streams: number
}
/** The books of a venue that somebody watches, each followed once, whatever the number and kind of its streams. */
export class Books {
  private readonly core: Pick<Core<State, Commands>, 'snapshot'>
  private readonly now: () => number
  private readonly venue: BookVenue
  private readonly following = new Map<string, Following>()
  private readonly ready = new Map<string, Followed>()

  constructor(core: Pick<Core<State, Commands>, 'snapshot'>, now: () => number, venue: BookVenue) {
    this.core = core
    this.now = now
    this.venue = venue
  }
  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.ready.size === 0) return
    const figures = rows.of(this.venue.markets)
    if (figures.length === 0) return
    let changes: Map<string, LevelChange[]> | undefined
    for (const { before, after } of figures) {
      if (after === undefined || before?.book_id === after.book_id) continue
      const followed = this.ready.get(after.pair)
      if (followed === undefined || command.sequence <= followed.since) continue
      changes ??= this.byMarket(command, rows)
      followed.book.apply(changes.get(after.pair) ?? [], after.book_id, after.update_at)
      for (const mark of followed.marked) mark()
    }
  }
  /** Everything was replaced: what is known is no longer true. */
  clear(): void {
    this.following.clear()
    this.ready.clear()
  }

  readonly ticker =
    (pair: string, form: BookForm): Begin =>
    (outlet) =>
      this.begin(pair, ({ book }) => tickerStream(form, book, outlet, this.now))
  readonly snapshots =
    (pair: string, form: BookForm, level: number, ms: number): Begin =>
    (outlet) =>
      this.begin(pair, ({ book }) => snapshotStream(form, level, ms, book, outlet, this.now))
  readonly deltas =
    (pair: string, form: DeltaForm, level: number, ms: number): Begin =>
    (outlet) =>
      this.begin(pair, ({ book }) => new DeltaStream(form, level, ms, book, outlet, this.now))

  private async begin(pair: string, make: (followed: Followed) => BookStream): Promise<Stream> {
    let following = this.following.get(pair)
    if (following === undefined) {
      const begun: Following = {
        followed: this.follow(pair, () => this.following.get(pair) === begun),
        streams: 0,
      }
      this.following.set(pair, (following = begun))
    }
    const mine = following
    mine.streams++
    const isCurrent = (): boolean => this.following.get(pair) === mine
    const followed = await mine.followed.catch((error: unknown) => {
      // What could not begin, because its market was taken away for example, is begun anew by the next.
      if (isCurrent()) this.following.delete(pair)
      throw error
    })
    const stream = make(followed)
    followed.marked.add(stream.mark)
    return {
      pace: stream.pace,
      first: () => stream.first(),
      close: () => {
        stream.close()
        if (!followed.marked.delete(stream.mark) || --mine.streams > 0 || !isCurrent()) return
        this.ready.delete(pair)
        this.following.delete(pair)
      },
    }
  }
  private async follow(pair: string, isWanted: () => boolean): Promise<Followed> {
    const { sequence, value } = await this.core.snapshot((state) => {
      const exchange = this.venue.exchange(state)
      const book = exchange.book(pair)
      return {
        levels: { buy: book.depth('buy', Infinity), sell: book.depth('sell', Infinity) },
        figures: exchange.figuresOf(pair),
      }
    })
    const { book_id, update_at } = value.figures
    const followed = {
      book: new FollowedBook(value.levels, book_id, update_at),
      since: sequence,
      marked: new Set<() => void>(),
    }
    // The world may be another by now.
    if (isWanted()) this.ready.set(pair, followed)
    return followed
  }
  private byMarket(command: CommittedCommand, rows: CommandRows): Map<string, LevelChange[]> {
    const markets = new Map<string, LevelChange[]>()
    for (const event of bookLevelEvents(command, rows, this.venue.orders)) {
      const list = markets.get(event.market)
      if (list === undefined) markets.set(event.market, [event])
      else list.push(event)
    }
    return markets
  }
}

interface BookStream extends Stream {
  /** The book's id has moved. */
  readonly mark: () => void
}
const millis = (micros: number): number => Math.floor(micros / 1000)

/** One of which the newest frame is enough. */
class NewestStream implements BookStream {
  readonly pace: Pace = 'newest'
  private readonly pacer: Pacer
  private readonly now: () => number
  /** What was told last. */
  private told: Said
  /** `next` is undefined where there is nothing new to tell. */
  constructor(ms: number, outlet: Outlet, now: () => number, first: Said, next: () => Said | undefined) {
    this.now = now
    this.told = first
    this.pacer = new Pacer(ms, () => {
      const said = next()
      if (said === undefined) return
      this.told = said
      outlet.publish(this.first())
    })
  }
  readonly mark = (): void => this.pacer.mark()
  /** Made anew for whoever comes: it has the time of now. */
  first(): string {
    return pushFrame(this.now(), ...this.told)
  }
  close(): void {
    this.pacer.stop()
  }
}

const TICKER_MS = 10
/** The best price of each side, when one of the four figures has changed. */
function tickerStream(form: BookForm, book: FollowedBook, outlet: Outlet, now: () => number): BookStream {
  const best = () => [book.levels('buy', 1)[0], book.levels('sell', 1)[0]] as const
  let told = best()
  const said = (): Said => form.ticker(millis(book.at), book.id, ...told)
  return new NewestStream(TICKER_MS, outlet, now, said(), () => {
    const is = best()
    if (String(is[0]) === String(told[0]) && String(is[1]) === String(told[1])) return undefined
    told = is
    return said()
  })
}

/** The best prices as a whole, at each interval in which the id has moved. */
function snapshotStream(
  form: BookForm,
  level: number,
  ms: number,
  book: FollowedBook,
  outlet: Outlet,
  now: () => number,
): BookStream {
  const said = (): Said => {
    const [bids, asks] = [book.levels('buy', level), book.levels('sell', level)]
    return form.snapshot(millis(book.at), book.id, level, bids, asks)
  }
  let { id } = book
  return new NewestStream(ms, outlet, now, said(), () => {
    if (id === book.id) return undefined
    ;({ id } = book)
    return said()
  })
}

/**
 * Deltas without gaps. A newcomer begins with a whole picture of what the last delta left, so that the next one fits
 * for everybody.
 */
class DeltaStream implements BookStream {
  readonly pace: Pace = 'delta'
  private readonly form: DeltaForm
  private readonly book: FollowedBook
  private readonly window: BookWindow
  private readonly now: () => number
  private readonly pacer: Pacer
  /** What the last delta left, by price. */
  private readonly shown: Readonly<Record<Side, Map<string, string>>>
  private id: number
  private t: number

  constructor(
    form: DeltaForm,
    level: number,
    ms: number,
    book: FollowedBook,
    outlet: Outlet,
    now: () => number,
  ) {
    this.form = form
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
      return this.form.levels(levels.map(({ price, amount }) => [price, amount]))
    }
    const { form } = this
    return pushFrame(this.now(), form.channel, form.full(this.t, this.id, side('buy'), side('sell')))
  }
  close(): void {
    this.pacer.stop()
    this.book.close(this.window)
  }
  private next(): string {
    const { book, form } = this
    const changed = this.window.take(book)
    for (const side of SIDES)
      for (const [price, amount] of changed[side])
        if (amount === '0') this.shown[side].delete(price)
        else this.shown[side].set(price, amount)
    const U = this.id + 1
    this.id = book.id
    this.t = millis(book.at)
    const [b, a] = [form.levels(changed.buy), form.levels(changed.sell)]
    return pushFrame(this.now(), form.channel, form.delta(this.t, U, this.id, b, a))
  }
}
