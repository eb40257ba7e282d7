import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NewChaseOrder } from '../../src/core/futures/chases.ts'
import type { ChaseOrder } from '../../src/core/tables/futures/chases.ts'
import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import { format } from '../../src/money/amount.ts'
import { prove } from './prove.ts'
import { WaitingFloor } from './waiting-floor.ts'
import { BTC_USDT } from './world.ts'

class ChaseFloor extends WaitingFloor {
  asks(user: number, amount: number, more: Partial<NewChaseOrder> = {}): NewChaseOrder {
    return {
      ...this.path(user, BTC_USDT),
      contract: 'BTC_USDT',
      amount: String(amount),
      price_limit: '0',
      offset_limit: null,
      reduce_only: false,
      text: null,
      price_type: 1,
      price_gap_type: null,
      price_gap_value: null,
      is_dual_mode: null,
      pos_margin_mode: null,
      position_mode: null,
      ...more,
    }
  }
  chase(user: number, amount: number, more: Partial<NewChaseOrder> = {}): number {
    return this.must('futures.chase.create', this.asks(user, amount, more)).id
  }
  notChasing(user: number, amount: number, more: Partial<NewChaseOrder> = {}): string {
    const outcome = this.run('futures.chase.create', this.asks(user, amount, more))
    return 'label' in outcome ? outcome.label : 'it chases'
  }
  of(id: number): ChaseOrder {
    return this.state.futures.waiting.chases.table.get(id)!
  }
  /** Where its order stands. */
  stands(id: number): string {
    const order = this.state.futures.orders.get(this.of(id).suborder_id)!
    return order.status === 'open' ? format(order.price) : order.finish_as
  }
  ends(id: number): string {
    const { status, reason, error_label, suborder_finish_as, filled } = this.of(id)
    return [status, suborder_finish_as, contractsIn(filled), reason, error_label].join(' ').trim()
  }
}
function opened(): { floor: ChaseFloor; maker: number; user: number } {
  const floor = new ChaseFloor()
  floor.markAt('60000')
  const maker = floor.holder('5000000')
  const user = floor.holder('100000')
  floor.place(maker, BTC_USDT, 10, '59990')
  floor.place(maker, BTC_USDT, -10, '60010')
  return { floor, maker, user }
}

