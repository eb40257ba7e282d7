import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Database from 'libsql'
import type { ReaderJob } from '../../src/store/messages.ts'
import { journalPath } from '../../src/store/sqlite-journal.ts'
import { SqliteStore, sqliteSnapshot } from '../../src/store/sqlite.ts'
import { StoreThread } from '../../src/store/thread.ts'
import { StoreLost, StoreUnavailable } from '../../src/store/store.ts'
import { newSums } from '../../src/store/seals.ts'
import { KEY, storeContract } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-store-'))
after(() => rmSync(folder, { recursive: true, force: true }))

// An INTEGER column of SQLite holds whole numbers and truth alike; amounts and JSON are texts.
const STORED: Record<string, string> = { bool: 'integer', int: 'integer', amount: 'text', json: 'text' }

storeContract('SQLite store', () => {
  const path = join(folder, 'contract.db')
  return Promise.resolve({
    open: (bound) => new SqliteStore(path, bound),
    journaled: true,
    tamperJournal: (change) => {
      const db = new Database(journalPath(path))
      db.exec(`update entry ${change}`)
      db.close()
      return Promise.resolve()
    },
    snapshot: () => Promise.resolve(sqliteSnapshot(path)),
    columns: async (store, table) => {
      const rows = await store.query('select name, type from pragma_table_info(?)', [table])
      return rows.map(([name, type]) => `${String(name)} ${String(type).toLowerCase()}`)
    },
    stored: (type) => STORED[type] ?? type,
    tamper: (sql) => {
      const db = new Database(path)
      db.exec(sql)
      db.close()
      return Promise.resolve()
    },
  })
})

test('a file that is no database is refused in one line', async () => {
  const path = join(folder, 'garbage.db')
  writeFileSync(path, 'this is not a database, whatever its name says'.repeat(100))
  await assert.rejects(
    () => new SqliteStore(path).open(newSums(KEY)),
    (error: Error) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(error.message, /garbage\.db is damaged: .*not a database; restore it from a backup/)
      return true
    },
  )
})

test('a data folder that is a file is refused in one line', async () => {
  const path = join(folder, 'garbage.db', 'kontor.db')
  await assert.rejects(() => new SqliteStore(path).open(newSums(KEY)), StoreUnavailable)
})

test('a folder that never held a database has no snapshot', () => {
  assert.throws(() => sqliteSnapshot(join(folder, 'none', 'kontor.db')), /has it ever been started/)
})

test('a store thread that has died fails every job at once', async () => {
  const thread = new StoreThread<ReaderJob>('reader', {
    kind: 'sqlite',
    path: join(folder, 'no-such-folder', 'x.db'),
  })
  await assert.rejects(thread.ask({ op: 'query', sql: 'select 1', values: [] }), StoreLost)
  await assert.rejects(thread.ask({ op: 'query', sql: 'select 1', values: [] }), StoreLost)
  assert.ok(thread.failure instanceof StoreLost)
  await thread.close()
})
