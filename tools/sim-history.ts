import { join } from 'node:path'
import { plan, type Step } from '../test/sim/system/plan.ts'
import { shrink } from '../test/sim/system/shrink.ts'
import { System, Violation } from '../test/sim/system/system.ts'
import { keep } from './kept.ts'

/** A history that somebody is to run. */
export interface Task {
  readonly seed: number
  readonly steps: number
  /** Milliseconds since 1970: whatever is left of it then is left. */
  readonly until: number
  /** Where a history is kept that fails. */
  readonly folder: string
}
/** What became of it. */
export interface Done {
  readonly seed: number
  /** So many were checked: of a history that failed, those before the one that did. */
  readonly steps: number
  readonly reached: Readonly<Record<string, number>>
  /** Of the processor, for all of it. */
  readonly ms: number
  readonly failure?: { readonly error: string; readonly file: string }
}
/** A long history is run so often, with parts left out, to find a short one that fails. */
const SHRINK_TRIES = 60
export const tell = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Tells what went wrong, if anything did. */
export async function attempt(seed: number, steps: readonly Step[]): Promise<unknown> {
  try {
    await new System(seed).run(steps)
    return undefined
  } catch (error) {
    return error
  }
}
/** `ended`: somebody wants no more of it. */
export async function history(task: Task, say: (line: string) => void, ended: () => boolean): Promise<Done> {
  const before = process.cpuUsage()
  const steps = plan(task.seed, task.steps)
  const system = new System(task.seed)
  let checked = 0
  const over = (): boolean => Date.now() >= task.until || ended()
  let failure: Done['failure']
  try {
    await system.run(steps, () => checked++, over)
  } catch (error) {
    say(`seed ${task.seed}: ${tell(error)}`)
    failure = await kept(task, steps, error, say, over)
  }
  const { user, system: kernel } = process.cpuUsage(before)
  const reached = Object.fromEntries(system.reached)
  return {
    seed: task.seed,
    steps: checked,
    reached,
    ms: (user + kernel) / 1e3,
    ...(failure !== undefined && { failure }),
  }
}
/** The steps after the one that failed had no part in it; of those before it, as few as it takes, as long as there is time. */
async function kept(
  { seed, folder }: Task,
  steps: readonly Step[],
  error: unknown,
  say: (line: string) => void,
  over: () => boolean,
): Promise<{ error: string; file: string }> {
  const file = join(folder, `sim-${seed}.json`)
  let left = error instanceof Violation ? steps.slice(0, error.step + 1) : steps
  keep(file, { seed, error: tell(error), steps: left })
  let why = error
  left = [
    ...(await shrink(
      left,
      async (fewer) => {
        if (over()) return false
        const found = await attempt(seed, fewer)
        if (found === undefined) return false
        why = found
        keep(file, { seed, error: tell(found), steps: fewer })
        return true
      },
      SHRINK_TRIES,
    )),
  ]
  say(`seed ${seed}: ${left.length} steps are enough; kontor replay ${file}`)
  return { error: tell(why), file }
}
