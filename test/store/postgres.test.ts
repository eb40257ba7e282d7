import { DECLARED } from '../../src/core/state.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PostgresStore, postgresSnapshot } from '../../src/store/postgres.ts'
import { StoreLost, StoreUnavailable } from '../../src/store/store.ts'
import { newSums } from '../../src/store/seals.ts'
import { postgres, type PostgresServer } from '../support/postgres.ts'
import { KEY, storeContract } from './contract.ts'

let server: PostgresServer
before(async () => {
  server = await postgres()
})
after(() => server.stop())

const nameOf = (url: string): string => /\/([a-z0-9_]+)\?/.exec(url)![1]!
const STORED: Record<string, string> = { bool: 'boolean', int: 'bigint', amount: 'numeric', json: 'text' }

storeContract('PostgreSQL store', async () => {
  const url = await (await postgres()).database()
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  return {
    open: (bound) => new PostgresStore(url, { bound }),
    journaled: true,
    tamperJournal: (change) => run(`update journal ${change}`),
    snapshot: () => postgresSnapshot(url),
    columns: async (store, table) => {
      const rows = await store.query(
        `select column_name, data_type from information_schema.columns where table_schema = 'public' and table_name = ? order by ordinal_position`,
        [table],
      )
      return rows.map(([name, type]) => `${String(name)} ${String(type)}`)
    },
    stored: (type) => STORED[type] ?? type,
    tamper: run,
  }
})

test('a lost connection is found again, and a server that stays away is lost', async () => {
  const url = await server.database()
  const store = new PostgresStore(url, { waitMs: 500 })
  await store.open(newSums(KEY), DECLARED)
  await store.checkFence()
  await server.disconnect(url)
  await sleep(100)
  await store.checkFence()
  await store.query('select 1', [])
  await server.administer(`alter database ${nameOf(url)} allow_connections false`)
  await server.disconnect(url)
  await assert.rejects(store.checkFence(), (error: Error) => {
    assert.ok(error instanceof StoreLost)
    assert.match(error.message, /KONTOR_DATABASE_WAIT/)
    return true
  })
  await store.close()
})

test('a database that is not there is told in one line, without the password', async () => {
  const store = new PostgresStore('postgresql://somebody:hunter2@127.0.0.1:1/none')
  await assert.rejects(store.open(newSums(KEY), DECLARED), (error: Error) => {
    assert.ok(error instanceof StoreUnavailable)
    assert.match(error.message, /^KONTOR_DATABASE_URL: the database can't be opened: .*ECONNREFUSED/)
    assert.doesNotMatch(error.message, /hunter2|\n/)
    return true
  })
})

test('a database that only reads is told in one line', async () => {
  const url = await server.database()
  const store = new PostgresStore(
    `${url}&options=${encodeURIComponent('-c default_transaction_read_only=on')}`,
  )
  await assert.rejects(store.open(newSums(KEY), DECLARED), /can't be opened: .*read-only/)
})
