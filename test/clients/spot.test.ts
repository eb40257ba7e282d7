import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { ApiClient, SpotApi, WalletApi } from 'gate-api'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

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

  test('ccxt', async () => {
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'BTC', '10')
    await platform.credit(user_id, 'USDT', '1000000')
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
    const exchange: any = new ccxt.gate({
      apiKey: credential.key,
      secret: credential.secret,
      enableRateLimit: false,
    })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(exchange.urls.api[group]))
        exchange.urls.api[group][name] = `${platform.url}/api/v4`
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
  })
})
