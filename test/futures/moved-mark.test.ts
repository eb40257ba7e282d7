import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format } from '../../src/money/amount.ts'
import { Floor } from './floor.ts'
import { BTC_USDT, DATED } from './world.ts'

/** What two accounts of one person have together, were the mark at the index. */
function worth(floor: Floor, users: readonly number[], index: number): number {
  let sum = 0
  for (const user of users) {
    const { size, cost } = floor.position(user)
    sum += Number(format(floor.figures(user).total))
    sum += Number(format(size)) * 0.0001 * index - Number(format(cost))
  }
  return sum
}
/** Nobody else is in the book: the two of them print a last price and hold both sides of it for half a minute. */
function moveMark(floor: Floor, one: number, other: number, price: number, id = BTC_USDT): void {
  const cancel = (user: number): void => {
    floor.must('futures.cancel_all', {
      ...floor.path(user, id),
      contract: null,
      side: null,
      exclude_reduce_only: false,
      text: null,
    })
  }
  cancel(one)
  cancel(other)
  floor.place(one, id, -1, String(price))
  floor.place(other, id, 1, String(price))
  floor.place(one, id, 1, (price - 0.1).toFixed(1))
  floor.place(other, id, -1, (price + 0.1).toFixed(1))
  floor.advance(40)
  floor.follow(id)
}

test('a mark that two accounts have moved opens nothing that others pay for, and lets no money out', () => {
  const floor = new Floor()
  floor.markAt('60000')
  const [one, other] = [floor.holder('100000'), floor.holder('100000')]
  const [thin, thick] = [floor.holder('700'), floor.holder('100000')]
  const all = [one, other, thin, thick]
  const before = worth(floor, all, 60_000)
  floor.leverage(thin, BTC_USDT, '100')
  moveMark(floor, one, other, 58_300)
  const moved = Number(floor.mark())
  assert.ok(moved < 58_400, `the mark has moved to ${moved}`)
  // Short at a price that the index does not bear out, on a margin of a hundredth: it would be gone when the mark is back.
  floor.place(thick, BTC_USDT, 5_000, '58300')
  assert.equal(floor.refused(thin, BTC_USDT, -5_000, '58300'), 'LIQUIDATE_IMMEDIATELY')
  // Or on a margin that is large enough, and then taken out.
  const rich = floor.holder('3000')
  floor.leverage(rich, BTC_USDT, '10')
  floor.place(rich, BTC_USDT, -3_000, '58300')
  floor.must('futures.margin', {
    ...floor.path(rich, BTC_USDT),
    contract: 'BTC_USDT',
    change: '500',
    dual_side: null,
  })
  const out = floor.run('futures.margin', {
    ...floor.path(rich, BTC_USDT),
    contract: 'BTC_USDT',
    change: '-499',
    dual_side: null,
  })
  assert.equal('label' in out && out.label, 'REMOVE_TOO_MUCH')
  all.push(rich)
  // The mark comes back; nobody but the fund has anything to lose.
  floor.markAt('60000')
  floor.advance(5)
  const after = worth(floor, all, 60_000)
  assert.ok(after <= before + 3_000 + 1e-6, `${after} of ${before + 3_000}`)
})

test('what a dated contract is above its index, whoever says so, is paid with margin', () => {
  const floor = new Floor()
  floor.markAt('60000', DATED)
  const [one, other, thin] = [
    floor.holder('100000', DATED),
    floor.holder('100000', DATED),
    floor.holder('1000', DATED),
  ]
  floor.leverage(thin, DATED, '125')
  moveMark(floor, one, other, 60_400, DATED)
  assert.equal(floor.mark(DATED), '60400', 'its time is worth as much')
  floor.place(other, DATED, -10_000, '60400')
  assert.equal(floor.refused(thin, DATED, 10_000, '60400'), 'LIQUIDATE_IMMEDIATELY')
  floor.leverage(thin, DATED, '80')
  assert.equal(floor.refused(thin, DATED, 10_000, '60400'), 'it was placed')
  // And below it there is nothing to be paid.
  moveMark(floor, one, other, 59_600, DATED)
  floor.place(other, DATED, -2_000, '59600')
  const late = floor.holder('1000', DATED)
  floor.leverage(late, DATED, '125')
  assert.equal(floor.refused(late, DATED, 2_000, '59600'), 'it was placed')
})
