import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basisAt, withStep } from '../../src/core/futures/basis.ts'
import {
  indexOf,
  markAt,
  movedMarks,
  premiumNow,
  refuseUnpriced,
  settlePriceNow,
} from '../../src/core/futures/prices.ts'
import { finalPrice } from '../../src/core/futures/minute.ts'
import { seriesOf, type Candle } from '../../src/core/tables/exchange/candles.ts'
import type { BasisStep } from '../../src/core/tables/futures/prices.ts'
import { amountOf, format, rateOf, type Amount } from '../../src/money/amount.ts'
import { Desk } from './desk.ts'
import { BTC_USD, BTC_USDT, CONTRACTS, DATED, ETH_USDT, EXPIRY } from './world.ts'

const text = (value: bigint): string => format(value as Amount)
const candlesOf = (desk: Desk, pair: string, seconds: number): Candle[] => {
  const { candles } = desk.state.futures
  return [...candles.of(seriesOf(pair, seconds)), ...candles.tail(pair, seconds)]
}

describe('samples of the distance between book and index', () => {
  test('one a second, as it is at the full second; a second without a change repeats the one before', () => {
    let steps: readonly BasisStep[] = []
    steps = withStep(steps, 100, amountOf('30'))
    steps = withStep(steps, 100, amountOf('60'))
    assert.equal(text(basisAt(steps, 100)), '0')
    assert.equal(text(basisAt(steps, 101)), '2')
    assert.equal(text(basisAt(steps, 115)), '30')
    assert.equal(text(basisAt(steps, 130)), '60')
    steps = withStep(steps, 119, amountOf('-30'))
    assert.equal(text(basisAt(steps, 129)), text((19n * amountOf('60') - 10n * amountOf('30')) / 30n))
    assert.equal(text(basisAt(steps, 10_000)), '-30')
  })
  test('are what a ring of thirty would hold, whatever comes', () => {
    let steps: readonly BasisStep[] = []
    const values: bigint[] = []
    let [seed, held] = [7, 0n]
    const dice = (sides: number): number => (seed = (seed * 48_271) % 2_147_483_647) % sides
    for (let second = 1; second < 2_000; second++) {
      values[second] = held
      for (let change = dice(4); change > 1; change--) {
        held = BigInt(dice(5)) * 10n ** 18n
        steps = withStep(steps, second, held)
      }
      let sum = 0n
      for (let one = second - 29; one <= second; one++) sum += values[one] ?? 0n
      assert.equal(basisAt(steps, second), sum / 30n)
      assert.ok(steps.length <= 32)
    }
  })
})

describe('the index of a contract', () => {
  test('is the platform’s price of its base, in dollars where it is one of dollars', () => {
    const desk = new Desk()
    assert.equal(text(indexOf(desk.state, desk.contract(BTC_USDT))), '60000')
    const { configured } = desk.state.world
    desk.must('world.configure', {
      config: { ...configured!, exchange_rates: { ...configured!.exchange_rates, USD: '0.999' } },
    })
    assert.equal(text(indexOf(desk.state, desk.contract(BTC_USD))), '59940')
    assert.equal(text(desk.price(BTC_USD).index), '59940')
    assert.equal(text(desk.price(BTC_USDT).index), '60000')
  })
  test('without one the mark stands still, and nothing may be opened', () => {
    const desk = new Desk()
    desk.must('world.live', { live: true })
    desk.must('prices.set', { prices: { BTC: '61000' }, expires: desk.second + 30, actor: null })
    const mark = desk.mark()
    desk.advance(31)
    assert.equal(text(indexOf(desk.state, desk.contract(BTC_USDT))), '0')
    desk.lastPrice(BTC_USDT, '70000')
    desk.rest(BTC_USDT, 'buy', 10, '69000')
    desk.rest(BTC_USDT, 'sell', 10, '70000')
    desk.follow()
    desk.advance(600)
    assert.equal(desk.mark(), mark)
    assert.equal(desk.price().premiums, 0)
    assert.throws(() => refuseUnpriced(desk.state, desk.contract(BTC_USDT)), /no trusted index price/)
    desk.must('prices.set', { prices: { BTC: '61000' }, expires: desk.second + 300, actor: null })
    refuseUnpriced(desk.state, desk.contract(BTC_USDT))
    assert.notEqual(desk.mark(), mark)
  })
})

