import type { Amount, Price } from '../../money/amount.ts'
import { deleverageScore, type Score } from '../contracts/liquidation.ts'
import { entryPrice, unrealised } from '../contracts/position.ts'
import { maintenanceMargin } from '../contracts/margin.ts'
import { abs, valueUp } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { countBefore } from '../sorted.ts'
import type { Ctx, State } from '../state.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { Ranking, goesFirst, type Scored } from '../tables/futures/rankings.ts'
import { AUTO_DELEVERAGE } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { allowedLeverage, equityOf, isCross, needsOf, standingOf, toldLeverage } from './figures.ts'
import { followBook } from './follow.ts'
import { internalTrade } from './insurance.ts'
import { isSharedFor, isUnifiedFor } from './money.ts'
import { recordOrder } from './platform-orders.ts'
import { holdingOf, positionOf } from './positions.ts'
import { bankruptcyOf } from './rules.ts'
import { takeOff } from './venue.ts'

/** Counterparties that one step deleverages; the rest of a position waits for the next. */
const AT_ONCE = 20

/** Who goes first on a side: by score, then by the lowest user id. */
export function deleverageQueue(state: State, contract: Contract, long: boolean): Position[] {
  const { sorted } = rankingOf(state, contract, long)
  return sorted.items.map(({ id }) => state.futures.positions.table.get(id)!)
}
function rankingOf(state: State, contract: Contract, long: boolean): Ranking {
  const { rankings } = state.futures
  const known = rankings.get(contract, long)
  if (known === undefined) return newRanking(state, contract, long)
  for (const userId of known.others) known.changed.add(userId)
  for (const userId of known.changed) rank(state, contract, long, known, userId)
  known.changed.clear()
  return known
}
function newRanking(state: State, contract: Contract, long: boolean): Ranking {
  const { positions, rankings } = state.futures
  const ranking = new Ranking()
  const all: Scored[] = []
  for (const row of positions.heldIn(contract.id)) {
    if (row.size > 0n !== long || row.user_id === PLATFORM) continue
    const scored = scoredOf(state, contract, row)
    if (scored !== undefined) all.push(scored)
    if (isUnifiedFor(state, row.user_id, contract)) ranking.others.add(row.user_id)
  }
  ranking.fill(all)
  rankings.keep(contract, long, ranking)
  return ranking
}
/** Puts a user in his place, or out of the queue. */
function rank(state: State, contract: Contract, long: boolean, ranking: Ranking, userId: number): void {
  const { positions } = state.futures
  const single = positions.get(userId, contract.id, 'single')
  const row =
    single === undefined || single.size === 0n
      ? positions.get(userId, contract.id, long ? 'dual_long' : 'dual_short')
      : single
  const held = row !== undefined && row.size !== 0n && row.size > 0n === long && userId !== PLATFORM
  ranking.set(userId, held ? scoredOf(state, contract, row) : undefined)
  if (held && isUnifiedFor(state, userId, contract)) ranking.others.add(userId)
  else ranking.others.delete(userId)
}
/** Undefined: it is being liquidated, and out. */
function scoredOf(state: State, contract: Contract, row: Position): Scored | undefined {
  if (inLiquidation(state, row, contract)) return undefined
  return { id: row.id, user_id: row.user_id, score: scoreOf(state, contract, row) }
}
function scoreOf(state: State, contract: Contract, row: Position): Score {
  const held = holdingOf(row)
  const mark = state.futures.markOf(contract.id)
  const pnl = unrealised(contract.terms, held, mark)
  if (!isCross(row)) {
    const equity = (row.margin + pnl) as Amount
    // Thousands of them are looked at when a mark has moved: no more is counted than what is needed.
    if (row.mode !== 'single') return deleverageScore(pnl, held, needsOf(state, row).maintenance, equity)
    const value = valueUp(contract.terms, abs(held.size), mark)
    return deleverageScore(pnl, held, maintenanceMargin(contract.terms, value), equity)
  }
  const standing = standingOf(state, row.user_id, contract)
  return deleverageScore(pnl, held, standing.maintenance, standing.balance)
}
function inLiquidation(state: State, row: Position, contract: Contract): boolean {
  if (!isCross(row)) return row.liquidating !== 0
  if (isSharedFor(state, row.user_id, contract)) return state.margin.isLocked(row.user_id, UNIFIED.scope)
  return (state.futures.accounts.get(row.user_id, contract.account)?.liquidating ?? 0) !== 0
}

