import { refuse } from '../../labels.ts'
import { min, type Amount } from '../../money/amount.ts'
import { abs } from '../contracts/terms.ts'
import { bookChanged, nextRank } from '../exchange/engine.ts'
import type { Ctx } from '../state.ts'
import type { Order, OrderRow } from '../tables/exchange/order.ts'
import { amountOfContracts, contractsIn } from '../tables/world/contracts.ts'
import { reducesOnly } from './figures.ts'
import { followBook } from './follow.ts'
import type { AccountPath, Amendment } from './inputs.ts'
import { guard, matchTaker, refuseAtOnce, spareOf, takerOf } from './place.ts'
import { positionOf } from './positions.ts'
import {
  checkBankruptcy,
  checkDeviation,
  checkOpening,
  checkLeast,
  checkRiskLimit,
  checkSize,
  checkTick,
  checkTrading,
  openOrderOf,
  openingBeside,
  openingPart,
  readPrice,
  readSize,
  refuseLiquidating,
  refuseLocked,
} from './rules.ts'
import { CONTRACTS, closable, modeOf, takeOff, trimReducing } from './venue.ts'

/**
 * A lower size alone keeps the place in the queue; a higher size or another price goes to its end, and may match on the
 * way. The size is the new total, what is filled included; at or below that the order is cancelled.
 */
export function amendOrder(ctx: Ctx, path: AccountPath, change: Amendment): Order {
  const { state } = ctx
  const order = openOrderOf(state, path, change.id)
  const contract = state.world.mustContract(order.pair)
  if (change.size === null && change.price === null)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: size or price (at least one of them)')
  const price = change.price === null ? order.price : readPrice(contract, change.price)
  if (price === 0n) refuse('INVALID_PARAM_VALUE', 'price: a resting order has a price above 0')
  const sign = order.side === 'buy' ? 1n : -1n
  const given = change.size === null ? sign * contractsIn(order.amount) : readSize(change.size)
  if (given !== 0n && given > 0n !== sign > 0n)
    refuse('INVALID_PARAM_VALUE', `size: the sign of an order can not change; it is a ${order.side} order`)
  const amount = amountOfContracts(abs(given))
  if (order.more?.close === true && amount !== order.amount)
    refuse('INVALID_PARAM_VALUE', 'size: an order that closes the position has the size of the position')
  if (amount === order.amount && price === order.price)
    refuse('NO_CHANGE', `order ${order.id} has this size and price already`)
  const named = order.amended({ amend_text: change.amend_text ?? '-' })
  named.update_at = ctx.at
  if (amount <= order.filled) {
    checkTick(contract, price)
    const ended = takeOff(ctx, named, 'cancelled')
    followBook(ctx, contract)
    return ended
  }
  if (price === order.price && amount < order.amount) {
    checkLeast(contract, given)
    return shrink(ctx, named, amount)
  }
  // As placing, in the order of 1.8 of the specification.
  checkTrading(ctx, contract)
  const position = positionOf(state, order.user_id, contract, modeOf(state, order, contract.account))
  const left = contractsIn((amount - order.filled) as Amount)
  const opening = openingPart(position, order.side, left, reducesOnly(order))
  const beside = reducesOnly(order) ? 0n : openingBeside(state, contract, position, order.side, left, order)
  if (beside > 0n) checkOpening(ctx, contract)
  refuseLocked(state, order.user_id, contract)
  checkTick(contract, price)
  refuseLiquidating(state, order.user_id, contract)
  checkSize(contract, abs(given), false)
  if (price !== order.price) checkDeviation(state, contract, price)
  if (reducesOnly(order) && left > closable(position, order.side))
    refuse('REDUCE_EXCEEDED', `size: it is more than the position that the order may reduce`)
  if (left > opening) checkBankruptcy(state, contract, position, order.side, price)
  const off = named.amended({ amount, price, iceberg: min(order.iceberg, amount) })
  off.left = (amount - order.filled) as Amount
  off.rank = 0
  const taker = takerOf(contract, off.copy(), price)
  refuseAtOnce(ctx, taker)
  if (beside > 0n)
    checkRiskLimit(state, contract, position, order.side, {
      contracts: left,
      price,
      first: false,
      replaces: order,
    })
  const before = spareOf(state, order.user_id, contract)
  ctx.tx.put(state.futures.orders, off)
  const amended = matchTaker(ctx, taker, nextRank(ctx, CONTRACTS), (end) =>
    end === 'filled' || end === 'stp' ? end : 'open',
  )
  guard(ctx, contract, amended, taker, { opening, beside }, before)
  return amended
}

function shrink(ctx: Ctx, order: OrderRow, amount: Amount): Order {
  const contract = ctx.state.world.mustContract(order.pair)
  // No more is shown than there is.
  const shrunk = order.amended({ amount, iceberg: min(order.iceberg, amount) })
  shrunk.left = (amount - order.filled) as Amount
  shrunk.shown = order.iceberg === 0n ? shrunk.left : min(order.shown, shrunk.left)
  ctx.tx.put(ctx.state.futures.orders, shrunk)
  bookChanged(ctx, ctx.state.futures, contract.id)
  trimReducing(ctx, order.user_id, contract)
  followBook(ctx, contract)
  return ctx.state.futures.orders.get(shrunk.id) ?? shrunk
}
