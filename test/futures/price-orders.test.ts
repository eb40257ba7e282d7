import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeAccount } from '../../src/core/futures/money.ts'
import { WaitingFloor } from './waiting-floor.ts'
import { prove } from './prove.ts'
import { BTC_USD, BTC_USDT, CONTRACTS, DATED, ETH_USDT } from './world.ts'

function opened(): { floor: WaitingFloor; pair: [number, number] } {
  const floor = new WaitingFloor()
  floor.markAt('60000')
  const pair = floor.pair()
  floor.print('60000', pair)
  return { floor, pair }
}
/** A long of 100 at 60000, of somebody with little else, and what he can be sold to. */
function held(floor: WaitingFloor, [maker]: readonly [number, number], cash = '10000'): number {
  const user = floor.holder(cash)
  floor.place(maker, BTC_USDT, -100, '60000')
  floor.place(user, BTC_USDT, 100, '60000')
  return user
}

describe('orders that wait for a price', () => {
  test('the last price fires them in the command that printed it, at or beyond their trigger', () => {
    const { floor, pair } = opened()
    const user = floor.holder('10000')
    const up = floor.wait(user, 1, '60100', { size: 5, price: '59000' })
    const down = floor.wait(user, 2, '59900.5', { size: -5, price: '61000', text: 't-mine' })
    floor.print('60099.9', pair)
    assert.equal(`${floor.told(up)}, ${floor.told(down)}`, 'open, open')
    floor.print('60100', pair)
    assert.equal(`${floor.told(up)}, ${floor.told(down)}`, 'finished succeeded, open')
    assert.equal(floor.placedBy(up), `ao-${up} buy open`)
    assert.ok(floor.row(up).ended_at > floor.row(up).created_at)
    floor.print('59900', pair)
    assert.equal(floor.placedBy(down), 't-mine sell open')
    assert.equal(floor.state.futures.openOrders(user).length, 2)
    assert.equal(floor.ran.includes('futures.fire'), false)
    prove(floor.state, { quiet: true })
  })

  test('mark and index fire them too, where no last price moves', () => {
    const { floor } = opened()
    floor.setRow(BTC_USDT, { steps: [], funding_rate: 0n as never })
    const user = floor.holder('10000')
    const mark = floor.wait(user, 1, '60500.01', { size: 5, price: '59000', type: 'mark' })
    const index = floor.wait(user, 1, '60700', { size: 6, price: '59000', type: 'index' })
    const last = floor.wait(user, 1, '60500', { size: 7, price: '59000', type: 'last' })
    floor.index({ BTC: '60400' })
    assert.deepEqual(
      [index, mark, last].map((id) => floor.told(id)),
      ['open', 'open', 'open'],
    )
    floor.index({ BTC: '60700' })
    assert.equal(floor.mark(), '60700')
    assert.deepEqual(
      [index, mark, last].map((id) => floor.told(id)),
      ['finished succeeded', 'finished succeeded', 'open'],
    )
  })

  test('time alone moves a mark, and somebody who waits is told though nobody holds anything', () => {
    const floor = new WaitingFloor()
    const user = floor.holder('10000', ETH_USDT)
    floor.markAt('3000', ETH_USDT)
    const due = (): string[] => floor.marksDue()
    assert.deepEqual(due().includes(ETH_USDT), false)
    floor.wait(user, 1, '3005', { size: 1, price: '2900', type: 'mark' }, ETH_USDT)
    floor.setRow(ETH_USDT, { funding_rate: (10n ** 16n) as never, steps: [[0, '10']] })
    assert.equal(due().includes(ETH_USDT), true)
  })

  test('what is ahead of the price is refused, as is what can not be read', () => {
    const { floor } = opened()
    const user = floor.holder('10000')
    const one = { size: 5, price: '59000' }
    assert.equal(floor.notWaiting(user, 1, '60000', one), 'AUTO_TRIGGER_PRICE_GREATE_LAST')
    assert.equal(floor.notWaiting(user, 2, '60000', one), 'AUTO_TRIGGER_PRICE_LESS_LAST')
    assert.equal(
      floor.notWaiting(user, 1, '59000', { ...one, type: 'mark' }),
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
    )
    assert.equal(
      floor.notWaiting(user, 2, '61000', { ...one, type: 'index' }),
      'AUTO_TRIGGER_PRICE_LESS_LAST',
    )
    assert.equal(floor.notWaiting(user, 1, '0', one), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notWaiting(user, 1, '60100.005', one), 'INVALID_PRECISION')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 5, price: '59000.05' }), 'INVALID_PRECISION')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 0, price: '0' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 1, close: true }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 1, tif: 'gtc' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notWaiting(user, 1, '60100', { auto_size: 'close_long' }), 'INVALID_PARAM_VALUE')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 2_000_000 }), 'SIZE_TOO_LARGE')
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 1, text: 'a b' }), 'INVALID_PARAM_VALUE')
    assert.equal(
      floor.notWaiting(user, 1, '60100', { kind: 'close-long-order', size: -1 }),
      'INVALID_PARAM_VALUE',
    )
    assert.equal(floor.notWaiting(floor.user({}), 1, '60100', one), 'USER_NOT_FOUND')
  })

  test('nothing begins to wait in a position that is being liquidated, or below the least size', () => {
    const { floor } = opened()
    const user = floor.holder('10000')
    floor.apply((ctx) => changeAccount(ctx, user, 'futures/usdt', { liquidating: 7 }))
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 5, price: '59000' }), 'POSITION_IN_LIQUIDATION')
    const least = new WaitingFloor([{ ...CONTRACTS.BTC_USDT, order_size_min: 10 }])
    const other = least.holder('10000')
    assert.equal(least.notWaiting(other, 1, '60100', { size: 9, price: '59000' }), 'SIZE_TOO_SMALL')
    assert.equal(least.notWaiting(other, 1, '60100', { size: 10, price: '59000' }), 'it waits')
  })

  test('who is named like the platform gets the text that the platform gives', () => {
    const { floor, pair } = opened()
    const user = floor.holder('10000')
    const texts = ['liq-1', 'insurance', 'ao-77', 'my-id'].map((text) =>
      floor.wait(user, 1, '60100', { size: 1, price: '59000', text }),
    )
    floor.print('60100', pair)
    assert.deepEqual(
      texts.map((id) => floor.placedBy(id)),
      texts.map((id) => `ao-${id} buy open`),
    )
  })

  test('what the market refuses then has failed, with the label for a reason', () => {
    const { floor, pair } = opened()
    const poor = floor.holder('1')
    const margin = floor.wait(poor, 1, '60100', { size: 1000, price: '60000' })
    const far = floor.wait(poor, 1, '60100', { size: 1, price: '10000' })
    const empty = floor.wait(poor, 1, '60100', { size: -1, reduce_only: true })
    const nobody = floor.wait(poor, 1, '60100', { size: 1 })
    const mode = floor.wait(poor, 1, '60100', { size: 1, price: '59999', margin: 'isolated' })
    floor.print('60100', pair)
    assert.deepEqual(
      [margin, far, empty, nobody, mode].map((id) => floor.told(id)),
      [
        'finished failed INSUFFICIENT_AVAILABLE',
        'finished failed PRICE_TOO_DEVIATED',
        'finished failed POSITION_EMPTY',
        'finished failed CONTRACT_NO_COUNTER',
        'finished failed INVALID_PARAM_VALUE',
      ],
    )
    assert.equal(floor.state.futures.openOrders(poor).length, 0)
    assert.equal(floor.row(margin).trade_id, 0)
  })

  test('the nearest trigger first, of equal ones the lowest id', () => {
    const { floor, pair } = opened()
    const user = floor.holder('100000')
    const ids = ['60300', '60100', '60200', '60100'].map((trigger) =>
      floor.wait(user, 1, trigger, { size: 1, price: '59000' }),
    )
    floor.print('60400', pair)
    const order = ids.map((id) => floor.row(id).trade_id)
    assert.deepEqual(
      [...order].sort((a, b) => a - b),
      [order[1], order[3], order[2], order[0]],
    )
  })

  test('50 in one command, and the others at once after it', () => {
    const { floor, pair } = opened()
    const users = [floor.holder('100000'), floor.holder('100000')]
    const ids = users.flatMap((user) =>
      Array.from({ length: 60 }, () => floor.wait(user, 1, '60100', { size: 1, price: '59000' })),
    )
    const ended = (): number => ids.filter((id) => floor.row(id).status === 'finished').length
    floor.print('60100', pair)
    assert.equal(ended(), 50)
    floor.advance(0)
    assert.equal(ended(), 120)
    assert.equal(floor.ran.filter((command) => command === 'futures.fire').length, 2)
  })

  test('one fires the other, each with all that came before it', () => {
    const { floor, pair } = opened()
    const [maker] = pair
    const user = floor.holder('100000')
    floor.place(maker, BTC_USDT, -1, '60200')
    floor.place(maker, BTC_USDT, -1, '60300')
    const ids = ['60100', '60200', '60300'].map((trigger) => floor.wait(user, 1, trigger, { size: 1 }))
    floor.print('60100', pair)
    assert.deepEqual(
      ids.map((id) => floor.told(id)),
      ['finished succeeded', 'finished succeeded', 'finished failed CONTRACT_NO_COUNTER'],
    )
    assert.equal(floor.size(user), 2)
    prove(floor.state, { quiet: true })
  })

  test('a command that is refused fires nothing, and one that is taken back leaves nothing', () => {
    const { floor, pair } = opened()
    const [maker, taker] = pair
    const user = floor.holder('100000')
    const id = floor.wait(user, 1, '60100', { size: 1, price: '59000' })
    floor.place(maker, BTC_USDT, -10, '60100')
    const poor = floor.holder('1')
    assert.equal(floor.refused(poor, BTC_USDT, 10, '60100'), 'INSUFFICIENT_AVAILABLE')
    assert.equal(floor.told(id), 'open')
    floor.rehearse('futures.place', floor.input(taker, BTC_USDT, 1, '60100'))
    assert.equal(floor.told(id), 'open')
    assert.equal(floor.state.futures.openOrders(user).length, 0)
    floor.place(taker, BTC_USDT, 1, '60100')
    assert.equal(floor.told(id), 'finished succeeded')
  })

  test('an item of a batch that is taken back fires nothing; one between two others does', () => {
    const { floor, pair } = opened()
    const [maker, taker] = pair
    const user = floor.holder('100000')
    const id = floor.wait(user, 1, '60100', { size: 1, price: '59000' })
    const batch = (who: number, items: readonly (readonly [number, string])[]): string[] => {
      const orders = items.map(([size, price]) => floor.input(who, BTC_USDT, size, price).order)
      return floor
        .must('futures.place_batch', { ...floor.path(who, BTC_USDT), orders })
        .map((result) => ('label' in result ? result.label : result.order.finish_as))
    }
    floor.place(maker, BTC_USDT, -1000, '60100')
    assert.deepEqual(batch(floor.holder('300'), [[1000, '60100']]), ['INSUFFICIENT_AVAILABLE'])
    assert.equal(floor.told(id), 'open')
    floor.place(maker, BTC_USDT, 1, '60000')
    assert.deepEqual(
      batch(taker, [
        [1, '60100'],
        [-1, '60000'],
      ]),
      ['filled', 'filled'],
    )
    assert.equal(floor.told(id), 'finished succeeded')
  })

  test('a stopped contract keeps them waiting until it goes on', () => {
    const { floor } = opened()
    const user = floor.holder('10000')
    const id = floor.wait(user, 1, '60500', { size: 1, price: '59000', type: 'index' })
    const change = (status: 'circuit_breaker' | 'trading'): unknown =>
      floor.must('contract.change', { contract: BTC_USDT, change: { status }, actor: null })
    change('circuit_breaker')
    assert.equal(floor.notWaiting(user, 1, '60500', { size: 1, price: '59000' }), 'TRADE_RESTRICTED')
    floor.index({ BTC: '60600' })
    assert.equal(floor.told(id), 'open')
    change('trading')
    assert.equal(floor.told(id), 'finished succeeded')
  })

  test('they expire, are cancelled one by one or all, and no longer fire', () => {
    const { floor, pair } = opened()
    const user = floor.holder('10000')
    const other = floor.holder('10000')
    const short = floor.wait(user, 1, '60100', { size: 1, price: '59000', expiration: 60 })
    const long = floor.wait(user, 1, '60100', { size: 1, price: '59000', expiration: 600 })
    const eth = floor.wait(user, 1, '60100', { size: 1, price: '3000' }, ETH_USDT)
    floor.advance(61)
    assert.equal(`${floor.told(short)}, ${floor.told(long)}`, 'finished expired, open')
    const cancel = (who: number, id: number) => {
      const outcome = floor.run('futures.price_order.cancel', { ...floor.path(who, BTC_USDT), id })
      return 'label' in outcome ? outcome.label : outcome.reply.finish_as
    }
    assert.equal(cancel(other, long), 'ORDER_NOT_FOUND')
    assert.equal(cancel(user, short), 'ORDER_FINISHED')
    assert.equal(cancel(user, long), 'cancelled')
    const more = floor.wait(user, 1, '60100', { size: 1, price: '59000' })
    const all = { ...floor.path(user, BTC_USDT), contract: 'btc_usdt' }
    assert.deepEqual(
      floor.must('futures.price_order.cancel_all', all).map(({ id }) => id),
      [more],
    )
    assert.equal(floor.must('futures.price_order.cancel_all', { ...all, contract: null })[0]?.id, eth)
    floor.print('60100', pair)
    assert.equal(floor.state.futures.openOrders(user).length, 0)
    floor.advance(1000)
    assert.equal(floor.told(long), 'finished cancelled')
  })

  test('200 of an account, whatever the contract; dual mode waits for the last of them', () => {
    const { floor } = opened()
    const user = floor.holder('10000')
    const ids = Array.from({ length: 199 }, () => floor.wait(user, 1, '60100', { size: 1 }))
    ids.push(floor.wait(user, 1, '3100', { size: 1 }, ETH_USDT))
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 1 }), 'TOO_MANY_ORDERS')
    assert.equal(
      floor.refused(user, BTC_USDT, 1, '59000', { tpsl_tp_trigger_price: '61000' }),
      'TOO_MANY_ORDERS',
    )
    const dual = (): string => {
      const outcome = floor.run('futures.dual_mode', { ...floor.path(user, BTC_USDT), dual: true })
      return 'label' in outcome ? outcome.label : 'dual'
    }
    assert.equal(dual(), 'ORDER_PENDING')
    floor.must('futures.price_order.cancel_all', { ...floor.path(user, BTC_USDT), contract: null })
    assert.equal(dual(), 'dual')
  })

  test('an amendment is checked like a new one', () => {
    const { floor, pair } = opened()
    const user = floor.holder('10000')
    const id = floor.wait(user, 1, '60100', { size: 1, price: '59000' })
    const none = {
      size: null,
      price: null,
      trigger_price: null,
      price_type: null,
      auto_size: null,
      close: null,
    }
    const amend = (change: Partial<Record<keyof typeof none, string | boolean>>): string => {
      const input = { ...floor.path(user, BTC_USDT), id, ...none, ...change }
      const outcome = floor.run('futures.price_order.amend', input as never)
      return 'label' in outcome ? outcome.label : 'amended'
    }
    assert.equal(amend({}), 'MISSING_REQUIRED_PARAM')
    assert.equal(amend({ size: '1' }), 'NO_CHANGE')
    assert.equal(amend({ trigger_price: '59000' }), 'AUTO_TRIGGER_PRICE_GREATE_LAST')
    assert.equal(amend({ price: '0.05' }), 'INVALID_PRECISION')
    assert.equal(amend({ size: '0' }), 'INVALID_PARAM_VALUE')
    assert.equal(amend({ close: true }), 'INVALID_PARAM_VALUE')
    assert.equal(amend({ size: '3', price: '58000', trigger_price: '60200' }), 'amended')
    floor.print('60100', pair)
    assert.equal(floor.told(id), 'open')
    floor.print('60200', pair)
    const [order] = floor.state.futures.openOrders(user)
    assert.equal(`${order!.amount} ${order!.price}`, `${3n * 10n ** 18n} ${58000n * 10n ** 18n}`)
    assert.equal(amend({ size: '4' }), 'ORDER_FINISHED')
  })

  test('an amended price keeps what the order is, unless it becomes a market order', () => {
    const { floor } = opened()
    const user = floor.holder('10000')
    const id = floor.wait(user, 1, '60100', { size: 1, price: '59000', tif: 'ioc' })
    const amend = (price: string): string =>
      floor.must('futures.price_order.amend', {
        ...floor.path(user, BTC_USDT),
        id,
        size: null,
        price,
        trigger_price: null,
        price_type: null,
        auto_size: null,
        close: null,
      }).initial.tif
    assert.deepEqual(['59100', '0', '59100'].map(amend), ['ioc', 'ioc', 'gtc'])
  })
})

