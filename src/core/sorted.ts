/** How many of a sorted list stand in front: all those at its beginning that `isBefore` says it of. */
export function countBefore<Item>(sorted: readonly Item[], isBefore: (item: Item) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

/** A list that stays sorted. Most changes are near its end, so that is looked at first. */
export class Sorted<Item> {
  readonly items: Item[] = []
  private readonly isBefore: (one: Item, other: Item) => boolean

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.isBefore = isBefore
  }
  get last(): Item | undefined {
    const { length } = this.items
    return length === 0 ? undefined : this.items[length - 1]
  }
  add(item: Item): void {
    const place = this.placeOf(item)
    if (place === this.items.length) this.items.push(item)
    else this.items.splice(place, 0, item)
  }
  /** Many at once. */
  addAll(items: readonly Item[]): void {
    for (const item of items) this.items.push(item)
    this.items.sort((one, other) => (this.isBefore(one, other) ? -1 : this.isBefore(other, one) ? 1 : 0))
  }
  /** One that is there, or one of the same place. */
  remove(item: Item): void {
    if (this.last === item) this.items.pop()
    else this.items.splice(this.placeOf(item), 1)
  }
  /** Where an item stands, or would stand. */
  placeOf(item: Item): number {
    const { items, isBefore } = this
    if (items.length > 0 && isBefore(items[items.length - 1]!, item)) return items.length
    return countBefore(items, (one) => isBefore(one, item))
  }
}

/** Ids in ascending order, for work that goes through many rows in portions. */
export class SortedIds extends Sorted<number> {
  constructor() {
    super((one, other) => one < other)
  }
  get size(): number {
    return this.items.length
  }
  *after(id: number): Generator<number> {
    for (let i = this.placeOf(id + 1); i < this.items.length; i++) yield this.items[i]!
  }
}
