import assert from 'node:assert/strict'
import { UNIFIED } from '../../src/core/tables/unified/loan-accounts.ts'
import { borrowable, totalOwed, transferable } from '../../src/core/unified/loans.ts'
import { figuresOf } from '../../src/core/unified/portfolio.ts'
import { add, amountOf, format, unitOf, type Amount } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'
import { Lender } from './setup.ts'

/** Promises of lending and margin, each as a run that throws when it is broken. planted.test.ts breaks them. */
const HOUR = 3_600e6
const UNIT = unitOf(8)
const PAIR = 'BTC_USDT'
const passed = (outcome: object): boolean => !('label' in outcome)

type Draw = (below: number) => number
const decimal = (draw: Draw, most: number, decimals: number): string =>
  ((1 + draw(most * 10 ** decimals)) / 10 ** decimals).toFixed(decimals)

/** An account of random mode, holdings, debts, open orders and settings. */
function randomAccount(engine: Lender, draw: Draw): number {
  const user = engine.unified(
    { USDT: decimal(draw, 5_000, 8), BTC: decimal(draw, 1, 8), DOGE: decimal(draw, 9_000, 8) },
    draw(2) === 0 ? 'portfolio' : 'multi_currency',
  )
  if (draw(4) === 0)
    engine.run('margin.leverage', { user_id: user, currency: 'BTC', leverage: decimal(draw, 9, 2) })
  if (draw(6) === 0)
    engine.run('margin.collateral', {
      user_id: user,
      collateral_type: 1,
      enable_list: [],
      disable_list: ['DOGE'],
    })
  engine.loan(user, 'borrow', 'ETH', decimal(draw, 1, 6))
  if (draw(3) === 0) engine.place(user, 'buy', decimal(draw, 1, 2), '9000')
  if (draw(3) === 0) engine.place(user, 'sell', decimal(draw, 1, 3), '99000')
  return user
}
const leave = (engine: Lender, user_id: number, currency: string, amount: Amount) =>
  engine.run('transfer.create', {
    user_id,
    currency,
    from: 'spot',
    to: 'margin',
    amount: format(amount),
    currency_pair: currency === 'USDT' || currency === 'BTC' ? PAIR : `${currency}_USDT`,
    settle: null,
  })

/** What is borrowable can be borrowed, and what is transferable can leave; of both not one unit more. */
export function exactLimits(
  seed: number,
  rounds: number,
): { readonly loans: number; readonly leaving: number } {
  const engine = new Lender()
  const draw = random(seed)
  let [loans, leaving] = [0, 0]
  for (let i = 0; i < rounds; i++) {
    engine.prices({
      BTC: decimal(draw, 90_000, 2),
      ETH: decimal(draw, 5_000, 2),
      DOGE: decimal(draw, 1, 5),
    })
    const user = randomAccount(engine, draw)
    const currency = ['USDT', 'BTC', 'ETH', 'DOGE'][draw(4)]!
    const most = borrowable(engine.state, user, 'unified', currency)
    if (most >= engine.state.world.loanTerms(currency)!.minBorrow) {
      loans++
      const more = format((most + UNIT) as Amount)
      assert.ok(!passed(engine.loan(user, 'borrow', currency, more)), `${more} ${currency} was lent`)
      const all = format(most)
      assert.ok(passed(engine.loan(user, 'borrow', currency, all)), `${all} ${currency} was not lent`)
      const half = (most / 2n) as Amount
      engine.loan(user, 'repay', currency, format((half - (half % UNIT)) as Amount))
    }
    const out = transferable(engine.state, user, 'unified', currency)
    const more = (out + UNIT) as Amount
    assert.ok(!passed(leave(engine, user, currency, more)), `${format(more)} ${currency} left`)
    if (out > 0n) {
      leaving++
      assert.ok(passed(leave(engine, user, currency, out)), `${format(out)} ${currency} could not leave`)
    }
    if (engine.state.margin.owes(user, 'unified'))
      assert.ok(figuresOf(engine.state, user, 'unified').available >= 0n)
    engine.run('spot.cancel_all', { user_id: user, currency_pair: null, side: null, account: null })
  }
  return { loans, leaving }
}
/** The same for isolated margin. */
export function exactIsolatedLimits(seed: number, rounds: number): number {
  const engine = new Lender()
  const draw = random(seed)
  let bounded = 0
  for (let i = 0; i < rounds; i++) {
    engine.prices({ BTC: decimal(draw, 90_000, 2) })
    const user = engine.user({ USDT: '6000', BTC: '1' })
    leave(engine, user, 'USDT', amountOf(decimal(draw, 5_000, 8)))
    leave(engine, user, 'BTC', amountOf(decimal(draw, 1, 8)))
    const currency = ['USDT', 'BTC'][draw(2)]!
    const most = borrowable(engine.state, user, PAIR, currency)
    if (most < amountOf('1')) continue
    bounded++
    assert.ok(!passed(engine.loan(user, 'borrow', currency, format((most + UNIT) as Amount), PAIR)))
    assert.ok(passed(engine.loan(user, 'borrow', currency, format(most), PAIR)))
    engine.loan(user, 'repay', currency, format((most / 3n - ((most / 3n) % UNIT)) as Amount), PAIR)
    const out = transferable(engine.state, user, PAIR, currency)
    const back = (amount: Amount) =>
      engine.run('transfer.create', {
        user_id: user,
        currency,
        from: 'margin',
        to: 'spot',
        amount: format(amount),
        currency_pair: PAIR,
        settle: null,
      })
    assert.ok(!passed(back((out + UNIT) as Amount)))
    if (out > 0n) assert.ok(passed(back(out)))
    assert.ok(figuresOf(engine.state, user, PAIR).available >= 0n)
  }
  return bounded
}

