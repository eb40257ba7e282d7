import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seeded } from '../crash/rounds.ts'
import { Cluster } from '../support/cluster.ts'
import { FAILURES, round, type Failure } from '../support/failures.ts'
import { pairDatabase, pairFailures } from '../support/pair-failures.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import { until } from '../support/raw.ts'

/**
 * Two cores, two gateways, a primary and its synchronous standby, clients who write down what they were told: whatever
 * fails, nothing that was acknowledged is lost, nothing is done twice, the order is kept, and the books balance.
 */

describe('a cluster under load', () => {
  let pair: PostgresPair
  let cluster: Cluster
  before(async () => {
    pair = await PostgresPair.start({ proxied: true })
    cluster = await Cluster.start({
      database: await pairDatabase(pair),
      // Longer than a take-over takes on a busy machine: whoever gave up before it would not find out that it is overtaken.
      env: { KONTOR_DATABASE_WAIT: '15' },
    })
  })
  after(async () => {
    await cluster.close()
    await pair.close()
  })
  for (const [place, failure] of FAILURES.entries())
    test(failure.name, async (t) => {
      const report = await round(failure, cluster, pairFailures(pair), {
        random: seeded(place + 1),
        name: `f${place}`,
      })
      t.diagnostic(
        `served after ${report.servedMs.toFixed(0)} ms, longest silence ${report.gapMs.toFixed(0)} ms; ${report.acknowledged} acknowledged, ${report.unknown} of unknown fate, ${report.operations} operations checked in ${report.checkMs.toFixed(0)} ms`,
      )
    })
  test('the database is in order afterwards', () => cluster.verify())
  test('and it would be noticed: a standby that was not synchronous loses what was acknowledged', async () => {
    const failures = pairFailures(pair)
    const lossy: Failure = {
      name: 'a standby that was behind is promoted',
      run: async ({ load, strike, served }) => {
        await pair.alone()
        pair.links!.replication.cut()
        const before = load.acknowledged.length
        await until(() => load.acknowledged.length > before + 30)
        strike()
        await failures.killPrimary()
        await served(60_000)
        pair.links!.replication.heal()
        await failures.mend()
      },
    }
    await assert.rejects(
      round(lossy, cluster, failures, { random: seeded(99), name: 'lossy' }),
      /violation|is lost/,
    )
  })
})
