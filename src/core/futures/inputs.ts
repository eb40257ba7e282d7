import type { ContractGroup, Order, Side, StpAct, TimeInForce } from '../tables/exchange/order.ts'
import type { Label } from '../../labels.ts'
import type { Mutable } from '../../machine/table.ts'

/** Which contract account a command is about: the group and settle currency of its path. */
export interface AccountPath {
  readonly user_id: number
  readonly group: ContractGroup
  /** In lower case. */
  readonly settle: string
}
/** An order as a client sends it; null is left out. Sizes are digits, signed. */
export interface NewContractOrder {
  readonly contract: string
  readonly size: string
  readonly iceberg: string | null
  /** "0" is a market order. */
  readonly price: string
  readonly tif: TimeInForce | null
  readonly text: string | null
  readonly close: boolean | null
  readonly reduce_only: boolean | null
  readonly auto_size: 'close_long' | 'close_short' | null
  readonly stp_act: StpAct | null
  readonly market_order_slip_ratio: string | null
  readonly pos_margin_mode: 'isolated' | 'cross' | null
  readonly tpsl_tp_trigger_price: string | null
  readonly tpsl_sl_trigger_price: string | null
  /** The price is the level-th of the other side instead: bbo_orders. */
  readonly bbo: { readonly level: number; readonly direction: Side } | null
  /** The program that sent it. */
  readonly channel?: string
}
/** The same as it is recorded: what its client left out takes no room there, for ever. */
export type SentContractOrder = Pick<NewContractOrder, 'contract' | 'size' | 'price'> &
  Partial<NewContractOrder>
/** Members one by one: this is done for every order. */
export function wholeOrder(sent: SentContractOrder): NewContractOrder {
  const order: Mutable<NewContractOrder> = {
    contract: sent.contract,
    size: sent.size,
    iceberg: sent.iceberg ?? null,
    price: sent.price,
    tif: sent.tif ?? null,
    text: sent.text ?? null,
    close: sent.close ?? null,
    reduce_only: sent.reduce_only ?? null,
    auto_size: sent.auto_size ?? null,
    stp_act: sent.stp_act ?? null,
    market_order_slip_ratio: sent.market_order_slip_ratio ?? null,
    pos_margin_mode: sent.pos_margin_mode ?? null,
    tpsl_tp_trigger_price: sent.tpsl_tp_trigger_price ?? null,
    tpsl_sl_trigger_price: sent.tpsl_sl_trigger_price ?? null,
    bbo: sent.bbo ?? null,
  }
  if (sent.channel !== undefined) order.channel = sent.channel
  return order
}
export interface PlaceInput extends AccountPath {
  readonly order: SentContractOrder
}
export interface PlaceBatchInput extends AccountPath {
  readonly orders: readonly SentContractOrder[]
}
export type ItemResult = { readonly order: Order } | { readonly label: Label; readonly message: string }

/** By id, or by the text that the client gave it. */
export interface NamedOrder {
  readonly id: number | string
}
export interface Amendment extends NamedOrder {
  /** The new total, with what is filled, signed. */
  readonly size: string | null
  readonly price: string | null
  readonly amend_text: string | null
}
export interface AmendInput extends AccountPath, Amendment {}
export interface AmendBatchInput extends AccountPath {
  readonly orders: readonly Amendment[]
}
export interface CancelInput extends AccountPath, NamedOrder {}
export interface CancelBatchInput extends AccountPath {
  readonly ids: readonly (number | string)[]
}
/** Null: all. */
export interface CancelAllInput extends AccountPath {
  readonly contract: string | null
  readonly side: Side | null
  readonly exclude_reduce_only: boolean
  readonly text: string | null
}
export interface CountdownInput extends AccountPath {
  readonly contract: string | null
  /** Seconds; 0: stop. */
  readonly timeout: number
}

export type DualSide = 'dual_long' | 'dual_short'
export interface PositionPath extends AccountPath {
  readonly contract: string
}
export interface LeverageInput extends PositionPath {
  /** "0": cross margin. */
  readonly leverage: string
  /** Read where leverage is 0; null: as it was. */
  readonly cross_leverage_limit: string | null
}
export interface MarginModeInput extends PositionPath {
  readonly mode: 'isolated' | 'cross'
  /** Whether the call is that of single mode alone. */
  readonly single?: boolean
}
export interface RiskLimitInput extends PositionPath {
  readonly risk_limit: string
  /** Whether the call is that of dual mode. */
  readonly dual: boolean
}
export interface MarginInput extends PositionPath {
  /** Signed. */
  readonly change: string
  /** Null: a call of single mode. */
  readonly dual_side: DualSide | null
}
export interface DualModeInput extends AccountPath {
  readonly dual: boolean
}
