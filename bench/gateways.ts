import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Cluster, CLUSTER_ENV } from '../test/support/cluster.ts'
import { pairDatabase } from '../test/support/pair-failures.ts'
import { PostgresPair } from '../test/support/postgres-pair.ts'
import { cpuSeconds } from './family.ts'
import { tellFacts } from './facts.ts'
import { generate, type LoadResult } from './load-generator.ts'
import { order, thereAndBack } from './mix.ts'
import { signedRequest } from './signed.ts'

/**
 * `npm run bench -- gateways [SECONDS] [COUNTS]`: signed, durable requests through 1, 2, 4 and 8 gateways of other machines (here
 * processes with TLS between them and the core), with a primary and a synchronous standby behind. Tells what was busy, and
 * so what ends the growth.
 */
const CONNECTIONS = 256
const REQUESTS = 4_000
const TICKS_A_SECOND = 100

export async function run([seconds = '6', counts = '1,2,4,8']: readonly string[]): Promise<void> {
  tellFacts('PostgreSQL, a primary and a synchronous standby')
  const cores = availableParallelism()
  if (cores < 8)
    console.log(
      `with ${cores} cores everything shares them: rates say little, the time of processors for each request does`,
    )
  const pair = await PostgresPair.start({ durable: true, proxied: false })
  const cluster = await Cluster.start({
    database: await pairDatabase(pair),
    cores: 1,
    gateways: 1,
    direct: true,
  })
  try {
    for (const count of counts.split(',').map(Number)) {
      while (cluster.gateways.length < count)
        await cluster.addGateway(`gateway${cluster.gateways.length + 1}`)
      await cluster.ready()
      for (const [what, path, body] of [
        ['transfers', '/api/v4/wallet/transfers', thereAndBack],
        ['orders', '/api/v4/spot/orders', order],
      ] as const)
        await measure(cluster, what, path, body, Number(seconds))
    }
  } finally {
    await cluster.close()
    await pair.close()
  }
}

async function measure(
  cluster: Cluster,
  what: string,
  path: string,
  body: (i: number) => object,
  seconds: number,
): Promise<void> {
  const { KONTOR_DEMO_KEY: key, KONTOR_DEMO_SECRET: secret } = CLUSTER_ENV
  const core = cluster.cores[0]!.supervised.process.child.pid!
  const gateways = cluster.gateways.map(({ supervised }) => supervised.process.child.pid!)
  const used = (): { main: number; core: number; gateways: number[] } => ({
    main: mainThreadSeconds(core),
    core: cpuSeconds(core),
    gateways: gateways.map(cpuSeconds),
  })
  const loads = cluster.gateways.map(({ url }) => {
    const port = Number(new URL(url).port)
    const requests = Array.from({ length: REQUESTS }, (_, i) =>
      signedRequest({ port, key, secret }, 'POST', path, '', body(i)),
    )
    return { port, connections: Math.ceil(CONNECTIONS / gateways.length), seconds, requests }
  })
  await Promise.all(loads.map((load) => generate({ ...load, seconds: 1 })))
  const before = used()
  const begun = performance.now()
  const results: LoadResult[] = await Promise.all(loads.map((load) => generate(load)))
  const elapsed = (performance.now() - begun) / 1000
  const after = used()
  const replies = results.reduce((sum, one) => sum + one.replies, 0)
  const failures = results.reduce((sum, one) => sum + one.failures, 0)
  const share = (from: number, to: number): string => `${(((to - from) / elapsed) * 100).toFixed(0)} %`
  const each = (from: number, to: number): string => `${(((to - from) / replies) * 1e6).toFixed(0)} µs`
  const busiest = gateways.reduce(
    (best, _, i) =>
      after.gateways[i]! - before.gateways[i]! > after.gateways[best]! - before.gateways[best]! ? i : best,
    0,
  )
  const total = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0)
  console.log(
    `${gateways.length} gateways  ${what.padEnd(9)} ${(replies / elapsed).toFixed(0).padStart(6)} a second  p50 ${worst(results, 'p50')} ms  p99 ${worst(results, 'p99')} ms  failures ${failures}` +
      `\n   core's main thread ${share(before.main, after.main)} busy (${each(before.main, after.main)} each), all of its threads ${share(before.core, after.core)};` +
      ` the busiest gateway ${share(before.gateways[busiest]!, after.gateways[busiest]!)} (all: ${each(total(before.gateways), total(after.gateways))} each);` +
      ` generator ${(Math.max(...results.map(({ busy }) => busy)) * 100).toFixed(0)} %`,
  )
}
const worst = (results: readonly LoadResult[], of: 'p50' | 'p99'): string =>
  Math.max(...results.map((one) => one[of])).toFixed(2)
/** Of the thread that carries commands out, without the journal's, the tables' and the line's. */
function mainThreadSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}
