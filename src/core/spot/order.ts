import type { Amount, Price } from '../../money/amount.ts'
import type { TableSpec } from '../table.ts'

export type Side = 'buy' | 'sell'
export const SIDES = ['buy', 'sell'] as const
export type OrderType = 'limit' | 'market'
export const ORDER_TYPES = ['limit', 'market'] as const
export type TimeInForce = 'gtc' | 'ioc' | 'poc' | 'fok'
export const TIMES_IN_FORCE = ['gtc', 'ioc', 'poc', 'fok'] as const
export type StpAct = 'cn' | 'co' | 'cb'
export const STP_ACTS = ['cn', 'co', 'cb'] as const
export type OrderStatus = 'open' | 'closed' | 'cancelled'
export type FinishAs =
  'open' | 'filled' | 'cancelled' | 'ioc' | 'stp' | 'price_protect_cancelled' | 'liquidate_cancelled'
/** What an order names as its account; the ledger account behind it is decided in accounts.ts. */
export const ORDER_ACCOUNTS = ['spot', 'margin', 'unified', 'cross_margin'] as const
export type OrderAccount = (typeof ORDER_ACCOUNTS)[number]

/** A price that fires, and the price of the order that it then places ("0" is a market order). */
export interface AttachedStop {
  readonly trigger_price: string
  readonly order_price: string
}
/** What few orders carry. */
export interface OrderExtras {
  readonly slippage?: string
  readonly auto_borrow?: boolean
  readonly auto_repay?: boolean
  readonly stop_profit?: AttachedStop
  readonly stop_loss?: AttachedStop
  /** Why an order that the platform itself placed exists, such as the price order that fired. */
  readonly origin?: string
  /** The program that sent it. */
  readonly channel?: string
}

export interface Order {
  readonly id: number
  readonly user_id: number
  readonly pair: string
  readonly side: Side
  readonly type: OrderType
  readonly account: OrderAccount
  readonly time_in_force: TimeInForce
  readonly text: string
  readonly amend_text: string
  /** 0 for market orders. */
  readonly price: Price
  /** Base; of a market buy: quote. */
  readonly amount: Amount
  readonly left: Amount
  /** Base. */
  readonly filled: Amount
  /** Quote. */
  readonly filled_total: Amount
  /** What the ledger holds for it still, in the currency that it pays with. */
  readonly held: Amount
  readonly fee: Amount
  readonly gt_fee: Amount
  readonly point_fee: Amount
  /** The part that the book shows; 0: all of it. */
  readonly iceberg: Amount
  /** What the book shows of it now. */
  readonly shown: Amount
  /** An iceberg that has shown a hidden part: from there on it pays the taker's rate. */
  readonly refreshed: boolean
  /** Its place among orders of the same price: lower goes first. 0: not in the book. */
  readonly rank: number
  readonly stp_id: number
  readonly stp_act: StpAct | '-'
  readonly status: OrderStatus
  readonly finish_as: FinishAs
  /** Microseconds. */
  readonly create_at: number
  readonly update_at: number
  readonly more: OrderExtras | null
}
export const SPOT_ORDER: TableSpec<Order> = {
  name: 'spot_order',
  key: ['id'],
  columns: {
    id: 'int',
    user_id: 'int',
    pair: 'text',
    side: 'text',
    type: 'text',
    account: 'text',
    time_in_force: 'text',
    text: 'text',
    amend_text: 'text',
    price: 'amount',
    amount: 'amount',
    left: 'amount',
    filled: 'amount',
    filled_total: 'amount',
    held: 'amount',
    fee: 'amount',
    gt_fee: 'amount',
    point_fee: 'amount',
    iceberg: 'amount',
    shown: 'amount',
    refreshed: 'bool',
    rank: 'int',
    stp_id: 'int',
    stp_act: 'text',
    status: 'text',
    finish_as: 'text',
    create_at: 'int',
    update_at: 'int',
    more: 'json',
  },
  live: (order) => order.status === 'open',
}

/** The text of an order whose client gave none. */
export const DEFAULT_TEXT = 'apiv4'
/** Only texts that a client chose can be looked up. */
export const isClientText = (text: string): boolean => text.startsWith('t-')

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')
