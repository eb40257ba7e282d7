import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commands } from '../../src/core/commands.ts'
import { State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { Tx } from '../../src/machine/table.ts'
import { format, type Amount, type Rate } from '../../src/money/amount.ts'
import { UnifiedFloor, type UnifiedMode } from './unified.ts'
import { BTC_USDT, ETH_USDT } from './world.ts'

const text = (value: Amount | Rate | undefined): string => format(value ?? (0n as Amount))
/** A floor where somebody rich and classic trades with everybody. */
function scene(index = '60000'): { floor: UnifiedFloor; rich: number } {
  const floor = new UnifiedFloor()
  floor.markAt(index)
  return { floor, rich: floor.holder('10000000') }
}
function trade(
  floor: UnifiedFloor,
  user: number,
  rich: number,
  size: number,
  price: string,
  id = BTC_USDT,
): void {
  floor.place(rich, id, -size, price)
  floor.place(user, id, size, price)
}

describe('the money of contracts in a unified account', () => {
  test('it moves to the spot account with the switch, and no transfer names futures any more', () => {
    const { floor } = scene()
    for (const mode of ['single_currency', 'multi_currency', 'portfolio'] as const) {
      const user = floor.holder('1000')
      floor.must('user.credit', {
        user_id: user,
        account: 'futures',
        currency: 'POINT',
        amount: '7',
        currency_pair: null,
        settle: 'usdt',
        actor: null,
      })
      assert.equal(floor.mode(user, mode), 'done')
      assert.deepEqual(
        [floor.balance(user, 'USDT'), floor.balance(user, 'POINT'), floor.cash(user)],
        ['1000', '7', '0'],
      )
      assert.equal(format(floor.state.futures.accounts.get(user, 'futures/usdt')!.dnw), '0')
      for (const [from, to] of [
        ['spot', 'futures'],
        ['futures', 'spot'],
      ] as const)
        assert.equal(floor.transfer(user, 'USDT', from, to, '1'), 'ACCOUNT_EXCEPTION')
      const credit = { user_id: user, account: 'futures', currency: 'USDT', amount: '1' } as const
      const outcome = floor.run('user.credit', {
        ...credit,
        currency_pair: null,
        settle: 'usdt',
        actor: null,
      })
      assert.equal('label' in outcome && outcome.label, 'ACCOUNT_EXCEPTION')
    }
  })
  test('positions and orders hold the mode, in and out and from one unified mode to another', () => {
    const { floor, rich } = scene()
    const classic = floor.holder('5000')
    floor.place(classic, BTC_USDT, 10, '59000')
    assert.equal(floor.mode(classic, 'single_currency'), 'USER_PENDING_ORDERS')
    trade(floor, classic, rich, 10, '60000')
    assert.equal(floor.mode(classic, 'portfolio'), 'POSITION_HOLDING')
    const user = floor.member('multi_currency', { USDT: '5000' })
    trade(floor, user, rich, 10, '60000')
    for (const mode of ['classic', 'single_currency', 'portfolio'] as const)
      assert.equal(floor.mode(user, mode), 'POSITION_HOLDING')
    floor.place(rich, BTC_USDT, 10, '60000')
    floor.place(user, BTC_USDT, -10, '60000')
    assert.equal(floor.mode(user, 'classic'), 'done')
    // What it has stays where it is.
    assert.equal(floor.cash(user), '0')
    assert.equal(floor.refused(user, BTC_USDT, 1, '60000'), 'INSUFFICIENT_AVAILABLE')
  })
  test('E22: figures of multi_currency, and a loss beyond the money is lent', () => {
    const { floor, rich } = scene('60000')
    floor.index({ BTC: '58000' })
    floor.markAt('58000')
    const user = floor.member('multi_currency', { BTC: '1', USDT: '2000' })
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    const risk = floor.risk(user)
    const usdt = risk.assets.find(({ asset }) => asset.currency === 'USDT')!
    assert.deepEqual(
      [
        text(usdt.equity),
        text(risk.marginBalance),
        text(risk.contracts?.initial),
        text(risk.contracts?.maintenance),
        text(risk.available),
      ],
      ['1800', '58640', '582.9', '26.1', '58057.1'],
    )
    const figures = floor.figures(user)
    assert.deepEqual([figures.total, figures.cross_margin_balance, figures.cross_available].map(text), [
      '0',
      '58640',
      '58057.1',
    ])
    // (58057.1 x 10 + 1800) / 11
    assert.equal(format(figures.available).slice(0, 15), '52942.818181818')
    assert.equal(floor.moveOut(user, 'USDT', '1900'), 'moved')
    floor.place(rich, BTC_USDT, 1_000, '57000')
    floor.place(user, BTC_USDT, -1_000, '57000')
    assert.equal(floor.balance(user, 'USDT', 'debt.unified'), '-202.85')
    assert.equal(floor.balance(user, 'USDT'), '0')
    const account = floor.state.futures.accounts.get(user, 'futures/usdt')!
    assert.deepEqual([account.borrowed, account.pnl, account.fee].map(text), ['202.85', '-300', '-2.85'])
    assert.deepEqual(
      floor.records.map(({ borrow_type, amount }) => [borrow_type, text(amount)]),
      [
        ['auto_borrow', '200'],
        ['auto_borrow', '2.85'],
      ],
    )
    // An ordinary loan: it costs interest, and money that comes in repays it before anything else.
    floor.advance(3_700)
    assert.ok(floor.state.ledger.balance(user, 'debt.interest.unified', 'USDT') < 0n)
    const interest = -floor.state.ledger.balance(user, 'debt.interest.unified', 'USDT') as Amount
    const credit = { user_id: user, account: 'spot', currency: 'USDT', amount: '100' } as const
    floor.must('user.credit', { ...credit, currency_pair: null, settle: null, actor: null })
    assert.equal(floor.balance(user, 'USDT'), '0')
    const left = -floor.state.ledger.balance(user, 'debt.unified', 'USDT') as Amount
    assert.equal(
      format(left),
      format((202_850_000_000_000_000_000n - 100n * 10n ** 18n + interest) as Amount),
    )
    assert.equal(format(floor.state.futures.accounts.get(user, 'futures/usdt')!.borrowed), format(left))
    assert.equal(floor.records.at(-1)!.repayment_type, 'auto_repay')
  })
  test('a profit repays what losses borrowed, and nothing of a loan that was asked for', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { BTC: '1' })
    const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
    floor.must('margin.loan', { user_id: user, currency: 'USDT', type: 'borrow', amount: '500', ...rest })
    assert.equal(floor.moveOut(user, 'USDT', '500'), 'moved')
    trade(floor, user, rich, 1_000, '60000')
    floor.place(rich, BTC_USDT, 500, '59000')
    floor.place(user, BTC_USDT, -500, '59000')
    // Fees of 3 and 1.475, and a loss of 50.
    assert.equal(floor.balance(user, 'USDT', 'debt.unified'), '-554.475')
    floor.place(rich, BTC_USDT, 500, '63000')
    floor.place(user, BTC_USDT, -500, '63000')
    // A profit of 150 repays 54.475, and 1.575 are paid from what is left.
    assert.equal(floor.balance(user, 'USDT', 'debt.unified'), '-500')
    assert.equal(floor.balance(user, 'USDT'), '93.95')
    assert.equal(format(floor.state.futures.accounts.get(user, 'futures/usdt')!.borrowed), '0')
  })
  test('where the pool is empty a loss is owed without a loan, and the next money pays it', () => {
    const { floor, rich } = scene()
    floor.apply((ctx) => {
      const amount = ctx.state.ledger.balance(0, 'lending.pool', 'USDT')
      ctx.state.ledger.post(ctx, {
        kind: 'fund',
        ref: 'test',
        lines: [
          { owner: 0, name: 'lending.pool', currency: 'USDT', amount: (10n ** 20n - amount) as Amount },
          { owner: 0, name: 'equity', currency: 'USDT', amount: (amount - 10n ** 20n) as Amount },
        ],
      })
    })
    const user = floor.member('portfolio', { BTC: '1' })
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    floor.place(rich, BTC_USDT, 1_000, '59000')
    floor.place(user, BTC_USDT, -1_000, '59000')
    // 100 and the fee of 2.95: the pool had 100.
    assert.deepEqual(
      [floor.balance(user, 'USDT', 'debt.unified'), floor.balance(user, 'USDT', 'debt.futures:usdt')],
      ['-100', '-2.95'],
    )
    assert.equal(text(floor.risk(user).liability), '102.95')
    assert.equal(floor.mode(user, 'multi_currency'), 'USER_LIAB')
    const credit = { user_id: user, account: 'spot', currency: 'USDT', amount: '52.95' } as const
    floor.must('user.credit', { ...credit, currency_pair: null, settle: null, actor: null })
    assert.deepEqual(
      [floor.balance(user, 'USDT', 'debt.unified'), floor.balance(user, 'USDT', 'debt.futures:usdt')],
      ['-50', '0'],
    )
  })
})

