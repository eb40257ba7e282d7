import { scaled } from '../api/limiter.ts'

/** So much of a frame costs nothing: orders, batches of them and lists of markets are shorter. */
const FREE = 4 * 1024
/** What is beyond it, of all connections of an address: so much at once, */
export const LONG_AT_ONCE = 4 * 1024 * 1024
/** and so much more in each second. */
const LONG_A_SECOND = 1024 * 1024

interface Used {
  readonly bytes: number
  readonly at: number
}
/** What addresses send in long frames. Reading one takes a thousand times as long as an order: whoever sends many would be served alone. */
export class LongFrames {
  private readonly used = new Map<string, Used>()
  private readonly most: number
  private readonly perMs: number

  constructor(rateLimits: number | null) {
    this.most = scaled(LONG_AT_ONCE, rateLimits)
    this.perMs = scaled(LONG_A_SECOND, rateLimits) / 1_000
  }
  /** False: it is too much. */
  take(address: string, bytes: number, now: number): boolean {
    if (bytes <= FREE || this.most === Infinity) return true
    const used = this.used.get(address)
    const together = (used === undefined ? 0 : this.left(used, now)) + bytes - FREE
    // What is refused is not counted, or whoever shares the address would be shut out with him.
    if (together > this.most) return false
    this.used.set(address, { bytes: together, at: now })
    return true
  }
  /** Whoever has been quiet for long enough is forgotten. */
  sweep(now: number): void {
    for (const [address, used] of this.used) if (this.left(used, now) === 0) this.used.delete(address)
  }
  private left({ bytes, at }: Used, now: number): number {
    return Math.max(0, bytes - (now - at) * this.perMs)
  }
}
