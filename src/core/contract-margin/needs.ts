import { ZERO, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { hedged, initialMargin, maintenanceMargin } from '../contracts/margin.ts'
import { unrealised, type Holding } from '../contracts/position.ts'
import { abs, ceilOver, valueUp, type Terms } from '../contracts/terms.ts'
import type { State } from '../state.ts'
import { NOTHING_HELD, otherSide, type Needs, type Position } from '../tables/futures/positions.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { totalOf, type Settled } from './cash.ts'

export type { Needs } from '../tables/futures/positions.ts'

/** Margin as 2.6 of the specification has it: assets are rounded down and requirements up. */

export const heldContracts = ({ size, cost }: Position): Holding => ({ size: contractsIn(size), cost })
export const isCross = ({ leverage }: Position): boolean => leverage === 0n
/** What was set while the contract allowed more is no more than it allows now: nobody keeps that by having asked in time. */
export const allowedLeverage = (leverage: Rate, { leverageMax }: Pick<Contract, 'leverageMax'>): Rate =>
  leverage > leverageMax ? leverageMax : leverage
/** What its margin is counted with. */
export const leverageOf = (
  { leverage, cross_limit }: Position,
  contract: Pick<Contract, 'leverageMax'>,
): Rate => allowedLeverage(leverage === 0n ? cross_limit : leverage, contract)
/** As it is told: 0 in cross margin. */
export const toldLeverage = (position: Position, contract: Pick<Contract, 'leverageMax'>): Rate =>
  isCross(position) ? position.leverage : leverageOf(position, contract)

/** Prices that positions are valued at: the marks, where nothing else is said. */
export type Prices = (contract: string) => Price
export function needsOf(state: State, position: Position, prices?: Prices): Needs {
  const held = heldContracts(position)
  if (held.size === 0n) return NO_NEEDS
  const { futures } = state
  const contract = state.world.mustContract(position.contract)
  const { terms } = contract
  const mark = prices?.(position.contract) ?? futures.markOf(position.contract)
  // An order asks for those of its owner's position several times. Rows that a table has are never changed.
  const known = futures.needed
  if (known?.row === position && known.contract === contract && known.mark === mark) return known.needs
  const value = valueUp(terms, abs(held.size), mark)
  const needs = {
    value,
    pnl: unrealised(terms, held, mark),
    initial: initialMargin(terms, value, leverageOf(position, contract)),
    maintenance: maintenanceOf(state, position, terms, value, mark),
  }
  const { user_id, mode } = position
  // What the sides of dual mode need, each has a say in.
  if (mode === 'single' && futures.positions.get(user_id, position.contract, mode) === position)
    futures.needed = { row: position, contract, mark, needs }
  return needs
}
const NO_NEEDS: Needs = { value: ZERO, pnl: ZERO, initial: ZERO, maintenance: ZERO }
/** Of two isolated sides each has the average rate of the larger one. */
function maintenanceOf(
  { futures }: State,
  position: Position,
  terms: Terms,
  value: Amount,
  price: Price,
): Amount {
  const { user_id, contract, mode } = position
  const side = otherSide(mode)
  if (side === undefined || isCross(position)) return maintenanceMargin(terms, value)
  const other = futures.positions.get(user_id, contract, side)
  if (other === undefined) return maintenanceMargin(terms, value)
  const beside = valueUp(terms, abs(contractsIn(other.size)), price)
  if (beside <= value) return maintenanceMargin(terms, value)
  return ceilOver(value * maintenanceMargin(terms, beside), beside) as Amount
}

/** All positions of an account: what it has and what they need. */
export interface Unit {
  /** Cash and debt, isolated margins included. */
  readonly total: Amount
  readonly isolated: Amount
  /** Margins of isolated positions that are above zero: what of the total is set apart for them. */
  readonly pledged: Amount
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
  return counted(state, userId, settled, instead?.id, instead, cash, prices)
}
/** What of an account's money is set apart for isolated positions; `Unit` has it too, and all else. */
export function pledgedBy(state: State, userId: number, account: string): bigint {
  let sum = 0n
  for (const row of state.futures.positions.heldBy(userId, account))
    if (!isCross(row) && row.margin > 0n) sum += row.margin
  return sum
}
/** The same without a position, as if it were not there. */
export const unitBeside = (state: State, { id, user_id }: Position, settled: Settled): Unit =>
  counted(state, user_id, settled, id, undefined, 0n, undefined)
function counted(
  state: State,
  userId: number,
  settled: Settled,
  without: string | undefined,
  instead: Position | undefined,
  cash: bigint,
  prices: Prices | undefined,
): Unit {
  const total = (totalOf(state, userId, settled) + cash) as Amount
  const held = state.futures.positions.heldBy(userId, settled.account)
  if (held === NOTHING_HELD && (instead === undefined || instead.size === 0n)) return unitOfCash(total)
  const unit = unitOfCash(total)
  let dual: Dual | undefined
  for (const row of held) if (row.id !== without) dual = tally(unit, state, row, prices, dual)
  if (instead !== undefined) dual = tally(unit, state, instead, prices, dual)
  for (const [contract, { long, short, leverage }] of dual ?? []) {
    const { terms } = state.world.mustContract(contract)
    const initial = hedged(terms, long, short, (value) => initialMargin(terms, value, leverage))
    const maintenance = hedged(terms, long, short, (value) => maintenanceMargin(terms, value))
    unit.initial = (unit.initial + initial) as Amount
    unit.maintenance = (unit.maintenance + maintenance) as Amount
  }
  return unit
}
type Tally = { -readonly [M in keyof Unit]: Unit[M] }
/** Both sides of contracts in dual mode: they are counted together. */
type Dual = Map<string, { long: Amount; short: Amount; leverage: Rate }>
function tally(
  unit: Tally,
  state: State,
  row: Position,
  prices: Prices | undefined,
  dual: Dual | undefined,
): Dual | undefined {
  if (row.size === 0n) return dual
  const needs = needsOf(state, row, prices)
  if (!isCross(row)) {
    unit.isolated = (unit.isolated + row.margin) as Amount
    if (row.margin > 0n) unit.pledged = (unit.pledged + row.margin) as Amount
    unit.isolatedPnl = (unit.isolatedPnl + needs.pnl) as Amount
    unit.isolatedInitial = (unit.isolatedInitial + needs.initial) as Amount
    unit.isolatedMaintenance = (unit.isolatedMaintenance + needs.maintenance) as Amount
    return dual
  }
  unit.pnl = (unit.pnl + needs.pnl) as Amount
  if (row.mode === 'single') {
    unit.initial = (unit.initial + needs.initial) as Amount
    unit.maintenance = (unit.maintenance + needs.maintenance) as Amount
    return dual
  }
  const sides: Dual = dual ?? new Map<string, { long: Amount; short: Amount; leverage: Rate }>()
  const both = sides.get(row.contract) ?? {
    long: ZERO,
    short: ZERO,
    leverage: leverageOf(row, state.world.mustContract(row.contract)),
  }
  if (row.size > 0n) both.long = needs.value
  else both.short = needs.value
  sides.set(row.contract, both)
  return sides
}
const unitOfCash = (total: Amount): Tally => ({
  total,
  isolated: ZERO,
  pledged: ZERO,
  pnl: ZERO,
  initial: ZERO,
  maintenance: ZERO,
  isolatedPnl: ZERO,
  isolatedInitial: ZERO,
  isolatedMaintenance: ZERO,
})
export const crossCash = ({ total, isolated }: Unit): Amount => (total - isolated) as Amount
/**
 * What is there beside all isolated margins. Funding takes more than a margin where profit carries the position: cash has paid
 * that, and what is not there any more can be neither moved away nor set apart for another position.
 */
export const cashLeft = ({ total, pledged }: Unit): Amount => (total - pledged) as Amount
export const marginBalance = (unit: Unit): Amount => (crossCash(unit) + unit.pnl) as Amount

export const isCrossBroke = (unit: Unit): boolean =>
  unit.maintenance > 0n && marginBalance(unit) <= unit.maintenance
