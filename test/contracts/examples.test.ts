import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  bankruptcyPrice,
  compareScores,
  deleverageScore,
  liquidationPrice,
  stepSize,
  type Score,
} from '../../src/core/contracts/liquidation.ts'
import {
  hedged,
  initialMargin,
  maintenanceMargin,
  openingMargin,
  riskLimit,
  type OrderTerms,
} from '../../src/core/contracts/margin.ts'
import { entryPrice, fill, unrealised, type Holding } from '../../src/core/contracts/position.ts'
import {
  NO_PREMIUMS,
  basisRate,
  feeOf,
  fundingOf,
  fundingOwed,
  fundingRate,
  impactPrice,
  markPrice,
  premium,
  settlePrice,
  trailTrigger,
  withPremium,
} from '../../src/core/contracts/prices.ts'
import { fillValue, valueDown, withDeductions, type Terms } from '../../src/core/contracts/terms.ts'
import { OrderSide } from '../../src/core/tables/futures/order-sides.ts'
import { amountOfContracts } from '../../src/core/tables/world/contracts.ts'
import { amountOf, format, priceOf, rateOf, type Amount, type Price } from '../../src/money/amount.ts'

/** limit / maintenance rate / leverage_max, as section 5 of the specification lists them. */
const tiers = (text: string): Terms['tiers'] =>
  withDeductions(
    text.split(' ').map((tier) => {
      const [limit, maintenance, leverage] = tier.split('/') as [string, string, string]
      return { limit: amountOf(limit), maintenance: rateOf(maintenance), leverageMax: rateOf(leverage) }
    }),
  )
/** Of one resting order, beside a position of which it closes so many contracts. */
function marginOf(
  terms: Terms,
  side: 'buy' | 'sell',
  contracts: bigint,
  price: string,
  order: OrderTerms,
  reduces = 0n,
): Amount {
  const orders = new OrderSide(side)
  orders.add({ id: 1, left: amountOfContracts(contracts), price: priceOf(price), more: null })
  return orders.marginOf({ terms }, reduces, order)
}
const common = { unit: amountOf('0.00000001'), tf: rateOf('0.0005'), markTick: priceOf('0.01') }
const BTC: Terms = {
  ...common,
  kind: 'linear',
  q: amountOf('0.0001'),
  tick: priceOf('0.1'),
  tiers: tiers(
    '1000000/0.004/125 1500000/0.0045/111 2000000/0.005/100 3000000/0.007/75 5000000/0.0075/66 10000000/0.01/50 20000000/0.02/25 50000000/0.05/10',
  ),
}
const ETH: Terms = {
  ...common,
  kind: 'linear',
  q: amountOf('0.01'),
  tick: priceOf('0.01'),
  tiers: tiers('500000/0.005/100 1000000/0.006/80 2000000/0.01/50 5000000/0.02/25'),
}
const USD: Terms = {
  ...common,
  kind: 'inverse',
  q: amountOf('0'),
  tick: priceOf('0.1'),
  tiers: tiers('20/0.005/100 50/0.01/50 100/0.02/25 200/0.05/10 400/0.1/5'),
}
const NONE: Holding = { size: 0n, cost: amountOf('0') }
const [MAKER, TAKER] = [rateOf('0.0002'), rateOf('0.0005')]
const x = rateOf
const text = (value: bigint): string => format(value as Amount)
/** At so many decimals, cut. */
const cut = (value: bigint, decimals: number): string => {
  const step = 10n ** BigInt(18 - decimals)
  return text((value / step) * step)
}
const buy = (terms: Terms, held: Holding, size: number, price: string) =>
  fill(terms, held, BigInt(size), priceOf(price))
const long = (terms: Terms, size: number, price: string): Holding => buy(terms, NONE, size, price)

