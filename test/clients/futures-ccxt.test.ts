import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { ok, type Credential } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const S = 'BTC/USDT:USDT'

/** ccxt, unmodified but for its address. */
describe('ccxt trades contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let trader: ContractTrader
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  let exchange: any
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '1000000')
    trader = await ContractTrader.of(platform, '0')
    await platform.credit(trader.user_id, 'USDT', '100000')
    exchange = connected(trader.client.credential!)
    await exchange.loadMarkets()
  })
  after(() => platform.stop())

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  function connected({ key, secret }: Credential): any {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    const made: any = new ccxt.gate({
      apiKey: key,
      secret,
      enableRateLimit: false,
      options: { defaultType: 'swap' },
    })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(made.urls.api[group]))
        made.urls.api[group][name] = `${platform.url}/api/v4`
    return made
  }

  test('money goes there and back', async () => {
    await exchange.transfer('USDT', 50000, 'spot', 'swap')
    const balance = await exchange.fetchBalance({ type: 'swap' })
    assert.equal(`${balance.USDT.free} ${balance.USDT.total} ${balance.USDT.used}`, '50000 50000 0')
    await exchange.transfer('USDT', 10000, 'swap', 'spot')
    assert.equal((await exchange.fetchBalance({ type: 'swap' })).USDT.total, 40000)
    const ledger = await exchange.fetchLedger('USDT', Date.now() - 86_400_000, 10, { type: 'swap' })
    assert.deepEqual(
      ledger
        .map(({ direction, amount }: { direction: string; amount: number }) => `${direction} ${amount}`)
        .sort(),
      ['in 50000', 'out 10000'],
    )
    assert.ok(Math.abs(ledger[0].timestamp - Date.now()) < 600_000)
    assert.equal((await exchange.fetchTradingFee(S)).taker, 0.0005)
  })

  test('orders of every kind', async () => {
    const limit = await exchange.createOrder(S, 'limit', 'buy', 5, 59000, { clientOrderId: 't-ccxt-1' })
    assert.equal(`${limit.status} ${limit.amount} ${limit.price} ${limit.type}`, 'open 5 59000 limit')
    assert.equal((await exchange.fetchOrder(limit.id, S)).id, limit.id)
    assert.equal((await exchange.fetchOrder('t-ccxt-1', S)).id, limit.id)
    const edited = await exchange.editOrder(limit.id, S, 'limit', 'buy', 4, 59100)
    assert.equal(`${edited.amount} ${edited.price}`, '4 59100')
    assert.equal((await exchange.fetchOpenOrders(S))[0].id, limit.id)
    assert.equal((await exchange.fetchOpenOrders())[0].id, limit.id)
    assert.equal((await exchange.cancelOrder(limit.id, S)).status, 'canceled')
    const maker1 = await exchange.createOrder(S, 'limit', 'buy', 1, 59000, { postOnly: true })
    assert.equal(maker1.timeInForce, 'PO')
    await maker.placed(-3, '60000')
    await assert.rejects(
      exchange.createOrder(S, 'limit', 'buy', 1, 60000, { postOnly: true }),
      ccxt.OrderImmediatelyFillable,
    )
    await assert.rejects(exchange.createOrder(S, 'limit', 'buy', 900000, 60000), ccxt.InsufficientFunds)
    await assert.rejects(exchange.fetchOrder('999999', S), ccxt.OrderNotFound)
    const many = await exchange.createOrders([
      { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 58000 },
      { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 10 },
    ])
    assert.deepEqual(
      many.map((order: { status: string }) => order.status),
      ['open', 'rejected'],
    )
    await exchange.cancelOrders([many[0].id, maker1.id], S)
    await exchange.createOrder(S, 'limit', 'sell', 1, 65000)
    assert.equal((await exchange.cancelAllOrders(S)).length, 1)
    const closed = await exchange.fetchClosedOrders(S)
    assert.ok(closed.length >= 4)
    assert.ok((await exchange.fetchClosedOrders(S, Date.now() - 86_400_000, 2)).length === 2)
  })

  test('a position from its first trade to its last', async () => {
    await exchange.setLeverage(10, S)
    const market = await exchange.createOrder(S, 'market', 'buy', 3)
    assert.equal(`${market.status} ${market.filled} ${market.average}`, 'closed 3 60000')
    const position = await exchange.fetchPosition(S)
    assert.equal(`${position.side} ${position.contracts} ${position.leverage}`, 'long 3 10')
    assert.equal(`${position.entryPrice} ${position.marginMode}`, '60000 isolated')
    assert.ok(position.initialMargin > 0 && position.maintenanceMargin > 0 && position.liquidationPrice > 0)
    assert.equal((await exchange.fetchPositions([S])).length, 1)
    await exchange.addMargin(S, 1.5)
    assert.equal((await trader.position()).margin, '3.309')
    await exchange.reduceMargin(S, 1)
    assert.equal((await trader.position()).margin, '2.309')
    const stop = await exchange.createOrder(S, 'limit', 'sell', 2, 61000, { reduceOnly: true })
    assert.equal(stop.reduceOnly, true)
    const trades = await exchange.fetchMyTrades(S)
    assert.equal(`${trades[0].amount} ${trades[0].side} ${trades[0].fee.cost}`, '3 buy 0.009')
    assert.equal((await exchange.fetchOrderTrades(market.id, S))[0].order, market.id)
    assert.equal((await exchange.fetchMyTrades(S, Date.now() - 86_400_000, 1)).length, 1)
    await maker.placed(3, '60000')
    await exchange.closePosition(S)
    assert.equal((await trader.position()).size, 0)
    const [ended] = await exchange.fetchPositionsHistory([S])
    assert.equal(ended.info.side, 'long')
    assert.deepEqual(await exchange.fetchMyLiquidations(S), [])
    await exchange.setLeverage(20, S, { marginMode: 'cross' })
    const { leverage, cross_leverage_limit } = await trader.position()
    assert.equal(`${leverage} ${cross_leverage_limit}`, '0 20')
    await exchange.setPositionMode(true, S)
    assert.equal((await trader.account()).in_dual_mode, true)
    await maker.placed(-2, '60000')
    await exchange.createOrder(S, 'market', 'buy', 2)
    await maker.placed(2, '60000')
    await exchange.closePosition(S, 'long', { auto_size: 'close_long' })
    assert.equal((await trader.position())[0].size, 0)
    await exchange.setPositionMode(false, S)
    await assert.rejects(exchange.setLeverage(100.5, S), ccxt.BadRequest)
  })

  test('dated contracts, where it knows them', async () => {
    const dated = Object.values(
      exchange.markets as Record<string, { symbol: string; future: boolean; base: string }>,
    )
      .filter(({ future, base }) => future && base === 'BTC')
      .map(({ symbol }) => symbol)
      .sort()
    assert.equal(dated.length, 4)
    const symbol = dated[0]!
    await exchange.transfer('USDT', 1000, 'spot', 'delivery')
    const order = await exchange.createOrder(symbol, 'limit', 'buy', 2, 59000)
    assert.equal(`${order.status} ${order.amount}`, 'open 2')
    assert.equal((await exchange.fetchOpenOrders(symbol))[0].id, order.id)
    assert.equal((await exchange.cancelOrder(order.id, symbol)).status, 'canceled')
    await exchange.setLeverage(5, symbol)
    assert.equal((await exchange.fetchPosition(symbol)).leverage, 5)
    assert.deepEqual(await exchange.fetchMyTrades(symbol), [])
  })

  test('trades of one order and of a span, in dated contracts too', async () => {
    const { id } = Object.values(
      exchange.markets as Record<string, { id: string; future: boolean; base: string }>,
    ).find(({ future, base }) => future && base === 'ETH')!
    const { symbol } = exchange.market(id)
    const { user_id, client } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000', { account: 'delivery', settle: 'usdt' })
    await exchange.transfer('USDT', 1000, 'spot', 'delivery')
    const orders: { id: string }[] = []
    for (const size of [-1, -2]) {
      const asked = { contract: id, size, price: '3000', tif: 'gtc' }
      ok(await client.post('/delivery/usdt/orders', asked), 201)
      orders.push(await exchange.createOrder(symbol, 'limit', 'buy', -size, 3000))
    }
    for (const [i, order] of orders.entries()) {
      const trades = await exchange.fetchOrderTrades(order.id, symbol)
      assert.deepEqual(
        trades.map((trade: { order: string; amount: number }) => [trade.order, trade.amount]),
        [[order.id, i + 1]],
      )
    }
    const span = (since: number, until: number) => exchange.fetchMyTrades(symbol, since, 10, { until })
    const now = Date.now()
    assert.equal((await span(now - 60_000, now + 1000)).length, 2)
    assert.deepEqual(await span(now - 120_000, now - 60_000), [])
  })
})
