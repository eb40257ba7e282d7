import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../src/api/history.ts'
import { DEPOSIT, type Deposit } from '../../src/core/tables/deposits.ts'
import type { Store } from '../../src/store/store.ts'

/** What matters here is what the compiler says; the calls only show that nothing else was meant. */
const asked: string[] = []
const store = {
  select: (_spec: unknown, where: string) => {
    asked.push(where)
    return Promise.resolve([])
  },
} as unknown as Store

test('a column that a table has not does not compile, in what is asked and in what pages are found by', async () => {
  await store.select(DEPOSIT, 'where "user_id" = ? order by "id" desc', [1])
  const column = 'currency' as 'currency' | 'chain'
  await store.select(DEPOSIT, `where "${column}" = ?`, ['BTC'])
  const built: string = ['where', '"user_id"', '= ?'].join(' ')
  await store.select(DEPOSIT, built, [1])
  // @ts-expect-error: it is user_id
  await store.select(DEPOSIT, 'where "usr_id" = ? order by "id" desc', [1])
  // @ts-expect-error: it is ordinal
  await store.select(DEPOSIT, 'where "user_id" = ? order by "ordinals" desc', [1])
  // @ts-expect-error: deposits have no push_uid
  await store.select(DEPOSIT, `where "${'push_uid' as 'push_uid' | 'user_id'}" = ?`, [1])
  assert.equal(asked.length, 6)
  const good: Scope<Deposit> = { columns: { user_id: 1, currency: 'BTC' }, ordinal: 'currency_ordinal' }
  // @ts-expect-error: it is user_id
  const column_: Scope<Deposit> = { columns: { user: 1 }, ordinal: 'ordinal' }
  // @ts-expect-error: it is ordinal
  const place: Scope<Deposit> = { columns: { user_id: 1 }, ordinal: 'ordinals' }
  assert.notDeepEqual(good, [column_, place])
})
