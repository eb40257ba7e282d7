import { tellFacts, tellGenerator } from './facts.ts'
import { generate, median, type LoadResult } from './load-generator.ts'
import { order } from './mix.ts'
import type { Row, Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest } from './signed.ts'
import { onEachStore } from './stores.ts'

const ROUNDS = 3
const SECONDS = 4
const REQUESTS = 2_000
const CONTRACT = '/operator/v1/contracts/futures/usdt/BTC_USDT'

/** Durable signed orders of contracts, beside those of spot, on one platform, in turn. */
export async function run(): Promise<void> {
  await beside(process.env['KONTOR_DATABASE_URL'] === undefined ? 'SQLite' : 'PostgreSQL', {}, false)
}
export async function measured(quick: boolean): Promise<Table[]> {
  const rows = await onEachStore((store, env) => beside(store, env, quick))
  return [{ title: 'Signed orders', at: 'clients', rows: rows.flat() }]
}
async function beside(store: string, env: Record<string, string>, quick: boolean): Promise<Row[]> {
  const [rounds, seconds] = quick ? [1, 1] : [ROUNDS, SECONDS]
  const rows: Row[] = []
  tellFacts(store)
  const { info, stop } = await launch('kontor', env)
  const near = Math.round(await prepare(info))
  const bodies = {
    spot: { path: '/api/v4/spot/orders', bodyOf: order },
    contracts: { path: '/api/v4/futures/usdt/orders', bodyOf: (i: number) => contractOrder(i, near) },
  }
  const requests = ({ path, bodyOf }: { path: string; bodyOf: (i: number) => object }): Buffer[] =>
    Array.from({ length: REQUESTS }, (_, i) => signedRequest(info, 'POST', path, '', bodyOf(i)))
  const names = ['spot', 'contracts'] as const
  for (const connections of [64, 256]) {
    const results: Record<(typeof names)[number], LoadResult[]> = { spot: [], contracts: [] }
    // The first round warms up both: code is compiled, gateways that wait for a crowd are there.
    for (let round = -1; round < rounds; round++)
      for (const name of names) {
        const run = { port: info.port, connections, seconds, requests: requests(bodies[name]) }
        const result = await generate(run)
        if (round >= 0) results[name].push(result)
      }
    console.log(
      `\n${connections} connections, median of ${rounds} interleaved rounds of ${seconds} s behind one to warm up`,
    )
    const rate = (name: (typeof names)[number]): number => median(results[name].map((one) => one.rate))
    for (const name of names) {
      const runs = results[name]
      const failures = runs.reduce((sum, one) => sum + one.failures, 0)
      const figure = (of: 'p50' | 'p99' | 'p999'): number => median(runs.map((one) => one[of]))
      const [p50, p99, p999] = [figure('p50'), figure('p99'), figure('p999')]
      console.log(
        `  ${name.padEnd(9)} ${rate(name).toFixed(0).padStart(7)} orders/s   p99 ${p99.toFixed(2)} ms   failures ${failures}`,
      )
      rows.push({
        name: `${name} on ${store}`,
        at: connections,
        figures: { rate: rate(name), ratio: rate(name) / rate('spot'), p50, p99, p999, failures },
      })
    }
    console.log(`  ratio     ${(rate('contracts') / rate('spot')).toFixed(2)}`)
    tellGenerator(Math.max(...names.flatMap((name) => results[name].map(({ busy }) => busy))))
  }
  await stop()
  return rows
}

/** Room for as many open orders as in spot; answers the mark price. */
async function prepare({ port, token }: ServerInfo): Promise<number> {
  const base = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ orders_limit: 1_000 })
  const changed = await fetch(base + CONTRACT, { method: 'PATCH', headers, body })
  if (!changed.ok) throw new Error(await changed.text())
  const shown = await fetch(`${base}/api/v4/futures/usdt/contracts/BTC_USDT`)
  return Number(((await shown.json()) as { mark_price: string }).mark_price)
}
/** As `order` of spot: half of them rest, the others take one of those. */
function contractOrder(i: number, near: number): object {
  const { side, price, time_in_force } = order(i) as { side: string; price: string; time_in_force?: string }
  const away = Number(price) - 50_000
  return {
    contract: 'BTC_USDT',
    size: side === 'buy' ? 1 : -1,
    price: String(near + away),
    ...(time_in_force !== undefined && { tif: time_in_force }),
  }
}