test('funding is booked with the money of each, and what nobody lent is paid before the mode is left', () => {
  const { floor, rich } = scene()
  const users = (['single_currency', 'multi_currency', 'portfolio'] as const).map((mode) =>
    floor.member(mode, { USDT: '5000' }),
  )
  for (const user of users) floor.trade(BTC_USDT, user, rich, 1_000, '60000')
  const { next_funding } = floor.price()
  floor.advance(next_funding - floor.second + 2)
  assert.ok(floor.fundings.some(({ contract }) => contract === BTC_USDT))
  for (const user of users) {
    const account = floor.state.futures.accounts.get(user, 'futures/usdt')!
    assert.ok(account.fund < 0n, 'longs pay')
    assert.equal(floor.balance(user, 'USDT'), format((5_000n * 10n ** 18n + account.fund) as Amount))
  }
  assert.equal(floor.platform('funding'), '0')
  const [single] = users as [number]
  floor.place(rich, BTC_USDT, 1_000, '60000')
  floor.place(single, BTC_USDT, -1_000, '60000')
  // As if other positions' profit had covered a loss, and a sale had brought money since.
  floor.apply((ctx) =>
    ctx.state.ledger.post(ctx, {
      kind: 'test',
      ref: 'test',
      lines: [
        { owner: single, name: 'debt.futures:usdt', currency: 'USDT', amount: (-7n * 10n ** 18n) as Amount },
        { owner: 0, name: 'equity', currency: 'USDT', amount: (7n * 10n ** 18n) as Amount },
      ],
    }),
  )
  const before = Number(floor.balance(single, 'USDT'))
  assert.equal(floor.mode(single, 'classic'), 'done')
  assert.equal(floor.balance(single, 'USDT', 'debt.futures:usdt'), '0')
  assert.equal(Number(floor.balance(single, 'USDT')).toFixed(6), (before - 7).toFixed(6))
})

