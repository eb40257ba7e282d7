import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

/** Somebody may write figures as he likes; clients compare texts. */
describe('tables of lending, as a file with idle zeros has them', () => {
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-lending-tables-'))
  before(async () => {
    const { unified } = BUILT_IN_WORLD
    const xrp = {
      ...unified.currencies.find(({ currency }) => currency === 'XRP')!,
      min_borrow_amount: '01.50',
      user_max_borrow_amount: '500000.0',
      total_max_borrow_amount: '0010000000',
      discount_tiers: [
        { tier: '1', discount: '0.90', lower_limit: '0.0', upper_limit: '100.00', leverage: '5.0' },
        { tier: '2', discount: '0.80', lower_limit: '100', upper_limit: '', leverage: '03' },
      ],
      margin_tiers: [
        { tier: '1', margin_rate: '0.060', lower_limit: '0.0', upper_limit: '100.00', leverage: '5.0' },
        { tier: '2', margin_rate: '0.120', lower_limit: '100', upper_limit: '+', leverage: '03' },
      ],
    }
    const pair = {
      currency_pair: 'XRP_USDT',
      base_min_borrow_amount: '1.0',
      quote_min_borrow_amount: '02',
      max_quote_amount: '100.00',
      tiers: [
        { upper_limit: '100.0', mmr: '0.050', leverage: '10.0' },
        { upper_limit: '+', mmr: '0.080', leverage: '05' },
      ],
    }
    const path = join(folder, 'world.json')
    const usdt = unified.currencies.find(({ currency }) => currency === 'USDT')!
    const config = { ...unified, currencies: [xrp, usdt], isolated: [pair], tier_up_rates: ['1.0', '01.50'] }
    writeFileSync(path, JSON.stringify({ unified: config }))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const get = async (path: string, query: Record<string, string> = {}) =>
    ok(await platform.client().get(path, query))

  test('are told as canonical decimals, each list with its own sign for no end', async () => {
    const [{ min_borrow_amount, user_max_borrow_amount, total_max_borrow_amount }] =
      await get('/unified/currencies')
    assert.deepEqual(
      [min_borrow_amount, user_max_borrow_amount, total_max_borrow_amount],
      ['1.5', '500000', '10000000'],
    )
    const [{ discount_tiers }] = await get('/unified/currency_discount_tiers')
    assert.deepEqual(discount_tiers, [
      { tier: '1', discount: '0.9', lower_limit: '0', upper_limit: '100', leverage: '5' },
      { tier: '2', discount: '0.8', lower_limit: '100', upper_limit: '+', leverage: '3' },
    ])
    const [{ margin_tiers }] = await get('/unified/loan_margin_tiers')
    assert.deepEqual(margin_tiers, [
      { tier: '1', margin_rate: '0.06', lower_limit: '0', upper_limit: '100', leverage: '5' },
      { tier: '2', margin_rate: '0.12', lower_limit: '100', upper_limit: '', leverage: '3' },
    ])
    const rates = await get('/unified/history_loan_rate', { currency: 'XRP', tier: '1' })
    assert.equal(rates.tier_up_rate, '1.5')
  })
  test('of isolated margin too', async () => {
    const { base_min_borrow_amount, quote_min_borrow_amount, leverage } = await get(
      '/margin/uni/currency_pairs/XRP_USDT',
    )
    assert.deepEqual([base_min_borrow_amount, quote_min_borrow_amount, leverage], ['1', '2', '10'])
    const old = await get('/margin/currency_pairs/XRP_USDT')
    assert.deepEqual([old.min_base_amount, old.min_quote_amount, old.max_quote_amount], ['1', '2', '100'])
    assert.deepEqual(await get('/margin/loan_margin_tiers', { currency_pair: 'XRP_USDT' }), [
      { tier_amount: '100', upper_limit: '100', mmr: '0.05', leverage: '10' },
      { tier_amount: '', upper_limit: '', mmr: '0.08', leverage: '5' },
    ])
  })
  test('the most that a pair lends of its quote currency, to each account', async () => {
    const { user_id, client } = await platform.user()
    const pair = { currency_pair: 'XRP_USDT' }
    await platform.credit(user_id, 'USDT', '1000', { account: 'margin', ...pair })
    const most = async (currency: string): Promise<string> =>
      ok(await client.get('/margin/uni/borrowable', { ...pair, currency })).borrowable
    const loan = (amount: string) =>
      client.post('/margin/uni/loans', { ...pair, currency: 'USDT', type: 'borrow', amount })
    assert.equal(await most('USDT'), '100')
    refused(await loan('100.01'), 400, 'AMOUNT_TOO_MUCH', /100$/)
    ok(await loan('60'), 204)
    assert.equal(await most('USDT'), '40')
    const order = { ...pair, side: 'buy', account: 'margin', auto_borrow: true, amount: '2300', price: '0.5' }
    refused(await client.post('/spot/orders', order), 400, 'AUTO_BORROW_TOO_MUCH', /at most 40/)
    ok(await loan('40'), 204)
    assert.equal(await most('USDT'), '0')
    assert.ok(Number(await most('XRP')) > 100, 'the base currency has no such maximum')
  })
})
