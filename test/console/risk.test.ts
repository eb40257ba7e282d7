import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { text } from '../../console/src/lib/decimal.ts'
import { outlook, type Explanation } from '../../console/src/pages/account/whatIf.ts'
import { ok } from '../support/client.ts'
import { signedIn, type Browser } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

describe('margin, explained to its holder', () => {
  let platform: TestPlatform
  let trader: Trader
  let page: Browser
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    // Enough of it to reach into a second tier of the discounts, and a debt in another currency.
    trader = await Trader.of(platform, { BTC: '33.12345678', ETH: '7.7', USDT: '1000' })
    ok(await trader.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await trader.client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '150000' }))
    ok(await trader.client.post('/unified/loans', { currency: 'ETH', type: 'borrow', amount: '123.456789' }))
    page = await signedIn(platform, { user_id: trader.user_id })
  })
  after(() => platform.stop())

  test('each figure has its formula and what goes into it, as an operator sees it', async () => {
    const told: Explanation = await page.ok('GET', '/v1/risk')
    const theirs = await platform.operator.ok('GET', `/users/${trader.user_id}/risk/explain`)
    assert.deepEqual(told, theirs)
    const account = ok(await trader.client.get('/unified/accounts'))
    assert.equal(told.user_id, trader.user_id)
    assert.match(told.figures['total_margin_balance']!.formula, /counted_value/)
    assert.ok(
      told.figures['total_margin_balance']!.value.startsWith(account.total_margin_balance.slice(0, 8)),
      `${told.figures['total_margin_balance']!.value} ${account.total_margin_balance}`,
    )
    assert.deepEqual(
      told.currencies.map(({ currency, price, borrowed }) => [currency, price, borrowed]),
      [
        ['BTC', '60000', '0'],
        ['ETH', '3000', '123.456789'],
        ['USDT', '1', '150000'],
      ],
    )
  })
  test('nobody else sees it, and without a session nobody', async () => {
    const other = await platform.user()
    const theirs = await signedIn(platform, { user_id: other.user_id })
    assert.equal((await theirs.ok('GET', '/v1/risk')).user_id, other.user_id)
    const headers = { 'X-Kontor-Account': String(trader.user_id) }
    assert.equal((await theirs.get('/v1/risk', headers)).status, 403)
    assert.equal((await fetch(`${platform.url}/console/v1/risk`)).status, 401)
  })
  test('what the page reckons for another price is what the platform says at that price', async () => {
    const told: Explanation = await page.ok('GET', '/v1/risk')
    for (const [currency, at, percent] of [
      ['BTC', 60000, 0],
      ['BTC', 60000, -17],
      ['BTC', 60000, 50],
      ['ETH', 3000, 33],
      ['ETH', 3000, -50],
    ] as const) {
      const price = String((at * (100 + percent)) / 100)
      await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', [currency]: price })
      const { figures }: Explanation = await page.ok('GET', '/v1/risk')
      const { balance, initial, maintenance, available, initialRate, maintenanceRate } = outlook(
        told,
        currency,
        percent,
      )
      assert.deepEqual(
        [balance, initial, maintenance, available, initialRate!, maintenanceRate!].map(text),
        [
          'total_margin_balance',
          'total_initial_margin',
          'total_maintenance_margin',
          'total_available_margin',
          'total_initial_margin_rate',
          'total_maintenance_margin_rate',
        ].map((name) => figures[name]!.value),
        `${currency} ${percent} %`,
      )
    }
  })
  test("a market's index price follows the prices of its currencies", async () => {
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    assert.deepEqual(await page.ok('GET', '/v1/index_price?currency_pair=btc_usdt'), {
      currency_pair: 'BTC_USDT',
      price: '60000',
    })
    assert.equal((await page.ok('GET', '/v1/index_price?currency_pair=ETH_BTC')).price, '0.05')
    const none = await page.get('/v1/index_price?currency_pair=NO_USDT')
    assert.deepEqual([none.status, none.body.label], [400, 'INVALID_CURRENCY'])
  })
})
