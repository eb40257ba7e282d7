import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format } from '../../src/money/amount.ts'
import { Floor, type More } from './floor.ts'
import { Thieves } from './thieves.ts'
import { BTC_USDT, CONTRACTS, ETH_USDT, futuresWorld } from './world.ts'

/**
 * Accounts of one person, who may do whatever the API lets him. What they have together, with every position valued at
 * the index, must not rise where only they trade; where others take part it rises by no more than honest prices paid.
 */

test('a profit that two accounts have painted on one contract pays for no dear close in another', () => {
  for (const resting of [false, true]) {
    const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 })
    const [loser, winner] = [thieves.join('1170'), thieves.join('100000')]
    for (const id of [BTC_USDT, ETH_USDT]) thieves.leverage(loser, id, '0', '100')
    const before = thieves.worth()
    thieves.swap(loser, winner, BTC_USDT, 8_000, '60000')
    thieves.swap(loser, winner, ETH_USDT, 1_600, '3000')
    thieves.paint(winner, thieves.join('100000'), BTC_USDT, 61_700)
    const joined = before + 100_000
    // Sold to the other account as cheaply as the painted profit allows.
    for (let price = 2_900; price < 3_000; price += 2) {
      const size = thieves.size(loser, ETH_USDT)
      if (size === 0) break
      if (resting) {
        thieves.send(loser, ETH_USDT, -size, String(price), { reduce_only: true })
        thieves.send(winner, ETH_USDT, size, String(price), { tif: 'ioc' })
        thieves.cancelAll(loser)
      } else {
        thieves.send(winner, ETH_USDT, size, String(price))
        thieves.send(loser, ETH_USDT, -size, String(price), { reduce_only: true, tif: 'ioc' })
        thieves.cancelAll(winner)
      }
    }
    assert.equal(thieves.size(loser, ETH_USDT), 0, 'at a fair price he is let out')
    thieves.honest()
    assert.ok(thieves.worth() <= joined + 1e-6, `${resting} ${thieves.worth()} of ${joined}`)
  }
})

test('a loss that two accounts have painted over gives away no profit through an order that waited', () => {
  const thieves = new Thieves({ BTC: 60_000, ETH: 2_890 })
  const [loser, winner, third] = [thieves.join('2100'), thieves.join('100000'), thieves.join('100000')]
  for (const id of [BTC_USDT, ETH_USDT]) thieves.leverage(loser, id, '0', '100')
  thieves.swap(loser, winner, ETH_USDT, 1_600, '2890')
  // A fair price when it was placed.
  const cheap = thieves.place(loser, ETH_USDT, -1_600, '2900', { reduce_only: true })
  thieves.honestAt({ ETH: 3_000 })
  thieves.swap(loser, winner, BTC_USDT, 12_000, '60000')
  thieves.honestAt({ BTC: 57_500 })
  const before = thieves.worth()
  assert.equal(thieves.size(loser, ETH_USDT), 1_600, 'he can bear that')
  thieves.paint(winner, third, BTC_USDT, 59_200)
  thieves.send(winner, ETH_USDT, 1_600, '2900', { tif: 'ioc' })
  assert.equal(thieves.state.futures.orders.get(cheap.id)?.finish_as, 'liquidated')
  thieves.honest()
  assert.ok(thieves.worth() <= before + 1e-6, `${thieves.worth()} of ${before}`)
})

test('who is deleveraged against his own other side keeps what that side has won', () => {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, '0')
  const [both, other] = [thieves.join('5000'), thieves.join('100000')]
  thieves.must('futures.dual_mode', { ...thieves.path(both, BTC_USDT), dual: true })
  thieves.leverage(both, BTC_USDT, '20')
  const before = thieves.worth()
  thieves.swap(both, other, BTC_USDT, 1_000, '60000')
  thieves.swap(other, both, BTC_USDT, 1_000, '60000')
  assert.equal(thieves.size(other), 0, 'nobody else is in the contract')
  thieves.honestAt({ BTC: 56_000 })
  assert.equal(thieves.size(both, BTC_USDT, 'dual_long'), 0)
  const paid = format(thieves.state.ledger.balance(0, 'insurance:futures.usdt', 'USDT'))
  // The long side lost its margin, or less; the short side won as much as the long lost.
  assert.ok(thieves.worth() >= before - 4 * 3 - 1e-6, `${thieves.worth()} of ${before}; the fund has ${paid}`)
  assert.ok(thieves.worth() <= before + 1e-6)
})

