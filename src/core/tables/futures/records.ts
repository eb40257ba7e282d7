import type { Amount, Price, Rate } from '../../../money/amount.ts'
import type { LogSpec } from '../../../machine/table.ts'
import type { Side } from '../exchange/order.ts'
import type { PositionMode } from './positions.ts'
import { CONTRACT_STAT } from './stats.ts'

/** One side of a trade as its owner sees it. */
export interface ContractFill {
  readonly trade_id: number
  readonly role: 'taker' | 'maker'
  readonly user_id: number
  readonly order_id: number
  readonly contract: string
  /** group/settle. */
  readonly account: string
  readonly side: Side
  /** Contracts, and how many of them closed a position. */
  readonly size: Amount
  readonly close_size: Amount
  readonly price: Price
  /** In the settle currency. */
  readonly value: Amount
  readonly fee: Amount
  readonly point_fee: Amount
  readonly text: string
  readonly at: number
}
export const CONTRACT_FILL: LogSpec<ContractFill> = {
  name: 'contract_fill',
  columns: {
    trade_id: 'int',
    role: 'text',
    user_id: 'int',
    order_id: 'int',
    contract: 'text',
    account: 'text',
    side: 'text',
    size: 'amount',
    close_size: 'amount',
    price: 'amount',
    value: 'amount',
    fee: 'amount',
    point_fee: 'amount',
    text: 'text',
    at: 'int',
  },
}

export type BookType = 'dnw' | 'pnl' | 'fee' | 'fund' | 'point_dnw' | 'point_fee'
/** A line of a contract account's book. */
export interface ContractBookLine {
  readonly id: number
  readonly user_id: number
  readonly account: string
  readonly type: BookType
  readonly change: Amount
  readonly balance: Amount
  readonly text: string
  readonly contract: string
  readonly trade_id: number
  readonly at: number
}
export const CONTRACT_BOOK: LogSpec<ContractBookLine> = {
  name: 'contract_book',
  columns: {
    id: 'int',
    user_id: 'int',
    account: 'text',
    type: 'text',
    change: 'amount',
    balance: 'amount',
    text: 'text',
    contract: 'text',
    trade_id: 'int',
    at: 'int',
  },
}

/** A position that ended. */
export interface PositionClose {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly account: string
  readonly side: 'long' | 'short'
  readonly pnl: Amount
  readonly pnl_pnl: Amount
  readonly pnl_fund: Amount
  readonly pnl_fee: Amount
  readonly text: string
  readonly max_size: Amount
  readonly accum_size: Amount
  readonly first_open_at: number
  readonly long_price: Price
  readonly short_price: Price
  readonly at: number
}
export const POSITION_CLOSE: LogSpec<PositionClose> = {
  name: 'position_close',
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    side: 'text',
    pnl: 'amount',
    pnl_pnl: 'amount',
    pnl_fund: 'amount',
    pnl_fee: 'amount',
    text: 'text',
    max_size: 'amount',
    accum_size: 'amount',
    first_open_at: 'int',
    long_price: 'amount',
    short_price: 'amount',
    at: 'int',
  },
}

/** A position after something changed it. */
export interface PositionChange {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly mode: PositionMode
  readonly size: Amount
  readonly cost: Amount
  readonly margin: Amount
  readonly leverage: Rate
  readonly cross_limit: Rate
  /** Of its owner's own; 0: none. */
  readonly risk_limit: Amount
  readonly liq_price: Price
  readonly realised_pnl: Amount
  readonly history_pnl: Amount
  readonly last_close_pnl: Amount
  readonly realised_point: Amount
  readonly history_point: Amount
  readonly at: number
}
export const POSITION_CHANGE: LogSpec<PositionChange> = {
  name: 'position_change',
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    mode: 'text',
    size: 'amount',
    cost: 'amount',
    margin: 'amount',
    leverage: 'amount',
    cross_limit: 'amount',
    risk_limit: 'amount',
    liq_price: 'amount',
    realised_pnl: 'amount',
    history_pnl: 'amount',
    last_close_pnl: 'amount',
    realised_point: 'amount',
    history_point: 'amount',
    at: 'int',
  },
}

/** An order that liquidated a position, or what the fund or others took of it. */
export interface Liquidate {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly account: string
  readonly leverage: Rate
  /** Of the position before, signed. */
  readonly size: Amount
  readonly margin: Amount
  readonly entry_price: Price
  readonly liq_price: Price
  readonly mark_price: Price
  readonly order_id: number
  readonly order_size: Amount
  readonly order_price: Price
  readonly fill_price: Price
  /** Not filled on the book, with the sign of the position. */
  readonly left: Amount
  readonly at: number
}
export const LIQUIDATE: LogSpec<Liquidate> = {
  name: 'contract_liquidate',
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    leverage: 'amount',
    size: 'amount',
    margin: 'amount',
    entry_price: 'amount',
    liq_price: 'amount',
    mark_price: 'amount',
    order_id: 'int',
    order_size: 'amount',
    order_price: 'amount',
    fill_price: 'amount',
    left: 'amount',
    at: 'int',
  },
}
/** What somebody was made to give up so that another's loss is paid. */
export interface AutoDeleverage {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly account: string
  readonly order_id: number
  readonly leverage: Rate
  readonly cross_limit: Rate
  readonly entry_price: Price
  readonly fill_price: Price
  /** Signed; and the position after it. */
  readonly trade_size: Amount
  readonly position_size: Amount
  readonly at: number
}
export const AUTO_DELEVERAGE: LogSpec<AutoDeleverage> = {
  name: 'auto_deleverage',
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    order_id: 'int',
    leverage: 'amount',
    cross_limit: 'amount',
    entry_price: 'amount',
    fill_price: 'amount',
    trade_size: 'amount',
    position_size: 'amount',
    at: 'int',
  },
}
/** A position that ended because its contract did. */
export interface Settlement {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly account: string
  readonly leverage: Rate
  /** Signed. */
  readonly size: Amount
  readonly margin: Amount
  readonly entry_price: Price
  readonly settle_price: Price
  readonly profit: Amount
  readonly fee: Amount
  readonly at: number
}
export const SETTLEMENT: LogSpec<Settlement> = {
  name: 'contract_settlement',
  columns: {
    id: 'int',
    user_id: 'int',
    contract: 'text',
    account: 'text',
    leverage: 'amount',
    size: 'amount',
    margin: 'amount',
    entry_price: 'amount',
    settle_price: 'amount',
    profit: 'amount',
    fee: 'amount',
    at: 'int',
  },
}
/** A funding that was applied. */
export interface FundingRecord {
  readonly contract: string
  /** Unix seconds. */
  readonly t: number
  readonly r: Rate
}
export const FUNDING: LogSpec<FundingRecord> = {
  name: 'funding',
  columns: { contract: 'text', t: 'int', r: 'amount' },
}
export const CONTRACT_LOGS = [
  CONTRACT_FILL,
  CONTRACT_BOOK,
  POSITION_CLOSE,
  POSITION_CHANGE,
  LIQUIDATE,
  AUTO_DELEVERAGE,
  SETTLEMENT,
  FUNDING,
  CONTRACT_STAT,
] as const