describe('the worked examples of the specification', () => {
  test('deductions of the tiers', () => {
    assert.deepEqual(
      BTC.tiers.map(({ deduction }) => text(deduction)),
      ['0', '500', '1250', '5250', '6750', '19250', '119250', '719250'],
    )
    assert.deepEqual(
      USD.tiers.map(({ deduction }) => text(deduction)),
      ['0', '0.1', '0.6', '3.6', '13.6'],
    )
  })
  test('E1, E2: an isolated long, its margin and its figures at another mark', () => {
    const order = { leverage: x('10'), takerRate: TAKER, mark: priceOf('60000') }
    assert.equal(text(marginOf(BTC, 'buy', 1000n, '60000', order)), '606')
    const opened = long(BTC, 1000, '60000')
    assert.equal(text(opened.cost), '6000')
    assert.equal(text(openingMargin(BTC, opened.cost, x('10'))), '603')
    assert.equal(text(feeOf(BTC, opened.cost, TAKER)), '3')
    assert.equal(text(entryPrice(BTC, opened)), '60000')
    const mark = priceOf('61000')
    const value = valueDown(BTC, 1000n, mark)
    assert.equal(text(value), '6100')
    assert.equal(text(unrealised(BTC, opened, mark)), '100')
    assert.equal(text(initialMargin(BTC, value, x('10'))), '613.05')
    assert.equal(text(maintenanceMargin(BTC, value)), '27.45')
    assert.equal(cut((amountOf('703') * 10n ** 18n) / amountOf('27.45'), 4), '25.6102')
  })
  test('E3, E4: more of it, then a part is sold', () => {
    const more = buy(BTC, long(BTC, 1000, '60000'), 500, '61200')
    assert.equal(text(more.openedValue), '3060')
    assert.equal(text(more.cost), '9060')
    assert.equal(text(entryPrice(BTC, more)), '60400')
    assert.equal(text(openingMargin(BTC, more.openedValue, x('10'))), '307.53')
    const sold = buy(BTC, more, -600, '61500')
    assert.equal(text(sold.realised), '66')
    assert.equal(text(feeOf(BTC, fillValue(BTC, 600n, priceOf('61500')), MAKER)), '0.738')
    assert.deepEqual([sold.size, text(sold.cost), text(entryPrice(BTC, sold))], [900n, '5436', '60400'])
  })
  test('E5: rounding takes nothing away and gives nothing', () => {
    const held = buy(BTC, long(BTC, 3, '60000.1'), 4, '60000.3')
    assert.equal(text(held.cost), '42.00015')
    assert.equal(cut(entryPrice(BTC, held), 12), '60000.214285714285')
    const first = buy(BTC, held, -2, '60010')
    assert.equal(text(first.realised), '0.00195714')
    const last = buy(BTC, first, -5, '60010')
    assert.equal(text(last.realised), '0.00489286')
    assert.deepEqual([last.size, last.cost], [0n, 0n])
    const short = buy(BTC, buy(BTC, NONE, -3, '60000.1'), -4, '60000.3')
    assert.equal(text(buy(BTC, short, 2, '60010').realised), '-0.00195715')
  })
  test('E6, E7: liquidation and bankruptcy prices', () => {
    const opened = long(BTC, 1000, '60000')
    const margin = amountOf('603')
    assert.equal(text(liquidationPrice(BTC, opened, margin)), '54213.97')
    assert.equal(text(bankruptcyPrice(BTC, opened, priceOf('60000'), margin)!), '53997')
    const short = buy(BTC, NONE, -1000, '60000')
    assert.equal(text(liquidationPrice(BTC, short, margin)), '65734.19')
    assert.equal(text(bankruptcyPrice(BTC, short, priceOf('60000'), margin)!), '65997')
    // The same whatever the mark price is, because the equity moves with it.
    const lower = (margin + unrealised(BTC, opened, priceOf('55000'))) as Amount
    assert.equal(text(bankruptcyPrice(BTC, opened, priceOf('55000'), lower)!), '53997')
    const large = long(BTC, 300_000, '60000')
    assert.equal(text(openingMargin(BTC, large.cost, x('50'))), '36900')
    assert.equal(text(liquidationPrice(BTC, large, amountOf('36900'))), '59053.13')
    const tiered = maintenanceMargin(BTC, amountOf('1200000')) - amountOf('600')
    assert.equal(text(tiered), '4900')
  })
  test('E8, E9: a cross account with orders', () => {
    const btc = long(BTC, 1000, '60000')
    const eth = buy(ETH, NONE, -500, '3000')
    const marks = [priceOf('59500'), priceOf('3020')] as const
    const [v1, v2] = [valueDown(BTC, 1000n, marks[0]), valueDown(ETH, 500n, marks[1])]
    assert.deepEqual([text(v1), text(v2)], ['5950', '15100'])
    const pnl = unrealised(BTC, btc, marks[0]) + unrealised(ETH, eth, marks[1])
    assert.equal(text(amountOf('5000') + pnl), '4850')
    assert.equal(text(initialMargin(BTC, v1, x('10'))), '597.975')
    assert.equal(text(initialMargin(ETH, v2, x('10'))), '1517.55')
    assert.equal(text(maintenanceMargin(BTC, v1) + maintenanceMargin(ETH, v2)), '109.825')
    const order = { leverage: x('10'), takerRate: TAKER, mark: marks[0] }
    assert.equal(text(marginOf(BTC, 'buy', 400n, '59000', order)), '238.36')
    assert.equal(text(marginOf(BTC, 'sell', 1600n, '59900', order, btc.size)), '362.994')
    assert.equal(text(liquidationPrice(BTC, btc, amountOf('4816.95'))), '11883.98')
  })
  test('E10, E11: an inverse contract', () => {
    const opened = long(USD, 6000, '60000')
    assert.equal(text(opened.cost), '0.1')
    assert.equal(text(openingMargin(USD, opened.cost, x('10'))), '0.01005')
    assert.equal(text(feeOf(USD, opened.cost, TAKER)), '0.00005')
    const mark = priceOf('63000')
    assert.equal(cut(valueDown(USD, 6000n, mark), 12), '0.095238095238')
    assert.equal(cut(unrealised(USD, opened, mark), 12), '0.004761904761')
    const closed = buy(USD, opened, -6000, '63000')
    assert.equal(text(closed.realised), '0.00476191')
    assert.equal(text(feeOf(USD, fillValue(USD, 6000n, mark), TAKER)), '0.00004762')
    const margin = amountOf('0.01005')
    assert.equal(text(liquidationPrice(USD, opened, margin)), '54820.54')
    assert.equal(text(bankruptcyPrice(USD, opened, priceOf('60000'), margin)!), '54548')
    const short = buy(USD, NONE, -6000, '60000')
    assert.equal(text(liquidationPrice(USD, short, margin)), '66336.85')
    assert.equal(text(bankruptcyPrice(USD, short, priceOf('60000'), margin)!), '66670.3')
    assert.equal(text(liquidationPrice(USD, short, amountOf('0.10005'))), '99999999')
  })
  test('E12: the mark price, and how far it may go', () => {
    const inputs = {
      index: priceOf('60000'),
      fundingRate: rateOf('0.000137'),
      seconds: 12_000,
      interval: 28_800,
      basis: priceOf('18.4'),
      last: priceOf('60030.2'),
      bound: rateOf('0.03'),
    }
    assert.equal(text(markPrice(BTC, inputs)), '60018.4')
    assert.equal(text(markPrice(BTC, { ...inputs, last: undefined })), '60003.43')
    const pumped = { ...inputs, basis: priceOf('9000'), last: priceOf('70000') }
    assert.equal(
      text(markPrice(BTC, pumped)),
      '61800',
      'who owns the book and prints the trades moves it so far',
    )
    const dumped = { ...inputs, basis: -priceOf('9000'), last: priceOf('50000') }
    assert.equal(text(markPrice(BTC, dumped)), '58200')
  })
  test('E13: premium of a book', () => {
    const levels = [
      [60070, 4000],
      [60060, 5000],
      [60050, 9000],
    ].map(([price, size]) => ({ price: priceOf(String(price)), size: BigInt(size!) }))
    const bid = impactPrice(BTC, levels, amountOf('60000'))!
    assert.equal(cut(bid, 5), '60063.01365')
    assert.equal(text(premium(bid, undefined, priceOf('60000'))), '0.00105')
    assert.equal(text(premium(undefined, undefined, priceOf('60000'))), '0')
    // With less depth than that, what there is counts.
    assert.equal(text(impactPrice(BTC, levels.slice(0, 1), amountOf('60000'))!), '60070')
  })
  test('E14: funding rates', () => {
    const terms = { interest: rateOf('0.0003'), intervalSeconds: 28_800, limit: rateOf('0.003') }
    const rate = (...premiums: string[]): string => {
      let sums = NO_PREMIUMS
      for (const one of premiums) sums = withPremium(sums, rateOf(one))
      return text(fundingRate(sums, terms))
    }
    assert.equal(rate('0.0012', '0.0010', '0.0008', '0.0004'), '0.00022')
    assert.equal(rate('0.00012'), '0.0001')
    assert.equal(rate('-0.0002'), '0.0001')
    assert.equal(rate('0.0051'), '0.003')
    assert.equal(rate(), '0.0001')
  })
  test('E15, E16: funding of positions, and what is left by rounding', () => {
    const a = fundingOf(BTC, priceOf('60123.45'), rateOf('0.000137'))
    assert.equal(text(a), '0.000823691265')
    assert.deepEqual(
      [700n, 334n, -1034n].map((size) => text(fundingOwed(BTC, size, a))),
      ['0.57658389', '0.27511289', '-0.85169676'],
    )
    const b = fundingOf(USD, priceOf('60123.45'), rateOf('-0.00021'))
    assert.equal(text(b), '-0.000000003492813536')
    assert.deepEqual(
      [-7500n, 6000n, 1500n].map((size) => text(fundingOwed(USD, size, b))),
      ['0.0000262', '-0.00002095', '-0.00000523'],
    )
  })
  test('E17: the costs of all positions add up to what was realised', () => {
    const bought = long(BTC, 1000, '60000')
    const other = buy(BTC, NONE, -1000, '60000')
    const sold = buy(BTC, bought, -600, '61500')
    const third = long(BTC, 600, '61500')
    assert.deepEqual(
      [sold, other, third].map(({ cost }) => text(cost)),
      ['2400', '-6000', '3690'],
    )
    assert.equal(text(sold.realised), '90')
    assert.equal(text(sold.cost + other.cost + third.cost), '90')
  })
  test('E18, E19: how much a liquidation closes, and at what price', () => {
    const opened = long(BTC, 300_000, '60000')
    const mark = priceOf('59630')
    const equity = (amountOf('18900') + unrealised(BTC, opened, mark)) as Amount
    assert.equal(text(equity), '7800')
    assert.equal(text(maintenanceMargin(BTC, valueDown(BTC, 300_000n, mark))), '8588.95')
    assert.equal(stepSize(BTC, opened, mark), 48_449n)
    assert.equal(text(bankruptcyPrice(BTC, opened, mark, equity)!), '59399.7')
    const first = buy(BTC, opened, -30_000, '59620')
    const second = buy(BTC, first, -18_449, '59610')
    assert.equal(text(first.realised + second.realised), '-1859.511')
    assert.equal(text(second.cost), '1509306')
    assert.equal(text(maintenanceMargin(BTC, valueDown(BTC, 251_551n, mark))), '6999.993065')
    const small = long(BTC, 1000, '60000')
    assert.equal(stepSize(BTC, small, priceOf('54100')), 1000n)
    const left = (amountOf('603') + unrealised(BTC, small, priceOf('54100'))) as Amount
    assert.equal(text(left), '13')
    assert.equal(text(bankruptcyPrice(BTC, small, priceOf('54100'), left)!), '53997')
    assert.equal(text(buy(BTC, small, -400, '54050').realised), '-238')
    assert.equal(text(buy(BTC, long(BTC, 600, '60000'), -600, '53997').realised), '-360.18')
  })
  test('E20: who is deleveraged first', () => {
    const mark = priceOf('54100')
    const score = (size: number, price: string, equity: string): string => {
      const held = buy(BTC, NONE, -size, price)
      const pnl = unrealised(BTC, held, mark)
      const maintenance = maintenanceMargin(BTC, valueDown(BTC, BigInt(size), mark))
      return cut(deleverageScore(pnl, held, maintenance, amountOf(equity)).rough, 8)
    }
    assert.equal(score(500, '60000', '596.5'), '0.00200664')
    assert.equal(score(800, '58000', '2312'), '0.00056643')
    assert.equal(score(300, '54000', '87').slice(0, 9), '-0.022059'.slice(0, 9))
  })
  test('who is deleveraged first is not decided by rounding', () => {
    const held = buy(BTC, NONE, -1, '60000')
    const rich = (10n ** 38n) as Amount
    const score = (pnl: bigint, equity: Amount): Score =>
      deleverageScore(pnl as Amount, held, amountOf('0.1'), equity)
    // What is near its end by less than 18 decimals tell, and has earned more or less.
    assert.equal(score(3n, rich).rough, score(2n, rich).rough)
    assert.ok(compareScores(score(3n, rich), score(2n, rich)) > 0n)
    assert.ok(compareScores(score(2n, rich), score(3n, rich)) < 0n)
    assert.equal(compareScores(score(4n, (rich * 2n) as Amount), score(2n, rich)), 0n)
    // Who has lost goes behind all of them, the larger loss last.
    assert.ok(compareScores(score(1n, rich), score(-1n, rich)) > 0n)
    assert.ok(compareScores(score(-1n, rich), score(-2n, rich)) > 0n)
    // Contracts that cost less than a unit.
    const nothing = { size: 1n, cost: 0n as Amount }
    assert.ok(compareScores(deleverageScore(2n as Amount, nothing, 1n as Amount, rich), score(2n, rich)) > 0n)
  })
  test('E24: both sides of one contract', () => {
    const [a, b] = [amountOf('6000'), amountOf('2400')]
    assert.equal(text(hedged(BTC, a, b, (value) => initialMargin(BTC, value, x('10')))), '604.2')
    assert.equal(text(hedged(BTC, b, a, (value) => maintenanceMargin(BTC, value))), '28.2')
  })
  test('E25, E26, E27: fees, a trailing order, a dated contract', () => {
    const value = amountOf('12345.67')
    assert.equal(text(feeOf(BTC, value, TAKER)), '6.172835')
    assert.equal(text(feeOf(BTC, value, MAKER)), '2.469134')
    assert.equal(text(feeOf(BTC, value, rateOf('-0.00005'))), '-0.6172835')
    const inverse = fillValue(USD, 777n, priceOf('60123.4'))
    assert.deepEqual([text(inverse), text(feeOf(USD, inverse, TAKER))], ['0.01292342', '0.00000647'])
    assert.equal(text(trailTrigger(BTC, 'sell', priceOf('61250.4'), { ratio: rateOf('0.01') })), '60637.9')
    assert.equal(text(trailTrigger(BTC, 'buy', priceOf('86711.9'), { ratio: rateOf('0.05') })), '91047.4')
    const settled = buy(BTC, long(BTC, 1000, '60000'), -1000, '60512.34')
    assert.equal(text(settled.realised), '51.234')
    assert.equal(text(feeOf(BTC, amountOf('6051.234'), rateOf('0.00015'))), '0.9076851')
    assert.equal(text(basisRate(priceOf('60360'), priceOf('60000'), 90)), '0.024333')
    assert.equal(text(settlePrice(BTC, ['60000', '60000.01', '60000.02'].map(priceOf))), '60000.01')
    assert.equal(text(settlePrice(BTC, ['60000', '60000.01'].map(priceOf))), '60000.01')
  })
  test('the risk limit follows the leverage', () => {
    const limit = (leverage: string): string => text(riskLimit(BTC, x(leverage)))
    assert.deepEqual(['125', '100', '99', '20', '10', '1'].map(limit), [
      '1000000',
      '2000000',
      '2000000',
      '20000000',
      '50000000',
      '50000000',
    ])
  })
})

