import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../test/crash/rounds.ts'
import { Cluster } from '../test/support/cluster.ts'
import { FAILURES, round, type Failure, type RoundReport } from '../test/support/failures.ts'
import { DatabaseMachines, MissingProgram } from './cluster/machines.ts'

/**
 * `npm run cluster [-- WORD …]`: the real thing on loopback. Three machines of etcd, Patroni and PostgreSQL as Debian has them, set up by the
 * files in deploy/; two cores and two gateways; load from several clients who write down what they are told; and one failure after
 * the other. Words choose failures by their names. Prints a table in Markdown.
 */
const LEASE_MS = 1500

const databaseFailures = (machines: DatabaseMachines): Failure[] => [
  {
    name: 'PostgreSQL crashes on the primary, Patroni sees it',
    run: async ({ strike, served }) => {
      strike()
      await machines.crashPrimary()
      await served(90_000)
      await machines.whole()
    },
  },
  {
    name: "the primary's machine hangs, and comes back",
    run: async ({ strike, served }) => {
      strike()
      const goOn = await machines.hangPrimary()
      await served(90_000)
      goOn()
      await machines.whole()
    },
  },
  {
    name: 'planned: patronictl switchover',
    run: async ({ strike, served }) => {
      strike()
      await machines.switchOver()
      await served(90_000)
      await machines.whole()
    },
  },
  {
    name: 'kill -9 of one etcd of three',
    run: async ({ strike, served }) => {
      strike()
      machines.killEtcd()
      await served(90_000)
      await sleep(2000)
      await machines.mend()
    },
  },
]

async function main(words: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-machines-'))
  let machines: DatabaseMachines | undefined
  let cluster: Cluster | undefined
  const reports: RoundReport[] = []
  const begun = performance.now()
  try {
    machines = await DatabaseMachines.start(folder)
    process.once('exit', () => machines?.close())
    console.log(`etcd, Patroni and PostgreSQL, three of each, after ${seconds(begun)}`)
    cluster = await Cluster.start({ database: await machines.database(), leaseMs: LEASE_MS })
    console.log(`two cores and two gateways after ${seconds(begun)}`)
    const chosen = [...FAILURES, ...databaseFailures(machines)].filter(
      ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
    )
    for (const [place, failure] of chosen.entries()) {
      const report = await round(failure, cluster, machines, { random: seeded(place + 1), name: `c${place}` })
      reports.push(report)
      console.log(`${failure.name}: served after ${report.servedMs.toFixed(0)} ms`)
    }
    await cluster.verify()
    tell(reports)
    return 0
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    console.error(`kontor: ${error.message}`)
    return 2
  } finally {
    await cluster?.close()
    machines?.close()
    await sleep(500)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
const seconds = (from: number): string => `${((performance.now() - from) / 1000).toFixed(0)} s`
function tell(reports: readonly RoundReport[]): void {
  const sum = (of: (report: RoundReport) => number): number =>
    reports.reduce((total, one) => total + of(one), 0)
  console.log('\n| failure | served again after | longest silence | acknowledged | of unknown fate |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const { name, servedMs, gapMs, acknowledged, unknown } of reports)
    console.log(
      `| ${name} | ${servedMs.toFixed(0)} ms | ${gapMs.toFixed(0)} ms | ${acknowledged} | ${unknown} |`,
    )
  console.log(
    `\n${sum((one) => one.acknowledged)} acknowledged writes: 0 lost, 0 twice, in order; ${sum((one) => one.operations)} operations in linearizable histories; proof balanced after each, verify clean at the end`,
  )
}
process.exit(await main(process.argv.slice(2)))