describe('price orders that close a position', () => {
  test('need one of that side, close all or a part of it, and go when it ends', () => {
    const { floor, pair } = opened()
    const [maker, taker] = pair
    const user = held(floor, pair)
    assert.equal(
      floor.notWaiting(user, 1, '60100', { kind: 'close-short-position', close: true }),
      'POSITION_EMPTY',
    )
    for (const wrong of [{ size: -5 }, { size: 0 }])
      assert.equal(
        floor.notWaiting(user, 1, '60100', { kind: 'close-long-position', ...wrong }),
        'INVALID_PARAM_VALUE',
      )
    assert.equal(
      floor.notWaiting(user, 1, '60100', { kind: 'plan-close-long-position', size: 5 }),
      'INVALID_PARAM_VALUE',
    )
    const part = floor.wait(user, 1, '60100', { kind: 'plan-close-long-position', size: -30 })
    const profit = floor.wait(user, 1, '61000', { kind: 'close-long-position', close: true })
    const loss = floor.wait(user, 2, '59000', { kind: 'close-long-position', close: true })
    const plain = floor.wait(user, 1, '61000', { size: 1, price: '59000' })
    assert.equal(floor.row(part).initial.reduce_only, true)
    floor.place(maker, BTC_USDT, 30, '60050')
    floor.print('60100', pair)
    assert.equal(floor.size(user), 70)
    assert.equal(floor.told(loss), 'open')
    floor.place(maker, BTC_USDT, 70, '58950')
    floor.print('58960', [taker, maker])
    assert.equal(floor.size(user), 0)
    assert.deepEqual(
      [loss, profit, plain].map((id) => floor.told(id)),
      ['finished succeeded', 'finished cancelled position_closed', 'open'],
    )
    prove(floor.state, { quiet: true })
  })

  test('end with a position that is turned round, and do not touch the new one', () => {
    const { floor, pair } = opened()
    const user = held(floor, pair)
    const loss = floor.wait(user, 2, '59000', { kind: 'close-long-position', close: true })
    floor.place(pair[0], BTC_USDT, 150, '60000')
    floor.place(user, BTC_USDT, -150, '60000')
    assert.equal(floor.size(user), -50)
    assert.equal(floor.told(loss), 'finished cancelled position_closed')
  })

  test('in dual mode by side', () => {
    const { floor, pair } = opened()
    const [maker] = pair
    const user = floor.holder('10000')
    floor.must('futures.dual_mode', { ...floor.path(user, BTC_USDT), dual: true })
    floor.place(maker, BTC_USDT, -100, '60000')
    floor.place(user, BTC_USDT, 100, '60000')
    floor.place(maker, BTC_USDT, 40, '60000')
    floor.place(user, BTC_USDT, -40, '60000')
    const kind = 'close-long-position'
    assert.equal(floor.notWaiting(user, 2, '59000', { kind, close: true }), 'INVALID_PARAM_VALUE')
    assert.equal(
      floor.notWaiting(user, 2, '59000', { kind, auto_size: 'close_short' }),
      'INVALID_PARAM_VALUE',
    )
    const long = floor.wait(user, 2, '59500', { kind, auto_size: 'close_long' })
    const short = floor.wait(user, 1, '61000', { kind: 'close-short-position', auto_size: 'close_short' })
    floor.place(maker, BTC_USDT, 100, '59400')
    floor.print('59500', pair)
    assert.equal(floor.size(user, BTC_USDT, 'dual_long'), 0)
    assert.equal(floor.size(user, BTC_USDT, 'dual_short'), -40)
    assert.deepEqual([floor.told(long), floor.told(short)], ['finished succeeded', 'open'])
  })

  test('are cancelled when the account is liquidated, with all that waits there', () => {
    const { floor, pair } = opened()
    const user = held(floor, pair, '70')
    const loss = floor.wait(user, 2, '1000', { kind: 'close-long-position', close: true })
    const plain = floor.wait(user, 1, '99000', { size: 1, price: '59000' })
    const eth = floor.wait(user, 1, '99000', { size: 1, price: '3000' }, ETH_USDT)
    floor.markAt('53100')
    floor.advance(1)
    assert.equal(floor.size(user), 0)
    for (const id of [loss, plain, eth]) assert.equal(floor.told(id), 'finished cancelled liquidated')
  })

  test('isolated: those of the contract alone', () => {
    const { floor, pair } = opened()
    const user = floor.holder('1000')
    floor.leverage(user, BTC_USDT, '50')
    floor.place(pair[0], BTC_USDT, -100, '60000')
    floor.place(user, BTC_USDT, 100, '60000')
    const plain = floor.wait(user, 1, '99000', { size: 1, price: '59000' })
    const eth = floor.wait(user, 1, '99000', { size: 1, price: '3000' }, ETH_USDT)
    floor.markAt('58500')
    floor.advance(1)
    assert.equal(floor.size(user), 0)
    assert.deepEqual([floor.told(plain), floor.told(eth)], ['finished cancelled liquidated', 'open'])
  })
})