/** A long of somebody honest, at a leverage that one painted percent ends; and what the thieves bid for it. */
function hunt(fund: string, crowd: boolean): { thieves: Thieves; before: number; victim: number } {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, fund)
  const [one, other] = [thieves.join('100000'), thieves.join('100000')]
  const victim = thieves.holder('2000')
  thieves.leverage(victim, BTC_USDT, '50')
  const seller = crowd ? thieves.holder('100000') : one
  thieves.swap(victim, seller, BTC_USDT, 10_000, '60000')
  const before = thieves.worth()
  // The bid waits where the victim's margin ends.
  thieves.place(one, BTC_USDT, 10_000, '58830')
  thieves.paint(one, other, BTC_USDT, 58_900, true)
  thieves.cancelAll(one)
  thieves.cancelAll(other)
  return { thieves, before, victim }
}
test('who paints a mark to liquidate others gets nothing of their margin', () => {
  for (const fund of ['10000', '0'])
    for (const crowd of [true, false]) {
      const { thieves, before, victim } = hunt(fund, crowd)
      assert.equal(thieves.size(victim), 0, 'the mark decides who is liquidated')
      thieves.advance(30)
      thieves.honest()
      assert.ok(
        thieves.worth() <= before + 1e-6,
        `fund ${fund} crowd ${crowd}: ${thieves.worth()} of ${before}`,
      )
    }
})

/**
 * A mark is painted as far up as it is believed, one of them gets in there with as little as he may, and is liquidated when
 * it is back: the fund has what he bought, and sells it to the others as far below the index as it does.
 */
function sellDear(getIn: (thieves: Thieves, thin: number, rich: number) => void): void {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, '1000000')
  const [thin, rich] = [thieves.join('21000'), thieves.join('500000')]
  const [one, other] = [thieves.join('100000'), thieves.join('100000')]
  thieves.leverage(rich, BTC_USDT, '0', '20')
  const before = thieves.worth()
  thieves.paint(one, other, BTC_USDT, 60_299)
  getIn(thieves, thin, rich)
  thieves.cancelAll(rich)
  for (const price of [59_950, 59_900, 59_850, 59_800])
    if (thieves.size(0) === 0) thieves.paint(one, other, BTC_USDT, price)
  assert.ok(thieves.size(0) > 0, 'the fund has it')
  for (let second = 0; second < 60; second++) {
    thieves.cancelAll(rich)
    thieves.send(rich, BTC_USDT, 200_000, second < 40 ? '59705' : '59760')
    thieves.advance(1)
    thieves.follow()
    thieves.drain()
  }
  assert.ok(thieves.size(0) < 1_500, `the fund has sold: ${thieves.size(0)}`)
  thieves.honest()
  assert.ok(thieves.worth() <= before + 1e-6, `${thieves.worth()} of ${before}`)
}
/** At the highest price at which he may. */
function buyDear(
  thieves: Thieves,
  thin: number,
  rich: number,
  { size, from, rests = false }: { readonly size: number; readonly from: number; readonly rests?: boolean },
): void {
  for (let price = from; thieves.size(thin) === 0; price -= 6) {
    const [first, second] = rests ? [thin, rich] : [rich, thin]
    thieves.send(first, BTC_USDT, first === thin ? size : -size, String(price))
    thieves.send(second, BTC_USDT, second === thin ? size : -size, String(price), { tif: 'ioc' })
    thieves.cancelAll(first)
  }
}
test('the fund does not buy dear what it sells cheap: who opens or takes money out is above maintenance at the index', () => {
  for (const rests of [false, true])
    sellDear((thieves, thin, rich) => {
      thieves.leverage(thin, BTC_USDT, '125')
      buyDear(thieves, thin, rich, { size: 150_000, from: 60_560, rests })
    })
  sellDear((thieves, thin, rich) => {
    thieves.leverage(thin, BTC_USDT, '60')
    buyDear(thieves, thin, rich, { size: 150_000, from: 60_320 })
    thieves.leverage(thin, BTC_USDT, '125')
    for (let out = 4_000; out >= 10; out -= 10) {
      const change = { contract: 'BTC_USDT', change: `-${out}`, dual_side: null }
      thieves.run('futures.margin', { ...thieves.path(thin, BTC_USDT), ...change })
    }
  })
  sellDear((thieves, thin, rich) => {
    thieves.leverage(thin, BTC_USDT, '0', '125')
    buyDear(thieves, thin, rich, { size: 150_000, from: 60_320 })
    for (let out = 20_000; out >= 10; out -= 10) thieves.takeOut(thin, String(out))
  })
})

