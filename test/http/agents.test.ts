import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

const BTC = { currency_pair: 'BTC_USDT' }
type Row = readonly string[]

describe('market agents', () => {
  let platform: TestPlatform
  let anybody: Client
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
    anybody = platform.client()
  })
  after(() => platform.stop())
  const candles = async (query: object): Promise<Row[]> =>
    ok(await anybody.get('/spot/candlesticks', { ...BTC, ...query }))
  const best = async (): Promise<number> =>
    Number(ok(await anybody.get('/spot/order_book', { ...BTC, limit: 1 })).bids[0][0])

  test('every book and ticker is alive from the first second, out of operator equity', async () => {
    for (const ticker of ok(await anybody.get('/spot/tickers'))) {
      assert.ok(Number(ticker.last) > 0, ticker.currency_pair)
      assert.ok(Number(ticker.lowest_ask) > Number(ticker.highest_bid), ticker.currency_pair)
      assert.ok(Number(ticker.base_volume) > 0, ticker.currency_pair)
      assert.ok(Number(ticker.high_24h) >= Number(ticker.low_24h))
    }
    const { bids, asks } = ok(await anybody.get('/spot/order_book', { ...BTC, limit: 50 }))
    assert.ok(bids.length >= 8 && asks.length >= 8)
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
    const demo = platform.demo()
    const [usdt] = ok(await demo.get('/spot/accounts', { currency: 'USDT' }))
    assert.equal(usdt.available, '1000000')
  })

  test('thirty days of candles agree with each other in every interval', async () => {
    const days = await candles({ interval: '1d', limit: 30 })
    assert.equal(days.length, 30)
    const hours = await candles({ interval: '1h', limit: 720 })
    assert.equal(hours.length, 720)
    const [day] = days.slice(10, 11)
    const parts = hours.filter(
      (row) => Number(row[0]) >= Number(day![0]) && Number(row[0]) < Number(day![0]) + 86_400,
    )
    assert.equal(parts.length, 24)
    assert.equal(Math.max(...parts.map((row) => Number(row[3]))), Number(day![3]))
    assert.equal(Math.min(...parts.map((row) => Number(row[4]))), Number(day![4]))
    assert.equal(parts[0]![5], day![5])
    assert.equal(parts.at(-1)![2], day![2])
    for (const interval of ['1s', '10s', '1m', '5m', '15m', '30m', '4h', '8h', '7d', '30d'])
      for (const row of await candles({ interval, limit: interval === '30d' ? 1 : 4 })) {
        const [high, low, open, close] = [3, 4, 5, 2].map((column) => Number(row[column])) as [
          number,
          number,
          number,
          number,
        ]
        assert.ok(
          low <= Math.min(open, close) && high >= Math.max(open, close),
          `${interval} ${row.join(' ')}`,
        )
      }
  })

  test('scenarios: a gap moves the market at once, a thin book thins it', async () => {
    const before = await best()
    await platform.operator.ok('POST', '/agents/scenario', { name: 'gap', ...BTC, change: -0.3 })
    assert.ok(Math.abs((await best()) / before - 0.7) < 0.02)
    await platform.operator.ok('POST', '/agents/scenario', { name: 'thin_book', currency_pair: 'ETH_USDT' })
    const { asks } = ok(await anybody.get('/spot/order_book', { currency_pair: 'ETH_USDT', limit: 50 }))
    assert.ok(asks.length <= 2)
    await platform.operator.ok('POST', '/agents/scenario', {
      name: 'crash',
      currency_pair: 'SOL_USDT',
      seconds: 10,
    })
    await platform.operator.ok('POST', '/agents/scenario', { name: 'de_peg', currency_pair: 'USDC_USDT' })
    refused(
      await platform.operator.call('POST', '/agents/scenario', { name: 'crash', currency_pair: 'DOGE_BTC' }),
      400,
      'INVALID_CURRENCY_PAIR',
    )
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
  })

  test('a file of trades is played again at its own pace', async () => {
    const csv = 'time,price,amount,side\n1000,0.6,100,buy\n1010,0.61,200,sell\n1020,0.62,300,buy\n'
    const pair = { currency_pair: 'XRP_USDT' }
    refused(
      await platform.operator.call('POST', '/agents/replay', { ...pair, csv: '1,x' }),
      400,
      'INVALID_PARAM_VALUE',
      /line 1/,
    )
    refused(
      await platform.operator.call('POST', '/agents/replay', { ...pair, csv: '1000,0.1234567,100,buy' }),
      400,
      'INVALID_PRECISION',
    )
    const { trades } = await platform.operator.ok('POST', '/agents/replay', { ...pair, csv })
    assert.equal(trades, 3)
    await platform.operator.ok('POST', '/clock', { advance_seconds: '30' })
    const seen = ok(await anybody.get('/spot/trades', { ...pair, limit: 20 }))
    for (const [price, side, amount] of [
      ['0.6', 'buy', '100'],
      ['0.61', 'sell', '200'],
      ['0.62', 'buy', '300'],
    ])
      assert.ok(
        seen.some(
          (trade: Record<string, string>) =>
            trade['price'] === price && trade['side'] === side && trade['amount'] === amount,
        ),
        `${price} ${side} ${amount}`,
      )
  })

  test('a customer trades with them like with anybody', async () => {
    const demo = platform.demo()
    const order = ok(
      await demo.post('/spot/orders', {
        currency_pair: 'GT_USDT',
        type: 'market',
        side: 'buy',
        amount: '100',
        time_in_force: 'ioc',
      }),
      201,
    )
    assert.equal(order.finish_as, 'filled')
    assert.ok(Number(order.avg_deal_price) > 0)
  })

  test('history is the same after a restart, and there are no agents without the setting', async () => {
    const days = (await candles({ interval: '1d', limit: 30 })).slice(0, 28)
    platform = await platform.restart()
    anybody = platform.client()
    assert.deepEqual((await candles({ interval: '1d', limit: 30 })).slice(0, 28), days)
    const quiet = await TestPlatform.start()
    const { asks, bids } = ok(await quiet.client().get('/spot/order_book', BTC))
    assert.deepEqual([asks, bids], [[], []])
    refused(
      await quiet.operator.call('POST', '/agents/scenario', { name: 'gap', ...BTC }),
      403,
      'REQUEST_FORBIDDEN',
    )
    await quiet.stop()
  })
})
