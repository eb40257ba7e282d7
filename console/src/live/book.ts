import { dec, type Decimal } from '../lib/decimal.ts'

export interface Level {
  readonly price: string
  readonly at: Decimal
  readonly amount: string
  readonly size: Decimal
}
export type Side = 'bids' | 'asks'
type Row = readonly [price: string, amount: string] | { readonly p: string; readonly s: number | string }
/** What the channels of deltas push: a whole book, or what changed since. */
export interface BookPush {
  readonly full?: boolean
  readonly U?: number
  readonly u: number
  readonly b?: readonly Row[]
  readonly a?: readonly Row[]
}

/** Follows a market's book as docs/websocket.md says: level by level the platform's book at its id. */
export class Book {
  bids: Level[] = []
  asks: Level[] = []
  id = 0
  /** The id of the last change of the book by time of arrival; undefined: no whole book came yet. */
  ready = false

  /** False: a delta is missing; begin again. */
  apply(push: BookPush): boolean {
    if (push.full === true) {
      this.bids = (push.b ?? []).map(level).sort((a, b) => (a.at < b.at ? 1 : -1))
      this.asks = (push.a ?? []).map(level).sort((a, b) => (a.at > b.at ? 1 : -1))
      this.id = push.u
      this.ready = true
      return true
    }
    if (!this.ready) return false
    if (push.u <= this.id) return true
    if ((push.U ?? push.u) > this.id + 1) {
      this.ready = false
      return false
    }
    for (const row of push.b ?? []) set(this.bids, level(row), -1)
    for (const row of push.a ?? []) set(this.asks, level(row), 1)
    this.id = push.u
    return true
  }
}
function level(row: Row): Level {
  const [price, amount] = 'p' in row ? [row.p, String(row.s)] : row
  return { price, at: dec(price), amount, size: dec(amount) }
}

/** The list is sorted by price, upwards (1) or downwards (-1). */
function set(list: Level[], next: Level, direction: 1 | -1): void {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const before = direction === 1 ? list[middle]!.at < next.at : list[middle]!.at > next.at
    if (before) low = middle + 1
    else high = middle
  }
  const there = list[low]?.at === next.at
  if (next.size === 0n) {
    if (there) list.splice(low, 1)
  } else list.splice(low, there ? 1 : 0, next)
}

export interface Grouped {
  readonly at: Decimal
  readonly size: Decimal
  /** Of this level and all better ones. */
  readonly total: Decimal
}
/** Levels joined to steps: bids down, asks up, so that no price looks better than it is. */
export function group(levels: readonly Level[], side: Side, step: Decimal, count: number): Grouped[] {
  const rows: { at: Decimal; size: Decimal; total: Decimal }[] = []
  let total = 0n
  for (const { at, size } of levels) {
    const rest = at % step
    const shown = rest === 0n ? at : side === 'bids' ? at - rest : at - rest + step
    const last = rows.at(-1)
    if (last?.at !== shown) {
      if (rows.length === count) break
      rows.push({ at: shown, size: 0n, total: 0n })
    }
    const row = rows.at(-1)!
    total += size
    row.size += size
    row.total = total
  }
  return rows
}