test('orders that each would only reduce need margin for what they would open together', () => {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 })
  const [one, other] = [thieves.join('100'), thieves.join('100000')]
  thieves.swap(one, other, BTC_USDT, 100, '60000')
  assert.equal(thieves.send(one, BTC_USDT, -100, '60100'), 'placed', 'it closes the long')
  assert.equal(thieves.send(one, BTC_USDT, -100, '60200'), 'INSUFFICIENT_AVAILABLE', 'it would open a short')
  assert.equal(thieves.send(one, BTC_USDT, -50, '60200'), 'placed', 'there is enough for half of it')
  const [order] = thieves.state.futures
    .openOrders(one, BTC_USDT)
    .filter(({ price }) => format(price) === '60200')
  const raised = { id: order!.id, size: '-99', price: null, amend_text: null }
  const outcome = thieves.run('futures.amend', { ...thieves.path(one, BTC_USDT), ...raised })
  assert.equal('label' in outcome && outcome.label, 'INSUFFICIENT_AVAILABLE')
  // Out of a position there is always a way.
  thieves.send(other, BTC_USDT, 100, '59900')
  assert.equal(thieves.send(one, BTC_USDT, -100, '0'), 'placed')
  assert.equal(thieves.size(one), 0)
})

test('who is there only for the funding wins what the other side pays, less fees, and among themselves nothing', () => {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 })
  const [one, other] = [thieves.join('20000'), thieves.join('20000')]
  const honest = thieves.holder('20000')
  thieves.swap(honest, other, BTC_USDT, 1_000, '60000')
  const { next_funding } = thieves.price()
  thieves.advance(next_funding - thieves.second - 700)
  const [before, mine] = [thieves.worth(), thieves.worth([honest])]
  // A bid far above the index, that nobody sells to, makes longs pay; and a position is there for one minute only.
  thieves.place(one, BTC_USDT, 1, '61500')
  thieves.advance(690)
  thieves.cancelAll(one)
  thieves.swap(other, one, BTC_USDT, 3_000, '60000')
  thieves.advance(15)
  thieves.swap(one, other, BTC_USDT, 3_000, '60000')
  thieves.drain()
  assert.ok(thieves.ran.includes('futures.fund'))
  const [won, lost] = [thieves.worth() - before, mine - thieves.worth([honest])]
  assert.ok(lost > 0, 'the honest long has paid')
  assert.ok(lost <= 6_000 * 0.003 + 1e-6, `${lost}: more than the limit of the rate`)
  assert.ok(won <= lost + 1e-6, `${won} of ${lost}`)
})

