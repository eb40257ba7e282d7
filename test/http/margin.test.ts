import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { eventually, proveBalanced } from '../support/wallet.ts'

const HOUR = 3600

describe('margin and liquidation', () => {
  let platform: TestPlatform
  before(async () => {
    // Far from a full hour, at which interest falls due.
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000600' })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())
  const isolated = async (quote: string): Promise<Trader> => {
    const trader = await Trader.of(platform, { USDT: quote })
    ok(
      await trader.client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'margin',
        currency_pair: 'BTC_USDT',
        amount: quote,
      }),
    )
    return trader
  }
  const loan = (trader: Trader, type: string, currency: string, amount: string, more: object = {}) =>
    trader.client.post('/margin/uni/loans', { currency, amount, type, currency_pair: 'BTC_USDT', ...more })

  test('isolated margin: borrow, figures, what may leave, repay', async () => {
    const trader = await isolated('1000')
    const { client } = trader
    // Leverage 10: nine times the own money can be borrowed.
    const most = ok(
      await client.get('/margin/uni/borrowable', { currency: 'USDT', currency_pair: 'btc_usdt' }),
    )
    assert.equal(most.borrowable, '9000')
    refused(await loan(trader, 'borrow', 'USDT', '9000.00000001'), 400, 'INITIAL_MARGIN_TOO_LOW', /9000/)
    refused(await loan(trader, 'borrow', 'ETH', '1'), 400, 'INVALID_PARAM_VALUE', /BTC and USDT/)
    refused(await loan(trader, 'borrow', 'USDT', '0.5'), 400, 'AMOUNT_TOO_LITTLE')
    refused(await loan(trader, 'repay', 'USDT', '1'), 400, 'LOAN_NOT_FOUND', /GET \/margin\/uni\/loans/)
    ok(await loan(trader, 'borrow', 'USDT', '4500'), 204)
    const [account] = ok(await client.get('/margin/accounts', { currency_pair: 'BTC_USDT' }))
    // Equity 1000, maintenance 5 % of 4500 = 225: 4.4444; risk 5500 / 4500 = 1.2222.
    assert.deepEqual(
      [account.account_type, account.leverage, account.mmr, account.risk, account.locked],
      ['mmr', '10', '4.4444', '1.2222', false],
    )
    assert.deepEqual(account.quote, {
      currency: 'USDT',
      available: '5500',
      locked: '0',
      borrowed: '4500',
      interest: '0',
    })
    // Initial margin 4500 / 9 = 500: half of the own money may leave.
    assert.equal(
      ok(await client.get('/margin/transferable', { currency: 'USDT', currency_pair: 'BTC_USDT' })).amount,
      '500',
    )
    const out = (amount: string) =>
      client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'margin',
        to: 'spot',
        currency_pair: 'BTC_USDT',
        amount,
      })
    refused(await out('500.00000001'), 400, 'MARGIN_TRANSFER_FAILED', /500/)
    refused(await out('6000'), 400, 'MARGIN_BALANCE_NOT_ENOUGH')
    ok(await out('500'))
    refused(
      await client.post('/margin/leverage/user_market_setting', { currency_pair: 'BTC_USDT', leverage: '3' }),
      400,
      'INITIAL_MARGIN_TOO_LOW',
    )
    refused(
      await client.post('/margin/leverage/user_market_setting', {
        currency_pair: 'BTC_USDT',
        leverage: '11',
      }),
      400,
      'LEVERAGE_TOO_HIGH',
    )
    await platform.operator.ok('POST', '/clock', { advance_seconds: HOUR })
    const [interest] = ok(await client.get('/margin/uni/interest_records', { currency_pair: 'BTC_USDT' }))
    assert.equal(interest.currency_pair, 'BTC_USDT')
    const [owed] = ok(await client.get('/margin/uni/loans'))
    assert.equal(Number(owed.amount), 4500 + Number(interest.interest))
    refused(
      await loan(trader, 'repay', 'USDT', '0', { repaid_all: false }),
      400,
      'INVALID_PARAM_VALUE',
      /amount/,
    )
    ok(await loan(trader, 'repay', 'USDT', '0', { repaid_all: true }), 204)
    assert.deepEqual(ok(await client.get('/margin/uni/loans')), [])
    assert.equal(ok(await client.get('/margin/uni/loan_records')).length, 2)
    const book = ok(await client.get('/margin/account_book', { currency_pair: 'BTC_USDT' }))
    assert.ok(book.some(({ type }: { type: string }) => type === 'borrow'))
    ok(
      await client.post('/margin/leverage/user_market_setting', { currency_pair: 'BTC_USDT', leverage: '3' }),
      204,
    )
    assert.equal(ok(await client.get('/margin/user/account'))[0].leverage, '3')
    await proveBalanced(platform)
  })
  test('lists and switches of the margin group', async () => {
    const { client } = await Trader.of(platform, { USDT: '5' })
    assert.equal(
      ok(await client.get('/margin/accounts', { currency_pair: 'ETH_USDT' }))[0].account_type,
      'inactive',
    )
    assert.deepEqual(ok(await client.get('/margin/accounts')), [])
    assert.ok(ok(await client.get('/margin/uni/currency_pairs')).length >= 8)
    assert.equal(ok(await client.get('/margin/uni/currency_pairs/btc_usdt')).leverage, '10')
    refused(await client.get('/margin/uni/currency_pairs/A_B'), 404, 'INVALID_CURRENCY_PAIR')
    const old = ok(await client.get('/margin/currency_pairs'))
    assert.equal(old[0].id, 'BTC_USDT')
    assert.deepEqual(ok(await client.get('/margin/currency_pairs/btc_usdt')), old[0])
    refused(await client.get('/margin/currency_pairs/A_B'), 404, 'INVALID_CURRENCY_PAIR')
    for (const path of ['/margin/loan_margin_tiers', '/margin/user/loan_margin_tiers'])
      assert.equal(ok(await client.get(path, { currency_pair: 'BTC_USDT' })).length, 3)
    assert.deepEqual(ok(await client.get('/margin/auto_repay')), { status: 'off' })
    assert.deepEqual(ok(await client.request('POST', '/margin/auto_repay', { query: { status: 'on' } })), {
      status: 'on',
    })
    assert.deepEqual(ok(await client.post('/margin/auto_repay', { status: 'off' })), { status: 'off' })
    refused(await client.post('/margin/auto_repay', {}), 400, 'MISSING_REQUIRED_PARAM')
    assert.equal(ok(await client.get('/margin/funding_accounts', { currency: 'USDT' }))[0].available, '5')
    assert.match(ok(await client.get('/margin/uni/estimate_rate', { currencies: 'BTC' })).BTC, /^0\.000002/)
    assert.equal(ok(await client.get('/margin/cross/accounts')).user_id, 0)
    refused(
      await client.post('/margin/cross/loans', { currency: 'USDT', amount: '1' }),
      403,
      'REQUEST_FORBIDDEN',
    )
    for (const path of [
      '/margin/cross/loans?status=2',
      '/margin/cross/repayments',
      '/margin/cross/interest_records',
    ])
      assert.deepEqual(ok(await client.get(path.split('?')[0]!, path.split('?')[1])), [])
  })
  test('lists of cross margin by offset tell how many there are', async () => {
    const { client } = await Trader.of(platform, { USDT: '100000' })
    const told = async (path: string, query: Record<string, string | number>) => {
      const reply = await client.get(path, query)
      const [limit, offset, total] = ['limit', 'offset', 'total'].map((name) =>
        reply.headers.get(`x-pagination-${name}`),
      )
      return `${limit} ${offset} ${total}: ${ok(reply).map((row: { currency: string }) => row.currency)}`
    }
    assert.equal(await told('/margin/cross/repayments', {}), '100 0 0: ')
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    for (const currency of ['BTC', 'ETH']) {
      ok(await client.post('/unified/loans', { currency, type: 'borrow', amount: '0.1' }))
      ok(await client.post('/unified/loans', { currency, type: 'repay', amount: '0.05' }))
    }
    assert.equal(await told('/margin/cross/loans', { status: 2, limit: 1, offset: 1 }), '1 1 2: BTC')
    assert.equal(await told('/margin/cross/loans', { status: 3 }), '100 0 0: ')
    assert.equal(await told('/margin/cross/repayments', { limit: 1 }), '1 0 2: ETH')
    assert.equal(await told('/margin/cross/repayments', { limit: 1, reverse: 'false' }), '1 0 2: BTC')
    assert.equal(await told('/margin/cross/repayments', { currency: 'btc' }), '100 0 1: BTC')
    assert.equal(await told('/margin/cross/repayments', { loan_id: '1-BTC' }), '100 0 0: ')
  })
  test('a unified account below maintenance: locked, orders cancelled, sold through the book, unlocked', async () => {
    const maker = await Trader.of(platform, { USDT: '1000000' })
    const trader = await Trader.of(platform, { ETH: '10', USDT: '10' })
    const { client } = trader
    ok(await client.put('/unified/unified_mode', { mode: 'portfolio' }), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '20000' }))
    const { amount } = ok(await client.get('/unified/transferable', { currency: 'USDT' }))
    ok(
      await client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'delivery',
        settle: 'usdt',
        amount,
      }),
    )
    const order = ok(
      await client.post('/spot/orders', {
        currency_pair: 'ETH_USDT',
        side: 'sell',
        amount: '1',
        price: '4000',
      }),
      201,
    )
    // 10 ETH at 2100: 20370 of collateral against 20000: below the 3 % that its maintenance needs.
    ok(
      await maker.client.post('/spot/orders', {
        currency_pair: 'ETH_USDT',
        side: 'buy',
        amount: '20',
        price: '2100',
      }),
      201,
    )
    await platform.operator.ok('PUT', '/prices', { ETH: '2100' })
    const cancelled = await eventually(async () => {
      const row = ok(await client.get(`/spot/orders/${order.id}`, { currency_pair: 'ETH_USDT' }))
      return row.status === 'cancelled' && row
    }, 'the order was cancelled')
    assert.equal(cancelled.finish_as, 'liquidate_cancelled')
    await eventually(async () => !ok(await client.get('/unified/accounts')).locked, 'the liquidation ended')
    const sales = ok(
      await client.get('/spot/orders', { currency_pair: 'ETH_USDT', status: 'finished' }),
    ).filter(({ text }: { text: string }) => text === 'pm_liquidate')
    assert.ok(sales.length > 0)
    const after = ok(await client.get('/unified/accounts'))
    assert.ok(after.total_maintenance_margin === '0' || Number(after.total_maintenance_margin_rate) >= 1.2)
    const steps = await platform.operator.ok('GET', `/users/${trader.user_id}/liquidations`)
    const names = new Set(steps.map(({ step }: { step: string }) => step))
    for (const step of ['locked', 'order_cancelled', 'sold', 'repaid', 'unlocked'])
      assert.ok(names.has(step), step)
    await proveBalanced(platform)
  })
  test('an isolated account is liquidated by itself; what no market takes, the fund does; total_balance tells debts', async () => {
    const main = await isolated('1000')
    ok(await loan(main, 'borrow', 'BTC', '0.1'), 204)
    const total = ok(await main.client.get('/wallet/total_balance'))
    assert.equal(total.details.margin.borrowed, '6000')
    assert.equal(total.total.borrowed, '6000')
    // The borrowed BTC are sold for USDT outside this account's sight: a rise then hurts.
    ok(
      await main.client.post('/wallet/transfers', {
        currency: 'BTC',
        from: 'margin',
        to: 'spot',
        currency_pair: 'BTC_USDT',
        amount: '0.005',
      }),
    )
    const explained = await platform.operator.ok('GET', `/users/${main.user_id}/risk/explain?scope=BTC_USDT`)
    assert.equal(explained.figures.total_margin_balance.value, '700')
    assert.equal(explained.currencies[0].price, '60000')
    await platform.operator.ok('PUT', '/prices', { BTC: '500000' })
    await eventually(async () => {
      const steps = await platform.operator.ok('GET', `/users/${main.user_id}/liquidations`)
      return steps.some(({ step }: { step: string }) => step === 'locked')
    }, 'the account was locked')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 30 })
    const [account] = ok(await main.client.get('/margin/accounts', { currency_pair: 'BTC_USDT' }))
    assert.equal(account.locked, false)
    assert.equal(account.base.borrowed, '0')
    await platform.operator.ok('PUT', '/prices', { BTC: '60000' })
    await proveBalanced(platform)
  })
  test('sub-accounts: margin and cross margin balances with their debts', async () => {
    const main = await Trader.of(platform, {})
    const sub = await Trader.of(platform, { BTC: '1' }, { parent: main.user_id })
    ok(await sub.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    ok(await sub.client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '6000' }))
    const [{ available }] = ok(await main.client.get('/wallet/sub_account_cross_margin_balances'))
    assert.deepEqual(
      [available.user_id, available.borrowed, available.total, available.net, available.total_margin_balance],
      [sub.user_id, '6000', '66000', '60000', '58800'],
    )
    assert.equal(available.balances.USDT.borrowed, '6000')
    assert.equal(ok(await sub.client.get('/wallet/total_balance')).total.borrowed, '6000')
  })
  test('the portfolio calculator: 33 scenarios, greeks, and the hedge of spot', async () => {
    const anybody = platform.client()
    const ask = async (more: object) =>
      ok(
        await anybody.post('/unified/portfolio_calculator', {
          spot_balances: [{ currency: 'BTC', equity: '-1' }],
          futures_positions: [{ contract: 'BTC_USDT', size: '1' }],
          ...more,
        }),
      )
    const plain = await ask({ spot_hedge: false })
    // One BTC long: the worst price is -15 %, 9000.
    assert.equal(plain.maintain_margin_total, '9000')
    assert.equal(plain.initial_margin_total, '10800')
    const [unit] = plain.risk_unit
    assert.equal(unit.delta, '1')
    assert.equal(unit.margin_result[0].profit_loss_ranges.length, 33)
    assert.equal(unit.margin_result[0].max_loss.price_percentage, '-0.15')
    assert.equal((await ask({ spot_hedge: true })).maintain_margin_total, '0')
    // Long 2 perpetual against short 1 of a quarter: 1 BTC is net, and 1 BTC stands against another term.
    const spread = await ask({
      futures_positions: [
        { contract: 'BTC_USDT', size: '2' },
        { contract: 'BTC_USDT_20270326', size: '-1' },
      ],
    })
    const [original] = spread.risk_unit[0].margin_result
    assert.deepEqual([original.mr1, original.mr2, original.mr3], ['9000', '300', '0'])
    assert.equal(spread.maintain_margin_total, '9300')
    const year = new Date((platform.now() + 365 * 86_400) * 1000)
      .toISOString()
      .slice(0, 10)
      .replaceAll('-', '')
    const options = await ask({
      futures_positions: [],
      options_positions: [{ options_name: `BTC_USDT-${year}-60000-C`, size: '1' }],
    })
    // At the money, a year, 60 %: d1 = 0.3, N(0.3) = 0.6179.
    assert.match(options.risk_unit[0].delta, /^0\.61[78]/)
    assert.ok(Number(options.risk_unit[0].vega) > 0 && Number(options.risk_unit[0].theta) < 0)
    // A year against two years, at the money: vegas 60000 x n(0.3) / 100 = 228.8 and 60000 x n(0.4243) x 1.4142 / 100
    // = 309.4 for 1 %; the smaller one is not a hedge: 5 x 228.8 = 1144.
    const later = String(Number(year.slice(0, 4)) + 1) + year.slice(4)
    const calendar = await ask({
      spot_balances: [],
      futures_positions: [],
      options_positions: [
        { options_name: `BTC_USDT-${year}-60000-C`, size: '1' },
        { options_name: `BTC_USDT-${later}-60000-C`, size: '-1' },
      ],
    })
    const [result] = calendar.risk_unit[0].margin_result
    assert.ok(Math.abs(Number(result.mr3) - 1144) < 4, result.mr3)
    // Deltas 0.618 and 0.664: 0.618 x 60000 x 0.5 %; short one option: 60000 x 0.5 %.
    assert.ok(Math.abs(Number(result.mr2) - 185.4) < 1, result.mr2)
    assert.equal(result.mr4, '300')
    const needs = Number(result.mr1) + Number(result.mr2) + Number(result.mr3)
    assert.ok(Math.abs(Number(calendar.maintain_margin_total) - needs) < 1e-6)
    // A currency without a price: nothing is known of what moves with it.
    const unknown = await ask({
      spot_balances: [],
      futures_positions: [],
      options_positions: [{ options_name: `POINT_USDT-${year}-60000-C`, size: '1' }],
    })
    const { delta, gamma, theta, vega } = unknown.risk_unit[0]
    assert.deepEqual([delta, gamma, theta, vega], ['0', '0', '0', '0'])
    // However much somebody makes up, figures are decimals.
    const most = '999999999999999'
    const huge = await ask({
      futures_positions: Array(100).fill({ contract: 'BTC_USDT', size: most }),
      futures_orders: Array(100).fill({ contract: 'BTC_USDT', size: most, left: most }),
      options_positions: [
        { options_name: `BTC_USDT-${year}-${'9'.repeat(30)}-P`, size: most },
        { options_name: `BTC_USDT-${year}-0-C`, size: `-${most}` },
        { options_name: `POINT_USDT-${year}-0-P`, size: '0.000000000000000001' },
      ],
    })
    for (const [figure] of JSON.stringify(huge).matchAll(/(?<=":")[^"]+(?=")/g))
      assert.match(figure, /^(-?\d+(\.\d*[1-9])?|[a-z_]+|BTC|POINT)$/)
    assert.ok(huge.maintain_margin_total.length > 21)
    refused(
      await anybody.post('/unified/portfolio_calculator', {
        options_positions: [{ options_name: 'X', size: '1' }],
      }),
      400,
      'INVALID_PARAM_VALUE',
    )
    const trader = await Trader.of(platform, { BTC: '1' })
    ok(
      await trader.client.put('/unified/unified_mode', { mode: 'portfolio', settings: { spot_hedge: true } }),
      204,
    )
    const units = ok(await trader.client.get('/unified/risk_units'))
    assert.deepEqual(
      [units.spot_hedge, units.risk_units[0].symbol, units.risk_units[0].maintain_margin],
      [true, 'BTC', '0'],
    )
  })
})
