import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { replayStore } from '../../src/checks/replay-store.ts'
import { openSnapshot } from '../../src/store/open.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

/** A Thursday, 20 minutes before a funding. */
const START = 1_790_006_400 - 1_200
const BTC = { contract: 'BTC_USDT' }
type Row = Readonly<Record<string, string>>

const advance = (platform: TestPlatform, seconds: number): Promise<unknown> =>
  platform.operator.ok('POST', '/clock', { advance_seconds: seconds })
const candles = async (platform: TestPlatform, query: object, base = '/futures/usdt'): Promise<Row[]> =>
  ok(await platform.client().get(`${base}/candlesticks`, { ...BTC, ...query }))

/** All that anybody can see of some contracts. */
async function seen(platform: TestPlatform): Promise<unknown[]> {
  const anybody = platform.client()
  const found: unknown[] = []
  for (const [base, contract] of [
    ['/futures/usdt', 'BTC_USDT'],
    ['/futures/btc', 'BTC_USD'],
  ] as const) {
    for (const name of [contract, `mark_${contract}`, `index_${contract}`])
      found.push(await candles(platform, { contract: name, interval: '10s', limit: 100 }, base))
    found.push(ok(await anybody.get(`${base}/trades`, { contract, limit: 1000 })))
    const { asks, bids } = ok(await anybody.get(`${base}/order_book`, { contract, limit: 50 }))
    found.push(asks, bids, ok(await anybody.get(`${base}/funding_rate`, { contract, limit: 5 })))
  }
  return found
}

