import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import { ApiClient, DeliveryApi, FuturesApi } from 'gate-api'
import { ContractTrader } from '../support/contract-trader.ts'
import { TestPlatform } from '../support/platform.ts'

const SYMBOL = 'BTC/USDT:USDT'
/** Unmodified clients read what everybody may know of contracts; only their address is changed. */
describe('real clients read market data of contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', SOL: '150' })
    const maker = await ContractTrader.of(platform, '1000000')
    const taker = await ContractTrader.of(platform, '1000000')
    await maker.placed('BTC_USDT', 100, '59990')
    await maker.placed('BTC_USDT', -100, '60010')
    await taker.placed('BTC_USDT', 30, '60010')
    await platform.operator.ok('POST', '/clock', { advance_seconds: '28800' })
  })
  after(() => platform.stop())

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  function connected(): any {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
    const exchange: any = new ccxt.gate({ enableRateLimit: false })
    for (const group of ['public', 'private'])
      for (const name of Object.keys(exchange.urls.api[group]))
        exchange.urls.api[group][name] = `${platform.url}/api/v4`
    return exchange
  }

  test('ccxt', async () => {
    const exchange = connected()
    const markets = await exchange.loadMarkets()
    const market = markets[SYMBOL]
    assert.equal(`${market.active} ${market.linear} ${market.contractSize}`, 'true true 0.0001')
    assert.equal(market.precision.price, 0.1)
    const inverse = markets['BTC/USD:BTC']
    assert.equal(`${inverse.inverse} ${inverse.contractSize}`, 'true 1')
    const dated = Object.keys(markets).filter((symbol) => /^(BTC|ETH)\/USDT:USDT-\d{6}$/.test(symbol))
    assert.equal(dated.length, 8)
    const ticker = await exchange.fetchTicker(SYMBOL)
    assert.equal(`${ticker.last} ${ticker.bid} ${ticker.ask}`, '60010 59990 60010')
    assert.ok(Math.abs(ticker.markPrice - 60_000) < 30)
    assert.ok((await exchange.fetchTickers(undefined, { type: 'swap' }))['ETH/USDT:USDT'] !== undefined)
    const book = await exchange.fetchOrderBook(SYMBOL, 500)
    assert.deepEqual(book.asks, [[60_010, 70]])
    assert.ok(book.nonce > 0)
    const [trade] = await exchange.fetchTrades(SYMBOL, undefined, 10)
    assert.equal(`${trade.side} ${trade.amount} ${trade.price}`, 'buy 30 60010')
    assert.ok(Math.abs(trade.timestamp / 1000 - platform.now()) < 30_000)
    const hours = await exchange.fetchOHLCV(SYMBOL, '1h', undefined, 12)
    assert.equal(
      hours.reduce((sum: number, row: number[]) => sum + row[5]!, 0),
      30,
    )
    const until = hours.at(-1)[0] as number
    assert.ok((await exchange.fetchOHLCV(SYMBOL, '1h', undefined, 5, { until })).length > 0)
    assert.ok((await exchange.fetchMarkOHLCV(SYMBOL, '5m')).length > 0)
    assert.ok((await exchange.fetchIndexOHLCV(SYMBOL, '5m')).length > 0)
    const rate = await exchange.fetchFundingRate(SYMBOL)
    assert.equal(rate.fundingTimestamp % 28_800_000, 0)
    assert.ok(SYMBOL in (await exchange.fetchFundingRates()))
    const [past] = await exchange.fetchFundingRateHistory(SYMBOL, undefined, 5)
    assert.equal(past.timestamp % 28_800_000, 0)
    const [tier] = await exchange.fetchMarketLeverageTiers(SYMBOL)
    assert.equal(`${tier.maxNotional} ${tier.maxLeverage}`, '1000000 125')
    assert.ok((await exchange.fetchLeverageTiers([SYMBOL], { type: 'swap' }))[SYMBOL].length > 1)
    assert.deepEqual(await exchange.fetchLiquidations(SYMBOL, Date.now() - 60_000, 5), [])
    const interest = await exchange.fetchOpenInterestHistory(SYMBOL, '5m', undefined, 10)
    assert.equal(interest.length, 10)
    assert.deepEqual([interest.at(-1).openInterestAmount, interest.at(-1).timestamp % 300_000], [30, 0])
    const [first] = dated as [string]
    assert.equal((await exchange.fetchTicker(first)).symbol, first)
    assert.equal((await exchange.fetchOrderBook(first)).asks.length, 0)
  })

  test('gate-api: sizes of perpetual contracts are texts, of dated ones numbers', async () => {
    const api = new ApiClient(`${platform.url}/api/v4`)
    const futures = new FuturesApi(api)
    const { body: contracts } = await futures.listFuturesContracts('usdt', {})
    assert.equal(contracts.length, 3)
    assert.equal(contracts[0]!.orderSizeMax, '1000000')
    assert.equal((await futures.getFuturesContract('usdt', 'BTC_USDT')).body.name, 'BTC_USDT')
    const { body: book } = await futures.listFuturesOrderBook('usdt', 'BTC_USDT', { withId: true })
    assert.equal(`${book.asks[0]!.p!} ${book.asks[0]!.s!}`, '60010 70')
    const { body: trades } = await futures.listFuturesTrades('usdt', 'BTC_USDT', {})
    assert.equal(trades[0]!.size, '30')
    const { body: candles } = await futures.listFuturesCandlesticks('usdt', 'BTC_USDT', { interval: '1h' })
    assert.ok(candles.some(({ v }) => v === '30'))
    assert.ok((await futures.listFuturesPremiumIndex('usdt', 'BTC_USDT', { interval: '1m' })).body.length > 0)
    assert.equal((await futures.listFuturesTickers('usdt', {})).body.length, 3)
    assert.equal((await futures.listFuturesFundingRateHistory('usdt', 'BTC_USDT', {})).body.length, 1)
    assert.equal((await futures.listFuturesInsuranceLedger('usdt', {})).body[0]!.b, '1000000')
    const { body: index } = await futures.getIndexConstituents('usdt', 'BTC_USDT')
    assert.equal(index.constituents![0]!.exchange, 'operator')
    assert.deepEqual((await futures.listLiquidatedOrders('usdt', {})).body, [])
    const { body: stats } = await futures.listContractStats('usdt', 'BTC_USDT', { interval: '1d' })
    assert.deepEqual([stats.at(-1)!.openInterest, stats.at(-1)!.longUsers], ['30', 1])
    assert.equal((await futures.listFuturesRiskLimitTiers('usdt', { contract: 'BTC_USDT' })).body.length, 8)
    const delivery = new DeliveryApi(api)
    const { body: dated } = await delivery.listDeliveryContracts('usdt')
    assert.equal(dated.length, 8)
    const { name } = dated[0]!
    assert.equal((await delivery.getDeliveryContract('usdt', name!)).body.cycle, dated[0]!.cycle)
    assert.deepEqual((await delivery.listDeliveryOrderBook('usdt', name!, {})).body.asks, [])
    assert.deepEqual((await delivery.listDeliveryTrades('usdt', name!, {})).body, [])
    assert.equal((await delivery.listDeliveryTickers('usdt', {})).body.length, 8)
    assert.equal((await delivery.listDeliveryInsuranceLedger('usdt', {})).body[0]!.b, '1000000')
  })
})
