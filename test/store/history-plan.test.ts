import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pageStatements, readPage, type Scope } from '../../src/api/history.ts'
import type { Value } from '../../src/store/store.ts'
import { DEPOSIT } from '../../src/core/tables/deposits.ts'
import { PUSH } from '../../src/core/tables/push.ts'
import { SUB_TRANSFER } from '../../src/core/tables/transfers.ts'
import { WITHDRAWAL } from '../../src/core/tables/withdrawals.ts'
import { assertIndexed } from '../support/plan.ts'
import { TestPlatform } from '../support/platform.ts'
import { deposit } from '../support/wallet.ts'

const LISTS: readonly (readonly [table: string, scope: Scope])[] = [
  [DEPOSIT.name, { columns: { user_id: 1 }, ordinal: 'ordinal' }],
  [DEPOSIT.name, { columns: { user_id: 1, currency: 'BTC' }, ordinal: 'currency_ordinal' }],
  [WITHDRAWAL.name, { columns: { user_id: 1 }, ordinal: 'ordinal' }],
  [WITHDRAWAL.name, { columns: { user_id: 1, currency: 'BTC' }, ordinal: 'currency_ordinal' }],
  [WITHDRAWAL.name, { columns: { user_id: 1, asset_class: 'SPOT' }, ordinal: 'class_ordinal' }],
  [PUSH.name, { columns: { push_uid: 1 }, ordinal: 'sent_ordinal' }],
  [PUSH.name, { columns: { receive_uid: 1 }, ordinal: 'received_ordinal' }],
  [SUB_TRANSFER.name, { columns: { main_user: 1 }, ordinal: 'ordinal' }],
  [SUB_TRANSFER.name, { columns: { main_user: 1, sub_user: 2 }, ordinal: 'sub_ordinal' }],
]

describe('history lists', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('pages cover every record once, whatever the window and the offset', async () => {
    const { store } = platform.platform.desk
    const { user_id } = await platform.user()
    for (let i = 0; i < 7; i++)
      await deposit(platform, user_id, '1', i % 2 === 0 ? 'BTC' : 'ETH', i % 2 === 0 ? 'BTC' : 'ETH')
    const window = { from: Math.floor(platform.now()) - 60, to: Math.floor(platform.now()) }
    for (const [columns, ordinal, count] of [
      [{ user_id }, 'ordinal', 7],
      [{ user_id, currency: 'BTC' }, 'currency_ordinal', 4],
      [{ user_id, currency: 'ETH' }, 'currency_ordinal', 3],
    ] as const) {
      const seen: number[] = []
      for (let offset = 0; offset < 10; offset += 2) {
        const { rows, total } = await readPage(store, DEPOSIT, { columns, ordinal }, window, {
          limit: 2,
          offset,
        })
        assert.equal(total, count)
        seen.push(...rows.map(({ id }) => id))
      }
      assert.equal(seen.length, count)
      assert.deepEqual(
        seen,
        [...new Set(seen)].sort((a, b) => b - a),
      )
    }
  })

  // Last: asking SQLite for a plan leaves the reading connection with the snapshot of that moment.
  test('each is answered by an index alone', async () => {
    const { store } = platform.platform.desk
    for (const [table, scope] of LISTS) {
      const { last, rows } = pageStatements(scope)
      const values = Object.values(scope.columns as Record<string, Value>)
      await assertIndexed(store, `select "${scope.ordinal}" from "${table}" ${last}`, [...values, 5])
      await assertIndexed(store, `select * from "${table}" ${rows}`, [...values, 9, 1, 100])
    }
    await assertIndexed(store, 'select * from "withdrawal" where "user_id" = ? and "withdraw_order_id" = ?', [
      1,
      'a',
    ])
    await assertIndexed(
      store,
      'select * from "sub_transfer" where "main_user" = ? and "client_order_id" = ?',
      [1, 'a'],
    )
    await assertIndexed(store, 'select * from "deposit" where "chain" = ? and "txid" = ? and "output" = ?', [
      'ETH',
      'a',
      0,
    ])
  })
})
