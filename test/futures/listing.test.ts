import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ContractConfig } from '../../src/core/tables/world/contracts.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { Desk } from './desk.ts'
import { Floor } from './floor.ts'
import { BTC_USDT, CONTRACTS } from './world.ts'

const at = (text: string): number => Date.parse(text) / 1000
const BUILT_IN = BUILT_IN_WORLD.contracts!
const TEMPLATES = BUILT_IN.filter(({ group }) => group === 'delivery')

/** A desk of another time, without the work of every minute: weeks pass here. */
function deskAt(text: string, contracts: readonly ContractConfig[] = BUILT_IN): Desk {
  const desk = new Desk(contracts)
  desk.apply(({ state, tx }) => {
    for (const { id, command } of state.due.coming(100))
      if (command === 'futures.minute') tx.remove(state.due.table, id)
  })
  desk.at = at(text) * 1e6
  desk.must('contract.begin', {})
  return desk
}
const dated = ({ state }: Desk, underlying = 'BTC_USDT'): string[] =>
  state.world.allContracts
    .filter(({ group, config }) => group === 'delivery' && config.underlying === underlying)
    .map(({ name, config }) => `${config.cycle} ${name}`)
    .sort()
const statusOf = ({ state }: Desk, id: string): string => state.world.mustContract(id).config.status

