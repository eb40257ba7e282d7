import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { order } from '../../bench/mix.ts'
import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
import { DECLARED } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import type { ClosedBatch } from '../../src/machine/loose.ts'
import { Tx } from '../../src/machine/table.ts'
import { newSums } from '../../src/store/seals.ts'
import { quote } from '../../src/store/sql.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import { tableNames } from '../../src/store/statements.ts'
import { Engine } from '../spot/engine.ts'
import { KEY } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-stage-'))
const stores: SqliteStore[] = []
after(async () => {
  for (const store of stores) await store.close().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})
const stagesOf = (name: string): string[] =>
  readdirSync(folder).filter((file) => file.startsWith(`${name}-stage-`))

const BOUND = { bytes: 2 ** 30, batches: 2 ** 20 }
/** With few cores rows are written out of their text, with many they are readied by another thread. */
const [FEW, MANY] = [4, 8]
const IN_A_BATCH = 25

class Followed extends Engine {
  last = new Tx()
  protected override applied(tx: Tx): void {
    this.last = tx
  }
}
const bodyOf = (i: number): Pick<NewOrder, 'currency_pair' | 'side' | 'amount' | 'price' | 'time_in_force'> =>
  order(i) as never

async function open(name: string, cores: number): Promise<SqliteStore> {
  const store = new SqliteStore(join(folder, name), BOUND, cores)
  stores.push(store)
  const sums = newSums(KEY)
  const head = await store.open(sums, DECLARED)
  sums.setAll(head.sums)
  store.sealBehind(head.hash, sums)
  return store
}
/** Orders that rest, trade and are forgotten, as batches that wait for the tables until all are there. */
async function trade(store: SqliteStore, orders: number): Promise<void> {
  const engine = new Followed()
  const user_id = engine.user({ USDT: '1000000', BTC: '1000' })
  await store.holdBack(true)
  const landing: Promise<unknown>[] = []
  let batch = new Batch()
  const leave = (): void => {
    const sequence = landing.length + 1
    const closed: ClosedBatch = batch.loose(sequence, engine.at)
    for (const [table, keys] of batch.touched) table.retire(keys.keys(), () => false)
    landing.push(store.commit(closed))
    batch = new Batch()
  }
  for (let i = 0; i < orders; i++) {
    engine.must('spot.place', { user_id, order: { ...PLAIN, ...bodyOf(i), type: 'limit' } })
    batch.add(engine.last, engine.at, 'spot.place', '{}')
    if (batch.size === IN_A_BATCH) leave()
  }
  await Promise.all(landing)
  await store.holdBack(false)
}
/** How many rows each table has, and all that stands in them. */
async function rowsOf(store: SqliteStore): Promise<Map<string, readonly [count: number, rows: string]>> {
  const found = new Map<string, readonly [number, string]>()
  for (const name of tableNames(DECLARED)) {
    const rows = await store.query(`select * from ${quote(name)} order by rowid`, [])
    found.set(name, [rows.length, createHash('sha256').update(JSON.stringify(rows)).digest('hex')])
  }
  return found
}
/** More portions than there are files, so that they are used again. */
const ORDERS = 11_000

test('what another thread readies stands in the tables as what is written out of its text', async () => {
  const [plain, staged] = [await open('plain.db', FEW), await open('staged.db', MANY)]
  for (const store of [plain, staged]) await trade(store, ORDERS)
  const [expected, found] = [await rowsOf(plain), await rowsOf(staged)]
  assert.deepEqual(stagesOf('plain.db'), [])
  assert.notDeepEqual(stagesOf('staged.db'), [], 'it went another way')
  assert.equal(expected.get('spot_order')![0], ORDERS)
  assert.deepEqual(found, expected)
  for (const store of [plain, staged]) await store.close()
  assert.deepEqual(stagesOf('staged.db'), [], 'nothing of it stays')
})
test('what a dead owner has left beside the tables goes with the next start', async () => {
  for (const i of [0, 1, 2]) writeFileSync(join(folder, `left.db-stage-7-${i}`), 'half a file')
  const store = await open('left.db', MANY)
  assert.deepEqual(stagesOf('left.db'), [])
  await trade(store, 500)
  assert.equal((await store.query('select count(*) from spot_order', []))[0]![0], 500)
  await store.close()
})
