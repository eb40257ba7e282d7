import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

/** What records and positions of contracts show, and which refusal comes first. */
describe('figures of contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000' })
    maker = await ContractTrader.of(platform, '5000000')
  })
  after(() => platform.stop())
  const clock = (advance_seconds: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds })

  test('an account without money is told so before a book without prices', async () => {
    const nobody = await ContractTrader.of(platform, '0')
    const bbo = { contract: 'BTC_USDT', size: 5, direction: 'buy', level: 1 }
    const chase = { contract: 'BTC_USDT', amount: '5', price_limit: '0' }
    refused(await nobody.post('/bbo_orders', bbo), 400, 'USER_NOT_FOUND', /transfers/)
    refused(await nobody.post('/autoorder/v1/chase/create', chase), 400, 'USER_NOT_FOUND', /transfers/)
    const unlimited = { contract: 'BTC_USDT', amount: '5' }
    const missing = await nobody.post('/autoorder/v1/chase/create', unlimited)
    refused(missing, 400, 'MISSING_REQUIRED_PARAM', /price_limit/)
    refused(await maker.post('/bbo_orders', bbo), 400, 'CONTRACT_NO_COUNTER', /0 prices/)
    refused(await maker.post('/bbo_orders', { ...bbo, size: 9_000_000 }), 400, 'SIZE_TOO_LARGE')
    refused(await maker.post('/bbo_orders', { ...bbo, reduce_only: true }), 400, 'POSITION_EMPTY')
    // The sign is wrong whatever the contract is.
    const wrong = { ...bbo, size: -5, contract: 'NO_USDT' }
    refused(await maker.post('/bbo_orders', wrong), 400, 'INVALID_PARAM_VALUE', /direction/)
  })

  test('records of a cross position show its initial margin; funding is one change of it', async () => {
    const [trader, other] = [
      await ContractTrader.of(platform, '680'),
      await ContractTrader.of(platform, '680'),
    ]
    // From here on the mark is the index.
    await maker.placed(-1, '60000')
    await other.placed(1, '60000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: '0', cross_leverage_limit: '20' }))
    await maker.placed(-1000, '60000')
    await trader.placed(1000, '60000')
    const [row] = ok(await trader.get('/positions_timerange', { contract: 'BTC_USDT' }))
    // 6000 / 20 + 6000 x 0.0005.
    assert.equal(`${row.size} ${row.leverage} ${row.margin}`, '1000 0 303')
    const { update_id, margin } = await trader.position()
    assert.equal(margin, '303')
    const now = Math.floor(platform.now())
    await clock(28_800 - (now % 28_800) + 1)
    const settled = await trader.position()
    assert.notEqual(settled.pnl_fund, '0')
    assert.equal(settled.update_id, update_id + 1)
    const rows = ok(await trader.get('/positions_timerange', { contract: 'BTC_USDT' }))
    assert.equal(rows[0].realised_pnl, settled.realised_pnl)
    await setIndex(platform, { BTC: '53000' })
    await clock(1)
    const [liquidated] = ok(await trader.get('/liquidates'))
    const value = Number(liquidated.mark_price) / 10
    assert.equal(Number(liquidated.margin).toFixed(6), (value / 20 + value * 0.0005).toFixed(6))
    const lines = ok(await trader.get('/account_book', { type: 'pnl' }))
    assert.deepEqual(
      [...new Set(lines.map(({ text }: { text: string }) => text))],
      [`BTC_USDT:${liquidated.order_id}`],
    )
    await setIndex(platform, { BTC: '60000' })
  })

  test('in dual mode each side counts the orders that are about it', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    ok(await trader.ask('/dual_mode', { dual_mode: true }))
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    await trader.placed(5, '59000')
    await trader.placed(-3, '61000', { reduce_only: true })
    await trader.placed(-4, '61000')
    const [long, short] = await trader.position()
    assert.deepEqual([long.pending_orders, short.pending_orders], [2, 1])
  })

  test('a fee that is paid in points names its order too', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    await platform.credit(trader.user_id, 'POINT', '10')
    const points = { currency: 'POINT', from: 'spot', to: 'futures', settle: 'usdt', amount: '10' }
    ok(await trader.client.post('/wallet/transfers', points))
    await platform.operator.ok('PATCH', `/users/${trader.user_id}`, { debit_fee: 2 })
    await maker.placed(-10, '60000')
    const { id } = await trader.placed(10, '60000')
    const [line] = ok(await trader.get('/account_book', { type: 'point_fee' }))
    assert.equal(`${line.change} ${line.text}`, `-0.03 BTC_USDT:${id}`)
  })

  test('points of the fill that ends a position belong to that position, and in a turn each side has its part', async () => {
    const trader = await ContractTrader.of(platform, '1000')
    await platform.credit(trader.user_id, 'POINT', '10')
    const points = { currency: 'POINT', from: 'spot', to: 'futures', settle: 'usdt', amount: '10' }
    ok(await trader.client.post('/wallet/transfers', points))
    await platform.operator.ok('PATCH', `/users/${trader.user_id}`, { debit_fee: 2 })
    const paid = async (): Promise<string> => {
      const { size, realised_point, history_point } = await trader.position()
      return `${size}: ${realised_point} ${history_point}`
    }
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    assert.equal(await paid(), '10: -0.03 0')
    await maker.placed(10, '60000')
    await trader.placed(-10, '60000')
    assert.equal(await paid(), '0: 0 -0.06')
    const [ended] = ok(await trader.get('/positions_timerange', { contract: 'BTC_USDT' }))
    assert.equal(`${ended.realised_point} ${ended.history_point}`, '0 -0.06')
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    await maker.placed(30, '60000')
    await trader.placed(-30, '60000')
    // A third of 0.09 closed the ten.
    assert.equal(await paid(), '-20: -0.06 -0.12')
  })

  test('an operator sees each figure with what it comes from', async () => {
    await setIndex(platform, { ETH: '3000' })
    const trader = await ContractTrader.of(platform, '5000')
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: 10 }))
    await maker.placed(-1000, '60000')
    await trader.placed(1000, '60000')
    await maker.placed(500, '3000', { contract: 'ETH_USDT' })
    await trader.placed(-500, '3000', { contract: 'ETH_USDT' })
    await trader.placed(100, '59000')
    const path = `/users/${trader.user_id}/futures/usdt/explain`
    const told = await platform.operator.ok('GET', path)
    const account = await trader.account()
    for (const [name, { value, formula }] of Object.entries<{ value: string; formula: string }>(told.figures))
      assert.equal(`${value} ${formula.length > 5}`, `${account[name]} true`, name)
    assert.equal(Object.keys(told.figures).length, 16)
    assert.deepEqual(told.inputs, { cash: account.total, debt: '0' })
    const [btc, eth] = told.positions
    assert.equal(
      `${btc.contract} ${btc.margin_mode} ${btc.size} ${btc.tier.tier}`,
      'BTC_USDT isolated 1000 1',
    )
    // E6 of the specification.
    assert.equal(`${btc.margin.value} ${btc.liq_price.value}`, '603 54213.97')
    assert.equal(btc.bankruptcy_price.value, '53997')
    assert.match(btc.liq_price.formula, /m = margin/)
    const position = await trader.position('ETH_USDT')
    assert.equal(`${eth.contract} ${eth.margin_mode} ${eth.size}`, 'ETH_USDT cross -500')
    for (const name of ['value', 'unrealised_pnl', 'initial_margin', 'maintenance_margin', 'liq_price'])
      assert.equal(eth[name].value, position[name], name)
    assert.equal(eth.mark_price, position.mark_price)
    assert.deepEqual(
      told.orders.map((one: { contract: string; order_margin: { value: string } }) => one.order_margin.value),
      [account.order_margin],
    )
    const dated = await platform.operator.ok('GET', path.replace('futures', 'delivery'))
    assert.equal(`${dated.figures.total.value} ${dated.positions.length}`, '0 0')
    for (const group of ['futures', 'delivery']) {
      const nobody = await platform.operator.call('GET', `/users/999999999/${group}/usdt/explain`)
      refused(nobody, 404, 'USER_NOT_FOUND')
    }
  })
  test('profit of an isolated position whose margin funding has used up is no margin of another one, and nothing to move', async () => {
    const [trader, other, lender] = [
      await ContractTrader.of(platform, '1000'),
      await ContractTrader.of(platform, '1000000'),
      await ContractTrader.of(platform, '10000000'),
    ]
    await setIndex(platform, { SOL: '150', ETH: '3000' })
    const sol = { contract: 'SOL_USDT' }
    ok(await trader.ask('/positions/SOL_USDT/leverage', { leverage: '50' }))
    await other.placed(-30, '150', sol)
    await trader.placed(30, '150', sol)
    // Bids far above the index make the rate as high as it gets, and longs pay it.
    for (const index of ['157', '164']) {
      await setIndex(platform, { SOL: index })
      await setIndex(platform, { SOL: index })
    }
    await lender.placed(4_000, '170', sol)
    for (let i = 0; i < 4; i++) await clock(28_800)
    const position = await trader.position('SOL_USDT')
    const margin = Number(position.margin)
    assert.ok(margin < 0 && Number(position.unrealised_pnl) + margin > 0, `${margin}`)
    const { total, available, cross_margin_balance } = await trader.account()
    assert.equal(available, total)
    assert.ok(Number(cross_margin_balance) > Number(total))
    ok(await trader.ask('/positions/ETH_USDT/leverage', { leverage: '10' }))
    await other.placed(-400, '3000', { contract: 'ETH_USDT' })
    const most = Math.floor(Number(total) / (30 * (1 / 10 + 2 * 0.0005)))
    refused(await trader.place(most + 1, '3000', { contract: 'ETH_USDT' }), 400, 'INSUFFICIENT_AVAILABLE')
    const transfer = { currency: 'USDT', from: 'futures', to: 'spot', settle: 'usdt' }
    ok(await trader.client.post('/wallet/transfers', { ...transfer, amount: available }))
    assert.equal((await trader.account()).available, '0')
  })
})