/** The price has been another one for half an hour, and the contract ends at the mean of that in a minute and a half. */
function nearItsEnd(
  during: number,
  now: number,
  getIn: (thieves: Thieves) => void = () => undefined,
): Thieves {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, '1000000')
  const end = thieves.second - (thieves.second % 60) + 3_600
  thieves.must('contract.change', { contract: BTC_USDT, change: { delisted_time: end }, actor: null })
  getIn(thieves)
  thieves.advance(end - 1_830 - thieves.second)
  thieves.honestAt({ BTC: during })
  thieves.advance(end - 90 - thieves.second)
  thieves.honestAt({ BTC: now })
  return thieves
}
/** What all of them have when nothing of it is left. */
function worthAtTheEnd(thieves: Thieves): number {
  for (const id of [BTC_USDT, ETH_USDT])
    for (const member of thieves.members)
      assert.ok(id === BTC_USDT || thieves.size(member, id) === 0, 'nothing else is open')
  thieves.advance(200)
  thieves.drain()
  assert.equal(thieves.contract(BTC_USDT).config.status, 'delisted')
  return thieves.worth()
}
test('who knows at what price a contract is going to end has the fund pay nothing of it', () => {
  // Gets in when that is nearly certain, at the price of the moment: what the one loses is more than it must bring.
  for (const rests of [false, true]) {
    const thieves = nearItsEnd(60_000, 61_000)
    const [thin, rich] = [thieves.join('7000'), thieves.join('500000')]
    thieves.leverage(thin, BTC_USDT, '100')
    const before = thieves.worth()
    const [first, second] = rests ? [thin, rich] : [rich, thin]
    for (const price of ['61000', '60900', '60700'])
      if (thieves.size(thin) === 0) {
        thieves.send(first, BTC_USDT, first === thin ? 100_000 : -100_000, price)
        thieves.send(second, BTC_USDT, second === thin ? 100_000 : -100_000, price, { tif: 'ioc' })
        thieves.cancelAll(first)
      }
    const after = worthAtTheEnd(thieves)
    assert.ok(after <= before + 1e-6, `${rests}: ${after} of ${before}`)
  }
  // Was in long before, and takes out what the end is going to cost.
  for (const way of ['margin', 'leverage', 'transfer']) {
    let before = 0
    const thieves = nearItsEnd(61_000, 60_000, (early) => {
      const [thin, rich] = [early.join('65000'), early.join('500000')]
      before = early.worth()
      early.leverage(thin, BTC_USDT, way === 'transfer' ? '0' : '10', '10')
      early.swap(rich, thin, BTC_USDT, 100_000, '60000')
    })
    const [thin] = thieves.members as [number, number]
    const path = { ...thieves.path(thin, BTC_USDT), contract: 'BTC_USDT' }
    if (way === 'leverage')
      thieves.run('futures.leverage', { ...path, leverage: '100', cross_leverage_limit: null })
    if (way === 'transfer')
      thieves.run('futures.leverage', { ...path, leverage: '0', cross_leverage_limit: '100' })
    for (let out = 40_000; out >= 10; out = Math.floor(out / 2))
      for (let times = 0; times < 2; times++) {
        if (way === 'margin') thieves.run('futures.margin', { ...path, change: `-${out}`, dual_side: null })
        thieves.takeOut(thin, String(out))
      }
    const after = worthAtTheEnd(thieves)
    assert.ok(after <= before + 1e-6, `${way}: ${after} of ${before}`)
  }
  // A profit that the end is not going to bring pays for a dear close in another contract.
  let before = 0
  const thieves = nearItsEnd(60_000, 62_000, (early) => {
    const [thin, rich] = [early.join('12700'), early.join('500000')]
    before = early.worth()
    for (const id of [BTC_USDT, ETH_USDT]) early.leverage(thin, id, '0', '100')
    early.swap(thin, rich, BTC_USDT, 100_000, '60000')
    early.swap(thin, rich, ETH_USDT, 16_500, '3000')
  })
  const [thin, rich] = thieves.members as [number, number]
  for (let price = 2_850; price <= 3_000 && thieves.size(thin, ETH_USDT) > 0; price += 2) {
    const size = thieves.size(thin, ETH_USDT)
    thieves.send(rich, ETH_USDT, size, String(price))
    thieves.send(thin, ETH_USDT, -size, String(price), { reduce_only: true, tif: 'ioc' })
    thieves.cancelAll(rich)
  }
  const after = worthAtTheEnd(thieves)
  assert.ok(after <= before + 1e-6, `${after} of ${before}`)
})
test('the fund sells nothing for less than it is going to end at', () => {
  const thieves = nearItsEnd(61_000, 60_000, (early) => {
    early.trade(BTC_USDT, 0, early.holder('500000'), 100_000, '60000')
  })
  const one = thieves.join('100000')
  const before = thieves.worth()
  thieves.send(one, BTC_USDT, 20_000, '59900')
  for (let second = 0; second < 20; second++) {
    thieves.advance(1)
    thieves.drain()
  }
  thieves.cancelAll(one)
  const after = worthAtTheEnd(thieves)
  assert.ok(after <= before + 1e-6, `${after} of ${before}`)
})

