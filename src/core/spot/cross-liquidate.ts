import { refuse } from '../../labels.ts'
import { ZERO, format, type Amount } from '../../money/amount.ts'
import type { Ctx } from '../state.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { totalOwed } from '../unified/loans.ts'
import type { Market } from '../tables/world/markets.ts'
import type { Order } from '../tables/exchange/order.ts'
import { PLAIN, placeOrder } from './place.ts'
import { CROSS_LIQUIDATE, isOpen, readBase, refuseHalted } from './rules.ts'
import { fireTriggers } from './triggers.ts'

/** Thousandths of a purchase that its fee leaves. */
const KEPT = 998n

/**
 * Who owes a currency that can no longer be bought may still buy what the debt needs, and no more: a limit order
 * out of the unified account that repays when it ends.
 */
export function crossLiquidate(
  ctx: Ctx,
  input: { user_id: number; text: string | null; currency_pair: string; amount: string; price: string },
): Order {
  const { state, tx, at } = ctx
  const { user_id, text, amount, price } = input
  const market = state.world.market(input.currency_pair)
  refuseHalted(market)
  if (isOpen(market, 'buy', at))
    refuse(
      'REQUEST_FORBIDDEN',
      `currency_pair: ${market.id} can be bought as usual; POST /spot/orders places ordinary orders`,
    )
  const most = buyable(ctx, user_id, market)
  if (readBase(market, amount) > most)
    refuse(
      'AMOUNT_TOO_MUCH',
      `amount: "${amount}" is more than ${format(most)} ${market.base}, which the debt in it still needs`,
    )
  const order = placeOrder(
    ctx,
    user_id,
    {
      ...PLAIN,
      text,
      currency_pair: market.id,
      type: 'limit',
      account: 'unified',
      side: 'buy',
      amount,
      price,
      time_in_force: 'gtc',
      auto_repay: true,
    },
    CROSS_LIQUIDATE,
  )
  state.spot.activity.add(tx, user_id, at, 1, ZERO)
  fireTriggers(ctx, market.id)
  return state.spot.orders.get(order.id) ?? order
}

/** (debt - balance - what is being bought already) / 0.998, lifted to a whole lot. */
function buyable({ state }: Ctx, userId: number, { id, base, lot }: Market): Amount {
  const owed = state.margin.isUnified(userId) ? totalOwed(state, userId, UNIFIED, base) : ZERO
  if (owed === 0n)
    refuse(
      'REQUEST_FORBIDDEN',
      `this account has no cross-margin debt in ${base}, so it can't buy it in ${id}`,
    )
  let missing = owed - state.ledger.balance(userId, 'spot', base)
  for (const order of state.spot.openOrders(userId))
    if (order.side === 'buy' && state.world.market(order.pair).base === base) missing -= order.left
  if (missing <= 0n) return ZERO
  const gross = (missing * 1000n + KEPT - 1n) / KEPT
  const lots = (gross + lot - 1n) / lot
  return (lots * lot) as Amount
}
