import { type AccountName } from '../src/core/ledger/accounts.ts'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch } from '../src/machine/batch.ts'
import type { Account } from '../src/core/ledger/ledger.ts'
import { DECLARED, State } from '../src/core/state.ts'
import { Tx } from '../src/machine/table.ts'
import { DEFAULT_SETTINGS } from '../src/core/tables/users.ts'
import { amountOf, type Amount } from '../src/money/amount.ts'
import { openStore } from '../src/store/open.ts'
import { checkSeals, newSums } from '../src/store/seals.ts'
import { rowsKey } from '../test/support/rows-key.ts'
import { PlatformProcess } from '../test/support/process.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import type { Row, Table } from './results.ts'
import { STORES } from './stores.ts'

/** `npm run bench -- load [sqlite | postgresql] [BALANCES]`: how long a start takes with many balances, and how much memory they need. */
const SIZES = [250_000, 500_000, 1_000_000]
const CURRENCIES = ['BTC', 'ETH', 'USDT', 'SOL', 'DOGE']
const BENCH: AccountName = 'custody:BENCH'
const BATCH_ROWS = 20_000
const STARTS = 3
const LIMITS = { seconds: 4, megabytes: 400 }

export interface Place {
  readonly data: string
  readonly databaseUrl: string | undefined
}
export const environment = ({ data, databaseUrl }: Place): Record<string, string> => ({
  KONTOR_DATA: data,
  KONTOR_GATEWAYS: process.env['KONTOR_GATEWAYS'] ?? 'auto',
  ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
})

/** Users with five balances each, written as the platform itself writes rows, and the other side of their money. */
export async function fill(place: Place, from: number, to: number): Promise<void> {
  const store = openStore(place)
  const sums = newSums(rowsKey(place.data))
  const head = await store.open(sums, DECLARED)
  let { sequence } = head
  const state = new State()
  await store.load(state.tables)
  await checkSeals(store, state.tables, head, sums)
  const { accounts } = state.ledger
  /** The other side of those that were written before. */
  const before = [...accounts.values()].filter(({ name }) => name === BENCH)
  for (const table of [state.users.table, accounts]) table.clear()
  const write = async (put: (tx: Tx) => void): Promise<void> => {
    const tx = new Tx()
    put(tx)
    const batch = new Batch()
    batch.add(tx, 0, 'bench.fill', '{}')
    await store.commit(batch.loose(++sequence, Date.now() * 1000))
    for (const table of [state.users.table, state.ledger.accounts]) table.clear()
  }
  const users = CURRENCIES.length
  for (let first = from; first < to; first += BATCH_ROWS)
    await write((tx) => {
      for (let i = first; i < Math.min(first + BATCH_ROWS, to); i += users) {
        const user_id = 1_000_000 + i / users
        tx.put(state.users.table, {
          user_id,
          parent_id: 0,
          login_name: `load_${user_id}`,
          email: `load_${user_id}@kontor.example`,
          password_hash: '',
          remark: '',
          state: 1,
          type: 1,
          vip: 0,
          create_time: 1_700_000_000,
          settings: DEFAULT_SETTINGS,
        })
        for (const [c, currency] of CURRENCIES.entries())
          tx.put(state.ledger.accounts, balance(1_000_000 + i + c, user_id, 'spot', currency, '1234.56789'))
      }
    })
  for (const row of before) accounts.swap(accounts.keyOf(row), row, 'load')
  const others = ((amountOf('1234.56789') * BigInt(to)) / BigInt(users)) as Amount
  await write((tx) => {
    for (const [c, currency] of CURRENCIES.entries())
      tx.put(state.ledger.accounts, {
        ...balance(900_000 + c, 0, BENCH, currency, '0'),
        amount: -others as Amount,
      })
  })
  await store.close()
}
const balance = (
  id: number,
  owner: number,
  name: AccountName,
  currency: string,
  amount: string,
): Account => ({
  id,
  owner,
  name,
  currency,
  amount: amountOf(amount),
  version: 1,
})

/** A start until it is ready; what is done with it then is not counted. */
export async function measure(
  place: Place,
  act?: (platform: PlatformProcess) => Promise<void>,
): Promise<{ seconds: number; megabytes: number }> {
  const started = performance.now()
  const platform = await PlatformProcess.start(environment(place))
  const seconds = (performance.now() - started) / 1000
  const ready = await fetch(`${platform.url}/readyz`)
  if (ready.status !== 200) throw new Error(`not ready: ${await ready.text()}`)
  const status = readFileSync(`/proc/${platform.child.pid}/status`, 'utf8')
  // The most that it ever needed, not what is left after the start.
  const megabytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1000
  await act?.(platform)
  await platform.kill('SIGTERM')
  return { seconds, megabytes }
}
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

export async function run([only, given]: readonly string[]): Promise<void> {
  await starts(only, given === undefined ? SIZES : [Number(given)])
}
export async function measured(quick: boolean): Promise<Table[]> {
  const rows = await starts(undefined, quick ? [1_000] : SIZES)
  return [{ title: 'Ready to answer', at: 'balances', rows }]
}
async function starts(only: string | undefined, sizes: readonly number[]): Promise<Row[]> {
  const rows: Row[] = []
  const server = await PostgresServer.start()
  const folders: string[] = []
  console.log(`start with many balances, medians of ${STARTS} starts (memory: the highest of the process)`)
  try {
    for (const store of STORES) {
      if (only !== undefined && only !== store.toLowerCase()) continue
      const data = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
      folders.push(data)
      const place: Place = { data, databaseUrl: store === 'SQLite' ? undefined : await server.database() }
      await measure(place) // the first start makes the world
      let filled = 0
      for (const size of sizes) {
        await fill(place, filled, size)
        filled = size
        const runs = []
        for (let i = 0; i < STARTS; i++) runs.push(await measure(place))
        const seconds = median(runs.map((one) => one.seconds))
        const megabytes = median(runs.map((one) => one.megabytes))
        rows.push({ name: store, at: size, figures: { seconds, megabytes } })
        const fits = seconds < LIMITS.seconds && megabytes < LIMITS.megabytes ? 'within' : 'OVER'
        console.log(
          `${store.padEnd(11)} ${String(size).padStart(8)} balances: ready in ${seconds.toFixed(2)} s, ${megabytes.toFixed(0)} MB (${fits} ${LIMITS.seconds} s and ${LIMITS.megabytes} MB)`,
        )
      }
    }
    return rows
  } finally {
    await server.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}
