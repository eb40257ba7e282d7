import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorClient } from '../test/support/client.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { tellFacts, tellGenerator } from './facts.ts'
import { megabytes } from './family.ts'
import { flatness } from './flat.ts'
import { generate, type LoadResult } from './load-generator.ts'
import { mixed, thereAndBack } from './mix.ts'
import type { Row, Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest, type Signer } from './signed.ts'

/**
 * `npm run bench -- steady [SECONDS | --seconds SECONDS] [sqlite | postgres]`: half of what the platform can take at most, for as long as is
 * given, in an open loop: a request's latency counts from the moment it should have been sent. Memory and the lag of the
 * tables are told over time, with a verdict at the end: both must stay flat. Beside it, at the same rate, a bare server that
 * does nothing: what its slowest requests wait for is the machine.
 */
const ACCOUNTS = 16
const CONNECTIONS = 128
const REQUESTS = 4_000
const MAXIMUM_SECONDS = 5
/** Signatures are good for a minute. */
const SLICE_SECONDS = 20
const SAMPLE_MS = 1_000

export async function account(
  operator: OperatorClient,
  i: number,
  info: Pick<ServerInfo, 'port'>,
): Promise<Signer> {
  const { user_id } = await operator.ok('POST', '/users', { login_name: `steady_${i}` })
  for (const [place, currency, amount] of [
    ['spot', 'USDT', '100000000'],
    ['spot', 'BTC', '1000'],
    ['futures', 'USDT', '1000000'],
  ] as const)
    await operator.ok('POST', `/users/${String(user_id)}/credit`, {
      account: place,
      currency,
      amount,
      ...(place === 'futures' && { settle: 'usdt' }),
    })
  const { key, secret } = await operator.ok('POST', `/users/${String(user_id)}/keys`, {
    name: 'steady',
    mode: 1,
    perms: [{ name: 'wallet' }, { name: 'spot' }],
    ip_whitelist: [],
  })
  return { port: info.port, key: String(key), secret: String(secret) }
}

const latencies = ({ p50, p99, p999 }: LoadResult): string =>
  `p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  p999 ${p999.toFixed(2)} ms`

/** Looks once a second, while the load runs: after it there is no lag to be seen. */
class Sampler {
  readonly memory: number[] = []
  readonly batches: number[] = []
  readonly megabytes: number[] = []
  private readonly operator: OperatorClient
  private readonly pid: number
  constructor(operator: OperatorClient, pid: number) {
    this.operator = operator
    this.pid = pid
  }
  async during<T>(load: Promise<T>): Promise<T> {
    let over = false
    const looking = (async () => {
      while (!over) {
        const { projection } = await this.operator.ok('GET', '/status')
        const { lag_batches, lag_bytes } = projection as { lag_batches: number; lag_bytes: number }
        this.memory.push(megabytes(this.pid))
        this.batches.push(lag_batches)
        this.megabytes.push(lag_bytes / 1e6)
        await sleep(SAMPLE_MS)
      }
    })()
    const result = await load
    over = true
    await looking
    return result
  }
}

