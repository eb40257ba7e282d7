import { refuse } from '../../labels.ts'
import {
  ONE,
  add,
  format,
  min,
  negate,
  overDown,
  subtract,
  type Amount,
  type Price,
} from '../../money/amount.ts'
import type { OrderAccount, OrderType, Side } from '../tables/exchange/order.ts'
import type { Ctx, State } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { riskOrder, totalOf } from '../tables/unified/ladders.ts'
import { pairPrice, portfolioOf } from './portfolio.ts'
import { freeOf, riskOf, type RiskAsset, type RiskInput, type RiskOrder } from '../risk/risk.ts'

/**
 * Orders of accounts below their initial margin. One passes when, filled wholly at its worst price and valued at the
 * index, it leaves the maintenance rate no lower and loses at most half a percent against the index; each is judged
 * with those that rest already, so that many small ones are not better than a large one.
 */
/** An order that is about to be placed or amended. */
export interface Guarded {
  readonly account: OrderAccount
  readonly side: Side
  readonly market: Market
  /** The worst price it can be filled at; undefined: any. */
  readonly bound: Price | undefined
  /** What is to be filled: base, or quote of a market buy. */
  readonly placed: { readonly amount: Amount; readonly type: OrderType }
  /** The resting order that it takes the place of. */
  readonly replaces?: number
}

/** In thousandths of what is given: what an order may lose against the index, its fee apart. */
const LOSS_MOST = 5n
/** True when a price loses more than that; the index is the pair's. */
export const losesTooMuch = (side: Side, price: bigint, index: bigint): boolean =>
  side === 'buy' ? index * 1000n < price * (1000n - LOSS_MOST) : price * 1000n < index * (1000n - LOSS_MOST)

/** Orders of the account that a loan scope belongs to. */
export const ofScope =
  (scope: string) =>
  (order: { readonly account: string; readonly pair: string }): boolean =>
    scope === UNIFIED.scope ? order.account !== 'margin' : order.account === 'margin' && order.pair === scope

/** Sums of resting orders, by what they give and get: there are few pairs, however many orders. */
export class Resting {
  private readonly sums = new Map<string, RiskOrder>()
  add(order: RiskOrder): void {
    const key = `${order.gives}>${order.gets}`
    const known = this.sums.get(key)
    this.sums.set(
      key,
      known === undefined
        ? order
        : { ...known, given: add(known.given, order.given), got: add(known.got, order.got) },
    )
  }
  /**
   * Those whose fills make one more of a kind dearer: they give the same, or bring the same, and nothing that it
   * needs. Counted value is concave, so no other set of fills is worse for it.
   */
  against({ gives, gets }: RiskOrder): RiskOrder[] {
    return [...this.sums.values()].filter(
      (one) => (one.gives === gives || one.gets === gets) && one.gives !== gets && one.gets !== gives,
    )
  }
}

/** Margin balance and maintenance margin when these orders are filled and what is there of a debt has repaid it. */
function marginsAfter(input: RiskInput, filled: readonly RiskOrder[], fresh?: RiskOrder): [Amount, Amount] {
  const assets = input.assets.map((asset) => {
    let { available, freeze } = asset
    for (const { gives, given, gets, got } of filled) {
      if (gives === asset.currency) freeze = subtract(freeze, given)
      if (gets === asset.currency) available = add(available, got)
    }
    if (fresh?.gives === asset.currency) available = subtract(available, fresh.given)
    if (fresh?.gets === asset.currency) available = add(available, fresh.got)
    return repaid({ ...asset, available, freeze })
  })
  const { marginBalance, maintenanceMargin } = riskOf({ ...input, assets, orders: [] })
  return [marginBalance, maintenanceMargin]
}
/** As a repayment would: the margins of isolated positions stay. */
function repaid(asset: RiskAsset): RiskAsset {
  const { available, borrowed, interest } = asset
  const free = freeOf(asset)
  if (free <= 0n) return asset
  const first = min(free, interest)
  const then = min(subtract(free, first), borrowed)
  return {
    ...asset,
    available: subtract(subtract(available, first), then),
    interest: subtract(interest, first),
    borrowed: subtract(borrowed, then),
  }
}
/** Whether the rate is lower with the order than without, be the resting ones filled or not. */
export function lowersRate(input: RiskInput, resting: Resting, order: RiskOrder): boolean {
  for (const filled of [[], resting.against(order)]) {
    const [before, needed] = marginsAfter(input, filled)
    const [after, needs] = marginsAfter(input, filled, order)
    if (needed === 0n ? needs > 0n || after < before : after * needed < before * needs) return true
  }
  return false
}

/** The order at its worst: a market buy gets the fewest lots that its money can buy. */
function atWorst({ side, market, placed }: Guarded, price: Price): RiskOrder {
  if (placed.type === 'market' && side === 'buy')
    return riskOrder(market, { side, price, left: overDown(placed.amount, price), held: placed.amount })
  const held = side === 'sell' ? placed.amount : (((placed.amount * price) / ONE) as Amount)
  return riskOrder(market, { side, price, left: placed.amount, held })
}

/** Refuses what a restricted account may not do. Looks at the state before the order is placed. */
export function judgeOrder(ctx: Ctx, userId: number, scope: string, order: Guarded): void {
  const { state } = ctx
  const { market, side, bound } = order
  for (const currency of [market.base, market.quote])
    state.prices.requireFirm(currency, 'an account without margin to spare can not trade it')
  const index = pairPrice(state, market, 'firm')
  if (bound === undefined || losesTooMuch(side, bound, index))
    refuse(
      'TRADE_RESTRICTED',
      `this account has no margin to spare: an order may lose at most 0.5 % against the index price ${format(index)} of ${market.id}, at the worst price that it can be filled at${order.placed.type === 'market' ? '; place a limit order' : ''}`,
    )
  let input = portfolioOf(state, userId, scope, [market.base, market.quote], 'firm')
  const resting = new Resting()
  for (const ladder of state.ladders.of(userId, scope)) resting.add(totalOf(ladder))
  const replaced = order.replaces === undefined ? undefined : state.spot.orders.get(order.replaces)
  if (replaced?.status === 'open') {
    const seen = riskOrder(market, replaced)
    input = unheld(input, seen)
    resting.add({ ...seen, given: negate(seen.given), got: negate(seen.got) })
  }
  if (lowersRate(input, resting, atWorst(order, bound)))
    refuse(
      'TRADE_RESTRICTED',
      'this order, filled at its worst price, would leave this account with less margin for its debts than it has; repay or add money first',
    )
}
/**
 * How far prices may move, as a ratio at 18 decimals, before a resting order of the account loses too much;
 * below zero when one does already, undefined when none rests.
 */
export function slackOf(state: State, userId: number, scope: string): bigint | undefined {
  let least: bigint | undefined
  for (const { pair, side, worst: price } of state.ladders.of(userId, scope)) {
    const index = pairPrice(state, state.world.market(pair))
    if (index === 0n) continue
    const [worth, needed] =
      side === 'buy'
        ? [index * 1000n, price * (1000n - LOSS_MOST)]
        : [price * 1000n, index * (1000n - LOSS_MOST)]
    const slack = ((worth - needed) * ONE) / needed
    if (least === undefined || slack < least) least = slack
  }
  return least
}
/** As if an order had not been placed yet: what it holds is free. */
export const unheld = (input: RiskInput, { gives, given }: RiskOrder): RiskInput => ({
  ...input,
  assets: input.assets.map((asset) =>
    asset.currency === gives
      ? { ...asset, freeze: subtract(asset.freeze, given), available: add(asset.available, given) }
      : asset,
  ),
})
