import { parseArgs } from 'node:util'
import { KillRounds, seeded } from '../test/crash/rounds.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { commitHere, keep, kept as readKept } from './kept.ts'

/**
 * `npm run kill -- --store sqlite | postgres --rounds 1000 --resume FILE [--seed N] [--minutes M] [--cores N]`: a platform that is
 * killed again and again under traffic that moves money in every way; after each death everything that was acknowledged
 * is held against what is there. Rounds are summed in the file; a later run goes on from there. `--cores`: it works as on a
 * machine of so many.
 */
const STORES = ['sqlite', 'postgres'] as const
type StoreName = (typeof STORES)[number]
interface Kept {
  readonly store: StoreName
  readonly seed: number
  rounds: number
  /** By the way of dying. */
  ways: Record<string, number>
  /** By kind. */
  acknowledged: Record<string, number>
  survivors: number
  worlds: number
  violations: string[]
  seconds: number
  /** Rounds of each commit that ran. */
  commits: Record<string, number>
  finished: string
}
/** Everything is looked at after each round, and it grows: after so many a new world begins. */
const WORLD = 25

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    resume: { type: 'string' },
    minutes: { type: 'string' },
    cores: { type: 'string' },
  },
})
const store = STORES.find((name) => name === values.store)
if (store === undefined) throw new TypeError(`--store must be one of ${STORES.join(', ')}`)
const total = Number(values.rounds)
const cores = values.cores === undefined ? undefined : Number(values.cores)
if (cores !== undefined && !(cores >= 1)) throw new TypeError('--cores must be a number of at least 1')
let until = values.minutes === undefined ? Infinity : Date.now() + Number(values.minutes) * 60_000
// Whoever ends it ends it behind the round that is on, so that no platform is left behind; a second time at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (until = 0))
const here = commitHere()
const kept: Kept = readKept<Kept>(values.resume) ?? {
  store,
  seed: Number(values.seed),
  rounds: 0,
  ways: {},
  acknowledged: {},
  survivors: 0,
  worlds: 0,
  violations: [],
  seconds: 0,
  commits: {},
  finished: '',
}
if (kept.store !== store) throw new TypeError(`${values.resume!} is of ${kept.store}`)

const add = (sums: Record<string, number>, more: Readonly<Record<string, number>>): void => {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count
}
/** What came to it since the last time. */
function added(
  sums: Record<string, number>,
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  for (const [name, count] of Object.entries(now))
    sums[name] = (sums[name] ?? 0) + count - (before[name] ?? 0)
  return { ...now }
}
const goesOn = (): boolean => kept.rounds < total && Date.now() < until

/** Rounds on one world. False: something was wrong, and its files are kept. */
async function world(databaseUrl: string | undefined): Promise<boolean> {
  const seed = kept.seed + kept.worlds
  const rounds = await KillRounds.begin(databaseUrl, seeded(seed), cores)
  let counted: Record<string, number> = {}
  try {
    for (let i = 0; i < WORLD && goesOn(); i++) {
      const started = Date.now()
      const { way, survivors } = await rounds.round()
      kept.rounds++
      kept.survivors += survivors
      kept.seconds += (Date.now() - started) / 1000
      add(kept.ways, { [way]: 1 })
      add(kept.commits, { [here]: 1 })
      counted = added(kept.acknowledged, counted, rounds.money.acknowledged)
      save()
    }
    await rounds.finish()
    rounds.remove()
    return true
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    kept.violations.push(`seed ${seed}, round ${kept.rounds + 1} (${rounds.place.data}): ${text}`)
    console.log(kept.violations.at(-1))
    return false
  } finally {
    kept.worlds++
    save()
  }
}
function save(): void {
  kept.seconds = Math.round(kept.seconds)
  kept.finished = new Date().toISOString()
  if (values.resume !== undefined) keep(values.resume, kept)
}
const told = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

const server = store === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined
try {
  while (goesOn()) {
    const well = await world(await server?.database())
    console.log(
      `${kept.rounds} of ${total} rounds on ${store}, ${kept.worlds} worlds, ${kept.violations.length} violations`,
    )
    if (!well && kept.violations.length > 20) break
  }
} finally {
  await server?.stop()
}
console.log(`deaths: ${told(kept.ways)}`)
console.log(`acknowledged: ${told(kept.acknowledged)}; ${kept.survivors} unanswered ones had been committed`)
console.log(
  `${kept.rounds} rounds, ${kept.violations.length} violations, ${kept.seconds} s; commits ${told(kept.commits)}`,
)
process.exit(kept.violations.length === 0 ? 0 : 1)
