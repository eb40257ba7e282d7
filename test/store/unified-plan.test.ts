import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Value } from '../../src/store/store.ts'
import { ok } from '../support/client.ts'
import { assertIndexed } from '../support/plan.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

/** Every list of the unified and margin groups, with each filter: the statements that it really sends. */
const LISTS: readonly (readonly [path: string, queries: readonly Record<string, string | number>[]])[] = [
  [
    '/unified/loan_records',
    [{}, { currency: 'BTC' }, { type: 'repay' }, { currency: 'BTC', type: 'borrow', page: 2 }],
  ],
  [
    '/unified/interest_records',
    [{}, { currency: 'BTC' }, { from: 1, to: 2_000_000_000 }, { page: 3, limit: 5 }],
  ],
  ['/unified/history_loan_rate', [{ currency: 'BTC' }, { currency: 'BTC', page: 2 }]],
  ['/margin/uni/loan_records', [{}, { currency: 'BTC' }, { currency_pair: 'BTC_USDT' }, { type: 'borrow' }]],
  ['/margin/uni/interest_records', [{}, { currency: 'BTC' }, { currency_pair: 'BTC_USDT' }]],
  ['/margin/cross/repayments', [{}, { currency: 'BTC' }, { reverse: 'false' }]],
  ['/margin/cross/interest_records', [{}, { currency: 'BTC' }]],
]

describe('lists of lending and margin', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('each is answered by an index alone, and so is the look for a used text', async () => {
    const { store } = platform.platform.desk
    const statements: { readonly sql: string; readonly values: readonly Value[] }[] = []
    const select = store.select.bind(store)
    store.select = (spec, where, values) => {
      statements.push({ sql: `select * from "${spec.name}" ${where}`, values })
      return select(spec, where, values)
    }
    const { client, user_id } = await Trader.of(platform, { USDT: '1000' })
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const loan = { currency: 'BTC', type: 'borrow', amount: '0.01', text: 'once' }
    ok(await client.post('/unified/loans', loan))
    for (const [path, queries] of LISTS) for (const query of queries) ok(await client.get(path, query))
    await platform.operator.ok('GET', `/users/${user_id}/liquidations`)
    assert.ok(statements.length >= 21, `${statements.length} statements`)
    // The account book of margin pairs is a union over accounts: no table in it is read as a whole.
    const books = { currency: 'USDT', from: 'spot', to: 'margin', currency_pair: 'BTC_USDT', amount: '1' }
    ok(await client.post('/wallet/transfers', books))
    const before = statements.length
    assert.equal(ok(await client.get('/margin/account_book', { currency_pair: 'BTC_USDT' })).length, 1)
    const [book] = statements.splice(before)
    // Last: asking SQLite for a plan leaves the reading connection with the snapshot of that moment.
    for (const { sql, values } of statements) await assertIndexed(store, sql, values)
    const plan = await store.query(`explain query plan ${book!.sql}`, book!.values)
    assert.doesNotMatch(plan.map((row) => String(row[3])).join('\n'), /SCAN ledger_line/)
  })
})
