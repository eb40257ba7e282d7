import { OperatorClient } from '../test/support/client.ts'
import { tellFacts } from './facts.ts'
import { megabytes } from './family.ts'
import { generate } from './load-generator.ts'
import { order } from './mix.ts'
import { print, type Row, type Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest } from './signed.ts'
import { account } from './steady.ts'
import { onEachStore } from './stores.ts'

/** One account trades on and on; everything that it did is kept. */
const SIZES = [1_000, 10_000, 100_000, 300_000, 1_000_000]
/** Each store has so long: slow machines see less of it. */
const MINUTES = 2.5
const CONNECTIONS = 64
/** Signatures are good for a minute. */
const SLICE = 20_000
const READS = 300
const PAGES = [
  ['trades', '/api/v4/spot/my_trades', 'currency_pair=BTC_USDT&limit=100'],
  ['finished orders', '/api/v4/spot/orders', 'currency_pair=BTC_USDT&status=finished&limit=100'],
] as const

export async function measured(quick: boolean): Promise<Table[]> {
  tellFacts('SQLite and PostgreSQL')
  const [sizes, minutes] = quick ? [[500, 2_000], 0.2] : [SIZES, MINUTES]
  const grown = await onEachStore((store, env) => grow(store, env, sizes, minutes))
  const orders: Table = {
    title: 'Orders, by those before them',
    at: 'orders so far',
    rows: grown.flatMap((one) => one.orders),
    plots: [
      { figure: 'rate', logX: true },
      { figure: 'p99', logX: true },
    ],
  }
  const pages: Table = {
    title: 'The last page of a hundred',
    at: 'orders so far',
    rows: grown.flatMap((one) => one.pages),
    plots: [{ figure: 'p50', logX: true }],
  }
  for (const table of [orders, pages]) print(table)
  return [orders, pages]
}

async function grow(
  store: string,
  env: Record<string, string>,
  sizes: readonly number[],
  minutes: number,
): Promise<{ orders: Row[]; pages: Row[] }> {
  const { info, pid, stop } = await launch('kontor', env)
  await warm(info, minutes)
  const until = performance.now() + minutes * 60_000
  const orders: Row[] = []
  const pages: Row[] = []
  let made = 0
  for (const size of sizes) {
    let [rate, p99, failures] = [0, 0, 0]
    while (made < size && performance.now() < until) {
      const count = Math.min(SLICE, size - made)
      const requests = Array.from({ length: count }, (_, i) =>
        signedRequest(info, 'POST', '/api/v4/spot/orders', '', order(made + i)),
      )
      const slice = await generate({
        port: info.port,
        connections: CONNECTIONS,
        seconds: 0,
        requests,
        once: true,
      })
      ;({ rate, p99 } = slice)
      failures += slice.failures
      made += count
    }
    if (made < size) break
    orders.push({ name: store, at: made, figures: { rate, p99, megabytes: megabytes(pid), failures } })
    for (const [what, path, query] of PAGES)
      pages.push({ name: `${what}, ${store}`, at: made, figures: await read(info, path, query) })
  }
  await stop()
  return { orders, pages }
}
/** By another account: the first thousand orders would else be those of a cold platform. */
async function warm(info: ServerInfo, minutes: number): Promise<void> {
  const operator = new OperatorClient(`http://127.0.0.1:${info.port}`, info.token)
  const signer = await account(operator, 0, info)
  const requests = Array.from({ length: 2_000 }, (_, i) =>
    signedRequest(signer, 'POST', '/api/v4/spot/orders', '', order(i)),
  )
  await generate({ port: info.port, connections: CONNECTIONS, seconds: Math.min(6, minutes * 4), requests })
}
async function read(info: ServerInfo, path: string, query: string): Promise<Row['figures']> {
  const requests = Array.from({ length: READS }, () => signedRequest(info, 'GET', path, query, undefined))
  const load = { port: info.port, connections: 1, seconds: 0, requests, once: true }
  await generate({ ...load, requests: requests.slice(0, 20) })
  const { p50, p99, failures } = await generate(load)
  return { p50, p99, failures }
}