describe('what positions need stays', () => {
  test('single_currency: the unit is the free USDT, and nothing else is touched', () => {
    const { floor, rich } = scene()
    const user = floor.member('single_currency', { USDT: '1000', BTC: '1' })
    trade(floor, user, rich, 1_000, '60000')
    // 997 - 603.
    assert.equal(text(floor.figures(user).available), '394')
    assert.equal(floor.moveOut(user, 'USDT', '394.1'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.spot(user, 'buy', '0.01', '50000'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.spot(user, 'buy', '0.005', '50000'), 'placed')
    assert.equal(floor.moveOut(user, 'USDT', '144.1'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.moveOut(user, 'USDT', '144'), 'moved')
    assert.equal(floor.refused(user, BTC_USDT, 1, '60000'), 'INSUFFICIENT_AVAILABLE')
    // Its other money is free.
    assert.equal(floor.moveOut(user, 'BTC', '1'), 'moved')
    // Unrealised profit opens, but does not leave.
    floor.markAt('61000')
    assert.equal(floor.moveOut(user, 'USDT', '90'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.moveOut(user, 'USDT', '89.95'), 'moved')
  })
  test('multi_currency: orders, transfers, spot orders and loans leave margin for contracts', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { USDT: '1000', BTC: '0.01' })
    // 1000 + 588 - 603 - 3.
    trade(floor, user, rich, 1_000, '60000')
    assert.equal(text(floor.risk(user).available), '982')
    assert.equal(floor.moveOut(user, 'USDT', '982.1'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.refused(user, BTC_USDT, 2_000, '60000'), 'INSUFFICIENT_AVAILABLE')
    assert.equal(floor.moveOut(user, 'USDT', '982'), 'moved')
    assert.equal(floor.moveOut(user, 'BTC', '0.0001'), 'BALANCE_NOT_ENOUGH')
    const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
    const loan = { user_id: user, currency: 'USDT', type: 'borrow', amount: '10', ...rest } as const
    const lent = floor.run('margin.loan', loan)
    assert.equal('label' in lent && lent.label, 'INITIAL_MARGIN_TOO_LOW')
    // Selling the coins is no loss of margin but for the discount and the fee.
    assert.equal(floor.spot(user, 'sell', '0.01', '59000'), 'placed')
    assert.equal(floor.spot(user, 'buy', '0.0001', '60000'), 'TRADE_RESTRICTED')
  })
  test('below the initial margin only what reduces passes, and not at any price', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { USDT: '610' })
    trade(floor, user, rich, 1_000, '60000')
    floor.markAt('59000')
    assert.ok(floor.risk(user).available < 0n)
    assert.equal(floor.refused(user, BTC_USDT, 1, '59000'), 'TRADE_RESTRICTED')
    floor.place(rich, BTC_USDT, 1_000, '58900')
    assert.equal(floor.place(user, BTC_USDT, -100, '58900', { tif: 'ioc' }).status, 'closed')
    // An accomplice bids far below: what coins stand for would go to him, and a debt stay behind.
    const giver = floor.member('multi_currency', { BTC: '1' })
    floor.markAt('60000')
    floor.leverage(giver, BTC_USDT, '0', '50')
    floor.trade(BTC_USDT, giver, rich, 100_000, '60000')
    floor.must('futures.cancel_all', {
      ...floor.path(rich, BTC_USDT),
      contract: null,
      side: null,
      exclude_reduce_only: false,
      text: null,
    })
    floor.place(rich, BTC_USDT, 100_000, '54500')
    assert.equal(floor.refused(giver, BTC_USDT, -100_000, '54500', { tif: 'ioc' }), 'TRADE_RESTRICTED')
    // Nor does it help to wait for him with an order of one's own.
    const asks = floor.place(giver, BTC_USDT, -100_000, '54600', { reduce_only: true })
    floor.place(rich, BTC_USDT, 100_000, '54600')
    assert.equal(floor.state.futures.orders.get(asks.id)?.finish_as, 'liquidated')
    assert.equal(floor.size(giver), 100_000)
  })
  test('margins of isolated positions are set apart, and are units of their own', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { USDT: '1000', BTC: '1' })
    floor.leverage(user, BTC_USDT, '10')
    trade(floor, user, rich, 1_000, '60000')
    const risk = floor.risk(user)
    assert.equal(text(risk.marginBalance), '59194')
    assert.equal(text(risk.maintenanceMargin), '0')
    assert.equal(floor.moveOut(user, 'USDT', '394.1'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.spot(user, 'buy', '0.01', '50000'), 'BALANCE_NOT_ENOUGH')
    assert.equal(floor.refused(user, BTC_USDT, 1_000, '60000'), 'INSUFFICIENT_AVAILABLE')
    floor.place(rich, BTC_USDT, 1_000, '53997')
    floor.markAt('54100')
    floor.quiet()
    // Its margin is gone, the coins are there.
    assert.equal(floor.size(user), 0)
    assert.deepEqual([floor.balance(user, 'USDT'), floor.balance(user, 'BTC')], ['394', '1'])
  })
  test('a margin that funding has used up frees nothing: all that its position wins repays what was lent', () => {
    const { floor, rich } = scene()
    const user = floor.member('multi_currency', { USDT: '1000', BTC: '1' })
    floor.leverage(user, ETH_USDT, '10')
    trade(floor, user, rich, 100, '3000', ETH_USDT)
    // A loss of 1000 in another position takes what is free, and the rest is lent.
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    floor.place(rich, BTC_USDT, 1_000, '50000')
    floor.place(user, BTC_USDT, -1_000, '50000')
    const { positions, accounts } = floor.state.futures
    const [isolated] = [...positions.heldBy(user, 'futures/usdt')]
    assert.ok(isolated!.margin > 0n)
    assert.ok(accounts.get(user, 'futures/usdt')!.borrowed > 0n)
    // As if it had paid fundings for weeks, by what it has won since.
    const margin = (-40n * 10n ** 18n) as Amount
    floor.markAt('3200', ETH_USDT)
    floor.apply((ctx) => ctx.tx.put(positions.table, { ...isolated!, margin }))
    for (const part of ['one half', 'the other']) {
      floor.records.length = 0
      floor.place(rich, ETH_USDT, 50, '3200')
      floor.place(user, ETH_USDT, -50, '3200')
      const repaid = floor.records.filter(({ type }) => type === 'repay').map(({ amount }) => text(amount))
      assert.deepEqual(repaid, ['100'], part)
    }
    assert.equal(floor.size(user, ETH_USDT), 0)
  })
  test('a mark that was moved lends nothing and lets nothing out', () => {
    const { floor } = scene()
    const [user, other, third] = [
      floor.member('multi_currency', { USDT: '1000' }),
      floor.member('portfolio', { USDT: '100000' }),
      floor.holder('100000'),
    ]
    floor.leverage(user, BTC_USDT, '0', '100')
    floor.place(other, BTC_USDT, -10_000, '60000')
    floor.place(user, BTC_USDT, 10_000, '60000')
    const before = floor.moveOut(user, 'USDT', '500')
    assert.equal(before, 'BALANCE_NOT_ENOUGH')
    floor.place(other, BTC_USDT, -1, '61700')
    floor.place(third, BTC_USDT, 1, '61700')
    floor.place(other, BTC_USDT, 1, '61699.9')
    floor.place(third, BTC_USDT, -1, '61700.1')
    floor.advance(40)
    floor.follow()
    assert.ok(Number(floor.mark()) > 61_500)
    // 1700 by the mark; 300 are believed.
    const { available } = floor.risk(user)
    assert.ok(available > 1_500n * 10n ** 18n, text(available))
    assert.ok(floor.figures(user).cross_available < 700n * 10n ** 18n)
    const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
    const loan = { user_id: user, currency: 'USDT', type: 'borrow', amount: '10000', ...rest } as const
    const lent = floor.run('margin.loan', loan)
    assert.equal('label' in lent && lent.label, 'INITIAL_MARGIN_TOO_LOW')
  })
})