describe('what else ends them', () => {
  test('a frozen account: nothing of it waits any more, nothing of it is placed', () => {
    const { floor, pair } = opened()
    const user = floor.holder('10000')
    const ids = Array.from({ length: 150 }, () => floor.wait(user, 1, '60100', { size: 1, price: '59000' }))
    floor.must('user.change', { user_id: user, state: 2, actor: null })
    floor.advance(0)
    for (const id of ids) assert.equal(floor.told(id), 'finished cancelled the account was frozen')
    floor.print('60100', pair)
    assert.equal(floor.state.futures.openOrders(user).length, 0)
  })

  test('a contract that ends', () => {
    const floor = new WaitingFloor([{ ...CONTRACTS.DATED, expire_time: 1_700_003_600 }])
    const user = floor.holder('10000', DATED)
    const id = floor.wait(user, 1, '60100', { size: 1, price: '59000', type: 'index' }, DATED)
    floor.advance(floor.contract(DATED).expireAt / 1e6 - floor.second + 1)
    floor.must('contract.begin', {})
    floor.advance(2)
    assert.equal(floor.told(id), 'finished cancelled contract_delisted')
  })

  test('of a contract that is being delisted, those that may open', () => {
    const { floor, pair } = opened()
    const user = held(floor, pair)
    const open = floor.wait(user, 1, '60100', { size: 1, price: '59000' })
    const close = floor.wait(user, 1, '60100', { size: -1, price: '61000', reduce_only: true })
    const delisting_time = floor.second + 60
    floor.must('contract.change', { contract: BTC_USDT, change: { delisting_time }, actor: null })
    floor.advance(61)
    assert.deepEqual([floor.told(open), floor.told(close)], ['finished cancelled contract_delisted', 'open'])
    assert.equal(floor.notWaiting(user, 1, '60100', { size: 1, price: '59000' }), 'CONTRACT_IN_DELISTING')
  })
})

describe('inverse contracts', () => {
  test('wait like the others', () => {
    const floor = new WaitingFloor()
    floor.markAt('60000', BTC_USD)
    const pair = floor.pair(BTC_USD)
    floor.print('60000', pair, BTC_USD)
    const user = floor.holder('1', BTC_USD)
    const id = floor.wait(user, 2, '59000', { size: -100, price: '58000' }, BTC_USD)
    floor.print('58999.9', pair, BTC_USD)
    assert.equal(floor.placedBy(id), `ao-${id} sell open`)
  })
})
