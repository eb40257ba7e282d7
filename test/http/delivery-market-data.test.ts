import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client } from '../support/client.ts'
import { ContractTrader } from '../support/contract-trader.ts'
import { TestPlatform } from '../support/platform.ts'

interface Dated {
  readonly name: string
  readonly underlying: string
  readonly cycle: string
  readonly expire_time: number
}
const FRIDAY = (5 - 4) * 86_400 + 8 * 3_600
const WEEK = 7 * 86_400

describe('public data of dated contracts', () => {
  let platform: TestPlatform
  let anybody: Client
  let weekly: Dated
  before(async () => {
    // A Monday, far from the end of a quarter.
    platform = await TestPlatform.start({ KONTOR_CLOCK: String(Date.parse('2026-11-16T09:00:00Z') / 1000) })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    anybody = platform.client()
    weekly = (await contracts()).find(
      ({ underlying, cycle }) => underlying === 'BTC_USDT' && cycle === 'WEEKLY',
    )!
  })
  after(() => platform.stop())
  const get = (path: string, query = {}) => anybody.get(`/delivery/usdt${path}`, query)
  const contracts = async (): Promise<Dated[]> => ok(await get('/contracts'))
  const advance = (seconds: number) =>
    platform.operator.ok('POST', '/clock', { advance_seconds: String(Math.ceil(seconds)) })

  test('four cycles of two underlyings, on Fridays at 08:00 UTC; btc is known and empty', async () => {
    const list = await contracts()
    assert.equal(list.length, 8)
    for (const { name, underlying, cycle, expire_time } of list) {
      assert.equal(expire_time % WEEK, FRIDAY % WEEK)
      const date = new Date(expire_time * 1000).toISOString().slice(0, 10).replaceAll('-', '')
      assert.equal(name, `${underlying}_${date}`)
      assert.equal(list.filter((one) => one.underlying === underlying && one.cycle === cycle).length, 1)
    }
    assert.deepEqual(
      list.map(({ name }) => name),
      list.map(({ name }) => name).sort(),
    )
    for (const path of ['/contracts', '/tickers'])
      assert.deepEqual(ok(await anybody.get(`/delivery/BTC${path}`)), [])
    refused(await anybody.get('/delivery/eth/contracts'), 400, 'INVALID_PARAM_VALUE')
    refused(await get('/contracts/BTC_USDT'), 404, 'CONTRACT_NOT_FOUND')
    refused(await get('/order_book', { contract: 'BTC_USDT' }), 400, 'CONTRACT_NOT_FOUND')
  })
  test('a contract tells its basis, its end and its fee; sizes are numbers whatever the header says', async () => {
    const headers = { 'X-Gate-Size-Decimal': '1' }
    const one = ok(
      await anybody.request('GET', `/delivery/usdt/contracts/${weekly.name.toLowerCase()}`, { headers }),
    )
    assert.equal(one.order_size_max, 1_000_000)
    assert.equal(`${one.index_price} ${one.settle_price} ${one.settle_fee_rate}`, '60000 0 0.00015')
    assert.equal(`${one.basis_value} ${one.basis_rate}`, '0 0')
    assert.equal(one.basis_impact_value, '100000')
    assert.equal(one.status, 'trading')
  })
  test('trades, book, tickers and candles are its own', async () => {
    const account = { group: 'delivery' } as const
    const maker = await ContractTrader.of(platform, '100000', account)
    const taker = await ContractTrader.of(platform, '100000', account)
    const { name: contract } = weekly
    await maker.placed(contract, -50, '60120')
    await taker.placed(contract, 20, '60120')
    await maker.placed(contract, 50, '60080')
    assert.deepEqual(ok(await get('/order_book', { contract })).asks, [{ p: '60120', s: 30 }])
    const [trade] = ok(await get('/trades', { contract, limit: 5 }))
    assert.deepEqual([trade.contract, trade.size, trade.price], [contract, 20, '60120'])
    await advance(61)
    const [ticker] = ok(await get('/tickers', { contract }))
    assert.equal(ticker.funding_rate, '')
    assert.equal(ticker.mark_price, '60100', 'the middle of the book, after half a minute')
    assert.equal(ticker.basis_value, '100')
    const days = (weekly.expire_time - platform.now()) / 86_400
    assert.ok(Math.abs(Number(ticker.basis_rate) - ((100 / 60_000) * 365) / days) < 0.0001, ticker.basis_rate)
    assert.equal('change_price' in ticker, false)
    const candles = ok(await get('/candlesticks', { contract, interval: '1h', limit: 1 }))
    assert.equal(candles[0].v, 20)
    assert.equal('sum' in candles[0], false)
    const marks = ok(await get('/candlesticks', { contract: `mark_${contract}`, interval: '1m', limit: 1 }))
    assert.equal(marks[0].c, '60100')
    assert.equal(ok(await get('/risk_limit_tiers', { contract })).length, 8)
    assert.equal(ok(await get('/insurance'))[0].b, '1000000')
  })
  test('what only perpetual contracts have is not there', async () => {
    for (const path of [
      '/contracts_all',
      '/premium_index',
      '/funding_rate',
      '/contract_stats',
      '/index_constituents/BTC_USDT',
      '/liq_orders',
      '/adl_risk_states',
    ])
      assert.equal((await get(path, { contract: weekly.name })).status, 404, path)
  })
  test('at its end its orders go and the next one is listed; one that nobody holds leaves, its history stays', async () => {
    const eth = (await contracts()).find(
      ({ underlying, cycle }) => underlying === 'ETH_USDT' && cycle === 'WEEKLY',
    )!
    const trader = await ContractTrader.of(platform, '100000', { group: 'delivery' })
    const order = await trader.placed(eth.name, 5, '2990')
    await advance(weekly.expire_time - platform.now() - 600)
    const near = ok(await get(`/contracts/${eth.name}`))
    assert.equal(near.settle_price, '3000', 'the mean of the index so far')
    await advance(601)
    refused(await get(`/contracts/${eth.name}`), 404, 'CONTRACT_NOT_FOUND')
    const after = ok(await trader.client.get(`/delivery/usdt/orders/${order.id}`))
    assert.equal(`${after.status} ${after.finish_as}`, 'finished cancelled')
    refused(await trader.place(eth.name, 5, '2990'), 400, 'CONTRACT_NOT_FOUND')
    const list = await contracts()
    assert.ok(
      list.some(
        ({ underlying, expire_time }) =>
          underlying === 'ETH_USDT' && expire_time === eth.expire_time + 2 * WEEK,
      ),
    )
    assert.equal(list.filter(({ underlying }) => underlying === 'ETH_USDT').length, 4)
    const marks = { contract: `mark_${eth.name}`, interval: '1h', limit: 24, to: eth.expire_time - 1 }
    const history = ok(await get('/candlesticks', marks))
    assert.equal(history.length, 24)
    platform = await platform.restart({ KONTOR_CLOCK: '' })
    anybody = platform.client()
    assert.deepEqual(ok(await get('/candlesticks', marks)), history)
  })
})
