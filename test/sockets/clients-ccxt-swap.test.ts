import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { closeAll, pro, type Exchange } from '../support/ccxt-pro.ts'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { until } from '../support/venue.ts'

const S = 'BTC/USDT:USDT'
const ETH = 'ETH/USDT:USDT'
const NAME = 'BTC_USDT'
const plain = ({ info: _info, trades: _trades, ...rest }: Exchange): object => rest

/** Unmodified ccxt on contracts: every watch and socket call that it has for them. */
describe('ccxt pro: contracts', { timeout: 120_000 }, () => {
  let platform: TestPlatform
  let maker: ContractTrader
  let exchange: Exchange
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '10000000')
    // More prices than are shown: what is better moves them over the edge. Nobody has more than 100 orders.
    for (let i = 0; i < 3; i++) {
      const deep = await ContractTrader.of(platform, '10000000')
      for (let level = 40 * i + 1; level <= 40 * i + 40; level++)
        await Promise.all([
          deep.placed(level, String(60_000 - 2 * level)),
          deep.placed(-level, String(60_000 + 2 * level)),
        ])
    }
    ;({ exchange } = await joined())
  })
  after(async () => {
    await closeAll()
    await platform.stop()
  })
  async function joined(options: object = {}): Promise<{ trader: ContractTrader; exchange: Exchange }> {
    const one = await ContractTrader.of(platform, '100000')
    const place = {
      url: platform.url,
      address: (path = '/ws/v4/') => platform.url.replace(/^http/, 'ws') + path,
    }
    const made = await pro(place, one.client.credential, {
      more: { uid: String(one.user_id), options: { defaultType: 'swap', ...options } },
    })
    return { trader: one, exchange: made }
  }
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
  const subscribed = (userId: number, wanted: number): Promise<boolean> =>
    until(`${wanted} subscriptions`, async () => {
      const sockets = await platform.operator.ok('GET', '/sockets')
      const mine = sockets.filter(({ user_ids }: { user_ids: number[] }) => user_ids.includes(userId))
      return (
        mine.reduce((sum: number, row: { subscriptions: number }) => sum + row.subscriptions, 0) >= wanted
      )
    })

  test('tickers, best prices, candles', async () => {
    const ticker = await exchange.watchTicker(S)
    const rest = await exchange.fetchTicker(S)
    assert.equal(`${ticker.symbol} ${ticker.markPrice}`, `${S} ${rest.markPrice}`)
    assert.equal(ticker.last, rest.last)
    const both = await exchange.watchTickers([S, ETH])
    assert.ok(Object.keys(both).length >= 1)
    const best = await exchange.watchBidsAsks([S])
    assert.equal(`${best[S].bid} ${best[S].bidVolume} ${best[S].ask} ${best[S].askVolume}`, '59998 1 60002 1')
    await maker.placed(-1, '60000')
    await maker.placed(1, '60000')
    const [candle] = await exchange.watchOHLCV(S, '1m')
    const rows = await exchange.fetchOHLCV(S, '1m')
    assert.deepEqual(
      candle,
      rows.find(([t]: number[]) => t === candle[0]),
    )
  })

  test('a book of deltas on REST’s base, followed and given up again', async () => {
    for (let round = 0; round < 2; round++) {
      const { id } = await maker.placed(9, String(59_001 + 2 * round))
      let book = await exchange.watchOrderBook(S)
      for (let i = 0; i < 6; i++) {
        await maker.placed(1, String(59_999 - 100 * round - i * 10))
        book = await exchange.watchOrderBook(S)
      }
      ok(await maker.delete(`/orders/${id as number}`))
      await until('the last change', async () => {
        const shown = ok(
          await platform
            .client()
            .get('/futures/usdt/order_book', { contract: NAME, limit: 100, with_id: true }),
        )
        if (book.nonce !== shown.id) {
          book = await exchange.watchOrderBook(S)
          return false
        }
        const numbers = (side: { p: string; s: number }[]) => side.map(({ p, s }) => [Number(p), s])
        assert.deepEqual([...book.bids], numbers(shown.bids))
        assert.deepEqual([...book.asks], numbers(shown.asks))
        return true
      })
      await exchange.unWatchOrderBook(S)
    }
  })

  test('trades, and their end', async () => {
    const trades = collected(() => exchange.watchTradesForSymbols([S, ETH]))
    await until('it listens', async () => {
      await maker.placed(-1, '60000')
      await maker.placed(1, '60000')
      return trades.length > 0
    })
    const rest = await exchange.fetchTrades(S)
    const [first] = trades
    assert.deepEqual(plain(first), plain(rest.find(({ id }: Exchange) => id === first.id)))
    await exchange.unWatchTrades(S)
    const [again] = await Promise.all([
      exchange.watchTrades(S),
      (async () => {
        await maker.placed(-2, '60000')
        await maker.placed(2, '60000')
      })(),
    ])
    assert.equal(again.at(-1).symbol, S)
  })

  test('orders, my trades, balance and positions are what REST says', async () => {
    const own = await joined()
    const orders = collected(() => own.exchange.watchOrders(S))
    const trades = collected(() => own.exchange.watchMyTrades(S))
    const balances: Exchange[] = []
    collected(async () => {
      balances.push(structuredClone(await own.exchange.watchBalance({ type: 'swap' })))
      return []
    })
    assert.equal((await own.exchange.watchPositions([S])).length, 0)
    const positions = collected(() => own.exchange.watchPositions([S]))
    await subscribed(own.trader.user_id, 4)
    const statuses = (id: string): string =>
      orders
        .filter((order) => order.id === id)
        .map(({ status, filled }) => `${status} ${filled}`)
        .join(', ')
    const resting = await own.exchange.createOrder(S, 'limit', 'buy', 5, 59_000)
    await until('it is open', () => statuses(resting.id) === 'open 0')
    assert.deepEqual(
      { ...plain(orders[0]), lastUpdateTimestamp: 0 },
      { ...plain(await own.exchange.fetchOrder(resting.id, S)), lastUpdateTimestamp: 0 },
    )
    await own.exchange.cancelOrderWs(resting.id, S)
    await until('it is canceled', () => statuses(resting.id) === 'open 0, canceled 0')
    const bought = await own.exchange.createOrderWs(S, 'market', 'buy', 1)
    assert.equal(`${bought.status} ${bought.filled}`, 'closed 1')
    await until('it is closed', () => statuses(bought.id) === 'closed 1')
    await until('its fill', () => trades.length === 1)
    assert.deepEqual(plain(trades[0]), plain((await own.exchange.fetchMyTrades(S))[0]))
    await until('its position', () => positions.length > 0)
    const position = await own.exchange.fetchPosition(S)
    for (const name of ['symbol', 'side', 'contracts', 'entryPrice', 'liquidationPrice', 'marginMode'])
      assert.deepEqual(positions.at(-1)[name], position[name], name)
    await until('its fee', () => balances.length > 0)
    const total = (await own.exchange.fetchBalance({ type: 'swap' })).USDT.total
    assert.equal(balances.at(-1).USDT.total, total)
    await own.exchange.createOrderWs(S, 'market', 'sell', 1, undefined, { reduceOnly: true })
    await until('its end', () => positions.at(-1).contracts === 0)
  })

  test('orders over the socket: limit, edit, fetch, several, lists, cancel; errors by label', async () => {
    const limit = await exchange.createOrderWs(S, 'limit', 'buy', 5, 59_000, { clientOrderId: 't-pro-1' })
    assert.equal(`${limit.status} ${limit.clientOrderId} ${limit.info.biz_info}`, 'open t-pro-1 ch:ccxt')
    assert.deepEqual(plain(await exchange.fetchOrderWs(limit.id, S)), plain(limit))
    assert.deepEqual(plain(await exchange.fetchOrder(limit.id, S)), plain(limit))
    const edited = await exchange.editOrderWs(limit.id, S, 'limit', 'buy', 4, 58_900)
    assert.equal(`${edited.amount} ${edited.price}`, '4 58900')
    const many = await exchange.createOrdersWs([
      { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 58_000 },
      { symbol: S, type: 'limit', side: 'sell', amount: 1, price: 61_900 },
      { symbol: S, type: 'limit', side: 'buy', amount: 1, price: 10 },
    ])
    // What was refused names no contract, and this client leaves it out.
    assert.deepEqual(
      many.map(({ status }: Exchange) => status),
      ['open', 'open'],
    )
    assert.equal((await exchange.fetchOpenOrdersWs(S)).length, 3)
    assert.equal((await exchange.cancelOrderWs(limit.id, S)).status, 'canceled')
    assert.equal((await exchange.cancelAllOrdersWs(S)).length, 2)
    const closed = await exchange.fetchClosedOrdersWs(S)
    assert.deepEqual(closed.map(({ id }: Exchange) => id).sort(), [limit.id, many[0].id, many[1].id].sort())
    const maker1 = await exchange.createPostOnlyOrderWs(S, 'limit', 'buy', 1, 59_000)
    assert.equal(maker1.timeInForce, 'PO')
    await exchange.cancelOrderWs(maker1.id, S)
    await assert.rejects(exchange.createOrderWs(S, 'limit', 'buy', 900_000, 60_000), ccxt.InsufficientFunds)
    await assert.rejects(exchange.fetchOrderWs('999999', S), ccxt.OrderNotFound)
  })

  test('price orders: placed over the socket, watched', async () => {
    const own = await joined()
    const orders = collected(() => own.exchange.watchOrders(S, undefined, undefined, { trigger: true }))
    await subscribed(own.trader.user_id, 1)
    const made = await own.exchange.createOrderWs(S, 'limit', 'buy', 2, 59_000, { triggerPrice: 62_000 })
    await until('it waits', () => orders.length === 1)
    assert.equal(`${orders[0].id} ${orders[0].status}`, `${made.id} open`)
    const rest = await own.exchange.fetchOrder(made.id, S, { trigger: true })
    for (const name of ['id', 'symbol', 'status', 'amount', 'price', 'triggerPrice', 'side'])
      assert.equal(orders[0][name], rest[name], name)
    await own.exchange.cancelOrder(made.id, S, { trigger: true })
    await until('it is gone', () => orders.at(-1).status === 'canceled')
  })

  test('contracts that are settled in BTC, and dated ones, at their addresses', async () => {
    const inverse = 'BTC/USD:BTC'
    const best = await exchange.watchTicker(inverse)
    assert.equal(best.symbol, inverse)
    const dated = Object.values(
      exchange.markets as Record<string, { symbol: string; future: boolean; base: string }>,
    ).find(({ future, base }) => future && base === 'BTC')!.symbol
    assert.equal((await exchange.watchTicker(dated)).symbol, dated)
    const book = await exchange.watchOrderBook(dated)
    assert.deepEqual([...book.bids], [])
  })

  test('my liquidations: the frame is taken', async () => {
    // With markets of other kinds that have the same name this client itself does not know which one is meant.
    const alone = { fetchMarkets: { types: ['swap'] } }
    const own = await joined(alone)
    const heard = own.exchange.watchMyLiquidations(S)
    await subscribed(own.trader.user_id, 1)
    ok(await own.trader.ask(`/positions/${NAME}/leverage`, { leverage: 20 }))
    await own.exchange.createOrderWs(S, 'limit', 'buy', 10, 60_300)
    await setIndex(platform, { BTC: '55000', ETH: '3000' })
    await until('it is liquidated', async () => (await own.trader.position()).size === 0)
    await heard
    const [one] = own.exchange.liquidations as Exchange[]
    const [{ fill_price }] = ok(await own.trader.get('/liquidates'))
    assert.equal(`${one.symbol} ${one.contracts} ${one.price}`, `${S} 10 ${fill_price as string}`)
  })
})
