import {
  atIndex,
  availableOf,
  balanceOf,
  believed,
  cashName,
  committed,
  debtName,
  initialMargin,
  isCross,
  leverageOf,
  needsOf,
  unitOf,
  type Needs,
} from './margin.ts'
import {
  beginAccount,
  equityName,
  insuranceName,
  note,
  recordPosition,
  settleFunding,
  spotName,
} from './money.ts'
import { E, abs, ceilTo, max, min } from './numbers.ts'
import { look } from './liquidation.ts'
import { contractOf, refuseLiquidating } from './orders.ts'
import { UNIT, refuse, type Contract, type Mode, type Position, type World } from './world.ts'

/** 2.7, 2.8 and 2.15 of the specification: leverage, margin, limits, modes, transfers. */

export interface Path {
  readonly user: number
  readonly account: string
}
function prepare(w: World, { user, account }: Path, name: string): { c: Contract; rows: Position[] } {
  const c = contractOf(w, account, name)
  refuseLiquidating(w, user, c)
  beginAccount(w, user, account)
  return { c, rows: w.positionsOf(user, c) }
}
function readLeverage(c: Contract, leverage: bigint): bigint {
  if (leverage % (E / 100n) !== 0n) refuse('INVALID_PARAM_VALUE')
  if (leverage < c.leverageMin) refuse('LEVERAGE_TOO_LOW')
  if (leverage > c.leverageMax) refuse('LEVERAGE_TOO_HIGH')
  return leverage
}
export function setLeverage(
  w: World,
  path: Path,
  name: string,
  given: bigint,
  limit: bigint | null,
): Position[] {
  const { c, rows } = prepare(w, path, name)
  const cross = given === 0n
  const leverage = cross
    ? limit === null || limit === 0n
      ? c.expires > 0
        ? c.leverageMax
        : rows[0]!.crossLimit
      : readLeverage(c, limit)
    : readLeverage(c, given)
  if (cross !== isCross(rows[0]!)) {
    if (rows.some(({ size }) => size !== 0n)) refuse('POSITION_HOLDING')
    if (w.openOf(path.user, c.id).length > 0) refuse('ORDER_PENDING')
  }
  const left = (): bigint => availableOf(w, path.user, path.account)[cross ? 'cross' : 'own']
  const before = left()
  let changed = false
  for (const row of rows) {
    if (isCross(row) === cross && leverageOf(row) === leverage) continue
    changed = true
    const value = committed(w, c, row)
    const tier = c.tiers.find((one) => value <= one.limit) ?? c.tiers.at(-1)!
    if (tier.leverage < leverage) refuse('LEVERAGE_TOO_HIGH')
    if (cross) Object.assign(row, { leverage: 0n, crossLimit: leverage, margin: 0n })
    else setIsolated(w, c, row, leverage)
    recordPosition(w, row)
  }
  const idle = rows.every(({ size }) => size === 0n) && w.openOf(path.user, c.id).length === 0
  if (changed && !idle && left() < 0n && left() < before) refuse('INSUFFICIENT_AVAILABLE')
  return rows
}
/** The margin of an open position follows: more is taken, less is given back as far as equity stays at V / L + V x tf. */
function setIsolated(w: World, c: Contract, row: Position, leverage: bigint): void {
  settleFunding(w, c, row)
  row.leverage = row.isolatedLeverage = leverage
  if (row.size === 0n) return
  const wanted = ceilTo(initialMargin(c, abs(row.cost), leverage), UNIT)
  const least = ({ value, pnl }: Needs): bigint => ceilTo(initialMargin(c, value, leverage) - pnl, UNIT)
  const near = max(least(needsOf(w, row)), least(needsOf(w, row, believed(w))))
  const floor = max(wanted, max(near, ceilTo(keptAtIndex(w, row), UNIT)))
  row.margin = wanted >= row.margin ? wanted : min(row.margin, floor)
  const { pnl, maintenance } = needsOf(w, row)
  if (row.margin + pnl <= maintenance) refuse('LIQUIDATE_IMMEDIATELY')
}
/** The least margin that is above maintenance at the index. */
function keptAtIndex(w: World, row: Position): bigint {
  const { pnl, maintenance } = needsOf(w, row, atIndex(w))
  return maintenance - pnl + 1n
}
export function setMarginMode(w: World, path: Path, name: string, cross: boolean): Position[] {
  const { rows } = prepare(w, path, name)
  if (isCross(rows[0]!) === cross) return rows
  return setLeverage(w, path, name, cross ? 0n : rows[0]!.isolatedLeverage, null)
}
function refuseOtherMode(rows: readonly Position[], dual: boolean): void {
  if (rows.length === 2 && !dual) refuse('POSITION_DUAL_MODE')
  if (rows.length === 1 && dual) refuse('POSITION_NOT_FOUND')
}
export function setRiskLimit(w: World, path: Path, name: string, limit: bigint, dual: boolean): Position[] {
  const { c, rows } = prepare(w, path, name)
  refuseOtherMode(rows, dual)
  if (limit > c.tiers.at(-1)!.limit) refuse('RISK_LIMIT_TOO_HIGH')
  const tier = c.tiers.find((one) => one.limit === limit) ?? refuse('RISK_LIMIT_NOT_MULTIPLE')
  for (const row of rows) {
    if (tier.leverage < leverageOf(row)) refuse('LEVERAGE_TOO_HIGH')
    if (committed(w, c, row) > limit) refuse('RISK_LIMIT_TOO_LOW')
    if (row.riskLimit === limit) continue
    row.riskLimit = limit
    recordPosition(w, row)
  }
  return rows
}
export function changeMargin(
  w: World,
  path: Path,
  name: string,
  change: bigint,
  side: Mode | null,
): Position[] {
  const { c, rows } = prepare(w, path, name)
  refuseOtherMode(rows, side !== null)
  if (change === 0n) refuse('NO_CHANGE')
  if (change % UNIT !== 0n) refuse('INVALID_PRECISION')
  const row = rows.find(({ mode }) => mode === (side ?? 'single'))!
  if (isCross(row)) refuse('POSITION_CROSS_MARGIN')
  if (row.size === 0n) refuse('POSITION_EMPTY')
  settleFunding(w, c, row)
  if (change > 0n) {
    if (change > availableOf(w, path.user, path.account).own) refuse('INSUFFICIENT_AVAILABLE')
  } else {
    const spare = ({ value, pnl }: Needs): bigint =>
      row.margin + min(0n, pnl) - initialMargin(c, value, row.leverage)
    const most = min(spare(needsOf(w, row)), spare(needsOf(w, row, believed(w))))
    if (-change > min(most, row.margin - keptAtIndex(w, row))) refuse('REMOVE_TOO_MUCH')
  }
  row.margin += change
  if (w.shared.has(row.user)) w.meet('margin of a unified account')
  recordPosition(w, row)
  look(w)
  return rows
}
export function setDual(w: World, { user, account }: Path, dual: boolean): void {
  if (w.isDual(user, account) !== dual) {
    if (w.held(user, account).length > 0) refuse('POSITION_HOLDING')
    const pending = [...w.orders.values()].some(
      (one) => one.user === user && one.contract.startsWith(`${account}/`),
    )
    if (pending || w.waitCount(user, account) > 0) refuse('ORDER_PENDING')
  }
  beginAccount(w, user, account).dual = dual
}