/** A feed has said once that the price is another one: it counts when it says so again, and everybody can read it. */
function jumping(to: number, getIn: (thieves: Thieves) => void): { thieves: Thieves; before: number } {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, '1000000')
  const price_feed = { url: 'http://127.0.0.1/prices', seconds: 5, stale_seconds: 60 }
  thieves.must('world.configure', { config: { ...futuresWorld(), price_feed } })
  for (let reading = 0; reading < 2; reading++) thieves.fed({})
  thieves.index({ BTC: null, ETH: null })
  getIn(thieves)
  thieves.fed({ BTC: to })
  assert.equal(format(thieves.price().index), '60000')
  return { thieves, before: thieves.worth() }
}
/** It was true: what they have by now is no more than what it made of theirs. */
function borneOut({ thieves, before }: { thieves: Thieves; before: number }, told: string): void {
  thieves.fed({})
  assert.notEqual(format(thieves.price().index), '60000')
  thieves.advance(30)
  thieves.drain()
  assert.ok(thieves.worth() <= before + 1e-6, `${told}: ${thieves.worth()} of ${before}`)
}
test('while a price has jumped and waits to be borne out nobody opens at the old one, or takes out what covers it', () => {
  for (const to of [54_000, 66_000]) {
    const sign = to < 60_000 ? 1 : -1
    const opened = jumping(to, (thieves) => {
      thieves.leverage(thieves.join('7000'), BTC_USDT, '100')
      thieves.join('100000')
    })
    const [thin, rich] = opened.thieves.members as [number, number]
    opened.thieves.send(rich, BTC_USDT, -sign * 100_000, '60000')
    opened.thieves.send(thin, BTC_USDT, sign * 100_000, '60000', { tif: 'ioc' })
    opened.thieves.cancelAll(rich)
    borneOut(opened, `opened ${to}`)

    // What rested before is met by what only reduces.
    const rested = jumping(to, (thieves) => {
      const [poor, holder] = [thieves.join('7000'), thieves.join('200000')]
      thieves.leverage(poor, BTC_USDT, '100')
      const honest = thieves.holder('1000000')
      if (sign > 0) thieves.swap(holder, honest, BTC_USDT, 100_000, '60000')
      else thieves.swap(honest, holder, BTC_USDT, 100_000, '60000')
      thieves.place(poor, BTC_USDT, sign * 100_000, '60000')
    })
    const [, holder] = rested.thieves.members as [number, number]
    rested.thieves.send(holder, BTC_USDT, -sign * 100_000, '60000', { reduce_only: true, tif: 'ioc' })
    borneOut(rested, `rested ${to}`)

    for (const way of ['margin', 'leverage', 'transfer']) {
      const held = jumping(to, (thieves) => {
        const [one, other] = [thieves.join('130000'), thieves.join('200000')]
        thieves.leverage(one, BTC_USDT, way === 'transfer' ? '0' : '5', '100')
        if (sign > 0) thieves.swap(one, other, BTC_USDT, 100_000, '60000')
        else thieves.swap(other, one, BTC_USDT, 100_000, '60000')
      })
      const [one] = held.thieves.members as [number, number]
      const path = { ...held.thieves.path(one, BTC_USDT), contract: 'BTC_USDT' }
      if (way === 'leverage')
        held.thieves.run('futures.leverage', { ...path, leverage: '100', cross_leverage_limit: null })
      for (let out = 120_000; out >= 10; out = Math.floor(out / 2))
        for (let times = 0; times < 2; times++) {
          if (way === 'margin')
            held.thieves.run('futures.margin', { ...path, change: `-${out}`, dual_side: null })
          held.thieves.takeOut(one, String(out))
        }
      borneOut(held, `${way} ${to}`)
    }
  }
})

