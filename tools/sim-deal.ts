import type { Done } from './sim-history.ts'
import type { Runner } from './sim-jobs.ts'

/** What histories summed up to, in this run and in those before it. */
export interface Progress {
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
export const nothing = (seed: number): Progress => ({
  seed,
  open: [],
  histories: 0,
  steps: 0,
  violations: 0,
  failures: [],
  ms: 0,
  seconds: 0,
  commits: {},
  reached: {},
  finished: '',
})
/** A number that a message to another process keeps. */
export const NEVER = Number.MAX_SAFE_INTEGER
/** After so many failures of one run somebody should look first. */
const FAILURES_MAX = 40

export interface Deal {
  /** So many steps more than there are. */
  readonly steps: number
  readonly history: number
  readonly folder: string
  /** What runs. */
  readonly commit: string
  /** Milliseconds since 1970: nothing is begun then, and what is under way ends. */
  readonly until: () => number
  /** After each history. */
  readonly save: () => void
  readonly say: (line: string) => void
}
/** Deals seeds out until so many steps are done. A history that fails, or whose process dies, is counted; the others go on. */
export async function deal(progress: Progress, runners: readonly Runner[], terms: Deal): Promise<void> {
  const { history, folder, commit, until, save, say } = terms
  const again = progress.open
  progress.open = []
  const wanted = progress.steps + terms.steps
  const most = progress.violations + FAILURES_MAX
  /** Of those that are under way. */
  let promised = 0
  const fail = (failure: Progress['failures'][number]): void => {
    progress.violations++
    progress.failures.push(failure)
  }
  const add = ({ seed, steps, reached, ms, failure }: Done): void => {
    progress.histories++
    progress.steps += steps
    progress.ms += ms
    progress.commits[commit] = (progress.commits[commit] ?? 0) + steps
    for (const [what, times] of Object.entries(reached))
      progress.reached[what] = (progress.reached[what] ?? 0) + times
    if (failure !== undefined) fail({ seed, ...failure })
  }
  const work = async (runner: Runner): Promise<void> => {
    for (;;) {
      const steps = Math.min(history, wanted - progress.steps - promised)
      if (steps <= 0 || Date.now() >= until() || progress.violations >= most) break
      const seed = again.shift() ?? progress.seed++
      progress.open.push(seed)
      promised += steps
      try {
        add(await runner.run({ seed, steps, until: until(), folder }))
      } catch (error) {
        const told = error instanceof Error ? error.message : String(error)
        say(`seed ${seed}: ${told}`)
        fail({ seed, error: told })
      }
      promised -= steps
      progress.open.splice(progress.open.indexOf(seed), 1)
      save()
      say(`seed ${seed}: ${progress.steps} steps, ${progress.violations} violations`)
    }
    runner.end()
  }
  await Promise.all(runners.map(work))
  // Nobody has come to them.
  progress.open.push(...again)
  save()
}
