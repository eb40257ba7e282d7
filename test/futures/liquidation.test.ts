import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { format, type Amount } from '../../src/money/amount.ts'
import { Floor } from './floor.ts'
import { BTC_USDT, DATED, ETH_USDT, EXPIRY } from './world.ts'

const text = (value: Amount): string => format(value)
const fund = (floor: Floor): string => format(floor.state.ledger.balance(0, 'insurance:futures.usdt', 'USDT'))
const equity = (floor: Floor): string => format(floor.state.ledger.balance(0, 'equity', 'USDT'))
const fill = (floor: Floor, amount: string): void => {
  floor.apply(({ state, tx, at }) =>
    state.ledger.post(
      { tx, at },
      {
        kind: 'credit',
        ref: 'insurance',
        lines: [
          { owner: 0, name: 'equity', currency: 'USDT', amount: (-BigInt(amount) * 10n ** 18n) as Amount },
          {
            owner: 0,
            name: 'insurance:futures.usdt',
            currency: 'USDT',
            amount: (BigInt(amount) * 10n ** 18n) as Amount,
          },
        ],
      },
    ),
  )
}
/** An index that falls at once; what follows falls due at once. */
const crash = (floor: Floor, price: string, id = BTC_USDT): void => {
  floor.markAt(price, id)
  floor.advance(0)
}

describe('liquidation', () => {
  test('E18: a large position shrinks to the next tier, and goes on', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('30000'), floor.holder('10000000')]
    floor.markAt('60000')
    floor.leverage(one, BTC_USDT, '100')
    floor.place(other, BTC_USDT, -300_000, '60000')
    floor.place(one, BTC_USDT, 300_000, '60000')
    assert.equal(text(floor.position(one).margin), '18900')
    floor.place(other, BTC_USDT, 30_000, '59620')
    floor.place(other, BTC_USDT, 18_449, '59610')
    crash(floor, '59630')
    const row = floor.position(one)
    assert.equal(floor.size(one), 251_551)
    assert.deepEqual([row.margin, row.cost].map(text), ['16896.0717555', '1509306'])
    assert.equal(row.liquidating, 0, 'it ends above its maintenance margin')
    assert.equal(fund(floor), '0')
  })

  test('of two contracts whose marks one command moves, liquidations begin by the names of those who hold them', () => {
    const floor = new Floor()
    const [first, second, other] = [floor.holder('1000'), floor.holder('1000'), floor.holder('1000000')]
    floor.markAt('3000', ETH_USDT)
    floor.markAt('60000')
    for (const [user, id, price] of [
      [first, ETH_USDT, '3000'],
      [second, BTC_USDT, '60000'],
    ] as const) {
      floor.leverage(user, id, '50')
      floor.place(other, id, -100, price)
      floor.place(user, id, 100, price)
    }
    floor.index({ BTC: '40000', ETH: '2000' })
    // Not by when the prices were set at which somebody looks at them: a start sets them anew.
    const ids = [floor.position(first, ETH_USDT).liquidating, floor.position(second).liquidating]
    assert.ok(ids[0]! > 0 && ids[1] === ids[0]! + 1, String(ids))
  })

  test('one command begins fifty liquidations, by the names of their owners, and looks at hardly anybody else', () => {
    const floor = new Floor()
    floor.markAt('60000')
    const other = floor.holder('100000000')
    const users = Array.from({ length: 130 }, () => floor.holder('100'))
    for (const user of users) {
      floor.leverage(user, BTC_USDT, '50')
      floor.place(other, BTC_USDT, -100, '60000')
      floor.place(user, BTC_USDT, 100, '60000')
    }
    const table = floor.state.futures.positions.table
    const get = table.get.bind(table)
    const looked = new Set<unknown>()
    table.get = (id) => {
      looked.add(id)
      return get(id)
    }
    floor.index({ BTC: '40000' })
    table.get = get
    assert.ok(looked.size >= 50 && looked.size < 60, `${looked.size} positions were looked at`)
    const begun = users.filter((user) => floor.position(user).liquidating !== 0)
    const byName = users.map((user) => ({ user, id: floor.position(user).id }))
    byName.sort((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(
      begun,
      byName
        .slice(0, 50)
        .map(({ user }) => user)
        .sort((a, b) => a - b),
    )
    for (let i = 0; i < 2; i++) floor.advance(1)
    assert.ok(users.every((user) => floor.size(user) === 0))
  })

  test('E19: what is left of a small one goes to the fund, which takes over what the book does not', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('1000'), floor.holder('1000000')]
    floor.markAt('60000')
    floor.leverage(one, BTC_USDT, '10')
    floor.place(other, BTC_USDT, -1000, '60000')
    floor.place(one, BTC_USDT, 1000, '60000')
    const before = floor.cash(one)
    assert.equal(before, '997')
    floor.markAt('54300')
    floor.place(other, BTC_USDT, 400, '54050')
    crash(floor, '54100')
    assert.equal(floor.size(one), 0)
    assert.equal(floor.cash(one), '394', 'its 603 are gone, to the last unit, and nothing else')
    assert.equal(fund(floor), '3.739')
    assert.equal(floor.size(0), 600)
    assert.equal(text(floor.view(0).unrealised_pnl), '6.18')
    // The fund sells a tenth each second, near the mark.
    floor.place(other, BTC_USDT, 1000, '54000')
    floor.advance(2)
    assert.ok(floor.size(0) < 600 && floor.size(0) > 0, String(floor.size(0)))
    floor.advance(60)
    assert.equal(floor.size(0), 0)
  })

  test('E20: a fund that can not take it leaves it to those who earned most', () => {
    const floor = new Floor()
    const [one, maker] = [floor.holder('1000'), floor.holder('10000000')]
    const [a, b, c] = [floor.holder('1000'), floor.holder('3000'), floor.holder('1000')]
    const short = (who: number, size: number, price: string, leverage: string): void => {
      floor.markAt(price)
      floor.leverage(who, BTC_USDT, leverage)
      floor.place(maker, BTC_USDT, size, price)
      floor.place(who, BTC_USDT, -size, price)
    }
    short(a, 500, '60000', '10')
    floor.leverage(one, BTC_USDT, '10')
    floor.place(maker, BTC_USDT, -1000, '60000')
    floor.place(one, BTC_USDT, 1000, '60000')
    short(b, 800, '58000', '2.32')
    short(c, 300, '54500', '2')
    const resting = floor.place(a, BTC_USDT, -1, '55000')
    // A mark far below what its owner can pay: nothing of the book, and the fund has nothing.
    floor.must('futures.cancel_all', {
      ...floor.path(maker, BTC_USDT),
      contract: null,
      side: null,
      exclude_reduce_only: false,
      text: null,
    })
    crash(floor, '53500')
    assert.equal(floor.size(one), 0)
    assert.equal(floor.size(0), 0)
    assert.equal(floor.size(a), 0, 'the first of the queue gave all')
    assert.equal(floor.state.futures.orders.get(resting.id)!.finish_as, 'auto_deleveraged')
    assert.equal(floor.size(b), -300, 'the second gave the rest')
    assert.equal(floor.size(c), -300)
    assert.equal(floor.cash(one), '394')
    assert.equal(equity(floor).startsWith('-'), true)
  })

  test('cross: the position that needs most goes first; a debt that nothing covers is paid by fund and operator', () => {
    const floor = new Floor()
    fill(floor, '50')
    const [one, other] = [floor.holder('1000'), floor.holder('100000000')]
    floor.markAt('60000')
    floor.markAt('3000', ETH_USDT)
    floor.leverage(one, BTC_USDT, '0', '50')
    floor.place(other, BTC_USDT, -5000, '60000')
    floor.place(one, BTC_USDT, 5000, '60000')
    const mine = equity(floor)
    // 30000 at stake with 985: a fall of a tenth, and nobody bids.
    crash(floor, '54000')
    floor.advance(5)
    assert.equal(floor.size(one), 0)
    assert.equal(floor.cash(one), '0')
    assert.equal(format(floor.state.ledger.balance(one, 'debt.futures:usdt', 'USDT')), '0')
    assert.equal(floor.state.futures.accounts.get(one, 'futures/usdt')!.liquidating, 0)
    assert.ok(BigInt(Math.round(Number(equity(floor)))) <= BigInt(Math.round(Number(mine))))
  })

  test('who is being liquidated can not touch it, and above maintenance nobody is', () => {
    const floor = new Floor()
    const [one, other] = [floor.holder('1000'), floor.holder('1000000')]
    floor.markAt('60000')
    floor.leverage(one, BTC_USDT, '10')
    floor.place(other, BTC_USDT, -1000, '60000')
    floor.place(one, BTC_USDT, 1000, '60000')
    floor.place(other, BTC_USDT, 5000, '54000')
    crash(floor, '54213.97')
    assert.equal(floor.size(one), 1000, 'one step above its liquidation price')
    floor.markAt('54213.96')
    assert.ok(floor.position(one).liquidating > 0)
    assert.equal(floor.refused(one, BTC_USDT, -1, '54300'), 'POSITION_IN_LIQUIDATION')
    floor.advance(0)
    assert.equal(floor.size(one), 0)
  })
})

