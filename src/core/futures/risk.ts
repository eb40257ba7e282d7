import { ZERO, format, type Amount, type Price } from '../../money/amount.ts'
import { NEVER_SHORT, liquidationPrice } from '../contracts/liquidation.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import { note } from '../liquidated.ts'
import type { Ctx, State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import type { Arm, Unit as RiskUnit } from '../tables/futures/watch.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import {
  equityOf,
  isBroke,
  isCross,
  isCrossBroke,
  marginBalance,
  needsOf,
  unitOf,
  type Unit,
} from './figures.ts'
import { changeAccount, isSharedFor, settledOf } from './money.ts'
import { putPosition } from './positions.ts'

/** Liquidations that one command begins; the others begin in the commands that follow at once. */
const BEGIN_MAX = 50

/**
 * Mark prices have moved. All of them are reached before anybody is looked at: who holds several contracts would else be
 * found sooner or later by when his prices to watch were set, and a start sets them anew.
 */
export function lookAtMarks(ctx: Ctx, contracts: readonly Contract[]): void {
  const { futures } = ctx.state
  for (const { id } of contracts) futures.watch.reach(id, futures.markOf(id))
  look(ctx)
}
/** Due: the rest of a long row of liquidations. */
export function lookAgain(ctx: Ctx): null {
  look(ctx)
  return null
}

/**
 * Looks at the units that need it, in the order of their names: those at or below their maintenance margin are liquidated.
 * As soon as there are more of them than one command begins, the others are left for the next look. Who is found does not
 * depend on who else was to be looked at: a start, which looks at more, finds the same. So what all currencies of a unified
 * account carry together is not looked at here: prices that are followed elsewhere (`liquidation/watch.ts`) decide there.
 */
export function look(ctx: Ctx): void {
  const { state } = ctx
  const { watch } = state.futures
  const units = watch.take()
  if (units.length === 0) return
  const broke: RiskUnit[] = []
  for (const unit of units.length > 1 ? units.sort(byName) : units) {
    if (broke.length > BEGIN_MAX) {
      watch.again(unit)
      continue
    }
    const { owner } = unit
    const found =
      owner === undefined ? lookAtIsolated(state, unit.name) : lookAtCross(state, owner.userId, owner.account)
    if (found === 'broke') broke.push(unit)
    else watch.arm(unit, found)
  }
  const beyond = broke.length > BEGIN_MAX ? broke.pop() : undefined
  for (const unit of broke) begin(ctx, unit)
  if (beyond === undefined) return
  watch.again(beyond)
  schedule(ctx, ctx.at, 'futures.look', {})
}
const byName = (one: RiskUnit, other: RiskUnit): number => (one.name < other.name ? -1 : 1)

/** Nothing to watch while it is being liquidated: each step looks by itself. */
function lookAtIsolated(state: State, unit: string): 'broke' | Arm[] {
  const row = state.futures.positions.table.get(unit)
  if (row === undefined || row.size === 0n || isCross(row) || row.liquidating !== 0) return []
  if (isBroke(state, row)) return 'broke'
  // Of two sides the larger one has a say in what both need: each move of the mark is a reason to look.
  if (row.mode !== 'single') return always(state, row)
  return armOf(state, row, row.margin)
}
function lookAtCross(state: State, userId: number, account: string): 'broke' | Arm[] {
  const row = state.futures.accounts.get(userId, account)
  if (row !== undefined && row.liquidating !== 0) return []
  if (!state.futures.positions.holds(userId, account)) return []
  const crossed = [...state.futures.positions.heldBy(userId, account)].filter(isCross)
  if (crossed.length === 0) return []
  const settled = state.world.mustContract(crossed[0]!.contract)
  if (isSharedFor(state, userId, settled)) return []
  const found = unitOf(state, userId, settled)
  if (isCrossBroke(found)) return 'broke'
  return crossed.flatMap((position) =>
    armOf(state, position, shareOf(state, position, found, crossed.length)),
  )
}
const around = (contract: string, mark: Price, far: bigint): Arm[] => [
  { contract, price: (mark - far) as Price, above: false },
  { contract, price: (mark + far) as Price, above: true },
]
/** As if each of the positions alone could use up an equal part of what the account has above its maintenance. */
function shareOf(state: State, position: Position, unit: Unit, count: number): Amount {
  const { pnl, maintenance } = needsOf(state, position)
  const spare = (marginBalance(unit) - unit.maintenance) / BigInt(count)
  return (spare - pnl + maintenance) as Amount
}
function armOf(state: State, position: Position, margin: Amount): Arm[] {
  const { terms } = state.world.mustContract(position.contract)
  const holding = { size: contractsIn(position.size), cost: position.cost }
  const price = liquidationPrice(terms, holding, margin)
  const above = position.size < 0n
  if (above ? price >= NEVER_SHORT : price === 0n) return []
  return [{ contract: position.contract, price, above }]
}
const always = (state: State, { contract }: Position): Arm[] =>
  around(contract, state.futures.markOf(contract), state.world.mustContract(contract).terms.markTick)

/** From here on its owner can't touch it, and one bounded step follows the other. */
function begin(ctx: Ctx, unit: RiskUnit): void {
  const { state, tx } = ctx
  const position = state.futures.positions.table.get(unit.name)
  if (position !== undefined) {
    const id = nextId(tx, state.counters, 'contract_liquidation')
    putPosition(ctx, { ...position, liquidating: id })
    const { user_id, contract, mode } = position
    const figures = {
      equity: format(equityOf(state, position)),
      maintenance_margin: format(needsOf(state, position).maintenance),
    }
    note(ctx, { id, user_id, scope: contract }, 'locked', '', ZERO, { mode, ...figures })
    schedule(ctx, ctx.at, 'futures.liquidate', { user_id, contract, mode, id })
    return
  }
  const { userId, account } = unit.owner!
  const id = nextId(tx, state.counters, 'contract_liquidation')
  const found = unitOf(state, userId, settledOf(account))
  changeAccount(ctx, userId, account, { liquidating: id })
  note(ctx, { id, user_id: userId, scope: account }, 'locked', '', ZERO, {
    margin_balance: format(marginBalance(found)),
    maintenance_margin: format(found.maintenance),
  })
  schedule(ctx, ctx.at, 'futures.liquidate', { user_id: userId, contract: account, mode: 'cross', id })
}
