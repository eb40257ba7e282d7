import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readOffset, trailPrice, trailTrigger } from '../../src/core/contracts/trails.ts'
import type { NewTrailOrder } from '../../src/core/futures/trails.ts'
import { trailFigures } from '../../src/core/futures/waiting.ts'
import type { TrailOrder } from '../../src/core/tables/futures/trails.ts'
import { format, priceOf, type Price } from '../../src/money/amount.ts'
import { prove } from './prove.ts'
import { WaitingFloor } from './waiting-floor.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

const TICK = priceOf('0.1')
const trigger = (buys: boolean, extreme: string, offset: string): string =>
  format(trailTrigger(buys, trailPrice(buys, priceOf(extreme), readOffset(offset)!), TICK))

class TrailFloor extends WaitingFloor {
  asks(user: number, amount: number, price_offset: string, more: Partial<NewTrailOrder> = {}): NewTrailOrder {
    return {
      ...this.path(user, BTC_USDT),
      contract: 'BTC_USDT',
      amount: String(amount),
      activation_price: '0',
      is_gte: null,
      price_type: 'last',
      price_offset,
      reduce_only: false,
      position_related: false,
      text: null,
      pos_margin_mode: null,
      position_mode: null,
      ...more,
    }
  }
  trail(user: number, amount: number, offset: string, more: Partial<NewTrailOrder> = {}): number {
    return this.must('futures.trail.create', this.asks(user, amount, offset, more)).id
  }
  notTrailing(user: number, amount: number, offset: string, more: Partial<NewTrailOrder> = {}): string {
    const outcome = this.run('futures.trail.create', this.asks(user, amount, offset, more))
    return 'label' in outcome ? outcome.label : 'it follows'
  }
  of(id: number): TrailOrder {
    return this.state.futures.waiting.trails.table.get(id)!
  }
  /** Its status, the extreme, where it fires. */
  stands(id: number): string {
    const { extremum, trigger: at } = trailFigures(this.state, this.of(id))
    return `${this.of(id).status} ${format(extremum)} ${format(at)}`
  }
}
function opened(): { floor: TrailFloor; pair: [number, number]; maker: number; user: number } {
  const floor = new TrailFloor()
  floor.markAt('60000')
  const pair = floor.pair()
  floor.print('60000', pair)
  return { floor, pair, maker: pair[0], user: floor.holder('100000') }
}

describe('where a trailing order fires', () => {
  test('E26, and the sample of the reference platform', () => {
    assert.equal(trigger(false, '61250.4', '1%'), '60637.9')
    assert.equal(trigger(true, '86711.9', '5%'), '91047.4')
    assert.equal(trigger(false, '61250.4', '250.4'), '61000')
    assert.equal(trigger(true, '61250.4', '249.6'), '61500')
    assert.equal(trigger(false, '10', '20'), '-10')
  })
  test('what is no offset', () => {
    for (const text of ['', '0', '0%', '-1', '1%%', '100%', '101%', 'x', '1e3', '%'])
      assert.equal(readOffset(text), undefined, text)
    assert.deepEqual(readOffset('0.1%'), { kind: 'ratio', by: 10n ** 15n })
  })
})