describe('portfolio', () => {
  test('E23: a risk unit, alone and hedged by spot', () => {
    const { floor, rich } = scene('58000')
    const bare = floor.member('portfolio', { USDT: '10000' })
    const hedged = floor.member('portfolio', { USDT: '10000', BTC: '0.06' }, true)
    for (const [user, maintenance, initial, inUse] of [
      [bare, '870', '1044', '0'],
      [hedged, '348', '417.6', '0.06'],
    ] as const) {
      floor.trade(BTC_USDT, rich, user, 1_000, '58000')
      const { contracts } = floor.risk(user)
      assert.deepEqual(
        [text(contracts?.maintenance), text(contracts?.initial), text(contracts?.units[0]?.inUse)],
        [maintenance, initial, inUse],
      )
    }
    // What hedges can leave only as far as the rest carries what it leaves open.
    assert.equal(floor.moveOut(hedged, 'BTC', '0.06'), 'moved')
    assert.equal(text(floor.risk(hedged).contracts?.initial), '1044')
  })
  test('orders need what the worse side of them adds', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('portfolio', { USDT: '3000' })
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    floor.place(user, BTC_USDT, 1_000, '59000')
    // 0.2 long would need 1.2 x 1800.
    assert.equal(text(floor.risk(user).contracts?.orders), '1080')
    floor.place(user, BTC_USDT, -1_500, '61000')
    assert.equal(text(floor.risk(user).contracts?.orders), '1080')
    assert.equal(floor.refused(user, BTC_USDT, 1_000, '59000'), 'INSUFFICIENT_AVAILABLE')
    assert.equal(floor.refused(user, ETH_USDT, 1_000, '3000'), 'INSUFFICIENT_AVAILABLE')
  })
  test('only single mode and cross; the hedge is not switched off while it is needed', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('portfolio', { USDT: '200', BTC: '0.1' }, true)
    const path = { ...floor.path(user, BTC_USDT), contract: 'BTC_USDT' }
    const label = (outcome: object): unknown => ('label' in outcome ? outcome.label : 'done')
    assert.equal(label(floor.run('futures.dual_mode', { ...path, dual: true })), 'USER_PORTFOLIO_MARGIN')
    const isolated = { ...path, leverage: '10', cross_leverage_limit: null }
    assert.equal(label(floor.run('futures.leverage', isolated)), 'USER_PORTFOLIO_MARGIN')
    const mode = { ...path, mode: 'isolated' } as const
    assert.equal(label(floor.run('futures.margin_mode', mode)), 'USER_PORTFOLIO_MARGIN')
    floor.trade(BTC_USDT, rich, user, 1_000, '60000')
    assert.equal(text(floor.risk(user).maintenanceMargin), '0')
    // 10 times that would need more than there is.
    floor.trade(BTC_USDT, rich, user, 5_000, '60000')
    assert.equal(floor.mode(user, 'portfolio', false), 'INITIAL_MARGIN_TOO_LOW')
    // Dual mode from before is refused when something is to be opened.
    const dual = floor.holder('1000')
    floor.must('futures.dual_mode', { ...floor.path(dual, BTC_USDT), dual: true })
    assert.equal(floor.mode(dual, 'portfolio'), 'done')
    assert.equal(floor.refused(dual, BTC_USDT, 1, '60000'), 'USER_PORTFOLIO_MARGIN')
  })
})