describe('the mark', () => {
  /** E12: index 60000, funding_rate 0.000137, 12000 s to go, 30 s average 18.4, last 60030.2. */
  function example(): Desk {
    const desk = new Desk()
    desk.rest(BTC_USDT, 'buy', 1000, '60018.3')
    desk.rest(BTC_USDT, 'sell', 1000, '60018.5')
    desk.lastPrice(BTC_USDT, '60030.2')
    desk.follow()
    desk.advance(31)
    desk.setRow(BTC_USDT, { funding_rate: rateOf('0.000137'), next_funding: desk.second + 12_000 })
    desk.follow()
    return desk
  }
  test('E12: the middle one of funding, book and last trade', () => {
    assert.equal(example().mark(), '60018.4')
  })
  test('is evaluated when a book changes, and moves with the samples that follow', () => {
    const desk = example()
    desk.lastPrice(BTC_USDT, '60010')
    desk.follow()
    assert.equal(desk.mark(), '60010')
    desk.lastPrice(BTC_USDT, '60100')
    desk.rest(BTC_USDT, 'buy', 5, '60018.4')
    desk.follow()
    // The sample of this second was taken before the new order came.
    assert.equal(desk.mark(), '60018.4')
    desk.advance(30)
    const at = markAt(desk.state, desk.contract(BTC_USDT), desk.price(), desk.at)
    assert.equal(text(at), '60018.45')
    desk.follow()
    assert.equal(desk.mark(), '60018.45')
  })
  test('time alone moves it: the core is told only where somebody holds a position', () => {
    const desk = example()
    desk.rest(BTC_USDT, 'buy', 5, '60018.4')
    desk.follow()
    assert.deepEqual(movedMarks(desk.state, desk.at + 30e6), [])
    const [one, other] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, one, other, 10, '60018.4')
    assert.deepEqual(movedMarks(desk.state, desk.at + 30e6), [BTC_USDT])
    desk.advance(30)
    desk.follow()
    assert.equal(desk.mark(), '60018.45')
    assert.deepEqual(movedMarks(desk.state, desk.at), [])
  })
  test('stays near the index after the median: three hundredths, of dated ones by the time that is left', () => {
    const desk = new Desk()
    for (const id of [BTC_USDT, DATED]) {
      desk.rest(id, 'buy', 1000, '69999.9')
      desk.rest(id, 'sell', 1000, '70000.1')
      desk.lastPrice(id, '70000')
      desk.follow(id)
    }
    desk.advance(31)
    for (const id of [BTC_USDT, DATED]) desk.follow(id)
    assert.equal(desk.mark(BTC_USDT), '61800')
    const years = (EXPIRY * 1e6 - desk.at) / (365 * 86_400e6)
    assert.equal(desk.mark(DATED), text(roundedTo(60_000 * (1.05 + 0.04 * years))))
    const { contracts } = desk.state.world.configured!
    assert.equal(contracts!.length, Object.keys(CONTRACTS).length)
  })
  const roundedTo = (value: number): bigint => BigInt(Math.round(value * 100)) * 10n ** 16n
  test('with an empty side the sample is the one before; without a book it is median of funding, index, last', () => {
    const desk = new Desk()
    assert.equal(desk.mark(ETH_USDT), text(amountOf('3000.3') - drift(desk)))
    const ask = desk.rest(ETH_USDT, 'sell', 5, '3002')
    desk.rest(ETH_USDT, 'buy', 5, '3000')
    desk.follow(ETH_USDT)
    desk.advance(1)
    desk.take(ask)
    desk.follow(ETH_USDT)
    desk.advance(60)
    const { steps } = desk.price(ETH_USDT)
    assert.deepEqual(steps.at(-1)?.[1], '1')
    desk.lastPrice(ETH_USDT, '3010')
    desk.follow(ETH_USDT)
    assert.equal(desk.mark(ETH_USDT), '3001')
  })
  /** Price 1 is index x (1 + 0.0001 x what is left of the period). */
  const drift = (desk: Desk): bigint => {
    const left = BigInt(desk.price(ETH_USDT).next_funding - desk.second)
    const exact = (amountOf('0.3') * left) / 28_800n
    return amountOf('0.3') - ((2n * exact + 10n ** 16n) / (2n * 10n ** 16n)) * 10n ** 16n
  }
  test('a command that changed nothing writes nothing', () => {
    const desk = example()
    const before = desk.price()
    desk.follow()
    assert.equal(desk.price(), before)
  })
  test('a refused command takes its price back', () => {
    const desk = example()
    const before = desk.price()
    desk.rehearse('prices.set', { prices: { BTC: '50000' }, actor: null })
    assert.equal(desk.price(), before)
    desk.index({ BTC: '50000' })
    assert.notEqual(desk.mark(), format(before.mark))
  })
})

