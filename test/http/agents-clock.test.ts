import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { replayStore } from '../../src/checks/replay-store.ts'
import { openSnapshot } from '../../src/store/open.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

const START = 1_790_000_000
const BTC = { currency_pair: 'BTC_USDT' }
type Row = readonly string[]

const standing = (env: Record<string, string> = {}): Promise<TestPlatform> =>
  TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: String(START), ...env })
const advance = (platform: TestPlatform, seconds: number): Promise<unknown> =>
  platform.operator.ok('POST', '/clock', { advance_seconds: seconds })
const candles = async (platform: TestPlatform, query: object): Promise<Row[]> =>
  ok(await platform.client().get('/spot/candlesticks', { ...BTC, ...query }))
const traded = (rows: readonly Row[]): Row[] => rows.filter((row) => Number(row[6]) > 0)

/** All that anybody can see of two markets. */
async function seen(platform: TestPlatform): Promise<unknown[]> {
  const anybody = platform.client()
  const found: unknown[] = []
  for (const currency_pair of ['BTC_USDT', 'ETH_BTC']) {
    for (const interval of ['10s', '1m', '1h'])
      found.push(await candles(platform, { currency_pair, interval, limit: 100 }))
    found.push(ok(await anybody.get('/spot/trades', { currency_pair, limit: 1000 })))
    const { asks, bids } = ok(await anybody.get('/spot/order_book', { currency_pair, limit: 50 }))
    found.push(asks, bids)
  }
  return found
}

describe('market agents under the sandbox clock', () => {
  const running: TestPlatform[] = []
  const begin = async (env?: Record<string, string>): Promise<TestPlatform> => {
    const platform = await standing(env)
    running.push(platform)
    return platform
  }
  after(async () => {
    for (const platform of running) await platform.stop()
  })

  test('the same seed and the same moves give the same trades, candles and books', async () => {
    const worlds: unknown[][] = []
    for (const [seed, noise] of [
      ['1', 0],
      ['1', 7],
      ['2', 0],
    ] as const) {
      const platform = await begin({ KONTOR_AGENTS_SEED: seed })
      // Reading and waiting are no moves of the clock.
      for (let i = 0; i < noise; i++) ok(await platform.demo().get('/spot/accounts'))
      await advance(platform, 5)
      if (noise > 0) await new Promise((resolve) => setTimeout(resolve, 600))
      await advance(platform, 600)
      worlds.push(await seen(platform))
    }
    assert.deepEqual(worlds[1], worlds[0])
    assert.notDeepEqual(worlds[2], worlds[0])
  })

  test('a clock that stands brings no trades; an hour brings a candle for every minute', async () => {
    const platform = running[0]!
    const count = async (): Promise<string> =>
      ok(await platform.client().get('/spot/trades', { ...BTC, limit: 1 }))[0].id
    const before = await count()
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(await count(), before)
    const begun = Math.floor(platform.now())
    await advance(platform, 3_600)
    for (const currency_pair of ['BTC_USDT', 'DOGE_USDT', 'ETH_BTC', 'USDC_USDT']) {
      const minutes = (await candles(platform, { currency_pair, interval: '1m', limit: 60 })).filter(
        (row) => Number(row[0]) >= begun,
      )
      assert.ok(minutes.length >= 59)
      assert.ok(traded(minutes).length >= 55, `${currency_pair}: ${traded(minutes).length} of 60 minutes`)
    }
    const [hour] = traded(await candles(platform, { interval: '1h', limit: 2 }))
    assert.ok(Number(hour![3]) > Number(hour![4]), 'the price moves')
  })

  test('a day passes within seconds, other requests are served meanwhile, and the money is all there', async () => {
    const platform = running[0]!
    const started = performance.now()
    let slowest = 0
    let moving = true
    const move = advance(platform, 86_400).finally(() => (moving = false))
    while (moving) {
      const asked = performance.now()
      ok(await platform.client().get('/spot/tickers', BTC))
      slowest = Math.max(slowest, performance.now() - asked)
    }
    await move
    // Five seconds on a quiet machine; others may have most of a busy one.
    const took = performance.now() - started
    assert.ok(took < 120_000, `${took} ms`)
    assert.ok(slowest < Math.max(2_000, took / 5), `a request waited ${slowest} of ${took} ms`)
    const quarters = await candles(platform, { interval: '15m', limit: 95 })
    assert.equal(traded(quarters).length, 95)
    const { asks, bids } = ok(await platform.client().get('/spot/order_book', { ...BTC, limit: 50 }))
    assert.ok(asks.length >= 8 && bids.length >= 8)
    const hours = await candles(platform, { interval: '1h', limit: 24 })
    assert.equal(traded(hours).length, 24)
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
  })

  test('scenarios run on the clock: a crash goes down step by step and stays, a lost peg comes back', async () => {
    const platform = running[1]!
    const begin = (name: string, currency_pair: string, change: number): Promise<unknown> =>
      platform.operator.ok('POST', '/agents/scenario', { name, currency_pair, change, seconds: 600 })
    const bid = async (currency_pair: string): Promise<number> =>
      Number(ok(await platform.client().get('/spot/order_book', { currency_pair, limit: 1 })).bids[0][0])
    const near = (price: number, wanted: number): void =>
      assert.ok(Math.abs(price / wanted - 1) < 0.03, `${price}, not about ${wanted}`)
    const [eth, usdc] = [await bid('ETH_USDT'), await bid('USDC_USDT')]
    await begin('crash', 'ETH_USDT', -0.3)
    await begin('de_peg', 'USDC_USDT', -0.1)
    await advance(platform, 150)
    near(await bid('ETH_USDT'), eth * 0.85)
    near(await bid('USDC_USDT'), usdc * 0.95)
    await advance(platform, 200)
    near(await bid('ETH_USDT'), eth * 0.7)
    near(await bid('USDC_USDT'), usdc * 0.9)
    await advance(platform, 8 * 3_600)
    near(await bid('ETH_USDT'), eth * 0.7)
    assert.ok(Math.abs((await bid('USDC_USDT')) - 1) < 0.01)
  })

  test('where the last run had agents, `off` leaves no order of theirs', async () => {
    const first = running.pop()!
    ok(await first.client().get('/spot/order_book', BTC))
    const quiet = await first.restart({ KONTOR_AGENTS: 'off' })
    running.push(quiet)
    const { asks, bids } = ok(await quiet.client().get('/spot/order_book', { ...BTC, limit: 100 }))
    assert.deepEqual([asks, bids], [[], []])
    const last = ok(await quiet.client().get('/spot/trades', { ...BTC, limit: 1 }))[0].id
    await advance(quiet, 600)
    assert.equal(ok(await quiet.client().get('/spot/trades', { ...BTC, limit: 1 }))[0].id, last)
    const snapshot = await openSnapshot({ data: quiet.data, databaseUrl: undefined })
    assert.ok((await replayStore(snapshot)).commands > 600, 'the same commands lead to the same hashes')
    await snapshot.close()
    refused(
      await quiet.operator.call('POST', '/clock', { now: START }),
      400,
      'INVALID_PARAM_VALUE',
      /does not run back/,
    )
  })
})
