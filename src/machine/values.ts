/**
 * Values on their way from one thread to another. A list of them is handed over value by value, and an amount takes a tenth
 * of a microsecond then; so numbers and amounts lie in one block, and words in one text (0086).
 *
 * A number, a flag (1 or 0) and the length of a word each have a slot, NaN and -1 where there is none. An amount has a slot
 * of 64 bits; one that does not fit has `WIDE` there, how many slots follow, and those, lowest bits first. None follow where
 * there is no amount.
 */
export interface Values {
  readonly slots: Float64Array
  readonly words: string
}
/** The one number of 64 bits that no amount is written as. */
const WIDE = -(2n ** 63n)
export const [LOWEST, HIGHEST] = [WIDE + 1n, 2n ** 63n - 1n]
const SLOT = 64n
const BEGIN_SLOTS = 256
/** More are not kept for the next batch. */
const KEPT_SLOTS = 65_536

/** Written on by the functions that `codec.ts` makes for rows. */
export class ValueSink {
  slots = new Float64Array(BEGIN_SLOTS)
  amounts = new BigInt64Array(this.slots.buffer)
  at = 0
  words = ''

  /** For so many slots more. */
  room(count: number): void {
    const needed = this.at + count
    if (needed <= this.slots.length) return
    const larger = new Float64Array(Math.max(needed, 2 * this.slots.length))
    larger.set(this.slots.subarray(0, this.at))
    this.slots = larger
    this.amounts = new BigInt64Array(larger.buffer)
  }
  number(value: number): void {
    this.room(1)
    this.slots[this.at++] = value
  }
  word(text: string): void {
    this.number(text.length)
    this.words += text
  }
  /** An amount that does not fit, or none; then there is room for `left` slots more. */
  wide(at: number, amount: bigint | null | undefined, left: number): number {
    this.at = at
    let count = 0
    let rest = amount ?? undefined
    // Nearly all of them, a price say, have two lanes.
    this.room(4 + left)
    this.amounts[at] = WIDE
    for (at += 2; rest !== undefined; count++) {
      if (count > 1) {
        this.at = at
        this.room(1 + left)
      }
      // An element takes the lowest 64 bits.
      this.amounts[at++] = rest
      rest = rest < LOWEST || rest > HIGHEST ? rest >> SLOT : undefined
    }
    this.slots[at - count - 1] = count
    return (this.at = at)
  }
  /** All that was written; it begins anew. */
  take(): Values {
    const values = { slots: this.slots.slice(0, this.at), words: this.words }
    if (this.slots.length > KEPT_SLOTS) {
      this.slots = new Float64Array(BEGIN_SLOTS)
      this.amounts = new BigInt64Array(this.slots.buffer)
    }
    this.at = 0
    this.words = ''
    return values
  }
}

/** Reads them in the order in which they were written. */
export class ValueSource {
  readonly slots: Float64Array
  readonly amounts: BigInt64Array
  readonly words: string
  at = 0
  /** In the words. */
  begin = 0

  constructor({ slots, words }: Values) {
    this.slots = slots
    this.amounts = new BigInt64Array(slots.buffer, slots.byteOffset, slots.length)
    this.words = words
  }
  get done(): boolean {
    return this.at >= this.slots.length
  }
  /** All of it was read, and nothing that is not there. */
  get whole(): boolean {
    return this.at === this.slots.length && this.begin === this.words.length
  }
  number(): number {
    return this.slots[this.at++]!
  }
  word(): string {
    return this.words.slice(this.begin, (this.begin += this.number()))
  }
  /** Behind `WIDE`. */
  wide(): bigint | null {
    let count = this.number()
    if (count === 0) return null
    this.at += count
    let amount = this.amounts[this.at - 1]!
    for (let i = this.at - 2; --count > 0; i--)
      amount = (amount << SLOT) | BigInt.asUintN(64, this.amounts[i]!)
    return amount
  }
}
