import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, CoreMachine } from './cluster.ts'
import { until } from './raw.ts'
import { RecordedLoad } from './recorded-load.ts'

/** The database's own failures, which differ by who watches over it. */
export interface DatabaseFailures {
  /** The primary is gone at once, and its standby becomes the primary. */
  killPrimary(): Promise<void>
  /** Both are there again, one behind the other. */
  mend(): Promise<void>
  /** The standby is out of reach for so long: nothing is acknowledged meanwhile. */
  parted(ms: number): Promise<void>
}
export interface Stage {
  readonly cluster: Cluster
  readonly database: DatabaseFailures
  readonly load: RecordedLoad
  /** The core that is active when the failure comes, and the other. */
  readonly active: CoreMachine
  readonly other: CoreMachine
  /** From now on the time counts. */
  readonly strike: () => void
  /** Writes that were begun after the strike are acknowledged. */
  readonly served: (ms?: number) => Promise<void>
}
export interface Failure {
  readonly name: string
  /** What must be so besides that everything is right: exits of the old core, nothing refused. */
  readonly run: (stage: Stage) => Promise<void>
}

/** The old core has found out that it is not the active one any more, and said so. */
const fenced = async (core: CoreMachine, process = core.supervised.process): Promise<void> => {
  const code = await Promise.race([process.exit, sleep(20_000, 'late' as const, { ref: false })])
  assert.equal(code, 3, `${core.node}: ${core.supervised.log.slice(-2000)}`)
}
/** The active core loses its database by a link that fails so; the other takes over; healed, the old one ends with 3. */
const databaseLink = (name: string, fail: (core: CoreMachine) => void): Failure => ({
  name: `${name}: the active core and its database`,
  run: async ({ active, other, strike, served, cluster }) => {
    const { process } = active.supervised
    strike()
    fail(active)
    await served()
    assert.equal((await cluster.active()).node, other.node)
    for (const link of active.database) link.heal({ forget: true })
    await fenced(active, process)
  },
})
const lineLink = (name: string, fail: (core: CoreMachine) => void): Failure => ({
  name: `${name}: the gateways and the active core`,
  run: async ({ active, strike, served }) => {
    strike()
    fail(active)
    await sleep(1500)
    active.line.heal({ forget: true })
    await served()
  },
})

export const FAILURES: readonly Failure[] = [
  {
    name: 'kill -9 of the active core',
    run: async ({ active, strike, served }) => {
      strike()
      active.supervised.signal('SIGKILL')
      await served()
    },
  },
  {
    name: 'the active core sleeps past its lease and wakes up',
    run: async ({ active, other, strike, served, cluster }) => {
      const { process } = active.supervised
      strike()
      active.supervised.signal('SIGSTOP')
      await served()
      assert.equal((await cluster.active()).node, other.node)
      process.child.kill('SIGCONT')
      await fenced(active, process)
    },
  },
  {
    name: 'planned: kontor promote',
    run: async ({ active, other, strike, served, cluster, load }) => {
      const { process } = active.supervised
      const before = { ...load.counts }
      strike()
      await cluster.promote(other.node)
      await served()
      assert.equal(await process.exit, 0, active.supervised.log.slice(-2000))
      // Nobody is refused, nobody is left without an answer.
      assert.deepEqual(
        { unknown: load.counts.unknown - before.unknown, unsent: load.counts.unsent - before.unsent },
        { unknown: 0, unsent: 0 },
        load.whyUnknown(),
      )
    },
  },
  {
    name: 'kill -9 of a gateway',
    run: async ({ cluster, strike, served }) => {
      strike()
      cluster.gateways[0]!.supervised.signal('SIGKILL')
      await served()
      await cluster.ready()
    },
  },
  {
    name: 'kill -9 of the primary, its standby is promoted',
    run: async ({ database, strike, served }) => {
      strike()
      await database.killPrimary()
      await served(60_000)
      await database.mend()
    },
  },
  databaseLink('cut', (core) => {
    for (const link of core.database) link.cut()
  }),
  databaseLink('a black hole', (core) => {
    for (const link of core.database) link.drop()
  }),
  databaseLink('half-open', (core) => {
    for (const link of core.database) link.deafen('back')
  }),
  {
    name: 'cut for a moment: the active core and its database',
    run: async ({ active, strike, served }) => {
      strike()
      for (const link of active.database) link.reset()
      await served()
    },
  },
  {
    name: 'slow (100 ms more each way): the active core and its database',
    run: async ({ active, strike, served }) => {
      strike()
      for (const link of active.database) link.delay(100)
      await served()
      await sleep(1000)
      for (const link of active.database) link.heal()
    },
  },
  {
    name: 'cut: the standby core and the database',
    run: async ({ other, cluster, active, strike, served }) => {
      strike()
      for (const link of other.database) link.cut()
      await served()
      await sleep(500)
      for (const link of other.database) link.heal()
      assert.equal((await cluster.active()).node, active.node)
    },
  },
  {
    name: 'parted for 2 s: the primary and its standby',
    run: async ({ database, strike, served }) => {
      strike()
      await database.parted(2000)
      await served()
    },
  },
  lineLink('cut', (core) => core.line.cut()),
  lineLink('a black hole', (core) => core.line.drop()),
  lineLink('half-open', (core) => core.line.deafen('back')),
  lineLink('slow (100 ms more each way)', (core) => core.line.delay(100)),
]

