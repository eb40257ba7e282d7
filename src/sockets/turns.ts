import { scaled } from '../api/limiter.ts'

/**
 * What all connections of an address may send in a second: enough for 300 of them that each place and cancel ten orders.
 * As many at once.
 */
export const FRAMES_OF_ADDRESS = 6_000
const TICK_MS = 10

/** A connection that is held back. */
export interface Waiter {
  /** Hands on the oldest of the frames that it kept. False: it keeps none any more. */
  handOn(now: number): boolean
}
interface Share {
  left: number
  at: number
  readonly waiting: Waiter[]
}
/**
 * In whose turn frames are handed on. Each connection has a bound of its own, but an address may have hundreds of them:
 * what is beyond its share waits, one frame of each connection after the other, and nothing more is read from those that
 * wait. So nobody is cut for what his neighbours send.
 */
export class Turns {
  private readonly shares = new Map<string, Share>()
  private readonly held = new Set<Share>()
  private readonly most: number
  private timer: NodeJS.Timeout | undefined

  constructor(rateLimits: number | null) {
    this.most = scaled(FRAMES_OF_ADDRESS, rateLimits)
  }
  /** Takes a frame's turn. False: it must wait. */
  take(address: string, now: number): boolean {
    if (this.most === Infinity) return true
    const share = this.shareOf(address, now)
    if (share.waiting.length > 0 || share.left < 1) return false
    share.left--
    return true
  }
  /** Counts what happened already. False: what comes next must wait. */
  owe(address: string, now: number): boolean {
    if (this.most === Infinity) return true
    const share = this.shareOf(address, now)
    share.left = Math.max(-this.most, share.left - 1)
    return share.left >= 0
  }
  wait(address: string, waiter: Waiter, now: number): void {
    const share = this.shareOf(address, now)
    share.waiting.push(waiter)
    this.held.add(share)
    this.timer ??= setInterval(this.tick, TICK_MS)
  }
  /** Whoever has been quiet for long enough is forgotten. */
  sweep(now: number): void {
    for (const [address, share] of this.shares)
      if (share.waiting.length === 0 && this.refilled(share, now).left === this.most)
        this.shares.delete(address)
  }
  end(): void {
    clearInterval(this.timer)
  }

  private readonly tick = (): void => {
    const now = performance.now()
    for (const share of this.held) {
      this.refilled(share, now)
      const { waiting } = share
      while (share.left >= 1 && waiting.length > 0) {
        const waiter = waiting.shift()!
        share.left--
        if (waiter.handOn(now)) waiting.push(waiter)
      }
      if (waiting.length === 0) this.held.delete(share)
    }
    if (this.held.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
  private shareOf(address: string, now: number): Share {
    const share = this.shares.get(address)
    if (share !== undefined) return this.refilled(share, now)
    const fresh: Share = { left: this.most, at: now, waiting: [] }
    this.shares.set(address, fresh)
    return fresh
  }
  private refilled(share: Share, now: number): Share {
    share.left = Math.min(this.most, share.left + ((now - share.at) * this.most) / 1_000)
    share.at = now
    return share
  }
}
