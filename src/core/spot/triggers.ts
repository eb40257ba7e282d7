import { Refusal, notFound, refuse } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import { schedule, unschedule } from '../due.ts'
import { accountsMeant, isUnified } from './accounts.ts'
import type { Ctx, State } from '../state.ts'
import { isFrozen } from '../tables/users.ts'
import { PLAIN, placeOrder, type NewOrder } from './place.ts'
import { addPriceOrder } from './price-orders.ts'
import type {
  PriceOrder,
  PriceOrderAccount,
  PriceOrderStatus,
  PutOrder,
  TriggerRule,
} from '../tables/spot/price-orders.ts'
import { isClientText, stopsIn, type Order, type SpotAccount } from '../tables/exchange/order.ts'
import { checkPriceOrderRoom, checkText, readBase, readPrice, readQuote, refuseHalted } from './rules.ts'

/** Price orders that one command fires; what a longer cascade leaves is due at once, as commands of their own. */
const FIRED_MAX = 50
/** Texts that say where a price order came from; the order that it places has no text of a client. */
export const SOURCES: ReadonlySet<string> = new Set(['web', 'api', 'app'])

/** The last price of a market may have moved: fires what it has reached, lowest id first at equal prices. */
export function fireTriggers(ctx: Ctx, pair: string): void {
  const { spot } = ctx.state
  for (let fired = 0; ; fired++) {
    const last = spot.lastPrice(pair)
    const next = last === undefined ? undefined : spot.priceOrders.reached(pair, last)
    // In a halted market they go on waiting: `resume` looks again.
    if (next === undefined || ctx.state.world.findMarket(pair)?.halted === true) return
    if (fired === FIRED_MAX) {
      schedule(ctx, ctx.at, 'spot.price_order.fire', { currency_pair: pair })
      return
    }
    fire(ctx, next)
  }
}

/** Orders have ended: the last price may have reached a stop that one of them leaves behind. */
export function fireLeft(ctx: Ctx, ended: readonly Order[]): void {
  const pairs = ended.filter(({ filled, more }) => filled > 0n && stopsIn(more) > 0).map(({ pair }) => pair)
  for (const pair of new Set(pairs)) fireTriggers(ctx, pair)
}

