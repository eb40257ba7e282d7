/** Ids in ascending order, for work that goes through many rows in portions. Newcomers nearly always come last. */
export class SortedIds {
  private readonly ids: number[] = []

  add(id: number): void {
    const place = this.placeOf(id)
    if (place === this.ids.length) this.ids.push(id)
    else this.ids.splice(place, 0, id)
  }
  remove(id: number): void {
    this.ids.splice(this.placeOf(id), 1)
  }
  get size(): number {
    return this.ids.length
  }
  *after(id: number): Generator<number> {
    for (let i = this.placeOf(id + 1); i < this.ids.length; i++) yield this.ids[i]!
  }
  /** Where an id stands, or would stand. */
  private placeOf(id: number): number {
    let low = 0
    let high = this.ids.length
    if (high > 0 && this.ids[high - 1]! < id) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.ids[middle]! < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
