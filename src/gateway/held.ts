import type { EventEmitter } from 'node:events'

/** Something that can't be sent now, and may be soon. */
export interface HeldBack {
  /** About what it holds in memory. */
  readonly bytes: number
  /** Says `close` when nobody waits for it any more. */
  readonly client: EventEmitter
  readonly go: () => void
  readonly refuse: (why: string) => void
}
export interface HeldBounds {
  readonly count: number
  readonly bytes: number
  readonly ms: number
}
interface Entry extends HeldBack {
  readonly since: number
  readonly forget: () => void
}
export const HELD_BOUNDS: HeldBounds = { count: 5_000, bytes: 128 * 1024 * 1024, ms: 10_000 }

/** What came while no core was there: bounded in number, bytes and time, and let go in its order. */
export class Held {
  private readonly bounds: HeldBounds
  private readonly entries = new Set<Entry>()
  private bytes = 0
  private timer: NodeJS.Timeout | undefined

  constructor(bounds: HeldBounds = HELD_BOUNDS) {
    this.bounds = bounds
  }
  get size(): number {
    return this.entries.size
  }
  add(held: HeldBack): void {
    if (this.entries.size >= this.bounds.count || this.bytes + held.bytes > this.bounds.bytes) {
      held.refuse('the platform is away for a moment, and too much waits for it; send it again in a second')
      return
    }
    const entry: Entry = { ...held, since: performance.now(), forget: () => this.remove(entry) }
    held.client.on('close', entry.forget)
    this.entries.add(entry)
    this.bytes += held.bytes
    this.watch()
  }
  /** A core is there. */
  release(): void {
    for (const entry of [...this.entries]) {
      if (!this.remove(entry)) continue
      entry.go()
    }
  }
  private remove(entry: Entry): boolean {
    if (!this.entries.delete(entry)) return false
    this.bytes -= entry.bytes
    entry.client.off('close', entry.forget)
    return true
  }
  /** The first is the oldest. */
  private watch(): void {
    const [first] = this.entries
    if (first === undefined || this.timer !== undefined) return
    this.timer = setTimeout(
      () => {
        this.timer = undefined
        const now = performance.now()
        for (const entry of [...this.entries]) {
          if (now - entry.since < this.bounds.ms) break
          if (this.remove(entry))
            entry.refuse(`no core has answered for ${this.bounds.ms / 1000} s; send it again in a second`)
        }
        this.watch()
      },
      Math.max(1, first.since + this.bounds.ms - performance.now()),
    )
  }
}
