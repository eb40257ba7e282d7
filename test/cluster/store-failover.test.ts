import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Load, checkAgainstStore } from '../crash/load.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import { kontor } from '../support/process.ts'
import { Busy, Writer, ask, proven, whole } from '../support/writer.ts'

const WAIT = { waitMs: 30_000 }
let pair: PostgresPair
before(async () => {
  pair = await PostgresPair.start({ proxied: true })
})
after(() => pair.close())

describe('history from a replica', () => {
  const LINES = 'select count(*) from ledger_line'
  const count = async (writer: Writer): Promise<number> =>
    Number((await writer.store.query(LINES, []))[0]![0])
  const opened = async (): Promise<{ url: string; writer: Writer }> => {
    const url = await pair.database()
    const readUrl = pair.urlOf(pair.standby.name, /\/([a-z0-9_]+)\?/.exec(url)![1]!)
    return { url, writer: await Writer.open(url, { ...WAIT, readUrls: [readUrl] }) }
  }
  test('is never less than what had been acknowledged', async () => {
    const { url, writer } = await opened()
    const { store } = writer
    for (let i = 1; i <= 60; i++) {
      await writer.commit()
      assert.equal(await count(writer), i)
      if (i % 10 === 0) await sleep(300)
    }
    assert.equal(await count(writer), 60)
    assert.ok(store.reads.replica > 0, JSON.stringify(store.reads))
    // It takes everything in, so that commits go on, and shows nothing of it.
    await pair.standby.query('select pg_wal_replay_pause()')
    await writer.commits(5)
    const before = store.reads
    const { primary, behind, replica } = { ...before }
    assert.equal(await count(writer), 65)
    assert.deepEqual(store.reads, { ...before, primary: primary + 1, behind: behind + 1, replica })
    await pair.standby.query('select pg_wal_replay_resume()')
    await sleep(500)
    assert.equal(await count(writer), 65)
    assert.equal(store.reads.replica, replica + 1)
    await store.close()
    await whole(url, 65)
  })
  test('one that fails is left alone for a while, and the primary answers', async () => {
    const { writer } = await opened()
    const { store } = writer
    await writer.commits(5)
    await sleep(500)
    assert.equal(await count(writer), 5)
    const standby = pair.links![pair.standby.name]
    standby.cut()
    const { taken } = standby
    for (let i = 0; i < 20; i++) assert.equal(await count(writer), 5)
    assert.ok(standby.taken - taken <= 2, `${standby.taken - taken} tries`)
    assert.ok(store.reads.failed >= 1 && store.reads.failed <= 2)
    standby.heal()
    const { replica } = store.reads
    await sleep(5_100)
    assert.equal(await count(writer), 5)
    assert.equal(store.reads.replica, replica + 1)
    // One that says nothing costs the question a moment.
    standby.drop()
    const began = performance.now()
    assert.equal(await count(writer), 5)
    assert.ok(performance.now() - began < 10_000)
    standby.heal({ forget: true })
    await store.close()
  })
  test('of another database is no replica', async () => {
    const other = await opened()
    await other.writer.commits(40)
    await other.writer.store.close()
    const url = await pair.database()
    const writer = await Writer.open(url, { readUrls: [other.url] })
    writer.other = 'another history'
    await writer.commits(5)
    assert.equal(await count(writer), 5)
    const { replica, failed, primary } = writer.store.reads
    assert.deepEqual([replica, failed, primary], [0, 1, 1])
    await writer.store.close()
  })
  test('a platform reads there, and counts it', async () => {
    const url = await pair.database()
    const readUrl = pair.urlOf(pair.standby.name, /\/([a-z0-9_]+)\?/.exec(url)![1]!)
    const platform = await TestPlatform.start({ KONTOR_DATABASE_URL: url, KONTOR_READ_URLS: readUrl })
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, 'USDT', '5')
    await sleep(500)
    for (let i = 0; i < 3; i++)
      assert.equal(ok(await client.get('/spot/account_book', { currency: 'USDT' })).length, 1)
    const metrics = await (await fetch(`${platform.url}/metrics`)).text()
    const [, replica] = /kontor_history_reads_total\{from="replica"\} (\d+)/.exec(metrics) ?? []
    assert.ok(
      Number(replica) >= 3,
      metrics
        .split('\n')
        .filter((line) => line.includes('history'))
        .join('\n'),
    )
    assert.match(metrics, /kontor_database_reconnects_total 0/)
    const other = pair.urlOf(pair.primary.name, 'postgres')
    const doctor = await kontor(['doctor', '--port', '0', '--data', platform.data], {
      KONTOR_DATABASE_URL: url,
      KONTOR_READ_URLS: [readUrl, 'postgresql://postgres@127.0.0.1:1/none', other].join(','),
    })
    assert.match(doctor.output, /^ok +PostgreSQL: 2 servers are named; synchronous_standby_names is /m)
    assert.match(doctor.output, /^ok +replica 127\.0\.0\.1:\d+: follows, \d+ batches behind$/m)
    assert.match(doctor.output, /^WRONG replica 127\.0\.0\.1:1: it can't be opened: .*ECONNREFUSED/m)
    assert.match(doctor.output, /^WRONG replica .*: it is no replica of this database/m)
    await platform.stop()
  })
})

