import type { Amount, Price } from '../../money/amount.ts'
import { deleverageScore } from '../contracts/liquidation.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { Ctx, State } from '../state.ts'
import { OrderRow } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { AUTO_DELEVERAGE } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { equityOf, isCross, needsOf, standingOf } from './figures.ts'
import { internalTrade } from './insurance.ts'
import { isSharedFor } from './money.ts'
import { holdingOf, positionOf } from './positions.ts'
import { bankruptcyOf } from './rules.ts'
import { takeOff } from './venue.ts'

/** Counterparties that one step deleverages; the rest of a position waits for the next. */
const AT_ONCE = 50

/** Who goes first on a side: by score, then by the lowest user id. */
export function deleverageQueue(state: State, contract: Contract, long: boolean): Position[] {
  const scored: { row: Position; score: bigint }[] = []
  for (const row of state.futures.positions.heldIn(contract.id))
    if (row.user_id !== PLATFORM && row.size > 0n === long && !inLiquidation(state, row, contract))
      scored.push({ row, score: scoreOf(state, contract, row) })
  scored.sort((a, b) => (a.score === b.score ? a.row.user_id - b.row.user_id : a.score > b.score ? -1 : 1))
  return scored.map(({ row }) => row)
}
function scoreOf(state: State, contract: Contract, row: Position): bigint {
  const { pnl, maintenance } = needsOf(state, row)
  if (!isCross(row)) return deleverageScore(pnl, holdingOf(row), maintenance, (row.margin + pnl) as Amount)
  const standing = standingOf(state, row.user_id, contract)
  return deleverageScore(pnl, holdingOf(row), standing.maintenance, standing.balance)
}
function inLiquidation(state: State, row: Position, contract: Contract): boolean {
  if (!isCross(row)) return row.liquidating !== 0
  if (isSharedFor(state, row.user_id, contract)) return state.margin.isLocked(row.user_id, UNIFIED.scope)
  return (state.futures.accounts.get(row.user_id, contract.account)?.liquidating ?? 0) !== 0
}

/** Its fifth of the queue of its side: 1 goes first, 5 last; 6: not in it. */
export function adlRanking(state: State, contract: Contract, position: Position): number {
  if (position.size === 0n || inLiquidation(state, position, contract)) return 6
  const queue = deleverageQueue(state, contract, position.size > 0n)
  const place = queue.findIndex(({ id }) => id === position.id)
  return place === -1 ? 6 : Math.floor((place * 5) / queue.length) + 1
}

/**
 * Those who have earned most by what a position lost close theirs against it, at the price at which it is bankrupt. Nobody
 * is taken beyond his own. Answers how many contracts were.
 */
export function deleverage(
  ctx: Ctx,
  contract: Contract,
  position: Position,
  contracts: bigint,
  price: Price,
  text: string,
): bigint {
  const { state } = ctx
  const long = position.size > 0n
  let left = contracts
  let parties = 0
  for (const one of deleverageQueue(state, contract, !long)) {
    if (left === 0n || parties === AT_ONCE) break
    if (one.id === position.id || !bears(state, contract, one, price)) continue
    parties++
    const held = abs(contractsIn(one.size))
    const count = held < left ? held : left
    for (const order of state.futures.openOrders(one.user_id, contract.id))
      takeOff(ctx, order, 'auto_deleveraged')
    const order = recordOrder(ctx, contract, one, count, price)
    internalTrade(ctx, contract, {
      from: { user_id: position.user_id, mode: position.mode },
      to: { user_id: one.user_id, mode: one.mode, order_id: order.id, text: order.text },
      contracts: long ? count : -count,
      price,
      text,
    })
    note(ctx, contract, one, order, count, price)
    left -= count
  }
  return contracts - left
}
/** Whether anybody on a side could still be taken at a price. */
export const deleverageGoesOn = (state: State, contract: Contract, long: boolean, price: Price): boolean =>
  deleverageQueue(state, contract, long).some((row) => bears(state, contract, row, price))
/** At this price it must leave its unit with something. */
function bears(state: State, contract: Contract, row: Position, price: Price): boolean {
  if (equityOf(state, row) < 0n) return false
  const worst = bankruptcyOf(state, contract, row)
  return worst === undefined || (row.size > 0n ? price >= worst : price <= worst)
}
function recordOrder(ctx: Ctx, contract: Contract, row: Position, contracts: bigint, price: Price): OrderRow {
  const amount = amountOfContracts(contracts)
  const order = OrderRow.of({
    id: nextId(ctx.tx, ctx.state.counters, 'contract_order'),
    user_id: row.user_id,
    pair: contract.id,
    side: row.size > 0n ? 'sell' : 'buy',
    type: 'limit',
    account: contract.group,
    time_in_force: 'ioc',
    text: 'auto_deleveraging',
    amend_text: '-',
    price,
    amount,
    left: 0n as Amount,
    filled: amount,
    filled_total: (contracts * price) as Amount,
    held: 0n as Amount,
    fee: 0n as Amount,
    gt_fee: 0n as Amount,
    point_fee: 0n as Amount,
    iceberg: 0n as Amount,
    shown: 0n as Amount,
    refreshed: false,
    rank: 0,
    stp_id: 0,
    stp_act: '-',
    status: 'closed',
    finish_as: 'filled',
    create_at: ctx.at,
    update_at: ctx.at,
    more: { reduce_only: true },
  })
  ctx.tx.put(ctx.state.futures.orders, order)
  return order
}
function note(
  ctx: Ctx,
  contract: Contract,
  before: Position,
  order: OrderRow,
  contracts: bigint,
  fill_price: Price,
): void {
  const { tx, state, at } = ctx
  const { user_id, leverage, cross_limit, mode } = before
  const after = positionOf(state, user_id, contract, mode)
  tx.append(AUTO_DELEVERAGE, {
    id: nextId(tx, state.counters, 'auto_deleverage'),
    user_id,
    contract: contract.id,
    account: contract.account,
    order_id: order.id,
    leverage,
    cross_limit,
    entry_price: entryPrice(contract.terms, holdingOf(before)),
    fill_price,
    trade_size: (before.size > 0n ? -amountOfContracts(contracts) : amountOfContracts(contracts)) as Amount,
    position_size: after.size,
    at,
  })
}
