import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Floor } from './floor.ts'
import { BTC_USDT } from './world.ts'

/**
 * Orders leave a book by other ways than their owners' cancels. Each of them is a change of the book: the basis that is
 * sampled from it, and with it the mark, follow in the same command.
 */
describe('the mark follows a book that somebody else has changed', () => {
  /** A book of 59990 and 60010, 59900 and 60510 behind them, those of an account of their own. */
  function scene(): { floor: Floor; front: number; behind: number; resting: number } {
    const floor = new Floor()
    const [front, behind] = [floor.holder('100000'), floor.holder('100000')]
    floor.markAt('60000')
    floor.place(behind, BTC_USDT, 5, '59900')
    floor.place(behind, BTC_USDT, -5, '60510')
    floor.place(front, BTC_USDT, 5, '59990')
    const { id } = floor.place(front, BTC_USDT, -5, '60010')
    assert.equal(basis(floor), '0')
    return { floor, front, behind, resting: id }
  }
  /** What the next seconds are sampled with. */
  const basis = (floor: Floor): string => floor.price().steps.at(-1)?.[1] ?? '0'
  /** The second after it, and half a minute of it: the mark stands where the book does, within the last price. */
  function counts(floor: Floor): void {
    assert.equal(basis(floor), '205')
    floor.advance(31)
    floor.lastPrice(BTC_USDT, '60400')
    floor.follow()
    assert.equal(floor.mark(), '60205')
  }

  test('a freeze', () => {
    const { floor, front, resting } = scene()
    floor.must('user.change', { user_id: front, state: 2, actor: null })
    assert.equal(floor.state.futures.orders.get(resting)!.status, 'cancelled')
    counts(floor)
  })
  test('an operator who cancels all of somebody', () => {
    const { floor, front, resting } = scene()
    assert.equal(
      floor.must('contract.cancel_orders', { contract: BTC_USDT, owners: [front], actor: 'test' }),
      2,
    )
    assert.equal(floor.state.futures.orders.get(resting)!.status, 'cancelled')
    counts(floor)
  })
  test('a delisting: what may open goes, what only reduces stays', () => {
    const { floor, front, behind, resting } = scene()
    floor.trade(BTC_USDT, behind, front, 5, '60000')
    const reducing = floor.place(behind, BTC_USDT, -5, '60500', { reduce_only: true })
    const bid = floor.place(front, BTC_USDT, 5, '59910', { reduce_only: true })
    floor.must('contract.begin', {})
    floor.must('contract.change', {
      contract: BTC_USDT,
      change: { delisting_time: floor.second + 10, delisted_time: floor.second + 86_400 },
      actor: 'test',
    })
    floor.advance(10)
    assert.equal(floor.state.futures.orders.get(resting)!.status, 'cancelled')
    for (const { id } of [reducing, bid]) assert.equal(floor.state.futures.orders.get(id)!.status, 'open')
    counts(floor)
  })
})
