import { contractRates } from '../../core/futures/fees.ts'
import type { ItemResult } from '../../core/futures/inputs.ts'
import { feeSetting } from '../../core/spot/fees.ts'
import type { State } from '../../core/state.ts'
import type { Order } from '../../core/tables/exchange/order.ts'
import {
  canonical,
  format,
  overDown,
  roundDown,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'
import type { JsonSchema } from '../fields.ts'
import { bool, decimalText, int, int64, num, shape, str } from '../shapes.ts'
import { bizInfo, type ActionMode } from '../spot/views.ts'
import { shownContract, type Group } from './paths.ts'
import { sizeNumber, sizeShape, sizesOf, type Sizes } from './sizes.ts'
import type { HeaderName } from '../../http/exchange.ts'

const SHOWN_DECIMALS = 12
/** Figures that are computed: at most 12 decimals, towards zero. */
export const shown = (value: Amount | Price | Rate): string =>
  format(roundDown(value as bigint as Amount, SHOWN_DECIMALS))
/** Seconds with three decimals: a longer number would be more than some clients read. */
export const floatSeconds = (micros: number): number => Math.floor(micros / 1000) / 1000
export const wholeSeconds = (micros: number): number => Math.floor(micros / 1e6)

/** How a reply to this request is written: its sizes, and the members that its group has. */
export interface Look {
  readonly group: Group
  readonly sizes: Sizes
}
export const lookOf = (group: Group, call: { header(name: HeaderName): string | undefined }): Look => ({
  group,
  sizes: group.texts ? sizesOf(call) : sizeNumber,
})

const ackMembers = { id: int64, text: str, contract: str, create_time: num, status: str }
const resultMembers = {
  ...ackMembers,
  user: int64,
  'update_time?': num,
  'finish_time?': num,
  'finish_as?': str,
  size: sizeShape,
  iceberg: sizeShape,
  price: decimalText,
  is_close: bool,
  is_reduce_only: bool,
  is_liq: bool,
  tif: str,
  left: sizeShape,
  fill_price: decimalText,
  stp_id: int64,
  stp_act: str,
  amend_text: str,
  biz_info: str,
  'market_order_slip_ratio?': decimalText,
  'pos_margin_mode?': str,
  'tpsl_tp_trigger_price?': decimalText,
  'tpsl_sl_trigger_price?': decimalText,
}
const fullMembers = { ...resultMembers, tkfr: decimalText, mkfr: decimalText, refu: int, refr: decimalText }
export const orderShape = shape(fullMembers)
/** In any of the action modes. */
export const orderInMode: JsonSchema = {
  anyOf: [fullMembers, resultMembers, ackMembers].map((one) => shape(one)),
}
/** The call that lists orders by time writes two of them as texts. */
export const orderTimerangeShape = shape({ ...fullMembers, 'update_time?': str, 'finish_time?': str })
export const batchShape: JsonSchema = {
  anyOf: [
    ...[fullMembers, resultMembers, ackMembers].map((one) => shape({ ...one, succeeded: bool })),
    shape({ succeeded: bool, label: str, detail: str, text: str }),
  ],
}

/** With the sign of the order's side. */
const signedBy = ({ side }: Order, amount: Amount): Amount => (side === 'buy' ? amount : -amount) as Amount
function averagePrice({ filled, filled_total }: Order): string {
  return filled === 0n ? '0' : shown(overDown(filled_total, filled as bigint as Price))
}

export function orderView(
  state: State,
  order: Order,
  look: Look,
  mode: ActionMode = 'FULL',
): Record<string, unknown> {
  const ended = order.status !== 'open'
  if (mode === 'FULL' && look.group.texts && order.more === null)
    return plainView(state, order, look.sizes, ended)
  const view: Record<string, unknown> = {
    id: order.id,
    text: order.text,
    contract: shownContract(order.pair),
    create_time: floatSeconds(order.create_at),
    status: ended ? 'finished' : 'open',
  }
  if (mode === 'ACK') return view
  const { sizes, group } = look
  const { more } = order
  view['user'] = order.user_id
  if (group.texts) view['update_time'] = floatSeconds(order.update_at)
  if (ended) {
    view['finish_time'] = floatSeconds(order.update_at)
    view['finish_as'] = order.finish_as
  }
  view['size'] = sizes(signedBy(order, order.amount))
  view['iceberg'] = sizes(order.iceberg)
  view['price'] = format(order.price)
  view['is_close'] = more?.close === true || more?.auto_size !== undefined
  view['is_reduce_only'] = more?.reduce_only === true
  view['is_liq'] = more?.is_liq === true
  view['tif'] = order.time_in_force
  view['left'] = sizes(signedBy(order, order.left))
  view['fill_price'] = averagePrice(order)
  view['stp_id'] = order.stp_id
  view['stp_act'] = order.stp_act
  view['amend_text'] = order.amend_text
  view['biz_info'] = bizInfo(order)
  if (more !== null) {
    if (more.pos_margin_mode !== undefined) view['pos_margin_mode'] = more.pos_margin_mode
    for (const name of GIVEN) {
      const value = more[name]
      if (value !== undefined) view[name] = canonical(value)
    }
  }
  if (mode === 'FULL') addRates(view, state, order)
  return view
}
/** The same of nearly all orders, whose members are known beforehand: they are written at once, not one by one. */
function plainView(state: State, order: Order, sizes: Sizes, ended: boolean): Record<string, unknown> {
  const { vip } = feeSetting(state, state.users.must(order.user_id))
  const { taker, maker } = contractRates(vip, state.world.findContract(order.pair))
  const size = sizes(signedBy(order, order.amount))
  const iceberg = sizes(order.iceberg)
  const left = order.left === order.amount ? size : sizes(signedBy(order, order.left))
  const updated = floatSeconds(order.update_at)
  const view: Record<string, unknown> = {
    id: order.id,
    text: order.text,
    contract: shownContract(order.pair),
    create_time: floatSeconds(order.create_at),
    status: ended ? 'finished' : 'open',
    user: order.user_id,
    update_time: updated,
    size,
    iceberg,
    price: format(order.price),
    is_close: false,
    is_reduce_only: false,
    is_liq: false,
    tif: order.time_in_force,
    left,
    fill_price: averagePrice(order),
    stp_id: order.stp_id,
    stp_act: order.stp_act,
    amend_text: order.amend_text,
    biz_info: bizInfo(order),
    tkfr: format(taker),
    mkfr: format(maker),
    refu: 0,
    refr: '0',
  }
  if (ended) {
    view['finish_time'] = updated
    view['finish_as'] = order.finish_as
  }
  return view
}
const GIVEN = ['market_order_slip_ratio', 'tpsl_tp_trigger_price', 'tpsl_sl_trigger_price'] as const
/** What the account pays now. */
function addRates(view: Record<string, unknown>, state: State, { user_id, pair }: Order): void {
  const { vip } = feeSetting(state, state.users.must(user_id))
  const { taker, maker } = contractRates(vip, state.world.findContract(pair))
  view['tkfr'] = format(taker)
  view['mkfr'] = format(maker)
  view['refu'] = 0
  view['refr'] = '0'
}
export function timerangeView(state: State, order: Order, look: Look): Record<string, unknown> {
  const view = orderView(state, order, look)
  const time = String(floatSeconds(order.update_at))
  view['update_time'] = time
  if (order.status !== 'open') view['finish_time'] = time
  return view
}
/** One item of a batch; `text` is what the client called it. */
export const itemView = (
  state: State,
  result: ItemResult,
  look: Look,
  mode: ActionMode,
  text: string,
): Record<string, unknown> =>
  'label' in result
    ? { succeeded: false, label: result.label, detail: result.message, text }
    : { ...orderView(state, result.order, look, mode), succeeded: true }