describe('candles of marks and indexes', () => {
  test('follow every evaluation, and the minutes', () => {
    const desk = new Desk()
    desk.toMinute(desk.second - (desk.second % 60) + 60)
    desk.index({ BTC: '60500' })
    desk.index({ BTC: '59500' })
    desk.index({ BTC: '60200' })
    desk.advance(70)
    const candle = candlesOf(desk, `index_${BTC_USDT}`, 60).at(-1)!
    assert.deepEqual([candle.open, candle.high, candle.low, candle.close].map(text), [
      '60500',
      '60500',
      '59500',
      '60200',
    ])
    const mark = candlesOf(desk, `mark_${BTC_USDT}`, 60).at(-1)!
    assert.equal(text(mark.close), desk.mark())
  })
  test('minutes that come late do not write into what is past', () => {
    const desk = new Desk()
    desk.advance(60)
    // The platform was away: what fell due is done when it is back, and prices came first.
    desk.at += 3_600e6
    desk.index({ BTC: '61000' })
    desk.advance(1)
    for (const pair of [`index_${BTC_USDT}`, `mark_${BTC_USDT}`]) {
      const times = candlesOf(desk, pair, 10).map(({ open_time }) => open_time)
      assert.deepEqual(
        times,
        [...times].sort((a, b) => a - b),
      )
    }
    assert.equal(desk.price().minute, desk.second - (desk.second % 60))
  })
})

describe('premiums', () => {
  test('E13: what the impact value would get, above the index', () => {
    const desk = new Desk()
    desk.rest(BTC_USDT, 'buy', 4000, '60070')
    desk.rest(BTC_USDT, 'buy', 5000, '60060')
    desk.rest(BTC_USDT, 'buy', 9000, '60050')
    assert.equal(text(premiumNow(desk.state, desk.contract(BTC_USDT), desk.price().index)), '0.00105')
    desk.toMinute(desk.second - (desk.second % 60) + 60)
    assert.equal(text(candlesOf(desk, `premium_${BTC_USDT}`, 60).at(-1)!.close), '0.00105')
    assert.equal(desk.price().premiums, 1)
  })
  test('are below zero where the asks are below the index, and have candles all the same', () => {
    const desk = new Desk()
    desk.rest(BTC_USDT, 'sell', 10_000, '59940')
    desk.toMinute(desk.second - (desk.second % 60) + 60)
    const { close, low } = candlesOf(desk, `premium_${BTC_USDT}`, 60).at(-1)!
    assert.deepEqual([text(close), text(low)], ['-0.001', '-0.001'])
  })
})

describe('the end of a dated contract', () => {
  test('is settled at the mean of the index at its last thirty full minutes, the last included', () => {
    const desk = new Desk()
    desk.index({ BTC: '10' })
    desk.toMinute(EXPIRY - 1_800)
    assert.equal(desk.price(DATED).settle_count, 0)
    let sum = 0n
    for (let minute = 1; minute <= 30; minute++) {
      const price = String(60_000 + minute * 7)
      desk.index({ BTC: price })
      sum += amountOf(price)
      desk.toMinute(EXPIRY - 1_800 + minute * 60)
      assert.equal(desk.price(DATED).settle_count, minute)
    }
    assert.equal(text(settlePriceNow(desk.contract(DATED), desk.price(DATED))), text(sum / 30n))
    const { mark } = desk.price(DATED)
    desk.index({ BTC: '1' })
    desk.advance(120)
    assert.equal(desk.price(DATED).mark, mark)
    assert.equal(desk.price(DATED).settle_count, 30)
  })
  test('does not wait for the minute’s work that is due at the same time', () => {
    const [early, late] = [new Desk(), new Desk()]
    for (const desk of [early, late]) desk.toMinute(EXPIRY - 1)
    const price = early.apply((ctx) => {
      ctx = { ...ctx, at: EXPIRY * 1e6 }
      return finalPrice(ctx, early.contract(DATED))
    })
    assert.equal(early.price(DATED).settle_count, 30)
    early.toMinute(EXPIRY)
    assert.equal(early.price(DATED).settle_count, 30)
    late.toMinute(EXPIRY)
    assert.equal(
      late.apply((ctx) => finalPrice(ctx, late.contract(DATED))),
      price,
    )
  })
})
