import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILT_IN_WORLD } from '../src/core/world/built-in.ts'
import { OperatorClient } from '../test/support/client.ts'
import { tellFacts } from './facts.ts'
import { megabytes } from './family.ts'
import { generate } from './load-generator.ts'
import { order } from './mix.ts'
import { repeated } from './repeated.ts'
import { print, type Row, type Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest, type Signer } from './signed.ts'
import { account } from './steady.ts'

/** Orders at the top of a book that holds more and more others. */
const SIZES = [100, 1_000, 10_000, 100_000]
const OPEN_MAX = 10_000
const CONNECTIONS = 64
const REQUESTS = 2_000
const ROUNDS = 3
/** Signatures are good for a minute. */
const SLICE = 10_000
/** On each side, a whole unit apart. */
const LEVELS = 2_000

/** A world with these limits, for a platform that is started with it. */
export async function withLimits<T>(
  limits: object,
  act: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
  const KONTOR_CONFIG = join(folder, 'world.json')
  writeFileSync(KONTOR_CONFIG, JSON.stringify({ limits: { ...BUILT_IN_WORLD.limits, ...limits } }))
  try {
    return await act({ KONTOR_CONFIG })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function measured(quick: boolean): Promise<Table[]> {
  tellFacts('SQLite')
  const [sizes, seconds, rounds] = quick ? [[100, 500], 1, 1] : [SIZES, 3, ROUNDS]
  const rows = await withLimits({ open_orders_max: OPEN_MAX }, async (env) => {
    const { info, pid, stop } = await launch('kontor', env)
    const operator = new OperatorClient(`http://127.0.0.1:${info.port}`, info.token)
    await top(info, seconds, rounds) // a cold platform is not what is asked about
    const makers: Signer[] = []
    const grown: Row[] = []
    let resting = 0
    for (const size of sizes) {
      while (makers.length * OPEN_MAX < size) makers.push(await account(operator, makers.length, info))
      for (; resting < size; resting = Math.min(size, resting + SLICE))
        await rest(makers, resting, Math.min(size, resting + SLICE))
      grown.push({
        name: 'SQLite',
        at: size,
        figures: { ...(await top(info, seconds, rounds)), megabytes: megabytes(pid) },
      })
    }
    await stop()
    return grown
  })
  const table: Table = {
    title: 'Orders at the top of a book',
    at: 'resting orders',
    rows,
    plots: [
      { figure: 'rate', logX: true },
      { figure: 'p99', logX: true },
    ],
  }
  print(table)
  return [table]
}
async function rest(makers: readonly Signer[], from: number, to: number): Promise<void> {
  const requests = Array.from({ length: to - from }, (_, k) => {
    const i = from + k
    const [side, sign] = i % 2 === 0 ? ['buy', -1] : ['sell', 1]
    // Away from where the others trade.
    const price = String(50_000 + sign * (500 + (Math.floor(i / 2) % LEVELS)))
    const body = { currency_pair: 'BTC_USDT', side, amount: '0.0001', price }
    return signedRequest(makers[Math.floor(i / OPEN_MAX)]!, 'POST', '/api/v4/spot/orders', '', body)
  })
  const { port } = makers[0]!
  const { failures } = await generate({ port, connections: CONNECTIONS, seconds: 0, requests, once: true })
  if (failures > 0) throw new Error(`${failures} orders could not rest`)
}
async function top(info: ServerInfo, seconds: number, rounds: number): Promise<Row['figures']> {
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    signedRequest(info, 'POST', '/api/v4/spot/orders', '', order(i)),
  )
  const load = { port: info.port, connections: CONNECTIONS, requests }
  return repeated(load, { seconds, rounds })
}
