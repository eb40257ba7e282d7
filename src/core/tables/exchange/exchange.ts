import { ZERO, type Amount, type Price } from '../../../money/amount.ts'
import { Table, type Own, type TableSpec, type Tx } from '../../../machine/table.ts'
import { Book } from './book.ts'
import type { Candles } from './candles.ts'
import { isClientText, type Order, type Placed, type OrderRow } from './order.ts'
import { Trades, type Trade } from './trades.ts'

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
  /** Base that was ever traded. */
  readonly volume: Amount
}
const marketSpec = (name: string): TableSpec<MarketFigures> => ({
  name,
  key: ['pair'],
  columns: {
    pair: 'text',
    book_id: 'int',
    sequence: 'int',
    last: 'amount',
    update_at: 'int',
    volume: 'amount',
  },
})
export const SPOT_MARKET = marketSpec('spot_market')
export const CONTRACT_MARKET = marketSpec('contract_market')

const NO_PAIRS: readonly string[] = []

/** The open orders of one user by market. Who asks about a market places an order there next, as a rule. */
class OpenLists {
  readonly byPair = new Map<string, Placed[]>()
  private pair: string | undefined
  private list: Placed[] | undefined

  get(pair: string): Placed[] | undefined {
    if (pair === this.pair) return this.list
    this.pair = pair
    return (this.list = this.byPair.get(pair))
  }
  make(pair: string): Placed[] {
    const list: Placed[] = []
    this.byPair.set(pair, list)
    if (pair === this.pair) this.list = list
    return list
  }
  drop(pair: string): void {
    this.byPair.delete(pair)
    if (pair === this.pair) this.list = undefined
  }
}

/** The tables of a venue. */
export interface VenueTables {
  readonly order: TableSpec<Order>
  readonly market: TableSpec<MarketFigures>
  readonly trade: TableSpec<Trade>
  readonly candles: Candles
}

/** What every venue keeps in memory: open orders, their books, and the markets' newest figures. */
export class Exchange {
  /** Its spec makes these rows of plain ones. */
  readonly orders: Table<OrderRow>
  readonly figures: Table<MarketFigures>
  readonly trades: Trades
  readonly candles: Candles
  private readonly books = new Map<string, Book>()
  /** The one that was asked for last. */
  private askedPair = ''
  private askedBook: Book | undefined
  /** By user, then by market; in no order. */
  private readonly openByUser = new Map<number, OpenLists>()
  private readonly openByText = new Map<string, number>()
  private readonly findTick: (pair: string) => Price | undefined

  constructor(tables: VenueTables, findTick: (pair: string) => Price | undefined) {
    this.orders = new Table(tables.order) as unknown as Table<OrderRow>
    this.figures = new Table(tables.market)
    this.trades = new Trades(tables.trade)
    this.candles = tables.candles
    this.findTick = findTick
    this.orders.observe((before, after) => {
      const was = before?.status === 'open' ? before : undefined
      const is = after?.status === 'open' ? after : undefined
      if (was === undefined && is === undefined) return
      this.indexBook(was, is)
      if (is === undefined) this.closed(was!)
      else if (was === undefined) this.opened(is)
      else if (was.placed !== is.placed) this.amended(was.placed, is.placed)
      this.follow(was, is)
    })
  }
  /** What a venue keeps of open orders beside this. */
  protected follow(_was: OrderRow | undefined, _is: OrderRow | undefined): void {}

  /** The account that an order in a market belongs to, where a venue has several for each user. */
  protected accountOf(_pair: string): string {
    return ''
  }

