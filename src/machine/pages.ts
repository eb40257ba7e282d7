const PAGE_SIZE = 1024

interface Page<Row> {
  readonly rows: (Row | undefined)[]
  used: number
}

/**
 * Rows by numbers that count up. A number leads to its row by two indexes, where a large map hashes, and copies
 * itself again and again while rows come and go. A page that is empty is given back.
 */
export class Pages<Row> {
  private readonly pages: (Page<Row> | undefined)[] = []

  /** Any number may be asked for, a client's too. */
  get(key: number): Row | undefined {
    return this.pages[Math.floor(key / PAGE_SIZE)]?.rows[key % PAGE_SIZE]
  }
  set(key: number, row: Row | undefined): void {
    const { pages } = this
    const number = Math.floor(key / PAGE_SIZE)
    let page = pages[number]
    if (page === undefined) {
      if (row === undefined) return
      while (pages.length < number) pages.push(undefined)
      pages[number] = page = { rows: new Array<Row | undefined>(PAGE_SIZE).fill(undefined), used: 0 }
    }
    const at = key % PAGE_SIZE
    if (page.rows[at] === undefined) {
      if (row !== undefined) page.used++
    } else if (row === undefined && --page.used === 0) {
      pages[number] = undefined
      return
    }
    page.rows[at] = row
  }
  /** In the order of their numbers. */
  *values(): Generator<Row> {
    for (const page of this.pages) for (const row of page?.rows ?? []) if (row !== undefined) yield row
  }
}
