import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PostgresPair } from '../support/postgres-pair.ts'

/** A primary and its synchronous standby: what the tests here take away is really gone, and what was acknowledged is not. */

async function until(what: () => boolean, ms = 5000): Promise<void> {
  for (const end = Date.now() + ms; !what();) {
    assert.ok(Date.now() < end, `never: ${what.toString()}`)
    await sleep(5)
  }
}

let pair: PostgresPair
before(async () => {
  pair = await PostgresPair.start({ proxied: true })
})
after(() => pair.close())

const asked = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}
const nameOf = (url: string): string => /\/([a-z0-9_]+)\?/.exec(url)![1]!

test('what the primary acknowledged outlives it: kill -9, promotion, rejoin, and back again', async () => {
  const url = await pair.database()
  assert.match(
    url,
    /^postgresql:\/\/postgres@127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\/\w+\?target_session_attrs=read-write$/,
  )
  const name = nameOf(url)
  await asked(pair.urlOf('a', name), 'create table kept (n int primary key)')
  let acknowledged = 0
  const writing = (async () => {
    const client = new pg.Client({ connectionString: pair.urlOf('a', name) })
    client.on('error', () => undefined)
    await client.connect()
    for (let n = 1; ; n++) {
      await client.query('insert into kept values ($1)', [n])
      acknowledged = n
    }
  })().catch(() => undefined)
  await until(() => acknowledged > 50)
  await pair.failOver()
  await writing
  assert.equal(pair.primary.name, 'b')
  assert.equal(pair.nodes.a.running, false)
  const [row] = await asked(pair.urlOf('b', name), 'select count(*)::int as n, max(n) as last from kept')
  assert.ok((row!['last'] as number) >= acknowledged, `${String(row!['last'])} of ${acknowledged}`)
  assert.equal(row!['n'], row!['last'])
  await pair.rejoin()
  await asked(pair.urlOf('b', name), 'insert into kept values (-1)')
  await pair.failOver()
  assert.equal(pair.primary.name, 'a')
  assert.equal((await asked(pair.urlOf('a', name), 'select n from kept where n < 0')).length, 1)
  await pair.rejoin()
})

test('without its standby the primary acknowledges nothing, until it is told that it is alone', async () => {
  const url = await pair.database()
  const name = nameOf(url)
  await asked(pair.urlOf(pair.primary.name, name), 'create table held (n int)')
  pair.links!.replication.cut()
  let done = false
  const writing = asked(pair.urlOf(pair.primary.name, name), 'insert into held values (1)').then(
    () => (done = true),
  )
  await sleep(300)
  assert.equal(done, false)
  await pair.alone()
  await writing
  pair.links!.replication.heal()
  await pair.synchronous()
})

test('a paused server answers nothing and goes on where it was', async () => {
  const url = await pair.database()
  const name = nameOf(url)
  pair.primary.pause()
  let done = false
  const reading = asked(pair.urlOf(pair.primary.name, name), 'select 1').then(() => (done = true))
  await sleep(200)
  assert.equal(done, false)
  pair.primary.resume()
  await reading
})
