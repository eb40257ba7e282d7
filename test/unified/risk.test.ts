import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUILT_IN_UNIFIED } from '../../src/core/world/built-in-unified.ts'
import { compileTerms, marginSlices } from '../../src/core/tables/world/unified.ts'
import { curveRate } from '../../src/core/unified/lending.ts'
import { Resting, lowersRate } from '../../src/core/unified/restricted.ts'
import { mustLiquidate } from '../../src/core/risk/levels.ts'
import {
  Ladder,
  availableAfterLeaving,
  availableAfterLoan,
  borrowableOf,
  leverageOf,
  riskOf,
  transferableOf,
  type RiskAsset,
  type RiskInput,
  type RiskOrder,
} from '../../src/core/risk/risk.ts'
import { amountOf, format, priceOf, rateOf, unitOf, type Amount } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'

const TERMS = new Map(BUILT_IN_UNIFIED.currencies.map((row) => [row.currency, compileTerms(row)]))
const NAMES = [...TERMS.keys()]
function asset(
  currency: string,
  price: string,
  figures: Partial<Record<'available' | 'freeze' | 'borrowed' | 'interest', string>>,
): RiskAsset {
  const terms = TERMS.get(currency)!
  const of = (name: keyof typeof figures): Amount => amountOf(figures[name] ?? '0')
  return {
    currency,
    price: priceOf(price),
    available: of('available'),
    freeze: of('freeze'),
    borrowed: of('borrowed'),
    interest: of('interest'),
    collateral: true,
    discounts: terms.discounts,
    margins: marginSlices(terms, undefined),
  }
}
const UNIT = unitOf(8)

describe('what an order does to the rate of a restricted account', () => {
  /** Counted in full, so that what a sale loses against the index is seen. */
  const btc = (available: string): RiskAsset => ({
    ...asset('BTC', '50000', { available }),
    discounts: asset('USDT', '1', {}).discounts,
  })
  const usdt = (available: string, isolated: string): RiskAsset => ({
    ...asset('USDT', '1', { available, borrowed: '1500' }),
    isolated: amountOf(isolated),
  })
  const lowers = (assets: readonly RiskAsset[], gives: string, given: string, gets: string, got: string) =>
    lowersRate({ assets, orders: [] }, new Resting(), {
      gives,
      given: amountOf(given),
      gets,
      got: amountOf(got),
    })
  test('what it brings repays though as much as is owed stands behind isolated positions', () => {
    // All of the money is their margin: nothing of it repays. What 0.02 BTC bring at 0.2 % of fees does.
    assert.equal(lowers([btc('1'), usdt('1500', '1500')], 'BTC', '0.02', 'USDT', '998'), false)
    assert.equal(lowers([btc('1'), usdt('1500', '0')], 'BTC', '0.02', 'USDT', '998'), true, 'nothing is owed')
  })
  test('it may not take what would repay, be there as much behind isolated positions', () => {
    // 1000 of 2000 are theirs, so 500 stay owed, and 900 when 400 have bought BTC, cheap as it was.
    assert.equal(lowers([btc('1'), usdt('2000', '1000')], 'USDT', '400', 'BTC', '0.0081'), true)
    assert.equal(lowers([btc('1'), usdt('2000', '0')], 'USDT', '400', 'BTC', '0.0081'), false)
  })
})

