import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DECLARED, State } from '../../src/core/state.ts'
import { amountOf } from '../../src/money/amount.ts'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { applyEntry } from '../../src/machine/apply.ts'
import { primeMarketData } from '../../src/runtime/market-data.ts'
import { sumsKey } from '../../src/runtime/secrets.ts'
import { JournalGap, JournalReader } from '../../src/store/journal-reader.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { newSums } from '../../src/store/seals.ts'
import { Fenced, StoreUnavailable, type WarmHead } from '../../src/store/store.ts'
import { SECRET_KEY, TestPlatform } from '../support/platform.ts'
import { pictureOf } from '../support/pictures.ts'
import { postgres, type PostgresServer } from '../support/postgres.ts'
import { Trader } from '../support/spot.ts'
import { deposit, mine } from '../support/wallet.ts'
import { KEY, Writer, ask, whole } from '../support/writer.ts'
import { ok } from '../support/client.ts'

let server: PostgresServer
before(async () => {
  server = await postgres()
})
after(() => server.stop())

const tablesOf = (state: State) => new Map(state.tables.map((table) => [table.spec.name, table]))
/** Somebody who follows: a state of its own, and how far it has come. */
class Follows {
  state = new State()
  readonly reader: JournalReader
  private constructor(reader: JournalReader) {
    this.reader = reader
  }
  static async open(url: string, key = KEY, name = 'standby'): Promise<Follows> {
    const follows = new Follows(await JournalReader.open(url, name, key))
    await follows.load()
    return follows
  }
  async load(): Promise<void> {
    this.state = new State()
    await this.reader.load(this.state.tables, DECLARED, (store) => primeMarketData(this.state, store))
    this.state.check()
  }
  async until(sequence: number): Promise<void> {
    const tables = tablesOf(this.state)
    while (this.reader.position.sequence < sequence)
      for (const entry of await this.reader.next(100)) {
        applyEntry(tables, entry)
        this.state.check()
      }
  }
  take(warm: WarmHead): void {
    const tables = tablesOf(this.state)
    for (const entry of warm.entries) applyEntry(tables, entry)
    this.state.check()
  }
}
test('a state that follows a busy platform is the one that a start would load', async () => {
  const url = await server.database()
  const platform = await TestPlatform.start({
    KONTOR_DATABASE_URL: url,
    KONTOR_SECRET_KEY: SECRET_KEY,
    KONTOR_AGENTS: 'on',
    KONTOR_CLOCK: '1790000000',
  })
  const key = sumsKey(SECRET_KEY)
  const follows = await Follows.open(url, key)
  const { operator } = platform
  const advance = (seconds: number) => operator.ok('POST', '/clock', { advance_seconds: seconds })
  // Orders that rest, fill, are amended, cancelled and ended with their market's other rules; a rename; a new market's tick.
  const one = await Trader.of(platform, { USDT: '1000000', BTC: '50' })
  const two = await Trader.of(platform, { USDT: '1000000', BTC: '50' })
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      await one.placed('buy', '0.1', String(20_000 + i), { text: `t-one${i}` })
      await two.placed('sell', '0.05', String(20_000 + i))
    }),
  )
  const resting = await one.placed('buy', '0.2', '15000', { text: 't-rests' })
  const amended = { currency_pair: 'BTC_USDT', amount: '0.3', price: '15001' }
  ok(await one.client.patch(`/spot/orders/${resting.id}`, amended))
  await one.placed('buy', '0.2', '15002')
  ok(await one.client.delete('/spot/orders', { currency_pair: 'BTC_USDT', side: 'sell' }))
  await advance(400)
  // Money that comes, is spent, and is taken back by its chain: an account below zero.
  await operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
  const { user_id, client } = await platform.user()
  const { txid } = await deposit(platform, user_id, '5')
  await mine(platform, 'ETH', 40)
  const margin = { currency: 'ETH', from: 'spot', to: 'margin', amount: '4', currency_pair: 'ETH_USDT' }
  ok(await client.post('/wallet/transfers', margin))
  await operator.ok('POST', '/chains/ETH/reorg', { depth: 40, drop: [txid] })
  await operator.ok('PATCH', '/markets/ETH_USDT', { trade_status: 'untradable' })
  await advance(5_000)
  const { committed } = platform.platform.desk.core
  await follows.until(committed.sequence)
  assert.ok(committed.sequence > 100, `${committed.sequence} batches`)
  const state = (platform.platform.desk.core as unknown as { state: State }).state
  assert.equal(follows.state.ledger.overdrawnOf(user_id)?.amount, state.ledger.overdrawnOf(user_id)?.amount)
  assert.equal(follows.state.ledger.overdrawnOf(user_id)?.amount, amountOf('-4'))
  assert.ok(follows.state.spot.trades.of('BTC_USDT').length > 40)
  assert.deepEqual(pictureOf(follows.state), pictureOf(state), 'as the one that wrote it')
  await platform.platform.stop()
  const last = await ask(url, 'select sequence from head')
  await follows.until(Number(last[0]![0]))
  const cold = await Follows.open(url, key, 'cold')
  assert.deepEqual(pictureOf(follows.state), pictureOf(cold.state), 'as one that was loaded')
  assert.ok(JSON.stringify(pictureOf(cold.state), (_, v) => String(v)).length > 1_000)
  await cold.reader.close()
  await follows.reader.close()
})

