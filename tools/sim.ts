import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import type { Step } from '../test/sim/system/plan.ts'
import { missing } from '../test/sim/system/reach.ts'
import { commitHere, keep, kept } from './kept.ts'
import { attempt, tell, type Done } from './sim-history.ts'
import { Elsewhere, Here, work, type Runner } from './sim-jobs.ts'

/**
 * `npm run sim -- --seed N --steps M [--history STEPS] [--jobs N] [--minutes M] [--resume FILE] [--reach]`: histories of the
 * whole platform, a seed each, until so many steps are done or so many minutes have passed. What goes wrong is made as
 * short as can be and kept in a file, which `kontor replay FILE` runs again; the others go on. `--reach`: every command,
 * label and transition must have been met that test/sim/system/unreached.json does not excuse, by this run or by those
 * that are summed in the resumed file.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '20000' },
    history: { type: 'string', default: '20000' },
    jobs: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    resume: { type: 'string' },
    file: { type: 'string' },
    reach: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
})
interface Progress {
  /** The next one that nobody has begun. */
  seed: number
  /** Begun and not ended: whoever goes on does them again. */
  open: number[]
  histories: number
  steps: number
  violations: number
  failures: { readonly seed: number; readonly error: string; readonly file?: string }[]
  /** Of the processor, of all steps. */
  ms: number
  seconds: number
  /** Steps of each commit that ran. */
  commits: Record<string, number>
  reached: Record<string, number>
  finished: string
}
/** A number that a message to another process keeps. */
const NEVER = Number.MAX_SAFE_INTEGER
/** After so many failures of one run somebody should look first. */
const FAILURES_MAX = 40
const FRESH = { open: [], histories: 0, steps: 0, violations: 0, failures: [], ms: 0, seconds: 0 }

async function runFile(path: string): Promise<number> {
  const { seed = 0, steps } = JSON.parse(readFileSync(path, 'utf8')) as { seed?: number; steps: Step[] }
  const error = await attempt(seed, steps)
  console.log(error === undefined ? `${steps.length} steps: all is well` : tell(error))
  return error === undefined ? 0 : 1
}
async function runSeeds(): Promise<number> {
  const { resume } = values
  const folder = resume === undefined ? '.' : dirname(resume)
  const [total, each, jobs] = [values.steps, values.history, values.jobs].map(Number) as [
    number,
    number,
    number,
  ]
  const progress: Progress = {
    seed: Number(values.seed),
    ...FRESH,
    commits: {},
    reached: {},
    finished: '',
    ...kept<Progress>(resume),
  }
  const again = progress.open
  progress.open = []
  const here = commitHere()
  const [began, before] = [Date.now(), progress.seconds]
  let until = values.minutes === undefined ? NEVER : began + Number(values.minutes) * 60_000
  const wanted = progress.steps + total
  const most = progress.violations + FAILURES_MAX
  /** Of those that are under way. */
  let promised = 0
  const save = (): void => {
    progress.seconds = before + (Date.now() - began) / 1e3
    progress.finished = new Date().toISOString()
    if (resume !== undefined) keep(resume, progress)
  }
  const add = ({ seed, steps, reached, ms, failure }: Done): void => {
    progress.histories++
    progress.steps += steps
    progress.ms += ms
    progress.commits[here] = (progress.commits[here] ?? 0) + steps
    for (const [what, times] of Object.entries(reached))
      progress.reached[what] = (progress.reached[what] ?? 0) + times
    if (failure !== undefined) fail({ seed, ...failure })
  }
  const fail = (failure: Progress['failures'][number]): void => {
    progress.violations++
    progress.failures.push(failure)
  }
  const runner = async (one: Runner): Promise<void> => {
    for (;;) {
      const steps = Math.min(each, wanted - progress.steps - promised)
      if (steps <= 0 || Date.now() >= until || progress.violations >= most) break
      const seed = again.shift() ?? progress.seed++
      progress.open.push(seed)
      promised += steps
      try {
        add(await one.run({ seed, steps, until, folder }))
      } catch (error) {
        console.log(`seed ${seed}: ${tell(error)}`)
        fail({ seed, error: tell(error) })
      }
      promised -= steps
      progress.open.splice(progress.open.indexOf(seed), 1)
      save()
      console.log(`seed ${seed}: ${progress.steps} steps, ${progress.violations} violations`)
    }
    one.end()
  }
  const runners = Array.from({ length: jobs }, () => (jobs === 1 ? new Here() : new Elsewhere(jobs)))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      until = 0
      for (const one of runners) one.stop()
    })
  await Promise.all(runners.map(runner))
  save()
  told(progress)
  return (values.reach && !toldReach(progress.reached)) || progress.violations > 0 ? 1 : 0
}
function told({ reached, steps, histories, violations, failures, ms, seconds }: Progress): void {
  console.log(`\nreached:`)
  for (const [what, times] of Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`  ${String(times).padStart(7)} ${what}`)
  console.log(`\n${steps} steps of ${histories} histories, ${violations} violations`)
  for (const { seed, error, file } of failures) console.log(`  seed ${seed} (${file ?? 'no file'}): ${error}`)
  const each = (sum: number): string => (sum / Math.max(1, steps)).toFixed(2)
  console.log(`${each(seconds * 1e3)} ms a step, ${each(ms)} ms of the processor`)
}
function toldReach(reached: Readonly<Record<string, number>>): boolean {
  const { missed, idle } = missing(reached)
  for (const one of missed) console.log(`never met: ${one}`)
  // A short run meets less: that something is excused and was met is told, and counts where it is summed for long.
  for (const one of idle) console.log(`excused, and met all the same: ${one}`)
  return missed.length === 0
}

if (values.worker) work()
else {
  process.exitCode = values.file === undefined ? await runSeeds() : await runFile(values.file)
  process.exit()
}
