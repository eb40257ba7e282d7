import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basisAt } from '../../src/core/futures/basis.ts'
import { amountOf, format, rateOf, type Amount } from '../../src/money/amount.ts'
import { Desk } from './desk.ts'
import { BTC_USD, BTC_USDT, CONTRACTS, ETH_USDT } from './world.ts'

const INTERVAL = 28_800
const text = (value: bigint): string => format(value as Amount)
const nextFunding = (desk: Desk): number => (Math.floor(desk.second / INTERVAL) + 1) * INTERVAL

/** A funding at a given mark and rate: premiums that lead to it, and a book and last price that hold the mark. */
function fund(desk: Desk, id: string, mark: string, rate: string): void {
  desk.toMinute(nextFunding(desk) - 1)
  // The damping takes five ten-thousandths off a large premium; the last sample of an empty book is 0.
  const wanted = rateOf(rate) > 0n ? rateOf(rate) + rateOf('0.0005') : rateOf(rate) - rateOf('0.0005')
  const [count, weighted] = [479, (wanted * 480n * 481n) / 2n]
  desk.setRow(id, { premiums: count, weighted: weighted as Amount })
  desk.index({ BTC: mark, ETH: mark })
  desk.toMinute(desk.second + 1)
}

describe('the funding rate', () => {
  test('is computed each minute from the premiums of the period, the later ones the heavier', () => {
    const desk = new Desk()
    desk.toMinute(nextFunding(desk))
    const level = (price: string): number => desk.rest(BTC_USDT, 'buy', 20_000, price)
    const rates: string[] = []
    for (const price of ['60072', '60060', '60048', '60024']) {
      const order = level(price)
      desk.toMinute(desk.second - (desk.second % 60) + 60)
      desk.take(order)
      rates.push(text(desk.price().funding_rate))
    }
    // E14: 0.0012, 0.0010, 0.0008, 0.0004.
    assert.deepEqual(rates, ['0.0007', '0.000567', '0.000433', '0.00022'])
    assert.equal(desk.price().premiums, 4)
  })
  test('of a period counts 480 samples, the one at its end the last; then it begins anew', () => {
    const desk = new Desk()
    desk.toMinute(nextFunding(desk))
    desk.fundings.length = 0
    desk.rest(BTC_USDT, 'buy', 20_000, '60072')
    desk.toMinute(nextFunding(desk) - 1)
    assert.equal(desk.price().premiums, 479)
    desk.toMinute(desk.second + 1)
    assert.equal(desk.price().premiums, 0)
    assert.equal(text(desk.price().funding_rate), '0.0001')
    const mine = desk.fundings.filter(({ contract }) => contract === BTC_USDT)
    assert.deepEqual(
      mine.map(({ t, r }) => [t, text(r)]),
      [[desk.second, '0.0007']],
    )
    assert.equal(desk.price().next_funding, desk.second + INTERVAL)
  })
})