describe('dated contracts', () => {
  test('are listed when the platform begins: four for each template, each with a price', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    assert.deepEqual(dated(desk), [
      'BI-QUARTERLY BTC_USDT_20270326',
      'BI-WEEKLY BTC_USDT_20261127',
      'QUARTERLY BTC_USDT_20261225',
      'WEEKLY BTC_USDT_20261120',
    ])
    assert.equal(dated(desk, 'ETH_USDT').length, 4)
    const weekly = desk.contract('delivery/usdt/ETH_USDT_20261120')
    assert.equal(weekly.expireAt, at('2026-11-20T08:00Z') * 1e6)
    assert.equal(weekly.config.create_time, desk.second)
    assert.equal(weekly.config.quanto_multiplier, '0.01')
    assert.equal(`${weekly.config.mark_bound} ${weekly.config.mark_bound_year}`, '0.05 0.04')
    assert.notEqual(desk.state.futures.markOf(weekly.id), 0n)
    // The next start lists nothing twice, and plans nothing twice.
    const due = (): string => JSON.stringify(desk.state.due.coming(100))
    const before = due()
    desk.must('contract.begin', {})
    assert.equal(due(), before)
    assert.equal(dated(desk).length, 4)
  })
  test('expire in the command that lists the next: nobody trades them, and history knows them', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const id = 'delivery/usdt/BTC_USDT_20261120'
    desk.rest(id, 'buy', 10, '59000')
    desk.rest(id, 'sell', 10, '61000')
    desk.advance(at('2026-11-20T07:59:59Z') - desk.second)
    assert.equal(statusOf(desk, id), 'trading')
    desk.advance(2)
    assert.deepEqual(dated(desk), [
      'BI-QUARTERLY BTC_USDT_20270326',
      'BI-WEEKLY BTC_USDT_20261204',
      'QUARTERLY BTC_USDT_20261225',
      'WEEKLY BTC_USDT_20261127',
    ])
    assert.equal(statusOf(desk, id), 'delisted')
    assert.equal(desk.state.futures.book(id).size, 0, 'its orders are gone')
    assert.equal(desk.state.world.allContracts.includes(desk.contract(id)), false)
  })
  test('one that somebody holds is closed for everybody until its positions are settled', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const id = 'delivery/usdt/BTC_USDT_20261120'
    desk.trade(id, desk.holder('1000', id), desk.holder('1000', id), 5, '60000')
    desk.rest(id, 'buy', 10, '59000')
    desk.advance(at('2026-11-20T07:59:59Z') - desk.second)
    const look = desk.state.due.next()!
    assert.equal(look.command, 'contract.look')
    desk.at = look.at
    desk.must('due.run', { id: look.id })
    const { settling, config } = desk.contract(id)
    assert.equal(settling, true)
    assert.equal(config.status, 'circuit_breaker')
    assert.ok(desk.state.world.allContracts.some((contract) => contract.id === id))
    desk.advance(1)
    assert.equal(desk.state.futures.book(id).size, 0)
    assert.equal(desk.state.futures.positions.countIn(id), 0)
    assert.equal(statusOf(desk, id), 'delisted')
    const { candles, trades } = desk.state.futures
    for (const pair of [id, `mark_${id}`, `index_${id}`])
      assert.equal(candles.covers(`${pair}/60`, 0), false, 'the store is asked for what memory has dropped')
    assert.equal(trades.covers(id, 1), false)
    assert.ok(dated(desk).includes('BI-WEEKLY BTC_USDT_20261204'), 'the next one is there all the same')
  })
  test('one that many hold is settled portion by portion, to the last of them', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const id = 'delivery/usdt/BTC_USDT_20261120'
    const seller = desk.holder('100000', id)
    const holders = Array.from({ length: 520 }, () => desk.holder('100', id))
    for (const holder of holders) desk.trade(id, holder, seller, 1, '60000')
    desk.advance(at('2026-11-20T08:00:01Z') - desk.second)
    assert.equal(desk.state.futures.positions.countIn(id), 0)
    assert.equal(statusOf(desk, id), 'delisted')
  })
  test('a quarterly one that comes near changes its cycle and is not listed again', () => {
    const desk = deskAt('2026-12-04T12:00Z', TEMPLATES)
    const id = 'delivery/usdt/BTC_USDT_20261225'
    const born = desk.contract(id).config.create_time
    assert.equal(desk.contract(id).config.cycle, 'QUARTERLY')
    desk.advance(at('2026-12-11T08:00:01Z') - desk.second)
    assert.equal(desk.contract(id).config.cycle, 'BI-WEEKLY')
    assert.equal(desk.contract(id).config.create_time, born)
    desk.advance(7 * 86_400)
    assert.equal(desk.contract(id).config.cycle, 'WEEKLY')
    desk.advance(7 * 86_400)
    assert.equal(statusOf(desk, id), 'delisted')
    assert.deepEqual(dated(desk), [
      'BI-QUARTERLY BTC_USDT_20270625',
      'BI-WEEKLY BTC_USDT_20270108',
      'QUARTERLY BTC_USDT_20270326',
      'WEEKLY BTC_USDT_20270101',
    ])
  })
  test('a platform that slept over a month ends what has expired and lists what is due now', () => {
    const desk = deskAt('2026-11-16T15:00Z', TEMPLATES)
    desk.at = at('2027-01-02T00:00Z') * 1e6
    desk.must('contract.begin', {})
    desk.advance(1)
    assert.deepEqual(dated(desk), [
      'BI-QUARTERLY BTC_USDT_20270625',
      'BI-WEEKLY BTC_USDT_20270115',
      'QUARTERLY BTC_USDT_20270326',
      'WEEKLY BTC_USDT_20270108',
    ])
    for (const date of ['20261120', '20261127', '20261225'])
      assert.equal(statusOf(desk, `delivery/usdt/BTC_USDT_${date}`), 'delisted')
  })
  test('a file without their template ends them where nobody is in, with the rules that they had', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const id = 'delivery/usdt/ETH_USDT_20261127'
    const less = BUILT_IN.filter(({ group, underlying }) => group !== 'delivery' || underlying !== 'ETH_USDT')
    desk.must('world.configure', { config: { ...BUILT_IN_WORLD, contracts: less } })
    assert.equal(dated(desk, 'ETH_USDT').length, 0)
    assert.equal(desk.contract(id).config.quanto_multiplier, '0.01')
    assert.equal(statusOf(desk, id), 'delisted')
    // What came back later is made anew.
    desk.must('world.configure', { config: BUILT_IN_WORLD })
    desk.must('contract.begin', {})
    assert.equal(statusOf(desk, id), 'delisted', 'a date that has ended stays so')
  })
})