describe('agents in contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: String(START) })
  })
  after(() => platform.stop())

  test('every book and ticker is alive from the first second; the money is the operator’s', async () => {
    const anybody = platform.client()
    for (const base of ['/futures/usdt', '/futures/btc', '/delivery/usdt']) {
      const tickers = ok(await anybody.get(`${base}/tickers`)) as Row[]
      assert.ok(tickers.length > 0)
      for (const { contract, lowest_ask, highest_bid, mark_price, index_price } of tickers) {
        assert.ok(Number(lowest_ask) > Number(highest_bid) && Number(highest_bid) > 0, contract)
        assert.ok(Math.abs(Number(mark_price) / Number(index_price) - 1) < 0.06, contract)
      }
    }
    const { balanced } = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(balanced, true)
    for (const row of await platform.operator.ok('GET', '/futures/proof')) assert.equal(row.ok, true)
    const funds = (await platform.operator.ok('GET', '/insurance')) as Row[]
    const balances = Object.fromEntries(funds.map(({ settle, balance }) => [settle!, balance]))
    assert.deepEqual(balances, { usdt: '1000000', btc: '10' })
    const demo = platform.demo()
    for (const [path, total] of [
      ['/futures/usdt', '20000'],
      ['/futures/btc', '0.5'],
      ['/delivery/usdt', '5000'],
    ])
      assert.equal(ok(await demo.get(`${path}/accounts`)).total, total, path)
  })

  test('thirty days from before: candles of every kind, premiums, ninety fundings', async () => {
    const days = await candles(platform, { interval: '1d', limit: 30 })
    assert.equal(days.length, 30)
    for (const name of ['BTC_USDT', 'mark_BTC_USDT', 'index_BTC_USDT']) {
      const hours = await candles(platform, { contract: name, interval: '1h', limit: 720 })
      assert.equal(hours.length, 720, name)
      for (const { o, h, l, c } of hours)
        assert.ok(Number(l) <= Math.min(Number(o), Number(c)) && Number(h) >= Math.max(Number(o), Number(c)))
    }
    const anybody = platform.client()
    const premiums = ok(
      await anybody.get('/futures/usdt/premium_index', { ...BTC, interval: '1h', limit: 500 }),
    )
    assert.equal(premiums.length, 500)
    assert.ok(new Set(premiums.map(({ c }: Row) => c)).size > 50)
    const fundings = ok(await anybody.get('/futures/usdt/funding_rate', { ...BTC, limit: 1000 })) as Row[]
    assert.ok(fundings.length >= 90 && fundings.length <= 91, String(fundings.length))
  })

  test('a basis drives funding: who is long pays, and the sums are nothing', async () => {
    const demo = platform.demo()
    await advance(platform, 5)
    ok(await demo.post('/futures/usdt/orders', { ...BTC, size: 100, price: '0', tif: 'ioc' }), 201)
    const scenario = { name: 'basis', settle: 'usdt', ...BTC, change: 0.02, seconds: 3_600 }
    const { currency_pair, until } = await platform.operator.ok('POST', '/agents/scenario', scenario)
    assert.equal(currency_pair, 'futures/usdt/BTC_USDT')
    assert.equal(until, START + 5 + 3_600)
    await advance(platform, 1_800)
    const [ticker] = ok(await platform.client().get('/futures/usdt/tickers', BTC)) as [Row]
    assert.ok(Number(ticker['last']) > Number(ticker['index_price']) * 1.015, JSON.stringify(ticker))
    const lines = ok(await demo.get('/futures/usdt/account_book', { type: 'fund' })) as Row[]
    assert.equal(lines.length, 1)
    assert.equal(lines[0]!['text'], 'BTC_USDT')
    assert.ok(Number(lines[0]!['change']) < 0)
    const [funding] = ok(await platform.client().get('/futures/usdt/funding_rate', { ...BTC, limit: 1 }))
    assert.equal(funding.t, START + 1_200)
    assert.ok(Number(funding.r) > 0.001, JSON.stringify(funding))
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
    for (const row of await platform.operator.ok('GET', '/futures/proof')) assert.equal(row.ok, true)
    await advance(platform, 2_400)
    const [after] = ok(await platform.client().get('/futures/usdt/tickers', BTC)) as [Row]
    assert.ok(Math.abs(Number(after['last']) / Number(after['index_price']) - 1) < 0.004)
  })

  test('scenarios of contracts: what is not one is refused', async () => {
    const run = (body: object) => platform.operator.call('POST', '/agents/scenario', body)
    const eth = { settle: 'USDT', contract: 'eth_usdt' }
    await platform.operator.ok('POST', '/agents/scenario', { name: 'thin_book', ...eth })
    const { asks } = ok(
      await platform.client().get('/futures/usdt/order_book', { contract: 'ETH_USDT', limit: 50 }),
    )
    assert.ok(asks.length <= 2)
    refused(await run({ name: 'crash', ...eth }), 400, 'INVALID_PARAM_VALUE', /thin_book, basis/)
    refused(await run({ name: 'basis', currency_pair: 'BTC_USDT' }), 400, 'INVALID_PARAM_VALUE')
    refused(await run({ name: 'basis', ...eth, currency_pair: 'BTC_USDT' }), 400, 'INVALID_PARAM_VALUE')
    refused(await run({ name: 'basis' }), 400, 'INVALID_PARAM_VALUE')
    refused(await run({ name: 'basis', ...eth, contract: 'NO_USDT' }), 400, 'CONTRACT_NOT_FOUND')
  })

  test('a restart changes nothing that anybody can see; the record leads to the same state', async () => {
    const before = await seen(platform)
    platform = await platform.restart()
    const after = await seen(platform)
    // Books are looked at once more when the agents come back.
    const isPast = (_: unknown, i: number): boolean => i % 7 === 1 || i % 7 === 2 || i % 7 === 6
    assert.deepEqual(
      after.map((list, i) => (i % 7 < 3 ? (list as Row[]).slice(0, -1) : list)).filter(isPast),
      before.map((list, i) => (i % 7 < 3 ? (list as Row[]).slice(0, -1) : list)).filter(isPast),
    )
    await advance(platform, 60)
    const snapshot = await openSnapshot({ data: platform.data, databaseUrl: undefined })
    assert.ok((await replayStore(snapshot)).commands > 60)
    await snapshot.close()
  })
  test('without agents the books are empty, and the mark is that of funding, index and last', async () => {
    platform = await platform.restart({ KONTOR_AGENTS: 'off' })
    const { asks, bids } = ok(await platform.client().get('/futures/usdt/order_book', { ...BTC, limit: 50 }))
    assert.deepEqual([asks, bids], [[], []])
    await advance(platform, 600)
    const [{ mark_price, index_price }] = ok(await platform.client().get('/futures/usdt/tickers', BTC)) as [
      Row,
    ]
    assert.ok(Math.abs(Number(mark_price) / Number(index_price) - 1) <= 0.03)
    refused(
      await platform.operator.call('POST', '/agents/scenario', { name: 'basis', settle: 'usdt', ...BTC }),
      403,
      'REQUEST_FORBIDDEN',
    )
  })
})

test('the same seed and the same moves give the same trades, marks and fundings', async () => {
  const worlds: unknown[][] = []
  for (const [seed, noise] of [
    ['1', 0],
    ['1', 5],
    ['2', 0],
  ] as const) {
    const platform = await TestPlatform.start({
      KONTOR_AGENTS: 'on',
      KONTOR_CLOCK: String(START),
      KONTOR_AGENTS_SEED: seed,
    })
    for (let i = 0; i < noise; i++) ok(await platform.demo().get('/futures/usdt/accounts'))
    await advance(platform, 5)
    if (noise > 0) await new Promise((resolve) => setTimeout(resolve, 1_200))
    await advance(platform, 1_300)
    worlds.push(await seen(platform))
    await platform.stop()
  }
  assert.deepEqual(worlds[1], worlds[0])
  assert.notDeepEqual(worlds[2], worlds[0])
})
