import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ending } from '../../src/api/spot/find.ts'
import { TestPlatform } from '../support/platform.ts'

/** What hostile input found, each for itself. */
describe('found by fuzzing', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())

  test('a market that is removed while a batch is carried out takes no other outcome of the batch away', async () => {
    const { user_id } = await platform.user()
    const name = { user_id, id: '1', currency_pair: 'GONE_USDT', account: null }
    const { desk } = platform.platform
    assert.equal(await ending(desk, name, { label: 'ORDER_NOT_FOUND' }), undefined)
  })
})
