/**
 * The platform's one clock. Microseconds, strictly increasing, so that a time is also an order. Whatever becomes of
 * the wall clock, nobody is told an earlier time than somebody was before.
 */
export class Clock {
  private last = 0
  /** The latest that was only looked at. */
  private seen = 0
  private offset = 0
  private readonly wall: () => number
  /**
   * The real time, where it counts beside this clock for what clients sign and bound (a sandbox, unless
   * KONTOR_TIMESTAMPS is strict): ordinary clients go on working while the clock is moved.
   */
  readonly real: (() => number) | undefined

  constructor(wall: () => number = () => Date.now() * 1000, real?: () => number) {
    this.wall = wall
    this.real = real
  }
  /** A new moment: no two calls give the same. */
  now(): number {
    this.last = Math.max(this.last + 1, this.seen, this.wall() + this.offset)
    return this.last
  }
  /** The time, for looking only. */
  peek(): number {
    return (this.seen = Math.max(this.last, this.seen, this.wall() + this.offset))
  }
  /** How far the wall clock is behind what it was: it was set back, or the last run knew a later time. */
  get aheadOfWall(): number {
    return Math.max(0, Math.max(this.last, this.seen) - this.wall() - this.offset)
  }
  seconds(): number {
    return Math.floor(this.peek() / 1e6)
  }
  /** Distance from the wall clock in microseconds. */
  get distance(): number {
    return this.offset
  }
  set distance(micros: number) {
    this.offset = micros
  }
  /** Never again before this moment: the last one that a store has seen. */
  atLeast(micros: number): void {
    this.last = Math.max(this.last, micros)
  }
  /** The distance that makes it this moment now. */
  distanceTo(micros: number): number {
    return micros - this.wall()
  }
  /** After a reset: the world begins anew at the wall clock's time. */
  restart(): void {
    this.last = 0
    this.seen = 0
    this.offset = 0
  }
}