/** Prices stand still: whatever anybody does, nobody's available margin falls below zero. */
export function marginKept(seed: number, steps: number): { readonly done: number; readonly refused: number } {
  const engine = new Lender()
  const draw = random(seed)
  engine.prices({ BTC: '60000', ETH: '3000', GT: '8' })
  const maker = engine.user({ BTC: '1000', ETH: '1000', GT: '100000', USDT: '100000000' })
  // Somebody has traded the token, so that fees can be paid in it.
  engine.place(maker, 'sell', '1', '8', { currency_pair: 'GT_USDT' })
  const users = Array.from({ length: 6 }, () => engine.unified({ USDT: '10000', BTC: '0.1', GT: '50' }))
  engine.place(users[0]!, 'buy', '1', '8', { currency_pair: 'GT_USDT' })
  let [done, refused] = [0, 0]
  for (let i = 0; i < steps; i++) {
    const outcome = randomAction(engine, draw, users[draw(users.length)]!, maker)
    if (passed(outcome)) done++
    else refused++
    for (const user of users)
      for (const scope of ['unified', PAIR]) {
        if (!engine.state.margin.owes(user, scope)) continue
        const { available } = figuresOf(engine.state, user, scope)
        assert.ok(available >= 0n, `step ${i}: ${scope} of ${user} is ${format(available)} short`)
      }
  }
  return { done, refused }
}
/** Often all that can be borrowed: then not a unit of margin is left to hide a mistake. */
function randomLoan(engine: Lender, draw: Draw, user: number, scope: string, currency: string): object {
  const some = decimal(draw, currency === 'BTC' ? 1 : 3_000, 8)
  if (draw(4) === 0) return engine.loan(user, 'repay', currency, some, scope)
  const most = borrowable(engine.state, user, scope, currency)
  return engine.loan(user, 'borrow', currency, draw(2) === 0 ? some : format(most), scope)
}
const PRICES = {
  BTC_USDT: [59_000, 2_000, 1],
  ETH_USDT: [2_950, 100, 2],
  ETH_BTC: [0.049, 0.002, 5],
  GT_USDT: [7.9, 0.2, 3],
} as const
function randomAction(engine: Lender, draw: Draw, user_id: number, maker: number): object {
  const currency = ['BTC', 'USDT', 'ETH', 'GT'][draw(4)]!
  const pairs = Object.keys(PRICES) as (keyof typeof PRICES)[]
  const isolated = draw(4) === 0
  const currency_pair = isolated ? PAIR : pairs[draw(pairs.length)]!
  const [low, width, decimals] = PRICES[currency_pair]
  const price = (low + (width * draw(1_000)) / 1_000).toFixed(decimals)
  const amount = {
    BTC_USDT: () => decimal(draw, 1, 6),
    ETH_USDT: () => decimal(draw, 5, 5),
    ETH_BTC: () => decimal(draw, 5, 3),
    GT_USDT: () => decimal(draw, 900, 3),
  }[currency_pair]()
  const side = draw(2) === 0 ? 'buy' : 'sell'
  const flags = {
    auto_borrow: draw(2) === 0,
    auto_repay: draw(2) === 0,
    account: isolated ? 'margin' : null,
  } as const
  switch (draw(14)) {
    case 0:
    case 1:
      return engine.place(maker, side, amount, price, { currency_pair })
    case 2:
    case 3:
    case 4:
      return engine.place(user_id, side, amount, price, { currency_pair, ...flags })
    case 5: {
      const market = { type: 'market', time_in_force: 'ioc', price: null, currency_pair } as const
      return engine.place(user_id, side, side === 'buy' ? decimal(draw, 900, 2) : amount, price, {
        ...flags,
        ...market,
      })
    }
    case 6:
      return engine.run('spot.cancel_all', { user_id, currency_pair: null, side: null, account: null })
    case 7: {
      const [from, to] = (
        [
          ['spot', 'futures'],
          ['spot', 'margin'],
          ['margin', 'spot'],
        ] as const
      )[draw(3)]!
      const moved = draw(2) === 0 ? 'USDT' : 'BTC'
      const target =
        to === 'futures'
          ? { currency_pair: null, settle: moved.toLowerCase() }
          : { currency_pair: PAIR, settle: null }
      return engine.run('transfer.create', {
        user_id,
        currency: moved,
        from,
        to,
        amount: decimal(draw, moved === 'BTC' ? 1 : 4_000, 8),
        ...target,
      })
    }
    case 8:
      return randomLoan(engine, draw, user_id, 'unified', currency)
    case 9:
      return randomLoan(engine, draw, user_id, PAIR, isolated ? 'BTC' : 'USDT')
    case 10:
      return isolated
        ? engine.run('margin.leverage.pair', { user_id, currency_pair: PAIR, leverage: String(2 + draw(9)) })
        : engine.run('margin.leverage', { user_id, currency, leverage: String(1 + draw(10)) })
    case 11:
      return engine.run('margin.collateral', {
        user_id,
        collateral_type: draw(2) === 0 ? 0 : 1,
        enable_list: [],
        disable_list: [currency],
      })
    case 12: {
      const orders = engine.state.spot.openOrders(user_id)
      const order = orders[draw(Math.max(1, orders.length))]
      if (order === undefined)
        return engine.run('user.change', {
          user_id,
          settings: { debit_fee: draw(2) === 0 ? 1 : 3 },
          actor: null,
        })
      const change = { amount: null, amend_text: null, stop_profit: null, stop_loss: null }
      const [from, wide, places] = PRICES[order.pair as keyof typeof PRICES]
      const to = (from + (wide * draw(1_000)) / 1_000).toFixed(places)
      return engine.run('spot.amend', {
        user_id,
        id: order.id,
        currency_pair: order.pair,
        ...change,
        price: to,
      })
    }
    default:
      return engine.run('margin.quick_repay', {
        user_id,
        debt_currencies: [currency],
        available_currencies: ['USDT', 'BTC', 'ETH', 'GT'].filter(
          (name) => name !== currency && draw(2) === 0,
        ),
      })
  }
}

