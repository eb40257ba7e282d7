import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

/** More than a database puts together in one statement. */
const MANY = 600

test('an account with hundreds of currencies reads its book like any other', async () => {
  const path = join(tmpdir(), `kontor-many-currencies-${process.pid}.json`)
  const plain = BUILT_IN_WORLD.currencies.find(({ low_cap }) => low_cap)!
  const more = Array.from({ length: MANY }, (_, i) => ({ ...plain, currency: `C${i}`, name: `C${i}` }))
  const world = { currencies: [...BUILT_IN_WORLD.currencies, ...more], contracts: [] }
  writeFileSync(path, JSON.stringify(world))
  const platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  try {
    const { user_id, client } = await platform.user()
    for (const { currency } of more) await platform.credit(user_id, currency, '1')
    const book = async (query: Record<string, number | string>): Promise<string[]> =>
      ok(await client.get('/spot/account_book', query)).map((line: { currency: string }) => line.currency)
    const newest = more.map(({ currency }) => currency).reverse()
    assert.deepEqual(await book({ limit: 1000 }), newest)
    assert.deepEqual(await book({ limit: 7, page: 80 }), newest.slice(553, 560))
    assert.deepEqual(await book({ limit: 5, type: 'deposit' }), newest.slice(0, 5))
    assert.deepEqual(await book({ limit: 5, type: 'withdraw' }), [])
    assert.deepEqual(await book({ currency: 'c599' }), ['C599'])
    for (const one of ['/spot/accounts', '/wallet/total_balance', '/wallet/small_balance'])
      ok(await client.get(one))
    const balances = await platform.operator.ok('GET', `/users/${user_id}/balances?at=${platform.now()}`)
    assert.equal(balances.length, MANY)
  } finally {
    await platform.stop()
    rmSync(path)
  }
})
