import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'
import ccxt from 'ccxt'
import { ApiClient, FuturesApi, UnifiedApi, UnifiedModeSet, UnifiedSettings } from 'gate-api'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const S = 'BTC/USDT:USDT'
const EIGHT_HOURS = 28_800

/** Both clients, unmodified but for their address, with accounts whose contracts belong to the unified account. */
describe('contracts of unified accounts, by the clients', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '1000000')
  })
  after(() => platform.stop())
  const owner = async (): Promise<ContractTrader> => {
    const trader = await ContractTrader.of(platform, '0')
    await platform.credit(trader.user_id, 'USDT', '10000')
    await platform.credit(trader.user_id, 'BTC', '1')
    return trader
  }
  async function print(price: string): Promise<void> {
    await maker.placed(-1, price)
    await maker.placed(1, price, { tif: 'ioc' })
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  function exchangeOf({ client }: ContractTrader): any {
    const { key: apiKey, secret } = client.credential!
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    const made: any = new ccxt.gate({
      apiKey,
      secret,
      enableRateLimit: false,
      options: { defaultType: 'swap' },
    })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(made.urls.api[group]))
        made.urls.api[group][name] = `${platform.url}/api/v4`
    // It signs by the machine's clock, which the platform's leaves behind below.
    made.nonce = () => Math.floor(platform.now() * 1000)
    return made
  }
  /** Asked with the type of contracts it reads the reply as one currency's: the unified account is its spot. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  const balanceOf = (exchange: any) => exchange.fetchBalance({ type: 'spot' })
  const used = (balance: { info: Record<string, string> }) => Number(balance.info['total_initial_margin'])

  for (const { mode, settings, initial, maintenance } of [
    // 6000: a tenth and the fee of closing; 0.4 % and that fee.
    { mode: 'multi_currency', settings: { usdt_futures: true }, initial: 603, maintenance: 27 },
    // 15 % of the delta of 0.1 BTC, and 1.2 times that.
    { mode: 'portfolio', settings: { spot_hedge: false }, initial: 1080, maintenance: 900 },
  ] as const)
    test(`ccxt in ${mode}`, async () => {
      const trader = await owner()
      const exchange = exchangeOf(trader)
      await exchange.upgradeUnifiedTradeAccount({ mode, settings })
      await exchange.loadMarkets()
      assert.equal(exchange.market(S).swap, true)
      // Nobody told it: it asks for the mode of the key.
      const before = await balanceOf(exchange)
      assert.equal(exchange.options.unifiedAccount, true)
      assert.equal(`${before.USDT.total} ${before.BTC.total} ${used(before)}`, '10000 1 0')
      assert.equal(before.info.unified_account_total, '70000')

      await exchange.setLeverage(10, S, { marginMode: 'cross' })
      const limit = await exchange.createOrder(S, 'limit', 'buy', 1000, 59000, { clientOrderId: 't-uni-1' })
      assert.equal(`${limit.status} ${limit.amount}`, 'open 1000')
      assert.ok(used(await balanceOf(exchange)) > 500)
      assert.equal((await exchange.fetchOrder('t-uni-1', S)).id, limit.id)
      assert.equal((await exchange.editOrder(limit.id, S, 'limit', 'buy', 900, 59100)).amount, 900)
      assert.equal((await exchange.fetchOpenOrders(S)).length, 1)
      assert.equal((await exchange.cancelOrder(limit.id, S)).status, 'canceled')
      assert.equal(used(await balanceOf(exchange)), 0)
      const quiet = await exchange.createOrder(S, 'limit', 'buy', 1, 59000, { postOnly: true })
      assert.equal(quiet.timeInForce, 'PO')
      const [good, bad] = await exchange.createOrders([
        { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 58000 },
        { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 10 },
      ])
      assert.equal(`${good.status} ${bad.status}`, 'open rejected')
      await exchange.cancelOrders([good.id], S)
      assert.equal((await exchange.cancelAllOrders(S)).length, 1)
      await assert.rejects(exchange.createOrder(S, 'limit', 'buy', 150_000, 60000), ccxt.InsufficientFunds)
      await assert.rejects(exchange.transfer('USDT', 100, 'spot', 'swap'), ccxt.ExchangeError)

      await maker.placed(-1000, '60000')
      const taken = await exchange.createOrder(S, 'market', 'buy', 1000)
      assert.equal(`${taken.status} ${taken.filled} ${taken.average}`, 'closed 1000 60000')
      const position = await exchange.fetchPosition(S)
      assert.equal(
        `${position.side} ${position.contracts} ${position.marginMode} ${position.entryPrice}`,
        'long 1000 cross 60000',
      )
      assert.equal((await exchange.fetchPositions([S])).length, 1)
      const held = await balanceOf(exchange)
      assert.equal(used(held), initial)
      assert.equal(Number(held.info.total_maintenance_margin), maintenance)
      // The fee of 3 came from spot.
      assert.equal(held.USDT.total, 9997)
      const swap = await exchange.fetchBalance({ type: 'swap', unifiedAccount: false })
      assert.equal(swap.info[0].margin_mode_name, mode)
      await assert.rejects(exchange.addMargin(S, 10), /POSITION_CROSS_MARGIN/)
      if (mode === 'portfolio') {
        await assert.rejects(exchange.setLeverage(10, S), /USER_PORTFOLIO_MARGIN/)
        await assert.rejects(exchange.setPositionMode(true, S), /USER_PORTFOLIO_MARGIN/)
      } else await assert.rejects(exchange.setPositionMode(true, S), /POSITION_HOLDING/)

      const stop = await exchange.createOrder(S, 'market', 'sell', 400, undefined, {
        stopLossPrice: 59500,
        reduceOnly: true,
      })
      const profit = await exchange.createOrder(S, 'limit', 'sell', 400, 62000, {
        takeProfitPrice: 61500,
        reduceOnly: true,
      })
      const waiting = await exchange.fetchOpenOrders(S, undefined, undefined, { trigger: true })
      assert.deepEqual(waiting.map(({ id }: { id: string }) => id).sort(), [stop.id, profit.id].sort())
      await maker.placed(400, '59450')
      await print('59500')
      const fired = await exchange.fetchOrder(stop.id, S, { trigger: true })
      assert.equal(`${fired.status} ${fired.info.finish_as}`, 'closed succeeded')
      assert.equal((await exchange.fetchPosition(S)).contracts, 600)
      assert.equal((await exchange.cancelOrder(profit.id, S, { trigger: true })).status, 'canceled')
      // 400 at 550 each 0.0001 of a coin, and a fee of 1.189.
      const after = await balanceOf(exchange)
      assert.equal(after.USDT.total.toFixed(6), (9997 - 22 - 1.189).toFixed(6))

      await maker.placed(600, '60100')
      await exchange.closePosition(S)
      assert.equal((await exchange.fetchPosition(S)).contracts, 0)
      assert.equal(used(await balanceOf(exchange)), 0)
      const trades = await exchange.fetchMyTrades(S)
      assert.deepEqual(
        trades.map(({ side, amount }: { side: string; amount: number }) => `${side} ${amount}`).sort(),
        ['buy 1000', 'sell 400', 'sell 600'],
      )
      assert.equal((await exchange.fetchOrderTrades(taken.id, S))[0].order, taken.id)
      assert.equal((await exchange.fetchPositionsHistory([S]))[0].info.side, 'long')
      assert.equal((await exchange.fetchClosedOrders(S, Date.now() - 86_400_000, 2)).length, 2)
      assert.deepEqual(await exchange.fetchMyLiquidations(S), [])
      const ledger = await exchange.fetchLedger('USDT', Date.now() - 86_400_000, 20, { type: 'swap' })
      assert.deepEqual(ledger.map(({ info }: { info: { type: string } }) => info.type).sort(), [
        'fee',
        'fee',
        'fee',
        'pnl',
        'pnl',
      ])
      await print('60000')
    })

  test('ccxt in multi_currency: an isolated position is a unit of its own, both sides, funding', async () => {
    const trader = await owner()
    const exchange = exchangeOf(trader)
    await exchange.upgradeUnifiedTradeAccount({ mode: 'multi_currency', settings: { usdt_futures: true } })
    await exchange.loadMarkets()
    await exchange.setLeverage(10, S)
    await maker.placed(-1000, '60000')
    await exchange.createOrder(S, 'market', 'buy', 1000)
    // Its margin is in no figure of the account but that it is not available.
    const balance = await balanceOf(exchange)
    assert.equal(used(balance), 0)
    assert.equal(Number(balance.info.balances.USDT.available_margin ?? 0) <= 9997 - 603, true)
    await exchange.addMargin(S, 100)
    assert.equal((await trader.position()).margin, '703')
    await exchange.reduceMargin(S, 50)
    assert.equal((await trader.position()).margin, '653')
    await maker.placed(1000, '60000')
    await exchange.closePosition(S)
    await exchange.setPositionMode(true, S)
    await exchange.setLeverage(5, S, { marginMode: 'cross' })
    await maker.placed(-500, '60000')
    await exchange.createOrder(S, 'market', 'buy', 500)
    await maker.placed(200, '60000')
    await exchange.createOrder(S, 'market', 'sell', 200)
    const sides = await exchange.fetchPositions([S])
    assert.deepEqual(
      sides.map(({ side, contracts }: { side: string; contracts: number }) => `${side} ${contracts}`).sort(),
      ['long 500', 'short 200'],
    )
    // E24's rule: the larger side in full, the fee of closing of the smaller.
    assert.equal(used(await balanceOf(exchange)), 600 + 1.5 + 0.6)
    await platform.operator.ok('POST', '/clock', { advance_seconds: EIGHT_HOURS })
    const since = Math.floor((platform.now() - 2 * EIGHT_HOURS) * 1000)
    const [funding] = await exchange.fetchFundingHistory(S, since, 10)
    assert.equal(funding.symbol, S)
    assert.equal(Number((await trader.account()).history.fund) < 0, true)
    const { free } = (await balanceOf(exchange)).USDT
    assert.equal(free > 9000 && free < 9997, true)
  })

  test('gate-api in multi_currency and portfolio', async () => {
    const clock = mock.method(Date.prototype, 'getTime', () => Math.floor(platform.now() * 1000))
    try {
      for (const mode of ['multi_currency', 'portfolio'] as const) await sdk(mode)
    } finally {
      clock.mock.restore()
    }
  })
  async function sdk(mode: 'multi_currency' | 'portfolio'): Promise<void> {
    const trader = await owner()
    const client = new ApiClient(`${platform.url}/api/v4`)
    const { key, secret } = trader.client.credential!
    client.setApiKeySecret(key, secret)
    const api = new UnifiedApi(client)
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- orders are plain objects for it
    const futures: any = new FuturesApi(client)
    const settings = Object.assign(
      new UnifiedSettings(),
      mode === 'portfolio' ? { spotHedge: true } : { usdtFutures: true },
    )
    await api.setUnifiedMode(Object.assign(new UnifiedModeSet(), { mode, settings }))
    assert.equal((await api.getUnifiedMode()).body.mode, mode)
    const figures = async () => (await api.listUnifiedAccounts({})).body
    const account = (await futures.listFuturesAccounts('usdt')).body
    assert.equal(
      `${account.total} ${account.marginMode} ${account.enableCredit}`,
      `0 ${mode === 'portfolio' ? 2 : 1} true`,
    )
    assert.equal(Number(account.crossMarginBalance), Number((await figures()).totalMarginBalance))
    assert.equal((await futures.listPositions('usdt', {})).body[0].posMarginMode, 'cross')
    const order = { contract: 'BTC_USDT', size: '-1000', price: '61000', tif: 'gtc', text: 't-uni' }
    const { id } = (await futures.createFuturesOrder('usdt', order)).body
    assert.equal(Number((await figures()).totalInitialMargin) > 0, mode === 'multi_currency')
    const amended = await futures.amendFuturesOrder('usdt', String(id), { size: '-900' })
    assert.equal(amended.body.size, '-900')
    assert.equal((await futures.listFuturesOrders('usdt', 'open', {})).body.length, 1)
    assert.equal((await futures.cancelFuturesOrder('usdt', String(id))).body.finishAs, 'cancelled')
    await maker.placed(2000, '60000')
    const bbo = { contract: 'BTC_USDT', size: -1000, direction: 'sell', level: 1, tif: 'ioc' }
    assert.equal((await futures.createFuturesBBOOrder('usdt', bbo)).body.finishAs, 'filled')
    const batch = [{ ...order, price: '0', tif: 'ioc' }]
    assert.equal((await futures.createBatchFuturesOrder('usdt', batch)).body[0].finishAs, 'filled')
    const position = (await futures.getPosition('usdt', 'BTC_USDT')).body
    assert.equal(`${position.size} ${position.mode} ${position.leverage}`, '-2000 single 0')
    const held = await figures()
    // A tenth and the fee; or 15 % of nothing: 0.2 BTC short stand against the BTC there is, at 0.5 %.
    const needed = mode === 'portfolio' ? { initial: 0, maintain: 0 } : { initial: 1206, maintain: 54 }
    assert.equal(Number(held.totalInitialMargin), needed.initial)
    assert.equal(Number(held.totalMaintenanceMargin), needed.maintain)
    assert.equal(held.balances!['USDT']!.available, '9994')
    if (mode === 'portfolio') {
      const [unit] = (await api.getUnifiedRiskUnits()).body.riskUnits!
      assert.equal(`${unit!.symbol} ${unit!.spotInUse} ${unit!.delta}`, 'BTC 0.2 0')
      await assert.rejects(futures.setDualMode('usdt', true))
      await assert.rejects(futures.updatePositionLeverage('usdt', 'BTC_USDT', '10'))
    } else {
      const opts = { crossLeverageLimit: '20' }
      const set = await futures.updatePositionLeverage('usdt', 'BTC_USDT', '0', opts)
      assert.equal(set.body.crossLeverageLimit, '20')
      assert.equal(Number((await figures()).totalInitialMargin), 606)
      await assert.rejects(futures.updatePositionMargin('usdt', 'BTC_USDT', '1'))
    }
    // The coin stands behind the position: all the rest may leave.
    assert.equal((await api.getUnifiedTransferable('USDT')).body.amount, '9994')
    await setIndex(platform, { BTC: '59000' })
    await print('59000')
    const lower = await figures()
    const [{ unrealisedPnl }] = (await futures.listPositions('usdt', { holding: true })).body
    assert.ok(Number(unrealisedPnl) > 0)
    assert.equal(
      Number(lower.balances!['USDT']!.equity).toFixed(6),
      (9994 + Number(unrealisedPnl)).toFixed(6),
    )
    const initialOrder = { contract: 'BTC_USDT', size: 2000, price: '0', tif: 'ioc', reduceOnly: true }
    const trigger = { strategyType: 0, priceType: 0, price: '59100', rule: 1 }
    const made = (await futures.createPriceTriggeredOrder('usdt', { initial: initialOrder, trigger })).body
    const trail = {
      contract: 'BTC_USDT',
      amount: '5',
      activationPrice: '50000',
      priceType: 1,
      priceOffset: '1%',
    }
    const trailing = (await futures.createTrailOrder('usdt', trail)).body.data
    assert.equal((await futures.stopTrailOrder('usdt', { id: trailing.id })).body.order.status, 'finished')
    await maker.placed(-2000, '59120')
    await print('59100')
    const fired = (await futures.getPriceTriggeredOrder('usdt', String(made.id))).body
    assert.equal(`${fired.status} ${fired.finishAs}`, 'finished succeeded')
    const [closed] = (await futures.listPositionClose('usdt', {})).body
    // 0.2 BTC from 60000 to 59120.
    assert.equal(`${closed.side} ${closed.pnlPnl}`, 'short 176')
    assert.equal((await futures.listFuturesAccountBook('usdt', { type: 'pnl' })).body[0].change, '176')
    assert.equal((await futures.getMyTradesWithTimeRange('usdt', {})).body.length, 3)
    const ended = await figures()
    assert.equal(Number(ended.totalInitialMargin), 0)
    // Three fees: 3, 3, 5.912.
    assert.equal(ended.balances!['USDT']!.available, '10164.088')
    await setIndex(platform, { BTC: '60000' })
    await print('60000')
  }
})
