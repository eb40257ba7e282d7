const PAGE_SIZE = 1024

/** Whole numbers above 0 by numbers that count up; 0: none. A page takes four bytes for each. */
class Links {
  private readonly pages: (Int32Array | undefined)[] = []

  get(key: number): number {
    return this.pages[Math.floor(key / PAGE_SIZE)]?.[key % PAGE_SIZE] ?? 0
  }
  set(key: number, value: number): void {
    const { pages } = this
    const number = Math.floor(key / PAGE_SIZE)
    while (pages.length <= number) pages.push(undefined)
    const page = (pages[number] ??= new Int32Array(PAGE_SIZE))
    page[key % PAGE_SIZE] = value
  }
}

/**
 * Whose accounts are which, by their ids, whichever way they came into memory: a chain, which stays while balances change. A
 * list for each owner would take as much memory as a third of their accounts.
 */
export class Owned {
  private readonly first = new Links()
  private readonly last = new Links()
  private readonly counts = new Links()
  private readonly behind = new Links()

  count(owner: number): number {
    return this.counts.get(owner)
  }
  /** 0: there is none. */
  firstOf(owner: number): number {
    return this.first.get(owner)
  }
  /** The owner's next one; 0: it was the last. */
  after(id: number): number {
    return this.behind.get(id)
  }
  add(owner: number, id: number): void {
    const last = this.last.get(owner)
    this.counts.set(owner, this.counts.get(owner) + 1)
    if (last < id) {
      this.join(owner, last, id, 0)
      return
    }
    // Whoever follows another process hears of rows in an order of their own.
    let before = 0
    let behind = this.first.get(owner)
    while (behind < id) {
      before = behind
      behind = this.behind.get(behind)
    }
    this.join(owner, before, id, behind)
  }
  private join(owner: number, before: number, id: number, behind: number): void {
    if (before === 0) this.first.set(owner, id)
    else this.behind.set(before, id)
    this.behind.set(id, behind)
    if (behind === 0) this.last.set(owner, id)
  }
  /** Of an account that was opened and is taken back: most often the last one. */
  remove(owner: number, id: number): void {
    let before = 0
    for (let one = this.first.get(owner); one !== id; one = this.behind.get(one)) {
      if (one === 0) throw new TypeError(`account ${id} is not among those of ${owner}`)
      before = one
    }
    const behind = this.behind.get(id)
    if (before === 0) this.first.set(owner, behind)
    else this.behind.set(before, behind)
    if (behind === 0) this.last.set(owner, before)
    this.behind.set(id, 0)
    this.counts.set(owner, this.counts.get(owner) - 1)
  }
}

const SLOTS = 4096

/**
 * Where accounts were found last, or that there is none, by owner and purpose: who books once asks again at once. Each pair
 * has one slot, which others may take; all are forgotten when an account comes or goes.
 */
export class Found {
  private readonly owners = new Float64Array(SLOTS)
  /** 0: an empty slot. */
  private readonly purposes = new Int32Array(SLOTS)
  private readonly ids = new Float64Array(SLOTS)
  private some = false

  slotOf(owner: number, purpose: number): number {
    return (owner * 31 + purpose) & (SLOTS - 1)
  }
  knows(slot: number, owner: number, purpose: number): boolean {
    return this.purposes[slot] === purpose && this.owners[slot] === owner
  }
  /** 0: there is none. */
  idIn(slot: number): number {
    return this.ids[slot]!
  }
  keep(slot: number, owner: number, purpose: number, id: number): void {
    this.owners[slot] = owner
    this.purposes[slot] = purpose
    this.ids[slot] = id
    this.some = true
  }
  forget(): void {
    if (!this.some) return
    this.purposes.fill(0)
    this.some = false
  }
}
