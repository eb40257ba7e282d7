import { Sorted } from '../core/sorted.ts'
import type { Side } from '../core/tables/exchange/order.ts'
import { format, type Amount, type Price } from '../money/amount.ts'

/** Price and what it shows, as clients read them. */
export type LevelText = readonly [price: string, amount: string]
/** What a price shows more, or less. */
export interface LevelChange {
  readonly side: Side
  readonly price: Price
  readonly change: bigint
}
export interface SideLevels {
  readonly buy: readonly { readonly price: Price; readonly amount: Amount }[]
  readonly sell: readonly { readonly price: Price; readonly amount: Amount }[]
}

interface Level {
  readonly price: Price
  amount: bigint
}
/** One side, the best price last. */
class FollowedSide {
  private readonly sorted: Sorted<Level>
  private readonly byPrice = new Map<Price, Level>()
  /** Whether the first price is nearer to the other side of the book. */
  readonly better: (one: Price, other: Price) => boolean

  constructor(side: Side) {
    this.better = side === 'buy' ? (one, other) => one > other : (one, other) => one < other
    this.sorted = new Sorted<Level>((one, other) => this.better(other.price, one.price))
  }
  get size(): number {
    return this.sorted.items.length
  }
  /** Counted from the best, 0. */
  at(rank: number): Level | undefined {
    return this.sorted.items[this.sorted.items.length - 1 - rank]
  }
  amount(price: Price): bigint {
    return this.byPrice.get(price)?.amount ?? 0n
  }
  add(price: Price, change: bigint): void {
    const level = this.byPrice.get(price)
    if (level === undefined) {
      const fresh = { price, amount: change }
      this.byPrice.set(price, fresh)
      this.sorted.add(fresh)
      return
    }
    level.amount += change
    if (level.amount !== 0n) return
    this.byPrice.delete(price)
    this.sorted.remove(level)
  }
}

/**
 * A market's book, put together from what commits say about its levels. Windows on it are told exactly which of their
 * entries a command changed.
 */
export class FollowedBook {
  private readonly sides = { buy: new FollowedSide('buy'), sell: new FollowedSide('sell') }
  private readonly windows = new Set<BookWindow>()
  /** Of the last change. */
  id: number
  /** Microseconds: when it was. */
  at: number

  constructor(levels: SideLevels, id: number, at: number) {
    for (const side of ['buy', 'sell'] as const)
      for (const { price, amount } of levels[side]) this.sides[side].add(price, amount)
    this.id = id
    this.at = at
  }
  /** The best prices of a side, as REST shows them. */
  levels(side: Side, most: number): LevelText[] {
    const list: LevelText[] = []
    const of = this.sides[side]
    for (let rank = 0; rank < most && rank < of.size; rank++) {
      const { price, amount } = of.at(rank)!
      list.push([format(price), format(amount as Amount)])
    }
    return list
  }
  /** What a window of so many prices shows of one; "0": nothing. */
  shown(side: Side, price: Price, most: number): string {
    const of = this.sides[side]
    const amount = of.amount(price)
    if (amount === 0n) return '0'
    const last = of.at(most - 1)
    return last !== undefined && of.better(last.price, price) ? '0' : format(amount as Amount)
  }
  /** The changes of one command, which left the book with this id. */
  apply(changes: readonly LevelChange[], id: number, at: number): void {
    this.id = id
    this.at = at
    if (changes.length === 0) return
    for (const window of this.windows) window.before(this)
    const amounts = changes.map(({ side, price }) => this.sides[side].amount(price))
    for (const { side, price, change } of changes) this.sides[side].add(price, change)
    for (const window of this.windows) window.after(this, changes, amounts)
  }
  open(most: number): BookWindow {
    const window = new BookWindow(most)
    this.windows.add(window)
    return window
  }
  close(window: BookWindow): void {
    this.windows.delete(window)
  }
  /** The last price that a window shows; undefined: it shows all there are. */
  edge(side: Side, most: number): Price | undefined {
    return this.sides[side].at(most - 1)?.price
  }
  better(side: Side, one: Price, other: Price): boolean {
    return this.sides[side].better(one, other)
  }
  /** Prices beyond a rank, from there on. */
  priceAt(side: Side, rank: number): Price | undefined {
    return this.sides[side].at(rank)?.price
  }
}

/** The best so many prices of each side, and which entries of it have changed since somebody took them. */
export class BookWindow {
  readonly most: number
  private changed: Record<Side, Set<Price>> = { buy: new Set(), sell: new Set() }
  private edges: Record<Side, Price | undefined> = { buy: undefined, sell: undefined }

  constructor(most: number) {
    this.most = most
  }
  before(book: FollowedBook): void {
    this.edges = { buy: book.edge('buy', this.most), sell: book.edge('sell', this.most) }
  }
  after(book: FollowedBook, changes: readonly LevelChange[], amounts: readonly bigint[]): void {
    const touched = { buy: false, sell: false }
    for (const [i, { side, price, change }] of changes.entries()) {
      touched[side] = true
      const was = amounts[i]!
      const shown = was !== 0n && within(book, side, price, this.edges[side])
      const shows = was + change !== 0n && within(book, side, price, book.edge(side, this.most))
      if (shown || shows) this.changed[side].add(price)
    }
    for (const side of ['buy', 'sell'] as const) if (touched[side]) this.shifted(book, side, changes)
  }
  /** Prices that no order touched, and that came in or went out because others did. */
  private shifted(book: FollowedBook, side: Side, changes: readonly LevelChange[]): void {
    const was = this.edges[side]
    const is = book.edge(side, this.most)
    if (was === is) return
    if (is !== undefined && (was === undefined || book.better(side, is, was)))
      for (let rank = this.most; ; rank++) {
        const price = book.priceAt(side, rank)
        if (price === undefined || !within(book, side, price, was)) break
        if (!changes.some((one) => one.side === side && one.price === price)) this.changed[side].add(price)
      }
    else
      for (let rank = this.most - 1; rank >= 0; rank--) {
        const price = book.priceAt(side, rank)
        if (price === undefined) continue
        if (within(book, side, price, was)) break
        this.changed[side].add(price)
      }
  }
  /** Sorted, the best first; and from here on anew. */
  take(book: FollowedBook): Record<Side, LevelText[]> {
    const taken = { buy: this.list(book, 'buy'), sell: this.list(book, 'sell') }
    this.changed = { buy: new Set(), sell: new Set() }
    return taken
  }
  private list(book: FollowedBook, side: Side): LevelText[] {
    const prices = [...this.changed[side]].sort((one, other) => (book.better(side, one, other) ? -1 : 1))
    return prices.map((price) => [format(price), book.shown(side, price, this.most)])
  }
}

/** `edge` undefined: there is room for all. */
const within = (book: FollowedBook, side: Side, price: Price, edge: Price | undefined): boolean =>
  edge === undefined || !book.better(side, edge, price)
