import { DAY_SECONDS } from '../time.ts'
import { ONE, ZERO, format, parsePrice, priceOf, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { opposite, type Order, type SpotAccount } from '../tables/exchange/order.ts'
import type { TriggerRule, PriceOrderAccount, PriceOrder } from '../tables/spot/price-orders.ts'

/** Stops of an order wait this long. */
const STOP_SECONDS = 30 * DAY_SECONDS

export function addPriceOrder(
  ctx: Ctx,
  order: Pick<PriceOrder, 'user_id' | 'pair' | 'trigger_price' | 'rule' | 'expiration' | 'put' | 'parent_id'>,
): PriceOrder {
  const { tx, state, at } = ctx
  const id = nextId(tx, state.counters, 'price_order')
  const row: PriceOrder = {
    ...order,
    id,
    status: 'open',
    reason: '',
    created_at: at,
    ended_at: 0,
    fired_order_id: 0,
    due_id: schedule(ctx, at + order.expiration * 1e6, 'spot.price_order.expire', { id }),
  }
  tx.put(state.spot.priceOrders.table, row)
  return row
}

const ACCOUNT_WORDS: Record<SpotAccount, PriceOrderAccount> = {
  spot: 'normal',
  margin: 'margin',
  unified: 'unified',
  cross_margin: 'unified',
}
/** An order with stops has ended with something filled: its stops begin to wait for the way out. */
export function placeAttachedStops(ctx: Ctx, market: Market, order: Order): void {
  const { stop_profit, stop_loss } = order.more!
  if (stop_profit === undefined && stop_loss === undefined) return
  const side = opposite(order.side)
  // What was bought less its fee is what can be sold again.
  const owned = (order.side === 'buy' ? order.filled - order.fee : order.filled) as Amount
  const amount = (owned - (owned % market.lot)) as Amount
  if (amount <= ZERO) return
  const up: TriggerRule = order.side === 'buy' ? '>=' : '<='
  const down: TriggerRule = order.side === 'buy' ? '<=' : '>='
  for (const [stop, rule] of [
    [stop_profit, up],
    [stop_loss, down],
  ] as const) {
    if (stop === undefined) continue
    const market_order = parsePrice(stop.order_price) === 0n
    const spent = (amount * priceOf(stop.trigger_price)) / ONE
    addPriceOrder(ctx, {
      user_id: order.user_id,
      pair: order.pair,
      trigger_price: priceOf(stop.trigger_price),
      rule,
      expiration: STOP_SECONDS,
      put: {
        type: market_order ? 'market' : 'limit',
        side,
        price: stop.order_price,
        amount: format(market_order && side === 'buy' ? (spent as Amount) : amount),
        account: ACCOUNT_WORDS[order.account as SpotAccount],
        time_in_force: market_order ? 'ioc' : 'gtc',
        auto_borrow: false,
        auto_repay: false,
        text: '',
      },
      parent_id: order.id,
    })
  }
}
