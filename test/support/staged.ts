import { createHash } from 'node:crypto'
import { order } from '../../bench/mix.ts'
import { PLAIN } from '../../src/core/spot/place.ts'
import { DECLARED } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { Tx } from '../../src/machine/table.ts'
import { newSums } from '../../src/store/seals.ts'
import { quote } from '../../src/store/sql.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import { tableNames } from '../../src/store/statements.ts'
import { Engine } from '../spot/engine.ts'

const KEY = '1'.repeat(64)
const BOUND = { bytes: 2 ** 30, batches: 2 ** 20 }
const IN_A_BATCH = 25
/** With few cores rows are written out of their text, with many they are readied by another thread. */
export const [FEW, MANY] = [4, 8]
/** More portions than there are files, so that they are used again. */
export const ORDERS = 11_000

class Followed extends Engine {
  last = new Tx()
  protected override applied(tx: Tx): void {
    this.last = tx
  }
}

/** `drained`: batches that were in the journal alone. */
export async function openWith(
  path: string,
  cores: number,
): Promise<SqliteStore & { readonly drained: number }> {
  const store = new SqliteStore(path, BOUND, cores)
  const sums = newSums(KEY)
  const head = await store.open(sums, DECLARED)
  sums.setAll(head.sums)
  store.sealBehind(head.hash, sums)
  return Object.assign(store, { drained: head.drained })
}
/** Orders that rest, trade and are forgotten, all of them durable, and none in the tables until these are let go. */
export async function trade(store: SqliteStore, orders: number): Promise<void> {
  const engine = new Followed()
  const user_id = engine.user({ USDT: '1000000', BTC: '1000' })
  await store.holdBack(true)
  const landing: Promise<unknown>[] = []
  let batch = new Batch()
  for (let i = 1; i <= orders; i++) {
    const { time_in_force = null, ...sent } = order(i - 1)
    engine.must('spot.place', { user_id, order: { ...PLAIN, ...sent, time_in_force, type: 'limit' } })
    batch.add(engine.last, engine.at, 'spot.place', '{}')
    if (batch.size < IN_A_BATCH && i < orders) continue
    const closed = batch.loose(landing.length + 1, engine.at)
    for (const [table, keys] of batch.touched) table.retire(keys.keys(), () => false)
    landing.push(store.commit(closed))
    batch = new Batch()
  }
  await Promise.all(landing)
}
/** How many rows each table has, and all that stands in them. */
export async function rowsOf(
  store: SqliteStore,
): Promise<Map<string, readonly [count: number, rows: string]>> {
  const found = new Map<string, readonly [number, string]>()
  for (const name of tableNames(DECLARED)) {
    const rows = await store.query(`select * from ${quote(name)} order by rowid`, [])
    found.set(name, [rows.length, createHash('sha256').update(JSON.stringify(rows)).digest('hex')])
  }
  return found
}
