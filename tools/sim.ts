import { readFileSync, writeFileSync, existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { plan, type Step } from '../test/sim/system/plan.ts'
import { missing } from '../test/sim/system/reach.ts'
import { shrink } from '../test/sim/system/shrink.ts'
import { System, Violation } from '../test/sim/system/system.ts'

/**
 * `npm run sim -- --seed N --steps M [--history STEPS] [--resume FILE] [--reach]`: histories of the whole platform, one seed
 * after the other, until so many steps are done. What goes wrong is made as short as can be and kept in a file, which
 * `kontor replay FILE` runs again. `--reach`: every command, label and transition must have been met that
 * test/sim/system/unreached.json does not excuse, by this run or by those that are summed in the resumed file.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '20000' },
    history: { type: 'string', default: '10000' },
    resume: { type: 'string' },
    file: { type: 'string' },
    reach: { type: 'boolean', default: false },
  },
})
interface Progress {
  seed: number
  steps: number
  violations: number
  reached: Record<string, number>
}
async function attempt(steps: readonly Step[], reached?: Record<string, number>): Promise<unknown> {
  const system = new System()
  try {
    await system.run(steps)
    return undefined
  } catch (error) {
    return error
  } finally {
    if (reached !== undefined)
      for (const [what, times] of system.reached) reached[what] = (reached[what] ?? 0) + times
  }
}
/** A long history is run so often, with parts left out, to find a short one that fails. */
const SHRINK_TRIES = 60
const tell = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function runFile(path: string): Promise<number> {
  const { steps } = JSON.parse(readFileSync(path, 'utf8')) as { steps: Step[] }
  const error = await attempt(steps)
  console.log(error === undefined ? `${steps.length} steps: all is well` : tell(error))
  return error === undefined ? 0 : 1
}
async function runSeeds(): Promise<number> {
  const { resume } = values
  const [total, each] = [Number(values.steps), Number(values.history)]
  const progress: Progress =
    resume !== undefined && existsSync(resume)
      ? (JSON.parse(readFileSync(resume, 'utf8')) as Progress)
      : { seed: Number(values.seed), steps: 0, violations: 0, reached: {} }
  const until = progress.steps + total
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  while (progress.steps < until) {
    const steps = plan(progress.seed, Math.min(each, until - progress.steps))
    const error = await attempt(steps, progress.reached)
    if (error !== undefined) {
      progress.violations++
      await keep(progress.seed, steps, error)
    }
    progress.steps += steps.length
    progress.seed++
    if (resume !== undefined) writeFileSync(resume, JSON.stringify(progress, undefined, 2))
    console.log(`seed ${progress.seed - 1}: ${progress.steps} steps, ${progress.violations} violations`)
  }
  console.log(`\nreached:`)
  for (const [what, times] of Object.entries(progress.reached).sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`  ${String(times).padStart(7)} ${what}`)
  const used = process.cpuUsage(cpu)
  const [wall, busy] = [(performance.now() - began) / total, (used.user + used.system) / 1e3 / total]
  console.log(`\n${wall.toFixed(2)} ms a step, ${busy.toFixed(2)} ms of them of the processor`)
  return (values.reach && !toldReach(progress.reached)) || progress.violations > 0 ? 1 : 0
}
function toldReach(reached: Readonly<Record<string, number>>): boolean {
  const { missed, idle } = missing(reached)
  for (const one of missed) console.log(`never met: ${one}`)
  // A short run meets less: that something is excused and was met is told, and counts where it is summed for long.
  for (const one of idle) console.log(`excused, and met all the same: ${one}`)
  return missed.length === 0
}
/** The steps after the one that failed had no part in it; of those before it, as few as it takes. */
async function keep(seed: number, steps: readonly Step[], error: unknown): Promise<void> {
  console.log(`seed ${seed}: ${tell(error)}`)
  if (!(error instanceof Violation)) throw error
  const short = await shrink(
    steps.slice(0, error.step + 1),
    async (fewer) => (await attempt(fewer)) !== undefined,
    SHRINK_TRIES,
  )
  const path = `sim-${seed}.json`
  writeFileSync(path, JSON.stringify({ seed, error: tell(await attempt(short)), steps: short }, undefined, 2))
  console.log(`seed ${seed}: ${short.length} steps are enough; kontor replay ${path}`)
}

process.exitCode = values.file === undefined ? await runSeeds() : await runFile(values.file)
process.exit()