describe('a settlement', () => {
  test('E15: payers pay whole units, receivers get them, the rest is kept', () => {
    const desk = new Desk([CONTRACTS.BTC_USDT])
    const [a, b, short] = [desk.holder('1000'), desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, a, short, 700, '60000')
    desk.trade(BTC_USDT, b, short, 334, '60000')
    fund(desk, BTC_USDT, '60123.45', '0.000137')
    assert.equal(text(desk.price().funding_sum), '0.000823691265')
    assert.deepEqual(
      [a, b, short].map((user) => desk.cash(user)),
      ['999.42341611', '999.72488711', '1000.85169676'],
    )
    assert.equal(desk.platform('funding'), '0')
    assert.equal(desk.platform('rounding'), '0.00000002')
    const position = desk.state.futures.positions.get(a, BTC_USDT, 'single')!
    assert.equal(text(position.fund), '-0.57658389')
    assert.equal(text(position.margin), '0')
    const account = desk.state.futures.accounts.get(short, 'futures/usdt')!
    assert.equal(text(account.fund), '0.85169676')
  })
  test('E16: inverse, and the shorts pay', () => {
    const desk = new Desk([CONTRACTS.BTC_USD])
    const [a, b, short] = [1, 2, 3].map(() => desk.holder('1', BTC_USD)) as [number, number, number]
    desk.trade(BTC_USD, a, short, 6000, '60000')
    desk.trade(BTC_USD, b, short, 1500, '60000')
    fund(desk, BTC_USD, '60123.45', '-0.00021')
    assert.equal(text(desk.price(BTC_USD).funding_sum), '-0.000000003492813536')
    assert.deepEqual(
      [a, b, short].map((user) => desk.cash(user, BTC_USD)),
      ['1.00002095', '1.00000523', '0.9999738'],
    )
    assert.equal(desk.platform('rounding', BTC_USD), '0.00000002')
    assert.equal(desk.platform('funding', BTC_USD), '0')
  })
  test('an isolated position pays from its margin', () => {
    const desk = new Desk()
    const [long, short] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, long, short, 700, '60000')
    desk.apply(({ state, tx }) => {
      const row = state.futures.positions.get(long, BTC_USDT, 'single')!
      tx.put(state.futures.positions.table, {
        ...row,
        leverage: rateOf('10'),
        margin: amountOf('422.1'),
      })
    })
    fund(desk, BTC_USDT, '60123.45', '0.000137')
    assert.equal(text(desk.state.futures.positions.get(long, BTC_USDT, 'single')!.margin), '421.52341611')
    assert.equal(text(desk.state.futures.positions.get(short, BTC_USDT, 'single')!.margin), '0')
  })
  test('what opens after it pays nothing of it', () => {
    const desk = new Desk()
    const [long, short] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, long, short, 10, '60000')
    fund(desk, BTC_USDT, '60000', '0.000137')
    const [late, other] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, late, other, 700, '60000')
    desk.trade(BTC_USDT, other, late, 700, '60000')
    assert.equal(desk.cash(late), '1000')
    assert.equal(desk.cash(other), '1000')
  })
  test('more than a portion of positions: in several commands, and nothing is lost', () => {
    const desk = new Desk([CONTRACTS.BTC_USDT])
    const maker = desk.holder('1000000')
    const users = Array.from({ length: 301 }, () => desk.holder('100'))
    for (const [i, user] of users.entries()) desk.trade(BTC_USDT, user, maker, 1 + (i % 7), '60000')
    const before = total(desk)
    fund(desk, BTC_USDT, '60123.45', '0.000137')
    assert.equal(desk.ran.filter((command) => command === 'futures.fund').length, 2)
    assert.equal(total(desk), before)
    assert.equal(desk.platform('funding'), '0')
    assert.ok(amountOf(desk.platform('rounding')) > 0n)
    const { funding_sum } = desk.price()
    for (const { funded } of desk.state.futures.positions.heldIn(BTC_USDT)) assert.equal(funded, funding_sum)
  })
  /** Of all users' cash and of what rounding left. */
  const total = (desk: Desk): string => {
    let sum = amountOf(desk.platform('rounding')) as bigint
    for (const { owner, name, amount } of desk.state.ledger.accounts.values())
      if (owner !== 0 && name === 'futures:usdt') sum += amount
    return text(sum)
  }

  /** Where the clock strikes and the sweep waits: what the ticker would do next is left undone. */
  function struck(): { desk: Desk; a: number; b: number; short: number } {
    const desk = new Desk([CONTRACTS.BTC_USDT])
    const [a, b, short] = [desk.holder('1000'), desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, a, short, 700, '60000')
    desk.trade(BTC_USDT, b, short, 334, '60000')
    desk.toMinute(nextFunding(desk) - 1)
    desk.setRow(BTC_USDT, { premiums: 479, weighted: ((rateOf('0.000637') * 480n * 481n) / 2n) as Amount })
    desk.index({ BTC: '60123.45' })
    desk.at = (desk.second + 1) * 1e6
    const item = desk.state.due.next()!
    assert.equal(item.command, 'futures.minute')
    desk.must('due.run', { id: item.id })
    assert.equal(desk.state.due.next()!.command, 'futures.fund')
    return { desk, a, b, short }
  }
  test('the order of commands makes no difference: who changes his position before his turn pays the same', () => {
    const outcomes = [
      (_: ReturnType<typeof struck>) => undefined,
      ({ desk, b, short }: ReturnType<typeof struck>) => desk.trade(BTC_USDT, short, b, 334, '60000'),
      ({ desk, a, short }: ReturnType<typeof struck>) => desk.trade(BTC_USDT, short, a, 100, '60000'),
      ({ desk, a, b }: ReturnType<typeof struck>) => desk.trade(BTC_USDT, a, b, 1000, '60000'),
    ].map((meanwhile) => {
      const all = struck()
      const { desk, a, b, short } = all
      meanwhile(all)
      desk.advance(1)
      assert.equal(desk.platform('funding'), '0')
      return [...[a, b, short].map((user) => desk.cash(user)), desk.platform('rounding')]
    })
    for (const outcome of outcomes)
      assert.deepEqual(outcome, ['999.42341611', '999.72488711', '1000.85169676', '0.00000002'])
  })
  test('some receive before others pay, and the next sweep closes what a late one leaves', () => {
    const { desk, a, short } = struck()
    // The receiver comes first: what is on its way is below nothing for a moment.
    desk.trade(BTC_USDT, short, a, 1, '60000')
    assert.ok(amountOf(desk.platform('funding')) !== 0n)
    desk.advance(1)
    assert.equal(desk.platform('funding'), '0')
  })
})

