import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Batch, type PackedBatch } from '../../src/machine/batch.ts'
import { LEDGER_LINE, type LedgerLine } from '../../src/core/ledger/ledger.ts'
import { AUDIT } from '../../src/core/tables/audit.ts'
import { LOGS, State } from '../../src/core/state.ts'
import { Tx, type ColumnType } from '../../src/machine/table.ts'
import { TRANSFER, type Transfer } from '../../src/core/tables/transfers.ts'
import { amountOf } from '../../src/money/amount.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import { compareSeals, newSums } from '../../src/store/seals.ts'
import { EMPTY_HEAD, TABLE_SPECS } from '../../src/store/statements.ts'
import {
  Fenced,
  StoreUnavailable,
  type OpenedHead,
  type Snapshot,
  type Store,
  type StoreHead,
} from '../../src/store/store.ts'
import { assertIndexed } from '../support/plan.ts'

/** Where a store under test lives: a file or a database, opened as often as a test likes. */
export interface Place {
  open(): Store
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

const KEY = '1'.repeat(64)
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
  static async open(place: Place): Promise<Session> {
    const store = place.open()
    const head = await store.open()
    const session = new Session(store, head)
    await store.load(session.state.tables)
    const sums = newSums(KEY)
    sums.setAll(head.sums)
    store.sealBehind(head.hash, sums)
    return session
  }
  pack(act: (tx: Tx, state: State) => void): PackedBatch {
    const tx = new Tx()
    act(tx, this.state)
    const batch = new Batch()
    batch.add(tx, 5, 'test.act', '{"a":"ü \\u0000"}')
    return batch.pack(this.head.sequence + 1, 6)
  }
  async commit(act: (tx: Tx, state: State) => void): Promise<void> {
    const packed = this.pack(act)
    this.head = { sequence: packed.sequence, hash: await this.store.commit(packed) }
  }
}

/** The same promises from every store. */
export function storeContract(name: string, makePlace: () => Promise<Place>): void {
  describe(name, () => {
    let place: Place
    const sessions: Session[] = []
    const open = async (): Promise<Session> => {
      const session = await Session.open(place)
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
      for (const { name, columns, ...rest } of [...TABLE_SPECS, ...LOGS]) {
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
      assert.deepEqual(await compareSeals((sql, row) => second.store.scan(sql, row), second.opened, KEY), [])
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
      const packed = session.pack((tx, state) => tx.put(state.counters, { name: 'gap', value: 1 }))
      await assert.rejects(session.store.commit({ ...packed, sequence: packed.sequence + 1 }), Fenced)
      assert.deepEqual(await session.store.query('select name from counter where name = ?', ['gap']), [])
    })

    test('a batch that fails half-way leaves nothing behind', async () => {
      const session = await open()
      const before = await session.store.query('select sequence, hash from head', [])
      const packed = session.pack((tx, state) => {
        tx.put(state.counters, { name: 'torn', value: 1 })
        tx.append(LEDGER_LINE, lineRow(100))
        tx.append(LEDGER_LINE, lineRow(100))
      })
      await assert.rejects(session.store.commit(packed), /unique|duplicate/i)
      assert.deepEqual(await session.store.query('select name from counter where name = ?', ['torn']), [])
      assert.deepEqual(await session.store.query('select sequence, hash from head', []), before)
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
      for (const { name } of [...TABLE_SPECS, ...LOGS])
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
