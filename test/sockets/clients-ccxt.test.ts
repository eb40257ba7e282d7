import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { closeAll, pro, type Exchange } from '../support/ccxt-pro.ts'
import { until, Venue, type Member } from '../support/venue.ts'

const BTC = 'BTC/USDT'
const ETH = 'ETH/USDT'

/** Without what the two ways of asking tell differently: raw rows, and trades that only fills carry. */
const plain = ({ info: _info, trades: _trades, ...rest }: Exchange): object => rest

/** Unmodified ccxt trades over a socket on a busy market, and hears what becomes of it. */
describe('ccxt pro: private streams and orders', { timeout: 240_000 }, () => {
  let venue: Venue
  let member: Member
  let exchange: Exchange
  before(async () => {
    venue = await Venue.open()
    const funds = { USDT: '50000000', BTC: '500', ETH: '5000' }
    await venue.crowd('BTC_USDT', funds, '0.01')
    await venue.crowd('ETH_USDT', funds, '0.1')
    member = await venue.member({ USDT: '1000000', BTC: '10', ETH: '100' })
    exchange = await pro(venue, member.credential)
  })
  after(async () => {
    await closeAll()
    await venue.close()
  })
  /** Until the platform has so many subscriptions of the account: what happens from then on is pushed. */
  const subscribed = (userId: number, wanted: number): Promise<boolean> =>
    until(`${wanted} subscriptions`, async () => {
      const sockets = await venue.operator.ok('GET', '/sockets')
      const mine = sockets.filter(({ user_ids }: { user_ids: number[] }) => user_ids.includes(userId))
      return (
        mine.reduce((sum: number, row: { subscriptions: number }) => sum + row.subscriptions, 0) >= wanted
      )
    })
  /** Everything that a watch call ever returns, as it comes. */
  function collected(watch: () => Promise<Exchange[]>): Exchange[] {
    const rows: Exchange[] = []
    void (async () => {
      try {
        for (;;) rows.push(...(await watch()).map((row) => structuredClone(row)))
      } catch (error) {
        if (!(error instanceof ccxt.ExchangeClosedByUser)) rows.push({ error: String(error) })
      }
    })()
    return rows
  }

  test('orders, my trades and balances, over REST and over the socket, are what REST says', async () => {
    const trader = await venue.member({ USDT: '1000000', BTC: '10', ETH: '100' })
    const own = await pro(venue, trader.credential)
    const orders = collected(() => own.watchOrders(BTC))
    const trades = collected(() => own.watchMyTrades(BTC))
    const balances: Exchange[] = []
    collected(async () => {
      balances.push(structuredClone(await own.watchBalance()))
      return []
    })
    await subscribed(trader.user_id, 3)
    const [bid, ask] = await venue.spread('BTC_USDT')
    const statuses = (id: string): string =>
      orders
        .filter((order) => order.id === id)
        .map(({ status, filled }) => `${status} ${filled}`)
        .join(', ')
    const low = Math.round(bid * 0.8)

    const resting = await own.createOrder(BTC, 'limit', 'buy', 0.5, low)
    await until('it is open', () => statuses(resting.id) === 'open 0')
    assert.deepEqual(plain(orders[0]), plain(await own.fetchOrder(resting.id, BTC)))
    await until('money is held', () => balances.at(-1)?.USDT?.used === 0.5 * low)
    assert.deepEqual(balances.at(-1).USDT, (await own.fetchBalance()).USDT)
    const [record] = balances.at(-1).info
    assert.equal(`${record.change_type} ${record.change}`, 'order-create 0')

    await own.editOrder(resting.id, BTC, 'limit', 'buy', 0.4, low)
    await until('it is amended', () => statuses(resting.id) === 'open 0, open 0')
    assert.equal(orders.at(-1).amount, 0.4)
    await own.cancelOrderWs(resting.id, BTC)
    await until('it is canceled', () => statuses(resting.id) === 'open 0, open 0, canceled 0')
    assert.deepEqual(plain(orders.at(-1)), plain(await own.fetchOrder(resting.id, BTC)))
    await until('money is free', () => balances.at(-1)?.USDT?.used === 0)

    const bought = await own.createOrderWs(BTC, 'limit', 'buy', 0.02, Math.round(ask * 1.05))
    assert.equal(`${bought.status} ${bought.filled}`, 'closed 0.02')
    const sold = await own.createOrder(BTC, 'market', 'sell', 0.02)
    for (const { id } of [bought, sold]) {
      await until('it is closed', () => statuses(id) === 'closed 0.02')
      const pushed = orders.find((order) => order.id === id)
      assert.deepEqual(plain(pushed), plain(await own.fetchOrder(id, BTC)))
    }
    const rest = (await own.fetchMyTrades(BTC)).map(plain)
    await until('all fills', () => trades.length >= rest.length)
    assert.deepEqual(
      trades.map(plain).sort((one: Exchange, other: Exchange) => Number(one.id) - Number(other.id)),
      rest.sort((one: Exchange, other: Exchange) => Number(one.id) - Number(other.id)),
    )
    const fee = (id: string, currency: string): number =>
      trades
        .filter(({ order }) => order === id)
        .reduce((sum, { fee: paid }) => {
          assert.equal(paid.currency, currency)
          return sum + Number(paid.cost)
        }, 0)
    assert.ok(Math.abs(fee(bought.id, 'BTC') - 0.02 * 0.002) < 1e-9)
    assert.ok(Math.abs(fee(sold.id, 'USDT') - sold.cost * 0.002) < 1e-6)
    const end = await own.fetchBalance()
    for (const currency of ['BTC', 'USDT'])
      await until(`${currency} as REST has it`, () => balances.at(-1)[currency].total === end[currency].total)
    assert.deepEqual([balances.at(-1).BTC, balances.at(-1).USDT], [end.BTC, end.USDT])
  })
  test('orders and my trades of all markets, and none of others', async () => {
    const trader = await venue.member({ USDT: '1000000' })
    const own = await pro(venue, trader.credential)
    const orders = collected(() => own.watchOrders())
    const trades = collected(() => own.watchMyTrades())
    await subscribed(trader.user_id, 2)
    for (const symbol of [BTC, ETH])
      await own.createOrderWs(symbol, 'market', 'buy', undefined, undefined, { cost: 500 })
    await until('both orders', () => orders.length >= 2)
    assert.deepEqual(
      orders.map(({ symbol, status, cost }) => `${symbol} ${status} ${cost > 490 && cost <= 500}`),
      [`${BTC} closed true`, `${ETH} closed true`],
    )
    await until('all fills', async () => {
      const rest = [...(await own.fetchMyTrades(BTC)), ...(await own.fetchMyTrades(ETH))]
      return rest.length === trades.length
    })
    assert.deepEqual([...new Set(trades.map(({ symbol }) => symbol))].sort(), [BTC, ETH])
  })
  test('orders over the socket: limit, edit, fetch, cancel', async () => {
    const [bid] = await venue.spread('BTC_USDT')
    const low = Math.round(bid * 0.8)
    const order = await exchange.createOrderWs(BTC, 'limit', 'buy', 0.1, low, { clientOrderId: 't-pro-1' })
    assert.equal(`${order.status} ${order.clientOrderId} ${order.info.biz_info}`, 'open t-pro-1 ch:ccxt')
    assert.deepEqual(plain(await exchange.fetchOrderWs(order.id, BTC)), plain(order))
    assert.deepEqual(plain(await exchange.fetchOrder(order.id, BTC)), plain(order))
    assert.equal((await exchange.fetchOrderWs('t-pro-1', BTC)).id, order.id)
    const edited = await exchange.editOrderWs(order.id, BTC, 'limit', 'buy', 0.2, low - 10)
    assert.equal(`${edited.id} ${edited.amount} ${edited.price}`, `${order.id} 0.2 ${low - 10}`)
    const cancelled = await exchange.cancelOrderWs(order.id, BTC)
    assert.equal(`${cancelled.id} ${cancelled.status}`, `${order.id} canceled`)
    assert.deepEqual(plain(await exchange.fetchOrderWs(order.id, BTC)), plain(cancelled))
    const unnamed = await exchange.createLimitBuyOrderWs(BTC, 0.1, low)
    assert.equal(unnamed.status, 'open')
    const sale = await exchange.createLimitOrderWs(ETH, 'sell', 1, 9000)
    const all = await exchange.cancelAllOrdersWs(BTC)
    assert.deepEqual(
      all.map(({ id, status }: Exchange) => `${id} ${status}`),
      [`${unnamed.id} canceled`],
    )
    assert.equal((await exchange.fetchOrderWs(sale.id, ETH)).status, 'open')
    assert.equal((await exchange.cancelAllOrdersWs(ETH)).length, 1)
    assert.deepEqual(await exchange.fetchOpenOrders(), [])
  })
  test('orders over the socket: market, cost, post only, ioc, fok', async () => {
    const [bid, ask] = await venue.spread('BTC_USDT')
    const cost = await exchange.createOrderWs(BTC, 'market', 'buy', undefined, undefined, { cost: 600 })
    assert.equal(`${cost.status} ${cost.cost > 590 && cost.cost <= 600}`, 'closed true')
    const quoted = await exchange.createOrderWs(BTC, 'market', 'buy', 0.01, ask)
    assert.equal(`${quoted.status} ${quoted.cost <= 0.01 * ask}`, 'closed true')
    const sold = await exchange.createMarketOrderWs(BTC, 'sell', 0.01)
    assert.equal(`${sold.status} ${sold.filled}`, 'closed 0.01')
    assert.equal((await exchange.createMarketSellOrderWs(BTC, 0.01)).filled, 0.01)
    const spent = await exchange.createMarketBuyOrderWs(BTC, undefined, { cost: 600 })
    assert.equal(`${spent.status} ${spent.cost > 590 && spent.cost <= 600}`, 'closed true')
    const asked = await exchange.createLimitSellOrderWs(BTC, 0.01, Math.round(ask * 1.2))
    assert.equal(`${asked.status} ${asked.side} ${asked.price}`, `open sell ${Math.round(ask * 1.2)}`)
    await exchange.cancelOrderWs(asked.id, BTC)
    const low = Math.round(bid * 0.8)
    for (const post of [
      await exchange.createPostOnlyOrderWs(BTC, 'limit', 'buy', 0.1, low),
      await exchange.createOrderWs(BTC, 'limit', 'buy', 0.1, low, { timeInForce: 'PO' }),
    ])
      assert.equal(`${post.status} ${post.timeInForce}`, 'open PO')
    const high = Math.round(ask * 1.05)
    const ioc = await exchange.createOrderWs(BTC, 'limit', 'buy', 0.1, low, { timeInForce: 'IOC' })
    assert.equal(`${ioc.status} ${ioc.filled}`, 'canceled 0')
    const fok = await exchange.createOrderWs(BTC, 'limit', 'buy', 0.01, high, { timeInForce: 'FOK' })
    assert.equal(`${fok.status} ${fok.filled}`, 'closed 0.01')
    assert.equal((await exchange.cancelAllOrdersWs(BTC)).length, 2)
  })
  test('orders over the socket: triggers', async () => {
    const [bid, ask] = await venue.spread('BTC_USDT')
    const [low, high] = [Math.round(bid * 0.8), Math.round(ask * 1.2)]
    const made: Exchange[] = [
      await exchange.createOrderWs(BTC, 'limit', 'sell', 0.1, low, { triggerPrice: low }),
      await exchange.createTriggerOrderWs(BTC, 'limit', 'buy', 0.1, high, high),
      await exchange.createStopLimitOrderWs(BTC, 'sell', 0.1, low, low),
      await exchange.createStopOrderWs(BTC, 'limit', 'sell', 0.1, low, low),
      await exchange.createStopLossOrderWs(BTC, 'limit', 'sell', 0.1, low, low),
      await exchange.createTakeProfitOrderWs(BTC, 'limit', 'sell', 0.1, high, high),
      await exchange.createOrderWs(BTC, 'market', 'sell', 0.1, undefined, { stopLossPrice: low }),
    ]
    const triggers = { trigger: true }
    const waiting = await exchange.fetchOpenOrders(BTC, undefined, undefined, triggers)
    assert.deepEqual(waiting.map(({ id }: Exchange) => id).sort(), made.map(({ id }) => id).sort())
    const rows = waiting.map(({ triggerPrice, side }: Exchange) => `${side} ${triggerPrice}`).sort()
    assert.deepEqual(rows, [`buy ${high}`, ...Array(5).fill(`sell ${low}`), `sell ${high}`].sort())
    await exchange.cancelAllOrders(BTC, triggers)
    assert.deepEqual(await exchange.fetchOpenOrders(BTC, undefined, undefined, triggers), [])
  })
  test('refusals of orders by their labels', async () => {
    const [bid, ask] = await venue.spread('BTC_USDT')
    const low = Math.round(bid * 0.8)
    await assert.rejects(exchange.createOrderWs(BTC, 'limit', 'buy', 40, low), ccxt.InsufficientFunds)
    await assert.rejects(
      exchange.createPostOnlyOrderWs(BTC, 'limit', 'buy', 0.1, Math.round(ask * 1.05)),
      ccxt.OrderImmediatelyFillable,
    )
    await assert.rejects(exchange.fetchOrderWs('999999999', BTC), ccxt.OrderNotFound)
    await assert.rejects(exchange.cancelOrderWs('t-nobody', BTC), ccxt.OrderNotFound)
    await assert.rejects(exchange.editOrderWs('999999999', BTC, 'limit', 'buy', 1, low), ccxt.OrderNotFound)
    await assert.rejects(
      exchange.createOrderWs(BTC, 'limit', 'buy', 0.1, low, { text: 'no-t' }),
      ccxt.BadRequest,
    )
    const many = Array.from({ length: 5 }, () => exchange.createOrderWs(BTC, 'limit', 'buy', 40, low))
    const good = exchange.createOrderWs(BTC, 'limit', 'buy', 0.1, low)
    const results = await Promise.allSettled([...many, good])
    assert.deepEqual(
      results.map(({ status }) => status),
      [...Array(5).fill('rejected'), 'fulfilled'],
      'each refusal reaches its own call',
    )
    await exchange.cancelAllOrdersWs(BTC)
    const order = { symbol: BTC, type: 'limit', side: 'buy', amount: 0.1, price: low }
    await assert.rejects(exchange.createOrdersWs([order]), ccxt.NotSupported)
    await assert.rejects(exchange.fetchOpenOrdersWs(BTC), ccxt.NotSupported)
    await assert.rejects(exchange.fetchClosedOrdersWs(BTC), ccxt.NotSupported)
  })
  test('wrong keys: AuthenticationError, and public streams go on', async () => {
    const { key } = member.credential
    const thief = await pro(venue, { key, secret: 'f'.repeat(64) })
    for (const call of [
      () => thief.watchBalance(),
      () => thief.watchOrders(BTC),
      () => thief.watchMyTrades(),
      () => thief.createOrderWs(BTC, 'limit', 'buy', 0.1, 10_000),
      () => thief.cancelAllOrdersWs(BTC),
    ])
      await assert.rejects(call(), (error: Error) => {
        assert.ok(error instanceof ccxt.AuthenticationError, `${error.name} ${error.message}`)
        assert.match(error.message, /INVALID_SIGNATURE/)
        return true
      })
    const nobody = await pro(venue, { key: '0'.repeat(32), secret: 'f'.repeat(64) })
    await assert.rejects(nobody.watchOrders(), (error: Error) => {
      assert.ok(error instanceof ccxt.AuthenticationError)
      assert.match(error.message, /INVALID_KEY/)
      return true
    })
    assert.equal((await nobody.watchTicker(BTC)).symbol, BTC)
  })
  test('cut off, it watches again after the next call, and logs in anew', async () => {
    const trader = await venue.member({ USDT: '1000000' })
    const own = await pro(venue, trader.credential)
    await own.watchTicker(BTC)
    await own.createOrderWs(BTC, 'limit', 'buy', 0.001, 30_000)
    const sockets = await venue.operator.ok('GET', '/sockets')
    const [mine] = sockets.filter(({ user_ids }: { user_ids: number[] }) => user_ids.includes(trader.user_id))
    const waiting = own.watchBalance()
    await subscribed(trader.user_id, 2)
    await venue.operator.ok('DELETE', `/sockets/${mine.conn_id}`)
    await assert.rejects(waiting, ccxt.NetworkError)
    assert.equal((await own.watchTicker(BTC)).symbol, BTC)
    assert.equal((await own.cancelAllOrdersWs(BTC)).length, 1)
  })
})
test('ccxt pro: the usual limits; what is over them is RateLimitExceeded, and nothing of it happened', async () => {
  const venue = await Venue.open({ KONTOR_RATE_LIMITS: '1' })
  try {
    const { credential } = await venue.member({ USDT: '1000000' })
    const exchange = await pro(venue, credential)
    const place = (): Promise<Exchange> => exchange.createOrderWs(BTC, 'limit', 'buy', 0.001, 30_000)
    const results = await Promise.allSettled(Array.from({ length: 15 }, place))
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
    assert.equal(refused.length, 5)
    for (const error of refused) assert.ok(error instanceof ccxt.RateLimitExceeded, error.message)
    assert.equal((await exchange.cancelAllOrdersWs(BTC)).length, 10)
    const balance = exchange.watchBalance()
    await until('another second', () =>
      place().then(
        () => true,
        () => false,
      ),
    )
    assert.equal((await balance).USDT.used, 30)
  } finally {
    await closeAll()
    await venue.close()
  }
})
