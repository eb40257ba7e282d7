import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Batch } from '../../src/machine/batch.ts'
import { aboutLength, type ClosedBatch } from '../../src/machine/loose.ts'
import { LEDGER_LINE, type LedgerLine } from '../../src/core/ledger/ledger.ts'
import { AUDIT } from '../../src/core/tables/audit.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import { Tx, type ColumnType } from '../../src/machine/table.ts'
import { TRANSFER, type Transfer } from '../../src/core/tables/transfers.ts'
import { amountOf } from '../../src/money/amount.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import { compareSeals, newSums } from '../../src/store/seals.ts'
import type { Bound } from '../../src/store/spine.ts'
import { EMPTY_HEAD } from '../../src/store/head.ts'
import {
  Fenced,
  StoreLost,
  StoreUnavailable,
  type OpenedHead,
  type Snapshot,
  type Store,
  type StoreHead,
} from '../../src/store/store.ts'
import { assertIndexed } from '../support/plan.ts'

/** Where a store under test lives: a file or a database, opened as often as a test likes. */
export interface Place {
  open(bound?: Bound): Store
  /** Whether tables follow a journal here, or are written at once. */
  readonly journaled: boolean
  /** Changes the journal's entries behind the platform's back. */
  tamperJournal(change: string): Promise<void>
  snapshot(): Promise<Snapshot>
  /** Column names and types as the database tells them, in their order. */
  columns(store: Store, table: string): Promise<string[]>
  /** The database's word for a declared type. */
  stored(type: ColumnType): string
  /** Runs a statement behind the platform's back. */
  tamper(sql: string): Promise<void>
}

const ACCOUNT_ROW = {
  id: 1,
  owner: 7,
  name: 'spot' as const,
  currency: 'BTC',
  amount: amountOf('-0.000000000000000001'),
  version: 3,
}
const transferRow = (tx_id: number): Transfer => ({
  tx_id,
  kind: 'own',
  user_id: 7,
  from_user: 7,
  from_account: 'spot',
  to_user: 7,
  to_account: 'margin',
  currency: 'BTC',
  amount: amountOf('12345678901234567890.123456789012345678'),
  settle: '',
  currency_pair: 'BTC_USDT',
  client_order_id: null,
  at: 1_700_000_000_000_000 + tx_id,
})
const lineRow = (id: number): LedgerLine => ({
  id,
  entry: id,
  account: 1,
  amount: amountOf('1'),
  after: amountOf(String(id)),
  kind: 'credit',
  ref: `transfer:${id}`,
  at: 1_700_000_000_000_000 + id,
})

export const KEY = '1'.repeat(64)
/** A process: a state of its own over the place, committing what `act` changes. */
class Session {
  readonly state = new State()
  readonly store: Store
  /** What it found. */
  readonly opened: OpenedHead
  head: Pick<StoreHead, 'sequence' | 'hash'>
  private constructor(store: Store, head: OpenedHead) {
    this.store = store
    this.opened = head
    this.head = head
  }
  static async open(place: Place, bound?: Bound): Promise<Session> {
    const store = place.open(bound)
    const sums = newSums(KEY)
    const head = await store.open(sums, DECLARED)
    const session = new Session(store, head)
    await store.load(session.state.tables)
    sums.setAll(head.sums)
    store.sealBehind(head.hash, sums)
    return session
  }
  batch(act: (tx: Tx, state: State) => void): ClosedBatch {
    const tx = new Tx()
    act(tx, this.state)
    const batch = new Batch()
    batch.add(tx, 5, 'test.act', '{"a":"ü \\u0000"}')
    const sequence = this.head.sequence + 1
    return this.store.asText ? batch.packed(sequence, 6) : batch.loose(sequence, 6)
  }
  async commit(act: (tx: Tx, state: State) => void): Promise<void> {
    const loose = this.batch(act)
    this.head = { sequence: loose.sequence, hash: await this.store.commit(loose) }
  }
}