describe('the end of a contract', () => {
  test('E27: at its last price, against the fund, with a fee and a record each; winners are paid in full', () => {
    const floor = new Floor()
    floor.must('contract.begin', {})
    const [long, short, poor] = [DATED, DATED, DATED].map((id) => floor.holder('1000', id)) as [
      number,
      number,
      number,
    ]
    const rich = floor.holder('1000000', DATED)
    floor.index({ BTC: '60000' })
    floor.follow(DATED)
    floor.place(short, DATED, -1000, '60000')
    floor.place(long, DATED, 1000, '60000')
    floor.leverage(poor, DATED, '100')
    floor.place(poor, DATED, -1000, '60000')
    floor.place(rich, DATED, 1000, '60000')
    const resting = floor.place(rich, DATED, 5, '55000')
    floor.advance(EXPIRY - floor.second - 1_801)
    floor.index({ BTC: '60512.34' })
    floor.advance(1_810)
    for (const user of [long, short, poor, rich, 0]) assert.equal(floor.size(user, DATED), 0)
    assert.equal(floor.state.futures.orders.get(resting.id)!.finish_as, 'cancelled')
    // 1000 - 3 + 51.234 - 0.9076851
    assert.equal(floor.cash(long, DATED), '1047.3263149')
    assert.equal(floor.state.world.findContract(DATED)!.config.status, 'delisted')
    assert.equal(floor.refused(long, DATED, 1, '60000'), 'CONTRACT_NOT_FOUND')
  })
})
