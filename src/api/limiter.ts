/** What a request may still do, as the headers tell it. */
export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remain: number
  /** Microseconds: when the next request passes; the present when one passes now. */
  readonly resetAt: number
}

/** A limit under the multiplier of all limits; null: they are off. */
export const scaled = (limit: number, multiplier: number | null): number =>
  multiplier === null ? Infinity : Math.max(1, Math.floor(limit * multiplier))

/**
 * Strict sliding windows: in any window of the rule's length exactly N requests pass. Each bucket keeps the
 * times of the requests that passed in a ring; the oldest of N decides about the next one.
 */
export class Limiter {
  private readonly rings = new Map<string, Ring>()
  /** null: no limits at all. */
  private readonly multiplier: number | null
  private lastSweep = 0

  constructor(multiplier: number | null) {
    this.multiplier = multiplier
  }
  /** Counts a request, unless it is refused. One that counts as several passes when there is room for all of them. */
  admit(bucket: string, requests: number, seconds: number, now: number, cost = 1): Allowance {
    return this.check(bucket, requests, seconds, now, true, cost)
  }
  /** Looks without counting. */
  peek(bucket: string, requests: number, seconds: number, now: number, cost = 1): Allowance {
    return this.check(bucket, requests, seconds, now, false, cost)
  }
  /** As it stands; undefined: nobody has used it within its span. */
  find(bucket: string, requests: number, seconds: number, now: number): Allowance | undefined {
    const ring = this.multiplier === null ? undefined : this.rings.get(bucket)
    if (ring === undefined) return undefined
    ring.forget(now - ring.window)
    return ring.size === 0 ? undefined : this.check(bucket, requests, seconds, now, false)
  }
  clear(): void {
    this.rings.clear()
    // A new world's clock may stand before the old one's.
    this.lastSweep = 0
  }

  private check(
    bucket: string,
    requests: number,
    seconds: number,
    now: number,
    count: boolean,
    cost = 1,
  ): Allowance {
    if (this.multiplier === null) return { allowed: true, limit: requests, remain: requests, resetAt: now }
    const limit = Math.max(1, Math.floor(requests * this.multiplier))
    const window = seconds * 1e6
    this.sweep(now)
    let ring = this.rings.get(bucket)
    if (ring === undefined) this.rings.set(bucket, (ring = new Ring(limit, window)))
    // Whoever may do more from today on needs more room.
    else if (ring.limit < limit) ring.limit = limit
    ring.forget(now - window)
    const over = ring.size + cost - limit
    if (over > 0) {
      // One that can never pass is told when the window is empty.
      const last = ring.size === 0 ? now : ring.at(Math.min(over, ring.size) - 1)
      return { allowed: false, limit, remain: Math.max(0, limit - ring.size), resetAt: last + window }
    }
    if (count) for (let i = 0; i < cost; i++) ring.push(now)
    return { allowed: true, limit, remain: limit - ring.size, resetAt: now }
  }
  /** Buckets that nobody uses any more must not pile up. */
  private sweep(now: number): void {
    if (now - this.lastSweep < 10e6) return
    this.lastSweep = now
    for (const [bucket, ring] of this.rings) {
      ring.forget(now - ring.window)
      if (ring.size === 0) this.rings.delete(bucket)
    }
  }
}

/** A queue of times in a circular array that grows up to its limit. */
class Ring {
  readonly window: number
  limit: number
  private times: Float64Array
  private head = 0
  size = 0
  constructor(limit: number, window: number) {
    this.limit = limit
    this.window = window
    this.times = new Float64Array(Math.min(limit, 8))
  }
  /** The oldest is 0. */
  at(place: number): number {
    return this.times[(this.head + place) % this.times.length]!
  }
  push(time: number): void {
    if (this.size === this.times.length) this.grow()
    this.times[(this.head + this.size++) % this.times.length] = time
  }
  /** A request exactly one window old no longer counts. */
  forget(until: number): void {
    while (this.size > 0 && this.times[this.head]! <= until) {
      this.head = (this.head + 1) % this.times.length
      this.size--
    }
  }
  private grow(): void {
    const bigger = new Float64Array(Math.min(this.limit, this.times.length * 2))
    for (let i = 0; i < this.size; i++) bigger[i] = this.times[(this.head + i) % this.times.length]!
    this.times = bigger
    this.head = 0
  }
}