describe('a database that is taken over warm', () => {
  test('goes on where the journal ends, and the tables catch up behind it', async () => {
    const url = await server.database()
    const old = await Writer.open(url)
    await old.commits(30)
    const follows = await Follows.open(url)
    await old.store.holdBack(true)
    await old.commits(20)
    await follows.until(40)
    // Nobody has told it of the last ten; the old owner never gets to the tables any more.
    const store = new PostgresStore(url)
    const { sequence, hash } = follows.reader.position
    const warm = await store.openWarm(newSums(KEY), DECLARED, { sequence, hash })
    assert.equal(warm.sequence, 50)
    assert.deepEqual(
      warm.entries.map((entry) => entry.sequence),
      Array.from({ length: 50 - sequence }, (_, i) => sequence + 1 + i),
    )
    await assert.rejects(old.commit(), Fenced)
    follows.take(warm)
    const next = new Writer(store, follows.state, warm.sequence)
    await next.commits(10)
    const lines = await store.select(LEDGER_LINE, 'where "id" > ? order by "id"', [45])
    assert.equal(lines.length, 15, 'a look waits for what the old owner had left')
    await store.close()
    await old.store.close()
    await follows.reader.close()
    const cold = await whole(url, 60)
    assert.deepEqual(pictureOf(next.state), pictureOf(cold))
  })
  test('by one who has read everything, of an owner who stopped in good order', async () => {
    const url = await server.database()
    const old = await Writer.open(url)
    await old.commits(30)
    const follows = await Follows.open(url)
    await old.commits(30)
    await old.store.close()
    await follows.until(60)
    const store = new PostgresStore(url)
    const warm = await store.openWarm(newSums(KEY), DECLARED, follows.reader.position)
    assert.deepEqual(warm.entries, [])
    const next = new Writer(store, follows.state, warm.sequence)
    await next.commits(5)
    await store.close()
    await follows.reader.close()
    await whole(url, 65)
  })
  test('is left alone where memory does not stand on it', async () => {
    const url = await server.database()
    const old = await Writer.open(url)
    await old.commits(30)
    const warm = (after: { sequence: number; hash: string }) =>
      new PostgresStore(url).openWarm(newSums(KEY), DECLARED, after)
    const other = '0'.repeat(64)
    await old.store.query('select 1', [])
    await assert.rejects(warm({ sequence: 30, hash: other }), StoreUnavailable)
    await assert.rejects(warm({ sequence: 31, hash: other }), /ends at batch 30/)
    await assert.rejects(warm({ sequence: 2, hash: other }), StoreUnavailable, 'what follows is gone')
    await ask(url, `delete from migration where id = 211`)
    const [[hash]] = (await ask(url, 'select hash from head')) as [[string]]
    await assert.rejects(warm({ sequence: 30, hash }), /migration 211 is missing/)
    await ask(url, `insert into migration (id, name, at) values (211, 'journal_readers', 0)`)
    await old.commits(3)
    await ask(url, `update journal set body = replace(body, 'credit', 'debits') where sequence = 33`)
    await old.store.holdBack(true)
    await assert.rejects(warm({ sequence: 30, hash }), StoreUnavailable)
    await ask(url, `update journal set body = replace(body, 'debits', 'credit') where sequence = 33`)
    await old.commit()
    await old.store.close()
    await whole(url, 34)
  })
})

