import { DECLARED } from '../../src/core/state.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import Database from 'libsql'
import { copyToFile } from '../../src/store/copy.ts'
import { MemoryStore } from '../../src/store/memory.ts'
import type { SqliteConnection } from '../../src/store/sqlite-connection.ts'
import { sqliteSnapshot } from '../../src/store/sqlite.ts'
import type { Snapshot } from '../../src/store/store.ts'
import { KEY, storeContract } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-memory-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const STORED: Record<string, string> = { bool: 'integer', int: 'integer', amount: 'text', json: 'text' }

const lookAt = (store: MemoryStore): Snapshot => ({
  kind: 'sqlite',
  query: (sql, values = []) => store.query(sql, values),
  tail: () => Promise.resolve([]),
  integrity: () => Promise.resolve([]),
  each: (sql, row) => store.scan(sql, row),
  portions: async (sql, act) => act(await store.query(sql, [])),
  close: () => Promise.resolve(),
})

storeContract('store in memory', () => {
  let first: MemoryStore | undefined
  let copies = 0
  return Promise.resolve({
    open: () => {
      const store = new MemoryStore(first)
      first ??= store
      return store
    },
    journaled: false,
    tamperJournal: () => Promise.reject(new TypeError('there is none')),
    // What stands in memory stands still when it has been copied.
    snapshot: async () => {
      const path = join(folder, `${++copies}.db`)
      const store = first!
      await copyToFile(lookAt(store), DECLARED, path, KEY)
      const [[epoch]] = (await store.query('select epoch from head', [])) as [[number]]
      const copy = new Database(path)
      copy.exec(`update head set epoch = ${epoch}`)
      copy.close()
      return sqliteSnapshot(path)
    },
    columns: async (store, table) => {
      const rows = await store.query('select name, type from pragma_table_info(?)', [table])
      return rows.map(([name, type]) => `${String(name)} ${String(type).toLowerCase()}`)
    },
    stored: (type) => STORED[type] ?? type,
    tamper: (sql) => {
      const { connection } = first as unknown as { readonly connection: SqliteConnection }
      connection.execute(sql)
      return Promise.resolve()
    },
  })
})
