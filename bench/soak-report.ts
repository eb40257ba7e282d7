import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { flatness } from './flat.ts'
import { median } from './load-generator.ts'
import { draw, type Plot } from './plot.ts'
import type { Conditions } from './results.ts'

/** What a soak saw, and what it means. */
export interface SoakSample {
  /** Minutes since the beginning, at the end of this slice. */
  readonly minute: number
  readonly requests: number
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly failures: number
  /** Frames that the subscribed sockets got. */
  readonly frames: number
  /** Megabytes, all processes of the platform; and the heap of the one with the core. */
  readonly rss: number
  readonly heap: number
  readonly lagBatches: number
  readonly lagMB: number
  /** Megabytes on the disk. */
  readonly journal: number
  readonly tables: number
  readonly wal: number
}
export interface Soak {
  readonly store: 'sqlite' | 'postgres'
  readonly conditions: Conditions
  readonly minutes: number
  readonly share: number
  readonly accounts: number
  readonly connections: number
  readonly sockets: number
  /** Requests a second at most, before it. */
  readonly maximum: number
  readonly samples: readonly SoakSample[]
  /** False while it goes on, and for ever if it was ended. */
  finished: boolean
}

export interface Verdict {
  readonly what: string
  /** Undefined: too short to tell. */
  readonly well: boolean | undefined
  readonly text: string
}
/** Growth of files for each request may differ by so much between two thirds. */
const GROWTH_SHARE = 0.25
const LEAST = 9

type Seen = Pick<Soak, 'store' | 'samples'>
/** Up to its max_wal_size PostgreSQL keeps what it likes. */
const LOG_MB = { sqlite: 20, postgres: 1_000 } as const

export function verdicts({ store, samples }: Seen): Verdict[] {
  const course = (of: (sample: SoakSample) => number, slack: number, share = 0.1): Omit<Verdict, 'what'> => {
    const { flat, text } = flatness(samples.map(of), { slack, share })
    return { well: flat, text }
  }
  const failures = samples.reduce((sum, one) => sum + one.failures, 0)
  return [
    { what: 'memory, MB', ...course(({ rss }) => rss, 10) },
    { what: 'heap, MB', ...course(({ heap }) => heap, 10) },
    { what: 'lag of the tables, batches', ...course(({ lagBatches }) => lagBatches, 100) },
    { what: 'p50, ms', ...course(({ p50 }) => p50, 1) },
    { what: 'p99, ms', ...course(({ p99 }) => p99, 5, 0.25) },
    { what: 'journal, MB', ...course(({ journal }) => journal, 20) },
    { what: 'log of the database, MB', ...course(({ wal }) => wal, LOG_MB[store]) },
    { what: 'tables, bytes for each request', ...steadyGrowth(samples) },
    { what: 'requests that failed', well: failures === 0, text: String(failures) },
  ]
}
/** What is kept grows with what is done, and no faster later than before. */
function steadyGrowth(samples: readonly SoakSample[]): Omit<Verdict, 'what'> {
  if (samples.length < LEAST) return { well: undefined, text: `too few figures to tell (${samples.length})` }
  const third = Math.floor(samples.length / 3)
  const each = (from: number, to: number): number => {
    const part = samples.slice(from, to)
    const requests = part.slice(1).reduce((sum, one) => sum + one.requests, 0)
    return ((part.at(-1)!.tables - part[0]!.tables) * 1e6) / requests
  }
  const [before, last] = [each(-2 * third - 1, -third), each(-third - 1, samples.length)]
  const well = Math.abs(last - before) <= before * GROWTH_SHARE
  return {
    well,
    text: `${well ? 'constant' : 'NOT CONSTANT'}: ${before.toFixed(0)} in the second third, ${last.toFixed(0)} in the last`,
  }
}
export const isFlat = (soak: Seen): boolean | undefined => {
  const all = verdicts(soak)
  if (all.some(({ well }) => well === false)) return false
  return all.some(({ well }) => well === undefined) ? undefined : true
}

/** By name of the file. */
export function soakPlots({ store, samples }: Seen): Map<string, string> {
  const plot = (
    title: string,
    label: string,
    lines: Readonly<Record<string, keyof SoakSample>>,
    log = false,
  ): Plot => ({
    title: `${title}, ${store}`,
    x: { label: 'minutes' },
    y: { label, log },
    series: Object.entries(lines).map(([name, key]) => ({
      name,
      points: samples.map((sample) => [sample.minute, sample[key]] as const),
    })),
  })
  const plots: Readonly<Record<string, Plot>> = {
    memory: plot('Memory', 'MB', { 'all processes': 'rss', "heap of the core's": 'heap' }),
    lag: plot('Lag of the tables', 'batches', { batches: 'lagBatches' }),
    files: plot('Files', 'MB', { tables: 'tables', journal: 'journal', 'log of the database': 'wal' }),
    latency: plot('Latency', 'ms', { p50: 'p50', p99: 'p99', p999: 'p999' }, true),
    rate: plot('Requests', 'a second', { requests: 'rate' }),
  }
  return new Map(Object.entries(plots).map(([name, one]) => [`${store}-${name}.svg`, draw(one)]))
}

export function keptSoaks(folder: string): Soak[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Soak)
}

const ABOUT = `## Soak

\`npm run soak -- --minutes 60 --store sqlite\`: a platform as it is started, its market agents trading, sockets subscribed, the mixed traffic of 16 accounts in an open loop at half of what it could take just before.
Flat means that the last third is no higher than the second (the first warms up).`

export function renderSoaks(soaks: readonly Soak[]): { markdown: string; plots: Map<string, string> } {
  const plots = new Map<string, string>()
  if (soaks.length === 0) return { markdown: `${ABOUT}\n\nNot measured yet.`, plots }
  const sections = soaks.map((soak) => {
    const own = soakPlots(soak)
    for (const [file, svg] of own) plots.set(file, svg)
    const { store, conditions, samples, share, maximum, sockets, connections, minutes, finished } = soak
    const requests = samples.reduce((sum, one) => sum + one.requests, 0)
    const flat = isFlat(soak)
    const lasted = samples.at(-1)?.minute ?? 0
    return [
      `### On ${store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}: ${flat === undefined ? 'too short to tell' : flat ? 'flat' : 'NOT FLAT'}`,
      `${lasted.toFixed(0)} minutes${finished ? '' : ` of ${minutes}; it was ended before`}, ${requests.toLocaleString('en-US')} requests on ${connections} connections at ${median(samples.map(({ rate }) => rate)).toFixed(0)} a second (${share} of ${maximum.toFixed(0)}), ${sockets} sockets with ${samples.reduce((sum, one) => sum + one.frames, 0).toLocaleString('en-US')} frames. Commit ${conditions.commit}, ${conditions.date} UTC; ${conditions.cores} cores (${conditions.cpu}), ${conditions.memoryGB} GB, Node ${conditions.node}; a synced write of 4 KiB takes ${conditions.syncMs.toFixed(2)} ms.`,
      verdicts(soak)
        .map(({ what, text }) => `- ${what}: ${text}`)
        .join('\n'),
      [...own.keys()].map((file) => `![${file.replace('.svg', '')}](benchmarks/soak/${file})`).join('\n'),
    ].join('\n\n')
  })
  return { markdown: [ABOUT, ...sections].join('\n\n'), plots }
}
