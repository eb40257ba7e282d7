import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const SETTINGS = {
  multi_currency: { usdt_futures: true },
  portfolio: { spot_hedge: true },
  single_currency: {},
}
type Mode = keyof typeof SETTINGS

describe('contracts of unified accounts', () => {
  let platform: TestPlatform
  let rich: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    rich = await ContractTrader.of(platform, '1000000')
  })
  after(() => platform.stop())

  const unified = async (mode: Mode, funds: Readonly<Record<string, string>>): Promise<ContractTrader> => {
    const trader = await ContractTrader.of(platform, '0')
    for (const [currency, amount] of Object.entries(funds))
      await platform.credit(trader.user_id, currency, amount)
    ok(await trader.client.put('/unified/unified_mode', { mode, settings: SETTINGS[mode] }), 204)
    return trader
  }
  /** Buys from somebody rich, or sells to him. */
  const trade = async (trader: ContractTrader, size: number, price: string): Promise<void> => {
    await rich.placed(-size, price)
    assert.equal((await trader.placed(size, price)).status, 'finished')
  }
  const unifiedAccount = async ({ client }: ContractTrader) => ok(await client.get('/unified/accounts'))

  test('the account is there at once, without money of its own', async () => {
    for (const [mode, number, credit] of [
      ['multi_currency', 1, true],
      ['portfolio', 2, true],
      ['single_currency', 3, false],
    ] as const) {
      const trader = await unified(mode, { USDT: '1000' })
      const account = await trader.account()
      assert.deepEqual(
        [account.total, account.margin_mode, account.margin_mode_name, account.enable_credit],
        ['0', number, mode, credit],
      )
      assert.equal(account.cross_margin_balance, '1000')
      assert.equal(account.cross_available, '1000')
      assert.deepEqual(ok(await trader.get('/account_book')), [])
    }
  })
  test('money of a classic account stays where it is until contracts are settled from the unified balance', async () => {
    const trader = await ContractTrader.of(platform, '700')
    const put = (settings: object) =>
      trader.client.put('/unified/unified_mode', { mode: 'multi_currency', settings })
    const spot = async (): Promise<string> => {
      const [balance] = ok(await trader.client.get('/spot/accounts', { currency: 'USDT' }))
      return balance?.available ?? '0'
    }
    ok(await put({ usdt_futures: false }), 204)
    assert.deepEqual([(await trader.account()).total, await spot()], ['700', '0'])
    ok(await put({ usdt_futures: true }), 204)
    assert.deepEqual([(await trader.account()).total, await spot()], ['0', '700'])
  })
  test('money of a classic account goes to spot with the switch, and transfers are refused afterwards', async () => {
    const trader = await ContractTrader.of(platform, '700')
    const put = (mode: string) => trader.client.put('/unified/unified_mode', { mode })
    await trader.placed(10, '59000')
    refused(await put('single_currency'), 400, 'USER_PENDING_ORDERS')
    ok(await trader.delete('/orders', { contract: 'BTC_USDT' }))
    await trade(trader, 10, '60000')
    refused(await put('single_currency'), 400, 'POSITION_HOLDING')
    await rich.placed(10, '60000')
    ok(
      await trader.post('/orders', { contract: 'BTC_USDT', size: 0, price: '0', tif: 'ioc', close: true }),
      201,
    )
    ok(await put('single_currency'), 204)
    const [balance] = ok(await trader.client.get('/spot/accounts', { currency: 'USDT' }))
    // Two fees of 0.03.
    assert.equal(balance.available, '699.94')
    const account = await trader.account()
    assert.deepEqual([account.total, account.history.dnw], ['0', '0.06'])
    const [line] = ok(await trader.get('/account_book', { type: 'dnw' }))
    assert.equal(`${line.change} ${line.balance}`, '-699.94 0')
    for (const [from, to] of [
      ['spot', 'futures'],
      ['futures', 'spot'],
    ])
      refused(
        await trader.client.post('/wallet/transfers', {
          currency: 'USDT',
          from,
          to,
          settle: 'usdt',
          amount: '1',
        }),
        400,
        'ACCOUNT_EXCEPTION',
        /unified balance/,
      )
    refused(
      await platform.operator.call('POST', `/users/${trader.user_id}/credit`, {
        account: 'futures',
        settle: 'usdt',
        currency: 'USDT',
        amount: '1',
      }),
      400,
      'ACCOUNT_EXCEPTION',
    )
    // Contracts settled in btc, and dated ones, have accounts of their own.
    ok(
      await trader.client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'delivery',
        settle: 'usdt',
        amount: '1',
      }),
    )
  })
  test('a position is in the figures of both, its bookings in both books, and losses beyond the money are lent', async () => {
    const trader = await unified('multi_currency', { BTC: '1', USDT: '2000' })
    await trade(trader, 1_000, '60000')
    await setIndex(platform, { BTC: '58000' })
    const position = await trader.position()
    // The mark is bounded by the last price, the index and the book: it is read, and all else follows from it.
    const mark = Number(position.mark_price)
    const pnl = (mark - 60_000) * 0.1
    const { client } = trader
    const view = await unifiedAccount(trader)
    assert.equal(Number(view.balances.USDT.equity).toFixed(6), (1_997 + pnl).toFixed(6))
    assert.equal(Number(view.total_margin_balance).toFixed(4), (56_840 + 1_997 + pnl).toFixed(4))
    const initial = Number(position.initial_margin)
    assert.equal(Number(view.total_initial_margin).toFixed(6), initial.toFixed(6))
    const account = await trader.account()
    assert.equal(Number(account.cross_initial_margin), initial)
    assert.equal(
      Number(account.cross_margin_balance).toFixed(4),
      Number(view.total_margin_balance).toFixed(4),
    )
    assert.deepEqual([account.history.fee, account.history.cross_settle], ['-3', '3'])
    // All but a hundred goes elsewhere.
    ok(
      await client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'delivery',
        settle: 'usdt',
        amount: '1897',
      }),
    )
    await rich.placed(1_000, '57000')
    await trader.placed(-1_000, '57000')
    const { balances } = await unifiedAccount(trader)
    assert.deepEqual(
      [balances.USDT.borrowed, balances.USDT.negative_liab, balances.USDT.available],
      ['202.85', '202.85', '0'],
    )
    const [loan] = ok(await client.get('/unified/loans'))
    assert.equal(`${loan.currency} ${loan.amount}`, 'USDT 202.85')
    const records = ok(await client.get('/unified/loan_records', { type: 'borrow' }))
    assert.deepEqual(
      records.map((row: { amount: string; borrow_type: string }) => `${row.borrow_type} ${row.amount}`),
      ['auto_borrow 2.85', 'auto_borrow 200'],
    )
    const book = ok(await trader.get('/account_book'))
    assert.deepEqual(
      book.map(
        (line: { type: string; change: string; balance: string }) =>
          `${line.type} ${line.change} ${line.balance}`,
      ),
      ['fee -2.85 0', 'pnl -300 0', 'fee -3 1997'],
    )
    const spot = ok(await client.get('/spot/account_book', { currency: 'USDT' }))
    assert.deepEqual(
      spot
        .filter((line: { type: string }) => line.type.startsWith('futures_'))
        .map(
          (line: { type: string; change: string; code: string }) =>
            `${line.type} ${line.change} ${line.code}`,
        ),
      ['futures_fee -2.85 0', 'futures_pnl -300 0', 'futures_fee -3 0'],
    )
    // Money that comes in repays it, whoever sends it.
    const friend = await platform.user()
    await platform.credit(friend.user_id, 'USDT', '2.85')
    ok(
      await friend.client.post('/withdrawals/push', {
        receive_uid: trader.user_id,
        currency: 'USDT',
        amount: '2.85',
      }),
    )
    const less = (await unifiedAccount(trader)).balances.USDT
    assert.deepEqual([less.negative_liab, less.borrowed, less.available], ['200', '200', '0'])
    await platform.credit(trader.user_id, 'USDT', '300')
    const after = await unifiedAccount(trader)
    assert.deepEqual([after.balances.USDT.negative_liab, after.balances.USDT.available], ['0', '100'])
    await setIndex(platform, { BTC: '60000' })
  })
  test('what contracts need does not leave, and nothing is lent on it', async () => {
    const trader = await unified('single_currency', { USDT: '1000', BTC: '0.1' })
    const { client } = trader
    await trader.placed(1_000, '50000')
    const account = await trader.account()
    // 5000: a tenth, and two fees of 2.5.
    assert.deepEqual([account.order_margin, account.available], ['505', '495'])
    const out = (amount: string) =>
      client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'delivery',
        settle: 'usdt',
        amount,
      })
    refused(await out('495.1'), 400, 'BALANCE_NOT_ENOUGH', /contracts/)
    refused(
      await client.post('/spot/orders', {
        currency_pair: 'BTC_USDT',
        side: 'buy',
        amount: '0.01',
        price: '55000',
      }),
      400,
      'BALANCE_NOT_ENOUGH',
      /contracts/,
    )
    assert.equal(ok(await client.get('/unified/accounts')).balances.USDT.available_margin, '495')
    assert.equal(ok(await client.get('/unified/transferable', { currency: 'USDT' })).amount, '495')
    assert.deepEqual(ok(await client.get('/unified/transferables', { currencies: 'usdt,BTC' })), [
      { currency: 'USDT', amount: '495' },
      { currency: 'BTC', amount: '0.1' },
    ])
    ok(await out('495'))
    assert.equal(ok(await client.get('/unified/transferable', { currency: 'USDT' })).amount, '0')
    refused(await trader.place(1, '50000'), 400, 'INSUFFICIENT_AVAILABLE', /unified/)
    const shared = await unified('multi_currency', { USDT: '1000' })
    await shared.placed(1_500, '60000')
    const { amount } = ok(await shared.client.get('/unified/transferable', { currency: 'USDT' }))
    // 9000: a tenth, and two fees of 4.5.
    assert.equal(amount, '91')
    refused(
      await shared.client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '911' }),
      400,
      'INITIAL_MARGIN_TOO_LOW',
    )
    ok(await shared.delete('/orders', { contract: 'BTC_USDT' }))
    ok(await trader.delete('/orders', { contract: 'BTC_USDT' }))
  })
  test('what is set apart for isolated positions pays no loss of others', async () => {
    const eth = { contract: 'ETH_USDT' }
    const trader = await unified('multi_currency', { USDT: '1000', BTC: '1' })
    const usdt = async () => (await unifiedAccount(trader)).balances.USDT
    ok(await trader.ask('/positions/ETH_USDT/leverage', { leverage: '10' }))
    await rich.placed(-200, '3000', eth)
    await trader.placed(200, '3000', eth)
    // 6000: a tenth and the fee of closing, beside the fee of opening.
    const { available, iso_balance } = await usdt()
    assert.deepEqual([available, iso_balance], ['394', '603'])
    // What an order lacks beside them is lent for it, as without them.
    const lent = { account: 'unified', auto_borrow: true, auto_repay: true }
    const buys = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '50000' }
    const { id } = ok(await trader.client.post('/spot/orders', { ...buys, ...lent }), 201)
    const meanwhile = await usdt()
    assert.deepEqual([meanwhile.available, meanwhile.freeze, meanwhile.borrowed], ['0', '500', '106'])
    ok(await trader.client.delete(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' }))
    const again = await usdt()
    assert.deepEqual([again.available, again.borrowed], ['394', '0'])
    await trade(trader, 1_000, '60000')
    // An order for more of the isolated one, while there is money for it.
    const resting = await trader.placed(100, '2990', eth)
    await rich.placed(1_000, '59700')
    await trader.placed(-1_000, '59700')
    // 3, 30 and 2.985 of 394.
    assert.equal((await usdt()).available, '358.015')
    await trade(trader, 10_000, '60000')
    await rich.placed(10_000, '59700')
    await trader.placed(-10_000, '59700')
    // 330 were there after the fee; of 300 and a fee of 29.85 nothing is lacking yet.
    assert.deepEqual([(await usdt()).available, (await usdt()).negative_liab], ['0', '1.835'])
    // So there is none for the margin of what rests.
    await rich.placed(-100, '2990', { ...eth, tif: 'ioc' })
    assert.equal((await trader.order(resting.id)).finish_as, 'liquidated')
    assert.equal((await trader.position('ETH_USDT')).size, 200)
    const view = await unifiedAccount(trader)
    assert.ok(Number(view.total_maintenance_margin) > 0)
  })
  test('nor a debt of theirs, when the account is liquidated: its coins are sold', async () => {
    const trader = await unified('multi_currency', { USDT: '1000', ETH: '1' })
    const { client } = trader
    ok(await client.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount: '1500' }))
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '10' }))
    await trade(trader, 3_500, '60000')
    const { margin } = await trader.position()
    await platform.credit(rich.user_id, 'USDT', '1180')
    const bid = { currency_pair: 'ETH_USDT', side: 'buy', amount: '1', price: '1180' }
    ok(await rich.client.post('/spot/orders', bid), 201)
    await setIndex(platform, { ETH: '1190' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    const { balances } = await unifiedAccount(trader)
    assert.ok(Number(balances.ETH.available) < 1 && Number(balances.USDT.borrowed) > 0)
    assert.deepEqual(
      [balances.USDT.available, balances.USDT.iso_balance, (await trader.position()).size],
      ['0', margin, 3_500],
    )
    assert.equal(ok(await client.get('/spot/accounts', { currency: 'USDT' }))[0].available, margin)
    ok(await rich.client.delete('/spot/orders', { currency_pair: 'ETH_USDT' }))
    await setIndex(platform, { ETH: '3000' })
  })
  test('nor a coin that is owed, when the account has no margin to spare', async () => {
    const trader = await unified('multi_currency', { USDT: '700', BTC: '0.06' })
    const { client } = trader
    const sells = { currency_pair: 'ETH_USDT', side: 'sell', amount: '1', price: '3000' }
    await platform.credit(rich.user_id, 'USDT', '3000')
    await platform.credit(rich.user_id, 'ETH', '1')
    ok(await client.post('/unified/loans', { currency: 'ETH', type: 'borrow', amount: '1' }))
    ok(await rich.client.post('/spot/orders', { ...sells, side: 'buy' }), 201)
    ok(await client.post('/spot/orders', sells), 201)
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '10' }))
    await trade(trader, 3_500, '60000')
    const [out, amount] = [{ currency: 'USDT', from: 'spot', to: 'delivery', settle: 'usdt' }, '1500']
    ok(await client.post('/wallet/transfers', { ...out, amount }))
    await setIndex(platform, { ETH: '3300' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    const { risk_level, balances } = await unifiedAccount(trader)
    assert.deepEqual([risk_level, balances.USDT.available], ['restricted', '73'])
    const buys = { currency_pair: 'ETH_USDT', side: 'buy', price: '3300', account: 'unified' }
    const tried = await client.post('/spot/orders', { ...buys, amount: '0.5' })
    refused(tried, 400, 'BALANCE_NOT_ENOUGH', /contracts/)
    ok(await client.post('/spot/orders', { ...buys, amount: '0.02' }), 201)
    ok(await client.delete('/spot/orders', { currency_pair: 'ETH_USDT' }))
    await setIndex(platform, { ETH: '3000' })
  })
  test('a spot order is made cheaper whatever positions need by now, and not dearer', async () => {
    const trader = await unified('single_currency', { USDT: '1000' })
    const { client } = trader
    await trade(trader, 1_000, '60000')
    const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.005', price: '50000' }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    await setIndex(platform, { BTC: '58000' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    assert.equal((await trader.account()).available, '0')
    const amend = (price: string) =>
      client.patch(`/spot/orders/${id}`, { price }, { currency_pair: 'BTC_USDT' })
    refused(await amend('50100'), 400, 'BALANCE_NOT_ENOUGH', /contracts/)
    assert.equal(ok(await amend('49900')).price, '49900')
    ok(await client.delete(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' }))
    await setIndex(platform, { BTC: '60000' })
  })
  test('the total has what contracts have won or lost, in every mode', async () => {
    for (const mode of ['single_currency', 'multi_currency', 'portfolio'] as const) {
      const trader = await unified(mode, { USDT: '1000', BTC: '0.1' })
      // Bought below the mark: as good as won.
      await trade(trader, 1_000, '59900')
      const { unrealised_pnl } = await trader.account()
      assert.ok(Number(unrealised_pnl) > 0, `${mode}: ${unrealised_pnl}`)
      const view = await unifiedAccount(trader)
      const { USDT, BTC } = view.balances
      const sum = Number(USDT.equity) + Number(BTC.equity) * 60_000
      assert.equal(Number(view.unified_account_total_equity), sum, mode)
      assert.equal(view.unified_account_total, view.unified_account_total_equity)
      const { figures } = await platform.operator.ok('GET', `/users/${trader.user_id}/risk/explain`)
      assert.equal(figures.unified_account_total_equity.value, view.unified_account_total_equity)
      // What positions are worth counts in the leverage as what is owed does.
      const { value } = await trader.position()
      const leverage =
        mode === 'single_currency' ? 0 : Number(value) / Number(view.unified_account_total_equity)
      assert.equal(Number(view.leverage), Math.floor(leverage * 1e4) / 1e4, mode)
      assert.equal(Number(figures.leverage.value).toFixed(6), leverage.toFixed(6), mode)
    }
  })
  test('what contracts leave owing in single_currency mode is no loan, and less equity', async () => {
    const trader = await unified('single_currency', { USDT: '1000', BTC: '1' })
    const { client } = trader
    await trade(trader, 1_000, '60000')
    await setIndex(platform, { BTC: '72000' })
    // The mark follows with a print near the index: all the money may go, and profit carries the position.
    const friend = await ContractTrader.of(platform, '10000')
    await rich.placed(-1, '72000')
    await friend.placed(1, '72000')
    const { amount } = ok(await client.get('/unified/transferable', { currency: 'USDT' }))
    assert.equal(amount, '997')
    const out = { currency: 'USDT', from: 'spot', to: 'delivery', settle: 'usdt', amount }
    ok(await client.post('/wallet/transfers', out))
    // Who buys on without money owes the fee, and nobody lends it.
    await trade(trader, 10, '72000')
    const view = await unifiedAccount(trader)
    const { available, borrowed, negative_liab, total_liab, equity } = view.balances.USDT
    assert.deepEqual(
      [available, borrowed, negative_liab, total_liab, equity],
      ['0', '0', '0.036', '0.036', '1199.964'],
    )
    assert.deepEqual([view.borrowed, view.unified_account_total_liab, view.leverage], ['0', '0', '0'])
    assert.deepEqual([view.unified_account_total, view.unified_account_total_equity], ['73200', '73199.964'])
    assert.equal((await trader.account()).cross_margin_balance, '1199.964')
    await setIndex(platform, { BTC: '60000' })
  })
  test('portfolio: risk units, and what is not for it', async () => {
    const trader = await unified('portfolio', { USDT: '10000', BTC: '0.06' })
    const { client } = trader
    await trade(trader, -1_000, '60000')
    const { risk_units, spot_hedge } = ok(await client.get('/unified/risk_units'))
    assert.equal(spot_hedge, true)
    assert.deepEqual(risk_units, [
      {
        symbol: 'BTC',
        spot_in_use: '0.06',
        maintain_margin: '360',
        initial_margin: '432',
        delta: '-0.04',
        gamma: '0',
        theta: '0',
        vega: '0',
      },
    ])
    const view = await unifiedAccount(trader)
    assert.deepEqual(
      [view.total_initial_margin, view.total_maintenance_margin, view.balances.BTC.spot_in_use],
      ['432', '360', '0.06'],
    )
    refused(await trader.ask('/dual_mode', { dual_mode: true }), 400, 'USER_PORTFOLIO_MARGIN')
    refused(
      await trader.ask('/positions/BTC_USDT/leverage', { leverage: '10' }),
      400,
      'USER_PORTFOLIO_MARGIN',
      /isolated not supported/,
    )
    const explained = await platform.operator.ok('GET', `/users/${trader.user_id}/risk/explain`)
    assert.equal(explained.figures.contracts_maintenance_margin.value, '360')
    assert.deepEqual(
      [explained.contracts[0].contract, explained.contracts[0].size, explained.risk_units[0].spot_in_use],
      ['BTC_USDT', '-1000', '0.06'],
    )
  })
  test('a move of the index liquidates in the same answer, step by step', async () => {
    const trader = await unified('multi_currency', { USDT: '1300' })
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '0', cross_leverage_limit: '50' }))
    await trade(trader, 10_000, '60000')
    const resting = await trader.placed(1, '58000')
    await rich.placed(10_000, '58880')
    await setIndex(platform, { BTC: '58950' })
    // The mark follows with the next print near the index.
    const [one, other] = [
      await ContractTrader.of(platform, '10000'),
      await ContractTrader.of(platform, '10000'),
    ]
    await one.placed(-1, '58940')
    await other.placed(1, '58940')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    const position = await trader.position()
    assert.equal(position.size, 0, JSON.stringify(position))
    assert.equal((await trader.order(resting.id)).finish_as, 'liquidated')
    const steps = await platform.operator.ok('GET', `/users/${trader.user_id}/liquidations`)
    const words = steps.map(({ step }: { step: string }) => step)
    for (const word of ['locked', 'order_cancelled', 'liquidated', 'unlocked'])
      assert.ok(words.includes(word), words.join())
    const [record] = ok(await trader.get('/liquidates'))
    assert.equal(record.contract, 'BTC_USDT')
    const orders = ok(await trader.get('/orders', { status: 'finished' }))
    assert.ok(orders.some((order: { text: string }) => order.text === 'comb_margin_liquidate'))
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
  })
})
