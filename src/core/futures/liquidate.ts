import { ZERO } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { note, type Liquidated } from '../liquidated.ts'
import { cancelOpen } from '../spot/cancel.ts'
import { cancelPovOrder } from '../spot/pov.ts'
import type { Ctx, State } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { crossCash, isBroke, isCrossBroke, unitOf } from './figures.ts'
import { followBooks } from './follow.ts'
import { changeAccount, insuranceOf, isUnifiedFor, settledOf, type Settled } from './money.ts'
import { positionOf, putPosition } from './positions.ts'
import { closePosition, crossRows, payLoss, reduceWorst } from './reduce.ts'
import { look } from './risk.ts'
import { takeOff } from './venue.ts'
import { cancelWaiting, waitingOf } from './waiting.ts'

/** Orders that one step ends. */
const PORTION = 100

export interface LiquidateInput {
  readonly user_id: number
  /** The contract of an isolated position, or the account (group/settle) of cross ones. */
  readonly contract: string
  readonly mode: string
  readonly id: number
}
/** Due: one bounded step of the liquidation of a unit. */
export function liquidate(ctx: Ctx, input: LiquidateInput): null {
  return input.mode === 'cross' ? stepCross(ctx, input) : stepIsolated(ctx, input)
}
const liquidatedBy = ({ id, user_id, contract }: LiquidateInput): Liquidated => ({
  id,
  user_id,
  scope: contract,
})
const again = (ctx: Ctx, { user_id, contract, mode, id }: LiquidateInput): null => {
  schedule(ctx, ctx.at, 'futures.liquidate', { user_id, contract, mode, id })
  return null
}

function stepIsolated(ctx: Ctx, input: LiquidateInput): null {
  const { state } = ctx
  const contract = state.world.mustContract(input.contract)
  const row = state.futures.positions.get(input.user_id, contract.id, input.mode as Position['mode'])
  if (row?.liquidating !== input.id) return null
  const liquidated = liquidatedBy(input)
  if (cancelSome(ctx, liquidated, [contract.id])) return again(ctx, input)
  if (cancelWaitingOf(ctx, liquidated, contract.account, contract.id)) return again(ctx, input)
  if (row.size === 0n || !isBroke(state, row)) return endIsolated(ctx, row, liquidated)
  closePosition(ctx, contract, row, { ...liquidated, text: `liq-${input.id}` })
  const after = positionOf(state, input.user_id, contract, row.mode)
  if (after.size === 0n || !isBroke(state, after)) return endIsolated(ctx, after, liquidated)
  return again(ctx, input)
}
function endIsolated(ctx: Ctx, row: Position, liquidated: Liquidated): null {
  putPosition(ctx, { ...row, liquidating: 0 })
  note(ctx, liquidated, 'unlocked', '', ZERO, { mode: row.mode })
  look(ctx)
  return null
}

function stepCross(ctx: Ctx, input: LiquidateInput): null {
  const { state } = ctx
  const settled = settledOf(input.contract)
  if (state.futures.accounts.get(input.user_id, settled.account)?.liquidating !== input.id) return null
  const unified = isUnifiedFor(state, input.user_id, settled)
  const liquidated = liquidatedBy(input)
  if (cancelContracts(ctx, liquidated, settled)) return again(ctx, input)
  if (unified && cancelBuys(ctx, liquidated, settled)) return again(ctx, input)
  const rows = crossRows(state, input.user_id, settled.account)
  if (rows.length === 0 || !isCrossBroke(unitOf(state, input.user_id, settled)))
    return endCross(ctx, input, settled)
  reduceWorst(ctx, { ...liquidated, text: unified ? 'scm_liquidate' : `liq-${input.id}` }, settled)
  return again(ctx, input)
}
/** A portion of all contract orders of an account, and of those that wait; true while there may be more. */
export const cancelContracts = (ctx: Ctx, liquidated: Liquidated, { account }: Settled): boolean =>
  cancelSome(
    ctx,
    liquidated,
    ctx.state.futures.openPairs(liquidated.user_id).filter((id) => id.startsWith(`${account}/`)),
  ) || cancelWaitingOf(ctx, liquidated, account)
/** Spot orders that hold the money which positions stand on; true while there may be more. */
function cancelBuys(ctx: Ctx, liquidated: Liquidated, { currency }: Settled): boolean {
  const { user_id } = liquidated
  const { spot, world } = ctx.state
  const paid = ({ side, pair }: { readonly side: string; readonly pair: string }): boolean =>
    (side === 'buy' ? world.market(pair).quote : world.market(pair).base) === currency
  for (const { id } of spot.povOrders.openOf(user_id).filter(paid)) cancelPovOrder(ctx, { user_id, id })
  const held = spot.openOrders(user_id).filter((order) => order.account !== 'margin' && paid(order))
  for (const order of cancelOpen(ctx, held.slice(0, PORTION), 'liquidate_cancelled'))
    note(ctx, liquidated, 'order_cancelled', '', ZERO, { order_id: order.id, currency_pair: order.pair })
  return held.length > PORTION
}
/** What is left unpaid when nothing is left to close: the fund pays, then the operator. */
function endCross(ctx: Ctx, input: LiquidateInput, settled: Settled): null {
  const { state } = ctx
  const { user_id } = input
  const missing = -crossCash(unitOf(state, user_id, settled))
  if (missing > 0n && crossRows(state, user_id, settled.account).length === 0) {
    const has = state.ledger.balance(PLATFORM, insuranceOf(settled.settle).name, settled.currency)
    const byFund = has < missing ? has : missing
    payLoss(ctx, anyContract(state, settled), liquidatedBy(input), { byFund, byEquity: missing - byFund })
  }
  changeAccount(ctx, user_id, settled.account, { liquidating: 0 })
  note(ctx, liquidatedBy(input), 'unlocked', '', ZERO)
  look(ctx)
  return null
}
const anyContract = (state: State, { account }: Settled): Contract =>
  state.world.allContracts.find((contract) => contract.account === account)!

/** A portion of the unit's orders; true while there may be more. */
function cancelSome(ctx: Ctx, liquidated: Liquidated, contracts: readonly string[]): boolean {
  const orders = contracts.flatMap((id) => ctx.state.futures.openOrders(liquidated.user_id, id))
  const ended = orders.slice(0, PORTION)
  for (const order of ended) {
    takeOff(ctx, order, 'liquidated')
    note(ctx, liquidated, 'order_cancelled', '', ZERO, { order_id: order.id, contract: order.pair })
  }
  followBooks(
    ctx,
    ended.map(({ pair }) => pair),
  )
  return orders.length > PORTION
}
/** The same of what waits for a price: in a contract, or all of a cross account. */
function cancelWaitingOf(ctx: Ctx, liquidated: Liquidated, account: string, contract?: string): boolean {
  const waiting = waitingOf(ctx.state, liquidated.user_id, account).filter(
    ({ order }) => contract === undefined || order.contract === contract,
  )
  const ended = waiting.slice(0, PORTION)
  cancelWaiting(ctx, ended, 'liquidated')
  for (const { kind, order } of ended)
    note(ctx, liquidated, 'order_cancelled', '', ZERO, {
      [`${kind}_order_id`]: order.id,
      contract: order.contract,
    })
  return waiting.length > PORTION
}
