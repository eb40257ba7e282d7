import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { closeAll, pro, type Exchange } from '../support/ccxt-pro.ts'
import { until, Venue } from '../support/venue.ts'

const BTC = 'BTC/USDT'
const ETH = 'ETH/USDT'
type Levels = (readonly [number, number])[]
interface Book {
  readonly nonce: number
  readonly bids: Levels
  readonly asks: Levels
}
type Text = readonly [string, string]
const numbers = (levels: readonly (readonly (string | number)[])[]): Levels =>
  levels.map(([price, amount]) => [Number(price), Number(amount)])

/** Unmodified ccxt follows a busy market, and what it holds is what REST says. */
describe('ccxt pro: public streams', { timeout: 240_000 }, () => {
  let venue: Venue
  let exchange: Exchange
  before(async () => {
    venue = await Venue.open()
    const funds = { USDT: '50000000', BTC: '500', ETH: '5000' }
    await venue.deepen('BTC_USDT', funds, '0.01', 450)
    await venue.deepen('ETH_USDT', funds, '0.1', 120)
    await venue.crowd('BTC_USDT', funds, '0.01')
    await venue.crowd('ETH_USDT', funds, '0.1')
    exchange = await pro(venue)
  })
  after(async () => {
    await closeAll()
    await venue.close()
  })
  const restBook = async (pair: string, limit: number): Promise<Book> => {
    const book = await venue.read('/spot/order_book', { currency_pair: pair, limit, with_id: true })
    return { nonce: book.id, bids: numbers(book.bids), asks: numbers(book.asks) }
  }
  /** So many times the book that is watched equals REST's of the same id; never does it differ. */
  async function followed(watch: () => Promise<Book>, pair: string, limit: number, times = 8): Promise<void> {
    const held = new Map<number, string>()
    const read = new Map<number, string>()
    const equal = new Set<number>()
    const textOf = ({ bids, asks }: Book): string => JSON.stringify([numbers(bids), numbers(asks)])
    let last = 0
    let going = true
    const watching = (async () => {
      while (going) {
        const book = await watch()
        assert.ok(book.nonce >= last, `the book went back from ${last} to ${book.nonce}`)
        last = book.nonce
        held.set(book.nonce, textOf(book))
      }
    })()
    const enough = until(`${times} books of ${pair} at ids that REST has shown`, async () => {
      const book = await restBook(pair, limit)
      read.set(book.nonce, textOf(book))
      for (const [id, text] of held)
        if (read.has(id)) {
          assert.equal(text, read.get(id), `the book of ${pair} at ${id}`)
          equal.add(id)
        }
      return equal.size >= times
    })
    // A watch that fails is a failure at once.
    await Promise.race([enough, watching])
    going = false
    await watching
  }
  /** So many of what is watched have been what REST said at some moment. */
  async function seen(
    wanted: string,
    watch: () => Promise<unknown>,
    rest: () => Promise<unknown>,
    times = 3,
  ) {
    const watched = new Set<string>()
    const read = new Set<string>()
    let going = true
    // The last wait is left alone: a quiet market may take its time.
    const watching = (async () => {
      while (going) watched.add(JSON.stringify(await watch()))
    })().catch((error: unknown) => {
      if (going) throw error
    })
    const found = (): number => [...watched].filter((text) => read.has(text)).length
    const enough = until(
      `${times} ${wanted} as REST has them`,
      async () => {
        read.add(JSON.stringify(await rest()))
        return found() >= times
      },
      30_000,
    )
    await Promise.race([enough, watching]).catch((error: unknown) => {
      const [one, other] = [[...watched].at(-1), [...read].at(-1)]
      throw new Error(`watched ${one}, read ${other}`, { cause: error })
    })
    going = false
  }

  test('tickers', async () => {
    const ticker = async (pair: string): Promise<object> => {
      // Sizes of the best prices are in REST alone.
      const [row] = await venue.read('/spot/tickers', { currency_pair: pair })
      const { lowest_size: _ask, highest_size: _bid, ...nine } = row
      return nine
    }
    const first = await exchange.watchTicker(BTC)
    assert.equal(`${first.symbol} ${typeof first.last} ${first.bid < first.ask}`, 'BTC/USDT number true')
    await seen(
      'tickers',
      async () => (await exchange.watchTicker(BTC)).info,
      () => ticker('BTC_USDT'),
      2,
    )
    // Watched besides, on the same connection: nothing is lost, and a quiet market tells at once.
    const quiet = 'DOGE/USDT'
    await exchange.watchTickers([BTC, ETH, quiet])
    // It returns one at a time and keeps them all.
    await until('tickers of all three', () => exchange.tickers[ETH] && exchange.tickers[quiet])
    const all = { ...exchange.tickers }
    assert.deepEqual(Object.keys(all).sort(), [BTC, ETH, quiet].sort())
    assert.equal(all[ETH].last > 0, true)
    await seen(
      'tickers of a second market',
      async () => (await exchange.watchTickers([ETH]))[ETH].info,
      () => ticker('ETH_USDT'),
      1,
    )
  })
  test('best bids and asks', async () => {
    await exchange.watchBidsAsks([BTC, ETH])
    await until('both markets', () => exchange.bidsasks[BTC] && exchange.bidsasks[ETH])
    await seen(
      'best prices',
      async () => {
        const { info, bid, bidVolume, ask, askVolume } = (await exchange.watchBidsAsks([BTC]))[BTC]
        assert.deepEqual(numbers([[info.b, info.B] as Text, [info.a, info.A] as Text]), [
          [bid, bidVolume],
          [ask, askVolume],
        ])
        return [info.u, info.t, [info.b, info.B], [info.a, info.A]]
      },
      async () => {
        const query = { currency_pair: 'BTC_USDT', limit: 1, with_id: true }
        const { id, update, bids, asks } = await venue.read('/spot/order_book', query)
        return [id, update, bids[0], asks[0]]
      },
    )
  })
  test('the book: watched, unwatched, watched again', async () => {
    await followed(() => exchange.watchOrderBook(BTC), 'BTC_USDT', 50)
    await exchange.unWatchOrderBook(BTC)
    assert.equal(exchange.orderbooks[BTC], undefined)
    const { id } = await venue.read('/spot/order_book', { currency_pair: 'BTC_USDT', with_id: true })
    const again = await exchange.watchOrderBook(BTC)
    assert.ok(again.bids.length > 0, 'it begins with a full one')
    // Which shows the last tick of the stream; what came since follows within the next.
    await until('what REST had before', async () => (await exchange.watchOrderBook(BTC)).nonce >= id, 1_000)
    await followed(() => exchange.watchOrderBook(BTC), 'BTC_USDT', 50)
    await followed(() => exchange.watchOrderBook(ETH), 'ETH_USDT', 50, 3)
  })
  test('the book of 400 levels', async () => {
    const deep = await pro(venue)
    await followed(() => deep.watchOrderBook(BTC, 400), 'BTC_USDT', 400)
    await deep.unWatchOrderBook(BTC, { limit: 400 })
    await followed(() => deep.watchOrderBook(BTC, 400), 'BTC_USDT', 400, 3)
  })
  for (const [name, path] of [
    ['gate', '/gateeu/ws/v4/'],
    ['gateeu', '/gateeu/ws/v4/'],
  ] as const)
    test(`the book by deltas on a base of REST: ${name}`, async () => {
      const european = await pro(venue, undefined, { name, path })
      await followed(() => european.watchOrderBook(BTC, 100), 'BTC_USDT', 100)
      await european.unWatchOrderBook(BTC)
      await followed(() => european.watchOrderBook(BTC, 100), 'BTC_USDT', 100, 3)
      await european.close()
    })
  test('a gap in the deltas: ChecksumError, and the next watch has the exact book', async () => {
    const european = await pro(venue, undefined, { path: '/gateeu/ws/v4/' })
    await followed(() => european.watchOrderBook(ETH, 100), 'ETH_USDT', 100, 3)
    const match = { channel: 'spot.order_book_update' }
    await venue.operator.ok('PUT', '/faults', [{ match, effect: 'gap', times: 1 }])
    const end = Date.now() + 20_000
    await assert.rejects(async () => {
      while (Date.now() < end) await european.watchOrderBook(ETH, 100)
    }, ccxt.ChecksumError)
    await venue.operator.ok('PUT', '/faults', [])
    await followed(() => european.watchOrderBook(ETH, 100), 'ETH_USDT', 100, 3)
  })
  test('its own pings are answered', async () => {
    const pinging = await pro(venue)
    pinging.streaming = { ...pinging.streaming, keepAlive: 100, maxPingPongMisses: 20 }
    await pinging.watchTicker('DOGE/USDT')
    const [client] = Object.values<Exchange>(pinging.clients)
    const start = Date.now()
    await until('pongs for a second', () => client.lastPong > start + 1_000)
    assert.equal(client.isConnected, true)
    assert.equal(Object.values(pinging.clients)[0], client)
  })
  test('trades: each as REST has it; unwatched and watched again', async () => {
    const known = new Map<string, object>()
    const check = async (symbol: string, trades: Exchange[]): Promise<void> => {
      for (const { info: _own, ...trade } of await exchange.fetchTrades(symbol, undefined, 500))
        known.set(`${trade.symbol} ${trade.id}`, trade)
      for (const { info, ...trade } of trades) {
        assert.deepEqual(trade, known.get(`${trade.symbol} ${trade.id}`))
        assert.equal(info.range, `${info.id_market}-${info.id_market}`)
      }
    }
    const ids: string[] = []
    for (let times = 0; times < 5; times++) {
      const trades = await exchange.watchTrades(BTC)
      assert.ok(trades.length > 0)
      ids.push(...trades.map(({ id }: { id: string }) => id))
      await check(BTC, trades)
    }
    assert.equal(new Set(ids).size, ids.length, 'none comes twice')
    const symbols = new Set<string>()
    await until('trades of both markets', async () => {
      const trades = await exchange.watchTradesForSymbols([BTC, ETH])
      for (const { symbol } of trades) symbols.add(symbol)
      await check(trades[0].symbol, trades)
      return symbols.size === 2
    })
    await exchange.unWatchTrades(BTC)
    assert.equal(exchange.trades[BTC], undefined)
    await exchange.unWatchTradesForSymbols([ETH])
    assert.equal(exchange.trades[ETH], undefined)
    await check(BTC, await exchange.watchTrades(BTC))
  })
  test('candles', async () => {
    const rest = async (currency_pair: string, interval: string): Promise<unknown> => {
      const query = { currency_pair, interval, limit: 1 }
      const [[t, volume, close, high, low, start]] = await venue.read('/spot/candlesticks', query)
      return [Number(t) * 1000, ...[start, high, low, close, volume].map(Number)]
    }
    const last = async (symbol: string, timeframe: string): Promise<number[]> =>
      (await exchange.watchOHLCV(symbol, timeframe)).at(-1)
    for (const timeframe of ['1m', '10s'])
      await seen(
        `candles of ${timeframe}`,
        () => last(BTC, timeframe),
        () => rest('BTC_USDT', timeframe),
        2,
      )
    // 7d and 1w are one stream, and one subscription of it.
    const named = Object.entries(exchange.timeframes as Record<string, string>)
    for (const [timeframe, interval] of named.filter(([name]) => name !== '7d'))
      await seen(
        `candles of ${timeframe}`,
        () => last('DOGE/USDT', timeframe),
        () => rest('DOGE_USDT', interval),
        1,
      )
    // Windows come one after the other, each in its time; only a machine that stood still has missed some.
    const starts: number[] = []
    let looked = Date.now()
    await until(
      'three windows of 10 seconds',
      async () => {
        const [start] = (await last(BTC, '10s')) as [number]
        const now = Date.now()
        assert.ok(start % 10_000 === 0 && start <= now && now - start < 25_000, `${start} at ${now}`)
        const step = start - (starts.at(-1) ?? start - 10_000)
        assert.ok(
          step === 0 || step === 10_000 || (step > 0 && now - looked > 10_000),
          `${start} after ${starts.join()}`,
        )
        looked = now
        return (step === 0 ? starts.length : starts.push(start)) >= 3
      },
      40_000,
    )
  })
  test('a refusal: BadRequest, and the connection goes on', async () => {
    const other = await pro(venue)
    await assert.rejects(
      other.watchOrderBook(BTC, undefined, { payload: ['ob.LUNAR_USDT.50'] }),
      (error: Error) => {
        assert.ok(error instanceof ccxt.BadRequest, error.message)
        assert.match(error.message, /unknown currency pair: LUNAR_USDT/)
        return true
      },
    )
    await assert.rejects(other.watchTicker(BTC, { payload: [] }), ccxt.BadRequest)
    await assert.rejects(other.watchOHLCV(BTC, '3m'), ccxt.BadRequest)
    assert.equal((await other.watchTicker(ETH)).symbol, ETH)
  })
})
