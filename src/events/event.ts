import type { AccountName } from '../core/ledger/accounts.ts'
import type { Deposit } from '../core/tables/deposits.ts'
import type { Candle } from '../core/tables/exchange/candles.ts'
import type { Order, Side } from '../core/tables/exchange/order.ts'
import type { PriceOrder } from '../core/tables/spot/price-orders.ts'
import type { MarketFigures } from '../core/tables/exchange/exchange.ts'
import type { Fill, Trade } from '../core/tables/exchange/trades.ts'
import type { InterestRecord, LiquidationStep, LoanRecord } from '../core/tables/unified/records.ts'
import type { Withdrawal } from '../core/tables/withdrawals.ts'
import type { Amount, Price } from '../money/amount.ts'

export type Venue = 'spot' | 'margin' | 'unified' | 'wallet' | 'futures' | 'delivery'

interface Happened {
  /** Of the batch that it was committed with. */
  readonly sequence: number
  /** Microseconds: the command's time. */
  readonly at: number
  readonly venue: Venue
}
/**
 * The row as it was, and as it is. `before` is undefined for a new row, and for a finished one that had left memory:
 * `change` tells them apart.
 */
interface Changed<Row> {
  readonly before: Row | undefined
  readonly after: Row
}

export interface OrderEvent extends Happened, Changed<Order> {
  readonly kind: 'order'
  readonly market: string
  readonly user_id: number
  /** `ended` also for an order that was placed and ended by the same command. */
  readonly change: 'placed' | 'changed' | 'ended'
}
/** A price order that waits now, or does no longer. */
export interface PriceOrderEvent extends Happened, Changed<PriceOrder> {
  readonly kind: 'price_order'
  readonly market: string
  readonly user_id: number
}
/** A user's side of a trade. */
export interface FillEvent extends Happened {
  readonly kind: 'fill'
  readonly market: string
  readonly user_id: number
  readonly fill: Fill
}
export interface TradeEvent extends Happened {
  readonly kind: 'trade'
  readonly market: string
  readonly trade: Trade
}
/** What a price of the book shows more, or less; hidden parts of icebergs are not in it. */
export interface BookLevelEvent extends Happened {
  readonly kind: 'book_level'
  readonly market: string
  readonly side: Side
  readonly price: Price
  /** Signed, never 0. */
  readonly change: Amount
}
export interface CandleChange {
  readonly seconds: number
  readonly before: Candle | undefined
  /** Of a later window than `before`: that one has closed. */
  readonly after: Candle
}
/** A market's figures: the ids of its book and its trades, the last price, the candles that grow. */
export interface TickerEvent extends Happened {
  readonly kind: 'ticker'
  readonly market: string
  /** Undefined when they stayed as they were. The book's ids of this command are those above `before`'s, up to `after`'s. */
  readonly figures: Changed<MarketFigures> | undefined
  /** Shortest first. */
  readonly candles: readonly CandleChange[]
}
/** A user's ledger account: free or locked money, or a debt. */
export interface BalanceEvent extends Happened {
  readonly kind: 'balance'
  /** Of an isolated margin account or its debt; else empty. */
  readonly market: string
  readonly currency: string
  readonly owner: number
  readonly account: AccountName
  readonly before: Amount
  /** The same as `before` when the command moved money there and back. */
  readonly after: Amount
  readonly update_id: number
}
/** `user_id` 0: nobody's yet. */
export interface DepositEvent extends Happened, Changed<Deposit> {
  readonly kind: 'deposit'
  readonly currency: string
  readonly user_id: number
  readonly change: 'created' | 'changed'
}
/** `user_id` 0: the platform's own. */
export interface WithdrawalEvent extends Happened, Changed<Withdrawal> {
  readonly kind: 'withdrawal'
  readonly currency: string
  readonly user_id: number
  readonly change: 'created' | 'changed'
}
interface LoanHappened extends Happened {
  readonly kind: 'loan'
  /** Empty for the unified account. */
  readonly market: string
  readonly currency: string
  readonly user_id: number
}
export type LoanEvent =
  | (LoanHappened & { readonly type: 'borrow' | 'repay'; readonly record: LoanRecord })
  | (LoanHappened & { readonly type: 'interest'; readonly record: InterestRecord })
export interface LiquidationEvent extends Happened {
  readonly kind: 'liquidation'
  /** Empty for the unified account, and for cross positions. */
  readonly market: string
  readonly currency: string
  readonly user_id: number
  readonly step: LiquidationStep
}

export type DomainEvent =
  | OrderEvent
  | PriceOrderEvent
  | FillEvent
  | TradeEvent
  | BookLevelEvent
  | TickerEvent
  | BalanceEvent
  | DepositEvent
  | WithdrawalEvent
  | LoanEvent
  | LiquidationEvent
