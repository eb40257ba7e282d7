import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { proveBalanced } from '../support/wallet.ts'

/** What happens to a thin account, as soon as a price is set: the answer to PUT /prices comes after it. */
describe('the way to a liquidation', () => {
  let platform: TestPlatform
  before(async () => {
    // Far from a full hour, at which interest falls due.
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000600' })
  })
  after(() => platform.stop())
  const prices = (set: Record<string, string | null>) => platform.operator.ok('PUT', '/prices', set)
  /** Holds some BTC and owes USDT that has left the account. */
  const thin = async (btc: string, owed: string): Promise<Trader> => {
    const trader = await Trader.of(platform, { BTC: btc })
    ok(await trader.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await trader.client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: owed }))
    const out = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: owed }
    ok(await trader.client.post('/wallet/transfers', out))
    return trader
  }
  const stepsOf = async (trader: Trader): Promise<string[]> =>
    (await platform.operator.ok('GET', `/users/${trader.user_id}/liquidations`))
      .map(({ step }: { step: string }) => step)
      .reverse()
  const level = async (trader: Trader): Promise<string> =>
    ok(await trader.client.get('/unified/accounts')).risk_level

  test('warned, restricted, recovered, locked: each when the price is set, each a record', async () => {
    await prices({ BTC: '60000', ETH: '3000' })
    // 1 BTC x 0.98 against 50000 USDT: initial margin 5000, maintenance 1500.
    const trader = await thin('1', '50000')
    const { client } = trader
    assert.equal(await level(trader), 'normal')
    // 56600 x 0.98 - 50000 = 5468: below 5500, 110 % of the initial margin.
    await prices({ BTC: '56600' })
    assert.equal(await level(trader), 'warned')
    // 56000 x 0.98 - 50000 = 4880: below the initial margin.
    await prices({ BTC: '56000' })
    assert.equal(await level(trader), 'restricted')
    const account = ok(await client.get('/unified/accounts'))
    assert.equal(account.total_available_margin, '-120')
    assert.equal(account.total_initial_margin_rate, '0.976')
    assert.equal(account.locked, false)
    for (const currency of ['USDT', 'BTC']) {
      assert.equal(ok(await client.get('/unified/borrowable', { currency })).amount, '0')
      assert.equal(ok(await client.get('/unified/transferable', { currency })).amount, '0')
    }
    refused(
      await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '10' }),
      400,
      'TRADE_RESTRICTED',
      /120 short/,
    )
    refused(await trader.place('buy', '0.01', '56000', { auto_borrow: true }), 400, 'TRADE_RESTRICTED')
    refused(
      await client.post('/spot/orders', {
        currency_pair: 'ETH_BTC',
        side: 'buy',
        amount: '1',
        price: '0.055',
      }),
      400,
      'TRADE_RESTRICTED',
    )
    const out = { currency: 'BTC', from: 'spot', to: 'margin', currency_pair: 'BTC_USDT', amount: '0.1' }
    refused(await client.post('/wallet/transfers', out), 400, 'BALANCE_NOT_ENOUGH')
    // Selling collateral for the currency that is owed lowers the risk and passes.
    const order = await trader.placed('sell', '0.1', '57000', { auto_repay: true })
    // Repaying is always allowed, here with money from outside.
    await platform.credit(trader.user_id, 'USDT', '1000')
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'repay', amount: '1000' }))
    await prices({ BTC: '60000' })
    assert.equal(await level(trader), 'normal')
    // 51000 x 0.98 = 49980 against 49000 that need 1470: locked, and nobody buys.
    await prices({ BTC: '51000' })
    assert.equal(await level(trader), 'locked')
    assert.equal(ok(await client.get('/unified/accounts')).locked, true)
    const cancelled = await trader.order(order.id)
    assert.deepEqual([cancelled.status, cancelled.finish_as], ['cancelled', 'liquidate_cancelled'])
    refused(
      await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '10' }),
      400,
      'TRADE_RESTRICTED',
      /liquidated/,
    )
    refused(await trader.place('sell', '0.1', '51000'), 400, 'TRADE_RESTRICTED')
    const maker = await Trader.of(platform, { USDT: '1000000' })
    await maker.placed('buy', '2', '51000')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    const after = ok(await client.get('/unified/accounts'))
    assert.equal(after.locked, false)
    assert.ok(Number(after.total_maintenance_margin_rate) >= 1.2 || after.total_maintenance_margin === '0')
    const steps = await stepsOf(trader)
    assert.deepEqual(steps.slice(0, 5), ['warned', 'restricted', 'recovered', 'locked', 'order_cancelled'])
    for (const step of ['sold', 'repaid', 'unlocked']) assert.ok(steps.includes(step), step)
    const types = async (path: string, query: object): Promise<string[]> =>
      ok(await client.get(path, { ...query })).map((row: { repayment_type: string }) => row.repayment_type)
    const told = await types('/unified/loan_records', { type: 'repay' })
    assert.deepEqual([...new Set(told)].sort(), ['auto_repay', 'manual_repay'])
    assert.deepEqual(await types('/margin/cross/repayments', {}), told, 'as older clients read them')
    await proveBalanced(platform)
  })
  test('an account whose figures are well is not touched by the crash of others', async () => {
    await prices({ BTC: '60000' })
    const [low, high] = [await thin('1', '50000'), await thin('1', '20000')]
    const maker = await Trader.of(platform, { USDT: '1000000' })
    await maker.placed('buy', '2', '52000')
    await prices({ BTC: '52000' })
    assert.notEqual(await low.money('BTC'), '1/0')
    assert.equal(await high.money('BTC'), '1/0')
    assert.deepEqual(await stepsOf(high), [])
    ok(await maker.client.delete('/spot/orders', { currency_pair: 'BTC_USDT' }))
  })
  test('the insurance fund pays with what it has, and waits for a market with the rest', async () => {
    await prices({ GT: '8', BTC: '60000' })
    const trader = await Trader.of(platform, { USDT: '40000' })
    const { client } = trader
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await client.post('/unified/loans', { currency: 'GT', type: 'borrow', amount: '4000' }))
    const out = { currency: 'GT', from: 'spot', to: 'margin', currency_pair: 'GT_USDT', amount: '3000' }
    ok(await client.post('/wallet/transfers', out))
    const fund = async (currency: string): Promise<string> =>
      (await platform.operator.ok('GET', '/lending')).find(
        (row: { currency: string }) => row.currency === currency,
      ).insurance
    assert.equal(await fund('GT'), '1000')
    // 3000 GT short at 13: 39000 and 8 % of 4000 x 13 against 40000 USDT. There is no market maker.
    await prices({ GT: '13' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 30 })
    assert.equal(await fund('GT'), '0', 'all of it is spent, and not a unit more')
    const held = ok(await client.get('/unified/accounts'))
    // The fund gave 1000 GT for 13000 / 0.97 USDT, the index less the bound: 2000 GT are short at 26000.
    assert.equal(held.locked, true)
    assert.deepEqual([held.balances.USDT.equity, held.balances.GT.equity], ['26597.93814432', '-2000'])
    const maker = await Trader.of(platform, { GT: '5000' })
    const ask = { currency_pair: 'GT_USDT', side: 'sell', amount: '5000', price: '13' }
    ok(await maker.client.post('/spot/orders', ask), 201)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 61 })
    const after = ok(await client.get('/unified/accounts'))
    assert.equal(after.locked, false)
    assert.ok(Number(after.total_maintenance_margin_rate) >= 1.2 || after.total_maintenance_margin === '0')
    assert.ok((await stepsOf(trader)).includes('taken_over'))
    await proveBalanced(platform)
  })
  test('levels outlive a restart, and are told once', async () => {
    await prices({ BTC: '60000' })
    const trader = await thin('1', '50000')
    await prices({ BTC: '56000' })
    assert.equal(await level(trader), 'restricted')
    const { key } = { key: await platform.key(trader.user_id, [{ name: 'unified', read_only: false }]) }
    platform = await platform.restart()
    await prices({ BTC: '56000' })
    const account = ok(await platform.client(key).get('/unified/accounts'))
    assert.equal(account.risk_level, 'restricted')
    assert.deepEqual(await stepsOf(trader), ['restricted'])
  })
})
