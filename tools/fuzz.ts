import { parseArgs } from 'node:util'
import { HEAP_GROWTH_MAX, Fuzz, type FuzzReport } from '../test/fuzz/run.ts'
import { commitHere, keep, kept as readKept } from './kept.ts'

/**
 * `npm run fuzz -- --requests 1000000 --seed 1 --resume FILE`: hostile input in worlds of 20,000 requests, each with a seed of
 * its own; every fifth behind a gateway. With --resume what was done is kept in a file, and a later run goes on from there.
 */
interface Kept {
  readonly seed: number
  worlds: number
  requests: number
  violations: string[]
  statuses: Record<string, number>
  called: string[]
  succeeded: string[]
  /** Bytes: the most that a heap grew while nothing was changed. */
  growth: number
  seconds: number
  commit: string
  finished: string
}
const WORLD = 20_000
const GATEWAY_EVERY = 5
const SHOWN = 20

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    resume: { type: 'string' },
    minutes: { type: 'string' },
  },
})
const requests = Number(values.requests)
const until = values.minutes === undefined ? Infinity : Date.now() + Number(values.minutes) * 60_000
/** What runs, as far as it was built just now. */
const here = commitHere()
function begun(): Kept {
  const before = readKept<Kept>(values.resume)
  if (before !== undefined) return before
  const none = {
    worlds: 0,
    requests: 0,
    violations: [],
    statuses: {},
    called: [],
    succeeded: [],
    growth: 0,
    seconds: 0,
  }
  return { seed: Number(values.seed), ...none, commit: here, finished: '' }
}
function add(kept: Kept, report: FuzzReport, seconds: number): void {
  kept.worlds++
  kept.requests += report.requests
  kept.violations.push(...report.violations)
  kept.called = [...new Set([...kept.called, ...report.called])]
  kept.succeeded = [...new Set([...kept.succeeded, ...report.succeeded])]
  for (const [status, count] of Object.entries(report.statuses))
    kept.statuses[status] = (kept.statuses[status] ?? 0) + count
  kept.growth = Math.max(kept.growth, report.growth)
  if (report.growth > HEAP_GROWTH_MAX)
    kept.violations.push(`seed ${kept.seed + kept.worlds - 1}: the heap grew by ${report.growth} bytes`)
  kept.seconds += seconds
  kept.commit = here
  kept.finished = new Date().toISOString()
}

const kept = begun()
while (kept.requests < requests && Date.now() < until) {
  const seed = kept.seed + kept.worlds
  const start = Date.now()
  const size = Math.min(WORLD, Math.max(1_000, requests - kept.requests))
  const report = await Fuzz.run({ requests: size, seed, gateways: seed % GATEWAY_EVERY === 0 ? 1 : 0 })
  add(kept, report, Math.round((Date.now() - start) / 1000))
  if (values.resume !== undefined) keep(values.resume, kept)
  console.log(
    `seed ${seed}: ${report.requests} requests in ${Math.round((Date.now() - start) / 1000)} s, ${report.violations.length} violations, heap ${report.heap.map((bytes) => (bytes / 1e6).toFixed(1)).join(' → ')} MB; ${kept.requests} of ${requests}`,
  )
  for (const violation of report.violations.slice(0, SHOWN)) console.log(`  ${violation}`)
}
console.log(
  `${kept.requests} requests in ${kept.worlds} worlds and ${kept.seconds} s, ${kept.violations.length} violations; ${kept.called.length} addresses called, ${kept.succeeded.length} of them with success; heap grew by ${(kept.growth / 1e6).toFixed(1)} MB at most; commit ${kept.commit}`,
)
process.exit(kept.violations.length === 0 ? 0 : 1)
