import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UnifiedFloor } from './unified.ts'
import { BTC_USDT } from './world.ts'

/** A floor where somebody rich and classic trades with everybody. */
function scene(): { floor: UnifiedFloor; rich: number } {
  const floor = new UnifiedFloor()
  floor.markAt('60000')
  return { floor, rich: floor.holder('10000000') }
}
describe('what is recorded of liquidations in contracts', () => {
  test('orders that wait for a price end with a unified account that has no others', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { USDT: '635' })
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    const { id } = floor.must('futures.price_order.create', {
      ...floor.path(user, BTC_USDT),
      initial: {
        contract: 'BTC_USDT',
        size: '5',
        price: '0',
        tif: null,
        text: null,
        close: false,
        reduce_only: false,
        auto_size: null,
      },
      trigger: { price: '65000', price_type: 'last', rule: 1, expiration: 0 },
      order_type: '',
      pos_margin_mode: null,
    })
    floor.place(rich, BTC_USDT, 1_000, '53840')
    floor.markAt('53850')
    floor.quiet()
    assert.equal(floor.size(user), 0)
    assert.equal(floor.state.futures.waiting.prices.table.get(id)?.reason, 'liquidated')
  })
})
