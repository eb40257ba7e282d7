import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

type Row = Readonly<Record<string, unknown>>
/** Only what is named is looked at. */
function shows(row: Row, want: Row): void {
  assert.deepEqual(Object.fromEntries(Object.keys(want).map((name) => [name, row[name]])), want)
}

/** The worked examples of the specification (futures.md, 2.18) as clients see them, to the last digit. */
describe('worked examples of contracts', () => {
  let platform: TestPlatform
  let seller: ContractTrader
  let buyer: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    seller = await ContractTrader.of(platform, '100000000')
    buyer = await ContractTrader.of(platform, '100000000')
  })
  after(() => platform.stop())
  /** Index, last trade and so the mark. */
  async function mark(price: string, currency = 'BTC'): Promise<void> {
    const contract = `${currency}_USDT`
    await setIndex(platform, { [currency]: price })
    await seller.placed(-1, price, { contract })
    await buyer.placed(1, price, { contract })
  }
  /** As a taker, from one of the two who have everything. */
  async function take(trader: ContractTrader, size: number, price: string, contract = 'BTC_USDT') {
    await (size > 0 ? seller : buyer).placed(-size, price, { contract })
    await trader.placed(size, price, { contract })
  }
  async function isolated(funds: string, leverage: number): Promise<ContractTrader> {
    const trader = await ContractTrader.of(platform, funds)
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage }))
    return trader
  }
  const difference = (a: string, b: string): string => (Number(a) - Number(b)).toFixed(6)

  test('E1 to E4: an isolated long, at another mark, more of it, a part sold', async () => {
    await mark('60000')
    const trader = await isolated('10000', 10)
    const { id } = await trader.placed(1000, '60000')
    shows(await trader.account(), { order_margin: '606', available: '9394' })
    ok(await trader.delete(`/orders/${id}`))
    await take(trader, 1000, '60000')
    shows(await trader.position(), {
      margin: '603',
      entry_price: '60000',
      pnl_fee: '-3',
      liq_price: '54213.97',
    })
    shows(await trader.account(), { total: '9997', available: '9394' })
    await mark('61000')
    shows(await trader.position(), {
      mark_price: '61000',
      value: '6100',
      unrealised_pnl: '100',
      initial_margin: '613.05',
      maintenance_margin: '27.45',
    })
    await take(trader, 500, '61200')
    shows(await trader.position(), { entry_price: '60400', margin: '910.53' })
    const had = await trader.account()
    await trader.placed(-600, '61500')
    await buyer.placed(600, '61500')
    shows(await trader.position(), { size: 900, entry_price: '60400', margin: '546.318', pnl_pnl: '66' })
    const has = await trader.account()
    assert.equal(difference(has.total, had.total), '65.262000')
    assert.equal(difference(has.available, had.available), '429.474000')
    const [trade] = ok(await trader.get('/my_trades', { contract: 'BTC_USDT' }))
    shows(trade, { fee: '0.738', role: 'maker', close_size: -600 })
  })

  test('E5: rounding of what is released; E6, E7: liquidation prices, tiers', async () => {
    await mark('60000')
    const long = await ContractTrader.of(platform, '1000')
    await take(long, 3, '60000.1')
    await take(long, 4, '60000.3')
    shows(await long.position(), { entry_price: '60000.214285714285' })
    await take(long, -2, '60010')
    shows(await long.position(), { pnl_pnl: '0.00195714' })
    await take(long, -5, '60010')
    shows(ok(await long.get('/position_close'))[0], {
      pnl_pnl: '0.00685',
      max_size: '7',
      accum_size: '7',
      long_price: '60000.214285714285',
      short_price: '60010',
    })
    const short = await ContractTrader.of(platform, '1000')
    await take(short, -3, '60000.1')
    await take(short, -4, '60000.3')
    await take(short, 2, '60010')
    shows(await short.position(), { pnl_pnl: '-0.00195715' })
    await mark('60000')
    const other = await isolated('1000', 10)
    await take(other, -1000, '60000')
    shows(await other.position(), { liq_price: '65734.19' })
    const large = await isolated('100000', 50)
    await take(large, 200_000, '60000')
    shows(await large.position(), { maintenance_margin: '5500', average_maintenance_rate: '0.004083333333' })
    await take(large, 100_000, '60000')
    shows(await large.position(), { margin: '36900', liq_price: '59053.13' })
    await take(large, -300_000, '60000')
  })

  test('E8, E9: a cross account, and orders beside its positions', async () => {
    await mark('60000')
    await mark('3000', 'ETH')
    const trader = await ContractTrader.of(platform, '5010.5')
    await take(trader, 1000, '60000')
    await take(trader, -500, '3000', 'ETH_USDT')
    await mark('59500')
    await mark('3020', 'ETH')
    shows(await trader.account(), {
      total: '5000',
      cross_margin_balance: '4850',
      cross_initial_margin: '2115.525',
      cross_maintenance_margin: '109.825',
      cross_mmr: '44.1611',
      cross_imr: '2.2925',
    })
    await trader.placed(400, '59000')
    await trader.placed(-1600, '59900')
    shows(await trader.account(), { order_margin: '362.994', cross_available: '2371.481' })
    shows(await trader.position(), { liq_price: '11883.98', pending_orders: 2 })
    ok(await trader.delete('/orders'))
  })

  test('E10, E11: an inverse contract', async () => {
    const base = '/futures/btc'
    const more = { contract: 'BTC_USD' }
    const [one, two] = [
      await ContractTrader.of(platform, '100', { base }),
      await ContractTrader.of(platform, '100', { base }),
    ]
    const at = async (price: string): Promise<void> => {
      await setIndex(platform, { BTC: price })
      await one.placed(-1, price, more)
      await two.placed(1, price, more)
    }
    const open = async (size: number, leverage: number): Promise<ContractTrader> => {
      const trader = await ContractTrader.of(platform, '1', { base })
      ok(await trader.ask('/positions/BTC_USD/leverage', { leverage }))
      await (size > 0 ? one : two).placed(-size, '60000', more)
      await trader.placed(size, '60000', more)
      return trader
    }
    await at('60000')
    const long = await open(6000, 10)
    shows(await long.position('BTC_USD'), { margin: '0.01005', pnl_fee: '-0.00005', liq_price: '54820.54' })
    shows(await (await open(-6000, 10)).position('BTC_USD'), { liq_price: '66336.85' })
    shows(await (await open(-6000, 1)).position('BTC_USD'), { liq_price: '99999999' })
    await at('63000')
    shows(await long.position('BTC_USD'), { value: '0.095238095238', unrealised_pnl: '0.004761904761' })
    await two.placed(6000, '63000', more)
    await long.placed(-6000, '63000', more)
    shows(ok(await long.get('/position_close'))[0], { pnl_pnl: '0.00476191', pnl_fee: '-0.00009762' })
  })

  test('E13: a premium of one side; E24: both sides of a contract; E25: fees', async () => {
    await mark('60000')
    ok(await seller.delete('/orders'))
    ok(await buyer.delete('/orders'))
    for (const [size, price] of [
      [4000, '60070'],
      [5000, '60060'],
      [9000, '60050'],
    ] as const)
      await buyer.placed(size, price)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 - (platform.now() % 60) })
    const asked = { contract: 'BTC_USDT', interval: '1m', limit: 1 }
    const premium = ok(await platform.client().get('/futures/usdt/premium_index', asked))
    assert.equal(premium.at(-1).c, '0.00105')
    ok(await buyer.delete('/orders'))
    await mark('60000')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    const trader = await ContractTrader.of(platform, '10000')
    ok(await trader.ask('/dual_mode', { dual_mode: true }))
    await take(trader, 1000, '60000')
    await take(trader, -400, '60000')
    const [{ mark_price }] = await trader.position()
    assert.equal(mark_price, '60000')
    shows(await trader.account(), { cross_initial_margin: '604.2', cross_maintenance_margin: '28.2' })
    const best = await ContractTrader.of(platform, '0', { vip: 16 })
    assert.deepEqual(ok(await best.get('/fee', { contract: 'BTC_USDT' })), {
      BTC_USDT: { taker_fee: '0.00018', maker_fee: '-0.00005' },
    })
  })

  test('E21: a loss beyond the cash is owed while other profit covers it, and repaid first', async () => {
    await mark('60000')
    await mark('3000', 'ETH')
    const trader = await ContractTrader.of(platform, '3010.5')
    await take(trader, 1000, '60000')
    await take(trader, 500, '3000', 'ETH_USDT')
    await mark('3500', 'ETH')
    const out = { currency: 'USDT', from: 'futures', to: 'spot', settle: 'usdt', amount: '2897.15' }
    ok(await trader.client.post('/wallet/transfers', out))
    shows(await trader.account(), { total: '102.85', available: '102.85' })
    await mark('57000')
    // A loss of 300 and a fee of 2.85: 100 are there.
    await take(trader, -1000, '57000')
    shows(await trader.account(), { total: '-200', cross_margin_balance: '2300', available: '0' })
    const balances = (await platform.operator.ok('GET', `/users/${trader.user_id}/balances`)) as Row[]
    const owed = balances.find(({ account }) => account === 'debt.futures')!
    shows(owed, { currency: 'USDT', available: '-200', settle: 'usdt' })
    // 50 contracts of 0.01 win 500 each: 250, less the fee of 0.875.
    await take(trader, -50, '3500', 'ETH_USDT')
    shows(await trader.account(), { total: '49.125' })
  })

  test('E27: a dated contract is settled', async () => {
    const contracts = ok(await platform.client().get('/delivery/usdt/contracts'))
    const weekly = contracts.find((one: Row) => one['cycle'] === 'WEEKLY' && one['underlying'] === 'BTC_USDT')
    const base = '/delivery/usdt'
    const [long, short] = [
      await ContractTrader.of(platform, '10000', { base }),
      await ContractTrader.of(platform, '10000', { base }),
    ]
    await setIndex(platform, { BTC: '60000' })
    await short.placed(-1000, '60000', { contract: weekly.name })
    await long.placed(1000, '60000', { contract: weekly.name })
    await setIndex(platform, { BTC: '60512.34' })
    await platform.operator.ok('POST', '/clock', { now: weekly.expire_time + 1 })
    shows(ok(await long.get('/settlements'))[0], {
      size: 1000,
      settle_price: '60512.34',
      profit: '51.234',
      fee: '0.9076851',
    })
    shows(await long.account(), { total: '10047.3263149' })
  })
})