/** Its fifth of the queue of its side: 1 goes first, 5 last; 6: not in it. */
export function adlRanking(
  state: State,
  contract: Contract,
  position: Position,
  queueOf: (long: boolean) => readonly Scored[] = (long) => scoredQueue(state, contract, long),
): number {
  if (position.size === 0n) return 6
  const own = scoredOf(state, contract, position)
  if (own === undefined) return 6
  const { first, others } = placeAmong(queueOf(position.size > 0n), own)
  return Math.floor((first * 5) / (others + 1)) + 1
}
/** All of a side as they stand now. */
export const scoredQueue = (state: State, contract: Contract, long: boolean): readonly Scored[] =>
  rankingOf(state, contract, long).sorted.items
/** How many others go first, and how many there are: where it stood itself makes no difference. */
function placeAmong(
  queue: readonly Scored[],
  own: Scored,
): { readonly first: number; readonly others: number } {
  const first = countBefore(queue, (one) => goesFirst(one, own))
  const before = queue.findIndex(({ user_id }) => user_id === own.user_id)
  if (before === -1) return { first, others: queue.length }
  return { first: before < first ? first - 1 : first, others: queue.length - 1 }
}

/**
 * Those who have earned most by what a position lost close theirs against it, at the price at which it is bankrupt. Nobody
 * is taken beyond his own. Answers how many contracts were, and whether the next step may find more who can.
 */
export function deleverage(
  ctx: Ctx,
  contract: Contract,
  position: Position,
  contracts: bigint,
  price: Price,
  { text, order_id }: { readonly text: string; readonly order_id?: number },
): { readonly taken: bigint; readonly goesOn: boolean } {
  const { state } = ctx
  const long = position.size > 0n
  let left = contracts
  let parties = 0
  let cancelled = false
  for (const { id } of rankingOf(state, contract, !long).sorted.items) {
    if (left === 0n || parties === AT_ONCE) break
    const one = state.futures.positions.table.get(id)!
    if (one.id === position.id || !bears(state, contract, one, price)) continue
    parties++
    const held = abs(contractsIn(one.size))
    const count = held < left ? held : left
    for (const order of state.futures.openOrders(one.user_id, contract.id)) {
      takeOff(ctx, order, 'auto_deleveraged')
      cancelled = true
    }
    const order = recordOrder(ctx, contract, one, count, price, 'auto_deleveraging')
    internalTrade(ctx, contract, {
      from: {
        user_id: position.user_id,
        mode: position.mode,
        ...(order_id !== undefined && { order_id }),
      },
      to: { user_id: one.user_id, mode: one.mode, order_id: order.id, text: order.text },
      contracts: long ? count : -count,
      price,
      text,
    })
    note(ctx, contract, one, order, count, price)
    left -= count
  }
  if (cancelled) followBook(ctx, contract)
  return { taken: contracts - left, goesOn: left > 0n && parties === AT_ONCE }
}
/** At this price it must leave its unit with something. */
function bears(state: State, contract: Contract, row: Position, price: Price): boolean {
  if (equityOf(state, row) < 0n) return false
  const worst = bankruptcyOf(state, contract, row)
  return worst === undefined || (row.size > 0n ? price >= worst : price <= worst)
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
  const { user_id, cross_limit, mode } = before
  const after = positionOf(state, user_id, contract, mode)
  tx.append(AUTO_DELEVERAGE, {
    id: nextId(tx, state.counters, 'auto_deleverage'),
    user_id,
    contract: contract.id,
    account: contract.account,
    order_id: order.id,
    leverage: toldLeverage(before, contract),
    cross_limit: allowedLeverage(cross_limit, contract),
    entry_price: entryPrice(contract.terms, holdingOf(before)),
    fill_price,
    trade_size: (before.size > 0n ? -amountOfContracts(contracts) : amountOfContracts(contracts)) as Amount,
    position_size: after.size,
    at,
  })
}
