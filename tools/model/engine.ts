/**
 * A small discrete-event engine: a clock that jumps from event to event, stations that serve one after the other, and an
 * appender that takes everything that waits in one go. Times are in microseconds. Nothing in it is random but the
 * generator, which is given.
 */
export class Simulation {
  now = 0
  private readonly times: number[] = []
  private readonly acts: (() => void)[] = []
  /** Heap of places in `acts`, by time and then by age. */
  private readonly heap: number[] = []
  private readonly free: number[] = []
  private readonly ages: number[] = []
  private age = 0

  after(delay: number, act: () => void): void {
    const place = this.free.pop() ?? this.acts.length
    this.times[place] = this.now + delay
    this.ages[place] = this.age++
    this.acts[place] = act
    this.push(place)
  }
  /** Until nothing is left to happen, or the time has come. */
  run(until = Infinity): void {
    while (this.heap.length > 0) {
      const [place] = this.heap as [number]
      if (this.times[place]! > until) return
      this.pop()
      this.now = this.times[place]!
      const act = this.acts[place]!
      this.free.push(place)
      act()
    }
  }
  private before(a: number, b: number): boolean {
    const difference = this.times[a]! - this.times[b]!
    return difference < 0 || (difference === 0 && this.ages[a]! < this.ages[b]!)
  }
  private push(place: number): void {
    const { heap } = this
    let at = heap.push(place) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!this.before(place, heap[up]!)) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = place
  }
  private pop(): void {
    const { heap } = this
    const last = heap.pop()!
    const { length } = heap
    if (length === 0) return
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= length) break
      if (down + 1 < length && this.before(heap[down + 1]!, heap[down]!)) down++
      if (!this.before(heap[down]!, last)) break
      heap[at] = heap[down]!
      at = down
    }
    heap[at] = last
  }
}

/** So many servers, one queue, first come first served. */
export class Station {
  served = 0
  busy = 0
  waited = 0
  private readonly sim: Simulation
  private readonly servers: number
  private working = 0
  private readonly queue: { readonly cost: number; readonly done: () => void; readonly since: number }[] = []
  private first = 0
  constructor(sim: Simulation, servers = 1) {
    this.sim = sim
    this.servers = servers
  }
  serve(cost: number, done: () => void): void {
    const job = { cost, done, since: this.sim.now }
    if (this.working < this.servers) this.begin(job)
    else this.queue.push(job)
  }
  get waiting(): number {
    return this.queue.length - this.first
  }
  /** Of all servers' time until now. */
  utilization(): number {
    return this.busy / (this.sim.now * this.servers)
  }
  meanWait(): number {
    return this.waited / this.served
  }
  private begin(job: { readonly cost: number; readonly done: () => void; readonly since: number }): void {
    this.working++
    this.served++
    this.busy += job.cost
    this.waited += this.sim.now - job.since
    this.sim.after(job.cost, () => {
      this.working--
      if (this.first < this.queue.length) {
        this.begin(this.queue[this.first++]!)
        if (this.first > 1024 && this.first * 2 > this.queue.length) {
          this.queue.splice(0, this.first)
          this.first = 0
        }
      }
      job.done()
    })
  }
}

/** A journal: what waits goes in one append, and so many appends may be under way. They end in the order they began. */
export class Appender {
  appends = 0
  entries = 0
  private readonly sim: Simulation
  private readonly time: (entries: number) => number
  private readonly underWayMax: number
  private readonly room: () => boolean
  private underWay = 0
  private lastEnd = 0
  private waiting: (() => void)[] = []
  /** `room`: whether one more may begin; who makes room says so by `nudge`. */
  constructor(
    sim: Simulation,
    time: (entries: number) => number,
    { underWay = 2, room = () => true }: { underWay?: number; room?: () => boolean } = {},
  ) {
    this.sim = sim
    this.time = time
    this.underWayMax = underWay
    this.room = room
  }
  nudge(): void {
    this.go()
  }
  append(done: () => void): void {
    this.waiting.push(done)
    this.go()
  }
  private go(): void {
    if (this.underWay >= this.underWayMax || this.waiting.length === 0 || !this.room()) return
    const batch = this.waiting
    this.waiting = []
    this.underWay++
    this.appends++
    this.entries += batch.length
    const end = Math.max(this.lastEnd, this.sim.now + this.time(batch.length))
    this.lastEnd = end
    this.sim.after(end - this.sim.now, () => {
      this.underWay--
      for (const done of batch) done()
      this.go()
    })
  }
}

/** Repeatable: the same seed, the same numbers (mulberry32). */
export function generator(seed: number): { uniform(): number; exponential(mean: number): number } {
  let state = seed >>> 0
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
  return { uniform, exponential: (mean) => -mean * Math.log(1 - uniform()) }
}
/** Of sorted numbers. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