test('while no source says a price at all, who opens by an order that rested bears what it may jump by', () => {
  for (const to of [57_500, 62_500]) {
    const sign = to < 60_000 ? 1 : -1
    const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 }, '1000000')
    const config = futuresWorld()
    const currencies = config.currencies.map((one) => ({ ...one, index_price: '0' }))
    const price_feed = { url: 'http://127.0.0.1/prices', seconds: 5, stale_seconds: 60 }
    thieves.must('world.configure', { config: { ...config, currencies, price_feed } })
    for (let reading = 0; reading < 2; reading++) thieves.fed({})
    thieves.index({ BTC: null, ETH: null })
    const [thin, rich, holder] = [thieves.join('7000'), thieves.join('500000'), thieves.join('200000')]
    thieves.leverage(thin, BTC_USDT, '100')
    const honest = thieves.holder('1000000')
    if (sign > 0) thieves.swap(holder, honest, BTC_USDT, 150_000, '60000')
    else thieves.swap(honest, holder, BTC_USDT, 150_000, '60000')
    thieves.place(thin, BTC_USDT, sign * 100_000, '60000')
    const well = thieves.place(rich, BTC_USDT, sign * 1_000, '60000')
    // It falls silent, and nobody but its readers knows what it would say.
    thieves.must('prices.feed', { prices: {} })
    assert.equal(thieves.state.prices.quote('BTC').source, 'none')
    assert.equal(thieves.send(rich, BTC_USDT, sign, '60000'), 'TRADE_RESTRICTED')
    const before = thieves.worth() + (to - 60_000) * 15 * sign
    thieves.send(holder, BTC_USDT, -sign * 101_000, '60000', { reduce_only: true, tif: 'ioc' })
    assert.equal(thieves.state.futures.orders.get(well.id)?.finish_as, 'filled', 'who can bear it trades')
    for (let reading = 0; reading < 2; reading++) thieves.fed({ BTC: to })
    assert.equal(format(thieves.price().index), String(to))
    thieves.advance(30)
    thieves.drain()
    assert.ok(thieves.worth() <= before + 1e-6, `${to}: ${thieves.worth()} of ${before}`)
  }
})
test('nor does the fund sell or buy anything at the old one', () => {
  for (const to of [54_000, 66_000]) {
    const sign = to < 60_000 ? 1 : -1
    const waits = jumping(to, (thieves) => {
      const [one, honest] = [thieves.join('100000'), thieves.holder('500000')]
      if (sign > 0) thieves.trade(BTC_USDT, honest, 0, 100_000, '60000')
      else thieves.trade(BTC_USDT, 0, honest, 100_000, '60000')
      thieves.place(one, BTC_USDT, -sign * 20_000, sign > 0 ? '60200' : '59800')
    })
    const before = waits.thieves.size(0)
    for (let second = 0; second < 3; second++) {
      waits.thieves.advance(1)
      waits.thieves.drain()
    }
    assert.equal(waits.thieves.size(0), before)
    borneOut(waits, `the fund ${to}`)
  }
})

