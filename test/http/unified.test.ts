import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { proveBalanced } from '../support/wallet.ts'

const HOUR = 3600

describe('unified account', () => {
  let platform: TestPlatform
  before(async () => {
    // Far from a full hour, at which interest falls due.
    platform = await TestPlatform.start({ KONTOR_CLOCK: '1800000600' })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())
  const unified = async (funds: Record<string, string>, mode = 'multi_currency'): Promise<Trader> => {
    const trader = await Trader.of(platform, funds)
    ok(await trader.client.put('/unified/unified_mode', { mode }), 204)
    return trader
  }
  const borrow = (trader: Trader, currency: string, amount: string, more: object = {}) =>
    trader.client.post('/unified/loans', { currency, amount, type: 'borrow', ...more })
  const repay = (trader: Trader, currency: string, amount: string, more: object = {}) =>
    trader.client.post('/unified/loans', { currency, amount, type: 'repay', ...more })

  test('a classic account has no unified calls but unified_mode and the public tables', async () => {
    const { client } = await Trader.of(platform, {})
    for (const path of [
      '/unified/accounts',
      '/unified/loans',
      '/unified/loan_records',
      '/unified/interest_records',
    ])
      refused(await client.get(path), 400, 'ACCOUNT_EXCEPTION', /classic/)
    for (const path of [
      '/unified/borrowable',
      '/unified/transferable',
      '/unified/leverage/user_currency_config',
    ])
      refused(await client.get(path, { currency: 'USDT' }), 400, 'ACCOUNT_EXCEPTION')
    refused(
      await client.post('/unified/loans', { currency: 'USDT', amount: '1', type: 'borrow' }),
      400,
      'ACCOUNT_EXCEPTION',
    )
    refused(await client.get('/unified/estimate_rate', { currencies: 'BTC' }), 400, 'ACCOUNT_EXCEPTION')
    for (const path of ['risk_units', 'delta_neutral', 'estimated_quick_repayment'])
      refused(await client.get(`/unified/${path}`), 400, 'ACCOUNT_EXCEPTION')
    for (const [path, body] of [
      ['collateral_currencies', { collateral_type: 0 }],
      ['leverage/user_currency_setting', { currency: 'BTC', leverage: '2' }],
      ['leverage/user_setting', { leverage: '2' }],
      ['quick_repayment', { debt_currencies: ['BTC'], available_currencies: ['USDT'] }],
      ['delta_neutral', { enabled: true }],
    ] as const)
      refused(await client.post(`/unified/${path}`, body), 400, 'ACCOUNT_EXCEPTION')
    assert.deepEqual(ok(await client.get('/unified/unified_mode')), {
      mode: 'classic',
      settings: { usdt_futures: false, spot_hedge: false, use_funding: false, options: false },
    })
    for (const path of ['currencies', 'currency_discount_tiers', 'loan_margin_tiers'])
      assert.ok(ok(await client.get(`/unified/${path}`)).length > 5)
  })
  test('modes: each switch, its settings, and every way it is refused', async () => {
    const { client, user_id } = await Trader.of(platform, { USDT: '10000' })
    const put = (body: object) => client.put('/unified/unified_mode', body)
    refused(await put({}), 400, 'MISSING_REQUIRED_PARAM', /mode/)
    refused(await put({ mode: 'other' }), 400, 'INVALID_PARAM_VALUE', /mode/)
    refused(await put({ mode: 'classic' }), 400, 'MODE_SET')
    refused(
      await put({ mode: 'classic', settings: { options: true } }),
      400,
      'INVALID_PARAM_VALUE',
      /options/,
    )
    refused(
      await put({ mode: 'multi_currency', settings: { spot_hedge: true } }),
      400,
      'INVALID_PARAM_VALUE',
      /spot_hedge/,
    )
    ok(await put({ mode: 'multi_currency', settings: { usdt_futures: true } }), 204)
    assert.equal(ok(await client.get('/account/detail')).key.mode, 2)
    assert.deepEqual(ok(await client.get('/unified/unified_mode')), {
      mode: 'multi_currency',
      settings: { usdt_futures: true, options: false, use_funding: false },
    })
    refused(await put({ mode: 'multi_currency' }), 400, 'MODE_SET')
    refused(await put({ mode: 'multi_currency', settings: { usdt_futures: true } }), 400, 'MODE_SET')
    refused(
      await put({ mode: 'multi_currency', settings: { usdt_futures: false } }),
      400,
      'INVALID_PARAM_VALUE',
      /usdt_futures/,
    )
    ok(await put({ mode: 'multi_currency', settings: { options: true } }), 204)
    ok(await client.post('/unified/loans', { currency: 'USDT', amount: '100', type: 'borrow' }))
    for (const mode of ['classic', 'single_currency']) refused(await put({ mode }), 400, 'USER_LIAB', /USDT/)
    ok(await put({ mode: 'portfolio', settings: { spot_hedge: true } }), 204)
    const repay = { currency: 'USDT', type: 'repay', amount: '0' }
    refused(await client.post('/unified/loans', repay), 400, 'INVALID_PARAM_VALUE', /amount: "0"/)
    // repaid_all overrides the amount, which some clients must send.
    ok(await client.post('/unified/loans', { ...repay, repaid_all: true }))
    assert.deepEqual(ok(await client.get('/unified/loans')), [])
    const order = ok(
      await client.post('/spot/orders', {
        currency_pair: 'BTC_USDT',
        side: 'buy',
        amount: '0.01',
        price: '50000',
        account: 'unified',
      }),
      201,
    )
    assert.equal(order.account, 'unified')
    refused(await put({ mode: 'classic' }), 400, 'USER_PENDING_ORDERS', new RegExp(order.id as string))
    ok(await client.delete(`/spot/orders/${order.id}`, { currency_pair: 'BTC_USDT', account: 'spot' }))
    ok(await put({ mode: 'single_currency' }), 204)
    refused(
      await client.post('/unified/loans', { currency: 'USDT', amount: '1', type: 'borrow' }),
      400,
      'MARGIN_NOT_SUPPORTED',
    )
    const single = ok(await client.get('/unified/accounts'))
    assert.equal(single.unified_account_total_equity, '10000')
    assert.equal(single.total_margin_balance, '0')
    assert.equal(single.balances.USDT.margin_balance, '10000')
    ok(await put({ mode: 'classic' }), 204)
    assert.equal(ok(await client.get('/account/detail')).key.mode, 1)
    const sub = await platform.user({ parent: user_id })
    ok(await sub.client.post('/unified/account_mode', { mode: 'multi_currency' }))
    assert.deepEqual(ok(await client.get('/sub_accounts/unified_mode')), [
      { user_id: sub.user_id, is_unified: true, mode: 'multi_currency' },
    ])
    assert.equal(ok(await client.get('/unified/accounts', { sub_uid: sub.user_id })).user_id, sub.user_id)
    refused(await client.get('/unified/accounts', { sub_uid: 1 }), 400, 'SUB_ACCOUNT_NOT_FOUND')
  })
  test('figures of an account, by hand', async () => {
    const trader = await unified({ BTC: '1', USDT: '10000' })
    ok(await borrow(trader, 'ETH', '5'))
    const account = ok(await trader.client.get('/unified/accounts'))
    // BTC 1 x 60000 x 0.98 = 58800; USDT 10000 x 1; ETH 5 - 5 = 0. Margin balance 68800.
    // Debt 5 ETH x 3000 = 15000; initial 1/10: 1500; maintenance 4 %: 600. Rates 45.8666…, 114.6666….
    // Total 60000 + 10000 + 15000 = 85000; equity 70000; leverage 15000 / 70000 = 0.2142….
    assert.deepEqual(
      [
        account.total_margin_balance,
        account.total_initial_margin,
        account.total_maintenance_margin,
        account.total_initial_margin_rate,
        account.total_maintenance_margin_rate,
        account.total_available_margin,
        account.unified_account_total,
        account.unified_account_total_liab,
        account.unified_account_total_equity,
        account.leverage,
        account.borrowed,
      ],
      ['68800', '1500', '600', '45.8666', '114.6666', '67300', '85000', '15000', '70000', '0.2142', '15000'],
    )
    const { ETH } = account.balances
    assert.deepEqual([ETH.available, ETH.borrowed, ETH.equity, ETH.total_liab], ['5', '5', '0', '5'])
    assert.deepEqual([ETH.cross_balance, ETH.iso_balance, ETH.enabled_collateral], ['5', '0', true])
    ok(await trader.client.put('/unified/unified_mode', { mode: 'portfolio' }), 204)
    assert.equal(ok(await trader.client.get('/unified/accounts')).balances.ETH.cross_balance, '0')
    const only = ok(await trader.client.get('/unified/accounts', { currency: 'btc' }))
    assert.deepEqual(Object.keys(only.balances), ['BTC'])
  })
  test('loans: every refusal, idempotency, records, and interest first', async () => {
    const trader = await unified({ USDT: '1000' })
    refused(await borrow(trader, 'NOPE', '1'), 400, 'INVALID_CURRENCY')
    refused(await borrow(trader, 'POINT', '1'), 400, 'INVALID_CURRENCY')
    refused(await borrow(trader, 'BTC', '0.00001'), 400, 'AMOUNT_TOO_LITTLE', /0\.0001/)
    refused(await borrow(trader, 'USDT', '5000001'), 400, 'AMOUNT_TOO_MUCH')
    refused(await borrow(trader, 'BTC', '1'), 400, 'INITIAL_MARGIN_TOO_LOW', /at most 0\.16666666/)
    refused(await borrow(trader, 'BTC', '0.000000001'), 400, 'INVALID_PARAM_VALUE', /decimals/)
    refused(await repay(trader, 'BTC', '1'), 400, 'LOAN_NOT_FOUND')
    const { amount } = ok(await trader.client.get('/unified/borrowable', { currency: 'BTC' }))
    assert.equal(amount, '0.16666666')
    const { tran_id } = ok(await borrow(trader, 'BTC', '0.1', { text: 'first' }))
    refused(
      await borrow(trader, 'BTC', '0.1', { text: 'first' }),
      400,
      'DUPLICATE_REQUEST',
      new RegExp(String(tran_id)),
    )
    refused(await repay(trader, 'BTC', '0.2'), 400, 'REPAY_TOO_MUCH', /0\.1/)
    await platform.operator.ok('POST', '/clock', { advance_seconds: HOUR })
    const [interest] = ok(await trader.client.get('/unified/interest_records', { currency: 'BTC' }))
    // The pool has lent 0.1 of 1000 BTC (others of this file a little ETH): base rate, rounded up to 8 decimals.
    assert.equal(interest.create_time % (HOUR * 1000), 0)
    assert.equal(interest.currency, 'BTC')
    assert.equal(interest.status, 1)
    assert.equal(interest.interest, '0.00000021')
    assert.equal(interest.actual_rate, '0.00000201')
    const [owed] = ok(await trader.client.get('/unified/loans'))
    assert.equal(owed.amount, '0.10000021')
    assert.equal(String(owed.create_time).length, 13)
    refused(
      await trader.client.post('/unified/loans', { currency: 'BTC', type: 'repay', repaid_all: true }),
      400,
      'BALANCE_NOT_ENOUGH',
      /: 0\.1 available, 0\.10000021 needed/,
    )
    ok(await repay(trader, 'BTC', '0.00000021'))
    assert.equal(ok(await trader.client.get('/unified/accounts')).balances.BTC.borrowed, '0.1')
    ok(await repay(trader, 'BTC', '0.09999979'))
    refused(
      await trader.client.post('/unified/loans', { currency: 'BTC', type: 'repay', repaid_all: true }),
      400,
      'BALANCE_NOT_ENOUGH',
    )
    await platform.credit(trader.user_id, 'BTC', '1')
    ok(await trader.client.post('/unified/loans', { currency: 'BTC', type: 'repay', repaid_all: true }))
    assert.deepEqual(ok(await trader.client.get('/unified/loans')), [])
    const records = ok(await trader.client.get('/unified/loan_records'))
    assert.deepEqual(
      records.map((row: { type: string; amount: string }) => `${row.type} ${row.amount}`),
      ['repay 0.00000021', 'repay 0.09999979', 'repay 0.00000021', 'borrow 0.1'],
    )
    assert.equal(records[3].borrow_type, 'manual_borrow')
    assert.equal(ok(await trader.client.get('/unified/loan_records', { type: 'borrow', limit: 1 })).length, 1)
    refused(await trader.client.get('/unified/loan_records', { limit: 101 }), 400, 'INVALID_PARAM_VALUE')
    assert.deepEqual(ok(await trader.client.get('/unified/interest_records', { type: 'platform' })), [])
    await proveBalanced(platform)
  })
  test('what may leave is what the debts can spare, whichever way it leaves', async () => {
    const trader = await unified({ USDT: '1000' })
    ok(await borrow(trader, 'BTC', '0.1'))
    // Debt 6000, initial margin 600: 400 of the 1000 USDT may go; of the BTC 400 / 60000 = 0.00666666.
    assert.equal(ok(await trader.client.get('/unified/transferable', { currency: 'USDT' })).amount, '400')
    assert.deepEqual(ok(await trader.client.get('/unified/transferables', { currencies: 'USDT,BTC' })), [
      { currency: 'USDT', amount: '400' },
      { currency: 'BTC', amount: '0.00666666' },
    ])
    const transfer = (amount: string) =>
      trader.client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'futures',
        settle: 'usdt',
        amount,
      })
    refused(await transfer('400.00000001'), 400, 'BALANCE_NOT_ENOUGH', /400/)
    ok(await transfer('400'))
    refused(await transfer('0.00000001'), 400, 'BALANCE_NOT_ENOUGH')
    const other = await Trader.of(platform, {})
    refused(
      await trader.client.post('/withdrawals/push', {
        receive_uid: other.user_id,
        currency: 'USDT',
        amount: '1',
      }),
      400,
      'NEGATIVE_ASSETS',
    )
  })
  test('orders: auto_borrow, auto_repay, and no order that raises risk beyond the margin', async () => {
    const maker = await Trader.of(platform, { BTC: '10', USDT: '1000000' })
    await maker.placed('sell', '1', '60000')
    await maker.placed('buy', '1', '59990')
    const trader = await unified({ USDT: '1000' })
    refused(
      await trader.place('buy', '1', '60000', { auto_borrow: true }),
      400,
      'AUTO_BORROW_TOO_MUCH',
      /at most/,
    )
    const order = await trader.placed('buy', '0.05', '60000', { auto_borrow: true })
    assert.equal(order.status, 'closed')
    const [loan] = ok(await trader.client.get('/unified/loan_records'))
    assert.deepEqual([loan.type, loan.borrow_type, loan.amount], ['borrow', 'auto_borrow', '2000'])
    const sold = await trader.placed('sell', '0.04', '59990', { auto_repay: true })
    assert.equal(sold.status, 'closed')
    // 0.04 x 59990 = 2399.6 less 0.2 %: the whole debt of 2000 is repaid from it.
    assert.deepEqual(ok(await trader.client.get('/unified/loans')), [])
    const [repaid] = ok(await trader.client.get('/unified/loan_records'))
    assert.deepEqual([repaid.type, repaid.repayment_type, repaid.amount], ['repay', 'auto_repay', '2000'])
    // An order that is cancelled gives back what it had borrowed.
    const open = await trader.placed('buy', '0.1', '50000', { auto_borrow: true, auto_repay: true })
    assert.equal(ok(await trader.client.get('/unified/loans')).length, 1)
    ok(await trader.client.delete(`/spot/orders/${open.id}`, { currency_pair: 'BTC_USDT' }))
    const [back] = ok(await trader.client.get('/unified/loan_records'))
    assert.deepEqual([back.type, back.repayment_type], ['repay', 'cancel_auto_repay'])
    assert.deepEqual(ok(await trader.client.get('/unified/loans')), [])
    const classic = await Trader.of(platform, { USDT: '1000' })
    refused(
      await classic.place('buy', '0.01', '60000', { auto_borrow: true }),
      400,
      'INVALID_PARAM_VALUE',
      /auto_borrow/,
    )
    refused(await classic.place('buy', '0.01', '60000', { account: 'unified' }), 400, 'ACCOUNT_EXCEPTION')
    const thin = await unified({ USDT: '1000' })
    const most = ok(await thin.client.get('/unified/borrowable', { currency: 'USDT' })).amount
    assert.equal(most, '10000')
    ok(await borrow(thin, 'USDT', most))
    // Bitcoin counts 98 %: buying it would cost 2 % of margin, and there is none to spare.
    refused(await thin.place('buy', '0.1', '59000'), 400, 'TRADE_RESTRICTED', /short/)
    await proveBalanced(platform)
  })
  test('an order that ends unfilled repays what was lent for it, and no other loan with its own money', async () => {
    const maker = await Trader.of(platform, { SOL: '40' })
    const trader = await unified({ USDT: '2000' })
    const { client } = trader
    const IN_SOL_ALONE = { currency_pair: 'SOL_USDT' }
    const IN_SOL = { ...IN_SOL_ALONE, auto_borrow: true, auto_repay: true }
    const repaid = async (): Promise<string[]> =>
      ok(await client.get('/unified/loan_records', { type: 'repay' })).map(
        (row: { amount: string; repayment_type: string }) => `${row.repayment_type} ${row.amount}`,
      )
    ok(await borrow(trader, 'USDT', '500'))
    // What is there is enough: it borrows nothing, and gives nothing back.
    const own = await trader.placed('buy', '10', '100', IN_SOL)
    ok(await client.delete(`/spot/orders/${own.id}`, IN_SOL))
    assert.deepEqual(await repaid(), [])
    // 3000 of which 500 are lent: those alone go back, whatever was amended in between.
    const open = await trader.placed('buy', '30', '100', IN_SOL)
    ok(await client.patch(`/spot/orders/${open.id}`, { ...IN_SOL, amount: '29' }))
    ok(await client.delete(`/spot/orders/${open.id}`, IN_SOL))
    assert.deepEqual(await repaid(), ['cancel_auto_repay 500'])
    // Filled in part: what is left unspent is worth more than what was lent.
    await maker.placed('sell', '2', '100', IN_SOL_ALONE)
    const part = await trader.placed('buy', '30', '100', { ...IN_SOL, time_in_force: 'ioc' })
    assert.equal(part.left, '28')
    assert.deepEqual(await repaid(), ['cancel_auto_repay 500', 'cancel_auto_repay 500'])
    // And where it is worth less, that.
    await maker.placed('sell', '24', '100', IN_SOL_ALONE)
    const most = await trader.placed('buy', '25', '100', { ...IN_SOL, time_in_force: 'ioc' })
    assert.equal(most.left, '1')
    assert.equal((await repaid())[0], 'cancel_auto_repay 100')
    assert.equal(ok(await client.get('/unified/loans'))[0].amount, '600')
    await proveBalanced(platform)
  })
  test('settings: collateral and leverage act at once and never uncover a debt', async () => {
    const trader = await unified({ BTC: '1', USDT: '100' })
    const { client } = trader
    const collateral = (body: object) => client.post('/unified/collateral_currencies', body)
    ok(await collateral({ collateral_type: 1, disable_list: ['BTC'] }))
    assert.equal(ok(await client.get('/unified/accounts')).total_margin_balance, '100')
    assert.equal(ok(await client.get('/unified/accounts')).is_all_collateral, false)
    refused(await borrow(trader, 'USDT', '5000'), 400, 'INITIAL_MARGIN_TOO_LOW')
    ok(await collateral({ collateral_type: 0 }))
    ok(await borrow(trader, 'USDT', '5000'))
    refused(await collateral({ collateral_type: 1, disable_list: ['BTC'] }), 400, 'INITIAL_MARGIN_TOO_LOW')
    const set = (currency: string, leverage: string) =>
      client.post('/unified/leverage/user_currency_setting', { currency, leverage })
    refused(await set('USDT', '11'), 400, 'LEVERAGE_TOO_HIGH', /10/)
    refused(await set('USDT', '0.5'), 400, 'LEVERAGE_TOO_LOW')
    ok(await set('USDT', '2'), 204)
    const account = ok(await client.get('/unified/accounts'))
    assert.equal(account.total_initial_margin, '2500')
    assert.deepEqual(ok(await client.get('/unified/leverage/user_currency_setting', { currency: 'USDT' })), [
      { currency: 'USDT', leverage: '2' },
    ])
    const config = ok(await client.get('/unified/leverage/user_currency_config', { currency: 'USDT' }))
    assert.deepEqual([config.current_leverage, config.max_leverage, config.debit], ['2', '10', '5000'])
    const failed = ok(await client.post('/unified/leverage/user_setting', { leverage: '6' }))
    assert.ok(failed.some(({ currency }: { currency: string }) => currency === 'SOL'))
    assert.equal(ok(await client.get('/unified/batch_borrowable', { currencies: 'USDT,BTC' })).length, 2)
    refused(
      await client.get('/unified/batch_borrowable', { currencies: Array(11).fill('BTC').join(',') }),
      400,
      'INVALID_PARAM_VALUE',
    )
  })
  test('quick repayment turns other currencies into the debt at index prices and a spread', async () => {
    const trader = await unified({ USDT: '1000', ETH: '1', SOL: '1' })
    ok(await borrow(trader, 'BTC', '0.05'))
    const order = { currency: 'BTC', from: 'spot', to: 'margin', currency_pair: 'BTC_USDT', amount: '0.02' }
    ok(await trader.client.post('/wallet/transfers', order))
    const estimate = ok(await trader.client.get('/unified/estimated_quick_repayment'))
    assert.equal(estimate.debt_currencies[0].debt_amount, '0.05')
    assert.deepEqual(
      estimate.available_currencies.map(({ currency }: { currency: string }) => currency),
      ['ETH', 'SOL', 'USDT'],
    )
    const done = ok(
      await trader.client.post('/unified/quick_repayment', {
        debt_currencies: ['BTC'],
        available_currencies: ['BTC', 'USDT', 'ETH', 'SOL'],
      }),
    )
    // 0.03 BTC are there. A BTC costs 60000 x 1.005 = 60300: 1000 USDT buy 0.01658374, and 0.00341626 x 60300 / 3000
    // is in ETH.
    assert.deepEqual(done.repaid_infos, [{ currency: 'BTC', repaid: '0.05', left: '0' }])
    assert.deepEqual(done.used_infos, [
      { currency: 'BTC', used: '0.03' },
      { currency: 'USDT', used: '1000' },
      { currency: 'ETH', used: '0.06866683' },
      { currency: 'SOL', used: '0' },
    ])
    for (const empty of ['debt_currencies', 'available_currencies'])
      refused(
        await trader.client.post('/unified/quick_repayment', {
          debt_currencies: ['BTC'],
          available_currencies: ['ETH'],
          [empty]: [],
        }),
        400,
        'INVALID_PARAM_VALUE',
        new RegExp(empty),
      )
    refused(
      await trader.client.post('/unified/quick_repayment', {
        debt_currencies: ['BTC'],
        available_currencies: ['ETH'],
      }),
      400,
      'LOAN_NOT_FOUND',
    )
    await proveBalanced(platform)
  })
  test('what is owed itself repays another debt only where it is named among the debts', async () => {
    const trader = await unified({ ETH: '1' })
    ok(await borrow(trader, 'BTC', '0.01'))
    ok(await borrow(trader, 'USDT', '1000'))
    const out = { currency: 'BTC', from: 'spot', to: 'margin', currency_pair: 'BTC_USDT', amount: '0.01' }
    ok(await trader.client.post('/wallet/transfers', out))
    const repayWith = (debts: string[], means: string[]) =>
      trader.client.post('/unified/quick_repayment', { debt_currencies: debts, available_currencies: means })
    refused(await repayWith(['BTC'], ['USDT']), 400, 'BALANCE_NOT_ENOUGH', /USDT is owed itself/)
    refused(await repayWith(['BTC'], ['SOL']), 400, 'BALANCE_NOT_ENOUGH', /no SOL/)
    const { repaid_infos } = ok(await repayWith(['USDT', 'BTC'], ['USDT', 'ETH']))
    assert.deepEqual(
      repaid_infos.map(({ left }: { left: string }) => left),
      ['0', '0'],
    )
  })
  test('rates: estimate, history each hour, and delta_neutral only for high tiers', async () => {
    const trader = await unified({})
    const rates = ok(await trader.client.get('/unified/estimate_rate', { currencies: 'BTC,USDT,POINT' }))
    assert.match(rates.BTC, /^0\.0000020/)
    assert.equal(rates.POINT, '')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 * HOUR })
    const history = ok(
      await platform.client().get('/unified/history_loan_rate', { currency: 'btc', limit: 2 }),
    )
    assert.equal(history.rates.length, 2)
    assert.equal(history.rates[0].time - history.rates[1].time, HOUR * 1000)
    assert.deepEqual([history.tier, history.tier_up_rate], ['0', '1'])
    refused(
      await platform.client().get('/unified/history_loan_rate', { currency: 'BTC', tier: 'x' }),
      400,
      'INVALID_PARAM_VALUE',
      /tier/,
    )
    refused(
      await platform.client().get('/unified/history_loan_rate', { currency: 'POINT' }),
      400,
      'INVALID_CURRENCY',
    )
    refused(await trader.client.post('/unified/delta_neutral', { enabled: true }), 403, 'FORBIDDEN', /VIP 4/)
    const high = await Trader.of(platform, {}, { vip: 4 })
    ok(await high.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    assert.deepEqual(ok(await high.client.post('/unified/delta_neutral', { enabled: true })), {
      enabled: true,
    })
    assert.deepEqual(ok(await high.client.get('/unified/delta_neutral')), { enabled: true })
    for (const [mode, enabled] of [
      ['portfolio', false],
      ['multi_currency', true],
    ] as const) {
      ok(await high.client.put('/unified/unified_mode', { mode }), 204)
      assert.deepEqual(ok(await high.client.get('/unified/delta_neutral')), { enabled })
    }
  })
})
