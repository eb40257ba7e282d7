/** The figures of a platform at one moment; those with a rate are of the time since the moment before. */
export interface Vital {
  /** Unix seconds, of the real time. */
  readonly time: number
  readonly requests_per_second: number
  readonly errors_per_second: number
  readonly commits_per_second: number
  /** Mean time until a batch was durable. */
  readonly commit_ms: number
  readonly lag_batches: number
  readonly lag_bytes: number
  readonly waiting: number
  readonly sockets: number
  readonly memory_bytes: number
  /** How long the main thread was busy, of all the time. */
  readonly busy: number
}
/** Counters as they stand, and figures as they are. */
export interface Readings {
  readonly requests: number
  readonly errors: number
  readonly commits: number
  readonly commitSeconds: number
  readonly lag: { readonly batches: number; readonly bytes: number }
  readonly waiting: number
  readonly sockets: number
}

export const VITAL_SECONDS = 10
/** An hour of them. */
const KEPT = 360

/** Keeps the last hour of what an operator looks at first. A reader who wants more has a Prometheus. */
export class Vitals {
  private readonly read: () => Readings
  private readonly list: Vital[] = []
  private before: { readonly at: number; readonly readings: Readings } | undefined
  private used = performance.eventLoopUtilization()
  private timer: NodeJS.Timeout | undefined

  constructor(read: () => Readings) {
    this.read = read
  }
  start(): void {
    this.before = { at: performance.now(), readings: this.read() }
    this.timer = setInterval(() => this.take(), VITAL_SECONDS * 1000)
    this.timer.unref()
  }
  stop(): void {
    clearInterval(this.timer)
  }
  /** Oldest first; the last one is of now. */
  get all(): readonly Vital[] {
    const now = this.now()
    return now === undefined ? this.list : [...this.list, now]
  }
  private take(): void {
    const now = this.now()
    if (now === undefined) return
    this.list.push(now)
    if (this.list.length > KEPT) this.list.shift()
    this.before = { at: performance.now(), readings: this.read() }
    this.used = performance.eventLoopUtilization()
  }
  private now(): Vital | undefined {
    if (this.before === undefined) return undefined
    const { at, readings: before } = this.before
    const now = this.read()
    const seconds = Math.max(0.001, (performance.now() - at) / 1000)
    const commits = now.commits - before.commits
    const rate = (count: number): number => rounded(count / seconds)
    return {
      time: Math.floor(Date.now() / 1000),
      requests_per_second: rate(now.requests - before.requests),
      errors_per_second: rate(now.errors - before.errors),
      commits_per_second: rate(commits),
      commit_ms: commits === 0 ? 0 : rounded(((now.commitSeconds - before.commitSeconds) / commits) * 1000),
      lag_batches: now.lag.batches,
      lag_bytes: now.lag.bytes,
      waiting: now.waiting,
      sockets: now.sockets,
      memory_bytes: process.memoryUsage.rss(),
      busy: rounded(performance.eventLoopUtilization(this.used).utilization),
    }
  }
}
const rounded = (figure: number): number => Math.round(figure * 1000) / 1000