describe('risk figures, computed by hand', () => {
  test('discount tiers are applied slice by slice', () => {
    // 600 BTC at 10: 100 x 0.98 + 400 x 0.95 + 100 x 0.9 = 98 + 380 + 90 = 568; x 10 = 5680.
    const { marginBalance, total } = riskOf({
      assets: [asset('BTC', '10', { available: '600' })],
      orders: [],
    })
    assert.deepEqual([format(marginBalance), format(total)], ['5680', '6000'])
  })
  test('a debt beyond the first tier, with interest, in another currency than the collateral', () => {
    // 2,000,000 USDT there, 25 BTC borrowed and sold, 1 BTC of interest owed; BTC at 50,000.
    // Equity BTC: -26, in full: -1,300,000. Margin balance 700,000.
    // Initial: 20 x 50,000 / 10 + 6 x 50,000 / 5 = 100,000 + 60,000 = 160,000.
    // Maintenance: 20 x 50,000 x 4 % + 6 x 50,000 x 6 % = 40,000 + 18,000 = 58,000.
    // Rates 700/160 = 4.375 and 700/58 = 12.0689…; liabilities 1,300,000; equity 700,000; leverage 1.857142….
    const input: RiskInput = {
      assets: [
        asset('USDT', '1', { available: '2000000' }),
        asset('BTC', '50000', { borrowed: '25', interest: '1' }),
      ],
      orders: [],
    }
    const figures = riskOf(input)
    assert.deepEqual(
      [figures.marginBalance, figures.initialMargin, figures.maintenanceMargin, figures.available].map((x) =>
        format(x),
      ),
      ['700000', '160000', '58000', '540000'],
    )
    assert.equal(format(figures.initialRate), '4.375')
    assert.match(format(figures.maintenanceRate), /^12\.0689/)
    assert.match(format(leverageOf(input, figures)), /^1\.857142/)
    assert.equal(mustLiquidate(figures), false)
  })
  test('liquidation begins below 100 % and not at it', () => {
    // Debt 100 USDT: maintenance 3. Collateral BTC x 0.98 must make the margin balance 3 with -100: 103 / 0.98.
    const at = (available: string) =>
      mustLiquidate(
        riskOf({
          assets: [asset('BTC', '1', { available }), asset('USDT', '1', { borrowed: '100' })],
          orders: [],
        }),
      )
    // 105.1 x 0.98 = 102.998 for the first 100 BTC; beyond 100 BTC 0.95: 98 + 0.95 x 5.2631578… = 103.
    assert.equal(at('105.26315790'), false)
    assert.equal(at('105.26315789'), true)
  })
  test('the loss of open orders: the discount, the price and the fee of what they bring', () => {
    // Buys 1 BTC for 100 at an index of 90, fee 0.2 %: gives 100 USDT, gets 0.998 BTC x 90 x 0.98 = 88.0236.
    const order: RiskOrder = { gives: 'USDT', given: amountOf('100'), gets: 'BTC', got: amountOf('0.998') }
    const figures = riskOf({
      assets: [asset('USDT', '1', { available: '50', freeze: '100' }), asset('BTC', '90', {})],
      orders: [new Ladder([order])],
    })
    assert.equal(format(figures.orderLoss), '11.9764')
    assert.equal(format(figures.marginBalance), '138.0236')
  })
  test('the rate curve bends at its kink', () => {
    const curve = { base: '0.000002', kink: '0.8', at_kink: '0.00001', full: '0.0001' }
    // 0.4: half-way to the kink, 0.000006; 0.9: half-way beyond it, 0.000055.
    for (const [utilisation, rate] of [
      ['0', '0.000002'],
      ['0.4', '0.000006'],
      ['0.8', '0.00001'],
      ['0.9', '0.000055'],
      ['1', '0.0001'],
    ] as const)
      assert.equal(format(curveRate(curve, rateOf(utilisation))), rate)
  })
})

