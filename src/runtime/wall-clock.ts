import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const EVERY_MS = 500
/** Clocks are set by small amounts all the time. */
const STEP_MS = 1_000
const DATABASE_EVERY_MS = 10_000
export const DATABASE_OFF_SECONDS = 5

export interface WallClockParts {
  readonly clock: Clock
  readonly store: Store
  readonly log: Log
  /** Milliseconds: the wall clock, and one that nobody sets. */
  readonly wall?: () => number
  readonly steady?: () => number
}

/**
 * Watches what the platform's time is made from. When the wall clock is set back, the platform's time stands until it
 * has caught up: it never goes back. A database whose clock says something else belongs to somebody who should know.
 */
export class WallClockGuard {
  private readonly parts: WallClockParts
  private readonly wall: () => number
  private readonly steady: () => number
  private timers: NodeJS.Timeout[] = []
  private last: { readonly wall: number; readonly steady: number }
  private off = false
  /** How often it was set back, and how far this machine's clock is ahead of the database's, in seconds. */
  stepsBack = 0
  databaseOffset = 0

  constructor(parts: WallClockParts) {
    this.parts = parts
    this.wall = parts.wall ?? (() => Date.now())
    this.steady = parts.steady ?? (() => performance.now())
    this.last = { wall: this.wall(), steady: this.steady() }
  }
  get warnings(): string[] {
    const behind = this.behindSeconds
    return [
      ...(behind * 1000 > STEP_MS ? [this.standing(behind)] : []),
      ...(this.off ? [this.offText()] : []),
    ]
  }
  /** How far the platform's time is ahead of the wall clock because that was set back. */
  get behindSeconds(): number {
    return this.parts.clock.aheadOfWall / 1e6
  }
  get comparesDatabase(): boolean {
    return this.parts.store.kind === 'postgres'
  }
  start(): void {
    this.last = { wall: this.wall(), steady: this.steady() }
    this.timers = [setInterval(() => this.look(), EVERY_MS)]
    for (const text of this.warnings) this.parts.log.warn(text)
    if (!this.comparesDatabase) return
    void this.compare()
    this.timers.push(setInterval(() => void this.compare(), DATABASE_EVERY_MS))
  }
  stop(): void {
    for (const timer of this.timers) clearInterval(timer)
  }
  look(): void {
    const now = { wall: this.wall(), steady: this.steady() }
    const moved = now.wall - this.last.wall - (now.steady - this.last.steady)
    this.last = now
    if (moved > -STEP_MS) return
    this.stepsBack++
    this.parts.log.warn(`the wall clock was set back by ${seconds(-moved / 1000)} s; ${STANDS}`)
  }
  /** Never fails: a database that does not answer is somebody else's matter. */
  async compare(): Promise<void> {
    const before = this.wall()
    let database: number
    try {
      const [[told]] = (await this.parts.store.query(
        'select extract(epoch from clock_timestamp()) * 1000',
        [],
      )) as [[unknown]]
      database = Number(told)
    } catch {
      return
    }
    this.databaseOffset = offsetOf(before, database, this.wall())
    const off = Math.abs(this.databaseOffset) > DATABASE_OFF_SECONDS
    if (off && !this.off) this.parts.log.warn(this.offText())
    this.off = off
  }
  private offText(): string {
    const { databaseOffset } = this
    const [far, which] = [seconds(Math.abs(databaseOffset)), databaseOffset > 0 ? 'ahead of' : 'behind']
    return `this machine's clock is ${far} s ${which} the database's; set them by the same source`
  }
  private standing(behind: number): string {
    return `the wall clock is ${seconds(behind)} s behind what it was; ${STANDS}`
  }
}
/** Seconds that this clock is ahead of one that was asked between two moments (ms): the doubt counts for it. */
export function offsetOf(before: number, told: number, after: number): number {
  return (told < before ? before - told : told > after ? after - told : 0) / 1000
}
const STANDS = "the platform's time stands until it has caught up"
const seconds = (value: number): string => value.toFixed(1)
