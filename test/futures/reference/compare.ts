import assert from 'node:assert/strict'
import { adlRanking as engineRanking } from '../../../src/core/futures/ranking.ts'
import { accountFigures, positionFigures } from '../../../src/core/futures/figures.ts'
import type { AccountName } from '../../../src/core/ledger/accounts.ts'
import type { DueItem } from '../../../src/core/tables/due.ts'
import type { Position as EnginePosition } from '../../../src/core/tables/futures/positions.ts'
import { CONTRACT_LOGS } from '../../../src/core/tables/futures/records.ts'
import { accountOfContract, type ContractConfig } from '../../../src/core/tables/world/contracts.ts'
import type { Tx } from '../../../src/machine/table.ts'
import { Floor } from '../floor.ts'
import { adlRanking } from './liquidation.ts'
import {
  availableOf,
  balanceOf,
  crossCash,
  entryPrice,
  isCross,
  limitOf,
  liquidationPrice,
  needsOf,
  orderMargins,
  tierOf,
  unitOf,
} from './margin.ts'
import { E, floorDiv, max } from './numbers.ts'
import { Reference, type Answer, type Input } from './reference.ts'
import { equal } from './alike.ts'
import { sameWaiting } from './compare-waiting.ts'
import { sameOrder, samePosition } from './rows.ts'
import { modeOf } from './trading.ts'
import type { Position } from './world.ts'

const ACCOUNTS = ['futures/usdt', 'futures/btc', 'delivery/usdt'] as const
/** Without what is made for charts and statistics. */
const LOGS = CONTRACT_LOGS.map(({ name }) => name).filter((name) => name !== 'contract_stat')

/** The engine and the reference side by side: what one is asked the other is asked too, and both must say the same. */
export class Beside extends Floor {
  readonly reference: Reference
  readonly traders: number[] = []
  readonly log: string[] = []
  readonly outcomes = new Map<string, number>()
  commands = 0
  private tx: Tx | undefined
  private begun = 0
  private marks = ''

  constructor(configs: readonly ContractConfig[]) {
    super(configs)
    this.must('contract.begin', {})
    this.reference = new Reference(configs)
    this.reference.begin(this.at, (id) => {
      const { index, mark, funding_rate: rate, next_funding: nextFunding } = this.price(id)
      return { index, mark, rate, nextFunding }
    })
  }
  protected override applied(tx: Tx): void {
    super.applied(tx)
    this.tx = tx
  }
  /** A user whom both know. */
  trader(vip: number, stp: boolean): number {
    const id = this.user({ USDT: '100000', BTC: '10' }, { vip })
    let group = 0
    if (stp) {
      group = this.must('stp_group.create', { user_id: id, name: 'g' }).id
      this.must('stp_group.add', { user_id: id, stp_id: group, members: [id] })
    }
    this.reference.addUser(id, vip, group)
    for (const [currency, amount] of [
      ['USDT', 100_000n],
      ['BTC', 10n],
    ] as const)
      this.reference.world.money.set(`${id} spot ${currency}`, amount * E)
    this.traders.push(id)
    return id
  }
  /** Asks both. */
  ask(what: string, input: object): Answer {
    this.log.push(`${what} ${JSON.stringify(input)}`)
    this.tx = undefined
    const outcome = this.run(what as 'futures.place', input as never)
    const expected = this.reference.run(what, input as Input, this.at, this.begunNow())
    const got = 'label' in outcome ? outcome.label : 'done'
    const wanted = expected !== null && 'label' in expected ? expected.label : 'done'
    this.log.push(`  ${got}`)
    assert.equal(got, wanted, 'the engine answers otherwise than the reference')
    this.outcomes.set(`${what} ${got}`, (this.outcomes.get(`${what} ${got}`) ?? 0) + 1)
    if (!('label' in outcome) && expected !== null) {
      if ('order' in expected) sameOrder(outcome.reply, expected.order)
      if ('ids' in expected) {
        const { ids } = outcome.reply as unknown as { ids: number[] }
        assert.deepEqual(
          [...ids].sort((a, b) => a - b),
          expected.ids.sort((a, b) => a - b),
        )
      }
      if ('rows' in expected)
        for (const [i, row] of (outcome.reply as unknown as EnginePosition[]).entries())
          samePosition(row, expected.rows[i]!)
    }
    this.same()
    return expected
  }
  /** One item that is due, of both. */
  protected override runItem(item: DueItem): void {
    this.log.push(`due ${item.command} ${JSON.stringify(item.input)}`)
    this.tx = undefined
    const due = this.reference.next()
    assert.ok(due !== undefined, `the engine has ${item.command} to do, the reference nothing`)
    assert.deepEqual(this.must('due.run', { id: item.id }), { refused: null })
    assert.deepEqual([item.command, item.at, unitOfItem(item)], [due.kind, due.at, due.of])
    this.reference.runDue(due, this.at, this.begunNow())
    this.outcomes.set(item.command, (this.outcomes.get(item.command) ?? 0) + 1)
    this.same()
  }
  /** One thing that is due by now; false: there is none. */
  oneDue(): boolean {
    const item = this.state.due.next()
    if (item === undefined || item.at > this.at) {
      const due = this.reference.next()
      assert.ok(
        due === undefined || due.at > this.at,
        `the reference has ${due?.kind} to do, the engine nothing`,
      )
      return false
    }
    this.runItem(item)
    return true
  }
  /** Units whose liquidation the engine has begun in this command, in its order. */
  private begunNow(): string[] {
    const found: [number, string][] = []
    for (const item of this.state.due.table.values())
      if (item.command === 'futures.liquidate') {
        const { id } = item.input as { id: number }
        if (id > this.begun) found.push([id, unitOfItem(item)])
      }
    found.sort((a, b) => a[0] - b[0])
    this.begun = Math.max(this.begun, ...found.map(([id]) => id))
    return found.map(([, unit]) => unit)
  }

