import type { Price } from '../../money/amount.ts'
import { Table, type TableSpec } from '../table.ts'
import type { Market } from '../world/markets.ts'
import { Activity } from './activity.ts'
import { Book } from './book.ts'
import { Candles, type Candle } from './candles.ts'
import { Countdowns } from './countdown.ts'
import { SPOT_ORDER, isClientText, type Order } from './order.ts'
import { PriceOrders } from './price-orders.ts'
import { Trades } from './trades.ts'

/** What a market remembers beside its orders. */
export interface MarketFigures {
  readonly pair: string
  /** Counts the changes of the book. */
  readonly book_id: number
  /** Counts the trades. */
  readonly sequence: number
  /** Of the last trade; 0 before the first. */
  readonly last: Price
  /** Microseconds of the book's last change. */
  readonly update_at: number
}
export const SPOT_MARKET: TableSpec<MarketFigures> = {
  name: 'spot_market',
  key: ['pair'],
  columns: { pair: 'text', book_id: 'int', sequence: 'int', last: 'amount', update_at: 'int' },
}

/** Candles from before the platform's own first trade. */
export interface PriceHistory {
  /** Oldest first, only those that end before the history does. */
  candles(pair: string, seconds: number, from: number, to: number): Candle[]
  minutes(pair: string, from: number, to: number): Candle[]
}

/** Everything spot trading keeps in memory: open orders, their books, and the markets' newest figures. */
export class Spot {
  /** Prices from before the first start, where the sandbox has made some up. */
  history: PriceHistory | undefined
  readonly orders = new Table(SPOT_ORDER)
  readonly figures = new Table(SPOT_MARKET)
  readonly trades = new Trades()
  readonly candles = new Candles()
  readonly priceOrders = new PriceOrders()
  readonly countdowns = new Countdowns()
  readonly activity = new Activity()
  private readonly books = new Map<string, Book>()
  private readonly openByUser = new Map<number, Map<number, Order>>()
  private readonly openByText = new Map<string, Order>()
  private readonly tickOf: (pair: string) => Price

  constructor(tickOf: (pair: string) => Price) {
    this.tickOf = tickOf
    this.orders.observe((before, after) => {
      const was = before?.status === 'open' ? before : undefined
      const is = after?.status === 'open' ? after : undefined
      if (was === undefined && is === undefined) return
      this.indexBook(was, is)
      this.indexOwner(was, is)
    })
  }
  book(pair: string): Book {
    let book = this.books.get(pair)
    if (book === undefined) this.books.set(pair, (book = new Book(this.tickOf(pair))))
    return book
  }
  /** The last trade's price; undefined before the first. */
  lastPrice(pair: string): Price | undefined {
    const last = this.figures.get(pair)?.last
    return last === undefined || last === 0n ? undefined : last
  }
  figuresOf(pair: string): MarketFigures {
    return this.figures.get(pair) ?? { pair, book_id: 0, sequence: 0, last: 0n as Price, update_at: 0 }
  }
  /** The open orders of an account, oldest first. */
  openOrders(userId: number, pair?: string): Order[] {
    const open = this.openByUser.get(userId)
    if (open === undefined) return []
    const list =
      pair === undefined ? [...open.values()] : [...open.values()].filter((order) => order.pair === pair)
    return list.sort((a, b) => a.id - b.id)
  }
  openCount(userId: number): number {
    return this.openByUser.get(userId)?.size ?? 0
  }
  openWithText(userId: number, text: string): Order | undefined {
    return this.openByText.get(`${userId}/${text}`)
  }
  get tables(): readonly unknown[] {
    return [
      this.orders,
      this.figures,
      this.trades.table,
      this.candles.now,
      this.candles.closed,
      this.priceOrders.table,
      this.countdowns.table,
      this.activity.days,
      this.activity.ratios,
    ]
  }

  private indexBook(was: Order | undefined, is: Order | undefined): void {
    const rested = was !== undefined && was.rank > 0
    const rests = is !== undefined && is.rank > 0
    if (rests) {
      const book = this.book(is.pair)
      if (rested) book.replace(was, is)
      else book.insert(is)
    } else if (rested) this.book(was.pair).remove(was)
  }
  private indexOwner(was: Order | undefined, is: Order | undefined): void {
    const order = (is ?? was)!
    let open = this.openByUser.get(order.user_id)
    if (open === undefined) this.openByUser.set(order.user_id, (open = new Map<number, Order>()))
    if (is !== undefined) open.set(is.id, is)
    else {
      open.delete(order.id)
      if (open.size === 0) this.openByUser.delete(order.user_id)
    }
    if (isClientText(order.text)) {
      const key = `${order.user_id}/${order.text}`
      if (is !== undefined) this.openByText.set(key, is)
      else this.openByText.delete(key)
    }
  }
}

/** Prices in ticks are plain numbers: a market's prices must stay below 2^53 of them. */
export const TICKS_MAX = BigInt(Number.MAX_SAFE_INTEGER)
export const tickCount = (price: Price, market: Market): bigint => price / market.tick
