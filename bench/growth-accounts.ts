import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlatformProcess } from '../test/support/process.ts'
import { tellFacts } from './facts.ts'
import { fill, measure, type Place } from './load.ts'
import { generate, median } from './load-generator.ts'
import { order } from './mix.ts'
import { print, type Row, type Table } from './results.ts'
import { signedRequest, type Signer } from './signed.ts'
import { onEachStore } from './stores.ts'

/** What a start, memory and orders cost with more and more balances that belong to others. */
const SIZES = [1_000, 10_000, 100_000, 1_000_000]
const STARTS = 3
const CONNECTIONS = 64
const REQUESTS = 2_000

export async function measured(quick: boolean): Promise<Table[]> {
  tellFacts('SQLite and PostgreSQL')
  const [sizes, seconds] = quick ? [[1_000, 5_000], 1] : [SIZES, 4]
  const rows = await onEachStore(async (store, { KONTOR_DATABASE_URL: databaseUrl }) => {
    const data = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
    try {
      return await grown(store, { data, databaseUrl }, sizes, seconds)
    } finally {
      rmSync(data, { recursive: true, force: true })
    }
  })
  const table: Table = {
    title: 'With so many balances',
    at: 'balances',
    rows: rows.flat(),
    plots: [
      { figure: 'seconds', logX: true },
      { figure: 'megabytes', logX: true },
      { figure: 'rate', logX: true },
    ],
  }
  print(table)
  return [table]
}
async function grown(store: string, place: Place, sizes: readonly number[], seconds: number): Promise<Row[]> {
  await measure(place) // the first start makes the world
  const rows: Row[] = []
  let filled = 0
  for (const size of sizes) {
    await fill(place, filled, size)
    filled = size
    const starts: { seconds: number; megabytes: number }[] = []
    for (let i = 1; i < STARTS; i++) starts.push(await measure(place))
    let load: { rate: number; p99: number; failures: number } | undefined
    starts.push(
      await measure(place, async (platform) => void (load = await orders(platform, place, seconds))),
    )
    rows.push({
      name: store,
      at: size,
      figures: {
        seconds: median(starts.map((one) => one.seconds)),
        megabytes: median(starts.map((one) => one.megabytes)),
        rate: load!.rate,
        p99: load!.p99,
        failures: load!.failures,
      },
    })
  }
  return rows
}
async function orders(
  { url }: PlatformProcess,
  { data }: Place,
  seconds: number,
): Promise<{ rate: number; p99: number; failures: number }> {
  const { key, secret } = JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8')) as Signer
  const port = Number(new URL(url).port)
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    signedRequest({ port, key, secret }, 'POST', '/api/v4/spot/orders', '', order(i)),
  )
  await generate({ port, connections: CONNECTIONS, seconds, requests })
  return generate({ port, connections: CONNECTIONS, seconds, requests })
}
