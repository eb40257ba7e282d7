/**
 * Rows whose text is remembered; twice as many at most. More of them would grow old before they are forgotten, and be
 * collected at the expense of everybody's requests.
 */
const GENERATION = 512

/**
 * The texts of rows that were written lately. The row that a batch changes is, more often than not, one that a batch
 * before it wrote: its text need not be made again to tell what was there.
 */
export class RowTexts {
  private recent = new Map<object, string>()
  private older = new Map<object, string>()

  get(row: object): string | undefined {
    return this.recent.get(row) ?? this.older.get(row)
  }
  keep(row: object, text: string): void {
    if (this.recent.size >= GENERATION) {
      this.older = this.recent
      this.recent = new Map()
    }
    this.recent.set(row, text)
  }
}