describe('liquidation of a unified account', () => {
  const fund = (floor: UnifiedFloor): string => floor.balance(0, 'USDT', 'insurance:futures.usdt')
  for (const mode of ['multi_currency', 'portfolio'] as const)
    test(`${mode}: positions are reduced, no debt is left, nobody else pays`, () => {
      const { floor, rich } = scene('60000')
      const maker = floor.holder('10000000')
      const user = floor.member(mode, { USDT: '500', ETH: '1' })
      floor.leverage(user, BTC_USDT, '0', '100')
      floor.trade(BTC_USDT, user, rich, 2_000, '60000')
      const equity = floor.balance(0, 'USDT', 'equity')
      // Down until it is too near the edge, with somebody there who buys.
      for (let price = 57_000; price > 40_000 && floor.steps.length === 0; price -= 250) {
        floor.place(maker, BTC_USDT, 2_000, String(price))
        floor.markAt(String(price))
        floor.quiet()
        if (floor.steps.some(({ step }) => step === 'locked')) break
        floor.steps.length = 0
      }
      const done = floor.steps.filter(({ user_id }) => user_id === user).map(({ step }) => step)
      assert.ok(
        done.includes('locked') && done.includes('liquidated') && done.includes('unlocked'),
        done.join(),
      )
      assert.equal(floor.size(user), 0)
      assert.equal(floor.state.margin.isLocked(user, 'unified'), false)
      const texts = [...floor.state.futures.orders.values()].filter(({ user_id }) => user_id === user)
      const expected = mode === 'portfolio' ? 'pm_liquidate' : 'comb_margin_liquidate'
      assert.ok(
        texts.length > 0 && texts.every((order) => order.text === expected),
        texts.map((order) => order.text).join(),
      )
      assert.equal(floor.balance(0, 'USDT', 'equity'), equity)
      assert.equal(fund(floor), '0')
    })
  test('a debt beside positions: collateral is sold while debts need more, positions reduced while they do', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('multi_currency', { BTC: '1' })
    const rest = { scope: 'unified', repaid_all: false, text: null, known_id: null }
    floor.must('margin.loan', { user_id: user, currency: 'USDT', type: 'borrow', amount: '50000', ...rest })
    assert.equal(floor.moveOut(user, 'USDT', '50000'), 'moved')
    floor.trade(BTC_USDT, user, rich, 1_000, '60000')
    const buyer = floor.user({ USDT: '1000000' })
    floor.index({ BTC: '53000' })
    floor.markAt('53000')
    assert.equal(floor.spot(buyer, 'buy', '5', '52900'), 'placed')
    floor.place(rich, BTC_USDT, 5_000, '52900')
    floor.quiet()
    floor.advance(30)
    floor.quiet()
    const done = floor.steps.filter(({ user_id }) => user_id === user).map(({ step }) => step)
    assert.ok(done.includes('sold'), done.join())
    assert.ok(!done.includes('liquidated'), 'the debt needs far more than the position')
    assert.equal(floor.size(user), 1_000)
    assert.ok(floor.risk(user).maintenanceRate >= 12n * 10n ** 17n)
  })
  test('single_currency: spot buys end, positions are closed, other currencies stay', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('single_currency', { USDT: '700', BTC: '1' })
    trade(floor, user, rich, 1_000, '60000')
    assert.equal(floor.spot(user, 'buy', '0.001', '50000'), 'placed')
    assert.equal(floor.spot(user, 'sell', '0.1', '70000'), 'placed')
    floor.place(rich, BTC_USDT, 1_000, '53150')
    floor.markAt('53200')
    floor.quiet()
    assert.equal(floor.size(user), 0)
    assert.equal(floor.balance(user, 'BTC'), '0.9')
    assert.equal(floor.balance(user, 'BTC', 'spot.locked'), '0.1')
    assert.equal(floor.balance(user, 'USDT', 'spot.locked'), '0')
    const liq = [...floor.state.futures.orders.values()].filter(
      ({ user_id, text: word }) => user_id === user && word !== 'api',
    )
    assert.deepEqual(
      liq.map((order) => order.text),
      ['scm_liquidate'],
    )
    assert.equal(floor.balance(user, 'USDT', 'debt.futures:usdt'), '0')
  })
  test('a mark that ruins it is found by the watcher, and not before', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('multi_currency', { USDT: '700' })
    trade(floor, user, rich, 1_000, '60000')
    floor.place(rich, BTC_USDT, 1_000, '53100')
    const due = (): string[] => [...floor.state.due.table.values()].map(({ command }) => command)
    floor.markAt('53600')
    assert.equal(floor.look(), 1)
    assert.ok(!due().includes('margin.liquidate'), 'it can bear that')
    // Money that leaves moves the price at which it can't.
    assert.equal(floor.moveOut(user, 'USDT', '1'), 'BALANCE_NOT_ENOUGH')
    floor.markAt('53200')
    assert.equal(floor.look(), 1)
    assert.ok(due().includes('margin.liquidate'))
    floor.quiet()
    assert.equal(floor.size(user), 0)
  })
  for (const [what, ruin] of Object.entries({
    'its mark': (floor: UnifiedFloor) => floor.markAt('53200'),
    'another currency': (floor: UnifiedFloor) => floor.index({ ETH: '100' }),
  }))
    test(`a start in the moment after ${what} has ruined it changes what its command changes when it is carried out again`, () => {
      const { floor, rich } = scene('60000')
      const user = floor.member('multi_currency', { USDT: '400', ETH: '0.15' })
      trade(floor, user, rich, 1_000, '60000')
      floor.quiet()
      ruin(floor)
      // What a start has: rows, and nothing of what was watched.
      const fresh = new State()
      const rows = new Map(fresh.tables.map((table) => [table.spec.name, table]))
      for (const table of floor.state.tables)
        for (const row of table.values()) rows.get(table.spec.name)!.swap(table.keyOf(row), row, 'load')
      const changes = (state: State): unknown => {
        const tx = new Tx()
        commands['contract.begin']({ state, tx, at: floor.at }, {})
        const batch = new Batch()
        batch.add(tx, floor.at, 'contract.begin', '{}')
        return batch.sections(false)
      }
      assert.deepEqual(changes(fresh), changes(floor.state))
      assert.equal(floor.look(), 1, 'it is ruined')
    })
  test('spot money that is spent moves the price at which a position is liquidated', () => {
    const { floor, rich } = scene('60000')
    const user = floor.member('single_currency', { USDT: '6000' })
    trade(floor, user, rich, 1_000, '60000')
    assert.equal(floor.spot(user, 'buy', '0.1', '53900'), 'placed')
    floor.place(rich, BTC_USDT, 1_000, '53000')
    floor.markAt('53400')
    floor.quiet()
    // The buy ended first, and what it held keeps the position.
    assert.equal(floor.size(user), 1_000)
    assert.equal(floor.balance(user, 'USDT', 'spot.locked'), '0')
    const modes: readonly UnifiedMode[] = ['single_currency']
    assert.equal(floor.state.margin.modeOf(user), modes[0])
  })
})
