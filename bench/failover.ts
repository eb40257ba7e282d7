import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seeded } from '../test/crash/rounds.ts'
import { Cluster, CLUSTER_ENV, urlOf, type DatabaseOf } from '../test/support/cluster.ts'
import { FAILURES, round, type Failure, type RoundReport } from '../test/support/failures.ts'
import { pairDatabase, pairFailures } from '../test/support/pair-failures.ts'
import { PostgresPair } from '../test/support/postgres-pair.ts'
import { PlatformProcess } from '../test/support/process.ts'
import { tellFacts } from './facts.ts'
import { fill } from './load.ts'

/**
 * `npm run bench -- failover [ROUNDS] [BALANCES] [SEED]`: cores, gateways and databases die under load; everything that
 * was acknowledged is held against what is there afterwards, and the time until writes are served again is told.
 */
const LEASE_MS = 1500
/** Most rounds are of what has a bound. */
const OFTEN = [
  'kill -9 of the active core',
  'planned: kontor promote',
  'kill -9 of the primary, its standby is promoted',
]

export async function run([
  rounds = '30',
  balances = '1000000',
  seed = '1',
]: readonly string[]): Promise<void> {
  tellFacts('PostgreSQL, a primary and a synchronous standby')
  console.log(`${rounds} rounds with ${balances} balances, a lease of ${LEASE_MS} ms, seed ${seed}`)
  const pair = await PostgresPair.start({ durable: true, proxied: true })
  try {
    const database = await pairDatabase(pair)
    const begun = performance.now()
    const took = (): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`
    await makeWorld(database, Number(balances))
    console.log(`the balances are there after ${took()}`)
    const cluster = await Cluster.start({ database, leaseMs: LEASE_MS })
    console.log(`two cores, one of them warm, and two gateways after ${took()}`)
    const reports: RoundReport[] = []
    try {
      for (let i = 0; i < Number(rounds); i++) {
        const failure = failureOf(i)
        const report = await round(failure, cluster, pairFailures(pair), {
          random: seeded(Number(seed) + i),
          name: `r${i}`,
        })
        reports.push(report)
        console.log(
          `${String(i + 1).padStart(3)}  ${failure.name}: served after ${report.servedMs.toFixed(0)} ms, longest silence ${report.gapMs.toFixed(0)} ms; ${report.acknowledged} acknowledged, ${report.unknown} of unknown fate`,
        )
      }
      // Rows that were written for the bench have no lines behind them, which verify would miss.
      if (balances === '0') await cluster.verify()
    } finally {
      await cluster.close()
    }
    tell(reports)
  } finally {
    await pair.close()
  }
}
/** Two rounds of three are of those with a bound, in turn; the others take turns in what is left. */
function failureOf(round: number): Failure {
  const others = FAILURES.filter(({ name }) => !OFTEN.includes(name))
  if (round % 3 === 2) return others[Math.floor(round / 3) % others.length]!
  const often = OFTEN[(round - Math.floor(round / 3)) % OFTEN.length]!
  return FAILURES.find(({ name }) => name === often)!
}
function tell(reports: readonly RoundReport[]): void {
  const sum = (of: (report: RoundReport) => number): number =>
    reports.reduce((total, one) => total + of(one), 0)
  console.log('')
  for (const name of new Set(reports.map((one) => one.name))) {
    const mine = reports.filter((one) => one.name === name)
    const spread = (of: (report: RoundReport) => number): string => {
      const sorted = mine.map(of).sort((a, b) => a - b)
      const at = (share: number): string => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(0)
      return sorted.length === 1 ? `${at(0)} ms` : `${at(0)} / ${at(0.5)} / ${at(1)} ms`
    }
    console.log(
      `${name}: ${mine.length} round${mine.length === 1 ? '' : 's'}, served after ${spread((one) => one.servedMs)}, longest silence ${spread((one) => one.gapMs)}`,
    )
  }
  console.log(
    `${sum((one) => one.acknowledged)} acknowledged writes, 0 lost, 0 twice, in order; ${sum((one) => one.unknown)} of unknown fate; ${sum((one) => one.operations)} operations, all histories linearizable; proof balanced after each round`,
  )
}
/** Rows as the platform writes them, before anybody serves. */
async function makeWorld(database: DatabaseOf, balances: number): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
  try {
    const env = {
      ...CLUSTER_ENV,
      KONTOR_DATA: data,
      KONTOR_DATABASE_URL: urlOf(database),
      KONTOR_LOG: 'error',
    }
    const world = await PlatformProcess.start(env)
    await world.kill('SIGTERM')
    if (balances === 0) return
    writeFileSync(join(data, 'secret.key'), `${CLUSTER_ENV.KONTOR_SECRET_KEY}\n`, { mode: 0o600 })
    await fill({ data, databaseUrl: urlOf(database) }, 0, balances)
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}
