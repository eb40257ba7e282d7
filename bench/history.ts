import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { readPage, type Scope } from '../src/api/history.ts'
import { DECLARED } from '../src/core/state.ts'
import { DEPOSIT, type Deposit } from '../src/core/tables/deposits.ts'
import { WITHDRAWAL } from '../src/core/tables/withdrawals.ts'
import { newSums } from '../src/store/seals.ts'
import { SqliteConnection } from '../src/store/sqlite-connection.ts'
import { migrate } from '../src/store/sqlite-migrating.ts'
import { SqliteStore } from '../src/store/sqlite.ts'
import type { Row, Table } from './results.ts'

/**
 * A page of GET /wallet/withdrawals and /wallet/deposits, total included, of an account with 10^3 records and
 * of one with 10^6 in the same file. Prints the ratio of the medians: near 1 means that the work does not grow.
 */
const SMALL = { user: 1, records: 1_000 }
const LARGE = { user: 2, records: 1_000_000 }
const ROUNDS = 200
const LIMIT = 100
const START = 1_700_000_000
/** Records are spread evenly over the window that a request may span. */
const SPAN = 29 * 86_400

function fill(db: SqliteConnection, table: 'deposit' | 'withdrawal', user: number, records: number): void {
  const columns = Object.keys((table === 'deposit' ? DEPOSIT : WITHDRAWAL).columns)
  const values: Record<string, string> = {
    id: `${user * 10_000_000} + n`,
    user_id: String(user),
    currency: `case n % 4 when 0 then 'BTC' else 'ETH' end`,
    chain: `'ETH'`,
    address: `'0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'`,
    txid: `'tx' || n || '-' || ${user}`,
    amount: `'1.5'`,
    fee: `'0.002'`,
    usdt: `'3000'`,
    network_fee: `'0'`,
    asset_class: `'SPOT'`,
    status: `'DONE'`,
    at: `${START}000000 + n * ${Math.floor((SPAN * 1e6) / records)}`,
    ordinal: 'n',
    currency_ordinal: `case n % 4 when 0 then n / 4 else n - n / 4 end`,
    class_ordinal: 'n',
    holds: `'[]'`,
    approvals: `'[]'`,
    withdraw_order_id: 'null',
    intent: 'null',
    memo: `''`,
    booked: `'user'`,
    reason: `''`,
    requested_by: `''`,
    fail_reason: `''`,
  }
  const list = columns.map((column) => values[column] ?? '1').join(', ')
  db.run(
    `insert into "${table}" (${columns.map((column) => `"${column}"`).join(', ')}, "live")
     select ${list}, 0 from (with recursive c(n) as (select 1 union all select n + 1 from c where n < ${records}) select n from c)`,
    [],
  )
}
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!

export async function run(): Promise<void> {
  await pages()
}
export async function measured(): Promise<Table[]> {
  return [{ title: 'A page, SQLite', at: 'records', rows: await pages() }]
}
async function pages(): Promise<Row[]> {
  const shown: Row[] = []
  const folder = mkdtempSync(join(tmpdir(), 'kontor-history-'))
  const path = join(folder, 'kontor.db')
  try {
    const db = new SqliteConnection(path)
    migrate(db, 0)
    for (const table of ['deposit', 'withdrawal'] as const)
      for (const { user, records } of [SMALL, LARGE]) fill(db, table, user, records)
    db.close()
    const store = new SqliteStore(path)
    await store.open(newSums('5'.repeat(64)), DECLARED)
    let worst = 0
    for (const spec of [DEPOSIT, WITHDRAWAL])
      for (const currency of [null, 'BTC'])
        for (const depth of [0, 0.25, 0.5]) {
          const times = new Map<number, number[]>()
          // The two take turns, so that what else the machine does falls on both.
          for (let round = 0; round < ROUNDS; round++)
            for (const { user, records } of [SMALL, LARGE]) {
              const scope: Scope<Deposit> =
                currency === null
                  ? { columns: { user_id: user }, ordinal: 'ordinal' }
                  : { columns: { user_id: user, currency }, ordinal: 'currency_ordinal' }
              const offset = Math.floor((records / (currency === null ? 1 : 4)) * depth)
              const started = performance.now()
              const { rows, total } = await readPage(store, spec as typeof DEPOSIT, scope, WINDOW, {
                limit: LIMIT,
                offset,
              })
              const taken = performance.now() - started
              if (rows.length === 0 || total < records / 5)
                throw new Error('the page is not what was asked for')
              times.set(user, [...(times.get(user) ?? []), taken])
            }
          const [small, large] = [median(times.get(SMALL.user)!), median(times.get(LARGE.user)!)]
          worst = Math.max(worst, large / small)
          const name = `${spec.name}s, ${currency ?? 'all currencies'}, from ${depth * 100} % on`
          for (const [at, milliseconds] of [
            [SMALL.records, small],
            [LARGE.records, large],
          ] as const)
            shown.push({ name, at, figures: { milliseconds, ratio: milliseconds / small } })
          console.log(
            `${spec.name.padEnd(10)} ${(currency ?? 'all').padEnd(4)} offset ${String(depth * 100).padStart(2)} %: ` +
              `10^3 ${small.toFixed(2)} ms, 10^6 ${large.toFixed(2)} ms, ratio ${(large / small).toFixed(2)}`,
          )
        }
    console.log(`worst ratio of a page at 10^6 and at 10^3 records: ${worst.toFixed(2)} (must be under 2)`)
    await store.close()
    if (worst >= 2) process.exitCode = 1
    return shown
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const WINDOW = { from: START, to: START + SPAN }
