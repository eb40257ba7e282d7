import type { AgentOrder } from '../core/agents/look.ts'
import type { Book } from '../core/tables/exchange/book.ts'
import type { OrderRow, Side } from '../core/tables/exchange/order.ts'
import { amountOf, priceOf, type Price } from '../money/amount.ts'

interface Resting {
  readonly price: bigint
  left: bigint
}
/** How deep a look sees what others have placed: more than one look can take. */
const DEPTH = 100

/**
 * The book as the orders of one look will leave it, as far as their agents can tell: each is decided knowing those
 * before it, and all of them are carried out at once.
 */
export class Sketch {
  readonly cancelled: number[] = []
  readonly placed: AgentOrder[] = []
  private readonly book: Book
  private readonly gone = new Set<number>()
  private readonly mine: Record<Side, Resting[]> = { buy: [], sell: [] }
  private readonly others: Partial<Record<Side, Resting[]>> = {}

  constructor(book: Book) {
    this.book = book
  }
  /** All of these come before the first order. */
  cancel(order: OrderRow): void {
    this.cancelled.push(order.id)
    this.gone.add(order.id)
  }
  /** An order that rests or is refused; tells which, and keeps it only if it rests. */
  rest(side: Side, amount: string, price: string): boolean {
    const facing = this.facing(side)
    const at = priceOf(price)
    const crosses = facing !== undefined && (side === 'buy' ? at >= facing : at <= facing)
    if (crosses) return false
    this.placed.push(['maker', side, amount, price])
    this.mine[side].push({ price: at, left: amountOf(amount) })
    return true
  }
  /** An order that takes what there is up to its price. */
  take(agent: 'noise' | 'momentum', side: Side, amount: string, price: string): void {
    this.placed.push([agent, side, amount, price])
    const bound: bigint = priceOf(price)
    let left: bigint = amountOf(amount)
    for (let best = this.best(side); best !== undefined && left > 0n; best = this.best(side)) {
      if (side === 'buy' ? best.price > bound : best.price < bound) return
      const part = left < best.left ? left : best.left
      best.left -= part
      left -= part
    }
  }
  /** The best price that an order of this side meets. */
  facing(side: Side): Price | undefined {
    return this.best(side)?.price as Price | undefined
  }

  private best(side: Side): Resting | undefined {
    const facing = side === 'buy' ? 'sell' : 'buy'
    let best: Resting | undefined
    for (const list of [this.seen(facing), this.mine[facing]])
      for (const one of list) {
        if (one.left === 0n) continue
        if (best === undefined || (side === 'buy' ? one.price < best.price : one.price > best.price))
          best = one
      }
    return best
  }
  private seen(side: Side): Resting[] {
    const known = this.others[side]
    if (known !== undefined) return known
    const list: Resting[] = []
    for (const order of this.book.queue(side)) {
      if (this.gone.has(order.id)) continue
      if (list.push({ price: order.price, left: order.left }) === DEPTH) break
    }
    return (this.others[side] = list)
  }
}