describe('orders that chase the best price', () => {
  test('a buy goes up with the best bid, once a second, and ends when it is filled', () => {
    const { floor, maker, user } = opened()
    const id = floor.chase(user, 5)
    assert.equal(floor.stands(id), '59990')
    floor.advance(2)
    floor.place(maker, BTC_USDT, 1, '59995')
    assert.equal(floor.stands(id), '59990')
    floor.advance(0)
    assert.equal(floor.stands(id), '59995')
    floor.place(maker, BTC_USDT, 1, '59996')
    floor.advance(0.5)
    assert.equal(floor.stands(id), '59995')
    floor.place(maker, BTC_USDT, 1, '59997')
    floor.advance(0.6)
    assert.equal(floor.stands(id), '59997')
    // It is the best itself then, and stays: nobody else does.
    const rank = floor.state.futures.orders.get(floor.of(id).suborder_id)!.rank
    floor.advance(60)
    assert.equal(floor.state.futures.orders.get(floor.of(id).suborder_id)!.rank, rank)
    floor.place(maker, BTC_USDT, -6, '59997')
    assert.equal(floor.ends(id), 'success filled 5')
    assert.equal(floor.size(user), 5)
    assert.equal(floor.state.futures.waiting.count(user, 'futures/usdt'), 0)
    prove(floor.state, { quiet: true })
  })

  test('a sell goes down with the best ask, never beyond its limit', () => {
    const { floor, maker, user } = opened()
    const id = floor.chase(user, -5, { price_limit: '60003' })
    const first = floor.chase(user, -5, { price_limit: null, offset_limit: '4' })
    floor.advance(2)
    floor.place(maker, BTC_USDT, -1, '60005')
    floor.advance(0)
    assert.deepEqual([floor.stands(id), floor.stands(first)], ['60005', '60006'])
    floor.advance(2)
    floor.place(maker, BTC_USDT, -1, '60001')
    floor.advance(0)
    assert.deepEqual([floor.stands(id), floor.stands(first)], ['60003', '60006'])
  })

  test('at a gap it keeps its distance from the others, not from itself', () => {
    const { floor, maker, user } = opened()
    const id = floor.chase(user, 5, { price_type: 2, price_gap_type: 1, price_gap_value: '10' })
    const part = floor.chase(user, 5, { price_type: 2, price_gap_type: 2, price_gap_value: '0.1' })
    assert.deepEqual([floor.stands(id), floor.stands(part)], ['59980', '59930'])
    floor.advance(5)
    assert.deepEqual([floor.stands(id), floor.stands(part)], ['59980', '59930'])
    floor.place(maker, BTC_USDT, 1, '60000')
    floor.advance(1)
    assert.deepEqual([floor.stands(id), floor.stands(part)], ['59990', '59940'])
  })

  test('each refusal', () => {
    const { floor, maker, user } = opened()
    const gap = { price_type: 2, price_gap_type: 1, price_gap_value: '10' } as const
    assert.equal(floor.notChasing(user, 0), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notChasing(user, 5, { price_limit: null }), 'MISSING_REQUIRED_PARAM')
    assert.equal(
      floor.notChasing(user, 5, { price_limit: '60000', offset_limit: '1' }),
      'INVALID_PARAM_VALUE',
    )
    assert.equal(floor.notChasing(user, 5, { price_limit: '60000.05' }), 'INVALID_PRECISION')
    assert.equal(floor.notChasing(user, 5, { price_limit: null, offset_limit: 'x' }), 'INVALID_PARAM_VALUE')
    assert.equal(
      floor.notChasing(user, -5, { price_limit: null, offset_limit: '99999' }),
      'INVALID_PARAM_VALUE',
    )
    assert.equal(floor.notChasing(user, 5, { ...gap, price_gap_type: null }), 'MISSING_REQUIRED_PARAM')
    assert.equal(floor.notChasing(user, 5, { ...gap, price_gap_value: null }), 'MISSING_REQUIRED_PARAM')
    assert.equal(floor.notChasing(user, 5, { ...gap, price_gap_value: '1%' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notChasing(user, 5, { ...gap, price_gap_value: '0.05' }), 'INVALID_PRECISION')
    assert.equal(
      floor.notChasing(user, 5, { ...gap, price_gap_type: 2, price_gap_value: '100' }),
      'INVALID_PARAM_VALUE',
    )
    assert.equal(floor.notChasing(user, 5, { is_dual_mode: true }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notChasing(user, 5, { position_mode: 'dual' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notChasing(user, 5, { pos_margin_mode: 'isolated' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notChasing(user, 5, { contract: 'NO_USDT' }), 'CONTRACT_NOT_FOUND')
    assert.equal(floor.notChasing(user, 5, { reduce_only: true }), 'POSITION_EMPTY')
    assert.equal(floor.notChasing(floor.user({}), 5), 'USER_NOT_FOUND')
    assert.equal(floor.notChasing(floor.holder('0.1'), 5), 'INSUFFICIENT_AVAILABLE')
    assert.equal(floor.notChasing(user, 5, { contract: 'ETH_USDT' }), 'CONTRACT_NO_COUNTER')
    assert.equal(floor.state.futures.waiting.chases.table.size, 0)
    floor.must('futures.cancel_all', {
      ...floor.path(maker, BTC_USDT),
      contract: null,
      side: 'buy',
      exclude_reduce_only: false,
      text: null,
    })
    assert.equal(floor.notChasing(user, 5), 'CONTRACT_NO_COUNTER')
    // What is wrong with any order there comes before that nothing is there to chase.
    assert.equal(floor.notChasing(user, 1_000_001), 'SIZE_TOO_LARGE')
    floor.must('contract.change', {
      contract: BTC_USDT,
      change: { status: 'circuit_breaker' },
      actor: 'test',
    })
    assert.equal(floor.notChasing(user, 5), 'TRADE_RESTRICTED')
  })

  test('stopped one by one, by text or all; or by cancelling its order', () => {
    const { floor, user } = opened()
    const path = floor.path(user, BTC_USDT)
    const [one, two, three] = ['a', 'b', 'c'].map((text) => floor.chase(user, 1, { text })) as [
      number,
      number,
      number,
    ]
    const stop = (id: number | string): string => {
      const outcome = floor.run('futures.chase.stop', { ...path, id })
      return 'label' in outcome ? outcome.label : floor.ends(outcome.reply.id)
    }
    assert.equal(stop('b'), 'cancelled cancelled 0')
    assert.equal(stop(two), 'ORDER_FINISHED')
    assert.equal(stop('b'), 'ORDER_NOT_FOUND')
    floor.must('futures.cancel', { ...path, id: floor.of(one).suborder_id })
    assert.equal(floor.ends(one), 'cancelled cancelled 0')
    const all = { ...path, contract: 'BTC_USDT', pos_margin_mode: null }
    assert.deepEqual(
      floor.must('futures.chase.stop_all', { ...all, pos_margin_mode: 'isolated' as const }),
      [],
    )
    assert.deepEqual(
      floor.must('futures.chase.stop_all', all).map(({ id }) => id),
      [three],
    )
    assert.equal(floor.state.futures.openOrders(user).length, 0)
  })

  test('it fails where its margin does not reach', () => {
    const { floor, maker } = opened()
    const poor = floor.holder('30.5')
    floor.place(maker, BTC_USDT, 1, '50000')
    const id = floor.chase(poor, 50)
    floor.advance(2)
    // 30.3 are needed at 59990: there is no room for much more.
    floor.place(maker, BTC_USDT, -10, '71000')
    const wall = floor.state.futures.openOrders(maker, BTC_USDT).find(({ side }) => side === 'sell')!
    floor.must('futures.cancel', { ...floor.path(maker, BTC_USDT), id: wall.id })
    floor.place(maker, BTC_USDT, 1, '62000')
    floor.advance(0)
    assert.match(floor.ends(id), /^failed cancelled 0 .*INSUFFICIENT_AVAILABLE$/)
    assert.equal(floor.state.futures.openOrders(poor).length, 0)
    prove(floor.state, { quiet: true })
  })

  test('what reduces goes with its position, and with its account', () => {
    const { floor, maker, user } = opened()
    floor.place(user, BTC_USDT, 5, '60010')
    const id = floor.chase(user, -5, { reduce_only: true })
    floor.place(maker, BTC_USDT, 5, '59990')
    floor.place(user, BTC_USDT, 0, '0', { close: true })
    assert.equal(floor.ends(id), 'failed position_closed 0 position_closed')
    const other = floor.chase(user, 5)
    floor.must('user.change', { user_id: user, state: 2, actor: null })
    floor.advance(0)
    assert.equal(floor.ends(other), 'cancelled cancelled 0')
  })

  test('many of them are looked at in portions, and all come along', () => {
    const { floor, maker } = opened()
    const users = Array.from({ length: 3 }, () => floor.holder('100000'))
    const ids = users.flatMap((user) => Array.from({ length: 60 }, () => floor.chase(user, 1)))
    floor.advance(2)
    floor.place(maker, BTC_USDT, 1, '59995')
    floor.advance(0)
    const moved = (): number => ids.filter((id) => floor.stands(id) === '59995').length
    assert.equal(moved(), 50)
    floor.advance(0.5)
    assert.equal(moved(), 180)
    prove(floor.state, { quiet: true })
  })

  test('nothing is planned where nobody chases or nothing moves', () => {
    const { floor, maker, user } = opened()
    const planned = (): number =>
      floor.state.due.coming(100).filter(({ command }) => command === 'futures.chase.look').length
    floor.place(maker, BTC_USDT, 1, '59991')
    assert.equal(planned(), 0)
    const id = floor.chase(user, 1)
    floor.advance(5)
    assert.equal(planned(), 0)
    floor.place(maker, BTC_USDT, 1, '59980')
    assert.equal(planned(), 0)
    floor.must('futures.chase.stop', { ...floor.path(user, BTC_USDT), id })
    floor.place(maker, BTC_USDT, 1, '59992')
    floor.advance(5)
    assert.equal(planned(), 0)
  })
})
