import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { ApiClient, DeliveryApi, FuturesApi } from 'gate-api'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const S = 'BTC/USDT:USDT'

/** Both clients, unmodified but for their address. */
describe('orders that wait for a price, by the clients', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  let exchange: any
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- orders are plain objects for it
  let futures: any
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  let delivery: any
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '1000000')
    trader = await ContractTrader.of(platform, '100000')
    await new ContractTrader(trader.user_id, trader.client, '/delivery/usdt').fund(platform, '1000')
    const { key: apiKey, secret } = trader.client.credential!
    exchange = new ccxt.gate({ apiKey, secret, enableRateLimit: false, options: { defaultType: 'swap' } })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(exchange.urls.api[group]))
        exchange.urls.api[group][name] = `${platform.url}/api/v4`
    await exchange.loadMarkets()
    const client = new ApiClient(`${platform.url}/api/v4`)
    client.setApiKeySecret(apiKey, secret)
    futures = new FuturesApi(client)
    delivery = new DeliveryApi(client)
    await print('60000')
  })
  after(() => platform.stop())
  async function print(price: string): Promise<void> {
    await maker.placed(-1, price)
    await maker.placed(1, price, { tif: 'ioc' })
  }

  test('ccxt: triggers of every kind, found, cancelled, fired', async () => {
    const trigger = await exchange.createOrder(S, 'limit', 'buy', 2, 60000, { triggerPrice: 61000 })
    const stop = await exchange.createOrder(S, 'market', 'sell', 2, undefined, {
      stopLossPrice: 59000,
      reduceOnly: true,
      clientOrderId: 'not-prefixed',
    })
    const profit = await exchange.createOrder(S, 'limit', 'sell', 2, 62000, {
      takeProfitPrice: 61500,
      reduceOnly: true,
    })
    const seen = await exchange.fetchOrder(stop.id, S, { trigger: true })
    assert.equal(
      `${seen.status} ${seen.type} ${seen.side} ${seen.amount} ${seen.triggerPrice} ${seen.reduceOnly}`,
      'open market sell 2 59000 true',
    )
    assert.equal(seen.clientOrderId, 'not-prefixed')
    const open = await exchange.fetchOpenOrders(S, undefined, undefined, { trigger: true })
    assert.deepEqual(open.map(({ id }: { id: string }) => id).sort(), [trigger.id, stop.id, profit.id].sort())
    assert.equal((await exchange.cancelOrder(profit.id, S, { trigger: true })).status, 'canceled')
    await print('61000')
    const fired = await exchange.fetchOrder(trigger.id, S, { trigger: true })
    assert.equal(`${fired.status} ${fired.info.finish_as}`, 'closed succeeded')
    assert.equal((await exchange.fetchOrder(String(fired.info.trade_id), S)).price, 60000)
    await print('60999')
    assert.equal((await exchange.cancelAllOrders(S, { trigger: true })).length, 1)
    const closed = await exchange.fetchClosedOrders(S, undefined, undefined, { trigger: true })
    assert.deepEqual(closed.map(({ status }: { status: string }) => status).sort(), [
      'canceled',
      'canceled',
      'closed',
    ])
    await assert.rejects(exchange.fetchOrder('999999', S, { trigger: true }), ccxt.OrderNotFound)
    await assert.rejects(
      exchange.createOrder(S, 'limit', 'buy', 2, 60000, { triggerPrice: 50000 }),
      ccxt.ExchangeError,
    )
    await exchange.cancelAllOrders(S)
  })

  test('ccxt: stops of dated contracts', async () => {
    const symbol = Object.values(
      exchange.markets as Record<string, { symbol: string; future: boolean; base: string }>,
    )
      .filter(({ future, base }) => future && base === 'BTC')
      .map((market) => market.symbol)
      .sort()[0]!
    const stop = await exchange.createOrder(symbol, 'limit', 'buy', 2, 60000, { triggerPrice: 61000 })
    const seen = await exchange.fetchOrder(stop.id, symbol, { trigger: true })
    assert.equal(`${seen.status} ${seen.triggerPrice}`, 'open 61000')
    assert.equal((await exchange.cancelOrder(stop.id, symbol, { trigger: true })).status, 'canceled')
  })

  test('the SDK: price orders', async () => {
    const initial = { contract: 'BTC_USDT', size: 3, price: '59000', tif: 'gtc', text: 't-sdk-stop' }
    const trigger = { strategyType: 0, priceType: 1, price: '62000', rule: 1, expiration: 3600 }
    const made = await futures.createPriceTriggeredOrder('usdt', { initial, trigger })
    assert.equal(made.response.status, 201)
    const { id } = made.body
    assert.equal(`${typeof id} ${made.body.idString}`, `bigint ${id}`)
    const seen = (await futures.getPriceTriggeredOrder('usdt', String(id))).body
    assert.equal(`${seen.id === id} ${seen.status} ${seen.initial.size}`, 'true open 3')
    assert.equal(`${seen.meOrderId} ${seen.tradeId} ${seen.trigger.priceType}`, '0 0 1')
    const change = { orderId: id, size: 4, triggerPrice: '63000', priceType: 2 }
    assert.equal((await futures.updatePriceTriggeredOrder('usdt', change)).body.id, id)
    const [listed] = (await futures.listPriceTriggeredOrders('usdt', 'open', { contract: 'BTC_USDT' })).body
    assert.equal(`${listed.initial.size} ${listed.trigger.price} ${listed.trigger.priceType}`, '4 63000 2')
    assert.equal((await futures.cancelPriceTriggeredOrder('usdt', String(id))).body.finishAs, 'cancelled')
    await futures.createPriceTriggeredOrder('usdt', { initial, trigger })
    const all = (await futures.cancelPriceTriggeredOrderList('usdt', { contract: 'BTC_USDT' })).body
    assert.equal(all.length, 1)
    const stops = { tpslTpTriggerPrice: '61000', tpslSlTriggerPrice: '58000' }
    const order = { contract: 'BTC_USDT', size: '5', price: '59000', tif: 'gtc', ...stops }
    const placed = (await futures.createFuturesOrder('usdt', order)).body
    assert.equal(`${placed.tpslTpTriggerPrice} ${placed.tpslSlTriggerPrice}`, '61000 58000')
    const [stop] = (await futures.listPriceTriggeredOrders('usdt', 'open', {})).body
    assert.equal(`${stop.status} ${stop.meOrderId === placed.id}`, 'inactive true')
    await futures.cancelFuturesOrder('usdt', String(placed.id))
  })

  test('the SDK: price orders of dated contracts', async () => {
    const { contract } = (await delivery.listDeliveryPositions('usdt')).body[0]
    const initial = { contract, size: 3, price: '59000', tif: 'gtc' }
    const trigger = { strategyType: 0, priceType: 1, price: '62000', rule: 1, expiration: 3600 }
    const { id } = (await delivery.createPriceTriggeredDeliveryOrder('usdt', { initial, trigger })).body
    const seen = (await delivery.getPriceTriggeredDeliveryOrder('usdt', String(id))).body
    assert.equal(`${seen.status} ${seen.initial.size}`, 'open 3')
    assert.equal((await delivery.listPriceTriggeredDeliveryOrders('usdt', 'open', {})).body.length, 1)
    const gone = await delivery.cancelPriceTriggeredDeliveryOrder('usdt', String(id))
    assert.equal(gone.body.finishAs, 'cancelled')
    await delivery.createPriceTriggeredDeliveryOrder('usdt', { initial, trigger })
    const all = (await delivery.cancelPriceTriggeredDeliveryOrderList('usdt', contract)).body
    assert.equal(all.length, 1)
  })

  test('the SDK: trail orders', async () => {
    const order = {
      contract: 'BTC_USDT',
      amount: '-3',
      activationPrice: '0',
      priceType: 1,
      priceOffset: '1%',
    }
    const made = await futures.createTrailOrder('usdt', { ...order, text: 't-sdk-trail' })
    assert.equal(`${made.response.status} ${made.body.code} ${made.body.message}`, '201 0 success')
    const { id } = made.body.data
    assert.equal(typeof id, 'bigint')
    const seen = (await futures.getTrailOrderDetail('usdt', Number(id))).body.data.order
    assert.equal(`${seen.id === id} ${seen.status} ${seen.statusCode}`, 'true open 2')
    assert.equal(`${seen.suborderId} ${seen.userId} ${seen.amount}`, `0 ${trader.user_id} -3`)
    const change = { id, amount: '-4', priceOffset: '2%', isGteStr: '', priceType: 0 }
    assert.equal((await futures.updateTrailOrder('usdt', change)).body.order.priceOffset, '2%')
    const log = (await futures.getTrailOrderChangeLog('usdt', Number(id), {})).body.changeLog
    assert.deepEqual(
      log.map((one: { amount: string; isCreate: boolean }) => `${one.amount} ${one.isCreate}`),
      ['-4 false', '-3 true'],
    )
    const opts = { contract: 'BTC_USDT', isFinished: false, pageNum: 1, pageSize: 10, sortBy: 1 }
    assert.equal((await futures.getTrailOrders('usdt', opts)).body.orders[0].id, id)
    assert.equal((await futures.stopTrailOrder('usdt', { id })).body.order.statusLabel, 'cancelled')
    await futures.createTrailOrder('usdt', order)
    assert.equal((await futures.stopAllTrailOrders('usdt', { contract: 'BTC_USDT' })).body.orders.length, 1)
    const ended = (await futures.getTrailOrders('usdt', { ...opts, isFinished: true, hideCancel: false }))
      .body
    assert.equal(ended.orders.length, 2)
  })

  test('the SDK: chase orders', async () => {
    await maker.placed(5, '59000')
    const order = { contract: 'BTC_USDT', amount: '3', priceLimit: '0', priceType: 1, text: 't-sdk-chase' }
    const { id } = (await futures.createChaseOrder('usdt', order)).body
    assert.equal(typeof id, 'string')
    const seen = (await futures.getChaseOrderDetail('usdt', id)).body.order
    assert.equal(`${seen.status} ${seen.suborderPrice} ${seen.intervalSec}`, 'open 59000 1')
    assert.equal((await futures.getChaseOrders('usdt', 1, { contract: 'BTC_USDT' })).body.orders[0].id, id)
    assert.equal((await futures.stopChaseOrder('usdt', { id })).body.order.statusCode, '5')
    await futures.createChaseOrder('usdt', order)
    assert.equal((await futures.stopAllChaseOrders('usdt', { contract: 'BTC_USDT' })).body.orders.length, 1)
    const now = Math.floor(Date.now() / 1000)
    const span = { isFinished: true, startAt: now - 3600, endAt: now + 3600 }
    assert.equal((await futures.getChaseOrders('usdt', 2, span)).body.orders.length, 2)
  })
})
