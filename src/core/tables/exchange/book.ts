import { Sorted } from '../../sorted.ts'
import type { Amount, Price } from '../../../money/amount.ts'
import type { Placed, OrderRow, Side, PriceLevel } from './order.ts'

/** One side of a market. Levels are sorted with the best last, so that most changes are near the array's end. */
class BookSide {
  private readonly sorted: Sorted<PriceLevel>
  readonly levels: readonly PriceLevel[]
  private readonly byTick = new Map<number, PriceLevel>()

  constructor(side: Side) {
    this.sorted = new Sorted<PriceLevel>(
      side === 'buy' ? (one, other) => one.tick < other.tick : (one, other) => one.tick > other.tick,
    )
    this.levels = this.sorted.items
  }
  get best(): PriceLevel | undefined {
    const { length } = this.levels
    // To look before the first one of a list takes ten times as long.
    return length === 0 ? undefined : this.levels[length - 1]
  }
  /** The level of a price, made when there is none. */
  level(tick: number, price: Price): PriceLevel {
    let level = this.byTick.get(tick)
    if (level === undefined) {
      level = { tick, price, head: undefined, tail: undefined, amount: 0n }
      this.byTick.set(tick, level)
      this.sorted.add(level)
    }
    return level
  }
  drop(level: PriceLevel): void {
    this.byTick.delete(level.tick)
    this.sorted.remove(level)
  }
}

/**
 * The book of one market: an index of the order table. An order's place follows from its price and its rank
 * alone, so it is the same after a restart, and after an undo put it back.
 */
export class Book {
  readonly buy = new BookSide('buy')
  readonly sell = new BookSide('sell')
  readonly tick: bigint
  size = 0

  constructor(tick: Price) {
    this.tick = tick
  }
  /** The best level that an order of this side would meet. */
  facing(side: Side): PriceLevel | undefined {
    return side === 'buy' ? this.sell.best : this.buy.best
  }
  insert(order: OrderRow): void {
    const { placed, rank } = order
    const side = placed.side === 'buy' ? this.buy : this.sell
    const level = side.level(Number(placed.price / this.tick), placed.price)
    // Nearly always the last: only an undo puts an order back into the middle.
    let previous = level.tail
    while (previous !== undefined && previous.rank > rank) previous = previous.previous
    placed.rank = rank
    placed.level = level
    placed.previous = previous
    placed.next = previous === undefined ? level.head : previous.next
    placed.row = order
    link(placed)
    level.amount += order.shown
    this.size++
  }
  remove(order: OrderRow): void {
    const { placed } = order
    const { previous, next } = placed
    const level = placed.level!
    if (previous === undefined) level.head = next
    else previous.next = next
    if (next === undefined) level.tail = previous
    else next.previous = previous
    level.amount -= order.shown
    placed.row = placed.level = placed.previous = placed.next = undefined
    this.size--
    if (level.head === undefined) (placed.side === 'buy' ? this.buy : this.sell).drop(level)
  }
  /** The same order with other figures: it keeps its place when price and rank are the same. */
  replace(before: OrderRow, after: OrderRow): void {
    if (before.rank !== after.rank || before.price !== after.price) {
      this.remove(before)
      this.insert(after)
      return
    }
    const { placed } = after
    if (placed !== before.placed) {
      placed.level = before.placed.level
      placed.previous = before.placed.previous
      placed.next = before.placed.next
      placed.rank = after.rank
      link(placed)
    }
    placed.row = after
    if (before.shown !== after.shown) placed.level!.amount += after.shown - before.shown
  }
  /** Price levels from the best on, with what they show. */
  depth(side: Side, limit: number): { price: Price; amount: Amount }[] {
    const { levels } = side === 'buy' ? this.buy : this.sell
    const list: { price: Price; amount: Amount }[] = []
    for (let i = levels.length - 1; i >= 0 && list.length < limit; i--)
      list.push({ price: levels[i]!.price, amount: levels[i]!.amount as Amount })
    return list
  }
  /** Resting orders of a side, best first: what a sweep would meet. */
  *queue(side: Side): Generator<OrderRow> {
    const { levels } = side === 'buy' ? this.buy : this.sell
    for (let i = levels.length - 1; i >= 0; i--)
      for (let placed = levels[i]!.head; placed !== undefined; placed = placed.next) yield placed.row!
  }
}

/** Its neighbours in the queue learn that it is there. */
function link(placed: Placed): void {
  const { previous, next } = placed
  if (previous === undefined) placed.level!.head = placed
  else previous.next = placed
  if (next === undefined) placed.level!.tail = placed
  else next.previous = placed
}
