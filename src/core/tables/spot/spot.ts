import type { Holds } from '../../ledger/holds.ts'
import type { OrderMoney } from './money.ts'
import { Activity } from '../exchange/activity.ts'
import { BASE_SPANS, CANDLE_NOW, Candles, SPOT_CANDLE, type Candle } from '../exchange/candles.ts'
import { Countdowns, SPOT_COUNTDOWN } from '../exchange/countdowns.ts'
import { Exchange, SPOT_MARKET } from '../exchange/exchange.ts'
import type { Market } from '../world/markets.ts'
import { SPOT_ORDER, stopsIn, type OrderRow, type Side } from '../exchange/order.ts'
import { PovOrders } from './pov-orders.ts'
import { PriceOrders } from './price-orders.ts'
import { SPOT_TRADE } from '../exchange/trades.ts'

/** Candles from before the platform's own first trade. */
export interface PriceHistory {
  /** Oldest first, only those that end before the history does. */
  candles(pair: string, seconds: number, from: number, to: number): Candle[]
  minutes(pair: string, from: number, to: number): Candle[]
  /** The very last moment of it. */
  last(pair: string): Candle | undefined
}

/** Everything spot trading keeps in memory. */
export class Spot extends Exchange {
  /** Prices from before the first start, where the sandbox has made some up. */
  history: PriceHistory | undefined
  readonly priceOrders = new PriceOrders()
  readonly povOrders = new PovOrders()
  readonly countdowns = new Countdowns(SPOT_COUNTDOWN)
  readonly activity = new Activity('spot')
  /** By market; accounts.ts fills them. */
  readonly money = new Map<string, OrderMoney>()
  readonly marginMoney = new Map<string, OrderMoney>()
  private readonly findMarket: (pair: string) => Market | undefined
  private readonly holds: Holds
  private readonly holdsOf = new Map<string, Record<Side, ReturnType<Holds['of']>>>()
  private readonly stopsByUser = new Map<number, number>()

  constructor(findMarket: (pair: string) => Market | undefined, holds: Holds) {
    super(
      {
        order: SPOT_ORDER,
        market: SPOT_MARKET,
        trade: SPOT_TRADE,
        candles: new Candles(CANDLE_NOW, SPOT_CANDLE, BASE_SPANS),
      },
      (pair) => findMarket(pair)?.tick,
    )
    this.findMarket = findMarket
    this.holds = holds
    this.povOrders.table.observe((before, after) =>
      this.followHold((after ?? before)!, (before?.held ?? 0n) - (after?.held ?? 0n)),
    )
  }
  protected override follow(was: OrderRow | undefined, is: OrderRow | undefined): void {
    this.followHold((is ?? was)!, (was === undefined ? 0n : was.held) - (is === undefined ? 0n : is.held))
    const [had, has] = [was?.more ?? null, is?.more ?? null]
    if (had !== has) this.promise((is ?? was)!.user_id, stopsIn(has) - stopsIn(had))
  }
  /** Stops that open orders carry and that will wait as price orders when their orders have ended. */
  promisedStops(userId: number): number {
    return this.stopsByUser.get(userId) ?? 0
  }
  get tables(): readonly unknown[] {
    return [
      ...this.venueTables,
      this.priceOrders.table,
      this.povOrders.table,
      this.countdowns.table,
      this.activity.days,
      this.activity.ratios,
    ]
  }

  private followHold({ pair, side }: { readonly pair: string; readonly side: Side }, less: bigint): void {
    if (less === 0n) return
    let holds = this.holdsOf.get(pair)
    if (holds === undefined) {
      const { base, quote } = this.findMarket(pair)!
      this.holdsOf.set(pair, (holds = { buy: this.holds.of(quote), sell: this.holds.of(base) }))
    }
    this.holds.add(holds[side], less)
  }
  private promise(userId: number, stops: number): void {
    if (stops === 0) return
    const promised = this.promisedStops(userId) + stops
    if (promised === 0) this.stopsByUser.delete(userId)
    else this.stopsByUser.set(userId, promised)
  }
}
