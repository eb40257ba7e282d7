import { ONE, ZERO, rateOf, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { liquidationPrice } from '../contracts/liquidation.ts'
import {
  averageMaintenance,
  hedged,
  initialMargin,
  maintenanceMargin,
  riskLimit,
} from '../contracts/margin.ts'
import { entryPrice, unrealised, type Holding } from '../contracts/position.ts'
import { abs, ceilOver, tierOf, valueUp, type Terms } from '../contracts/terms.ts'
import { feeSetting } from '../spot/fees.ts'
import type { State } from '../state.ts'
import type { OrderRow, Side } from '../tables/exchange/order.ts'
import type { OrderSide } from '../tables/futures/order-sides.ts'
import type { Position } from '../tables/futures/positions.ts'
import { accountOfContract, contractsIn, markBoundAt, type Contract } from '../tables/world/contracts.ts'
import { contractRates } from './fees.ts'
import { totalOf, type Settled } from './money.ts'

/** Margin as 2.6 of the specification has it: assets are rounded down and requirements up. */

const holding = ({ size, cost }: Position): Holding => ({ size: contractsIn(size), cost })
export const isCross = ({ leverage }: Position): boolean => leverage === 0n
/** What its margin is counted with. */
export const leverageOf = ({ leverage, cross_limit }: Position): Rate =>
  leverage === 0n ? cross_limit : leverage

/** What a position is worth at the mark, and what it needs. */
export interface Needs {
  readonly value: Amount
  readonly pnl: Amount
  readonly initial: Amount
  readonly maintenance: Amount
}
/** Prices that positions are valued at: the marks, where nothing else is said. */
export type Prices = (contract: string) => Price
export function needsOf(state: State, position: Position, prices?: Prices): Needs {
  const held = holding(position)
  if (held.size === 0n) return { value: ZERO, pnl: ZERO, initial: ZERO, maintenance: ZERO }
  const { terms } = state.world.mustContract(position.contract)
  const mark = prices?.(position.contract) ?? state.futures.markOf(position.contract)
  const value = valueUp(terms, abs(held.size), mark)
  return {
    value,
    pnl: unrealised(terms, held, mark),
    initial: initialMargin(terms, value, leverageOf(position)),
    maintenance: maintenanceOf(state, position, terms, value),
  }
}
/** Of two isolated sides each has the average rate of the larger one. */
function maintenanceOf({ futures }: State, position: Position, terms: Terms, value: Amount): Amount {
  const { user_id, contract, mode } = position
  if (mode === 'single' || isCross(position)) return maintenanceMargin(terms, value)
  const other = futures.positions.get(user_id, contract, mode === 'dual_long' ? 'dual_short' : 'dual_long')
  if (other === undefined) return maintenanceMargin(terms, value)
  const beside = valueUp(terms, abs(contractsIn(other.size)), futures.markOf(contract))
  if (beside <= value) return maintenanceMargin(terms, value)
  return ceilOver(value * maintenanceMargin(terms, beside), beside) as Amount
}

/** All positions of an account: what it has and what they need. */
export interface Unit {
  /** Cash and debt, isolated margins included. */
  readonly total: Amount
  readonly isolated: Amount
  /** Of cross positions. */
  readonly pnl: Amount
  readonly initial: Amount
  readonly maintenance: Amount
  /** Of isolated positions. */
  readonly isolatedPnl: Amount
  readonly isolatedInitial: Amount
  readonly isolatedMaintenance: Amount
}
/** `instead` stands for the rows of the same id, as if it were there already; `cash` is added to the total. */
export function unitOf(
  state: State,
  userId: number,
  settled: Settled,
  instead?: Position,
  cash = 0n,
  prices?: Prices,
): Unit {
  let [isolated, pnl, initial, maintenance] = [0n, 0n, 0n, 0n]
  let [isolatedPnl, isolatedInitial, isolatedMaintenance] = [0n, 0n, 0n]
  const dual = new Map<string, { long: Amount; short: Amount; leverage: Rate }>()
  const add = (row: Position): void => {
    if (row.size === 0n) return
    const needs = needsOf(state, row, prices)
    if (!isCross(row)) {
      isolated += row.margin
      isolatedPnl += needs.pnl
      isolatedInitial += needs.initial
      isolatedMaintenance += needs.maintenance
      return
    }
    pnl += needs.pnl
    if (row.mode === 'single') {
      initial += needs.initial
      maintenance += needs.maintenance
      return
    }
    const both = dual.get(row.contract) ?? { long: ZERO, short: ZERO, leverage: row.cross_limit }
    if (row.size > 0n) both.long = needs.value
    else both.short = needs.value
    dual.set(row.contract, both)
  }
  for (const row of state.futures.positions.heldBy(userId, settled.account))
    if (row.id !== instead?.id) add(row)
  if (instead !== undefined) add(instead)
  for (const [contract, { long, short, leverage }] of dual) {
    const { terms } = state.world.mustContract(contract)
    initial += hedged(terms, long, short, (value) => initialMargin(terms, value, leverage))
    maintenance += hedged(terms, long, short, (value) => maintenanceMargin(terms, value))
  }
  return {
    total: (totalOf(state, userId, settled) + cash) as Amount,
    isolated: isolated as Amount,
    pnl: pnl as Amount,
    initial: initial as Amount,
    maintenance: maintenance as Amount,
    isolatedPnl: isolatedPnl as Amount,
    isolatedInitial: isolatedInitial as Amount,
    isolatedMaintenance: isolatedMaintenance as Amount,
  }
}
export const crossCash = ({ total, isolated }: Unit): Amount => (total - isolated) as Amount
export const marginBalance = (unit: Unit): Amount => (crossCash(unit) + unit.pnl) as Amount

/** What the open orders of an account need in one contract, beside its position there. */
export function orderMarginIn(state: State, userId: number, contract: Contract): Amount {
  const { futures } = state
  const [buy, sell] = [
    futures.sides.of(userId, contract.id, 'buy'),
    futures.sides.of(userId, contract.id, 'sell'),
  ]
  if (buy === undefined || sell === undefined) return ZERO
  const { positions, accounts } = state.futures
  const dual = accounts.get(userId, contract.account)?.dual === true
  const long = positions.get(userId, contract.id, dual ? 'dual_long' : 'single')
  const short = dual ? positions.get(userId, contract.id, 'dual_short') : long
  const mark = state.futures.markOf(contract.id)
  const takerRate = contractRates(vipOf(state, userId), contract).taker
  const need = (side: Side, orders: OrderSide, row: Position | undefined): Amount => {
    // In dual mode a side adds to its own position: nothing that it has is reduced.
    const held = dual || row === undefined ? 0n : contractsIn(row.size)
    const reduces = side === 'buy' ? (held < 0n ? -held : 0n) : held > 0n ? held : 0n
    const leverage = row === undefined ? contract.crossDefault : leverageOf(row)
    return orders.marginOf(contract, reduces, { leverage, takerRate, mark })
  }
  const [buys, sells] = [need('buy', buy, long), need('sell', sell, short)]
  const apart = dual && long !== undefined && !isCross(long)
  return apart ? ((buys + sells) as Amount) : buys > sells ? buys : sells
}
const vipOf = (state: State, userId: number): number => feeSetting(state, state.users.must(userId)).vip
export const reducesOnly = ({ more }: Pick<OrderRow, 'more'>): boolean => more?.reduce_only === true
/** Over all contracts of an account: of cross contracts, and all. */
export function orderMargins(
  state: State,
  userId: number,
  account: string,
): { readonly cross: Amount; readonly all: Amount } {
  let [cross, all] = [0n, 0n]
  for (const id of state.futures.openPairs(userId)) {
    if (accountOfContract(id) !== account) continue
    const contract = state.world.mustContract(id)
    const margin = orderMarginIn(state, userId, contract)
    all += margin
    if (marginModeOf(state, userId, id) === 'cross') cross += margin
  }
  return { cross: cross as Amount, all: all as Amount }
}
export function marginModeOf(state: State, userId: number, contract: string): 'cross' | 'isolated' {
  const { positions, accounts } = state.futures
  const dual = accounts.get(userId, accountOfContract(contract))?.dual === true
  const row = positions.get(userId, contract, dual ? 'dual_long' : 'single')
  return row === undefined || isCross(row) ? 'cross' : 'isolated'
}

/** How far from its index a mark is believed without more; dated contracts add what their time is worth. */
const BELIEVED = rateOf('0.005')
/**
 * A mark follows our own book within bounds, so one party can move it. Who opens a position, or takes money out, must
 * be able to bear it near the index too: else two accounts of one person open at a moved mark what others pay when it
 * comes back.
 */
export const nearIndex =
  ({ futures, world }: State): Prices =>
  (id) => {
    const row = futures.priceOf(id)
    if (row === undefined) return 0n as Price
    const { mark, index, at } = row
    const contract = world.mustContract(id)
    const far = (index * (BELIEVED + markBoundAt(contract, at) - contract.markBound)) / ONE
    return mark > index + far
      ? ((index + far) as Price)
      : mark < index - far
        ? ((index - far) as Price)
        : mark
  }
/** What new orders may use, below zero where it is overdrawn: cross ones, and isolated ones and transfers. */
export function availableOf(
  state: State,
  userId: number,
  settled: Settled,
): { readonly cross: Amount; readonly own: Amount; readonly unit: Unit } {
  const unit = unitOf(state, userId, settled)
  const { all } = orderMargins(state, userId, settled.account)
  const near = nearIndex(state)
  const free = (one: Unit): bigint => marginBalance(one) - one.initial - all
  let cross = free(unit)
  for (const { contract } of state.futures.positions.heldBy(userId, settled.account))
    if (near(contract) !== state.futures.markOf(contract)) {
      const other = free(unitOf(state, userId, settled, undefined, 0n, near))
      if (other < cross) cross = other
      break
    }
  const cash = crossCash(unit)
  return { cross: cross as Amount, own: (cash < cross ? cash : cross) as Amount, unit }
}

/** Every figure of a FuturesAccount that is an amount. */
export interface AccountFigures {
  readonly total: Amount
  readonly unrealised_pnl: Amount
  readonly position_margin: Amount
  readonly order_margin: Amount
  readonly available: Amount
  readonly position_initial_margin: Amount
  readonly maintenance_margin: Amount
  readonly cross_order_margin: Amount
  readonly cross_initial_margin: Amount
  readonly cross_maintenance_margin: Amount
  readonly cross_unrealised_pnl: Amount
  readonly cross_available: Amount
  readonly cross_margin_balance: Amount
  /** Ratios. */
  readonly cross_mmr: Rate
  readonly cross_imr: Rate
  readonly isolated_position_margin: Amount
}
export function accountFigures(state: State, userId: number, settled: Settled): AccountFigures {
  const { cross, own, unit } = availableOf(state, userId, settled)
  const orders = orderMargins(state, userId, settled.account)
  const balance = marginBalance(unit)
  return {
    total: unit.total,
    unrealised_pnl: (unit.pnl + unit.isolatedPnl) as Amount,
    position_margin: (unit.initial + unit.isolated) as Amount,
    order_margin: orders.all,
    available: floor(own),
    position_initial_margin: (unit.initial + unit.isolatedInitial) as Amount,
    maintenance_margin: (unit.maintenance + unit.isolatedMaintenance) as Amount,
    cross_order_margin: orders.cross,
    cross_initial_margin: unit.initial,
    cross_maintenance_margin: unit.maintenance,
    cross_unrealised_pnl: unit.pnl,
    cross_available: floor(cross),
    cross_margin_balance: balance,
    cross_mmr: ratio(balance, unit.maintenance),
    cross_imr: ratio(balance, unit.initial),
    isolated_position_margin: unit.isolated,
  }
}
const floor = (amount: Amount): Amount => (amount < 0n ? ZERO : amount)
/** Four decimals, towards zero. */
const RATIO_STEP = ONE / 10n ** 4n
const ratio = (of: Amount, by: Amount): Rate => {
  if (by === 0n) return 0n as Rate
  const value = (of * ONE) / by
  return (value - (value % RATIO_STEP)) as Rate
}

/** What stands behind a position: its own margin, or what the rest of a cross account leaves for it. */
export function restMargin(state: State, position: Position): Amount {
  if (!isCross(position)) return position.margin
  const contract = state.world.mustContract(position.contract)
  const unit = unitOf(state, position.user_id, contract, position)
  const own = needsOf(state, position)
  return (marginBalance(unit) - own.pnl - (unit.maintenance - own.maintenance)) as Amount
}
/** What the position's own part of its unit has left: equity, against what it needs. */
export function equityOf(state: State, position: Position, prices?: Prices): Amount {
  const { pnl, maintenance } = needsOf(state, position, prices)
  if (!isCross(position)) return (position.margin + pnl) as Amount
  const contract = state.world.mustContract(position.contract)
  const unit = unitOf(state, position.user_id, contract, undefined, 0n, prices)
  if (unit.maintenance === 0n) return marginBalance(unit)
  return ((maintenance * marginBalance(unit)) / unit.maintenance) as Amount
}
/** Whether the unit of a position is at or below what it must have. */
export function isBroke(state: State, position: Position, prices?: Prices): boolean {
  if (!isCross(position)) {
    const { pnl, maintenance } = needsOf(state, position, prices)
    return position.size !== 0n && position.margin + pnl <= maintenance
  }
  const contract = state.world.mustContract(position.contract)
  return isCrossBroke(unitOf(state, position.user_id, contract, undefined, 0n, prices))
}
export const isCrossBroke = (unit: Unit): boolean =>
  unit.maintenance > 0n && marginBalance(unit) <= unit.maintenance

/** Whether whoever opens a position could bear it, at the mark and near the index. */
export const canNotBear = (state: State, position: Position): boolean =>
  isBroke(state, position) || isBroke(state, position, nearIndex(state))

export interface PositionFigures {
  readonly value: Amount
  readonly initial_margin: Amount
  readonly maintenance_margin: Amount
  readonly unrealised_pnl: Amount
  readonly margin: Amount
  readonly liq_price: Price
  readonly entry_price: Price
  readonly mark_price: Price
  readonly leverage_max: Rate
  readonly maintenance_rate: Rate
  readonly average_maintenance_rate: Rate
  readonly risk_limit: Amount
  readonly pending_orders: number
  readonly close_order: { readonly id: number; readonly price: Price; readonly is_liq: boolean } | null
}
export function positionFigures(state: State, position: Position): PositionFigures {
  const contract = state.world.mustContract(position.contract)
  const { terms } = contract
  const { value, initial, maintenance, pnl } = needsOf(state, position)
  const tier = tierOf(terms, value)
  const open = state.futures.openOrders(position.user_id, contract.id)
  const closing = open.find(({ more }) => more?.close === true)
  const held = holding(position)
  return {
    value,
    initial_margin: initial,
    maintenance_margin: maintenance,
    unrealised_pnl: pnl,
    margin: isCross(position) ? initial : position.margin,
    liq_price: held.size === 0n ? (0n as Price) : liquidationPrice(terms, held, restMargin(state, position)),
    entry_price: entryPrice(terms, held),
    mark_price: state.futures.markOf(contract.id),
    leverage_max: tier.leverageMax,
    maintenance_rate: tier.maintenance,
    average_maintenance_rate: averageMaintenance(terms, value),
    risk_limit: limitOf(contract, position),
    pending_orders: open.length,
    close_order:
      closing === undefined
        ? null
        : { id: closing.id, price: closing.price, is_liq: closing.more?.is_liq === true },
  }
}
/** The most that may be held and ordered on its side: by its leverage, or a limit of its owner's. */
export function limitOf({ terms }: Contract, position: Position): Amount {
  const limit = riskLimit(terms, leverageOf(position))
  const own = position.risk_limit
  return own > 0n && own < limit ? own : limit
}