  book(pair: string): Book {
    if (pair === this.askedPair && this.askedBook !== undefined) return this.askedBook
    let book = this.books.get(pair)
    if (book === undefined) this.books.set(pair, (book = new Book(this.tickOf(pair))))
    this.askedPair = pair
    return (this.askedBook = book)
  }
  /** A market that counts prices in other ticks now gets a new book of the same orders. */
  followMarkets(): void {
    this.askedBook = undefined
    for (const [pair, book] of this.books) {
      const tick = this.findTick(pair)
      if (tick === undefined || tick === book.tick) continue
      const orders = [...book.queue('buy'), ...book.queue('sell')]
      const other = new Book(tick)
      for (const order of orders) other.insert(order)
      this.books.set(pair, other)
    }
  }
  /** The last trade's price; undefined before the first. */
  lastPrice(pair: string): Price | undefined {
    const last = this.figures.get(pair)?.last
    return last === undefined || last === 0n ? undefined : last
  }
  figuresOf(pair: string): MarketFigures {
    return (
      this.figures.get(pair) ?? {
        pair,
        book_id: 0,
        sequence: 0,
        last: 0n as Price,
        update_at: 0,
        volume: ZERO,
      }
    )
  }
  /** For the present command to write on. */
  writeFigures(tx: Tx, pair: string): Own<MarketFigures> {
    const before = this.figures.get(pair)
    const own = tx.own(before)
    if (own !== undefined) return own
    const { book_id, sequence, last, update_at, volume } = before ?? this.figuresOf(pair)
    const fresh = { pair, book_id, sequence, last, update_at, volume, stamp: tx.stamp }
    tx.replace(this.figures, pair, before, fresh)
    return fresh
  }
  /** The open orders of an account, oldest first. */
  openOrders(userId: number, pair?: string): OrderRow[] {
    const lists = this.openByUser.get(userId)
    if (lists === undefined) return []
    const all = pair === undefined ? [...lists.byPair.values()].flat() : [...(lists.get(pair) ?? [])]
    return all.sort((a, b) => a.id - b.id).map(({ id }) => this.orders.get(id)!)
  }
  /** The markets in which an account has open orders. */
  openPairs(userId: number): string[] {
    return [...(this.openByUser.get(userId)?.byPair.keys() ?? [])].sort()
  }
  /** The same in no order, for who only adds up. */
  openIn(userId: number): Iterable<string> {
    return this.openByUser.get(userId)?.byPair.keys() ?? NO_PAIRS
  }
  hasOpen(userId: number): boolean {
    return this.openByUser.has(userId)
  }
  openCount(userId: number, pair: string): number {
    return this.openByUser.get(userId)?.get(pair)?.length ?? 0
  }
  /** `account`: whose orders those are, where a venue has several for each user. */
  openWithText(userId: number, text: string, account = ''): OrderRow | undefined {
    const id = this.openByText.get(`${userId}/${account}/${text}`)
    return id === undefined ? undefined : this.orders.get(id)
  }
  protected get venueTables(): readonly unknown[] {
    return [this.orders, this.figures, this.trades.table, this.candles.now, this.candles.closed]
  }

  private tickOf(pair: string): Price {
    const tick = this.findTick(pair)
    if (tick === undefined) throw new TypeError(`there are orders, and no market ${pair}`)
    return tick
  }
  private indexBook(was: OrderRow | undefined, is: OrderRow | undefined): void {
    const rested = was !== undefined && was.rank > 0
    const rests = is !== undefined && is.rank > 0
    if (rests) {
      const book = this.book(is.pair)
      if (rested) book.replace(was, is)
      else book.insert(is)
    } else if (rested) this.book(was.pair).remove(was)
  }
  private opened({ placed }: OrderRow): void {
    let lists = this.openByUser.get(placed.user_id)
    if (lists === undefined) this.openByUser.set(placed.user_id, (lists = new OpenLists()))
    const list = lists.get(placed.pair) ?? lists.make(placed.pair)
    placed.openIndex = list.length
    placed.openList = list
    list.push(placed)
    if (isClientText(placed.text)) this.openByText.set(this.textKey(placed), placed.id)
  }
  private amended(was: Placed, is: Placed): void {
    is.openIndex = was.openIndex
    is.openList = was.openList
    is.openList![is.openIndex] = is
  }
  private closed({ placed }: OrderRow): void {
    const list = placed.openList!
    // The last one takes its place: the list has no order to keep.
    const last = list.pop()!
    if (last !== placed) {
      list[placed.openIndex] = last
      last.openIndex = placed.openIndex
    } else if (list.length === 0) {
      const lists = this.openByUser.get(placed.user_id)!
      lists.drop(placed.pair)
      if (lists.byPair.size === 0) this.openByUser.delete(placed.user_id)
    }
    placed.openList = undefined
    if (isClientText(placed.text)) this.openByText.delete(this.textKey(placed))
  }
  private textKey({ user_id, pair, text }: Placed): string {
    return `${user_id}/${this.accountOf(pair)}/${text}`
  }
}