/** The same promises from every store. */
export function storeContract(name: string, makePlace: () => Promise<Place>): void {
  describe(name, () => {
    let place: Place
    const sessions: Session[] = []
    const open = async (bound?: Bound): Promise<Session> => {
      const session = await Session.open(place, bound)
      sessions.push(session)
      return session
    }
    before(async () => {
      place = await makePlace()
    })
    after(async () => {
      for (const { store } of sessions) await store.close()
    })

    test('the schema after all migrations is the one that the code declares', async () => {
      const { store } = await open()
      assert.deepEqual(
        MIGRATIONS.map(({ id }) => id),
        [...new Set(MIGRATIONS.map(({ id }) => id))].sort((a, b) => a - b),
        'migrations run in the order of their numbers, each once',
      )
      for (const { name, columns, ...rest } of [...DECLARED.tables, ...DECLARED.logs]) {
        const live = 'live' in rest && rest.live !== undefined ? [`live ${place.stored('bool')}`] : []
        const declared = Object.entries<ColumnType>(columns).map(
          ([column, type]) => `${column} ${place.stored(type)}`,
        )
        // A column that a later migration added stands behind the others.
        assert.deepEqual((await place.columns(store, name)).sort(), [...declared, ...live].sort(), name)
      }
    })

    test('what was committed is there for the next process, as it was', async () => {
      const first = await open()
      const settings = { z: 1, a: { b: [null, 'é\u{1f600}'], 10: 'x' } }
      await first.commit((tx, state) => {
        tx.put(state.ledger.accounts, ACCOUNT_ROW)
        tx.put(state.ledger.accounts, { ...ACCOUNT_ROW, id: 2, amount: amountOf('0') })
        tx.put(state.world.settings, { name: 'kept', value: settings })
        tx.put(state.transfers, transferRow(1))
        for (let id = 1; id <= 3; id++) tx.append(LEDGER_LINE, lineRow(id))
      })
      await first.commit((tx, state) => {
        tx.put(state.ledger.accounts, { ...ACCOUNT_ROW, version: 4 })
        tx.remove(state.ledger.accounts, 2)
      })
      const second = await open()
      const { sequence, hash, at, sums, migrated } = second.opened
      assert.deepEqual([sequence, hash, at, migrated], [2, first.head.hash, 6, []])
      assert.ok(sums.includes('account'))
      assert.deepEqual(
        await compareSeals((sql, row) => second.store.scan(sql, row), second.opened, KEY, DECLARED),
        [],
      )
      assert.deepEqual([...second.state.ledger.accounts.values()], [{ ...ACCOUNT_ROW, version: 4 }])
      const kept = second.state.world.settings.get('kept')
      assert.equal(
        JSON.stringify(kept),
        JSON.stringify({ name: 'kept', value: settings }),
        'order of members too',
      )
      assert.equal(second.state.transfers.size, 0, 'history is not loaded')
      assert.deepEqual(await second.store.select(TRANSFER, 'where tx_id = ?', [1]), [transferRow(1)])
      assert.deepEqual(await second.store.select(LEDGER_LINE, 'where id >= ? order by id', [2]), [
        lineRow(2),
        lineRow(3),
      ])
      const [one, two, ...more] = await second.store.commandsAfter(0, 10)
      assert.deepEqual([one!.sequence, two!.sequence, more.length], [1, 2, 0])
      assert.equal(one!.commands, '[[5,"test.act",{"a":"ü \\u0000"}]]')
      assert.equal(two!.hash, first.head.hash)
      assert.deepEqual(await second.store.commandsAfter(2, 10), [])
    })

    test('an older process is fenced out and changes nothing', async () => {
      const older = await open()
      await older.store.checkFence()
      const newer = await open()
      await assert.rejects(older.store.checkFence(), Fenced)
      await assert.rejects(
        older.commit((tx, state) => tx.put(state.counters, { name: 'fenced', value: 1 })),
        Fenced,
      )
      await assert.rejects(older.store.wipe(), Fenced)
      await newer.store.checkFence()
      assert.deepEqual(await newer.store.query('select name from counter where name = ?', ['fenced']), [])
      await newer.commit((tx, state) => tx.put(state.counters, { name: 'owner', value: 1 }))
    })

    test('a batch out of sequence is refused', async () => {
      const session = await open()
      const loose = session.batch((tx, state) => tx.put(state.counters, { name: 'gap', value: 1 }))
      await assert.rejects(session.store.commit({ ...loose, sequence: loose.sequence + 1 }), Fenced)
      assert.deepEqual(await session.store.query('select name from counter where name = ?', ['gap']), [])
    })

    test('a batch that the tables can not take is kept, told, and taken when they can', async () => {
      const session = await open()
      const columns = '("id", "entry", "account", "amount", "after", "kind", "ref", "at")'
      await place.tamper(`insert into ledger_line ${columns} values (100, 1, 1, '1', '1', 'x', 'x', 1)`)
      const loose = session.batch((tx, state) => {
        tx.put(state.counters, { name: 'torn', value: 1 })
        tx.append(LEDGER_LINE, lineRow(100))
      })
      if (place.journaled) {
        await session.store.commit(loose)
        // Nothing of it is there, and nobody is told less than was acknowledged: the question fails.
        await assert.rejects(
          session.store.query('select name from counter where name = ?', ['torn']),
          StoreLost,
        )
        await assert.rejects(session.store.checkFence(), StoreLost)
        await assert.rejects(
          open(),
          /batches \d+ to \d+ of the journal can't be written into the tables: .*(unique|duplicate)/i,
        )
      } else await assert.rejects(session.store.commit(loose), /unique|duplicate/i)
      const snapshot = await place.snapshot()
      assert.deepEqual(await snapshot.query(`select name from counter where name = 'torn'`), [])
      assert.equal((await snapshot.tail()).length, place.journaled ? 1 : 0)
      await snapshot.close()
      await place.tamper('delete from ledger_line where id = 100')
      const next = await open()
      const found = await next.store.query('select name from counter where name = ?', ['torn'])
      assert.deepEqual(found, place.journaled ? [['torn']] : [])
    })

    test('a table of many portions is loaded row by row as it was written, whatever its texts hold', async () => {
      const session = await open()
      const [FIRST, COUNT] = [1_000_000, 15_000]
      const odd = ['"', '\\', 'a\nb\tc', '{},[]', 'ü€😀', '', "'", 'null', ', ']
      const row = (i: number) => ({
        ...ACCOUNT_ROW,
        id: FIRST + i,
        currency: `${odd[i % odd.length]}${i}`,
        amount: amountOf(`${i % 2 === 0 ? '-' : ''}12345678901234567890.${String(i).padStart(18, '0')}`),
        version: 2 ** 53 - 1 - i,
      })
      await session.commit((tx, state) => {
        for (let i = 0; i < COUNT; i++) tx.put(state.ledger.accounts, row(i))
      })
      // Whole pages of nothing lie in between.
      const gone = (i: number): boolean => i >= 2_000 && i < 9_000
      await session.commit((tx, state) => {
        for (let i = 0; i < COUNT; i++) if (gone(i)) tx.remove(state.ledger.accounts, FIRST + i)
      })
      await session.store.close()
      const next = await open()
      const { accounts } = next.state.ledger
      for (let i = 0; i < COUNT; i++)
        assert.deepEqual(accounts.get(FIRST + i), gone(i) ? undefined : row(i), `row ${i}`)
      await next.commit((tx, state) => {
        for (let i = 0; i < COUNT; i++) if (!gone(i)) tx.remove(state.ledger.accounts, FIRST + i)
      })
      await next.store.close()
    })

    test('what is in the journal alone is told all the same: a question waits for the tables', async () => {
      if (!place.journaled) return
      const session = await open()
      await session.store.holdBack(true)
      for (let value = 1; value <= 100; value++)
        await session.commit((tx, state) => {
          tx.put(state.counters, { name: 'held', value })
          tx.append(LEDGER_LINE, lineRow(200 + value))
        })
      const { batches, bytes } = session.store.lag
      assert.equal(batches, 100)
      assert.ok(bytes > 10_000)
      let told: unknown
      const asked = session.store.query('select value from counter where name = ?', ['held'])
      void asked.then((rows) => (told = rows))
      await sleep(100)
      assert.equal(told, undefined, 'it waits')
      const snapshot = await place.snapshot()
      assert.equal((await snapshot.tail()).length, 100)
      await snapshot.close()
      await session.store.holdBack(false)
      assert.deepEqual(await asked, [[100]])
      const [[lines]] = (await session.store.query(
        'select count(*) from ledger_line where id > 200',
        [],
      )) as [[number]]
      assert.equal(lines, 100)
      assert.deepEqual(session.store.lag, { batches: 0, bytes: 0 })
    })

    test('what a killed process left in the journal is in the tables before the next one goes on', async () => {
      if (!place.journaled) return
      const killed = await open()
      await killed.store.holdBack(true)
      await killed.commit((tx, state) => {
        tx.put(state.counters, { name: 'left', value: 1 })
        tx.put(state.counters, { name: 'gone', value: 1 })
      })
      await killed.commit((tx, state) => {
        tx.put(state.counters, { name: 'left', value: 2 })
        tx.remove(state.counters, 'gone')
      })
      const next = await open()
      assert.deepEqual([next.opened.drained, next.opened.sequence], [2, killed.head.sequence])
      assert.equal(next.opened.hash, killed.head.hash)
      assert.equal(next.state.counters.get('left')?.value, 2)
      assert.equal(next.state.counters.get('gone'), undefined)
      assert.deepEqual(
        await compareSeals((sql, row) => next.store.scan(sql, row), next.opened, KEY, DECLARED),
        [],
      )
      // The follower of the old process writes nothing any more.
      await killed.store.holdBack(false)
      await assert.rejects(killed.store.query('select 1', []), /taken over|lost/)
      await next.commit((tx, state) => tx.put(state.counters, { name: 'left', value: 3 }))
      assert.deepEqual(await next.store.query('select value from counter where name = ?', ['left']), [[3]])
    })

    test('a tail of many portions comes into the tables once, whatever stops a start in the middle of it', async () => {
      if (!place.journaled) return
      const killed = await open()
      await killed.store.holdBack(true)
      const FIRST = 10_000
      const [batches, lines] = [40, 2_000]
      for (let batch = 0; batch < batches; batch++)
        await killed.commit((tx, state) => {
          tx.put(state.counters, { name: 'portions', value: batch })
          for (let i = 0; i < lines; i++) tx.append(LEDGER_LINE, lineRow(FIRST + batch * lines + i))
        })
      assert.ok(killed.store.lag.bytes > 4 * 2 ** 20, 'more than two portions')
      const { sequence } = killed.head
      await killed.store.close()
      // In the way of the last batch: the portions before it are kept, it is named, and nothing behind it is written.
      const last = FIRST + batches * lines - 1
      const columns = '("id", "entry", "account", "amount", "after", "kind", "ref", "at")'
      await place.tamper(`insert into ledger_line ${columns} values (${last}, 1, 1, '1', '1', 'x', 'x', 1)`)
      await assert.rejects(open(), new RegExp(`batches \\d+ to ${sequence} of the journal can't be written`))
      const snapshot = await place.snapshot()
      const left = (await snapshot.tail()).length
      assert.ok(left > 0 && left < batches, `${left} are left`)
      const [[reached]] = (await snapshot.query(`select value from counter where name = 'portions'`)) as [
        [number],
      ]
      assert.equal(reached, batches - left - 1)
      await snapshot.close()
      // In the way of the first of what is left: what comes behind it must not be written either.
      const next = FIRST + (batches - left) * lines
      await place.tamper(`delete from ledger_line where id = ${last}`)
      await place.tamper(`insert into ledger_line ${columns} values (${next}, 1, 1, '1', '1', 'x', 'x', 1)`)
      await assert.rejects(open(), new RegExp(`batches ${sequence - left + 1} to \\d+ of the journal can't`))
      await place.tamper(`delete from ledger_line where id = ${next}`)
      const mended = await open()
      assert.deepEqual([mended.opened.drained, mended.opened.sequence], [left, sequence])
      const [[count]] = (await mended.store.query('select count(*) from ledger_line where id >= ?', [
        FIRST,
      ])) as [[number]]
      assert.equal(count, batches * lines)
      assert.deepEqual(
        await compareSeals((sql, row) => mended.store.scan(sql, row), mended.opened, KEY, DECLARED),
        [],
      )
      await mended.store.close()
    })

    test('a journal that somebody changed is not taken into the tables', async () => {
      if (!place.journaled) return
      const killed = await open()
      await killed.store.holdBack(true)
      await killed.commit((tx, state) => tx.put(state.counters, { name: 'prize', value: 1 }))
      const { sequence } = killed.head
      const prize = (from: string, to: string): Promise<void> =>
        place.tamperJournal(
          `set body = replace(body, '["prize",${from}]', '["prize",${to}]') where sequence = ${sequence}`,
        )
      await prize('1', '9')
      await assert.rejects(open(), new RegExp(`batch ${sequence} of the journal was changed behind`))
      const snapshot = await place.snapshot()
      assert.deepEqual(await snapshot.query(`select value from counter where name = 'prize'`), [])
      await snapshot.close()
      await prize('9', '1')
      const next = await open()
      assert.equal(next.state.counters.get('prize')?.value, 1)
    })

    const boundOf = { batches: { bytes: 2 ** 30, batches: 3 }, bytes: { bytes: 10_000, batches: 2 ** 20 } }
    for (const [of, bound] of Object.entries(boundOf))
      test(`at the bound of ${of} commits wait, and none is lost`, async () => {
        if (!place.journaled) return
        const session = await open(bound)
        await session.store.holdBack(true)
        const landed: number[] = []
        const commits = Array.from({ length: 10 }, (_, i) => {
          const loose = session.batch((tx, state) => {
            tx.put(state.counters, { name: `bound of ${of}`, value: i })
            tx.put(state.world.settings, { name: `${of} ${i}`, value: 'x'.repeat(4_000) })
          })
          session.head = { ...session.head, sequence: loose.sequence }
          return session.store.commit(loose).then(() => landed.push(i))
        })
        await Promise.all(commits.slice(0, 3))
        await sleep(100)
        assert.deepEqual(landed, [0, 1, 2])
        await session.store.holdBack(false)
        await Promise.all(commits)
        assert.deepEqual(landed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        assert.deepEqual(
          await session.store.query('select value from counter where name = ?', [`bound of ${of}`]),
          [[9]],
        )
        await session.store.close()
      })

    test('none overtakes one that waits at the bound, when another turns out to be shorter than was thought', async () => {
      if (!place.journaled) return
      const before = await open()
      const numbers = (name: string, count: number): ClosedBatch => {
        const batch = before.batch((tx, state) => {
          for (let i = 0; i < count; i++) tx.put(state.counters, { name: `${name}${i}`, value: i })
        })
        before.head = { ...before.head, sequence: batch.sequence }
        return batch
      }
      const batches = [numbers('long', 300), numbers('waits', 1), numbers('comes', 1)]
      await before.store.close()
      const { store } = await open({ bytes: aboutLength(batches[0]!), batches: 2 ** 20 })
      await store.holdBack(true)
      const landed: number[] = []
      const commit = (i: number): Promise<unknown> => store.commit(batches[i]!).then(() => landed.push(i))
      const waits = [commit(0), commit(1)]
      await waits[0]
      waits.push(commit(2))
      await sleep(20)
      await store.holdBack(false)
      await Promise.all(waits)
      assert.deepEqual(landed, [0, 1, 2])
      await store.close()
    })

    test('history is found by an index, never by reading it all', async () => {
      const { store } = await open()
      const line = `select * from ledger_line where`
      await assertIndexed(
        store,
        `${line} "account" = ? and "at" <= ? order by "at" desc, "id" desc limit 1`,
        [1, 5],
      )
      await assertIndexed(
        store,
        `${line} "account" = ? and "at" >= ? and "at" <= ? and "kind" in (?) order by "at" desc, "id" desc limit 9`,
        [1, 5, 9, 'x'],
      )
      await assertIndexed(store, `${line} "id" > ? order by "id" limit 9`, [1])
      await assertIndexed(store, 'select * from transfer where tx_id = ?', [1])
      await assertIndexed(store, 'select * from transfer where user_id = ? and client_order_id = ?', [1, 'x'])
      await assertIndexed(store, 'select * from audit where "id" >= ? order by "id" limit ?', [1, 9])
      await assertIndexed(store, 'select * from audit where "at" >= ? order by "at", "id" limit ?', [1, 9])
      await assertIndexed(
        store,
        'select * from command_batch where sequence > ? order by sequence limit ?',
        [1, 9],
      )
      const finished = `select * from spot_order where "user_id" = ? and "status" <> 'open'`
      await assertIndexed(store, `${finished} order by "update_at" desc, "id" desc limit ?`, [1, 9])
      await assertIndexed(
        store,
        `select * from spot_order where "user_id" = ? and "text" = ? and "text" <> 'apiv4' order by "id" desc limit 1`,
        [1, 't-1'],
      )
      const fill = 'select * from spot_fill where "user_id" = ?'
      await assertIndexed(
        store,
        `${fill} and "at" >= ? order by "at" desc, "trade_id" desc limit ?`,
        [1, 5, 9],
      )
      const trade = 'select * from spot_trade where "pair" = ?'
      await assertIndexed(store, `${trade} and "id" > ? order by "id" desc limit ?`, ['A_B', 5, 9])
      await assertIndexed(store, `${trade} and "at" >= ? order by "at" desc, "id" desc limit ?`, [
        'A_B',
        5,
        9,
      ])
      await assertIndexed(
        store,
        'select * from spot_candle where "series" = ? and "open_time" >= ? order by "open_time" limit ?',
        ['A_B/60', 5, 9],
      )
      await assertIndexed(
        store,
        `select * from spot_price_order where "user_id" = ? and "status" <> 'open' order by "id" desc limit ?`,
        [1, 9],
      )
      await assert.rejects(
        assertIndexed(store, 'select * from ledger_line where kind = ?', ['x']),
        /index alone/,
      )
      await assert.rejects(
        assertIndexed(store, 'select * from audit where id > ? order by action', [1]),
        /index alone/,
      )
    })

    test('a snapshot neither disturbs nor follows the process that writes', async () => {
      const session = await open()
      const snapshot = await place.snapshot()
      const count = 'select count(*) from audit'
      assert.deepEqual(await snapshot.query(count), [[0]])
      await session.commit((tx) =>
        tx.append(AUDIT, {
          id: 1,
          at: 1,
          operator: 'o',
          action: 'a',
          detail: {},
          previous_hash: '',
          hash: '',
        }),
      )
      assert.deepEqual(await snapshot.query(count), [[0]])
      assert.deepEqual(await session.store.query(count, []), [[1]])
      await session.store.checkFence()
      await assert.rejects(snapshot.query(`delete from audit`), /read-?only/i)
      await snapshot.close()
    })

    test('wipe empties everything and goes on from zero', async () => {
      const session = await open()
      session.head = await session.store.wipe()
      assert.deepEqual(session.head, EMPTY_HEAD)
      for (const { name } of [...DECLARED.tables, ...DECLARED.logs])
        assert.deepEqual(await session.store.query(`select count(*) from "${name}"`, []), [[0]], name)
      await session.commit((tx, state) => tx.put(state.counters, { name: 'again', value: 1 }))
      assert.equal(session.head.sequence, 1)
    })

    test('a database of a newer version is left alone', async () => {
      await place.tamper(`insert into migration (id, name, at) values (9999, 'future', 0)`)
      const epoch = async (): Promise<unknown> => {
        const snapshot = await place.snapshot()
        const rows = await snapshot.query('select epoch from head')
        await snapshot.close()
        return rows
      }
      const before = await epoch()
      await assert.rejects(open(), (error: Error) => {
        assert.ok(error instanceof StoreUnavailable)
        assert.match(error.message, /newer version.*9999/)
        assert.doesNotMatch(error.message, /\n/)
        return true
      })
      assert.deepEqual(await epoch(), before, 'the running platform keeps its epoch')
      await place.tamper('delete from migration where id = 9999')
    })
  })
}
