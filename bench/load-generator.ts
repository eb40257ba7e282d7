import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { Line } from './load-line.ts'

/**
 * HTTP/1.1 load over raw sockets: a client library would cost more than the server it measures. Requests are made (and
 * signed) beforehand. In a closed loop each connection sends its next one when the reply is in; in an open loop each
 * request has a planned time, and its latency counts from there, whether or not a connection was free. The plan begins when
 * all connections are there: clients keep theirs.
 */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Whole requests as bytes, taken in turn. */
  readonly requests: readonly Uint8Array[]
  /** What each of them is, to be told apart in the result. */
  readonly kinds?: readonly string[]
  /** Requests a second, of an open loop; left out: a closed one. */
  readonly rate?: number
  /** Each request is sent once, and then it is over, whatever the time. */
  readonly once?: boolean
}
export interface LoadResult {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly replies: number
  readonly failures: number
  /** How busy the busiest thread of the generator was: near 1 it is the generator that was measured. */
  readonly busy: number
  readonly byKind: ReadonlyMap<string, { readonly p50: number; readonly p99: number }>
}
interface Part {
  readonly latencies: Float64Array
  readonly kinds: readonly string[]
  readonly failures: number
  readonly elapsed: number
  readonly busy: number
}

/** Nobody's latency is to be a pause of the generator: what it makes is gone before it is collected. */
const YOUNG_MB = 128
/** A connection that is there for us may still be on its way to whoever serves it. */
const ACCEPTED_MS = 200
/** So that the generator is not what is measured; on a small machine it takes part of what there is, and says so. */
export const THREADS = Math.max(1, Math.min(6, Math.floor(availableParallelism() / 2) - 2))

/** Over all threads of the generator. */
export async function generate(load: Load): Promise<LoadResult> {
  const threads = Math.min(THREADS, load.connections)
  const parts = Array.from({ length: threads }, (_, i) =>
    inThread({
      ...load,
      ...(load.once === true && { requests: load.requests.filter((_, k) => k % threads === i) }),
      connections: Math.floor(load.connections / threads) + (i < load.connections % threads ? 1 : 0),
      ...(load.rate !== undefined && { rate: load.rate / threads }),
    }),
  )
  return together(await Promise.all(parts))
}
export function together(parts: readonly Part[]): LoadResult {
  const byKind = new Map<string, number[]>()
  for (const part of parts)
    for (const [i, kind] of part.kinds.entries()) {
      const known = byKind.get(kind)
      if (known === undefined) byKind.set(kind, [part.latencies[i]!])
      else known.push(part.latencies[i]!)
    }
  const latencies = new Float64Array(parts.reduce((sum, part) => sum + part.latencies.length, 0))
  let at = 0
  for (const part of parts) {
    latencies.set(part.latencies, at)
    at += part.latencies.length
  }
  latencies.sort()
  const quantile = (share: number, of: ArrayLike<number> = latencies): number =>
    of[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0
  return {
    rate: latencies.length / Math.max(...parts.map(({ elapsed }) => elapsed)),
    p50: quantile(0.5),
    p99: quantile(0.99),
    p999: quantile(0.999),
    replies: latencies.length,
    failures: parts.reduce((sum, { failures }) => sum + failures, 0),
    busy: Math.max(...parts.map(({ busy }) => busy)),
    byKind: new Map(
      [...byKind].map(([kind, all]) => {
        const sorted = Float64Array.from(all).sort()
        return [kind, { p50: quantile(0.5, sorted), p99: quantile(0.99, sorted) }]
      }),
    ),
  }
}
function inThread(load: Load): Promise<Part> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), {
      workerData: load,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

async function generatePart(load: Load): Promise<Part> {
  const latencies: number[] = []
  const kinds: string[] = []
  let failures = 0
  let next = 0
  let sent = 0
  const lines = await Promise.all(Array.from({ length: load.connections }, () => Line.open(load.port)))
  if (load.rate !== undefined) await sleep(ACCEPTED_MS)
  const used = performance.eventLoopUtilization()
  const start = performance.now()
  const end = start + load.seconds * 1000
  const step = load.rate === undefined ? 0 : 1000 / load.rate
  let planned = start
  /** When the next request should go; undefined: none any more. */
  const plan = (): number | undefined => {
    const now = performance.now()
    const at = step === 0 ? now : planned
    if (load.once === true ? sent >= load.requests.length : at >= end) return undefined
    sent++
    planned += step
    return at
  }
  const one = (line: Line): Promise<void> =>
    new Promise((resolve, reject) => {
      let from = 0
      let which = 0
      const sendNext = (): void => {
        const at = plan()
        if (at === undefined) {
          line.close()
          resolve()
          return
        }
        from = at
        const wait = at - performance.now()
        if (wait > 1) setTimeout(send, wait - 0.5)
        else send()
      }
      const send = (): void => {
        // A timer that came early is no credit to the server.
        from = step === 0 ? performance.now() : Math.min(from, performance.now())
        which = next++ % load.requests.length
        line.send(load.requests[which]!)
      }
      line.lost = reject
      line.replied = (good) => {
        if (!good) failures++
        latencies.push(Math.max(0, performance.now() - from))
        if (load.kinds !== undefined) kinds.push(load.kinds[which]!)
        sendNext()
      }
      sendNext()
    })
  await Promise.all(lines.map(one))
  return {
    latencies: Float64Array.from(latencies),
    kinds,
    failures,
    elapsed: (performance.now() - start) / 1000,
    busy: performance.eventLoopUtilization(used).utilization,
  }
}
if (!isMainThread) parentPort!.postMessage(await generatePart(workerData as Load))

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
