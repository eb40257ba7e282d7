import type { Amount, Price } from '../../money/amount.ts'
import { entryPrice } from '../contracts/position.ts'
import { abs } from '../contracts/terms.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { AUTO_DELEVERAGE } from '../tables/futures/records.ts'
import { amountOfContracts, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { allowedLeverage, equityOf, toldLeverage } from './figures.ts'
import { followBook } from './follow.ts'
import { internalTrade } from './insurance.ts'
import { recordOrder } from './platform-orders.ts'
import { holdingOf, positionOf } from './positions.ts'
import { queueOf } from './ranking.ts'
import { bankruptcyOf } from './rules.ts'
import { takeOff } from './venue.ts'

/** Counterparties that one step deleverages; the rest of a position waits for the next. */
const AT_ONCE = 20

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
  for (const { id } of queueOf(state, contract, !long, position.user_id)) {
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
