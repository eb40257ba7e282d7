import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NEVER, deal, nothing, type Deal, type Progress } from '../../tools/sim-deal.ts'
import type { Done, Task } from '../../tools/sim-history.ts'
import type { Runner } from '../../tools/sim-jobs.ts'

type Told = Partial<Done> | Error
/** Runs nothing: what becomes of a history is what it is told. */
class Pretended implements Runner {
  readonly seeds: number[] = []
  ended = 0
  private readonly outcome: (task: Task) => Told
  constructor(outcome: (task: Task) => Told = () => ({})) {
    this.outcome = outcome
  }
  async run(task: Task): Promise<Done> {
    this.seeds.push(task.seed)
    await new Promise((resolve) => setImmediate(resolve))
    const told = this.outcome(task)
    if (told instanceof Error) throw told
    return { seed: task.seed, steps: task.steps, reached: { met: 1 }, ms: 2 * task.steps, ...told }
  }
  stop(): void {
    return undefined
  }
  end(): void {
    this.ended++
  }
}
const saved: Progress[] = []
const terms = (steps: number, more: Partial<Deal> = {}): Deal => ({
  steps,
  history: 10,
  folder: '.',
  commit: 'here',
  until: () => NEVER,
  save: () => undefined,
  say: () => undefined,
  ...more,
})

test('each seed is dealt to one, and all is summed up', async () => {
  const [one, other] = [new Pretended(), new Pretended()]
  const progress = nothing(5)
  await deal(progress, [one, other], terms(35, { save: () => saved.push(structuredClone(progress)) }))
  assert.deepEqual([...one.seeds, ...other.seeds].sort(), [5, 6, 7, 8])
  assert.deepEqual(
    [progress.steps, progress.histories, progress.seed, progress.ms, progress.open],
    [35, 4, 9, 70, []],
  )
  assert.deepEqual([progress.reached, progress.commits], [{ met: 4 }, { here: 35 }])
  assert.deepEqual([one.ended, other.ended], [1, 1])
  // Whoever is killed then leaves in the file what was under way.
  assert.deepEqual(saved[0]!.open, [6])
})
test('what was under way when somebody ended it is run again first', async () => {
  const runner = new Pretended()
  const progress = { ...nothing(9), open: [4, 7], steps: 100 }
  await deal(progress, [runner], terms(30))
  assert.deepEqual([runner.seeds, progress.steps, progress.seed], [[4, 7, 9], 130, 10])
})
test('a history that fails and a process that dies are told, and the others go on', async () => {
  const told: string[] = []
  const runner = new Pretended(({ seed }) =>
    seed === 2
      ? new Error('its process ended with SIGSEGV')
      : seed === 3
        ? { steps: 4, failure: { error: 'step 4 (place): wrong', file: 'sim-3.json' } }
        : {},
  )
  const progress = nothing(1)
  await deal(progress, [runner], terms(30, { say: (line) => told.push(line) }))
  assert.deepEqual(runner.seeds, [1, 2, 3, 4, 5])
  assert.deepEqual([progress.steps, progress.violations], [30, 2])
  assert.deepEqual(
    progress.failures.map(({ seed, file }) => [seed, file]),
    [
      [2, undefined],
      [3, 'sim-3.json'],
    ],
  )
  assert.ok(told.includes('seed 2: its process ended with SIGSEGV'))
})
test('where everything fails it ends, and when the time is over nothing is begun', async () => {
  const broken = new Pretended(() => new Error('no'))
  const progress = nothing(1)
  await deal(progress, [broken], terms(1_000))
  assert.deepEqual([progress.violations, progress.steps], [40, 0])

  const [late, left] = [new Pretended(), { ...nothing(8), open: [3] }]
  await deal(left, [late], terms(1_000, { until: () => 0 }))
  assert.deepEqual([late.seeds, left.open, left.seed], [[], [3], 8])
})