describe('a contract that is delisted', () => {
  const change = (desk: Desk, more: object) =>
    desk.must('contract.change', { contract: BTC_USDT, change: more, actor: 'somebody' })

  test('first takes only what reduces, then loses all orders and is gone; a later time plans anew', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const now = desk.second
    desk.rest(BTC_USDT, 'buy', 10, '59000')
    change(desk, { delisting_time: now + 100, delisted_time: now + 200 })
    desk.advance(99)
    assert.equal(statusOf(desk, BTC_USDT), 'trading')
    change(desk, { delisting_time: now + 150 })
    desk.advance(20)
    assert.equal(statusOf(desk, BTC_USDT), 'trading', 'the first time is forgotten')
    assert.equal(desk.state.futures.book(BTC_USDT).size, 1)
    desk.advance(40)
    assert.equal(statusOf(desk, BTC_USDT), 'delisting')
    assert.equal(desk.state.futures.book(BTC_USDT).size, 0)
    desk.advance(60)
    assert.equal(statusOf(desk, BTC_USDT), 'delisted')
    assert.ok(desk.state.world.contracts.all.some(({ id }) => id === BTC_USDT))
    assert.deepEqual(
      desk.run('contract.change', { contract: BTC_USDT, change: { status: 'trading' }, actor: null }),
      { label: 'CONTRACT_IN_DELISTING' },
    )
  })
  test('keeps orders that only reduce until its end, however many others there are', () => {
    const desk = deskAt('2026-11-16T15:00Z', [CONTRACTS.BTC_USDT])
    for (let i = 0; i < 250; i++)
      desk.rest(BTC_USDT, i % 2 === 0 ? 'buy' : 'sell', 1, i % 2 === 0 ? '59000' : '61000')
    const last = desk.rest(BTC_USDT, 'buy', 1, '58000')
    desk.apply(({ state, tx }) => {
      const order = state.futures.orders.get(last)!
      tx.put(state.futures.orders, order.amended({ more: { reduce_only: true } }))
    })
    change(desk, { delisting_time: desk.second })
    desk.advance(1)
    assert.deepEqual(
      [...desk.state.futures.book(BTC_USDT).queue('buy')].map(({ id }) => id),
      [last],
    )
    change(desk, { delisted_time: desk.second })
    desk.advance(1)
    assert.equal(desk.state.futures.book(BTC_USDT).size, 0)
    assert.equal(statusOf(desk, BTC_USDT), 'delisted')
  })
  test('opens nothing by an order that rests behind a position which is gone before it is filled', () => {
    const floor = new Floor([CONTRACTS.BTC_USDT])
    floor.markAt('60000')
    const [long, short, other] = [floor.holder('10000'), floor.holder('10000'), floor.holder('10000')]
    floor.place(short, BTC_USDT, -30, '60000')
    floor.place(long, BTC_USDT, 20, '60000')
    floor.place(other, BTC_USDT, 10, '60000')
    change(floor, { delisting_time: floor.second })
    floor.advance(1)
    const resting = floor.place(long, BTC_USDT, -20, '60100')
    assert.deepEqual([resting.status, resting.more?.reduce_only], ['open', true])
    floor.place(short, BTC_USDT, 10, '59900')
    floor.place(long, BTC_USDT, -5, '59900', { tif: 'ioc' })
    assert.equal(floor.state.futures.orders.get(resting.id)?.finish_as, 'reduce_out')
    const smaller = floor.place(long, BTC_USDT, -15, '60100')
    floor.place(short, BTC_USDT, 10, '59900')
    floor.place(long, BTC_USDT, -15, '59900', { tif: 'ioc' })
    assert.equal(floor.size(long), 0)
    assert.equal(floor.state.futures.orders.get(smaller.id)?.finish_as, 'position_closed')
    assert.equal(floor.state.futures.book(BTC_USDT).size, 0)
  })
  test('at once, without a full minute to go, it is settled at its index, whatever its mark is', () => {
    const desk = deskAt('2026-11-16T15:00:10Z', [CONTRACTS.BTC_USDT])
    const [long, short] = [desk.holder('1000'), desk.holder('1000')]
    desk.index({ BTC: '60000' })
    desk.trade(BTC_USDT, long, short, 100, '60000')
    desk.lastPrice(BTC_USDT, '61000')
    desk.setRow(BTC_USDT, { steps: [[1, '1000']] })
    desk.follow()
    assert.equal(desk.mark(), '61000')
    change(desk, { delisting_time: desk.second, delisted_time: desk.second + 30 })
    desk.advance(31)
    assert.deepEqual([desk.cash(long), desk.cash(short)], ['1000', '1000'])
  })
  test('whoever cancels more than a portion of his orders there is answered though it ends before the next', () => {
    const floor = new Floor([{ ...CONTRACTS.BTC_USDT, orders_limit: 200 }])
    floor.markAt('60000')
    const user = floor.holder('10000')
    for (let i = 0; i < 150; i++) floor.place(user, BTC_USDT, 1, '59000')
    const all = {
      ...floor.path(user, BTC_USDT),
      contract: 'BTC_USDT',
      side: null,
      exclude_reduce_only: false,
      text: null,
    }
    const { ids, due_id, rest } = floor.must('futures.cancel_all', all)
    assert.equal(ids.length, 150)
    change(floor, { delisted_time: floor.second })
    floor.advance(1)
    assert.equal(statusOf(floor, BTC_USDT), 'delisted')
    assert.deepEqual(floor.must('futures.cancel_next', { due_id, rest }), { due_id: 0 })
    assert.ok(ids.every((id) => floor.state.futures.orders.get(id)?.status !== 'open'))
    assert.deepEqual(floor.run('futures.cancel_all', all), { label: 'CONTRACT_NOT_FOUND' })
  })
  test('a countdown that strikes after its end is over', () => {
    const desk = deskAt('2026-11-16T15:00Z', [CONTRACTS.BTC_USDT])
    const path = { user_id: desk.holder('1000'), group: 'futures', settle: 'usdt' } as const
    desk.must('futures.countdown', { ...path, contract: 'BTC_USDT', timeout: 600 })
    change(desk, { delisting_time: desk.second + 60, delisted_time: desk.second + 120 })
    desk.advance(700)
    assert.equal(statusOf(desk, BTC_USDT), 'delisted')
    assert.equal(desk.state.futures.countdowns.table.size, 0)
  })
  test('a prelaunch contract trades from its launch on', () => {
    const launch = at('2026-11-16T16:00Z')
    const desk = deskAt('2026-11-16T15:00Z', [
      { ...CONTRACTS.BTC_USDT, status: 'prelaunch', launch_time: launch },
    ])
    assert.equal(statusOf(desk, BTC_USDT), 'prelaunch')
    desk.advance(launch - desk.second)
    assert.equal(statusOf(desk, BTC_USDT), 'trading')
  })
})