describe('properties of the arithmetic', () => {
  /** A generator of its own, so that a failure comes again. */
  function dice(seed: number): (below: number) => number {
    let state = seed
    return (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }
  for (const [name, terms] of [
    ['linear', BTC],
    ['inverse', USD],
  ] as const)
    test(`${name}: two sides of every fill; what one realises and holds is what the other does not`, () => {
      const roll = dice(7)
      let clearing = 0n
      const held: Holding[] = [NONE, NONE, NONE, NONE]
      for (let i = 0; i < 5_000; i++) {
        const buyer = roll(4)
        const seller = (buyer + 1 + roll(3)) % 4
        const size = BigInt(1 + roll(2_000))
        const price = (priceOf('0.1') * BigInt(300_000 + roll(600_000))) as Price
        for (const [who, contracts] of [
          [buyer, size],
          [seller, -size],
        ] as const) {
          const filled = fill(terms, held[who]!, contracts, price)
          clearing -= filled.realised
          held[who] = { size: filled.size, cost: filled.cost }
          assert.ok(filled.size === 0n ? filled.cost === 0n : filled.size > 0n === filled.cost > 0n)
        }
        assert.equal(
          held.reduce((sum, one) => sum + one.size, 0n),
          0n,
        )
        const cost = held.reduce((sum, one) => sum + one.cost, 0n)
        assert.equal(clearing, terms.kind === 'linear' ? -cost : cost, `after fill ${i}`)
      }
    })
  test('at the price that is told a position is at its maintenance margin, a tick further it is above', () => {
    const roll = dice(11)
    for (let i = 0; i < 2_000; i++) {
      const terms = roll(2) === 0 ? BTC : USD
      const size = BigInt(1 + roll(terms === BTC ? 400_000 : 4_000_000)) * (roll(2) === 0 ? 1n : -1n)
      const held = fill(terms, NONE, size, (priceOf('0.1') * BigInt(400_000 + roll(400_000))) as Price)
      const leverage = x(String(2 + roll(48)))
      const margin = openingMargin(terms, (held.cost < 0n ? -held.cost : held.cost) as Amount, leverage)
      const price = liquidationPrice(terms, held, margin)
      if (price === 0n || text(price) === '99999999') continue
      const short = size < 0n
      const over = (at: Price): boolean => {
        const value = valueDown(terms, short ? -size : size, at)
        return margin + unrealised(terms, held, at) > maintenanceMargin(terms, value)
      }
      const [safer, worse] = [price + terms.markTick, price - terms.markTick] as [Price, Price]
      assert.ok(over(short ? worse : safer), `${text(price)} of ${size}`)
      assert.ok(!over(short ? safer : worse), `${text(price)} of ${size}`)
    }
  })
  test('sizes and prices at their largest neither overflow nor lose a digit', () => {
    const size = 10_000_000n
    const held = fill(BTC, NONE, size, priceOf('99999999.9'))
    assert.equal(text(held.cost), '99999999900')
    assert.equal(text(fill(BTC, held, -size, priceOf('0.1')).realised), '-99999999800')
  })
})