describe('a reader of the journal', () => {
  test('finds there what it has not read; what it has read goes', async () => {
    const url = await server.database()
    const writer = await Writer.open(url)
    await writer.commits(10)
    const follows = await Follows.open(url)
    await writer.commits(200)
    await writer.store.query('select 1', [])
    const [[kept]] = (await ask(url, 'select count(*) from journal')) as [[string]]
    assert.ok(Number(kept) >= 200, `${kept} wait for it`)
    await follows.until(210)
    await sleep(1_200) // it writes its place down
    await writer.commits(5)
    await writer.store.query('select 1', [])
    const [[left]] = (await ask(url, 'select count(*) from journal')) as [[string]]
    assert.ok(Number(left) < 10, `${left} are left`)
    assert.equal(follows.state.counters.get('written')?.value, 210)
    await follows.reader.close()
    assert.deepEqual(await ask(url, 'select name from journal_reader'), [])
    await writer.store.close()
  })
  test('that is gone without a word is not waited for, nor one that is far behind', async () => {
    const url = await server.database()
    const writer = await Writer.open(url)
    await writer.commits(10)
    for (const place of [`8, now() - interval '31 s'`, `-49000, now()`]) {
      await ask(url, `insert into journal_reader (name, sequence, seen) values ('gone', ${place})`)
      await writer.commits(1_010 / 2)
      await writer.store.query('select 1', [])
      await writer.commits(1_010 / 2)
      await writer.store.query('select 1', [])
      const [[left]] = (await ask(url, 'select count(*) from journal')) as [[string]]
      assert.ok(Number(left) < 600, `${left} are left of ${place}`)
      await ask(url, 'delete from journal_reader')
    }
    await writer.store.close()
  })
  test('says so when what it needs is gone, and goes on when it has loaded anew', async () => {
    const url = await server.database()
    const writer = await Writer.open(url)
    await writer.commits(10)
    const follows = await Follows.open(url)
    await ask(url, 'delete from journal_reader')
    await writer.commits(30)
    await writer.store.query('select 1', [])
    await assert.rejects(follows.until(40), JournalGap)
    await follows.load()
    assert.equal(follows.state.counters.get('written')?.value, 40)
    await writer.commits(3)
    await follows.until(43)
    // Everything is replaced: the same numbers are other batches now.
    const head = await writer.store.wipe()
    const sums = newSums(KEY)
    writer.store.sealBehind(head.hash, sums)
    writer.sequence = 0
    writer.state.counters.clear()
    writer.other = 'another history'
    await writer.commits(50)
    await assert.rejects(follows.until(50), JournalGap)
    await follows.load()
    await follows.until(50)
    assert.equal(follows.state.counters.size, writer.state.counters.size)
    await writer.store.close()
    await follows.reader.close()
  })
  test('believes nothing that was not written with its key', async () => {
    const url = await server.database()
    const writer = await Writer.open(url)
    await writer.commits(3)
    const follows = await Follows.open(url)
    await writer.store.holdBack(true)
    await writer.commits(1)
    await ask(url, `update journal set body = replace(body, 'credit', 'debits') where sequence = 4`)
    await assert.rejects(follows.until(4), /was not written with this secret key/)
    await assert.rejects(Follows.open(url, '4'.repeat(64), 'other'), /not written with this secret key/)
    await ask(url, `update counter set value = 1000000 where name = 'written'`)
    await assert.rejects(follows.load(), /changed behind the platform's back/)
    await ask(url, `delete from migration where id = 211`)
    await assert.rejects(follows.load(), /migration 211 is missing/)
    await writer.store.holdBack(false)
    await writer.store.close()
    await follows.reader.close()
  })
  test('connects anew after a broken line', async () => {
    const url = await server.database()
    const writer = await Writer.open(url)
    await writer.commits(3)
    const follows = await Follows.open(url)
    await writer.commits(3)
    await server.administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'kontor reads%'`,
    )
    await follows.until(6).catch(() => follows.until(6))
    await writer.store.close()
    await follows.reader.close()
  })
})