const ORDER_ACCOUNT: Record<PriceOrderAccount, SpotAccount> = {
  normal: 'spot',
  margin: 'margin',
  unified: 'unified',
}
const PRICE_ORDER_ACCOUNTS = ['normal', 'margin', 'unified'] as const satisfies readonly PriceOrderAccount[]
/** The accounts of price orders that a call means when it names one, as with orders: normal and unified may be the same balances. */
export function putAccountsMeant(
  state: State,
  userId: number,
  asked: PriceOrderAccount,
): readonly PriceOrderAccount[] {
  const meant = accountsMeant(state, userId, ORDER_ACCOUNT[asked])
  return PRICE_ORDER_ACCOUNTS.filter((account) => meant.includes(ORDER_ACCOUNT[account]))
}
function fire(ctx: Ctx, order: PriceOrder): void {
  const { put } = order
  // Out of the queue first: placing its order may move the price again.
  endPriceOrder(ctx, order, 'finish', '')
  const input: NewOrder = {
    ...PLAIN,
    text: isClientText(put.text) ? put.text : null,
    currency_pair: order.pair,
    type: put.type,
    account: ORDER_ACCOUNT[put.account],
    side: put.side,
    amount: put.amount,
    price: put.type === 'market' ? null : put.price,
    time_in_force: put.type === 'market' ? 'ioc' : put.time_in_force,
    auto_borrow: put.auto_borrow,
    auto_repay: put.auto_repay,
  }
  const { tx, state } = ctx
  const mark = tx.mark()
  try {
    if (isFrozen(state.users, order.user_id))
      refuse('ACCOUNT_LOCKED', `account ${order.user_id} is frozen; it places no orders`)
    const placed = placeOrder(ctx, order.user_id, input, `price_order:${order.id}`)
    const row = state.spot.priceOrders.table.get(order.id)!
    tx.put(state.spot.priceOrders.table, { ...row, fired_order_id: placed.id })
    // Where nothing was placed the other one goes on protecting what there is.
    for (const sibling of state.spot.priceOrders.siblings(order))
      endPriceOrder(ctx, sibling, 'cancelled', `the other stop of order ${order.parent_id} fired`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    const row = state.spot.priceOrders.table.get(order.id)!
    tx.put(state.spot.priceOrders.table, {
      ...row,
      status: 'failed',
      reason: `${error.label}: ${error.message}`,
    })
  }
}

export function endPriceOrder(
  ctx: Ctx,
  order: PriceOrder,
  status: PriceOrderStatus,
  reason: string,
): PriceOrder {
  unschedule(ctx, order.due_id)
  const ended: PriceOrder = { ...order, status, reason, ended_at: ctx.at }
  ctx.tx.put(ctx.state.spot.priceOrders.table, ended)
  return ended
}

/** Ends waiting price orders of a market, lowest id first. Tells how many. */
export function cancelWaiting(ctx: Ctx, pair: string, most: number, reason: string): number {
  const waiting = ctx.state.spot.priceOrders.openAt(pair, most)
  for (const order of waiting) endPriceOrder(ctx, order, 'cancelled', reason)
  return waiting.length
}

export interface NewPriceOrder {
  readonly user_id: number
  readonly market: string
  readonly trigger: { readonly price: string; readonly rule: TriggerRule; readonly expiration: number }
  readonly put: PutOrder
}
export function createPriceOrder(ctx: Ctx, input: NewPriceOrder): PriceOrder {
  const { state } = ctx
  const market = state.world.market(input.market, 'parameter', 'market')
  refuseHalted(market)
  if (input.put.account === 'unified' && !isUnified(state, state.users.must(input.user_id)))
    refuse(
      'ACCOUNT_EXCEPTION',
      'put.account: "unified" needs a unified account and this one is classic; use normal, or PUT /unified/unified_mode first',
    )
  const trigger_price = readPrice(market, input.trigger.price, 'trigger.price')
  const { rule, expiration } = input.trigger
  const { put } = input
  if (put.type === 'market' && put.side === 'buy') readQuote(market, put.amount, 'put.amount')
  else readBase(market, put.amount, 'put.amount')
  if (put.type === 'limit') readPrice(market, put.price, 'put.price')
  if (put.text !== '' && !SOURCES.has(put.text)) checkText(put.text, 'put.text')
  const last = state.spot.lastPrice(market.id)
  // The labels say what the trigger must be, as those of contracts and of the wire do.
  if (last !== undefined && rule === '>=' && trigger_price <= last)
    refuse(
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
      `trigger.price: ${input.trigger.price} must be above the last price ${format(last)} for the rule >=`,
    )
  if (last !== undefined && rule === '<=' && trigger_price >= last)
    refuse(
      'AUTO_TRIGGER_PRICE_LESS_LAST',
      `trigger.price: ${input.trigger.price} must be below the last price ${format(last)} for the rule <=`,
    )
  checkPriceOrderRoom(state, input.user_id, 1)
  return addPriceOrder(ctx, {
    user_id: input.user_id,
    pair: market.id,
    trigger_price,
    rule,
    expiration,
    put,
    parent_id: 0,
  })
}

export function cancelPriceOrder(ctx: Ctx, input: { user_id: number; id: number }): PriceOrder {
  const order = ctx.state.spot.priceOrders.table.get(input.id)
  if (order?.user_id !== input.user_id)
    notFound('ORDER_NOT_FOUND', `this account has no price order ${input.id}`)
  refuseNotWaiting(order)
  return endPriceOrder(ctx, order, 'cancelled', '')
}
export function refuseNotWaiting({ id, status }: PriceOrder): void {
  if (status !== 'open')
    refuse('ORDER_CLOSED', `price order ${id} is not waiting any more: its status is ${status}`)
}
export function cancelPriceOrders(
  ctx: Ctx,
  input: { user_id: number; market: string | null; account: PriceOrderAccount | null },
): PriceOrder[] {
  const pair = input.market === null ? null : ctx.state.world.market(input.market, 'parameter', 'market').id
  const accounts =
    input.account === null ? undefined : putAccountsMeant(ctx.state, input.user_id, input.account)
  return ctx.state.spot.priceOrders
    .openOf(input.user_id)
    .filter((order) => pair === null || order.pair === pair)
    .filter(({ put }) => accounts?.includes(put.account) ?? true)
    .map((order) => endPriceOrder(ctx, order, 'cancelled', ''))
}
/** Due: a price order waited in vain. */
export function expirePriceOrder(ctx: Ctx, input: { id: number }): null {
  const order = ctx.state.spot.priceOrders.table.get(input.id)
  if (order?.status === 'open') endPriceOrder(ctx, order, 'expired', '')
  return null
}
/** Due: the rest of a long cascade. */
export function firePriceOrders(ctx: Ctx, input: { currency_pair: string }): null {
  fireTriggers(ctx, input.currency_pair)
  return null
}
