import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DECLARED } from '../../src/core/state.ts'
import { postgresAnswers } from '../../src/store/postgres-client.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { newSums } from '../../src/store/seals.ts'
import { Fenced, StoreAway, StoreLost } from '../../src/store/store.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import { Busy, KEY, Writer, ask, proven, whole } from '../support/writer.ts'

const WAIT = { waitMs: 30_000 }
let pair: PostgresPair
before(async () => {
  pair = await PostgresPair.start({ proxied: true })
})
after(() => pair.close())
const link = () => pair.links![pair.primary.name]

test('the server that takes writes is found among those that a URL names', async () => {
  const url = await pair.database()
  await postgresAnswers(url)
  const [name] = /\/[a-z0-9_]+\?/.exec(url)!
  const [a, b] = [pair.address('a'), pair.address('b')]
  for (const hosts of [`${b},${a}`, `127.0.0.1:1,${b},${a}`, `${a},127.0.0.1:1`]) {
    const writer = await Writer.open(`postgresql://postgres@${hosts}${name}target_session_attrs=read-write`)
    await writer.commits(2)
    await writer.store.close()
  }
  const standby = `postgresql://postgres@127.0.0.1:1,${b}${name}target_session_attrs=read-write`
  await assert.rejects(postgresAnswers(standby), (error: Error) => {
    assert.ok(error instanceof StoreAway)
    assert.match(error.message, /127\.0\.0\.1:1: .*ECONNREFUSED.*it is a standby$/)
    return true
  })
  await whole(url, 6)
})

describe('a connection that is cut while batches are committed', () => {
  for (const [what, cut] of [
    ['at once, again and again', () => link().reset()],
    [
      'before appends reach the server',
      async () => {
        link().deafen('there')
        await sleep(30)
        link().heal({ forget: true })
      },
    ],
    [
      'after they reached it, before its replies do',
      async () => {
        link().deafen('back')
        await sleep(30)
        link().heal({ forget: true })
      },
    ],
    [
      'and stays so for a while',
      async () => {
        link().cut()
        await sleep(700)
        link().heal()
      },
    ],
  ] as const)
    test(what, async () => {
      const url = await pair.database()
      const busy = new Busy(await Writer.open(url, WAIT))
      for (let round = 1; round <= 8; round++) {
        await busy.until(busy.acknowledged + 20 + Math.floor(Math.random() * 30))
        await cut()
      }
      await busy.until(busy.acknowledged + 20)
      assert.ok(busy.writer.store.reconnects > 0)
      await proven(url, busy)
    })
  test('at random, everywhere, beside somebody who reads and is never shown less than was acknowledged', async () => {
    const url = await pair.database()
    const busy = new Busy(await Writer.open(url, WAIT))
    const { store } = busy.writer
    let reads = 0
    let reading = true
    const reader = (async () => {
      while (reading) {
        const told = busy.acknowledged
        const rows = await store.query('select count(*) from ledger_line', []).catch(() => undefined)
        if (rows !== undefined) assert.ok(Number(rows[0]![0]) >= told, `${String(rows[0]![0])} of ${told}`)
        if (rows !== undefined) reads++
        await sleep(5)
      }
    })()
    const any = (below: number): number => Math.floor(Math.random() * below)
    const ended = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    const faults: (() => unknown)[] = [
      () => link().reset(),
      () => ask(url, ended),
      () => ask(url, `${ended} and pid % 3 = ${any(3)}`),
      async () => {
        link().deafen(any(2) === 0 ? 'there' : 'back')
        await sleep(any(60))
        // What was held goes on, behind what was sent again; or it is gone.
        link().heal({ forget: any(2) === 0 })
      },
      async () => {
        link().delay(any(50))
        await sleep(200)
        link().reset()
        link().heal()
      },
    ]
    for (let round = 0; round < 40; round++) {
      await faults[any(faults.length)]!()
      await busy.until(busy.acknowledged + any(20))
    }
    // Given up after five seconds, and delivered when another has long been asked.
    link().drop()
    await sleep(5_500)
    link().heal()
    await busy.until(busy.acknowledged + 20)
    reading = false
    await reader
    assert.ok(reads > 20, `${reads} reads`)
    await proven(url, busy)
  })
  test('without a word: neither an end nor an answer', async () => {
    const url = await pair.database()
    const busy = new Busy(await Writer.open(url, WAIT))
    await busy.until(30)
    link().drop()
    await sleep(500)
    const stuck = busy.acknowledged
    // Another way to the same server is there after a while; the old one stays silent.
    await sleep(1_000)
    assert.equal(busy.acknowledged, stuck, 'nothing is acknowledged meanwhile')
    link().heal()
    await busy.until(stuck + 20)
    await proven(url, busy)
  })
  test('for longer than anybody waits ends the process, and nothing that was acknowledged is lost', async () => {
    const url = await pair.database()
    const busy = new Busy(await Writer.open(url, { waitMs: 300 }))
    await busy.until(30)
    link().cut()
    await assert.rejects(busy.until(1_000_000), StoreLost)
    link().heal()
    await busy.stop().catch(() => undefined)
    await busy.writer.store.close()
    const store = new PostgresStore(url)
    const { sequence } = await store.open(newSums(KEY), DECLARED)
    await store.close()
    assert.ok(sequence >= busy.acknowledged && sequence <= busy.writer.sequence)
    await whole(url, sequence)
  })
})

