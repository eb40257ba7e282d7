import { E, abs, ceilDiv, ceilTo, floorDiv, floorTo, max, min, type Fraction } from './numbers.ts'
import { ofTime } from './prices.ts'
import { besidesContracts, initialOf, portfolioOrders, sharedAvailable, stressOf } from './shared.ts'
import { UNIT, type Contract, type Order, type Position, type Tier, type World } from './world.ts'

/** 2.5 to 2.7, 2.11 and 2.13 of the specification: figures, each counted anew from rows whenever somebody asks. */

/** What contracts are worth at a price, as over / under of 10^-18. */
const worth = ({ linear, q }: Contract, contracts: bigint, price: bigint): Fraction =>
  linear ? { over: contracts * q * price, under: E } : { over: contracts * E * E, under: price }
const down = ({ over, under }: Fraction): bigint => floorDiv(over, under)
const up = ({ over, under }: Fraction): bigint => ceilDiv(over, under)
/** Assets down, requirements up. */
export const valueDown = (c: Contract, n: bigint, price: bigint): bigint => down(worth(c, n, price))
export const valueUp = (c: Contract, n: bigint, price: bigint): bigint => up(worth(c, n, price))
/** Of a fill: one figure for both sides. */
export const fillValue = (c: Contract, n: bigint, price: bigint): bigint =>
  floorTo(valueDown(c, n, price), UNIT)
export const times = (value: bigint, rate: bigint): bigint => ceilDiv(value * rate, E)

/** V(M) - C, or C - V(M), with signed V and C. */
export function unrealised(c: Contract, size: bigint, cost: bigint, price: bigint): bigint {
  if (size === 0n) return 0n
  const { over, under } = worth(c, size, price)
  return c.linear ? floorDiv(over - cost * under, under) : floorDiv(cost * under - over, under)
}
export const tierOf = ({ tiers }: Contract, value: bigint): Tier =>
  tiers.find(({ limit }) => value <= limit) ?? tiers.at(-1)!
export const initialMargin = (c: Contract, value: bigint, leverage: bigint): bigint =>
  ceilDiv(value * E, leverage) + times(value, c.tf)
export function maintenanceMargin(c: Contract, value: bigint): bigint {
  if (value === 0n) return 0n
  const { rate, deduction } = tierOf(c, value)
  return times(value, rate) - deduction + times(value, c.tf)
}
export const openingMargin = (c: Contract, value: bigint, leverage: bigint): bigint =>
  ceilTo(initialMargin(c, value, leverage), UNIT)
export const isCross = ({ leverage }: Position): boolean => leverage === 0n
export const leverageOf = (row: Position): bigint => (isCross(row) ? row.crossLimit : row.leverage)

export type PriceOf = (contract: string) => bigint
export const marks =
  (w: World): PriceOf =>
  (id) =>
    w.priceOf(id).mark
/** By the index alone: in the last half hour the mean that it ends at if the index stays. */
function byIndex(w: World, id: string): bigint {
  const { index, ending, minute } = w.priceOf(id)
  if (ending.length === 0) return index
  const left = BigInt(Math.max(0, Math.floor((w.contract(id).expires - minute) / 60)))
  return (ending.reduce((sum, one) => sum + one, 0n) + index * left) / (BigInt(ending.length) + left)
}
/** What is believed of a mark: half a percent from the index, and what its time is worth (decision 0071). */
export const believed =
  (w: World): PriceOf =>
  (id) => {
    const { mark, at } = w.priceOf(id)
    const index = byIndex(w, id)
    const far = floorDiv(index * ((5n * E) / 1000n + ofTime(w.contract(id), at)), E)
    return min(max(mark, index - far), index + far)
  }
export const atIndex =
  (w: World): PriceOf =>
  (id) =>
    byIndex(w, id)

export interface Needs {
  readonly value: bigint
  readonly pnl: bigint
  readonly initial: bigint
  readonly maintenance: bigint
}
export function needsOf(w: World, row: Position, priceOf: PriceOf = marks(w)): Needs {
  const c = w.contract(row.contract)
  const price = priceOf(row.contract)
  const value = valueUp(c, abs(row.size), price)
  let maintenance = maintenanceMargin(c, value)
  if (row.mode !== 'single' && !isCross(row) && value > 0n) {
    // Two isolated sides: both with the average rate of the larger.
    const other = w.position(row.user, c, row.mode === 'dual_long' ? 'dual_short' : 'dual_long')
    const beside = valueUp(c, abs(other.size), price)
    if (beside > value) maintenance = ceilDiv(value * maintenanceMargin(c, beside), beside)
  }
  return {
    value,
    pnl: unrealised(c, row.size, row.cost, price),
    initial: value === 0n ? 0n : initialMargin(c, value, leverageOf(row)),
    maintenance,
  }
}

