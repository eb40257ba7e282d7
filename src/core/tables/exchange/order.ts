import { ZERO, type Amount, type Price } from '../../../money/amount.ts'
import type { TableSpec } from '../../../machine/table.ts'

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
  | 'open'
  | 'filled'
  | 'cancelled'
  | 'ioc'
  | 'stp'
  | 'price_protect_cancelled'
  | 'liquidate_cancelled'
  // Of contracts.
  | 'liquidated'
  | 'auto_deleveraged'
  | 'reduce_only'
  | 'reduce_out'
  | 'position_closed'
/** What an order names as its account; the ledger account behind it is decided in accounts.ts. */
export const ORDER_ACCOUNTS = ['spot', 'margin', 'unified', 'cross_margin'] as const
/** Orders of contracts name the group of their contract. */
export type ContractGroup = 'futures' | 'delivery'
export type SpotAccount = (typeof ORDER_ACCOUNTS)[number]
export type OrderAccount = SpotAccount | ContractGroup

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
  /** What auto_borrow lent for it, in the currency that it pays with. */
  readonly borrowed?: string
  readonly stop_profit?: AttachedStop
  readonly stop_loss?: AttachedStop
  /** Why an order that the platform itself placed exists, such as the price order that fired. */
  readonly origin?: string
  /** The program that sent it. */
  readonly channel?: string
  // Of contracts.
  readonly reduce_only?: boolean
  readonly close?: boolean
  /** In dual mode: the side that it closes. */
  readonly auto_size?: 'close_long' | 'close_short'
  readonly is_liq?: boolean
  readonly market_order_slip_ratio?: string
  readonly pos_margin_mode?: 'isolated' | 'cross'
  readonly tpsl_tp_trigger_price?: string
  readonly tpsl_sl_trigger_price?: string
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
  /** Base, or contracts; of a market buy: quote. */
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
const orderSpec = (name: string): TableSpec<Order> => ({
  name,
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
  numbered: true,
  revive: (order) => OrderRow.of(order),
})
export const SPOT_ORDER = orderSpec('spot_order')
/** Amounts are contracts, `pair` is the contract's id, and `held` is nothing: margin is a figure, no hold. */
export const CONTRACT_ORDER = orderSpec('contract_order')

/** All orders of one price, in the order of their rank. */
export interface PriceLevel {
  /** The price in ticks: a plain number compares and hashes fast. */
  readonly tick: number
  readonly price: Price
  head: Placed | undefined
  tail: Placed | undefined
  /** Sum of what its orders show. */
  amount: bigint
}
/** The order as its client placed it: the same object in all rows of an order, until an amendment makes another. */
export interface Placed extends Pick<
  Order,
  | 'id'
  | 'user_id'
  | 'pair'
  | 'side'
  | 'type'
  | 'account'
  | 'time_in_force'
  | 'text'
  | 'amend_text'
  | 'price'
  | 'amount'
  | 'iceberg'
  | 'stp_id'
  | 'stp_act'
  | 'create_at'
  | 'more'
> {
  // Notes of the indexes that follow the order, no part of what its row says. In the book: its row and rank as they
  // are now, and the queue of its price. Among the open orders of its owner in its market: their list, and its place.
  row: OrderRow | undefined
  rank: number
  level: PriceLevel | undefined
  previous: Placed | undefined
  next: Placed | undefined
  openIndex: number
  openList: Placed[] | undefined
}
/**
 * An order in memory: what was asked, and what has become of it. A new row is written on until it is put into
 * its table, never after; to change an order, change a copy.
 */
export class OrderRow implements Order {
  readonly placed: Placed
  left: Amount
  filled: Amount
  filled_total: Amount
  held: Amount
  fee: Amount
  gt_fee: Amount
  point_fee: Amount
  shown: Amount
  refreshed: boolean
  rank: number
  status: OrderStatus
  finish_as: FinishAs
  update_at: number