describe("an operator's change of a contract", () => {
  test('is kept over a new file, names its table of tiers, and is refused where it makes no sense', () => {
    const desk = deskAt('2026-11-16T15:00Z')
    const tiers = [
      { risk_limit: '100', maintenance_rate: '0.01', leverage_max: '50' },
      { risk_limit: '200', maintenance_rate: '0.02', leverage_max: '25' },
    ]
    const change = { tiers, leverage_max: '50', orders_limit: 7 }
    const after = desk.must('contract.change', { contract: BTC_USDT, change, actor: 'somebody' })
    assert.equal(after.risk_limit_table, 'BTC_USDT_20261116')
    assert.equal(after.config_change_time, desk.second)
    assert.equal(desk.contract(BTC_USDT).terms.tiers.length, 2)
    desk.must('world.configure', { config: { ...BUILT_IN_WORLD, exchange_rates: { CNY: '7', USD: '1.01' } } })
    assert.equal(desk.contract(BTC_USDT).config.orders_limit, 7)
    const other = (more: object) =>
      desk.run('contract.change', { contract: BTC_USDT, change: more, actor: 'somebody' })
    for (const wrong of [
      { leverage_max: '51' },
      { tiers: [...tiers].reverse() },
      { order_size_max: 0 },
      { order_price_deviate: '1' },
      { funding_rate_limit: '0.5' },
      { delisting_time: 2_000_000_000, delisted_time: 1_999_999_999 },
    ])
      assert.deepEqual(other(wrong), { label: 'INVALID_PARAM_VALUE' }, JSON.stringify(wrong))
    assert.deepEqual(
      desk.run('contract.change', { contract: 'futures/usdt/NO_SUCH', change: {}, actor: null }),
      { label: 'CONTRACT_NOT_FOUND' },
    )
  })
})