/** Into an account of contracts what is owed is paid first. */
function comeIn(w: World, user: number, account: string, from: string, amount: bigint): void {
  const owed = min(amount, -w.balance(debtName(user, account)))
  w.move(from, debtName(user, account), owed)
  w.move(from, cashName(user, account), amount - owed)
  note(w, user, account, { type: 'dnw', change: amount, text: '', contract: '', trade: 0 })
}
export function transfer(
  w: World,
  { user, account }: Path,
  currency: string,
  amount: bigint,
  out: boolean,
): void {
  if (amount === 0n) refuse('INVALID_PARAM_VALUE')
  const spot = spotName(user, currency)
  if (!out) {
    if (amount > w.balance(spot)) refuse('BALANCE_NOT_ENOUGH')
    comeIn(w, user, account, spot, amount)
    return
  }
  if (amount > availableOf(w, user, account).own) refuse('FUTURES_BALANCE_NOT_ENOUGH')
  // Nor what keeps it above maintenance at the index.
  const there = unitOf(w, user, account, atIndex(w))
  if (there.maintenance > 0n && balanceOf(there) - amount <= there.maintenance)
    refuse('FUTURES_BALANCE_NOT_ENOUGH')
  w.move(cashName(user, account), spot, amount)
  note(w, user, account, { type: 'dnw', change: -amount, text: '', contract: '', trade: 0 })
}
export function credit(w: World, { user, account }: Path, currency: string, amount: bigint): void {
  comeIn(w, user, account, equityName(currency), amount)
}
export function fundInsurance(w: World, settle: string, amount: bigint): void {
  w.move(equityName(settle.toUpperCase()), insuranceName(settle), amount)
}