  /** Every figure is named: one that is added does not compile until each maker of rows says what it is. */
  private constructor(
    placed: Placed,
    left: Amount,
    filled: Amount,
    filled_total: Amount,
    held: Amount,
    fee: Amount,
    gt_fee: Amount,
    point_fee: Amount,
    shown: Amount,
    refreshed: boolean,
    rank: number,
    status: OrderStatus,
    finish_as: FinishAs,
    update_at: number,
  ) {
    this.placed = placed
    this.left = left
    this.filled = filled
    this.filled_total = filled_total
    this.held = held
    this.fee = fee
    this.gt_fee = gt_fee
    this.point_fee = point_fee
    this.shown = shown
    this.refreshed = refreshed
    this.rank = rank
    this.status = status
    this.finish_as = finish_as
    this.update_at = update_at
  }
  /** Before anything has become of it; `held` is what it holds. */
  static first(placed: Placed, held: Amount): OrderRow {
    const { amount, create_at } = placed
    return new OrderRow(
      placed,
      amount,
      ZERO,
      ZERO,
      held,
      ZERO,
      ZERO,
      ZERO,
      amount,
      false,
      0,
      'open',
      'open',
      create_at,
    )
  }
  /** The figures of one order with what another asks. */
  private static with(placed: Placed, from: Order): OrderRow {
    return new OrderRow(
      placed,
      from.left,
      from.filled,
      from.filled_total,
      from.held,
      from.fee,
      from.gt_fee,
      from.point_fee,
      from.shown,
      from.refreshed,
      from.rank,
      from.status,
      from.finish_as,
      from.update_at,
    )
  }
  /** Of a plain row that a store gave. */
  static of(order: Order): OrderRow {
    // Members in the order in which placing an order writes them, so that both kinds are one to the machine.
    const placed: Placed = {
      id: order.id,
      user_id: order.user_id,
      pair: order.pair,
      side: order.side,
      type: order.type,
      account: order.account,
      time_in_force: order.time_in_force,
      text: order.text,
      amend_text: order.amend_text,
      price: order.price,
      amount: order.amount,
      iceberg: order.iceberg,
      stp_id: order.stp_id,
      stp_act: order.stp_act,
      create_at: order.create_at,
      more: order.more,
      row: undefined,
      rank: 0,
      level: undefined,
      previous: undefined,
      next: undefined,
      openIndex: 0,
      openList: undefined,
    }
    return OrderRow.with(placed, order)
  }
  copy(): OrderRow {
    return OrderRow.with(this.placed, this)
  }
  amended(change: Partial<Pick<Placed, 'amount' | 'price' | 'iceberg' | 'amend_text' | 'more'>>): OrderRow {
    return OrderRow.with({ ...this.placed, ...change }, this)
  }

  get id(): number {
    return this.placed.id
  }
  get user_id(): number {
    return this.placed.user_id
  }
  get pair(): string {
    return this.placed.pair
  }
  get side(): Side {
    return this.placed.side
  }
  get type(): OrderType {
    return this.placed.type
  }
  get account(): OrderAccount {
    return this.placed.account
  }
  get time_in_force(): TimeInForce {
    return this.placed.time_in_force
  }
  get text(): string {
    return this.placed.text
  }
  get amend_text(): string {
    return this.placed.amend_text
  }
  get price(): Price {
    return this.placed.price
  }
  get amount(): Amount {
    return this.placed.amount
  }
  get iceberg(): Amount {
    return this.placed.iceberg
  }
  get stp_id(): number {
    return this.placed.stp_id
  }
  get stp_act(): StpAct | '-' {
    return this.placed.stp_act
  }
  get create_at(): number {
    return this.placed.create_at
  }
  get more(): OrderExtras | null {
    return this.placed.more
  }
}

/** The text of an order whose client gave none. */
export const DEFAULT_TEXT = 'apiv4'
/** Only texts that a client chose can be looked up. */
export const isClientText = (text: string): boolean => text.startsWith('t-')

/** How many stops an order carries. */
export const stopsIn = (more: OrderExtras | null): number =>
  (more?.stop_profit === undefined ? 0 : 1) + (more?.stop_loss === undefined ? 0 : 1)

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')
