import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SqliteStore } from '../../src/store/sqlite.ts'
import { compiled } from '../support/compiled.ts'
import { until } from '../support/raw.ts'
import { FEW, MANY, ORDERS, openWith, rowsOf, trade } from '../support/staged.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-stage-'))
const stores: SqliteStore[] = []
after(async () => {
  for (const store of stores) await store.close().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})
const stagesOf = (name: string): string[] =>
  readdirSync(folder).filter((file) => file.startsWith(`${name}-stage-`))
async function open(name: string, cores: number): Promise<SqliteStore & { readonly drained: number }> {
  const store = await openWith(join(folder, name), cores)
  stores.push(store)
  return store
}
/** What the tables hold of them in the end, whatever way they came there. */
async function plainRows(): ReturnType<typeof rowsOf> {
  const store = await open('plain.db', FEW)
  await trade(store, ORDERS)
  await store.holdBack(false)
  const rows = await rowsOf(store)
  assert.equal(rows.get('spot_order')![0], ORDERS)
  assert.deepEqual(stagesOf('plain.db'), [])
  await store.close()
  return rows
}
const expected = plainRows()

test('what another thread readies stands in the tables as what is written out of its text', async () => {
  const store = await open('staged.db', MANY)
  await trade(store, ORDERS)
  await store.holdBack(false)
  assert.deepEqual(await rowsOf(store), await expected)
  assert.notDeepEqual(stagesOf('staged.db'), [], 'it went another way')
  await store.close()
  assert.deepEqual(stagesOf('staged.db'), [], 'nothing of it stays')
})
test('killed while portions are readied, taken over and filled, a process leaves nothing half in the tables', async () => {
  const script = compiled('crash/die-in-stages.js')
  let midway = 0
  for (const wait of [0, 40, 90, 160]) {
    const name = `killed-${wait}.db`
    const child = spawn(process.execPath, [script, join(folder, name)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await until(() => stagesOf(name).length > 0)
    await sleep(wait)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = await open(name, MANY)
    if (store.drained > 0) midway++
    assert.deepEqual(stagesOf(name), [], 'what it left goes with the next start')
    assert.deepEqual(await rowsOf(store), await expected)
    await store.close()
  }
  assert.ok(midway > 0, 'none of them died in the middle of it')
})
test('where rows can not be readied, the tables stay whole, everybody is told, and the next start has all', async () => {
  const store = await open('blocked.db', MANY)
  const inTheWay = [0, 1, 2].map((i) => join(folder, `blocked.db-stage-1-${i}`))
  for (const path of inTheWay) mkdirSync(path)
  await trade(store, ORDERS)
  await store.holdBack(false)
  await assert.rejects(rowsOf(store), /the tables can't be written/)
  await store.close().catch(() => undefined)
  for (const path of inTheWay) rmSync(path, { recursive: true })
  const next = await open('blocked.db', MANY)
  assert.ok(next.drained > 0)
  assert.deepEqual(await rowsOf(next), await expected)
  await next.close()
})
test('what lies there of somebody else is not touched', async () => {
  const other = join(folder, 'other.db-stage.txt')
  writeFileSync(other, 'mine')
  const store = await open('other.db', MANY)
  assert.ok(readdirSync(folder).includes('other.db-stage.txt'))
  await store.close()
})