export async function run(args: readonly string[]): Promise<void> {
  const [given = '60', store = 'sqlite'] = args.filter((argument) => argument !== '--seconds')
  const seconds = Number(given)
  if (!(seconds > 0) || (store !== 'sqlite' && store !== 'postgres'))
    throw new TypeError('usage: npm run bench -- steady [SECONDS | --seconds SECONDS] [sqlite | postgres]')
  await steadily(seconds, store, MAXIMUM_SECONDS)
}
export async function measured(quick: boolean): Promise<Table[]> {
  const rows: Row[] = []
  for (const store of ['sqlite', 'postgres'] as const)
    rows.push(...(quick ? await steadily(3, store, 1) : await steadily(60, store, MAXIMUM_SECONDS)))
  return [{ title: 'Mixed traffic; of half of it the worst of all slices of 20 s', rows }]
}
async function steadily(seconds: number, store: 'sqlite' | 'postgres', mostSeconds: number): Promise<Row[]> {
  tellFacts(store)
  const server = store === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined
  const env = server === undefined ? {} : { KONTOR_DATABASE_URL: await server.database() }
  const { info, pid, stop } = await launch('kontor', env)
  const operator = new OperatorClient(`http://127.0.0.1:${info.port}`, info.token)
  const signers = await Promise.all(Array.from({ length: ACCOUNTS }, (_, i) => account(operator, i, info)))
  const load = (length: number, rate?: number): Promise<LoadResult> =>
    generate({
      port: info.port,
      connections: CONNECTIONS,
      seconds: length,
      ...mixed(signers, REQUESTS),
      ...(rate !== undefined && { rate }),
    })
  await load(mostSeconds)
  const most = await load(mostSeconds)
  console.log(
    `at most ${most.rate.toFixed(0)} requests/s with ${CONNECTIONS} connections, 30 % transfers, 30 % orders, 40 % reads; ${latencies(most)}; failures ${most.failures}`,
  )
  const rate = most.rate / 2
  console.log(`half of it, ${rate.toFixed(0)} requests/s, for ${seconds} s:`)
  const slices: LoadResult[] = []
  const course = new Sampler(operator, pid)
  for (let left = seconds; left > 0; left -= SLICE_SECONDS) {
    const from = course.memory.length
    const slice = await course.during(load(Math.min(left, SLICE_SECONDS), rate))
    slices.push(slice)
    const most = (figures: readonly number[]): number => Math.max(...figures.slice(from))
    console.log(
      `  ${String(Math.min(seconds, slices.length * SLICE_SECONDS)).padStart(5)} s  ${slice.rate.toFixed(0)}/s  ${latencies(slice)}  failures ${slice.failures}  memory ${most(course.memory).toFixed(0)} MB  lag at most ${most(course.batches)} batches, ${most(course.megabytes).toFixed(2)} MB`,
    )
  }
  const worst = (figure: 'p50' | 'p99' | 'p999'): number => Math.max(...slices.map((slice) => slice[figure]))
  const [p50, p99, p999] = [worst('p50'), worst('p99'), worst('p999')]
  console.log(
    `worst of ${slices.length}: p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  p999 ${p999.toFixed(2)} ms`,
  )
  console.log(`memory, MB: ${flatness(course.memory, { slack: 10 }).text}`)
  console.log(`lag, batches: ${flatness(course.batches, { slack: 100 }).text}`)
  console.log('by kind, last slice:')
  for (const [kind, { p50, p99 }] of slices.at(-1)!.byKind)
    console.log(`  ${kind.padEnd(24)} p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`)
  tellGenerator(Math.max(...slices.map(({ busy }) => busy)))
  await stop()
  await server?.stop()
  const beside = await bareAt(rate, Math.min(seconds, SLICE_SECONDS))
  console.log(`a bare server at the same rate: ${latencies(beside)}`)
  const failures = slices.reduce((sum, slice) => sum + slice.failures, 0)
  const name = store === 'sqlite' ? 'SQLite' : 'PostgreSQL'
  return [
    {
      name: `at most, ${name}`,
      figures: { rate: most.rate, p50: most.p50, p99: most.p99, p999: most.p999, failures: most.failures },
    },
    {
      name: `half of it, ${name}`,
      figures: { rate, p50, p99, p999, megabytes: Math.max(...course.memory), failures },
    },
    {
      name: `a bare server at the rate of ${name}`,
      figures: {
        rate: beside.rate,
        p50: beside.p50,
        p99: beside.p99,
        p999: beside.p999,
        failures: beside.failures,
      },
    },
  ]
}
async function bareAt(rate: number, seconds: number): Promise<LoadResult> {
  const { info, stop } = await launch('bare')
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    signedRequest(info, 'POST', '/api/v4/wallet/transfers', '', thereAndBack(i)),
  )
  const load = { port: info.port, connections: CONNECTIONS, requests }
  await generate({ ...load, seconds: 1 })
  const result = await generate({ ...load, seconds, rate })
  await stop()
  return result
}
