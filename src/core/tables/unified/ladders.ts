import { min, roundUp, timesDown, timesUp, type Amount, type Price } from '../../../money/amount.ts'
import type { Order, Side } from '../exchange/order.ts'
import type { Spot } from '../spot/spot.ts'
import type { Market } from '../world/markets.ts'
import type { World } from '../world/world.ts'
import { UNIFIED } from './loan-accounts.ts'
import { Ladder, type RiskOrder } from '../../risk/risk.ts'

/**
 * What an open order gives, and what it gets at the least: filled lot by lot, each fill paying the market's
 * highest fee rounded up.
 */
export function riskOrder(market: Market, order: Pick<Order, 'side' | 'price' | 'left' | 'held'>): RiskOrder {
  const buys = order.side === 'buy'
  const [received, precision] = buys
    ? [market.lot, market.basePrecision]
    : [timesDown(market.lot, order.price), market.quotePrecision]
  const fee = min(received, roundUp(timesUp(received, market.feeMax), precision))
  return {
    gives: buys ? market.quote : market.base,
    given: order.held,
    gets: buys ? market.base : market.quote,
    got: ((order.left / market.lot) * (received - fee)) as Amount,
  }
}

/** The orders of an account in one market and on one side, for its risk. */
export interface OrderLadder extends Ladder {
  readonly pair: string
  readonly side: Side
  /** The price of the order that would lose most: the highest buy, the lowest sale. */
  readonly worst: Price
}

/** Accounts whose ladders are kept; beyond that all are made anew. */
const ACCOUNTS_MAX = 20_000

/**
 * Sums over open orders, kept from look to look, so that what an account asks does not cost more with every order that
 * it has open: a change of one order makes one ladder of one market anew, when somebody next looks.
 */
export class OrderLadders {
  private readonly spot: Spot
  private readonly world: World
  private readonly kept = new Map<number, Map<string, OrderLadder | undefined>>()

  constructor(spot: Spot, world: World) {
    this.spot = spot
    this.world = world
    spot.orders.observe((before, after) => {
      if (this.kept.size === 0) return
      const { placed } = (after ?? before)!
      this.kept
        .get(placed.user_id)
        ?.delete(keyOf(scopeOf(placed.account, placed.pair), placed.pair, placed.side))
    })
    // The rules of a market say what an order brings at the least.
    world.settings.observe(() => this.kept.clear())
  }
  of(userId: number, scope: string): OrderLadder[] {
    if (!this.spot.hasOpen(userId)) return []
    let ladders = this.kept.get(userId)
    if (ladders === undefined) {
      if (this.kept.size >= ACCOUNTS_MAX) this.kept.clear()
      this.kept.set(userId, (ladders = new Map<string, OrderLadder | undefined>()))
    }
    const found: OrderLadder[] = []
    for (const pair of scope === UNIFIED.scope ? this.spot.openPairs(userId) : [scope])
      for (const side of ['buy', 'sell'] as const) {
        const key = keyOf(scope, pair, side)
        let ladder = ladders.get(key)
        if (ladder === undefined && !ladders.has(key))
          ladders.set(key, (ladder = this.make(userId, scope, pair, side)))
        if (ladder !== undefined) found.push(ladder)
      }
    return found
  }
  private make(userId: number, scope: string, pair: string, side: Side): OrderLadder | undefined {
    const market = this.world.market(pair)
    let worst: Price | undefined
    const orders: RiskOrder[] = []
    for (const order of this.spot.openOrders(userId, pair)) {
      if (order.side !== side || scopeOf(order.account, pair) !== scope) continue
      orders.push(riskOrder(market, order))
      if (worst === undefined || (side === 'buy' ? order.price > worst : order.price < worst))
        worst = order.price
    }
    if (worst === undefined) return undefined
    return Object.assign(new Ladder(orders), { pair, side, worst })
  }
}
const keyOf = (scope: string, pair: string, side: Side): string => `${scope}/${pair}/${side}`
/** The loan scope whose account an order trades for. */
const scopeOf = (account: string, pair: string): string => (account === 'margin' ? pair : UNIFIED.scope)

/** The sum of all of them, as one order would be. */
export const totalOf = ({ gives, given, gets, got }: Ladder): RiskOrder => ({ gives, given, gets, got })
