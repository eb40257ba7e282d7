import { Refusal } from '../../labels.ts'
import { amountOf, type Amount } from '../../money/amount.ts'
import { EQUITY, spotOf } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import { followIndex } from '../futures/prices.ts'
import { cancelOpen } from '../spot/cancel.ts'
import type { Order, OrderRow, Side } from '../tables/exchange/order.ts'
import { PLAIN, placeOrder, type NewOrder } from '../spot/place.ts'
import { fireTriggers } from '../spot/triggers.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { AGENT_LOGINS, LOGIN_OF, opinionPrice, type AgentName } from '../tables/agents.ts'

/** Of one look; what is beyond is left out. */
const CHANGES_MAX = 200

/** The maker's orders rest or are refused; the others' take what is there. */
export type AgentOrder = readonly [agent: AgentName, side: Side, amount: string, price: string]
/** One look at one market, as it was decided outside: what the agents want to happen, and what they think now. */
export interface AgentLook {
  readonly currency_pair: string
  readonly seed: number
  /** Decimal texts: the reference price, and what the next look goes on from. */
  readonly fair: string
  readonly anchor: string
  readonly trend: string
  /** The scenario has come to its end. */
  readonly over: boolean
  readonly cancel: readonly number[]
  readonly orders: readonly AgentOrder[]
}

export const agentId = ({ state }: Pick<Ctx, 'state'>, login: string): number =>
  state.users.byLogin.get(login)!.user_id

/**
 * Carries out a look with the ordinary rules of orders, all of it or nothing. Only the agents' own accounts act, and
 * with the money that they are given: a look is words from outside, and makes none.
 */
export function applyLook(ctx: Ctx, look: AgentLook): void {
  const { state, tx } = ctx
  const market = state.world.findMarket(look.currency_pair)
  const row = market === undefined ? undefined : state.agents.markets.get(market.id)
  if (market === undefined || row === undefined || market.config.trade_status !== 'tradable') return
  for (const opinion of [look.fair, look.anchor])
    if ((opinionPrice(opinion) ?? 0n) <= 0n) throw new TypeError(`"${opinion}" is not a price to believe in`)
  const agents = new Set(AGENT_LOGINS.map((login) => agentId(ctx, login)))
  forget(ctx, cancelOpen(ctx, ownOrders(ctx, market, look.cancel.slice(0, CHANGES_MAX), agents)))
  for (const [agent, side, amount, price] of look.orders.slice(0, CHANGES_MAX))
    placeAgents(
      ctx,
      market,
      agentId(ctx, LOGIN_OF[agent]),
      side,
      amount,
      price,
      agent === 'maker' ? 'poc' : 'ioc',
    )
  const { seed, fair, anchor, trend } = look
  const scenario = look.over ? null : row.scenario
  tx.put(state.agents.markets, { pair: row.pair, seed, fair, anchor, trend, scenario })
  fireTriggers(ctx, market.id)
  if (row.fair !== fair) followIndex(ctx, market.base)
}
/** Orders of agents that can still be taken back. */
function ownOrders(
  { state }: Ctx,
  market: Market,
  ids: readonly number[],
  agents: ReadonlySet<number>,
): OrderRow[] {
  return [...new Set(ids)].flatMap((id) => {
    const order = state.spot.orders.get(id)
    return order?.status === 'open' && order.pair === market.id && agents.has(order.user_id) ? [order] : []
  })
}
/** Ended quotes that never traded are no history: they leave the store too. */
function forget(ctx: Ctx, orders: readonly Order[]): void {
  for (const order of orders) if (order.filled === 0n) ctx.tx.remove(ctx.state.spot.orders, order.id)
}

/** An ordinary order of an ordinary account; what the market refuses is simply not placed. */
export function placeAgents(
  ctx: Ctx,
  market: Market,
  user: number,
  side: Side,
  amount: string,
  price: string,
  time_in_force: 'ioc' | 'poc' | 'gtc',
): void {
  provide(ctx, user, side === 'buy' ? market.quote : market.base)
  const order: NewOrder = {
    ...PLAIN,
    currency_pair: market.id,
    type: 'limit',
    account: 'spot',
    side,
    amount,
    price,
    time_in_force,
  }
  const mark = ctx.tx.mark()
  try {
    const placed = placeOrder(ctx, user, order)
    if (placed.status !== 'open' && placed.filled === 0n) forget(ctx, [placed])
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
  }
}

/** Millions of dollars' worth of each currency, in round figures. */
const FUNDS: Readonly<Record<string, string>> = {
  BTC: '100',
  ETH: '2000',
  USDT: '10000000',
  USDC: '5000000',
  SOL: '40000',
  XRP: '10000000',
  DOGE: '40000000',
  GT: '500000',
}
export const fundsOf = (currency: string): Amount => amountOf(FUNDS[currency] ?? '1000000')
/** operator equity → an agent that has run out. */
function provide(ctx: Ctx, owner: number, currency: string): void {
  const { state } = ctx
  const funds = fundsOf(currency)
  if (state.ledger.balance(owner, 'spot', currency) * 10n > funds) return
  state.ledger.post(ctx, {
    kind: 'credit',
    ref: 'agents',
    lines: move(EQUITY, spotOf(owner), currency, funds),
  })
}