/** A thin account falls into a book of random bids: no liquidation trades far from the index, or more than it needs. */
export function liquidationsNearIndex(seed: number, rounds: number): { sold: number; taken: number } {
  const engine = new Lender()
  const draw = random(seed)
  let [sold, taken] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    engine.prices({ BTC: '60000' })
    const user = engine.unified({ BTC: '1' })
    engine.loan(user, 'borrow', 'USDT', '50000')
    const out = { to: 'futures', currency_pair: null, settle: 'usdt' } as const
    engine.must('transfer.create', { user_id: user, currency: 'USDT', from: 'spot', amount: '50000', ...out })
    const index = 51_900 + draw(600)
    const others = engine.user({ USDT: '10000000' })
    for (let bid = 0; bid < 6; bid++)
      engine.place(others, 'buy', decimal(draw, 1, 2), String(Math.floor((index * (80 + draw(21))) / 100)))
    engine.prices({ BTC: String(index) })
    const [steps, fills] = [engine.steps.length, engine.liquidated.length]
    engine.must('margin.check', { accounts: [{ user_id: user, scope: 'unified' }] })
    engine.due(engine.at + 30e6)
    assert.equal(engine.state.margin.isLocked(user, 'unified'), false)
    for (const { price } of engine.liquidated.slice(fills)) {
      sold++
      assert.ok(Number(price) / 1e18 >= index * 0.97 - 1, `sold at ${format(price)}, the index is ${index}`)
    }
    for (const { step } of engine.steps.slice(steps)) {
      if (step === 'taken_over') taken++
      assert.ok(step !== 'insured' && step !== 'socialised', 'the debt was covered')
    }
    const rate = Number(format(figuresOf(engine.state, user, 'unified').maintenanceRate))
    assert.ok(rate >= 1.2 && rate < 1.3, `the rate is ${rate}: more, or less, than was needed`)
    engine.must('spot.cancel_all', { user_id: others, currency_pair: null, side: null, account: null })
  }
  return { sold, taken }
}

/**
 * A restricted account and an accomplice trade whatever passes, at prices around the index: all that gets lost is half a
 * percent and the fee of what is owed, however many orders they use.
 */
