/** Counters and histograms in Prometheus' text format. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
type Labels = Readonly<Record<string, string>>
interface Watched {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  readonly read: () => Iterable<readonly [Labels, number]>
}
const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
interface RouteFigures {
  readonly name: string
  readonly byStatus: Map<number, number>
  readonly buckets: number[]
  seconds: number
  count: number
}
interface RouteLike {
  readonly endpoint: { readonly method: string }
  readonly path: string
}
const NO_ROUTE: RouteLike = { endpoint: { method: '' }, path: 'none' }

export class Metrics {
  private readonly routes = new Map<RouteLike, RouteFigures>()
  private readonly gauges: Watched[] = []
  private readonly commits: number[] = COMMIT_SECONDS.map(() => 0)
  private commitSeconds = 0
  private commitCount = 0

  request(route: RouteLike | undefined, status: number, micros: number): void {
    const figures = this.figures(route ?? NO_ROUTE)
    figures.byStatus.set(status, (figures.byStatus.get(status) ?? 0) + 1)
    const seconds = micros / 1e6
    figures.seconds += seconds
    figures.count++
    for (let i = 0; i < BUCKETS_SECONDS.length; i++)
      if (seconds <= BUCKETS_SECONDS[i]!) {
        figures.buckets[i]!++
        break
      }
  }
  /** Requests so far. */
  get requests(): number {
    let total = 0
    for (const { count } of this.routes.values()) total += count
    return total
  }
  /** Those among them that were answered with a 5xx. */
  get errors(): number {
    let total = 0
    for (const { byStatus } of this.routes.values())
      for (const [status, count] of byStatus) if (status >= 500) total += count
    return total
  }
  /** Batches that were made durable, and how long that took, all together. */
  get committed(): { readonly count: number; readonly seconds: number } {
    return { count: this.commitCount, seconds: this.commitSeconds }
  }
  /** A batch was made durable, in so many milliseconds. */
  commit(ms: number): void {
    const seconds = ms / 1000
    this.commitSeconds += seconds
    this.commitCount++
    const place = COMMIT_SECONDS.findIndex((bound) => seconds <= bound)
    if (place !== -1) this.commits[place]!++
  }
  watch(name: string, type: Watched['type'], help: string, read: () => number): void {
    this.watchEach(name, type, help, () => [[{}, read()]])
  }
  /** A figure with labels: one line for each. */
  watchEach(name: string, type: Watched['type'], help: string, read: Watched['read']): void {
    if (type === 'counter' && !name.endsWith('_total'))
      throw new TypeError(`${name} is a counter; its name must end in _total`)
    this.gauges.push({ name, help, type, read })
  }
  text(): string {
    const requests = [
      '# HELP kontor_requests_total Requests by route and status.',
      '# TYPE kontor_requests_total counter',
    ]
    const name = 'kontor_request_seconds'
    const durations = [`# HELP ${name} Time from receipt to reply.`, `# TYPE ${name} histogram`]
    for (const { name: route, byStatus, buckets, seconds, count } of this.routes.values()) {
      for (const [status, number] of byStatus)
        requests.push(`kontor_requests_total{route="${route}",status="${status}"} ${number}`)
      let total = 0
      for (const [i, bound] of BUCKETS_SECONDS.entries())
        durations.push(`${name}_bucket{route="${route}",le="${bound}"} ${(total += buckets[i]!)}`)
      durations.push(`${name}_bucket{route="${route}",le="+Inf"} ${count}`)
      durations.push(
        `${name}_sum{route="${route}"} ${seconds.toFixed(6)}`,
        `${name}_count{route="${route}"} ${count}`,
      )
    }
    const gauges = this.gauges.flatMap(({ name: gauge, help, type, read }) => [
      `# HELP ${gauge} ${help}`,
      `# TYPE ${gauge} ${type}`,
      ...[...read()].map(([labels, value]) => `${gauge}${labelText(labels)} ${value}`),
    ])
    return `${[...requests, ...durations, ...this.commitLines(), ...gauges].join('\n')}\n`
  }
  private commitLines(): string[] {
    const name = 'kontor_commit_seconds'
    let total = 0
    return [
      `# HELP ${name} Time until a batch was durable.`,
      `# TYPE ${name} histogram`,
      ...COMMIT_SECONDS.map((bound, i) => `${name}_bucket{le="${bound}"} ${(total += this.commits[i]!)}`),
      `${name}_bucket{le="+Inf"} ${this.commitCount}`,
      `${name}_sum ${this.commitSeconds.toFixed(6)}`,
      `${name}_count ${this.commitCount}`,
    ]
  }
  private figures(route: RouteLike): RouteFigures {
    let figures = this.routes.get(route)
    if (figures === undefined) {
      const name = `${route.endpoint.method} ${route.path}`.trim()
      figures = { name, byStatus: new Map(), buckets: BUCKETS_SECONDS.map(() => 0), seconds: 0, count: 0 }
      this.routes.set(route, figures)
    }
    return figures
  }
}
