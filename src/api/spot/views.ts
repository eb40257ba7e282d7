import { feeSetting, ratesOf, withToken } from '../../core/spot/fees.ts'
import type { AttachedStop, Order } from '../../core/tables/exchange/order.ts'
import type { Fill } from '../../core/tables/exchange/trades.ts'
import type { State } from '../../core/state.ts'
import { canonical, format, overDown, roundDown, timesDown, type Price } from '../../money/amount.ts'
import type { JsonSchema } from '../fields.ts'
import { bool, decimalText, int64, shape, str } from '../shapes.ts'

/** How much of an order a reply shows: FULL, RESULT (no fees) or ACK (its names only). */
export const ACTION_MODES = ['ACK', 'RESULT', 'FULL'] as const
export type ActionMode = (typeof ACTION_MODES)[number]

const nameMembers = { id: str, text: str, amend_text: str }
const resultMembers = {
  ...nameMembers,
  create_time: str,
  update_time: str,
  create_time_ms: int64,
  update_time_ms: int64,
  status: str,
  currency_pair: str,
  trade_quote: str,
  type: str,
  account: str,
  side: str,
  amount: decimalText,
  price: decimalText,
  time_in_force: str,
  iceberg: decimalText,
  left: decimalText,
  filled_amount: decimalText,
  fill_price: decimalText,
  filled_total: decimalText,
  avg_deal_price: decimalText,
  stp_id: int64,
  stp_act: str,
  finish_as: str,
  auto_borrow: bool,
  auto_repay: bool,
  biz_info: str,
  'slippage?': decimalText,
  'stop_profit?': shape({ trigger_price: decimalText, order_price: decimalText }),
  'stop_loss?': shape({ trigger_price: decimalText, order_price: decimalText }),
}
export const orderMembers = {
  ...resultMembers,
  fee: decimalText,
  fee_currency: str,
  point_fee: decimalText,
  gt_fee: decimalText,
  gt_maker_fee: decimalText,
  gt_taker_fee: decimalText,
  gt_discount: bool,
  rebated_fee: decimalText,
  rebated_fee_currency: str,
}
export const orderShape = shape(orderMembers)
/** An order in any of the action modes, with more members beside. */
export const orderInMode = (more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema => ({
  anyOf: [orderMembers, resultMembers, nameMembers].map((members) => shape({ ...members, ...more })),
})

const AVERAGE_DECIMALS = 12
export const secondsText = (micros: number): string => String(Math.floor(micros / 1e6))
const millis = (micros: number): number => Math.floor(micros / 1000)

const baseOf = (pair: string): string => pair.slice(0, pair.indexOf('_'))
const quoteOf = (pair: string): string => pair.slice(pair.indexOf('_') + 1)
function averagePrice({ filled, filled_total }: Order): string {
  return filled === 0n
    ? '0'
    : format(roundDown(overDown(filled_total, filled as bigint as Price), AVERAGE_DECIMALS))
}

/** The program that sent it. */
export const bizInfo = ({ more }: Order): string => (more?.channel === undefined ? '-' : `ch:${more.channel}`)

/** Members one by one, no object spread: this is built for every order that is placed, and spreading is slow. */
export function orderView(state: State, order: Order, mode: ActionMode = 'FULL'): Record<string, unknown> {
  if (mode === 'ACK') return { id: String(order.id), text: order.text, amend_text: order.amend_text }
  const { more, pair } = order
  const filledTotal = format(order.filled_total)
  const view: Record<string, unknown> = {
    id: String(order.id),
    text: order.text,
    amend_text: order.amend_text,
    create_time: secondsText(order.create_at),
    update_time: secondsText(order.update_at),
    create_time_ms: millis(order.create_at),
    update_time_ms: millis(order.update_at),
    status: order.status,
    currency_pair: pair,
    trade_quote: quoteOf(pair),
    type: order.type,
    account: order.account,
    side: order.side,
    amount: format(order.amount),
    price: format(order.price),
    time_in_force: order.time_in_force,
    iceberg: format(order.iceberg),
    left: format(order.left),
    filled_amount: format(order.filled),
    fill_price: filledTotal,
    filled_total: filledTotal,
    avg_deal_price: averagePrice(order),
    stp_id: order.stp_id,
    stp_act: order.stp_act,
    finish_as: order.finish_as,
    auto_borrow: more?.auto_borrow ?? false,
    auto_repay: more?.auto_repay ?? false,
    biz_info: bizInfo(order),
  }
  if (more !== null) {
    if (more.slippage !== undefined) view['slippage'] = canonical(more.slippage)
    if (more.stop_profit !== undefined) view['stop_profit'] = stopView(more.stop_profit)
    if (more.stop_loss !== undefined) view['stop_loss'] = stopView(more.stop_loss)
  }
  if (mode === 'FULL') addFees(view, state, order)
  return view
}

const stopView = ({ trigger_price, order_price }: AttachedStop) => ({
  trigger_price: canonical(trigger_price),
  order_price: canonical(order_price),
})

function addFees(view: Record<string, unknown>, state: State, order: Order): void {
  const quote = quoteOf(order.pair)
  const base = baseOf(order.pair)
  const buys = order.side === 'buy'
  const inToken = order.gt_fee > 0n
  const rates = inToken ? tokenRates(state, order) : NO_RATES
  view['fee'] = format(order.fee)
  view['fee_currency'] = buys ? base : quote
  view['point_fee'] = format(order.point_fee)
  view['gt_fee'] = format(order.gt_fee)
  view['gt_maker_fee'] = rates.maker
  view['gt_taker_fee'] = rates.taker
  view['gt_discount'] = inToken
  view['rebated_fee'] = '0'
  view['rebated_fee_currency'] = buys ? quote : base
}
const NO_RATES = { maker: '0', taker: '0' }
function tokenRates(state: State, { user_id, pair }: Order): { maker: string; taker: string } {
  const { vip } = feeSetting(state, state.users.must(user_id))
  const { maker, taker } = ratesOf(vip, state.world.findMarket(pair))
  return { maker: format(withToken(maker)), taker: format(withToken(taker)) }
}

/** Milliseconds with the microseconds as decimals. */
export const millisText = (micros: number): string =>
  `${Math.floor(micros / 1000)}.${String(Math.floor(micros) % 1000).padStart(3, '0')}`

export const myTradeShape = shape({
  id: str,
  create_time: str,
  create_time_ms: str,
  currency_pair: str,
  side: str,
  role: str,
  amount: decimalText,
  price: decimalText,
  deal: decimalText,
  order_id: str,
  fee: decimalText,
  fee_currency: str,
  point_fee: decimalText,
  gt_fee: decimalText,
  amend_text: str,
  sequence_id: str,
  text: str,
  trade_quote: str,
})
export const fillView = (fill: Fill): Record<string, unknown> => ({
  id: String(fill.trade_id),
  create_time: secondsText(fill.at),
  create_time_ms: millisText(fill.at),
  currency_pair: fill.pair,
  side: fill.side,
  role: fill.role,
  amount: format(fill.amount),
  price: format(fill.price),
  deal: format(timesDown(fill.amount, fill.price)),
  order_id: String(fill.order_id),
  fee: format(fill.fee),
  fee_currency: fill.fee_currency,
  point_fee: format(fill.point_fee),
  gt_fee: format(fill.gt_fee),
  amend_text: fill.amend_text,
  sequence_id: String(fill.sequence),
  text: fill.text,
  trade_quote: quoteOf(fill.pair),
})

/** A market's name for reading what happened there: one that is gone keeps its history. */
export function historyPair({ world, spot }: State, name: string, parameter = 'currency_pair'): string {
  const known = world.findMarket(name)?.id
  if (known !== undefined) return known
  const gone = name.toUpperCase()
  return spot.figures.get(gone) === undefined ? world.market(name, 'parameter', parameter).id : gone
}