describe('trailing orders', () => {
  test('a sell follows the highest price, and sells when it has come back', () => {
    const { floor, pair, maker, user } = opened()
    floor.place(maker, BTC_USDT, -10, '60000')
    floor.place(user, BTC_USDT, 10, '60000')
    const id = floor.trail(user, -10, '1%', { reduce_only: true })
    assert.equal(floor.stands(id), 'active 60000 59400')
    floor.print('61250.4', pair)
    assert.equal(floor.stands(id), 'active 61250.4 60637.9')
    floor.print('60638', pair)
    assert.equal(floor.stands(id), 'active 61250.4 60637.9')
    floor.place(maker, BTC_USDT, 10, '60600')
    floor.print('60637.9', pair)
    assert.equal(floor.stands(id), 'success 61250.4 60637.9')
    assert.equal(floor.size(user), 0)
    const order = floor.state.futures.orders.get(floor.of(id).suborder_id)!
    assert.equal(`${order.text} ${order.type} ${order.finish_as}`, `apiv4-auto-trail-o-${id} market filled`)
    assert.equal(floor.state.futures.waiting.trails.groups.size, 0)
    prove(floor.state, { quiet: true })
  })

  test('a buy the lowest one', () => {
    const { floor, pair, maker, user } = opened()
    const id = floor.trail(user, 5, '100')
    floor.print('59000', pair)
    floor.print('58000', pair)
    assert.equal(floor.stands(id), 'active 58000 58100')
    floor.place(maker, BTC_USDT, -5, '58150')
    floor.print('58100', pair)
    assert.equal(floor.of(id).status, 'success')
    assert.equal(floor.size(user), 5)
  })

  test('each waits for its activation price, from the side that it names', () => {
    const { floor, pair, user } = opened()
    const up = floor.trail(user, -1, '1%', { activation_price: '61000' })
    const down = floor.trail(user, -1, '1%', { activation_price: '59000' })
    const behind = floor.trail(user, -1, '1%', { activation_price: '59000', is_gte: true })
    const mark = floor.trail(user, -1, '1%', { price_type: 'mark' })
    assert.deepEqual(
      [up, down, behind, mark].map((id) => floor.stands(id)),
      ['pending 0 0', 'pending 0 0', 'active 60000 59400', 'active 60000 59400'],
    )
    floor.print('61000', pair)
    assert.equal(floor.stands(up), 'active 61000 60390')
    assert.equal(floor.of(down).status, 'pending')
    assert.ok(floor.of(up).activated_at > floor.of(up).created_at)
    floor.print('60400', pair)
    floor.print('59000', pair)
    // What was active has fired into an empty book, what was pending begins here.
    assert.deepEqual([floor.of(up).status, floor.of(up).error_label], ['failed', 'CONTRACT_NO_COUNTER'])
    assert.equal(floor.stands(down), 'active 59000 58410')
  })

  test('each refusal', () => {
    const { floor, user } = opened()
    assert.equal(floor.notTrailing(user, 0, '1%'), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notTrailing(user, 1, '0'), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notTrailing(user, 1, '0.05'), 'INVALID_PRECISION')
    assert.equal(floor.notTrailing(user, 1, '1%', { activation_price: '61000.001' }), 'INVALID_PRECISION')
    assert.equal(floor.notTrailing(user, 1, '1%', { position_related: true }), 'INVALID_PARAM_VALUE')
    assert.equal(
      floor.notTrailing(user, -1, '1%', { position_related: true, reduce_only: true }),
      'POSITION_EMPTY',
    )
    assert.equal(floor.notTrailing(user, 2_000_000, '1%'), 'SIZE_TOO_LARGE')
    assert.equal(floor.notTrailing(user, 1, '1%', { position_mode: 'dual' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notTrailing(user, 1, '1%', { pos_margin_mode: 'isolated' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notTrailing(user, 1, '1%', { text: 'a b' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notTrailing(floor.user({}), 1, '1%'), 'USER_NOT_FOUND')
    // Nobody has traded there.
    assert.equal(floor.notTrailing(user, 1, '1%', { contract: 'ETH_USDT' }), 'INVALID_PARAM_VALUE')
  })

  test('what belongs to a position goes with it', () => {
    const { floor, maker, user } = opened()
    floor.place(maker, BTC_USDT, -10, '60000')
    floor.place(user, BTC_USDT, 10, '60000')
    const bound = floor.trail(user, -10, '1%', { reduce_only: true, position_related: true })
    const free = floor.trail(user, -10, '1%', { reduce_only: true })
    floor.place(maker, BTC_USDT, 10, '60000')
    floor.place(user, BTC_USDT, 0, '0', { close: true })
    assert.deepEqual(
      [bound, free].map((id) => `${floor.of(id).status} ${floor.of(id).reason}`),
      ['cancelled position_closed', 'active '],
    )
  })

  test('stopped one by one, by text, or all', () => {
    const { floor, user } = opened()
    const path = floor.path(user, BTC_USDT)
    const one = floor.trail(user, -1, '1%', { text: 't-one' })
    const two = floor.trail(user, -1, '1%', { text: 'same' })
    const three = floor.trail(user, -1, '1%', { text: 'same' })
    const stop = (id: number | string): string => {
      const outcome = floor.run('futures.trail.stop', { ...path, id })
      return 'label' in outcome ? outcome.label : `${outcome.reply.id} ${outcome.reply.status}`
    }
    assert.equal(stop('same'), `${three} cancelled`)
    assert.equal(stop(two), `${two} cancelled`)
    assert.equal(stop(two), 'ORDER_FINISHED')
    assert.equal(stop('nobody'), 'ORDER_NOT_FOUND')
    const eth = floor.wait(user, 1, '3100', { size: 1, price: '3000' }, ETH_USDT)
    const all = { ...path, contract: null, related: null }
    assert.deepEqual(floor.must('futures.trail.stop_all', { ...all, contract: 'ETH_USDT' }), [])
    assert.deepEqual(floor.must('futures.trail.stop_all', { ...all, related: 'long' as const }), [])
    assert.deepEqual(
      floor.must('futures.trail.stop_all', all).map(({ id }) => id),
      [one],
    )
    assert.equal(floor.told(eth), 'open')
  })

  test('an update is checked, and takes effect at once', () => {
    const { floor, pair, user } = opened()
    const id = floor.trail(user, -1, '1%', { activation_price: '61000' })
    const none = { amount: null, activation_price: null, is_gte: null, price_type: null, price_offset: null }
    const update = (change: object): string => {
      const outcome = floor.run('futures.trail.update', {
        ...floor.path(user, BTC_USDT),
        id,
        ...none,
        ...change,
      })
      return 'label' in outcome ? outcome.label : floor.stands(id)
    }
    assert.equal(update({ amount: '1' }), 'INVALID_PARAM_VALUE')
    assert.equal(update({ amount: '-1' }), 'NO_CHANGE')
    assert.equal(update({ price_offset: '2%', amount: '-3' }), 'pending 0 0')
    assert.equal(update({ activation_price: '0' }), 'active 60000 58800')
    assert.equal(update({ activation_price: '61000' }), 'INVALID_PARAM_VALUE')
    floor.print('61000', pair)
    assert.equal(update({ price_offset: '500' }), 'active 61000 60500')
    // Another price has another extreme.
    floor.index({ BTC: '60200' })
    assert.match(update({ price_type: 'index' }), /^active 60200 59700$/)
    floor.print('60000', pair)
    assert.equal(floor.of(id).status, 'active')
    // The order would have to be reached at once.
    floor.print('60200', pair)
    assert.equal(update({ price_type: 'last' }), 'active 60200 59700')
    assert.equal(floor.state.futures.waiting.trails.groups.size, 1)
  })

  test('they are ended by freezing and by liquidation, and count among the 200', () => {
    const { floor, maker, pair } = opened()
    const user = floor.holder('70')
    floor.place(maker, BTC_USDT, -100, '60000')
    floor.place(user, BTC_USDT, 100, '60000')
    const ids = Array.from({ length: 200 }, () => floor.trail(user, -1, '50%', { reduce_only: true }))
    assert.equal(floor.notTrailing(user, -1, '50%'), 'TOO_MANY_ORDERS')
    assert.equal(floor.notWaiting(user, 1, '61000', { size: 1, price: '60000' }), 'TOO_MANY_ORDERS')
    floor.markAt('53100')
    floor.advance(1)
    for (const id of ids)
      assert.equal(`${floor.of(id).status} ${floor.of(id).reason}`, 'cancelled liquidated')
    const other = floor.holder('1000')
    const one = floor.trail(other, -1, '50%')
    floor.must('user.change', { user_id: other, state: 2, actor: null })
    floor.advance(0)
    assert.equal(floor.of(one).status, 'cancelled')
    floor.print('53000', pair)
  })

  test('many, in any order of prices, stand where a plain count of each says', () => {
    const floor = new TrailFloor()
    const users = Array.from({ length: 4 }, () => floor.holder('1000'))
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    /** What each should be: extreme and trigger counted from all prices since it was activated. */
    const plain = new Map<number, { buys: boolean; offset: string; extreme: Price; status: string }>()
    let price = 60000
    const moved = (): void => {
      for (const one of plain.values()) {
        if (one.status !== 'active') continue
        const now = priceOf(String(price))
        if (one.buys ? now < one.extreme : now > one.extreme) one.extreme = now
        const at = priceOf(trigger(one.buys, format(one.extreme), one.offset).replace('-', ''))
        if (one.buys ? now >= at : now <= at) one.status = 'ended'
      }
    }
    for (let step = 0; step < 600; step++) {
      if (random(3) === 0) {
        const buys = random(2) === 0
        const offset = random(2) === 0 ? `${1 + random(300)}` : `0.${1 + random(9)}%`
        const id = floor.trail(users[random(4)]!, buys ? 1 : -1, offset, { price_type: 'index' })
        plain.set(id, { buys, offset, extreme: priceOf(String(price)), status: 'active' })
      } else {
        const next = price + random(201) - 100
        // What is taken back has never been.
        floor.rehearse('prices.set', { prices: { BTC: String(next + 500) }, actor: null })
        price = next
        floor.index({ BTC: String(price) })
        floor.advance(0)
        moved()
      }
      for (const [id, one] of plain) {
        const trail = floor.of(id)
        assert.equal(trail.status === 'active' ? 'active' : 'ended', one.status, `step ${step}: ${id}`)
        if (trail.status === 'active')
          assert.equal(trailFigures(floor.state, trail).extremum, one.extreme, `step ${step}: ${id}`)
      }
    }
    const statuses = [...plain.values()].map(({ status }) => status)
    assert.ok(statuses.includes('ended') && statuses.length > 150)
    // One row for each extreme at most.
    const { groups, table } = floor.state.futures.waiting.trails
    const active = [...table.values()].filter(({ status }) => status === 'active')
    assert.ok(groups.size <= new Set(active.map(({ group_id }) => group_id)).size)
  })

  test('a price that goes on changes one row, however many follow it', () => {
    const floor = new TrailFloor()
    const users = Array.from({ length: 3 }, () => floor.holder('1000'))
    // A staircase: each begins at a lower price than the one before.
    let price = 60000
    for (let i = 0; i < 450; i++) {
      if (i % 3 === 0) floor.index({ BTC: String((price -= 1)) })
      floor.trail(users[i % 3]!, -1, '50%', { price_type: 'index' })
    }
    const { groups, table } = floor.state.futures.waiting.trails
    assert.equal(groups.size, 150)
    floor.index({ BTC: '60500' })
    floor.advance(0)
    assert.ok(floor.ran.includes('futures.trail.follow'))
    for (const trail of table.values())
      assert.equal(format(trailFigures(floor.state, trail).extremum), '60500')
    for (let i = 1; i < 5; i++) {
      floor.index({ BTC: String(60500 + i) })
      floor.advance(0)
    }
    assert.equal(groups.size, 1)
  })
})
