import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import type { Step } from '../test/sim/system/plan.ts'
import { missing } from '../test/sim/system/reach.ts'
import { commitHere, keep, kept } from './kept.ts'
import { NEVER, deal, nothing, type Progress } from './sim-deal.ts'
import { attempt, tell } from './sim-history.ts'
import { Elsewhere, Here, work } from './sim-jobs.ts'

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
async function runFile(path: string): Promise<number> {
  const { seed = 0, steps } = JSON.parse(readFileSync(path, 'utf8')) as { seed?: number; steps: Step[] }
  const error = await attempt(seed, steps)
  console.log(error === undefined ? `${steps.length} steps: all is well` : tell(error))
  return error === undefined ? 0 : 1
}
async function runSeeds(): Promise<number> {
  const { resume } = values
  const [steps, history, jobs] = [values.steps, values.history, values.jobs].map(Number) as [
    number,
    number,
    number,
  ]
  const progress: Progress = { ...nothing(Number(values.seed)), ...kept<Progress>(resume) }
  const [began, before] = [Date.now(), progress.seconds]
  let until = values.minutes === undefined ? NEVER : began + Number(values.minutes) * 60_000
  const runners = Array.from({ length: jobs }, () => (jobs === 1 ? new Here() : new Elsewhere(jobs)))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      until = 0
      for (const one of runners) one.stop()
    })
  await deal(progress, runners, {
    steps,
    history,
    folder: resume === undefined ? '.' : dirname(resume),
    commit: commitHere(),
    until: () => until,
    save: () => {
      progress.seconds = before + (Date.now() - began) / 1e3
      progress.finished = new Date().toISOString()
      if (resume !== undefined) keep(resume, progress)
    },
    say: (line) => console.log(line),
  })
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
