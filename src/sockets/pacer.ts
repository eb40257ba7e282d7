/**
 * At most one run for each interval of real time, the first at once: after `mark` it runs as soon as the interval since
 * the last run is over. A clock of the platform that is moved does not stop it.
 */
export class Pacer {
  private readonly ms: number
  private readonly run: () => void
  private last = -Infinity
  private timer: NodeJS.Timeout | undefined

  constructor(ms: number, run: () => void) {
    this.ms = ms
    this.run = run
  }
  mark(): void {
    if (this.timer !== undefined) return
    const wait = Math.max(0, this.last + this.ms - performance.now())
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.last = performance.now()
      this.run()
    }, wait).unref()
  }
  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}