export interface RoundReport {
  readonly name: string
  /** From the strike to the first acknowledged write that was begun after it. */
  readonly servedMs: number
  /** The longest time without any acknowledgement. */
  readonly gapMs: number
  readonly acknowledged: number
  readonly unknown: number
  readonly operations: number
  readonly checkMs: number
}

/** One failure under load, and everything that must hold afterwards. */
export async function round(
  failure: Failure,
  cluster: Cluster,
  database: DatabaseFailures,
  {
    random,
    name,
    clientsEach = 3,
    paceMs = 8,
  }: { random: () => number; name: string; clientsEach?: number; paceMs?: number },
): Promise<RoundReport> {
  await cluster.ready()
  await cluster.standing()
  const load = new RecordedLoad({ random, name, clientsEach, paceMs, timeoutMs: 15_000 })
  await load.prepare(await cluster.operator())
  const active = await cluster.active()
  const other = cluster.cores.find((core) => core !== active)!
  let struck = 0
  const begun = performance.now()
  try {
    load.start(cluster.urls)
    await sleep(300 + random() * 300)
    const served = (ms = 20_000): Promise<void> =>
      until(
        () => load.firstAfter(struck) !== undefined,
        ms,
        () => `nothing is served: ${load.whyUnknown()} ${cluster.logs()}`,
      )
    await failure.run({
      cluster,
      database,
      load,
      active,
      other,
      strike: () => (struck = performance.now()),
      served,
    })
    await sleep(400)
  } finally {
    await load.stop()
  }
  const ended = performance.now()
  await cluster.ready()
  await load.lookAtAll(cluster.urls)
  const checking = performance.now()
  load.assertRight({ ms: 60_000 })
  const checkMs = performance.now() - checking
  await assertStored(load, cluster)
  await load.clear(cluster.urls[0]!)
  const proof = await (await cluster.operator()).ok('GET', '/ledger/proof')
  assert.equal(proof.balanced, true)
  return {
    name: failure.name,
    servedMs: load.firstAfter(struck)! - struck,
    gapMs: load.longestGap(begun, ended),
    acknowledged: load.acknowledged.length,
    unknown: load.counts.unknown,
    operations: load.families.reduce((sum, { history }) => sum + history.length, load.market.length),
    checkMs,
  }
}

/** What was acknowledged is in the tables, once. */
async function assertStored(load: RecordedLoad, { database }: Cluster): Promise<void> {
  const users = load.families.map(({ main }) => main).join()
  for (const [kind, sql] of [
    ['transfer', `select client_order_id as id from sub_transfer where main_user in (${users})`],
    ['withdrawal', `select withdraw_order_id as id from withdrawal where user_id in (${users})`],
    ['order', `select text as id from spot_order where user_id in (${users})`],
  ] as const) {
    const counts = new Map<string, number>()
    for (const { id } of await database.query(sql))
      counts.set(id as string, (counts.get(id as string) ?? 0) + 1)
    for (const [id, count] of counts) assert.equal(count, 1, `${kind} ${id} was done ${count} times`)
    for (const one of load.acknowledged)
      if (one.kind === kind || (kind === 'order' && one.kind === 'trade'))
        assert.equal(counts.get(one.id), 1, `${one.kind} ${one.id} was acknowledged and is lost`)
  }
}
