import { ONE, ZERO, type Amount, type Price, type Rate } from '../../money/amount.ts'
import { ownAvailable } from '../contract-margin/available.ts'
import { isSharedFor, isUnifiedFor, type Settled } from '../contract-margin/cash.ts'
import { atIndex, isDoubtful, isFlattered, nearIndex } from '../contract-margin/believed.ts'
import {
  cashLeft,
  heldContracts,
  isCross,
  leverageOf,
  marginBalance,
  needsOf,
  unitBeside,
  unitOf,
  type Prices,
  type Unit,
} from '../contract-margin/needs.ts'
import { orderMargins, reducesOnly } from '../contract-margin/orders.ts'
import { liquidationPrice } from '../contracts/liquidation.ts'
import { averageMaintenance, initialMargin, riskLimit } from '../contracts/margin.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs, tierOf, valueUp } from '../contracts/terms.ts'
import { riskOf, type RiskFigures } from '../risk/risk.ts'
import type { State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import { accountOfContract, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { CASH } from '../unified/contracts.ts'
import { unifiedPortfolio } from '../unified/portfolio.ts'

export { atIndex, nearIndex } from '../contract-margin/believed.ts'
export {
  allowedLeverage,
  cashLeft,
  crossCash,
  isCross,
  isCrossBroke,
  leverageOf,
  marginBalance,
  needsOf,
  toldLeverage,
  unitOf,
  type Needs,
  type Prices,
  type Unit,
} from '../contract-margin/needs.ts'
export { marginModeOf, orderMarginIn, orderMargins, reducesOnly } from '../contract-margin/orders.ts'

/** Figures of a contract account, whatever stands behind its positions. */

/** What new orders may use, below zero where it is overdrawn: cross ones, and isolated ones and transfers. */
export function availableOf(
  state: State,
  userId: number,
  settled: Settled,
): { readonly cross: Amount; readonly own: Amount; readonly unit: Unit } {
  const unit = unitOf(state, userId, settled)
  const cash = cashLeft(unit)
  if (!isSharedFor(state, userId, settled)) {
    const cross = ownAvailable(state, userId, settled, unit)
    return { cross, own: smaller(cash, cross), unit }
  }
  const cross = sharedAvailable(state, userId)
  // Nothing is lent for the margin of an isolated position: orders for one need money that is there.
  const { all, cross: ofCross } = orderMargins(state, userId, settled.account)
  return { cross, own: smaller((cash - (all - ofCross)) as Amount, cross), unit }
}
const smaller = (a: Amount, b: Amount): Amount => (a < b ? a : b)
/** What all currencies of a unified account leave; where one has no price to rely on, nothing is known to be left. */
function sharedAvailable(state: State, userId: number): Amount {
  const input = unifiedPortfolio(state, userId, [], 'firm')
  const { available } = riskOf(input)
  return input.unpriced === undefined || available < 0n ? available : (-1n as Amount)
}

/** What the cross positions of an account stand on, and what it must not fall to. */
export interface Standing {
  readonly balance: Amount
  readonly maintenance: Amount
  /** Of the maintenance margin: what contracts need, and what their tiers say, which is the same but in a portfolio. */
  readonly ofContracts: Amount
  readonly byTiers: Amount
}
/** `instead`, `cash` and `prices` as in `unitOf`. */
export function standingOf(
  state: State,
  userId: number,
  settled: Settled,
  instead?: Position,
  cash = 0n,
  prices?: Prices,
): Standing {
  const unit = unitOf(state, userId, settled, instead, cash, prices)
  const byTiers = unit.maintenance
  if (!isSharedFor(state, userId, settled))
    return { balance: marginBalance(unit), maintenance: byTiers, ofContracts: byTiers, byTiers }
  const figures = riskOf(unifiedPortfolio(state, userId, [], 'known', { instead, cash, prices }))
  return {
    balance: figures.marginBalance,
    maintenance: figures.maintenanceMargin,
    ofContracts: figures.contracts?.maintenance ?? ZERO,
    byTiers,
  }
}
export const isBrokeAt = ({ balance, maintenance }: Standing): boolean =>
  maintenance > 0n && balance <= maintenance

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
  const shared = isSharedFor(state, userId, settled)
    ? riskOf(unifiedPortfolio(state, userId, [settled.currency]))
    : undefined
  const balance = shared?.marginBalance ?? marginBalance(unit)
  const initial = shared?.contracts?.initial ?? unit.initial
  const maintenance = shared?.contracts?.maintenance ?? unit.maintenance
  const all = shared?.contracts?.orders ?? orders.all
  return {
    // A unified account's money is shown where it is.
    total: isUnifiedFor(state, userId, settled) ? ZERO : unit.total,
    unrealised_pnl: (unit.pnl + unit.isolatedPnl) as Amount,
    position_margin: (initial + unit.isolated) as Amount,
    order_margin: all,
    available: floor(shared === undefined ? own : sharedUse(shared, cross)),
    position_initial_margin: (initial + unit.isolatedInitial) as Amount,
    maintenance_margin: (maintenance + unit.isolatedMaintenance) as Amount,
    cross_order_margin: (all - (orders.all - orders.cross)) as Amount,
    cross_initial_margin: initial,
    cross_maintenance_margin: maintenance,
    cross_unrealised_pnl: unit.pnl,
    cross_available: floor(cross),
    cross_margin_balance: balance,
    cross_mmr: ratio(balance, shared?.maintenanceMargin ?? maintenance),
    cross_imr: ratio(balance, shared?.initialMargin ?? initial),
    isolated_position_margin: unit.isolated,
  }
}
/** What orders may use where all currencies carry them: the money itself, and what could be borrowed on the rest. */
function sharedUse(figures: RiskFigures, most: Amount): Amount {
  const asset = figures.assets.find((one) => one.asset.currency === CASH)?.asset
  if (asset === undefined) return most
  const leverage = asset.margins[0]!.leverage
  const has = asset.available + (asset.pnl ?? 0n) - (asset.isolated ?? 0n)
  const use = ((most * leverage) / ONE + (has > 0n ? has : 0n)) * ONE
  const usable = use / (ONE + leverage)
  return (usable < most ? usable : most) as Amount
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
  const { user_id } = position
  const contract = state.world.mustContract(position.contract)
  // Where what each position needs is simply added, the others are all that is asked for.
  if (position.mode === 'single' && !isSharedFor(state, user_id, contract)) {
    const beside = unitBeside(state, position, contract)
    return (marginBalance(beside) - (beside.maintenance > 0n ? beside.maintenance : 0n)) as Amount
  }
  const { balance, maintenance } = standingOf(state, user_id, contract, position)
  const own = needsOf(state, position)
  const others = maintenance - own.maintenance
  return (balance - own.pnl - (others > 0n ? others : 0n)) as Amount
}
/** What the position's own part of its unit has left: equity, against what it needs. */
export function equityOf(state: State, position: Position, prices?: Prices): Amount {
  const { pnl, maintenance } = needsOf(state, position, prices)
  if (!isCross(position)) return (position.margin + pnl) as Amount
  const contract = state.world.mustContract(position.contract)
  const standing = standingOf(state, position.user_id, contract, undefined, 0n, prices)
  const { balance, ofContracts, byTiers } = standing
  if (standing.maintenance === 0n || byTiers === 0n) return balance
  const own = ofContracts === byTiers ? maintenance : (maintenance * ofContracts) / byTiers
  return ((own * balance) / standing.maintenance) as Amount
}
/** Whether the unit of a position is at or below what it must have. */
export function isBroke(state: State, position: Position, prices?: Prices): boolean {
  if (!isCross(position)) {
    const { pnl, maintenance } = needsOf(state, position, prices)
    return position.size !== 0n && position.margin + pnl <= maintenance
  }
  const contract = state.world.mustContract(position.contract)
  return isBrokeAt(standingOf(state, position.user_id, contract, undefined, 0n, prices))
}

/** Whether whoever opens a position could bear it: at the mark, near the index and at it. */
export function canNotBear(state: State, position: Position): boolean {
  if (isBroke(state, position)) return true
  const { user_id } = position
  const account = accountOfContract(position.contract)
  return (
    (isDoubtful(state, user_id, account) && isBroke(state, position, nearIndex(state))) ||
    (isFlattered(state, user_id, account) && isBroke(state, position, atIndex(state)))
  )
}

/** What a position is said to have as its margin: a cross one has none of its own, and shows what it needs. */
export function shownMargin(state: State, position: Position): Amount {
  if (!isCross(position)) return position.margin
  if (position.size === 0n) return ZERO
  const contract = state.world.mustContract(position.contract)
  const { terms } = contract
  const value = valueUp(terms, abs(contractsIn(position.size)), state.futures.markOf(position.contract))
  return initialMargin(terms, value, leverageOf(position, contract))
}

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
  // In dual mode each side has its own: a buy opens the long, or closes the short.
  const open = state.futures
    .openOrders(position.user_id, contract.id)
    .filter(
      (order) =>
        position.mode === 'single' ||
        ((order.side === 'buy') !== reducesOnly(order)) === (position.mode === 'dual_long'),
    )
  const closing = open.find(({ more }) => more?.close === true)
  const held = heldContracts(position)
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
export function limitOf(contract: Contract, position: Position): Amount {
  const limit = riskLimit(contract.terms, leverageOf(position, contract))
  const own = position.risk_limit
  return own > 0n && own < limit ? own : limit
}
