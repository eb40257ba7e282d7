import { ZERO, type Amount, type Price } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import { OrderRow, type Placed } from '../tables/exchange/order.ts'
import type { Position } from '../tables/futures/positions.ts'
import { amountOfContracts, type Contract } from '../tables/world/contracts.ts'
import { CONTRACTS } from './venue.ts'

/** What all orders that close a position without its owner have in common. */
const closing = ({ tx, state }: Ctx, contract: Contract, { user_id, size }: Position, text: string) =>
  ({
    id: nextId(tx, state.counters, CONTRACTS.counter),
    user_id,
    pair: contract.id,
    side: size > 0n ? 'sell' : 'buy',
    type: 'limit',
    account: contract.group,
    time_in_force: 'ioc',
    text,
    amend_text: '-',
  }) as const
/** An order of the platform's on behalf of a position, as a row that can be matched. */
export function platformOrder(
  ctx: Ctx,
  contract: Contract,
  position: Position,
  contracts: bigint,
  price: Price,
  text: string,
): OrderRow {
  const placed: Placed = {
    ...closing(ctx, contract, position, text),
    price,
    amount: amountOfContracts(contracts),
    iceberg: ZERO,
    // Nobody escapes his liquidation behind an order of his own group.
    stp_id: 0,
    stp_act: '-',
    create_at: ctx.at,
    more: { reduce_only: true, is_liq: true },
    row: undefined,
    rank: 0,
    level: undefined,
    previous: undefined,
    next: undefined,
    openIndex: 0,
    openList: undefined,
  }
  return OrderRow.first(placed, ZERO)
}
/** An order that never saw the book is filled as a whole. */
export function finish(ctx: Ctx, order: OrderRow, contracts: bigint, price: Price): void {
  const amount = amountOfContracts(contracts)
  order.left = (order.left - amount) as Amount
  order.filled = (order.filled + amount) as Amount
  order.filled_total = (order.filled_total + contracts * price) as Amount
  order.status = order.left === 0n ? 'closed' : 'cancelled'
  order.finish_as = order.left === 0n ? 'filled' : 'ioc'
  order.update_at = ctx.at
  ctx.tx.put(ctx.state.futures.orders, order)
}
/** An order that tells what was closed of a position past the book: there as a record alone. */
export function recordOrder(
  ctx: Ctx,
  contract: Contract,
  row: Position,
  contracts: bigint,
  price: Price,
  text: string,
): OrderRow {
  const amount = amountOfContracts(contracts)
  const order = OrderRow.of({
    ...closing(ctx, contract, row, text),
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
/** No worse for whoever it is placed for. */
export const ontoTick = ({ tick }: Contract, price: Price, side: 'buy' | 'sell'): Price =>
  (side === 'sell' ? price + ((tick - (price % tick)) % tick) : price - (price % tick)) as Price
