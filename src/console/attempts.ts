import type { AnyCall } from '../api/endpoint.ts'
import { addressBlock } from '../http/words.ts'
import { refuse } from '../labels.ts'

interface Window {
  readonly bucket: string
  readonly max: number
  readonly seconds: number
}
const SWEEP_MS = 60_000
const LONGEST_MS = 3_600_000

/**
 * Guesses of passwords and codes: by name and address together, by name, and by address. One is counted when it begins,
 * so that many at once gain nothing, and taken back when it was right.
 */
export class Attempts {
  private readonly times = new Map<string, number[]>()
  private swept = 0

  /** Refuses, or counts; what comes out takes it back. */
  begin(call: AnyCall, name: string): () => void {
    const now = Date.now()
    this.sweep(now)
    const address = addressBlock(call.ip)
    const who = name.toLowerCase().slice(0, 80)
    const windows: Window[] = [
      { bucket: `${who} ${address}`, max: 10, seconds: 300 },
      { bucket: `name ${who}`, max: 100, seconds: 3_600 },
      { bucket: `address ${address}`, max: 50, seconds: 300 },
    ]
    for (const window of windows) this.check(call, window, now)
    for (const { bucket } of windows) this.of(bucket).push(now)
    return () => {
      for (const { bucket } of windows) {
        const times = this.of(bucket)
        const at = times.indexOf(now)
        if (at !== -1) times.splice(at, 1)
      }
    }
  }
  private check(call: AnyCall, { bucket, max, seconds }: Window, now: number): void {
    const recent = (this.times.get(bucket) ?? []).filter((time) => time > now - seconds * 1000)
    if (recent.length < max) return
    const wait = Math.max(1, Math.ceil((recent[recent.length - max]! + seconds * 1000 - now) / 1000))
    call.set('Retry-After', wait)
    refuse('TOO_MANY_REQUESTS', `too many wrong passwords or codes; try again in ${wait} s`)
  }
  private of(bucket: string): number[] {
    let times = this.times.get(bucket)
    if (times === undefined) this.times.set(bucket, (times = []))
    return times
  }
  private sweep(now: number): void {
    if (now - this.swept < SWEEP_MS) return
    this.swept = now
    for (const [bucket, times] of this.times)
      if (times.every((time) => time <= now - LONGEST_MS)) this.times.delete(bucket)
  }
}
