import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('accounts of contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
  })
  after(() => platform.stop())

  test('there is none before its first money; a transfer begins it and is in its book', async () => {
    const trader = await ContractTrader.of(platform, '0')
    for (const path of ['/accounts', '/account_book'])
      refused(await trader.get(path), 400, 'USER_NOT_FOUND', /transfer funds first/)
    refused(await trader.place(1, '60000'), 400, 'USER_NOT_FOUND')
    assert.deepEqual(ok(await trader.get('/my_trades')), [])
    assert.deepEqual(ok(await trader.get('/orders', { status: 'open' })), [])
    await trader.fund(platform, '1000.5')
    const account = await trader.account()
    assert.equal(account.total, '1000.5')
    assert.equal(account.available, '1000.5')
    assert.equal(account.currency, 'USDT')
    assert.equal(account.history.dnw, '1000.5')
    assert.equal(account.user, trader.user_id)
    assert.equal(account.position_mode, 'single')
    const reply = await trader.get('/account_book')
    const [line] = ok(reply)
    assert.equal(`${line.type} ${line.change} ${line.balance} ${line.text}`, 'dnw 1000.5 1000.5 ')
    assert.ok(Number.isInteger(line.time) && String(line.time).length === 10)
    assert.equal(reply.headers.get('x-pagination-total'), '1')
    assert.equal(reply.headers.get('x-pagination-limit'), '100')
  })

  test('the settle currency is matched in any case; others are refused', async () => {
    const { client } = await ContractTrader.of(platform, '10')
    assert.equal(ok(await client.get('/futures/USDT/accounts')).total, '10')
    refused(await client.get('/futures/usd1/accounts'), 400, 'INVALID_PARAM_VALUE', /settle: "usd1"/)
    refused(await client.get('/futures/btc/accounts'), 400, 'USER_NOT_FOUND')
    refused(await client.get('/delivery/btc/accounts'), 400, 'USER_NOT_FOUND', /no contracts of delivery/)
    const transfer = { currency: 'BTC', from: 'spot', to: 'delivery', settle: 'btc', amount: '1' }
    refused(await client.post('/wallet/transfers', transfer), 400, 'INVALID_PARAM_VALUE', /settle/)
    assert.deepEqual(ok(await client.get('/delivery/btc/positions')), [])
  })

  test('errors of this group carry detail, the same as the message', async () => {
    const { client } = await ContractTrader.of(platform, '10')
    for (const path of ['/futures/usdt/positions/NO_USDT', '/delivery/usdt/positions/NO_USDT']) {
      const reply = await client.get(path)
      refused(reply, 404, 'CONTRACT_NOT_FOUND')
      assert.equal(reply.body.detail, reply.body.message)
    }
    refused(
      await client.get('/futures/usdt/account_book', { contract: 'NO_USDT' }),
      400,
      'CONTRACT_NOT_FOUND',
    )
    assert.equal((await client.get('/spot/orders')).body.detail, undefined)
  })

  test('money that margin needs stays; the rest can be taken out', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    await trader.placed(1000, '59000')
    const { available, order_margin } = await trader.account()
    // 5900 of value: a tenth, the closing fee and the taker's fee.
    assert.equal(order_margin, '595.9')
    assert.equal(available, '404.1')
    const out = { currency: 'USDT', from: 'futures', to: 'spot', settle: 'usdt' }
    refused(
      await trader.client.post('/wallet/transfers', { ...out, amount: '404.11' }),
      400,
      'FUTURES_BALANCE_NOT_ENOUGH',
      /404\.1 available/,
    )
    ok(await trader.client.post('/wallet/transfers', { ...out, amount: '404.1' }))
    assert.equal((await trader.account()).available, '0')
    ok(await trader.delete('/orders'))
    assert.equal((await trader.account()).available, '595.9')
    const [line] = ok(await trader.get('/account_book', { type: 'dnw', limit: 1 }))
    assert.equal(`${line.change} ${line.balance}`, '-404.1 595.9')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('total_balance counts what positions have won or lost; rates are those of the tier', async () => {
    const [maker, taker] = [
      await ContractTrader.of(platform, '1000'),
      await ContractTrader.of(platform, '1000'),
    ]
    await maker.placed(-500, '60000')
    await taker.placed(500, null)
    await setIndex(platform, { BTC: '60600' })
    const { client } = taker
    const account = await taker.account()
    const { details, total } = ok(await client.get('/wallet/total_balance'))
    assert.notEqual(account.unrealised_pnl, '0')
    assert.equal(details.futures.unrealised_pnl, account.unrealised_pnl)
    assert.equal(Number(details.futures.amount), Number(account.total) + Number(account.unrealised_pnl))
    assert.equal(total.unrealised_pnl, account.unrealised_pnl)
    await setIndex(platform, { BTC: '60000' })
    await maker.placed(500, '60000')
    await taker.placed(0, null, { close: true })
    const fee = ok(await client.get('/wallet/fee'))
    for (const settle of ['USDT', 'usdt', 'Usdt', 'btc', 'USD'])
      assert.deepEqual(ok(await client.get('/wallet/fee', { settle })), fee)
    refused(await client.get('/wallet/fee', { settle: 'EUR' }), 400, 'INVALID_PARAM_VALUE', /settle/)
    assert.equal(`${fee.futures_taker_fee} ${fee.futures_maker_fee}`, '0.0005 0.0002')
    const vip = await ContractTrader.of(platform, '0', { vip: 16 })
    const best = ok(await vip.client.get('/wallet/fee'))
    assert.equal(`${best.futures_taker_fee} ${best.delivery_maker_fee}`, '0.00018 -0.00005')
    assert.deepEqual(ok(await vip.get('/fee', { contract: 'btc_usdt' })), {
      BTC_USDT: { taker_fee: '0.00018', maker_fee: '-0.00005' },
    })
    assert.ok('ETH_USDT' in ok(await vip.get('/fee')))
    refused(await vip.get('/fee', { contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
  })

  test("sub-accounts' balances are shown as the account itself shows them", async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    await platform.credit(sub.user_id, 'USDT', '77', { account: 'futures', settle: 'usdt' })
    const [row] = ok(await main.client.get('/wallet/sub_account_futures_balances'))
    assert.equal(row.uid, String(sub.user_id))
    assert.deepEqual(row.available, { usdt: ok(await sub.client.get('/futures/usdt/accounts')) })
    assert.equal(row.available.usdt.history.dnw, '77')
  })

  test('points are counted apart', async () => {
    const trader = await ContractTrader.of(platform, '10')
    await platform.credit(trader.user_id, 'POINT', '50')
    const move = { currency: 'POINT', from: 'spot', to: 'futures', settle: 'usdt', amount: '30' }
    ok(await trader.client.post('/wallet/transfers', move))
    const account = await trader.account()
    assert.equal(`${account.total} ${account.point} ${account.history.point_dnw}`, '10 30 30')
    const [line] = ok(await trader.get('/account_book'))
    assert.equal(`${line.type} ${line.change} ${line.balance}`, 'point_dnw 30 30')
    const back = { ...move, from: 'futures', to: 'spot', amount: '30.5' }
    refused(await trader.client.post('/wallet/transfers', back), 400, 'FUTURES_BALANCE_NOT_ENOUGH')
  })
})

describe('positions and modes', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '100000')
  })
  after(() => platform.stop())

  test('every listed contract has a row, touched or not; holding shows those with a size', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const reply = await trader.get('/positions')
    const names = ok(reply).map(({ contract }: { contract: string }) => contract)
    assert.deepEqual(names, ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'])
    assert.equal(reply.headers.get('x-pagination-total'), '3')
    assert.deepEqual(ok(await trader.get('/positions', { limit: 1, offset: 1 })).length, 1)
    assert.deepEqual(ok(await trader.get('/positions', { holding: true })), [])
    await maker.placed(-100, '60000')
    await trader.placed(100, null)
    const [held, ...others] = ok(await trader.get('/positions', { holding: true }))
    assert.equal(others.length, 0)
    assert.equal(`${held.contract} ${held.size} ${held.mode}`, 'BTC_USDT 100 single')
    assert.deepEqual(await trader.position('btc_usdt'), held)
    assert.equal(held.leverage, '0')
    assert.equal(held.cross_leverage_limit, '10')
    assert.equal(held.entry_price, '60000')
    assert.equal(held.risk_limit_table, 'BTC_USDT_20260101')
    assert.ok(held.open_time > 0 && held.update_id > 0)
    assert.deepEqual(ok(await trader.get('/dual_comp/positions/BTC_USDT')), [held])
    // Nobody who never came has an account, and yet he sees the contracts.
    const stranger = await ContractTrader.of(platform, '0')
    assert.equal((await stranger.position()).size, 0)
    assert.equal((await stranger.position()).adl_ranking, 6)
  })

  test('sizes are texts for those who ask for texts, integers for all others', async () => {
    const { client } = await ContractTrader.of(platform, '1000')
    for (const [headers, size] of [
      [{}, 0],
      [{ 'X-Gate-Size-Decimal': '1' }, '0'],
      [{ 'X-Svc-Size-Decimal': '1' }, '0'],
      [{ 'X-Gate-Size-Decimal': '0' }, 0],
    ] as const) {
      const one = ok(await client.request('GET', '/futures/usdt/positions/BTC_USDT', { headers }))
      assert.strictEqual(one.size, size)
    }
    const dated = ok(await client.get('/delivery/usdt/positions'))
    const headers = { 'X-Gate-Size-Decimal': '1' }
    const [first] = ok(await client.request('GET', '/delivery/usdt/positions', { headers }))
    assert.ok(dated.length >= 8)
    assert.strictEqual(first.size, 0)
    assert.equal(first.lever ?? first.pid ?? first.update_time, undefined)
  })

  test('leverage in the query or the body, the query first; 0 is cross margin', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    assert.equal(ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 20 })).leverage, '20')
    const path = `${trader.base}/positions/BTC_USDT/leverage`
    const both = { query: { leverage: '15' }, body: { leverage: '30' } }
    assert.equal(ok(await trader.client.request('POST', path, both)).leverage, '15')
    assert.equal(ok(await trader.client.post(path, { leverage: '30' })).lever, '30')
    refused(await trader.client.post(path, {}), 400, 'MISSING_REQUIRED_PARAM', /leverage/)
    const cross = { leverage: 0, cross_leverage_limit: 25, marginMode: 'cross' }
    const position = ok(await trader.ask('/positions/BTC_USDT/leverage', cross))
    assert.equal(
      `${position.leverage} ${position.cross_leverage_limit} ${position.pos_margin_mode} ${position.lever}`,
      '0 25 cross 25',
    )
    assert.deepEqual(ok(await trader.get('/get_leverage/BTC_USDT')), { lever: '25', Lever: '25' })
    assert.equal(ok(await trader.get('/get_leverage/BTC_USDT', { pos_margin_mode: 'isolated' })).lever, '30')
    refused(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 126 }), 400, 'LEVERAGE_TOO_HIGH')
    refused(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '0.5' }), 400, 'LEVERAGE_TOO_LOW')
    refused(await trader.ask('/positions/NO_USDT/leverage', { leverage: 5 }), 404, 'CONTRACT_NOT_FOUND')
    const set = ok(
      await trader.ask('/positions/BTC_USDT/set_leverage', { leverage: 7, margin_mode: 'isolated' }),
    )
    assert.equal(`${set.leverage} ${set.pos_margin_mode}`, '7 isolated')
    const crossed = ok(await trader.post('/positions/cross_mode', { mode: 'CROSS', contract: 'BTC_USDT' }))
    assert.equal(`${crossed.leverage} ${crossed.cross_leverage_limit}`, '0 25')
    const unknown = { mode: 'CROSS', contract: 'NO_USDT' }
    refused(await trader.post('/positions/cross_mode', unknown), 400, 'CONTRACT_NOT_FOUND')
    const odd = { mode: 'both', contract: 'BTC_USDT' }
    refused(await trader.post('/positions/cross_mode', odd), 400, 'INVALID_PARAM_VALUE', /mode/)
    // The query as for the other calls about a position, and it wins.
    const inQuery = await trader.ask('/positions/cross_mode', { mode: 'isolated', contract: 'btc_usdt' })
    assert.equal(ok(inQuery).leverage, '7')
    const query = { mode: 'CROSS' }
    const inBoth = { query, body: { mode: 'ISOLATED', contract: 'BTC_USDT' } }
    const again = await trader.client.request('POST', '/futures/usdt/positions/cross_mode', inBoth)
    assert.equal(ok(again).leverage, '0')
    refused(await trader.ask('/positions/cross_mode', query), 400, 'MISSING_REQUIRED_PARAM', /contract/)
  })

  test('how much may be taken is told in digits that can be sent', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const maker = await ContractTrader.of(platform, '100000')
    const told = ({ body }: { body: { message: string } }, words: RegExp): string =>
      words.exec(body.message)![1]!
    const eth = { contract: 'ETH_USDT' }
    const change = (amount: string) => trader.ask('/positions/BTC_USDT/margin', { change: amount })
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '7' }))
    for (const contract of ['BTC_USDT', 'ETH_USDT']) {
      const price = contract === 'BTC_USDT' ? '60000' : '3000'
      await maker.placed(-10, price, { contract })
      await trader.placed(10, price, { contract })
    }
    ok(await trader.ask('/positions/ETH_USDT/leverage', { leverage: '0', cross_leverage_limit: '7' }))
    ok(await change('1'))
    const most = told(await change('-50'), /at most (.*) can be/)
    ok(await change(`-${most}`))
    const own = told(await change('5000'), /only (.*) USDT/)
    ok(await change(own))
    ok(await change('-0.9'))
    await maker.placed(1, '2990.01', eth)
    const transfer = { currency: 'USDT', from: 'futures', to: 'spot', settle: 'usdt' }
    const move = (amount: string) => trader.client.post('/wallet/transfers', { ...transfer, amount })
    ok(await move(told(await move('5000'), /account: (.*) available/)))
  })

  test('what is said to be ignored is, whatever it is', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const at = '/positions/BTC_USDT/leverage'
    for (const path of [at, `/dual_comp${at}`]) {
      const ignored = { leverage: '10', cross_leverage_limit: 'none', pid: 'x', marginMode: 'cross' }
      ok(await trader.ask(path, ignored))
      ok(await trader.post(path, { leverage: '10', cross_leverage_limit: -1 }))
      const refusedOnes = [{ leverage: '0', cross_leverage_limit: 'none' }, { leverage: 'none' }]
      for (const query of refusedOnes) refused(await trader.ask(path, query), 400, 'INVALID_PARAM_VALUE')
    }
    ok(await trader.ask(at, { leverage: '0.0', cross_leverage_limit: '12' }))
    assert.equal((await trader.position()).cross_leverage_limit, '12')
    for (const timezone of ['utc0', '', 'Europe/Berlin, or wherever'])
      assert.equal(ok(await trader.get('/tickers', { contract: 'BTC_USDT', timezone })).length, 1)
  })

  test('who is overdrawn by what the mark has done asks for less as he likes, and not for more', async () => {
    const trader = await ContractTrader.of(platform, '700')
    const maker = await ContractTrader.of(platform, '100000')
    await maker.placed(-1000, '60000')
    await trader.placed(1000, '60000')
    await setIndex(platform, { BTC: '58500' })
    assert.equal((await trader.account()).cross_available, '0')
    const limit = (cross_leverage_limit: string) =>
      trader.ask('/positions/BTC_USDT/leverage', { leverage: '0', cross_leverage_limit })
    refused(await limit('9.9'), 400, 'INSUFFICIENT_AVAILABLE')
    // Still too much for what is there, and less than it was.
    assert.equal(ok(await limit('10.1')).cross_leverage_limit, '10.1')
    assert.equal((await trader.account()).cross_available, '0')
    // What nothing is held in needs nothing.
    assert.equal(ok(await trader.ask('/positions/ETH_USDT/leverage', { leverage: '7' })).leverage, '7')
    ok(await limit('20'))
    assert.ok(Number((await trader.account()).cross_available) > 0)
    await setIndex(platform, { BTC: '60000' })
  })
  test('what a position or an order stands in the way of', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    const order = await trader.placed(1, '59000')
    const isolated = { leverage: 10 }
    refused(await trader.ask('/positions/BTC_USDT/leverage', isolated), 400, 'ORDER_PENDING')
    refused(await trader.ask('/dual_mode', { dual_mode: true }), 400, 'ORDER_PENDING')
    ok(await trader.delete(`/orders/${order.id}`))
    await maker.placed(-10, '60000')
    await trader.placed(10, null)
    refused(await trader.ask('/positions/BTC_USDT/leverage', isolated), 400, 'POSITION_HOLDING')
    refused(await trader.ask('/dual_mode', { dual_mode: true }), 400, 'POSITION_HOLDING')
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '1' }), 400, 'POSITION_CROSS_MARGIN')
    refused(
      await trader.ask('/positions/ETH_USDT/risk_limit', { risk_limit: '3' }),
      400,
      'RISK_LIMIT_NOT_MULTIPLE',
    )
    refused(
      await trader.ask('/positions/ETH_USDT/risk_limit', { risk_limit: '90000000' }),
      400,
      'RISK_LIMIT_TOO_HIGH',
    )
    const limited = ok(await trader.ask('/positions/ETH_USDT/risk_limit', { risk_limit: '1000000' }))
    assert.equal(limited.risk_limit, '1000000')
  })

  test('margin of an isolated position, added and taken away', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 10 }))
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '1' }), 400, 'POSITION_EMPTY')
    await maker.placed(-100, '60000')
    await trader.placed(100, null)
    const { margin } = await trader.position()
    assert.equal(margin, '60.3')
    assert.equal(ok(await trader.ask('/positions/BTC_USDT/margin', { change: '+1.5' })).margin, '61.8')
    assert.equal(ok(await trader.ask('/positions/BTC_USDT/margin', { change: '-1.2' })).margin, '60.6')
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '-10' }), 400, 'REMOVE_TOO_MUCH')
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '0' }), 400, 'NO_CHANGE')
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '5000' }), 400, 'INSUFFICIENT_AVAILABLE')
    refused(await trader.ask('/positions/BTC_USDT/margin', { change: '1e3' }), 400, 'INVALID_PARAM_VALUE')
    const dual = { change: '1', dual_side: 'dual_long' }
    refused(await trader.ask('/dual_comp/positions/BTC_USDT/margin', dual), 400, 'POSITION_NOT_FOUND')
    // Each change left a record, the newest first.
    const reply = await trader.get('/positions_timerange', { contract: 'BTC_USDT' })
    const [last, before] = ok(reply)
    assert.equal(`${last.size} ${last.margin} ${before.margin}`, '100 60.6 61.8')
    assert.equal(`${last.entry_price} ${last.leverage} ${last.risk_limit}`, '60000 10 50000000')
    assert.ok(Number(reply.headers.get('x-pagination-total')) >= 3)
    refused(await trader.get('/positions_timerange'), 400, 'MISSING_REQUIRED_PARAM', /contract/)
  })

  test('dual mode: two rows, arrays where the real wire has arrays', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const account = ok(await trader.ask('/dual_mode', { dual_mode: true, contract: 'BTC_USDT' }))
    assert.equal(`${account.in_dual_mode} ${account.position_mode}`, 'true dual')
    assert.equal(ok(await trader.get('/positions')).length, 6)
    await maker.placed(-100, '60000')
    await trader.placed(100, null)
    await maker.placed(100, '60000')
    await trader.placed(-100, null)
    const rows = await trader.position()
    assert.deepEqual(
      rows.map(({ mode, size }: { mode: string; size: number }) => `${mode} ${size}`),
      ['dual_long 100', 'dual_short -100'],
    )
    assert.equal(ok(await trader.ask('/positions/ETH_USDT/leverage', { leverage: 5 })).length, 2)
    const set = { leverage: 6, margin_mode: 'isolated', dual_side: 'dual_short' }
    const short = ok(await trader.ask('/positions/ETH_USDT/set_leverage', set))
    assert.equal(`${short.mode} ${short.leverage}`, 'dual_short 6')
    const both = ok(await trader.ask('/dual_comp/positions/ETH_USDT/leverage', { leverage: 8 }))
    assert.deepEqual(
      both.map(({ leverage }: { leverage: string }) => leverage),
      ['8', '8'],
    )
    refused(await trader.ask('/positions/ETH_USDT/margin', { change: '1' }), 400, 'POSITION_DUAL_MODE')
    refused(
      await trader.ask('/positions/ETH_USDT/risk_limit', { risk_limit: '500000' }),
      400,
      'POSITION_DUAL_MODE',
    )
    assert.equal(
      ok(await trader.ask('/dual_comp/positions/ETH_USDT/risk_limit', { risk_limit: '500000' })).length,
      2,
    )
    const cross = { mode: 'cross', contract: 'ETH_USDT' }
    refused(await trader.post('/positions/cross_mode', cross), 400, 'POSITION_DUAL_MODE')
    assert.equal((await trader.position('ETH_USDT'))[0].leverage, '8', 'what was refused changed nothing')
    assert.equal(ok(await trader.post('/dual_comp/positions/cross_mode', cross))[1].leverage, '0')
    const held = { mode: 'isolated', contract: 'BTC_USDT' }
    refused(await trader.post('/positions/cross_mode', held), 400, 'POSITION_DUAL_MODE')
    refused(await trader.ask('/dual_comp/positions/cross_mode', held), 400, 'POSITION_HOLDING')
    for (const auto_size of ['close_long', 'close_short']) {
      await maker.placed(auto_size === 'close_long' ? 100 : -100, '60000')
      const closed = await trader.placed(0, null, { close: true, auto_size })
      assert.equal(`${closed.is_close} ${closed.left}`, 'true 0')
    }
    assert.equal(
      ok(await trader.ask('/set_position_mode', { position_mode: 'single' })).position_mode,
      'single',
    )
    refused(
      await trader.ask('/set_position_mode', { position_mode: 'dual_plus' }),
      400,
      'INVALID_PARAM_VALUE',
      /dual_plus/,
    )
  })
})
