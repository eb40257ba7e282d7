import { test } from 'node:test'
import { Filter, ofAccount } from '../../src/api/futures/lists.ts'
import type { Value } from '../../src/store/store.ts'
import { assertIndexed } from '../support/plan.ts'
import { TestPlatform } from '../support/platform.ts'

/** The lists of contracts as their endpoints ask for them: table, filter, order. */
const ofUser = (): Filter => new Filter().and('"user_id" = ?', 1)
const ofOne = (): Filter => ofUser().and('"account" = ?', 'futures/usdt')
const ENDED = `"status" not in ('pending', 'active')`
const SPAN = { from: 1, to: 2 }
const LISTS: readonly (readonly [table: string, filter: Filter, order: string])[] = [
  ['contract_book', ofOne(), '"at" desc, "id" desc'],
  ['contract_book', ofOne().and('"type" = ?', 'fund').between('at', SPAN), '"at" desc, "id" desc'],
  ['contract_fill', ofOne(), '"at" desc, "trade_id" desc, "role" desc'],
  ['contract_fill', ofOne().and('"order_id" = ?', 5), '"trade_id" desc'],
  [
    'contract_order',
    ofAccount(ofUser().and(`"status" <> 'open'`), 'pair', 'futures/usdt'),
    '"update_at" desc, "id" desc',
  ],
  ['contract_order', ofUser().and('"pair" = ?', 'futures/usdt/BTC_USDT'), '"update_at" desc, "id" desc'],
  [
    'contract_order',
    ofAccount(ofUser().between('create_at', SPAN), 'pair', 'futures/usdt'),
    '"create_at" desc, "id" desc',
  ],
  ['contract_order', ofAccount(ofUser().and('"text" = ?', 't-1'), 'pair', 'futures/usdt'), '"id" desc'],
  ['position_close', ofOne().between('at', SPAN), '"at" desc, "id" desc'],
  ['position_change', ofUser().and('"contract" = ?', 'futures/usdt/BTC_USDT'), '"at" desc, "id" desc'],
  ['contract_liquidate', ofOne(), '"at" desc, "id" desc'],
  ['auto_deleverage', ofOne(), '"at" desc, "id" desc'],
  ['contract_settlement', ofOne(), '"at" desc, "id" desc'],
  ['contract_price_order', ofOne().and(`"status" in ('finished', 'invalid')`), '"id" desc'],
  ['trail_order', ofOne().and(ENDED).between('created_at', SPAN), '"id" desc'],
  ['trail_order', ofOne().and(ENDED), '"ended_at" desc, "id" desc'],
  ['trail_change', new Filter().and('"trail_id" = ?', 1), '"id" desc'],
  ['chase_order', ofOne().and(ENDED), '"id" desc'],
  ['chase_order', ofOne().and(ENDED).between('ended_at', SPAN), '"ended_at" desc, "id" desc'],
]

test('no list of contracts reads a whole table', async () => {
  const platform = await TestPlatform.start()
  const { store } = platform.platform.desk
  for (const [table, { sql, values }, order] of LISTS) {
    const page: Value[] = [...values, 100, 0]
    await assertIndexed(store, `select * from "${table}" ${sql} order by ${order} limit ? offset ?`, page)
    // What is counted, without the count.
    await assertIndexed(store, `select 1 from "${table}" ${sql} limit ?`, [...values, 100])
  }
  await platform.stop()
})
