import { spotOf, lockedName } from '../ledger/accounts.ts'
import { Refusal, notFound, refuse } from '../../labels.ts'
import {
  ZERO,
  format,
  min,
  parseRate,
  rateOf,
  timesDown,
  timesUp,
  type Amount,
  type Price,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule, unschedule } from '../due.ts'
import { mainOf, membersOf } from '../family.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { guardOutflow } from '../unified/guard.ts'
import type { Market } from '../tables/world/markets.ts'
import { DEFAULT_TEXT, isClientText, type Side } from '../tables/exchange/order.ts'
import { PLAIN, placeOrder } from './place.ts'
import type { PovOrder, TerminatedAs } from '../tables/spot/pov-orders.ts'
import { checkOpen, checkSize, checkText, readBase, readPrice } from './rules.ts'
import { fireTriggers } from './triggers.ts'

const SECOND = 1e6
const OPEN_MAX = 20
/**
 * Of a main account and its sub-accounts together. Each order is looked at every second, whatever the market does: what one
 * customer may have must not cost all others time.
 */
const FAMILY_MAX = 200
const RATE_MAX = rateOf('0.5')
/** A buy without a limit goes this far above the best price at its making: it must know what to hold. */
const BUY_REACH = rateOf('1.05')

export interface NewPovOrder {
  readonly user_id: number
  readonly currency_pair: string
  readonly side: Side
  readonly amount: string
  readonly participation_rate: string
  /** Seconds. */
  readonly ttl: number
  readonly limit_price: string | null
  readonly trigger_price: string | null
  readonly text: string | null
}
function checkFamily(state: State, userId: number): void {
  let open = 0
  for (const member of membersOf(state, mainOf(state, userId))) open += state.spot.povOrders.openCount(member)
  if (open >= FAMILY_MAX)
    refuse(
      'TOO_MANY_ORDERS',
      `a main account and its sub-accounts have at most ${FAMILY_MAX} open POV orders together; cancel some first`,
    )
}
export function createPovOrder(ctx: Ctx, input: NewPovOrder): PovOrder {
  const { state, tx, at } = ctx
  const market = state.world.market(input.currency_pair)
  const { side, user_id } = input
  const text = input.text === null ? DEFAULT_TEXT : checkText(input.text)
  checkOpen(market, side, at)
  const amount = readBase(market, input.amount)
  const participation_rate = parseRate(input.participation_rate)
  if (participation_rate === undefined || participation_rate <= 0n || participation_rate > RATE_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `participation_rate: ${input.participation_rate} must be above 0 and at most 0.5`,
    )
  const bound = boundOf(state, market, input)
  checkSize(market, amount, side === 'buy' ? timesDown(amount, bound) : undefined)
  // It holds money: whoever asks again, because no answer came, must not have it held twice.
  const same = isClientText(text) ? state.spot.povOrders.openWithText(user_id, text) : undefined
  if (same !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      `text: "${text}" is the text of the open POV order ${same.id}; nothing was placed`,
    )
  if (state.spot.povOrders.openCount(user_id) >= OPEN_MAX)
    refuse('TOO_MANY_ORDERS', `an account has at most ${OPEN_MAX} open POV orders; cancel some first`)
  checkFamily(state, user_id)
  const trigger =
    input.trigger_price === null ? undefined : readPrice(market, input.trigger_price, 'trigger_price')
  const last = state.spot.lastPrice(market.id)
  const id = nextId(tx, state.counters, 'pov_order')
  const order: PovOrder = {
    id,
    user_id,
    pair: market.id,
    side,
    amount,
    left: amount,
    participation_rate,
    ttl: input.ttl,
    limit_price: input.limit_price ?? '',
    trigger_price: input.trigger_price ?? '',
    bound,
    rule: trigger === undefined ? '' : last === undefined || trigger >= last ? '>=' : '<=',
    text,
    status: 'open',
    terminated_as: '',
    reason: '',
    held: needed(side, amount, bound),
    budget: ZERO,
    seen_volume: state.spot.figuresOf(market.id).volume,
    own: ZERO,
    start_at: trigger === undefined ? at : 0,
    end_at: 0,
    expire_at: at + input.ttl * SECOND,
    create_at: at,
    update_at: at,
    due_id: schedule(ctx, at + SECOND, 'spot.pov.look', { id }),
  }
  guardOutflow(state, user_id, 'spot', paid(market, side), order.held)
  transfer(ctx, market, order, order.held, 'new_order')
  tx.put(state.spot.povOrders.table, order)
  return order
}
/** A buy knows what to hold: by its limit, else a little above what it would meet now. */
function boundOf(state: State, market: Market, { side, limit_price }: NewPovOrder): Price {
  if (limit_price !== null) return readPrice(market, limit_price, 'limit_price')
  if (side === 'sell') return market.tick
  const best = state.spot.book(market.id).facing('buy')?.price ?? state.spot.lastPrice(market.id)
  if (best === undefined)
    refuse('ORDER_BOOK_NOT_FOUND', `there is no price to buy at in ${market.id} yet; give a limit_price`)
  const reach = timesUp(best as bigint as Amount, BUY_REACH)
  return (reach - (reach % market.tick)) as Price
}

