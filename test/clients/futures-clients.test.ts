import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ApiClient, DeliveryApi, FuturesApi } from 'gate-api'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

interface Told {
  readonly response: { readonly status: number }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the models differ from call to call
  readonly body: any
}

/** The vendor's own SDK, unmodified but for its address: sizes are texts for it, ids are bigints. */
describe('the SDK trades contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- orders are plain objects for it
  let futures: any
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  let delivery: any
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '100000')
    trader = await ContractTrader.of(platform, '100000')
    await new ContractTrader(trader.user_id, trader.client, '/delivery/usdt').fund(platform, '1000')
    const client = new ApiClient(`${platform.url}/api/v4`)
    const { key, secret } = trader.client.credential!
    client.setApiKeySecret(key, secret)
    futures = new FuturesApi(client)
    delivery = new DeliveryApi(client)
  })
  after(() => platform.stop())
  const order = { contract: 'BTC_USDT', size: '5', price: '59000', tif: 'gtc', text: 't-sdk' }

  test('accounts and positions', async () => {
    const { body: account } = await futures.listFuturesAccounts('usdt')
    assert.equal(account.total, '100000')
    assert.equal(account.history.dnw, '100000')
    const { body: positions } = await futures.listPositions('usdt', { holding: false })
    assert.equal(positions[0].mode, 'single')
    assert.strictEqual(positions[0].size, '0')
    assert.equal((await futures.updatePositionLeverage('usdt', 'ETH_USDT', '20')).body.leverage, '20')
    const set = await futures.updateContractPositionLeverage('usdt', 'ETH_USDT', '15', 'cross')
    assert.equal(set.body.crossLeverageLimit, '15')
    assert.equal((await futures.getLeverage('usdt', 'ETH_USDT', 'cross', 'dual_long')).body.lever, '15')
    const isolated = { mode: 'ISOLATED', contract: 'ETH_USDT' }
    assert.equal((await futures.updatePositionCrossMode('usdt', isolated)).body.posMarginMode, 'isolated')
    assert.equal(
      (await futures.updatePositionRiskLimit('usdt', 'ETH_USDT', '500000')).body.riskLimit,
      '500000',
    )
    assert.equal((await futures.setDualMode('usdt', true)).body.inDualMode, true)
    assert.equal((await futures.getDualModePosition('usdt', 'BTC_USDT')).body.length, 2)
    assert.equal(
      (await futures.updateDualModePositionLeverage('usdt', 'BTC_USDT', '9')).body[1].leverage,
      '9',
    )
    assert.equal(
      (await futures.updateDualModePositionRiskLimit('usdt', 'BTC_USDT', '1000000')).body[0].riskLimit,
      '1000000',
    )
    const cross = { mode: 'CROSS', contract: 'BTC_USDT' }
    assert.equal((await futures.updateDualCompPositionCrossMode('usdt', cross)).body[0].leverage, '0')
    assert.equal((await futures.setPositionMode('usdt', 'single')).body.positionMode, 'single')
    assert.equal((await futures.getFuturesFee('usdt', {})).body.BTC_USDT.taker_fee, '0.0005')
  })

  test('orders: placed, found, amended, cancelled', async () => {
    const placed: Told = await futures.createFuturesOrder('usdt', order)
    assert.equal(placed.response.status, 201)
    const { id } = placed.body
    assert.equal(typeof id, 'bigint')
    assert.equal(`${placed.body.size} ${placed.body.left} ${placed.body.createTime > 1e9}`, '5 5 true')
    assert.strictEqual(placed.body.size, '5')
    assert.equal((await futures.getFuturesOrder('usdt', String(id))).body.text, 't-sdk')
    assert.equal((await futures.listFuturesOrders('usdt', 'open', { contract: 'BTC_USDT' })).body[0].id, id)
    const amended = await futures.amendFuturesOrder('usdt', String(id), { size: '7', price: '59100' })
    assert.equal(`${amended.body.size} ${amended.body.price}`, '7 59100')
    const range = (await futures.getOrdersWithTimeRange('usdt', { contract: 'BTC_USDT' })).body
    assert.equal(`${range[0].id} ${typeof range[0].updateTime}`, `${id} string`)
    assert.equal((await futures.cancelFuturesOrder('usdt', String(id))).body.finishAs, 'cancelled')

    const batch = (await futures.createBatchFuturesOrder('usdt', [order, { ...order, text: 't-sdk' }])).body
    assert.deepEqual(
      batch.map((one: { succeeded: boolean; label?: string }) => one.label ?? one.succeeded),
      [true, 'DUPLICATE_REQUEST'],
    )
    const change = [{ orderId: Number(batch[0].id), size: '3' }]
    assert.equal((await futures.amendBatchFutureOrders('usdt', change)).body[0].size, '3')
    const countdown = (await futures.countdownCancelAllFutures('usdt', { timeout: 60 })).body
    assert.ok(countdown.triggerTime > Date.now())
    await futures.countdownCancelAllFutures('usdt', { timeout: 0 })
    const [gone] = (await futures.cancelBatchFutureOrders('usdt', [String(batch[0].id)])).body
    assert.equal(`${gone.id} ${gone.succeeded} ${gone.userId}`, `${batch[0].id} true ${trader.user_id}`)
    await futures.createFuturesOrder('usdt', { ...order, text: 't-again' })
    assert.equal((await futures.cancelFuturesOrders('usdt', { contract: 'BTC_USDT' })).body.length, 1)
    await assert.rejects(
      futures.createFuturesOrder('usdt', { ...order, contract: 'NO_USDT' }),
      (error: { response: { data: { label: string } } }) =>
        error.response.data.label === 'CONTRACT_NOT_FOUND',
    )
  })

  test('a trade and what it leaves', async () => {
    await maker.placed(-10, '60000')
    await maker.placed(-10, '60000')
    const taken = (await futures.createFuturesOrder('usdt', { ...order, size: '10', price: '0', tif: 'ioc' }))
      .body
    assert.equal(`${taken.finishAs} ${taken.fillPrice}`, 'filled 60000')
    const bbo = { contract: 'BTC_USDT', size: 10, direction: 'buy', level: 1, tif: 'ioc' }
    assert.equal((await futures.createFuturesBBOOrder('usdt', bbo)).body.finishAs, 'filled')
    assert.strictEqual((await futures.getPosition('usdt', 'BTC_USDT')).body.size, '20')
    const [mine] = (await futures.getMyTrades('usdt', { order: Number(taken.id) })).body
    assert.equal(`${mine.size} ${mine.closeSize} ${mine.role} ${mine.tradeValue}`, '10 0 taker 60')
    const range = (await futures.getMyTradesWithTimeRange('usdt', { contract: 'BTC_USDT' })).body
    assert.equal(range.length, 2)
    await maker.placed(20, '60000')
    await futures.createFuturesOrder('usdt', { ...order, size: '0', price: '0', tif: 'ioc', close: true })
    const [closed] = (await futures.listPositionClose('usdt', {})).body
    assert.equal(`${closed.side} ${closed.pnlPnl} ${closed.accumSize}`, 'long 0 20')
    const book = (await futures.listFuturesAccountBook('usdt', { type: 'fee' })).body
    assert.equal(book.length, 3)
    assert.ok((await futures.listPositionsTimerange('usdt', 'BTC_USDT', {})).body.length >= 3)
    assert.deepEqual((await futures.listLiquidates('usdt', {})).body, [])
    assert.deepEqual((await futures.listAutoDeleverages('usdt', {})).body, [])
    await futures.updatePositionLeverage('usdt', 'BTC_USDT', '10')
    await maker.placed(-10, '60000')
    await futures.createFuturesOrder('usdt', { ...order, size: '10', price: '0', tif: 'ioc' })
    const { margin } = (await futures.updatePositionMargin('usdt', 'BTC_USDT', '2.5')).body
    assert.equal(margin, '8.53')
  })

  test('dated contracts, with sizes as numbers', async () => {
    const { body: account } = await delivery.listDeliveryAccounts('usdt')
    assert.equal(account.total, '1000')
    const { body: positions } = await delivery.listDeliveryPositions('usdt')
    const { contract } = positions[0]
    assert.match(contract, /^BTC_USDT_\d{8}$/)
    assert.strictEqual(positions[0].size, 0)
    const dated = { ...order, contract, size: 4 }
    const placed: Told = await delivery.createDeliveryOrder('usdt', dated)
    assert.equal(placed.response.status, 201)
    assert.strictEqual(placed.body.size, 4)
    const { id } = placed.body
    assert.equal((await delivery.getDeliveryOrder('usdt', String(id))).body.status, 'open')
    assert.equal((await delivery.listDeliveryOrders('usdt', 'open', {})).body.length, 1)
    assert.equal((await delivery.cancelDeliveryOrder('usdt', String(id))).body.finishAs, 'cancelled')
    await delivery.createDeliveryOrder('usdt', dated)
    assert.equal((await delivery.cancelDeliveryOrders('usdt', contract, {})).body.length, 1)
    assert.equal((await delivery.updateDeliveryPositionLeverage('usdt', contract, '5')).body.leverage, '5')
    assert.equal((await delivery.getDeliveryPosition('usdt', contract)).body.leverage, '5')
    assert.equal((await delivery.listDeliveryAccountBook('usdt', {})).body[0].type, 'dnw')
    for (const list of [
      'getMyDeliveryTrades',
      'listDeliveryPositionClose',
      'listDeliveryLiquidates',
      'listDeliverySettlements',
    ])
      assert.deepEqual((await delivery[list]('usdt', {})).body, [], list)
    const maker = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    await maker.placed(-10, '60000', { contract })
    await delivery.createDeliveryOrder('usdt', { ...dated, size: 10, price: '0', tif: 'ioc' })
    const [trade] = (await delivery.getMyDeliveryTrades('usdt', { contract })).body
    assert.equal(`${trade.size} ${trade.price} ${trade.fee}`, '10 60000 0.03')
    assert.equal((await delivery.updateDeliveryPositionMargin('usdt', contract, '1')).body.margin, '13.03')
    assert.equal(
      (await delivery.updateDeliveryPositionRiskLimit('usdt', contract, '1000000')).body.riskLimit,
      '1000000',
    )
  })
})
