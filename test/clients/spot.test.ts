import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { AccountApi, ApiClient, SpotApi, WalletApi } from 'gate-api'
import type { Credential } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

interface Words {
  readonly id?: string
  readonly status?: string
  readonly type?: string
  readonly info?: { readonly type: string }
  readonly takerOrMaker?: string
}

/** Unmodified clients go through the life of a spot trader; only their address is changed. */
describe('real clients trade spot', () => {
  let platform: TestPlatform
  let maker: Trader
  before(async () => {
    platform = await TestPlatform.start()
    maker = await Trader.of(platform, { BTC: '100', USDT: '5000000' })
    await maker.placed('sell', '1', '50000')
    await maker.placed('buy', '1', '49000')
  })
  after(() => platform.stop())

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  function connected({ key, secret }: Credential): any {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    const exchange: any = new ccxt.gate({ apiKey: key, secret, enableRateLimit: false })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(exchange.urls.api[group]))
        exchange.urls.api[group][name] = `${platform.url}/api/v4`
    return exchange
  }

  test('ccxt', async () => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'BTC', '10')
    await platform.credit(user_id, 'USDT', '1000000')
    const exchange = connected(credential)
    const markets = await exchange.loadMarkets()
    assert.equal(markets['BTC/USDT'].active, true)
    assert.equal(markets['BTC/USDT'].precision.price, 0.1)
    const book = await exchange.fetchOrderBook('BTC/USDT')
    assert.deepEqual(book.asks[0], [50000, 1])
    assert.equal((await exchange.fetchTicker('BTC/USDT')).ask, 50000)
    assert.ok((await exchange.fetchTickers())['ETH/USDT'] !== undefined)

    const limit = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.5, 48000, {
      clientOrderId: 't-ccxt-1',
    })
    assert.equal(limit.status, 'open')
    assert.equal((await exchange.fetchOrder('t-ccxt-1', 'BTC/USDT')).id, limit.id)
    const edited = await exchange.editOrder(limit.id, 'BTC/USDT', 'limit', 'buy', 0.4, 48100)
    assert.equal(`${edited.amount} ${edited.price}`, '0.4 48100')
    assert.equal((await exchange.fetchOpenOrders('BTC/USDT'))[0].id, limit.id)
    assert.equal((await exchange.cancelOrder(limit.id, 'BTC/USDT')).status, 'canceled')
    const postOnly = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.1, 47000, { postOnly: true })
    assert.equal(postOnly.timeInForce, 'PO')
    await assert.rejects(
      exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.1, 50000, { postOnly: true }),
      ccxt.OrderImmediatelyFillable,
    )
    await assert.rejects(exchange.createOrder('BTC/USDT', 'limit', 'buy', 90, 50000), ccxt.InsufficientFunds)
    await assert.rejects(exchange.fetchOrder('t-nobody', 'BTC/USDT'), ccxt.OrderNotFound)
    const market = await exchange.createOrder('BTC/USDT', 'market', 'buy', 0.1, 50000)
    assert.equal(market.status, 'closed')
    assert.equal(market.filled, 0.1)
    assert.equal(market.average, 50000)
    const sold = await exchange.createOrder('BTC/USDT', 'market', 'sell', 0.1)
    assert.equal(sold.cost, 4900)
    const ioc = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 2, 50000, { timeInForce: 'IOC' })
    assert.equal(ioc.status, 'canceled')
    assert.equal(ioc.filled, 0.9)
    const trigger = await exchange.createOrder('BTC/USDT', 'limit', 'sell', 0.1, 44000, {
      triggerPrice: 45000,
    })
    assert.ok(Number(trigger.id) > 0)
    const many = await exchange.createOrders([
      { symbol: 'BTC/USDT', type: 'limit', side: 'buy', amount: 0.1, price: 40000 },
      { symbol: 'BTC/USDT', type: 'limit', side: 'buy', amount: 0.1, price: 40001 },
    ])
    assert.deepEqual(
      many.map((order: { status: string }) => order.status),
      ['open', 'open'],
    )
    await exchange.cancelOrders([many[0].id], 'BTC/USDT')
    assert.equal((await exchange.cancelAllOrders('BTC/USDT')).length, 2)
    assert.ok((await exchange.fetchClosedOrders('BTC/USDT')).length >= 2)
    const trades = await exchange.fetchMyTrades('BTC/USDT')
    assert.equal(trades.length, 3)
    assert.equal(trades[0].fee.currency, 'BTC')
    assert.ok((await exchange.fetchOrderTrades(market.id, 'BTC/USDT')).length > 0)
    assert.ok((await exchange.fetchTrades('BTC/USDT')).length >= 3)
    assert.ok((await exchange.fetchOHLCV('BTC/USDT', '1m')).length > 0)
    assert.ok((await exchange.fetchOHLCV('BTC/USDT', '1h', Date.now() - 7_200_000, 4)).length > 0)
    assert.ok((await exchange.fetchLedger('USDT')).length > 0)
    assert.equal((await exchange.fetchTradingFee('BTC/USDT')).taker, 0.002)
    const balance = await exchange.fetchBalance()
    assert.ok(balance.free.USDT > 0 && balance.used.USDT === 0)
  })

  test('ccxt: every type of order, triggers, and what it asks around them', async () => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'BTC', '10')
    await platform.credit(user_id, 'USDT', '1000000')
    const exchange = connected(credential)
    await exchange.loadMarkets()
    assert.ok(Math.abs((await exchange.fetchTime()) - Date.now()) < 60_000)
    const currencies = await exchange.fetchCurrencies()
    assert.equal(currencies.BTC.active, true)
    assert.equal((await exchange.fetchTradingFees())['ETH/USDT'].maker, 0.002)
    await maker.placed('sell', '1', '50000')
    await maker.placed('buy', '1', '49000')

    const fok = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 0.2, 50000, { timeInForce: 'FOK' })
    assert.equal(`${fok.status} ${fok.filled} ${fok.timeInForce}`, 'closed 0.2 FOK')
    await assert.rejects(
      exchange.createOrder('BTC/USDT', 'limit', 'buy', 5, 50000, { timeInForce: 'FOK' }),
      /FOK_NOT_FILL/,
    )
    const cost = await exchange.createMarketBuyOrderWithCost('BTC/USDT', 5000)
    assert.equal(`${cost.status} ${cost.cost} ${cost.filled}`, 'closed 5000 0.1')
    const { cost: total, fees } = await exchange.fetchOrder(cost.id, 'BTC/USDT')
    assert.equal(total, 5000)
    assert.deepEqual(
      fees.filter((fee: { cost: number }) => fee.cost > 0),
      [{ cost: 0.0002, currency: 'BTC' }],
    )
    const iceberg = await exchange.createOrder('BTC/USDT', 'limit', 'buy', 1, 48000, { iceberg: '0.1' })
    assert.equal((await exchange.fetchOrder(iceberg.id, 'BTC/USDT')).info.iceberg, '0.1')
    await exchange.cancelOrder(iceberg.id, 'BTC/USDT')
    await assert.rejects(exchange.cancelOrder(iceberg.id, 'BTC/USDT'), ccxt.BaseError)
    await assert.rejects(exchange.editOrder(iceberg.id, 'BTC/USDT', 'limit', 'buy', 2, 1), ccxt.BaseError)

    // The last price is 50000 now: a stop below, a target above.
    const stop = await exchange.createOrder('BTC/USDT', 'market', 'sell', 0.1, undefined, {
      stopLossPrice: 45000,
    })
    const target = await exchange.createOrder('BTC/USDT', 'limit', 'sell', 0.1, 55000, {
      takeProfitPrice: 55000,
      clientOrderId: 'mine',
    })
    const triggers = { trigger: true }
    const waiting = await exchange.fetchOpenOrders('BTC/USDT', undefined, undefined, triggers)
    assert.deepEqual(waiting.map(({ id }: { id: string }) => id).sort(), [stop.id, target.id].sort())
    const asked = await exchange.fetchOrder(stop.id, 'BTC/USDT', triggers)
    assert.equal(`${asked.status} ${asked.triggerPrice}`, 'open 45000')
    assert.equal(asked.clientOrderId, undefined)
    assert.equal((await exchange.fetchOrder(target.id, 'BTC/USDT', triggers)).clientOrderId, 't-mine')
    const wrong = { stopLossPrice: 45000, clientOrderId: 'not mine' }
    await assert.rejects(
      exchange.createOrder('BTC/USDT', 'limit', 'sell', 0.1, 45000, wrong),
      /BadRequest|INVALID_PARAM_VALUE.*text/,
    )
    await exchange.cancelOrder(stop.id, 'BTC/USDT', triggers)
    await exchange.cancelAllOrders('BTC/USDT', triggers)
    const ended = await exchange.fetchClosedOrders('BTC/USDT', undefined, undefined, triggers)
    assert.equal(ended.length, 2)

    const open = await exchange.createOrder('BTC/USDT', 'limit', 'sell', 0.3, 60000)
    assert.equal((await exchange.fetchOpenOrders()).length, 1)
    assert.equal((await exchange.fetchBalance()).used.BTC, 0.3)
    await exchange.cancelAllOrders()
    const closed = await exchange.fetchClosedOrders('BTC/USDT')
    assert.ok(closed.some(({ id, status }: Words) => id === open.id && status === 'canceled'))
    assert.equal((await exchange.fetchOrder(fok.id, 'BTC/USDT')).status, 'closed')
    const ledger = await exchange.fetchLedger('BTC', Date.now() - 3_600_000)
    assert.ok(ledger.some(({ type, info }: Words) => type === 'trade' && info?.type === 'order_fill'))
    const mine = await exchange.fetchMyTrades('BTC/USDT', Date.now() - 3_600_000, 10)
    assert.ok(mine.every(({ takerOrMaker }: Words) => takerOrMaker === 'taker'))
    const candles = await exchange.fetchOHLCV('BTC/USDT', '1w', undefined, 2)
    assert.equal(candles.at(-1)[4], 50000)
  })

  test('gate-api', async () => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'BTC', '10')
    await platform.credit(user_id, 'USDT', '1000000')
    const client = new ApiClient(`${platform.url}/api/v4`)
    client.setApiKeySecret(credential.key, credential.secret)
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- orders are plain objects for it
    const spot: any = new SpotApi(client)
    const pairs = (await spot.listCurrencyPairs()).body
    assert.equal(pairs[0].id, 'BTC_USDT')
    assert.equal((await spot.getCurrencyPair('BTC_USDT')).body.tradeStatus, 'tradable')
    const order = {
      currencyPair: 'BTC_USDT',
      side: 'buy',
      amount: '0.1',
      price: '45000',
      text: 't-sdk',
      type: 'limit',
    }
    const placed = (await spot.createOrder(order, {})).body
    assert.equal(placed.status, 'open')
    assert.equal((await spot.getOrder(placed.id, 'BTC_USDT', {})).body.text, 't-sdk')
    const amended = (await spot.amendOrder(placed.id, { price: '45001' }, { currencyPair: 'BTC_USDT' })).body
    assert.equal(amended.price, '45001')
    assert.equal((await spot.listOrders('BTC_USDT', 'open', {})).body.length, 1)
    assert.equal((await spot.listAllOpenOrders({})).body[0].orders[0].id, placed.id)
    const batch = (
      await spot.createBatchOrders(
        [
          { ...order, text: 't-b1' },
          { ...order, text: 't-b1' },
        ],
        {},
      )
    ).body
    assert.deepEqual(
      batch.map((item: { succeeded: boolean }) => item.succeeded),
      [true, false],
    )
    const cancelled = (await spot.cancelBatchOrders([{ currencyPair: 'BTC_USDT', id: batch[0].id }], {})).body
    assert.equal(cancelled[0].succeeded, true)
    assert.equal((await spot.cancelOrder(placed.id, 'BTC_USDT', {})).body.finishAs, 'cancelled')
    await maker.placed('sell', '1', '50000')
    const taken = (await spot.createOrder({ ...order, price: '50000', text: 't-take' }, {})).body
    assert.equal(taken.finishAs, 'filled')
    assert.equal((await spot.listMyTrades({ currencyPair: 'BTC_USDT' })).body[0].orderId, taken.id)
    assert.ok((await spot.listSpotAccounts({})).body.length >= 2)
    assert.ok((await spot.listSpotAccountBook({})).body.length >= 5)
    assert.ok((await spot.listOrderBook('BTC_USDT', {})).body.asks.length > 0)
    assert.ok((await spot.listTrades('BTC_USDT', {})).body.length > 0)
    assert.ok((await spot.listCandlesticks('BTC_USDT', {})).body.length > 0)
    assert.ok((await spot.listTickers({})).body.length >= 8)
    const price = { trigger: { price: '60000', rule: '>=', expiration: 600 }, market: 'BTC_USDT' }
    const put = { side: 'sell', price: '60000', amount: '0.1', account: 'normal', timeInForce: 'gtc' }
    const { id } = (await spot.createSpotPriceTriggeredOrder({ ...price, put })).body
    assert.equal((await spot.getSpotPriceTriggeredOrder(id)).body.status, 'open')
    assert.equal((await spot.cancelSpotPriceTriggeredOrder(id)).body.status, 'cancelled')
    assert.ok((await spot.countdownCancelAllSpot({ timeout: 30 })).body.triggerTime > 0)
    assert.equal((await new WalletApi(client).getTradeFee({})).body.takerFee, '0.002')
    assert.ok((await spot.getSystemTime()).body.serverTime > 0)

    assert.ok((await spot.listCurrencies()).body.length >= 10)
    assert.equal((await spot.getCurrency('USDT')).body.chains.length, 3)
    assert.equal((await spot.getFee({ currencyPair: 'BTC_USDT' })).body.makerFee, '0.002')
    const fees = (await spot.getBatchSpotFee('BTC_USDT,ETH_USDT')).body
    assert.deepEqual(Object.keys(fees), ['BTC_USDT', 'ETH_USDT'])
    const left = (await spot.createOrder({ ...order, text: 't-left' }, {})).body
    const change = { orderId: left.id, currencyPair: 'BTC_USDT', price: '45002', amendText: 'why' }
    const [changed] = (await spot.amendBatchOrders([change], {})).body
    assert.equal(`${changed.succeeded} ${changed.price} ${changed.amendText}`, 'true 45002 why')
    const [gone] = (await spot.cancelOrders({ currencyPair: 'BTC_USDT' })).body
    assert.equal(`${gone.id} ${gone.succeeded} ${gone.finishAs}`, `${left.id} true cancelled`)
    const finished = (await spot.listOrders('BTC_USDT', 'finished', { limit: 2 })).body
    assert.equal(finished[0].id, left.id)
    await spot.createSpotPriceTriggeredOrder({ ...price, put })
    assert.equal((await spot.listSpotPriceTriggeredOrders('open', {})).body.length, 1)
    const stopped = (await spot.cancelSpotPriceTriggeredOrderList({ market: 'BTC_USDT' })).body
    assert.equal(stopped[0].status, 'cancelled')
    const now = Math.floor(platform.now())
    const insurance = (await spot.getSpotInsuranceHistory('unified', 'USDT', now - 3600, now, {})).body
    assert.equal(insurance[0].currency, 'USDT')
    const account: any = new AccountApi(client) // eslint-disable-line @typescript-eslint/no-explicit-any
    const group = (await account.createSTPGroup({ name: 'sdk' })).body
    await account.addSTPGroupUsers(group.id, [user_id])
    const resting = (await spot.createOrder({ ...order, side: 'sell', price: '49900', text: 't-own' }, {}))
      .body
    assert.equal(resting.stpId, group.id)
    const met = (await spot.createOrder({ ...order, price: '49900', text: 't-met', stpAct: 'cb' }, {})).body
    assert.equal(`${met.status} ${met.finishAs} ${met.stpAct}`, 'cancelled stp cb')
    assert.equal((await spot.getOrder('t-own', 'BTC_USDT', {})).body.finishAs, 'stp')
  })
})