describe('the clock', () => {
  test('a move passes through every minute and every funding', () => {
    const desk = new Desk()
    const [long, short] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, long, short, 700, '60000')
    desk.toMinute(nextFunding(desk))
    desk.fundings.length = 0
    desk.advance(3 * 86_400)
    assert.equal(desk.fundings.filter(({ contract }) => contract === ETH_USDT).length, 9)
    assert.equal(desk.platform('funding'), '0')
    assert.equal(desk.price().minute, desk.second - (desk.second % 60))
  })
  test('one move or many small ones: the same figures to the last digit', () => {
    const outcomes = [[7_200], Array.from({ length: 7_200 / 40 }, () => 40)].map((moves) => {
      const desk = new Desk()
      desk.rest(BTC_USDT, 'buy', 20_000, '60072')
      desk.rest(BTC_USDT, 'sell', 20_000, '60090')
      desk.follow()
      desk.at = desk.second * 1e6
      for (const seconds of moves) desk.advance(seconds)
      const { at: _, ...row } = desk.price()
      return row
    })
    assert.deepEqual(outcomes[0], outcomes[1])
    assert.equal(text(basisAt(outcomes[0]!.steps, 1_800_000_000)), '81')
  })
  test('time that passed while nobody was there is made up for, funding included', () => {
    const desk = new Desk()
    const [long, short] = [desk.holder('1000'), desk.holder('1000')]
    desk.trade(BTC_USDT, long, short, 700, '60000')
    desk.toMinute(nextFunding(desk) + 60)
    const [before, sum] = [desk.fundings.length, desk.price().funding_sum]
    desk.at += 2 * INTERVAL * 1e6
    desk.advance(1)
    const later = desk.fundings.slice(before).filter(({ contract }) => contract === BTC_USDT)
    assert.deepEqual(
      later.map(({ t }) => t % INTERVAL),
      [0, 0],
    )
    assert.ok(desk.price().funding_sum > sum)
    assert.equal(desk.platform('funding'), '0')
    const row = desk.state.futures.positions.get(long, BTC_USDT, 'single')!
    assert.equal(row.funded, desk.price().funding_sum)
  })
  test('a world without contracts has no minutes', () => {
    const minutes = (desk: Desk): number =>
      desk.state.due.coming(100).filter(({ command }) => command === 'futures.minute').length
    assert.equal(minutes(new Desk([])), 0)
    const desk = new Desk()
    assert.equal(minutes(desk), 1)
    desk.must('futures.begin', { seed: false })
    assert.equal(minutes(desk), 1)
    desk.must('world.configure', { config: { ...desk.state.world.configured!, contracts: [] } })
    desk.advance(120)
    assert.equal(minutes(desk), 0)
  })
})
