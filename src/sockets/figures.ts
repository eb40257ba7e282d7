import type { Metrics } from '../runtime/metrics.ts'

/** What the metrics tell of sockets, counted where it happens. */
export class SocketFigures {
  private readonly frames = new Map<string, number>()
  private readonly codes = new Map<number, number>()
  private readonly lags = new Map<number, number>()

  received(channel: string): void {
    this.add(channel, 'in', 1)
  }
  sent(channel: string, frames: number): void {
    this.add(channel, 'out', frames)
  }
  closed(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
  }
  /** From a commit until what it changed was handed to the doors. */
  lagged(ms: number): void {
    const second = Math.floor(performance.now() / 1000)
    for (const known of this.lags.keys()) if (known <= second - LAG_SECONDS) this.lags.delete(known)
    this.lags.set(second, Math.max(this.lags.get(second) ?? 0, ms))
  }
  /** Seconds, the longest of the last ten. */
  get lag(): number {
    const since = Math.floor(performance.now() / 1000) - LAG_SECONDS
    let longest = 0
    for (const [second, ms] of this.lags) if (second > since) longest = Math.max(longest, ms)
    return longest / 1000
  }
  private add(channel: string, direction: string, frames: number): void {
    const name = `${channel} ${direction}`
    this.frames.set(name, (this.frames.get(name) ?? 0) + frames)
  }

  /** What /metrics reads of sockets. */
  watch(metrics: Metrics, desk: Counted): void {
    const each = (counts: Iterable<readonly [string | number, number]>, label: string) =>
      [...counts].map(([value, count]): [Record<string, string>, number] => [
        { [label]: String(value) },
        count,
      ])
    metrics.watchEach('kontor_ws_connections', 'gauge', 'WebSocket connections by product.', () =>
      each(desk.connections, 'product'),
    )
    metrics.watchEach('kontor_ws_subscriptions', 'gauge', 'Subscriptions by channel.', () =>
      each(desk.subscriptions, 'channel'),
    )
    metrics.watchEach('kontor_ws_frames_total', 'counter', 'Frames by channel and direction.', () =>
      [...this.frames].map(([name, count]) => {
        const [channel, direction] = name.split(' ') as [string, string]
        return [{ channel, direction }, count]
      }),
    )
    metrics.watch(
      'kontor_ws_queue_bytes',
      'gauge',
      'Bytes that wait to be sent on sockets.',
      () => desk.queueBytes,
    )
    metrics.watchEach('kontor_ws_closed_total', 'counter', 'Sockets that ended, by close code.', () =>
      each(this.codes, 'code'),
    )
    metrics.watch(
      'kontor_ws_push_lag_seconds',
      'gauge',
      'From a commit to its frames, the longest of the last ten seconds.',
      () => this.lag,
    )
  }
}
interface Counted {
  readonly connections: ReadonlyMap<string, number>
  readonly subscriptions: ReadonlyMap<string, number>
  readonly queueBytes: number
}
const LAG_SECONDS = 10
