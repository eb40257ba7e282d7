import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }

describe('spot market data', () => {
  let platform: TestPlatform
  let anybody: Client
  let maker: Trader
  let taker: Trader
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
    anybody = platform.client()
    maker = await Trader.of(platform, { BTC: '100', USDT: '10000000' })
    taker = await Trader.of(platform, { BTC: '100', USDT: '10000000' })
  })
  after(() => platform.stop())

  async function trade(price: string, amount: string): Promise<void> {
    await maker.placed('sell', amount, price)
    await taker.placed('buy', amount, price)
  }
  const advance = (seconds: number) =>
    platform.operator.ok('POST', '/clock', { advance_seconds: String(seconds) })

  test('pairs', async () => {
    const pairs = ok(await anybody.get('/spot/currency_pairs'))
    assert.ok(pairs.length >= 8)
    const btc = pairs.find((pair: { id: string }) => pair.id === 'BTC_USDT')
    assert.equal(btc.trade_status, 'tradable')
    assert.equal(btc.fee, '0.2')
    assert.deepEqual(ok(await anybody.get('/spot/currency_pairs/btc_usdt')), btc)
    refused(await anybody.get('/spot/currency_pairs/BTC_DOGE'), 404, 'INVALID_CURRENCY_PAIR')
  })

  test('a market without trades has a ticker, an empty book and no candles', async () => {
    const sol = { currency_pair: 'SOL_USDT' }
    const [ticker] = ok(await anybody.get('/spot/tickers', sol))
    assert.equal(`${ticker.last} ${ticker.base_volume}`, '0 0')
    assert.deepEqual(ok(await anybody.get('/spot/candlesticks', sol)), [])
    assert.deepEqual(ok(await anybody.get('/spot/trades', sol)), [])
    refused(
      await anybody.get('/spot/tickers', { currency_pair: 'BTC_USDT,ETH_USDT' }),
      400,
      'INVALID_CURRENCY_PAIR',
    )
  })

  test('the book shows levels, groups them, and its id counts changes', async () => {
    await maker.placed('buy', '1', '49000')
    await maker.placed('buy', '2', '48995.5')
    await maker.placed('sell', '1', '51000')
    await maker.placed('sell', '1', '51004')
    const book = ok(await anybody.get('/spot/order_book', { ...PAIR, with_id: true, limit: 5 }))
    assert.deepEqual(book.bids, [
      ['49000', '1'],
      ['48995.5', '2'],
    ])
    assert.deepEqual(book.asks, [
      ['51000', '1'],
      ['51004', '1'],
    ])
    await maker.placed('sell', '1', '51004')
    const next = ok(await anybody.get('/spot/order_book', { ...PAIR, with_id: true, interval: '10' }))
    assert.equal(next.id, book.id + 1)
    assert.deepEqual(next.bids, [
      ['49000', '1'],
      ['48990', '2'],
    ])
    assert.deepEqual(next.asks, [
      ['51000', '1'],
      ['51010', '2'],
    ])
    assert.equal('id' in ok(await anybody.get('/spot/order_book', PAIR)), false)
    refused(await anybody.get('/spot/order_book', { ...PAIR, limit: 1001 }), 400, 'INVALID_PARAM_VALUE')
    ok(await maker.client.delete('/spot/orders'))
  })

  test('candles of every interval, tickers of a day, trades by id and time', async () => {
    // From the start of a UTC day, so that midnight is known.
    const day = 86_400
    await advance(day - (Math.floor(platform.now()) % day) + 3_600)
    const start = Math.floor(platform.now() / 3600) * 3600
    await trade('50000', '0.1')
    await trade('50500', '0.2')
    await advance(90)
    await trade('49500', '0.3')
    await advance(7_200)
    await trade('50600', '0.1')
    const [ticker] = ok(await anybody.get('/spot/tickers', { ...PAIR, timezone: 'all' }))
    assert.equal(ticker.last, '50600')
    assert.equal(ticker.high_24h, '50600')
    assert.equal(ticker.low_24h, '49500')
    assert.equal(ticker.base_volume, '0.7')
    assert.equal(ticker.quote_volume, '35010')
    assert.equal(ticker.change_percentage, '1.2')
    assert.equal(ticker.change_utc0, '1.2')
    const hours = ok(
      await anybody.get('/spot/candlesticks', { ...PAIR, interval: '1h', from: start, to: start + 7_200 }),
    )
    assert.deepEqual(
      hours.map((row: string[]) => row.slice(1)),
      [
        ['29950', '49500', '50500', '49500', '50000', '0.6', 'true'],
        ['0', '49500', '49500', '49500', '49500', '0', 'true'],
        ['5060', '50600', '50600', '50600', '50600', '0.1', 'false'],
      ],
    )
    assert.equal(hours[0][0], String(start))
    for (const interval of ['1s', '10s', '1m', '5m', '15m', '30m', '2h', '4h', '8h', '1d', '7d', '30d']) {
      const rows = ok(await anybody.get('/spot/candlesticks', { ...PAIR, interval, limit: 3 }))
      assert.equal(rows.at(-1)[2], '50600', interval)
      assert.equal(rows.at(-1)[7], 'false', interval)
    }
    const candles = (query: object) =>
      anybody.get('/spot/candlesticks', { ...PAIR, interval: '1m', ...query })
    refused(await candles({ limit: 10, from: start }), 400, 'INVALID_PARAM_VALUE', /limit/)
    // What was left out is filled in, and the headers say how.
    const applied = async (query: object): Promise<number[]> => {
      const { headers } = await candles(query)
      return ['from', 'to'].map((name) => Number(headers.get(`x-applied-${name}`)))
    }
    const minute = Math.floor(platform.now() / 60) * 60
    assert.deepEqual(await applied({}), [minute - 99 * 60, minute])
    assert.deepEqual(await applied({ limit: 10 }), [minute - 9 * 60, minute])
    assert.deepEqual(await applied({ to: start + 59 }), [start - 99 * 60, start])
    assert.deepEqual(await applied({ from: start + 61 }), [start + 60, minute])
    // An end in the future: those up to now.
    const ever = 9_999_999_999
    assert.deepEqual(await applied({ to: ever }), [minute - 99 * 60, minute])
    assert.equal(ok(await candles({ to: ever })).at(-1)[0], String(minute))
    assert.equal(ok(await anybody.get('/spot/trades', { ...PAIR, to: ever })).length, 4)
    assert.deepEqual(await applied({ from: minute - 5_000 * 60 }), [minute - 5_000 * 60, minute - 4_001 * 60])
    // Both in one bucket.
    refused(await candles({ from: start + 5, to: start + 4 }), 400, 'INVALID_PARAM_VALUE', /from.*after/)
    assert.equal(ok(await candles({ from: start + 4, to: start + 5 })).length, 1)
    assert.equal(ok(await candles({ from: start - 990 * 60, to: start + 9 * 60 })).length > 0, true)
    refused(await candles({ from: start - 1000 * 60, to: start + 60 }), 400, 'INVALID_PARAM_VALUE', /1000/)
    refused(
      await candles({ from: start - 20_000 * 60, to: start - 19_500 * 60 }),
      400,
      'INVALID_PARAM_VALUE',
      /10000/,
    )

    const trades = ok(await anybody.get('/spot/trades', { ...PAIR, limit: 2 }))
    assert.deepEqual(
      trades.map((row: { price: string }) => row.price),
      ['50600', '49500'],
    )
    assert.match(trades[0].create_time_ms, /^\d{13}\.\d{3}$/)
    const older = ok(await anybody.get('/spot/trades', { ...PAIR, last_id: trades[1].id, reverse: true }))
    assert.equal(older[0].price, '50500')
    const newer = ok(await anybody.get('/spot/trades', { ...PAIR, last_id: trades[1].id }))
    assert.deepEqual(
      newer.map((row: { price: string }) => row.price),
      ['50600'],
    )
    const timed = ok(
      await anybody.get('/spot/trades', { ...PAIR, from: start, to: start + 60, page: 2, limit: 1 }),
    )
    assert.equal(timed[0].price, '50000')

    // Everything is the same after a restart.
    platform = await platform.restart()
    anybody = platform.client()
    const again = (query: object) => anybody.get('/spot/candlesticks', { ...PAIR, interval: '1h', ...query })
    assert.deepEqual(ok(await again({ from: start, to: start + 7_200 })), hours)
    assert.deepEqual(ok(await anybody.get('/spot/trades', { ...PAIR, limit: 2 })), trades)
    assert.deepEqual(ok(await anybody.get('/spot/tickers', { ...PAIR, timezone: 'all' })), [ticker])
  })

  test('insurance history', async () => {
    const query = { business: 'unified', currency: 'USDT', from: 1, to: Math.floor(platform.now()) }
    refused(await anybody.get('/spot/insurance_history', query), 400, 'INVALID_PARAM_VALUE', /30 days/)
    assert.deepEqual(
      ok(await anybody.get('/spot/insurance_history', { ...query, from: query.to - 3600 })),
      [],
    )
  })
})