const paid = (market: Market, side: Side): string => (side === 'buy' ? market.quote : market.base)
const needed = (side: Side, left: Amount, bound: Price): Amount =>
  side === 'buy' ? timesUp(left, bound) : left
/** free → held, or back when below zero. */
function transfer(ctx: Ctx, market: Market, order: PovOrder, amount: Amount, kind: string): void {
  if (amount === 0n) return
  const free = spotOf(order.user_id)
  const held = { owner: order.user_id, name: lockedName('spot') }
  const [from, to] = amount > 0n ? [free, held] : [held, free]
  const lines = move(from, to, paid(market, order.side), (amount > 0n ? amount : -amount) as Amount)
  ctx.state.ledger.post(ctx, { kind, ref: `pov:${order.id}`, lines })
}

/** Due each second: a share of what others traded since the last look, at the best price there is. */
export function lookPov(ctx: Ctx, input: { id: number }): null {
  const { state, at } = ctx
  const order = state.spot.povOrders.table.get(input.id)
  if (order?.status !== 'open') return null
  if (at >= order.expire_at) {
    endPov(ctx, order, 'expired', '')
    return null
  }
  const { volume } = state.spot.figuresOf(order.pair)
  const others = (volume - order.seen_volume - order.own) as Amount
  const next: PovOrder = {
    ...order,
    seen_volume: volume,
    own: ZERO,
    start_at: order.start_at === 0 && triggered(state, order) ? at : order.start_at,
    due_id: schedule(ctx, Math.min(at + SECOND, order.expire_at), 'spot.pov.look', { id: order.id }),
    update_at: at,
  }
  if (order.start_at === 0 || state.world.market(order.pair).halted) keep(ctx, next)
  else take(ctx, next, others)
  return null
}
function triggered(state: State, { pair, rule, trigger_price }: PovOrder): boolean {
  const last = state.spot.lastPrice(pair)
  if (last === undefined) return false
  const trigger = rateOf(trigger_price) as bigint
  return rule === '>=' ? last >= trigger : last <= trigger
}
const keep = (ctx: Ctx, order: PovOrder): void => ctx.tx.put(ctx.state.spot.povOrders.table, order)

function take(ctx: Ctx, order: PovOrder, others: Amount): void {
  const { state } = ctx
  const market = state.world.market(order.pair)
  const share = others > 0n ? timesDown(others, order.participation_rate) : ZERO
  const budget = min(order.left, (order.budget + share) as Amount)
  const best = state.spot.book(market.id).facing(order.side)?.price
  const amount = (budget - (budget % market.lot)) as Amount
  if (best === undefined || beyond(order, best)) return keep(ctx, { ...order, budget: ZERO })
  if (amount === 0n || amount < market.minBase || timesDown(amount, best) < market.minQuote) {
    // Too little for an order: it is added to the next share. A last rest that can never be one ends it.
    const stuck = timesDown(order.left, best) < market.minQuote || order.left < market.minBase
    if (stuck && order.left < order.amount) return endPov(ctx, order, 'filled', '')
    return keep(ctx, { ...order, budget })
  }
  place(ctx, market, { ...order, budget: ZERO }, amount, best)
}
const beyond = ({ side, bound }: PovOrder, price: Price): boolean =>
  side === 'buy' ? price > bound : price < bound