/** 2.6: a cross position shows what it needs. */
export const shownMargin = (w: World, row: Position): bigint =>
  isCross(row) ? needsOf(w, row).initial : row.margin

/** All positions of a settle account together. */
export interface Unit {
  total: bigint
  isolated: bigint
  /** Of them what is above 0: cash has paid what funding took beyond a margin. */
  pledged: bigint
  pnl: bigint
  initial: bigint
  maintenance: bigint
  isolatedPnl: bigint
  isolatedInitial: bigint
  isolatedMaintenance: bigint
}
export const cashName = (user: number, account: string): string => `${user} ${account}`
export const debtName = (user: number, account: string): string => `${user} debt ${account}`
export const totalOf = (w: World, user: number, account: string): bigint =>
  w.balance(cashName(user, account)) + w.balance(debtName(user, account))

/** `instead`: as if this row were the one of its id, and the cash so much more. */
export function unitOf(
  w: World,
  user: number,
  account: string,
  priceOf: PriceOf = marks(w),
  instead?: Position,
  cash = 0n,
): Unit {
  const beside = besidesContracts(w, user, account, cash)
  const unit: Unit = {
    total: beside?.total ?? totalOf(w, user, account) + cash,
    isolated: 0n,
    pledged: 0n,
    pnl: 0n,
    initial: beside?.initial ?? 0n,
    maintenance: beside?.maintenance ?? 0n,
    isolatedPnl: 0n,
    isolatedInitial: 0n,
    isolatedMaintenance: 0n,
  }
  const rows = w.held(user, account).filter(({ id }) => id !== instead?.id)
  if (instead !== undefined && instead.size !== 0n) rows.push(instead)
  const done = new Set<string>()
  for (const row of rows) {
    const needs = needsOf(w, row, priceOf)
    if (!isCross(row)) {
      unit.isolated += row.margin
      unit.pledged += max(0n, row.margin)
      unit.isolatedPnl += needs.pnl
      unit.isolatedInitial += needs.initial
      unit.isolatedMaintenance += needs.maintenance
      continue
    }
    unit.pnl += needs.pnl
    if (w.shared.get(user)?.portfolio === true) {
      const stress = stressOf(w, w.contract(row.contract), row.size)
      unit.initial += initialOf(stress)
      unit.maintenance += stress
      continue
    }
    const other = rows.find((one) => one.contract === row.contract && one.id !== row.id)
    if (other === undefined) {
      unit.initial += needs.initial
      unit.maintenance += needs.maintenance
    } else if (!done.has(row.contract)) {
      // Dual cross: the larger side, and what closing the smaller one costs.
      done.add(row.contract)
      const against = needsOf(w, other, priceOf)
      const [more, less] = needs.value >= against.value ? [needs, against] : [against, needs]
      const closing = times(less.value, w.contract(row.contract).tf)
      unit.initial += more.initial + closing
      unit.maintenance += more.maintenance + closing
    }
  }
  return unit
}
export const crossCash = ({ total, isolated }: Unit): bigint => total - isolated
export const cashLeft = ({ total, pledged }: Unit): bigint => total - pledged
export const balanceOf = (unit: Unit): bigint => crossCash(unit) + unit.pnl
export const unitIsBroke = (unit: Unit): boolean =>
  unit.maintenance > 0n && balanceOf(unit) <= unit.maintenance

/** What the open orders of a user need in a contract. */
export function orderMargin(w: World, user: number, c: Contract): bigint {
  if (w.shared.get(user)?.portfolio === true) return portfolioOrders(w, user, c)
  const dual = w.isDual(user, c.account)
  const mark = w.priceOf(c.id).mark
  const { taker } = ratesOf(w, user, c)
  const sideNeeds = (buys: boolean): bigint => {
    const row = w.position(user, c, dual ? (buys ? 'dual_long' : 'dual_short') : 'single')
    let reduces = dual ? 0n : closable(row, buys)
    let sum = 0n
    for (const order of openersOf(w, user, c, buys)) {
      const free = min(reduces, order.left)
      reduces -= free
      const n = order.left - free
      if (n === 0n) continue
      const v = valueUp(c, n, order.price)
      const atMark = valueUp(c, n, mark)
      const loss = buys === c.linear ? v - atMark : atMark - v
      sum += initialMargin(c, v, leverageOf(row)) + times(v, taker) + max(0n, loss)
    }
    return sum
  }
  const [buys, sells] = [sideNeeds(true), sideNeeds(false)]
  const apart = dual && !isCross(w.position(user, c, 'dual_long'))
  return apart ? buys + sells : max(buys, sells)
}
/** Orders of a side that may open, best price first, then the oldest. */
export const openersOf = (w: World, user: number, c: Contract, buys: boolean): Order[] =>
  w
    .openOf(user, c.id)
    .filter((order) => order.buy === buys && !order.reduceOnly)
    .sort((a, b) => (a.price === b.price ? a.id - b.id : a.price < b.price === buys ? 1 : -1))
