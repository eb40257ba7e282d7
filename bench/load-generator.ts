import { connect, type Socket } from 'node:net'

/**
 * A closed-loop HTTP/1.1 load generator over raw sockets: a client library would cost more than the server it
 * measures. Requests are made (and signed) beforehand; each connection sends its next one when the reply is in.
 */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Whole requests as bytes, taken in turn. */
  readonly requests: readonly Buffer[]
}
export interface LoadResult {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly replies: number
  readonly failures: number
}

export async function generate(load: Load): Promise<LoadResult> {
  const latencies: number[] = []
  let failures = 0
  let next = 0
  const start = performance.now()
  const end = start + load.seconds * 1000
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect(load.port, '127.0.0.1')
      socket.setNoDelay(true)
      let sentAt = 0
      let pending = ''
      const sendNext = (): void => {
        sentAt = performance.now()
        if (sentAt >= end) {
          socket.end()
          resolve()
          return
        }
        socket.write(load.requests[next++ % load.requests.length]!)
      }
      socket.on('connect', sendNext)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1')
        const head = pending.indexOf('\r\n\r\n')
        if (head === -1) return
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0)
        if (pending.length < head + 4 + length) return
        if (!pending.startsWith('HTTP/1.1 2')) failures++
        pending = ''
        latencies.push(performance.now() - sentAt)
        sendNext()
      })
    })
  await Promise.all(Array.from({ length: load.connections }, one))
  const elapsed = (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return {
    rate: latencies.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
    replies: latencies.length,
    failures,
  }
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
