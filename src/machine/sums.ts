import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Bytes of a row's term that are counted, as 32-bit lanes. */
const LANES = 4
/** Characters of base64: 132 bits. */
const PREFIX = 22
const ZEROS = '0'.repeat(LANES * 8)

interface Sum {
  /** What stands before a row's text in the hash: a key of this table, short, because every row is hashed with it. */
  readonly prefix: string
  readonly lanes: Int32Array
  text: string | undefined
}

/** What a store's head says about everything below it. */
export interface SealedHead {
  readonly sequence: number
  readonly hash: string
  readonly at: number
  /** JSON: by table, the sum of its rows. */
  readonly sums: string
  /** The migrations that had been done when the sums were made: they say what a row looks like. */
  readonly schema: string
}

/**
 * Keyed sums of rows. Each row that counts (a live one of a table, any one of a log) adds a term that nobody can
 * compute without the key; a batch adds and takes away the terms of what it changes, so that a sum follows its
 * table at the cost of two hashes a row. Whoever changes, adds or removes a row behind the platform's back makes
 * the rows and the sum disagree, and can't mend the sum: the head that holds it is keyed too.
 */
export class Sums {
  readonly key: string
  private readonly sums = new Map<string, Sum>()
  readonly schema: string

  constructor(key: string, schema: string) {
    this.key = key
    this.schema = schema
  }
  /** `row` is its JSON, as it goes to the store. */
  add(table: string, row: string): void {
    this.count(table, row, 1)
  }
  subtract(table: string, row: string): void {
    this.count(table, row, -1)
  }
  private count(table: string, row: string, sign: 1 | -1): void {
    const sum = this.of(table)
    const term = hash('sha256', sum.prefix + row, 'binary')
    const { lanes } = sum
    for (let lane = 0, i = 0; lane < LANES; lane++, i += 4) {
      const value =
        term.charCodeAt(i) |
        (term.charCodeAt(i + 1) << 8) |
        (term.charCodeAt(i + 2) << 16) |
        (term.charCodeAt(i + 3) << 24)
      lanes[lane]! += sign * value
    }
    sum.text = undefined
  }
  private of(table: string): Sum {
    let sum = this.sums.get(table)
    if (sum === undefined) {
      sum = { prefix: this.prefixOf(table), lanes: new Int32Array(LANES), text: ZEROS }
      this.sums.set(table, sum)
    }
    return sum
  }
  private prefixOf(table: string): string {
    return createHmac('sha256', this.key).update(`rows of ${table}`).digest('base64').slice(0, PREFIX)
  }
  textOf(table: string): string {
    const sum = this.of(table)
    sum.text ??= [...sum.lanes].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('')
    return sum.text
  }
  /** Takes one sum as a head tells it. */
  set(table: string, text: string): void {
    const sum = this.of(table)
    for (let lane = 0; lane < LANES; lane++)
      sum.lanes[lane] = parseInt(text.slice(lane * 8, lane * 8 + 8), 16)
    sum.text = undefined
  }
  /** Takes all of them, in place of what it had. */
  setAll(text: string): void {
    this.sums.clear()
    if (text === '') return
    for (const [table, sum] of Object.entries(JSON.parse(text) as Record<string, string>))
      this.set(table, sum)
  }
  clear(): void {
    this.sums.clear()
  }
  /** JSON; a table without rows is left out, because its sum is that of a table that was never written. */
  text(): string {
    const texts: Record<string, string> = {}
    for (const table of [...this.sums.keys()].sort()) {
      const text = this.textOf(table)
      if (text !== ZEROS) texts[table] = text
    }
    return JSON.stringify(texts)
  }
  mac({ sequence, hash, at, sums, schema }: SealedHead): string {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([sequence, hash, at, sums, schema]))
      .digest('hex')
  }
  isMac(head: SealedHead, mac: string): boolean {
    const expected = Buffer.from(this.mac(head))
    const given = Buffer.from(mac)
    return expected.length === given.length && timingSafeEqual(expected, given)
  }
}