export function restrictedLoses(seed: number, steps: number): { passed: number; refused: number } {
  const engine = new Lender()
  const draw = random(seed)
  engine.prices({ BTC: '60000' })
  const user = engine.unified({ USDT: '1400000' })
  const accomplice = engine.user({ BTC: '1000', USDT: '100000000' })
  // With a leverage of 1 it is restricted while it has nearly twice what it owes: enough to buy far too much.
  engine.must('margin.leverage', { user_id: user, currency: 'BTC', leverage: '1' })
  engine.loan(user, 'borrow', 'BTC', '10')
  const out = { from: 'spot', to: 'margin', currency_pair: PAIR, settle: null } as const
  engine.must('transfer.create', { user_id: user, currency: 'BTC', amount: '10', ...out })
  engine.prices({ BTC: '74000' })
  const equity = (): number => Number(format(figuresOf(engine.state, user, 'unified').equity))
  const start = equity()
  let [ran, refused] = [0, 0]
  for (let i = 0; i < steps; i++) {
    const price = (74_000 * (0.99 + draw(2_000) / 100_000)).toFixed(1)
    const [side, other] = draw(4) === 0 ? (['sell', 'buy'] as const) : (['buy', 'sell'] as const)
    const amount = decimal(draw, 1, 2)
    if (draw(3) === 0) engine.place(accomplice, other, amount, price)
    else if (passed(engine.place(user, side, amount, price))) ran++
    else refused++
    const lost = start - equity()
    assert.ok(lost <= 740_000 * 0.0071, `step ${i}: ${lost} USDT are lost`)
    // The last order may buy more than is left to buy back; an order has 1 BTC at most.
    const { assets } = figuresOf(engine.state, user, 'unified')
    const bought = assets.find(({ asset }) => asset.currency === 'BTC')!.equity
    assert.ok(bought <= amountOf('1'), `step ${i}: ${format(bought)} BTC more than what is owed were bought`)
    // With all that rests filled too.
    if (i % 50 === 0) engine.place(accomplice, 'sell', '50', '73000', { time_in_force: 'ioc' })
  }
  return { passed: ran, refused }
}

const ONE = 10n ** 18n
const ceiling = (value: bigint, unit: bigint): bigint => ((value + unit - 1n) / unit) * unit
/**
 * The pool has 1000 BTC. Below a utilisation of 0.8 the rate rises from 0.000002 by 0.000008 / 0.8 of it, and is
 * rounded up to 8 decimals; the interest is rounded up to 0.00000001 BTC.
 */
function hourByHand(owed: Amount, lent: Amount): Amount {
  const utilisation = (lent * ONE) / (1000n * ONE)
  const rate = ceiling(amountOf('0.000002') + (amountOf('0.000008') * utilisation) / amountOf('0.8'), UNIT)
  return ceiling((owed * rate + ONE - 1n) / ONE, UNIT) as Amount
}
/** 30 days by the clock: each hour's interest by hand, from the rate of that hour, to the last unit. */
export function interestOfMonth(amount: string): Amount {
  const engine = new Lender()
  const user = engine.unified({ USDT: '100000' })
  engine.loan(user, 'borrow', 'BTC', amount)
  const start = Math.ceil(engine.at / HOUR) * HOUR
  let owed = amountOf(amount)
  let charged = 0n as Amount
  for (let hour = 0; hour < 30 * 24; hour++) {
    const interest = hourByHand(owed, amountOf(amount))
    owed = add(owed, interest)
    charged = add(charged, interest)
    engine.due(start + hour * HOUR + 1)
    assert.equal(totalOwed(engine.state, user, UNIFIED, 'BTC'), owed, `hour ${hour}`)
  }
  assert.equal(engine.state.ledger.balance(0, 'lending.accrued', 'BTC'), charged)
  engine.must('user.credit', {
    user_id: user,
    account: 'spot',
    currency: 'BTC',
    amount: '1',
    currency_pair: null,
    settle: null,
    actor: null,
  })
  const all = { repaid_all: true, amount: null, text: null, known_id: null } as const
  engine.must('margin.loan', { user_id: user, scope: 'unified', currency: 'BTC', type: 'repay', ...all })
  assert.equal(engine.state.ledger.balance(0, 'lending.accrued', 'BTC'), 0n)
  assert.equal(engine.state.ledger.balance(0, 'lending.lent', 'BTC'), 0n)
  const lenders = engine.state.ledger.balance(0, 'lending.pool', 'BTC') - amountOf('1000')
  const platform = engine.state.ledger.balance(0, 'interest', 'BTC')
  assert.equal(lenders + platform, charged)
  assert.ok(platform * 100n >= charged * 15n && platform * 100n <= charged * 15n + 100n * 720n * UNIT)
  return charged
}
