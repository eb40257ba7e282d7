import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SPOT_FILL } from '../../src/core/tables/exchange/trades.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }
interface Mine {
  readonly id: string
  readonly role: string
  readonly order_id: string
}
const mine = async (trader: Trader, query: Record<string, string | number> = {}): Promise<Mine[]> =>
  ok(await trader.client.get('/spot/my_trades', { ...PAIR, ...query }))

describe('own trades that the tables do not hold yet', () => {
  let platform: TestPlatform
  let buyer: Trader
  let seller: Trader
  const held = (on: boolean): Promise<void> => platform.platform.desk.store.holdBack(on)
  const trade = async (): Promise<string> => {
    await seller.placed('sell', '0.001', '50000')
    return (await buyer.placed('buy', '0.001', '50000')).id as string
  }
  before(async () => {
    platform = await TestPlatform.start()
    buyer = await Trader.of(platform, { USDT: '100000', BTC: '1' })
    seller = await Trader.of(platform, { USDT: '100000', BTC: '1' })
  })
  after(() => platform.stop())

  test('are told at once, in front of those that they hold, page by page and by every condition', async () => {
    for (let i = 0; i < 3; i++) await trade()
    const old = await mine(buyer)
    assert.equal(old.length, 3)
    await held(true)
    const orders = [await trade(), await trade()]
    // Both sides are his: one trade, two fills.
    await buyer.placed('sell', '0.001', '50000')
    const own = (await buyer.placed('buy', '0.001', '50000')).id as string
    assert.deepEqual(
      (await platform.platform.desk.store.selectHeld(SPOT_FILL, 'where "user_id" = ?', [buyer.user_id]))
        .length,
      3,
      'the tables have stood still',
    )
    const all = await mine(buyer)
    assert.equal(all.length, 7)
    assert.deepEqual(
      all
        .slice(0, 2)
        .map(({ role }) => role)
        .sort(),
      ['maker', 'taker'],
    )
    assert.deepEqual([all[3]!.order_id, all[2]!.order_id], orders)
    assert.deepEqual(all.slice(4), old)
    const pages = [1, 2, 3, 4].map((page) => mine(buyer, { limit: 2, page }))
    assert.deepEqual((await Promise.all(pages)).flat(), all)
    assert.deepEqual(await mine(buyer, { order_id: orders[1]! }), [all[2]])
    assert.deepEqual(await mine(buyer, { order_id: own }), [all.find(({ order_id }) => order_id === own)])
    assert.deepEqual(await mine(buyer, { account: 'unified' }), [])
    assert.deepEqual(ok(await buyer.client.get('/spot/my_trades', { currency_pair: 'ETH_USDT' })), [])
    assert.deepEqual(await mine(buyer, { to: 1_000_000, from: 999_000 }), [])
    assert.equal((await mine(seller)).length, 5)
    await held(false)
    // The same again when the tables hold them.
    await platform.platform.desk.store.query('select 1', [])
    assert.deepEqual(await mine(buyer), all)
    const again = [1, 2, 3, 4].map((page) => mine(buyer, { limit: 2, page }))
    assert.deepEqual((await Promise.all(again)).flat(), all)
  })

  test('a page far back is not put together: it waits for the tables, and reads no more than itself', async () => {
    const { store } = platform.platform.desk
    const selectHeld = store.selectHeld.bind(store)
    let most = 0
    store.selectHeld = async (spec, where, values) => {
      const rows = await selectHeld(spec, where, values)
      if (spec.name === SPOT_FILL.name) most = Math.max(most, Number(values.at(-2)))
      return rows
    }
    await held(true)
    await trade()
    let told: Mine[] | undefined
    const asked = mine(buyer, { limit: 1000, page: 90 }).then((trades) => (told = trades))
    await sleep(200)
    assert.equal(told, undefined, 'it waits')
    assert.equal((await mine(buyer, { limit: 1000 })).length, 8)
    await held(false)
    assert.deepEqual(await asked, [])
    assert.equal(most, 1000)
    store.selectHeld = selectHeld
  })

  test('who has missed some of them waits for the tables', async () => {
    const before = (await mine(buyer)).length
    await held(true)
    await trade()
    // As when more came than there is room for.
    platform.platform.desk.core.commits.lose()
    let told: Mine[] | undefined
    const asked = mine(buyer).then((trades) => (told = trades))
    await sleep(200)
    assert.equal(told, undefined, 'it waits')
    await held(false)
    assert.equal((await asked).length, before + 1)
    // And for no longer than that.
    await held(true)
    await trade()
    assert.equal((await mine(buyer)).length, before + 2)
    await held(false)
  })

  test('a reset forgets them, and those after it are told', async () => {
    await held(true)
    await trade()
    await held(false)
    await platform.operator.ok('POST', '/reset', {})
    buyer = await Trader.of(platform, { USDT: '100000', BTC: '1' })
    seller = await Trader.of(platform, { USDT: '100000', BTC: '1' })
    assert.deepEqual(await mine(buyer), [])
    await held(true)
    await trade()
    assert.equal((await mine(buyer)).length, 1)
    await held(false)
    assert.equal((await mine(buyer)).length, 1)
  })

  test('nobody is shown less than he was told, while the tables follow as they can', async () => {
    for (let i = 1; i <= 60; i++) {
      const id = await trade()
      const trades = await mine(buyer, { limit: 1000 })
      assert.equal(trades[0]!.order_id, id)
      assert.equal(trades.length, 1 + i)
      assert.equal(new Set(trades.map((one) => one.id)).size, trades.length)
    }
  })
})
