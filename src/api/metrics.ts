/** Counters and histograms in Prometheus' text format. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

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
  private readonly gauges: { name: string; help: string; type: 'gauge' | 'counter'; read: () => number }[] =
    []

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
  watch(name: string, type: 'gauge' | 'counter', help: string, read: () => number): void {
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
      `${gauge} ${read()}`,
    ])
    return `${[...requests, ...durations, ...gauges].join('\n')}\n`
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