  private same(): void {
    this.commands++
    const { world } = this.reference
    this.sameRecords()
    const touched = new Set(world.touched.keys())
    const positions = new Set<string>()
    const accounts = new Set<string>()
    for (const { table, key } of this.tx?.touched ?? []) {
      const { name } = table.spec
      if (name === 'contract_order') touched.add(key as number)
      else if (name === 'position') positions.add(key as string)
      else if (name === 'contract_account') accounts.add(key as string)
    }
    for (const { user, contract } of world.touched.values())
      accounts.add(`${user}/${accountOfContract(contract)}`)
    const whole = this.commands % 20 === 0
    if (whole) {
      for (const id of world.orders.keys()) touched.add(id)
      for (const { id } of this.state.futures.positions.table.values()) positions.add(id)
      for (const id of world.positions.keys()) positions.add(id)
    }
    for (const id of touched) {
      const order = world.orders.get(id) ?? world.touched.get(id)
      const got = this.state.futures.orders.get(id)
      if (got?.status !== 'open' && order === undefined) continue
      assert.ok(got !== undefined && order !== undefined, `order ${id} is known to one alone`)
      sameOrder(got, order)
    }
    let open = 0
    for (const c of world.contracts.keys())
      for (const user of this.traders) open += this.state.futures.openCount(user, c)
    assert.equal(open, world.orders.size, 'open orders')
    for (const id of positions) {
      const got = this.state.futures.positions.table.get(id)
      const wanted = world.positions.get(id)
      assert.ok(got !== undefined && wanted !== undefined, `position ${id} is known to one alone`)
      samePosition(got, wanted)
    }
    sameWaiting(this.state, world, this.traders, this.tx, whole)
    this.sameMoney()
    // Figures follow from rows and marks; a rank from all positions.
    const moved = this.samePrices()
    const all = whole || moved || [...positions].some((id) => !id.startsWith('0/'))
    for (const user of this.traders)
      for (const account of ACCOUNTS)
        if (all || accounts.has(`${user}/${account}`)) this.sameAccount(user, account)
  }
  private sameRecords(): void {
    const { records } = this.reference.world
    for (const name of LOGS) {
      const got = (this.tx?.appended ?? []).filter((_, i) => this.tx!.logs[i]!.name === name)
      const wanted = records[name] ?? []
      if (got.length === 0 && wanted.length === 0) continue
      equal(got, wanted, name)
    }
    const trades = (this.tx?.touched ?? [])
      .filter(({ table }) => table.spec.name === 'contract_trade')
      .map(({ key }) => this.state.futures.trades.table.get(key as number))
    equal(trades, records['trade'] ?? [], 'trades')
  }
  /** Tells whether a mark has moved. */
  private samePrices(): boolean {
    const before = this.marks
    this.marks = [...this.reference.world.prices.values()].map(({ mark }) => mark).join(' ')
    for (const [id, row] of this.reference.world.prices) {
      const got = this.price(id)
      const one = [
        id,
        got.index,
        got.mark,
        got.funding_rate,
        got.funding_sum,
        got.premiums,
        got.next_funding,
        this.state.futures.lastPrice(id),
      ]
      const other = [
        id,
        row.index,
        row.mark,
        row.rate,
        row.fundingSum,
        row.premiums.length,
        row.nextFunding,
        row.last,
      ]
      equal(one, other, 'prices')
    }
    return before !== this.marks
  }
  private sameMoney(): void {
    const { world } = this.reference
    const same = (owner: number, name: AccountName, currency: string, ours: string): void => {
      const got = this.state.ledger.balance(owner, name, currency)
      if (got !== world.balance(ours)) assert.equal(String(got), String(world.balance(ours)), ours)
    }
    for (const c of world.contracts.values()) {
      const group = c.expires === 0 ? 'futures' : 'delivery'
      same(0, `${group}.clearing:${c.settle}.${c.name}`, c.currency, `clearing ${c.id}`)
      if (c.expires === 0) same(0, `futures.funding:${c.settle}.${c.name}`, c.currency, `funding ${c.id}`)
    }
    for (const settle of ['usdt', 'btc']) {
      const currency = settle.toUpperCase()
      same(0, `futures.rounding:${settle}`, currency, `rounding ${settle}`)
      same(0, `insurance:futures.${settle}`, currency, `insurance ${settle}`)
      same(0, 'fees', currency, `fees ${currency}`)
      for (const user of this.traders) {
        same(user, `futures:${settle}`, currency, `${user} futures/${settle}`)
        same(user, `debt.futures:${settle}`, currency, `${user} debt futures/${settle}`)
        same(user, 'spot', currency, `${user} spot ${currency}`)
        if (settle === 'btc') continue
        same(user, `delivery:${settle}`, currency, `${user} delivery/${settle}`)
        same(user, `debt.delivery:${settle}`, currency, `${user} debt delivery/${settle}`)
      }
    }
  }
  /** Every figure of an account and its positions. */
  private sameAccount(user: number, account: string): void {
    const { world } = this.reference
    const row = world.account(user, account)
    const got = this.state.futures.accounts.get(user, account)
    if (row === undefined || got === undefined) {
      assert.ok(row === undefined && got === undefined, `account ${user} ${account} is known to one alone`)
      return
    }
    equal(
      [got.dual, got.liquidating, got.dnw, got.pnl, got.fee, got.fund],
      [row.dual, row.liquidating, row.dnw, row.pnl, row.fee, row.fund],
      `account ${user} ${account}`,
    )
    const first = [...world.contracts.values()].find((c) => c.account === account)!
    const figures = accountFigures(this.state, user, this.contract(first.id))
    const unit = unitOf(world, user, account)
    const orders = orderMargins(world, user, account)
    const { cross, own } = availableOf(world, user, account)
    const ratio = (by: bigint): bigint =>
      by === 0n ? 0n : ((balanceOf(unit) * E) / by / 10n ** 14n) * 10n ** 14n
    const wanted = {
      total: unit.total,
      unrealised_pnl: unit.pnl + unit.isolatedPnl,
      position_margin: unit.initial + unit.isolated,
      order_margin: orders.all,
      available: max(0n, own),
      position_initial_margin: unit.initial + unit.isolatedInitial,
      maintenance_margin: unit.maintenance + unit.isolatedMaintenance,
      cross_order_margin: orders.cross,
      cross_initial_margin: unit.initial,
      cross_maintenance_margin: unit.maintenance,
      cross_unrealised_pnl: unit.pnl,
      cross_available: max(0n, cross),
      cross_margin_balance: crossCash(unit) + unit.pnl,
      cross_mmr: ratio(unit.maintenance),
      cross_imr: ratio(unit.initial),
      isolated_position_margin: unit.isolated,
    }
    equal(figures, wanted, `figures of ${user} ${account}`)
    for (const position of world.held(user, account)) this.sameFigures(position)
  }
  private sameFigures(row: Position): void {
    const { world } = this.reference
    const c = world.contract(row.contract)
    const position = this.state.futures.positions.table.get(row.id)!
    const { close_order: closing, ...figures } = positionFigures(this.state, position)
    const needs = needsOf(world, row)
    const tier = tierOf(c, needs.value)
    const tiered = needs.value === 0n ? 0n : -floorDiv(-needs.value * tier.rate, E) - tier.deduction
    const open = world.openOf(row.user, c.id)
    const own = open.filter((order) => modeOf(world, order, c) === row.mode)
    equal(
      { ...figures, closing: closing?.id, ranking: engineRanking(this.state, this.contract(c.id), position) },
      {
        value: needs.value,
        initial_margin: needs.initial,
        maintenance_margin: needs.maintenance,
        unrealised_pnl: needs.pnl,
        margin: isCross(row) ? needs.initial : row.margin,
        liq_price: liquidationPrice(world, row),
        entry_price: entryPrice(c, row.size, row.cost),
        mark_price: world.priceOf(c.id).mark,
        leverage_max: tier.leverage,
        maintenance_rate: tier.rate,
        average_maintenance_rate: (tiered * E) / needs.value,
        risk_limit: limitOf(c, row),
        // Of both sides each has its own.
        pending_orders: own.length,
        closing: own.find(({ more }) => more?.['close'] === true)?.id,
        ranking: adlRanking(world, row),
      },
      `figures of ${row.id}`,
    )
  }
}
/** The unit that an item of due work is about, or its contract. */
function unitOfItem({ command, input }: DueItem): string {
  const { user_id, contract, mode } = input as { user_id?: number; contract?: string; mode?: string }
  if (command !== 'futures.liquidate') return contract ?? ''
  return mode === 'cross' ? `${user_id}/${contract}` : `${user_id}/${contract}/${mode}`
}