/** The child takes its money from the parent's hold, and what it does not use goes back there. */
function place(ctx: Ctx, market: Market, order: PovOrder, amount: Amount, price: Price): void {
  const { state, tx } = ctx
  const mark = tx.mark()
  const lent = order.side === 'buy' ? timesUp(amount, price) : amount
  keep(ctx, { ...order, held: (order.held - lent) as Amount })
  transfer(ctx, market, order, -lent as Amount, 'cancel_order')
  try {
    const child = placeOrder(
      ctx,
      order.user_id,
      {
        ...PLAIN,
        currency_pair: market.id,
        type: 'limit',
        side: order.side,
        amount: format(amount),
        price: format(price),
        time_in_force: 'ioc',
      },
      `pov:${order.id}`,
    )
    const now = state.spot.povOrders.table.get(order.id)!
    const left = (order.left - child.filled) as Amount
    if (left === 0n) endPov(ctx, { ...now, left }, 'filled', '')
    else {
      const held = needed(order.side, left, order.bound)
      transfer(ctx, market, order, (held - now.held) as Amount, held > now.held ? 'new_order' : 'order_fill')
      keep(ctx, { ...now, left, held, own: ZERO, seen_volume: state.spot.figuresOf(market.id).volume })
    }
    fireTriggers(ctx, market.id)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    tx.rollback(mark)
    endPov(ctx, order, 'failed', `${error.label}: ${error.message}`)
  }
}

function endPov(ctx: Ctx, order: PovOrder, terminated_as: Exclude<TerminatedAs, ''>, reason: string): void {
  const market = ctx.state.world.market(order.pair)
  unschedule(ctx, order.due_id)
  transfer(
    ctx,
    market,
    order,
    -order.held as Amount,
    terminated_as === 'filled' ? 'order_fill' : 'cancel_order',
  )
  keep(ctx, {
    ...order,
    held: ZERO,
    status: 'finished',
    terminated_as,
    reason,
    end_at: ctx.at,
    update_at: ctx.at,
    due_id: 0,
  })
}

export function cancelPovOrder(ctx: Ctx, input: { user_id: number; id: number }): PovOrder {
  const { table } = ctx.state.spot.povOrders
  const order = table.get(input.id)
  if (order?.user_id !== input.user_id)
    notFound('ORDER_NOT_FOUND', `this account has no POV order ${input.id}`)
  refuseFinished(order)
  endPov(ctx, order, 'cancelled', '')
  return table.get(input.id)!
}
export function refuseFinished({ id, status, terminated_as }: PovOrder): void {
  if (status !== 'open')
    refuse('ORDER_CLOSED', `POV order ${id} is finished (${terminated_as}); there is nothing to cancel`)
}
export function cancelPovOrders(
  ctx: Ctx,
  input: { user_id: number; currency_pair: string | null; side: Side | null },
): PovOrder[] {
  const { spot, world } = ctx.state
  const pair = input.currency_pair === null ? null : world.market(input.currency_pair).id
  return spot.povOrders
    .openOf(input.user_id)
    .filter(
      (order) => (pair === null || order.pair === pair) && (input.side === null || order.side === input.side),
    )
    .map(({ id }) => cancelPovOrder(ctx, { user_id: input.user_id, id }))
}
/** Ends some of a market's, lowest id first, with a reason. Tells how many. */
export function cancelPovOfMarket(ctx: Ctx, pair: string, most: number, reason: string): number {
  const found: PovOrder[] = []
  for (const order of ctx.state.spot.povOrders.table.values())
    if (order.status === 'open' && order.pair === pair) found.push(order)
  const some = found.sort((a, b) => a.id - b.id).slice(0, most)
  for (const order of some) endPov(ctx, order, 'cancelled', reason)
  return some.length
}
