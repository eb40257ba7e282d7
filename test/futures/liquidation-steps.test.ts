import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UnifiedFloor } from './unified.ts'
import { format } from '../../src/money/amount.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

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
  test('nobody is left to take it: the operator insures, the fund has it at the mark', () => {
    const { floor, rich } = scene()
    floor.markAt('3000', ETH_USDT)
    const [long, short] = [floor.holder('1000'), floor.holder('5000')]
    floor.leverage(long, BTC_USDT, '10')
    floor.trade(BTC_USDT, long, short, 1_000, '60000')
    floor.trade(ETH_USDT, short, rich, 1_000, '3000')
    const equity = floor.balance(0, 'USDT', 'equity')
    // Who has won by it is being liquidated himself, for another contract.
    floor.markAt('2000', ETH_USDT)
    floor.markAt('50000')
    floor.quiet()
    const steps = floor.steps.filter(({ user_id }) => user_id === long)
    assert.deepEqual(
      steps.map(({ step, currency, amount, scope }) =>
        `${step} ${format(amount)} ${currency} ${scope}`.replace('  ', ' '),
      ),
      [
        `locked 0 ${BTC_USDT}`,
        `insured 397 USDT ${BTC_USDT}`,
        `taken_over 1000 ${BTC_USDT}`,
        `unlocked 0 ${BTC_USDT}`,
      ],
    )
    assert.deepEqual(steps[1]!.detail, { by: 'equity' })
    assert.ok(Number(floor.balance(0, 'USDT', 'equity')) <= Number(equity) - 397)
    const others = floor.steps.filter(({ user_id }) => user_id === short)
    assert.equal(others[0]!.scope, 'futures/usdt')
    assert.equal(others.at(-1)!.step, 'unlocked')
  })
})