/** How many contracts an order of a side can close. */
export const closable = ({ size }: Position, buys: boolean): bigint => max(0n, buys ? -size : size)

export function ratesOf(
  w: World,
  user: number,
  c: Contract,
): { readonly maker: bigint; readonly taker: bigint } {
  const { maker, taker } = w.users.get(user)!
  return { maker: min(maker, c.makerMax), taker: min(taker, c.tf) }
}
export function orderMargins(w: World, user: number, account: string): { cross: bigint; all: bigint } {
  let [cross, all] = [0n, 0n]
  for (const c of w.contracts.values()) {
    if (c.account !== account) continue
    const margin = orderMargin(w, user, c)
    all += margin
    if (isCross(w.positionsOf(user, c)[0]!)) cross += margin
  }
  return { cross, all }
}
/** What cross orders may use, and what isolated ones and transfers may; below 0 where it is overdrawn. */
export function availableOf(w: World, user: number, account: string): { cross: bigint; own: bigint } {
  const { all, cross: ofCross } = orderMargins(w, user, account)
  if (w.shared.has(user)) {
    const left = sharedAvailable(w, user, account, all)
    // Nothing is lent for the margin of an isolated position: it needs money that is there.
    const there = w.balance(cashName(user, account)) - unitOf(w, user, account).pledged - (all - ofCross)
    return { cross: left, own: min(left, there) }
  }
  const free = (priceOf: PriceOf): bigint => {
    const unit = unitOf(w, user, account, priceOf)
    return balanceOf(unit) - unit.initial - all
  }
  const cross = min(free(marks(w)), free(believed(w)))
  return { cross, own: min(cashLeft(unitOf(w, user, account)), cross) }
}

/** Isolated margin and profit, or the part of a cross account's balance. */
export function equityOf(w: World, row: Position, priceOf: PriceOf = marks(w)): bigint {
  const { pnl, maintenance } = needsOf(w, row, priceOf)
  if (!isCross(row)) return row.margin + pnl
  const c = w.contract(row.contract)
  const unit = unitOf(w, row.user, c.account, priceOf)
  // In a portfolio a position needs what it would lose by a move, not what its tier says.
  const own = w.shared.get(row.user)?.portfolio === true ? stressOf(w, c, row.size) : maintenance
  return unit.maintenance === 0n ? balanceOf(unit) : (own * balanceOf(unit)) / unit.maintenance
}
export function isBroke(w: World, row: Position, priceOf: PriceOf = marks(w)): boolean {
  if (isCross(row)) return unitIsBroke(unitOf(w, row.user, w.contract(row.contract).account, priceOf))
  const { pnl, maintenance } = needsOf(w, row, priceOf)
  return row.size !== 0n && row.margin + pnl <= maintenance
}
/** 2.11, step 4; undefined: none. */
export function bankruptcyOf(w: World, row: Position, priceOf: PriceOf = marks(w)): bigint | undefined {
  if (row.size === 0n) return undefined
  const c = w.contract(row.contract)
  const n = abs(row.size)
  const long = row.size > 0n
  const [v, e] = [valueDown(c, n, priceOf(c.id)), equityOf(w, row, priceOf)]
  const found: Fraction = c.linear
    ? long
      ? { over: (v - e) * E * E, under: n * c.q * (E - c.tf) }
      : { over: (v + e) * E * E, under: n * c.q * (E + c.tf) }
    : long
      ? { over: n * (E + c.tf) * E, under: v + e }
      : { over: n * (E - c.tf) * E, under: v - e }
  if (found.over <= 0n || found.under <= 0n) return undefined
  return long ? ceilTo(up(found), c.tick) : floorTo(down(found), c.tick)
}
/** For whoever chooses his price himself: at the mark and near the index. */
export function worstClose(w: World, row: Position): bigint | undefined {
  const one = bankruptcyOf(w, row)
  const other = bankruptcyOf(w, row, believed(w))
  if (one === undefined || other === undefined) return one ?? other
  return row.size > 0n ? max(one, other) : min(one, other)
}
const NEVER = 99_999_999n * E
/** The estimated liquidation price of 2.11. */
export function liquidationPrice(w: World, row: Position): bigint {
  if (row.size === 0n) return 0n
  const c = w.contract(row.contract)
  const [n, paid, long] = [abs(row.size), abs(row.cost), row.size > 0n]
  const m = restMargin(w, row)
  for (const [i, { rate, deduction: d, limit }] of c.tiers.entries()) {
    const r = rate + c.tf
    const found: Fraction = c.linear
      ? long
        ? { over: (paid - m - d) * E * E, under: n * c.q * (E - r) }
        : { over: (paid + m + d) * E * E, under: n * c.q * (E + r) }
      : long
        ? { over: n * (E + r) * E, under: m + paid + d }
        : { over: n * (E - r) * E, under: paid - m - d }
    if (found.over <= 0n || found.under <= 0n) continue
    const value: Fraction = c.linear
      ? { over: n * c.q * found.over, under: found.under * E }
      : { over: n * E * E * found.under, under: found.over }
    const below = c.tiers[i - 1]?.limit
    const inTier =
      (below === undefined || value.over > below * value.under) &&
      (i === c.tiers.length - 1 || value.over <= limit * value.under)
    if (inTier)
      return long
        ? ceilDiv(found.over, found.under * c.markTick) * c.markTick
        : min(NEVER, floorDiv(found.over, found.under * c.markTick) * c.markTick)
  }
  return long ? 0n : NEVER
}
function restMargin(w: World, row: Position): bigint {
  if (!isCross(row)) return row.margin
  const unit = unitOf(w, row.user, w.contract(row.contract).account)
  const own = needsOf(w, row)
  return balanceOf(unit) - own.pnl - max(0n, unit.maintenance - own.maintenance)
}
export const entryPrice = (c: Contract, size: bigint, cost: bigint): bigint =>
  size === 0n || cost === 0n
    ? 0n
    : c.linear
      ? floorDiv(abs(cost) * E, abs(size) * c.q)
      : floorDiv(abs(size) * E * E, abs(cost))