test('profit that is not realised leaves by no way: transfer, margin, leverage', () => {
  for (const leverage of ['0', '10']) {
    const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 })
    const [one, other] = [thieves.join('700'), thieves.join('100000')]
    thieves.leverage(one, BTC_USDT, leverage, '10')
    thieves.swap(one, other, BTC_USDT, 1_000, '60000')
    thieves.honestAt({ BTC: 66_000 })
    const path = { ...thieves.path(one, BTC_USDT), contract: 'BTC_USDT' }
    if (leverage !== '0') {
      thieves.run('futures.leverage', { ...path, leverage: '100', cross_leverage_limit: null })
      for (const change of ['-600', '-300', '-100', '-30', '-10'])
        thieves.run('futures.margin', { ...path, change, dual_side: null })
    }
    let out = 0
    for (const amount of [1_000, 600, 300, 100, 50, 20, 10, 5, 2, 1])
      if (thieves.takeOut(one, String(amount))) out += amount
    assert.ok(out <= 697, `${out} of the 697 that he brought`)
    // The price falls back: nobody else pays for it.
    const fund = thieves.state.ledger.balance(0, 'insurance:futures.usdt', 'USDT')
    for (let price = 65_500; price >= 59_000; price -= 500) thieves.honestAt({ BTC: price })
    assert.ok(thieves.state.ledger.balance(0, 'insurance:futures.usdt', 'USDT') >= fund)
  }
})

test('size, price and self-trades that overflow or turn round make no money', () => {
  const thieves = new Thieves({ BTC: 60_000, ETH: 3_000 })
  const one = thieves.join('10000')
  const before = thieves.worth()
  const odd: [number | string, string, More][] = [
    ['999999999999999999', '60000', {}],
    ['-999999999999999999', '60000', {}],
    [1_000_001, '60000', {}],
    [1, '99999999999999999999', {}],
    [1, '0.1', {}],
    [-1, '72000.1', {}],
    [1, '60000.05', {}],
  ]
  for (const [size, price, more] of odd) {
    const input = thieves.input(one, BTC_USDT, 0, price, { size: String(size), ...more })
    assert.ok('label' in thieves.run('futures.place', input), `${size} at ${price} was placed`)
  }
  // Buys from himself, dear and cheap, in each margin mode: fees are all that changes.
  for (const leverage of ['0', '25']) {
    thieves.leverage(one, BTC_USDT, leverage)
    for (const price of ['60000', '60600', '59400', '61200'])
      for (const size of [50, -80, 30]) {
        thieves.send(one, BTC_USDT, size, price)
        thieves.send(one, BTC_USDT, -size, price)
      }
    thieves.cancelAll(one)
    thieves.send(one, BTC_USDT, 0, '0', { close: true })
    thieves.honest()
    assert.ok(thieves.worth() <= before + 1e-6, `${leverage}: ${thieves.worth()} of ${before}`)
  }
})

test('two who trade with each other where takers pay next to nothing are not paid for it', () => {
  for (const taker_fee_rate of ['0', '0.00003', '0.0005']) {
    const floor = new Floor([{ ...CONTRACTS.BTC_USDT, taker_fee_rate }])
    floor.markAt('60000')
    const thieves = [floor.user({}, { vip: 16 }), floor.user({}, { vip: 16 })] as const
    for (const user_id of thieves)
      floor.must('user.credit', {
        user_id,
        account: 'futures',
        currency: 'USDT',
        amount: '10000',
        currency_pair: null,
        settle: 'usdt',
        actor: null,
      })
    for (let i = 0; i < 10; i++) {
      const size = i % 2 === 0 ? 1_000 : -1_000
      floor.place(thieves[0], BTC_USDT, size, '60000')
      floor.place(thieves[1], BTC_USDT, -size, '60000', { tif: 'ioc' })
    }
    const [one, other] = thieves.map((user) => Number(floor.cash(user))) as [number, number]
    assert.ok(one + other <= 20_000, `${taker_fee_rate}: ${one} and ${other}`)
    assert.ok(one >= 10_000, 'what the other one pays he has')
  }
})