test('whoever lost the database to another process while he was cut off is told so', async () => {
  const url = await pair.database()
  const busy = new Busy(await Writer.open(url, WAIT))
  await busy.until(30)
  link().deafen('back')
  await sleep(30)
  link().cut()
  const direct = `postgresql://postgres@127.0.0.1:${pair.primary.port}${/\/[a-z0-9_]+\?/.exec(url)![0]}`
  const other = await Writer.open(direct)
  await other.commits(3)
  link().heal()
  await assert.rejects(busy.until(1_000_000), Fenced)
  await busy.writer.store.close()
  await other.commits(3)
  const { sequence } = other
  await other.store.close()
  assert.ok(sequence - 6 >= busy.acknowledged)
  await whole(url, sequence)
})

test('tables that a fail-over took back are brought up again, and nobody sees less meanwhile', async () => {
  const url = await pair.database()
  const writer = await Writer.open(url, WAIT)
  await writer.commits(50)
  await writer.store.query('select 1', [])
  // What a server that crashed had not written down of the tables: head, rows and what left the journal go back together.
  await writer.store.close()
  const [[head]] = (await ask(url, `select row_to_json(head)::text from head`)) as [[string]]
  const next = await Writer.open(url, WAIT)
  await next.store.holdBack(true)
  await next.commits(20)
  const journal = await ask(url, 'select * from journal order by sequence')
  assert.equal(journal.length, 20)
  await next.store.holdBack(false)
  const behind = next.store.query('select sequence from head', [])
  assert.deepEqual(await behind, [[70]])
  const { sequence, hash, sums, mac, at } = JSON.parse(head) as Record<string, string | number>
  await ask(
    url,
    `begin; update head set sequence = ${sequence}, hash = '${hash}', at = ${at}, sums = '${sums}', mac = '${mac}';
     delete from ledger_line where id > 50; delete from command_batch where sequence > 50; delete from counter where value > 50;
     update counter set value = 50 where name = 'written';
     insert into counter (name, value) values ('third 48', 48) on conflict do nothing;
     truncate journal; commit`,
  )
  for (const row of journal)
    await ask(url, `insert into journal values (${row.map((value) => literal(value)).join(', ')})`)
  await next.store.holdBack(true)
  await ask(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  )
  const lines = next.store.query('select count(*) from ledger_line', [])
  assert.equal(await Promise.race([lines, sleep(400, 'waits')]), 'waits')
  await next.store.holdBack(false)
  assert.deepEqual(await lines, [[70]])
  await next.commits(5)
  await next.store.close()
  await whole(url, 75)
})
const literal = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`