/** The most that may be held and ordered. */
export function limitOf(c: Contract, row: Position): bigint {
  const leverage = leverageOf(row)
  const limit = c.tiers.filter((tier) => tier.leverage >= leverage).at(-1)?.limit ?? c.tiers[0]!.limit
  return row.riskLimit > 0n ? min(row.riskLimit, limit) : limit
}
/** Of what is held and ordered, on the larger side. */
export function committed(w: World, c: Contract, row: Position): bigint {
  const of = (buys: boolean): bigint => {
    if (row.mode !== 'single' && buys !== (row.mode === 'dual_long')) return 0n
    let value =
      row.size !== 0n && row.size > 0n === buys ? valueUp(c, abs(row.size), w.priceOf(c.id).mark) : 0n
    for (const order of openersOf(w, row.user, c, buys)) value += valueUp(c, order.left, order.price)
    return value
  }
  return max(of(true), of(false))
}

/** 2.13: the score, as a fraction. */
export function scoreOf(w: World, row: Position): Fraction {
  const c = w.contract(row.contract)
  const { pnl, maintenance } = needsOf(w, row)
  const unit = isCross(row) ? unitOf(w, row.user, c.account) : undefined
  const need = unit?.maintenance ?? maintenance
  const equity = unit === undefined ? row.margin + pnl : balanceOf(unit)
  const paid = abs(row.cost)
  if (equity <= 0n || need === 0n) return { over: pnl, under: paid }
  return pnl > 0n ? { over: pnl * need, under: paid * equity } : { over: pnl * equity, under: paid * need }
}
/** Who goes first on a side. */
export function queueOf(w: World, c: Contract, long: boolean): Position[] {
  const rows = [...w.positions.values()].filter(
    (row) =>
      row.user !== 0 &&
      row.contract === c.id &&
      row.size !== 0n &&
      row.size > 0n === long &&
      !inLiquidation(w, row),
  )
  const scored = rows.map((row) => ({ row, score: scoreOf(w, row) }))
  scored.sort((a, b) => {
    const by = b.score.over * a.score.under - a.score.over * b.score.under
    return by === 0n ? a.row.user - b.row.user : by > 0n ? 1 : -1
  })
  return scored.map(({ row }) => row)
}
export function inLiquidation(w: World, row: Position): boolean {
  if (!isCross(row)) return row.liquidating !== 0
  const shared = w.shared.get(row.user)
  if (shared !== undefined) return shared.isLocked()
  return (w.account(row.user, w.contract(row.contract).account)?.liquidating ?? 0) !== 0
}