describe('borrowable and transferable are exact', () => {
  const draw = random(5)
  const some = (most: number, decimals: number): string =>
    (draw(most * 10 ** decimals) / 10 ** decimals).toFixed(decimals)
  function portfolio(): RiskInput & { list: RiskOrder[] } {
    const names = NAMES.filter(() => draw(2) === 0).concat('USDT', 'BTC')
    const assets = [...new Set(names)].map((name) => {
      const borrowed = draw(3) === 0 ? some(2500, 6) : '0'
      const figures = { available: some(1500, 4), freeze: draw(2) === 0 ? some(300, 3) : '0', borrowed }
      return asset(name, name === 'USDT' ? '1' : some(60, 4).replace(/^0\.0+$/, '1'), {
        ...figures,
        interest: borrowed === '0' ? '0' : some(1, 8),
      })
    })
    const list = assets.flatMap(({ currency, freeze }): RiskOrder[] => {
      const gets = assets[draw(assets.length)]!.currency
      if (freeze === 0n || gets === currency) return []
      // One that holds it all, or several at different prices.
      const count = 1 + draw(4)
      return Array.from({ length: count }, () => ({
        gives: currency,
        given: (freeze / BigInt(count)) as Amount,
        gets,
        got: (amountOf(some(200, 3)) / BigInt(count)) as Amount,
      }))
    })
    return { assets, orders: laddersOf(list), list }
  }
  const laddersOf = (list: readonly RiskOrder[]): Ladder[] => {
    const groups = new Map<string, RiskOrder[]>()
    for (const order of list) {
      const key = `${order.gives}>${order.gets}`
      groups.set(key, [...(groups.get(key) ?? []), order])
    }
    return [...groups.values()].map((orders) => new Ladder(orders))
  }
  test('a ladder loses what its orders lose one by one', () => {
    let losing = 0
    for (let i = 0; i < 2_000; i++) {
      const orders = Array.from({ length: 1 + draw(40) }, () => ({
        gives: 'BTC',
        given: BigInt(1 + draw(1_000)) as Amount,
        gets: 'USDT',
        got: BigInt(draw(1_000)) as Amount,
      }))
      const ladder = new Ladder(orders)
      const [cost, gain] = [BigInt(draw(1_000_000)), BigInt(draw(1_000_000))]
      const { given: whole, got: all } = ladder
      let naive = 0n
      for (const { given, got } of orders) {
        const up = (cost * given + whole - 1n) / whole
        const down = all === 0n ? 0n : (gain * got) / all
        if (up > down) naive += up - down
      }
      const loss = ladder.loss(cost, whole, gain, all)
      // Rounded once instead of once an order.
      assert.ok(loss <= naive && naive - loss <= BigInt(2 * orders.length), `${loss} and ${naive}`)
      if (loss > 0n && loss < cost) losing++
    }
    assert.ok(losing > 500, 'some lose and some do not')
  })
  test('in thousands of portfolios the figure passes and one unit more does not', () => {
    const cap = amountOf('100000000')
    let [loans, leaving] = [0, 0]
    for (let i = 0; i < 4_000; i++) {
      const input = portfolio()
      const { currency, available } = input.assets[draw(input.assets.length)]!
      const most = borrowableOf(input, currency, cap, UNIT)
      if (most > 0n && most < cap) {
        loans++
        assert.ok(availableAfterLoan(input, currency, most) >= 0n)
        assert.ok(availableAfterLoan(input, currency, (most + UNIT) as Amount) < 0n)
      }
      if (input.assets.every(({ borrowed }) => borrowed === 0n)) continue
      const out = transferableOf(input, currency, UNIT)
      assert.ok(out <= available)
      if (out > 0n) assert.ok(availableAfterLeaving(input, currency, out) >= 0n)
      if (out < available) {
        leaving++
        assert.ok(availableAfterLeaving(input, currency, (out + UNIT) as Amount) < 0n)
      }
    }
    assert.ok(loans > 1_000 && leaving > 500, `${loans} loans, ${leaving} transfers were bounded by margin`)
  })
  test('no fill of open orders, in whole or in part, takes more margin than their loss says', () => {
    for (let i = 0; i < 2_000; i++) {
      const input = portfolio()
      if (input.orders.length === 0) continue
      const before = riskOf(input).available
      const filled = input.list.map((order) => ({ order, part: BigInt(draw(101)) }))
      const assets = input.assets.map((one) => {
        let { available, freeze } = one
        for (const { order, part } of filled) {
          if (order.gives === one.currency) freeze = (freeze - (order.given * part) / 100n) as Amount
          if (order.gets === one.currency) available = (available + (order.got * part) / 100n) as Amount
        }
        return { ...one, available, freeze }
      })
      const orders = filled.map(({ order, part }) => ({
        ...order,
        given: (order.given - (order.given * part) / 100n) as Amount,
        got: (order.got - (order.got * part) / 100n) as Amount,
      }))
      assert.ok(riskOf({ assets, orders: laddersOf(orders) }).available >= before - 10n ** 9n)
    }
  })
})
