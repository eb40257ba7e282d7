/** Counters and histograms in Prometheus' text format. */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

interface Histogram {
  readonly counts: number[]
  sum: number
  count: number
}

export class Metrics {
  private readonly requests = new Map<string, number>()
  private readonly durations = new Map<string, Histogram>()
  private readonly gauges: { name: string; help: string; type: 'gauge' | 'counter'; read: () => number }[] =
    []

  request(
    route: { readonly endpoint: { readonly method: string }; readonly path: string } | undefined,
    status: number,
    micros: number,
  ): void {
    const name = route === undefined ? 'none' : `${route.endpoint.method} ${route.path}`
    const key = `${name}\n${status}`
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1)
    let histogram = this.durations.get(name)
    if (histogram === undefined)
      this.durations.set(name, (histogram = { counts: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 }))
    const seconds = micros / 1e6
    histogram.sum += seconds
    histogram.count++
    const bucket = BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) histogram.counts[bucket]!++
  }
  watch(name: string, type: 'gauge' | 'counter', help: string, read: () => number): void {
    this.gauges.push({ name, help, type, read })
  }
  text(): string {
    const lines: string[] = []
    lines.push(
      '# HELP kontor_requests_total Requests by route and status.',
      '# TYPE kontor_requests_total counter',
    )
    for (const [key, count] of this.requests) {
      const [route, status] = key.split('\n')
      lines.push(`kontor_requests_total{route="${route!}",status="${status!}"} ${count}`)
    }
    const name = 'kontor_request_seconds'
    lines.push(`# HELP ${name} Time from receipt to reply.`, `# TYPE ${name} histogram`)
    for (const [route, { counts, sum, count }] of this.durations) {
      let total = 0
      for (const [i, bound] of BUCKETS_SECONDS.entries())
        lines.push(`${name}_bucket{route="${route}",le="${bound}"} ${(total += counts[i]!)}`)
      lines.push(`${name}_bucket{route="${route}",le="+Inf"} ${count}`)
      lines.push(
        `${name}_sum{route="${route}"} ${sum.toFixed(6)}`,
        `${name}_count{route="${route}"} ${count}`,
      )
    }
    for (const { name: gauge, help, type, read } of this.gauges)
      lines.push(`# HELP ${gauge} ${help}`, `# TYPE ${gauge} ${type}`, `${gauge} ${read()}`)
    return `${lines.join('\n')}\n`
  }
}