test('kill -9 of the primary and promotion of its standby under load: nothing acknowledged is lost, none is twice', async () => {
  const url = await pair.database()
  const platform = await TestPlatform.start({ KONTOR_DATABASE_URL: url, KONTOR_DATABASE_WAIT: '30' })
  const load = new Load()
  await load.prepare(platform.url, 6)
  const client = platform.client(load.customers[0]!.credential)
  load.start(platform.url)
  for (let round = 0; round < 2; round++) {
    while (load.acknowledged < 60 * (round * 2 + 1)) await sleep(10)
    const began = performance.now()
    await pair.killPrimary()
    const before = load.acknowledged
    await pair.promote()
    const promoted = performance.now() - began
    while (load.acknowledged < before + 20) {
      assert.ok(performance.now() - began < 30_000, `stuck at ${load.acknowledged}`)
      assert.deepEqual(platform.faults, [])
      await sleep(5)
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(2)
    console.log(
      `# database fail-over: ${seconds} s to 20 more writes, ${(promoted / 1000).toFixed(2)} s of it PostgreSQL's`,
    )
    // What the tables hold now is what was acknowledged, whoever is asked.
    const { status } = await client.get('/wallet/total_balance', {})
    assert.equal(status, 200)
    if (round === 0) await pair.rejoin()
  }
  await load.stop()
  assert.ok(
    load.customers.every(({ uncertain }) => uncertain === undefined),
    'every request was answered',
  )
  await platform.platform.stop()
  assert.deepEqual(platform.faults, [])
  assert.equal(await checkAgainstStore(load, { data: platform.data, databaseUrl: url }), 0)
  rmSync(platform.data, { recursive: true, force: true })
})

describe('a primary that lost its standby', () => {
  before(() => pair.rejoin())
  test('shows appends that it alone has, and nobody is told of them; its standby decides', async () => {
    const url = await pair.database()
    const busy = new Busy(await Writer.open(url, WAIT))
    await busy.until(30)
    pair.links!.replication.drop()
    await sleep(300)
    const kept = busy.acknowledged
    // Who waits for the standby and is ended leaves what it committed to be seen by everybody.
    for (let i = 0; i < 3; i++) {
      await ask(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'`,
      )
      await sleep(300)
    }
    const [[seen]] = (await ask(url, 'select max(sequence) from journal')) as [[number]]
    assert.ok(seen > kept, 'the old primary shows more than was acknowledged')
    assert.equal(busy.acknowledged, kept)
    await pair.killPrimary()
    pair.links!.replication.heal({ forget: true })
    await pair.promote()
    await busy.until(kept + 50)
    await proven(url, busy)
  })
  test('and comes back as it was is not taken for the one that went on', async () => {
    await pair.rejoin()
    const url = await pair.database()
    const busy = new Busy(await Writer.open(url, WAIT))
    await busy.until(30)
    const old = pair.primary
    await pair.failOver()
    await busy.until(busy.acknowledged + 30)
    // Nobody told it that it is the primary no more.
    await old.start()
    for (let round = 0; round < 4; round++) {
      pair.links!.a.reset()
      pair.links!.b.reset()
      await busy.until(busy.acknowledged + 30)
    }
    await old.kill()
    await proven(url, busy)
  })
})
