import { bookView } from '../api/futures/account.ts'
import { orderView, shown, wholeSeconds, type Look } from '../api/futures/order-views.ts'
import { shownContract } from '../api/futures/paths.ts'
import { priceOrderView } from '../api/futures/price-order-views.ts'
import { closeView, deleverageView, liquidateView, tradeView } from '../api/futures/records.ts'
import { sizeText } from '../api/futures/sizes.ts'
import { allowedLeverage, positionFigures, toldLeverage } from '../core/futures/figures.ts'
import type { State } from '../core/state.ts'
import type { Position } from '../core/tables/futures/positions.ts'
import type { ContractPriceOrder } from '../core/tables/futures/price-orders.ts'
import type {
  AutoDeleverage,
  ContractBookLine,
  ContractFill,
  Liquidate,
  PositionClose,
} from '../core/tables/futures/records.ts'
import type { OrderEvent } from '../events/event.ts'
import { format, type Amount } from '../money/amount.ts'
import { numberOf, type Member, type NumberRecord } from './numbers.ts'

/** What private channels of contracts push: the records that REST gives; prices and money are numbers. */

const millis = (micros: number): number => Math.floor(micros / 1000)
const timesOf = (micros: number): { readonly time: number; readonly time_ms: number } => ({
  time: wholeSeconds(micros),
  time_ms: millis(micros),
})
/** Members of REST's record as they stand there, and others as numbers. */
function picked(
  view: Readonly<Record<string, unknown>>,
  same: readonly string[],
  numbers: readonly string[] = [],
): NumberRecord {
  const record: Record<string, Member> = {}
  for (const name of same) record[name] = view[name] as Member
  for (const name of numbers) record[name] = numberOf(view[name] as string)
  return record
}

const ORDER_SAME = [
  'size',
  'left',
  'iceberg',
  'refu',
  'tif',
  'text',
  'is_close',
  'is_liq',
  'is_reduce_only',
  'stp_id',
  'stp_act',
  'amend_text',
  'biz_info',
]
const ORDER_NUMBERS = ['price', 'fill_price', 'tkfr', 'mkfr', 'refr']
/** Of an order that is open still. */
const OPEN_WORDS: Readonly<Record<OrderEvent['change'], string>> = {
  placed: '_new',
  changed: '_update',
  ended: '_update',
}
export function orderRecord(state: State, { after, change }: OrderEvent, look: Look): NumberRecord {
  const view = orderView(state, after, look)
  const { create_at, update_at } = after
  const ended = after.status !== 'open'
  return {
    id: after.id,
    user: String(after.user_id),
    contract: view['contract'] as string,
    create_time: wholeSeconds(create_at),
    create_time_ms: millis(create_at),
    update_time: millis(update_at),
    // No two commands are of one microsecond: 1 when it is placed, and more with each change.
    update_id: update_at - create_at + 1,
    finish_time: ended ? wholeSeconds(update_at) : 0,
    finish_time_ms: ended ? millis(update_at) : 0,
    status: view['status'] as string,
    finish_as: ended ? after.finish_as : OPEN_WORDS[change],
    ...picked(view, ORDER_SAME, ORDER_NUMBERS),
    stop_profit_price: (view['tpsl_tp_trigger_price'] as string | undefined) ?? '',
    stop_loss_price: (view['tpsl_sl_trigger_price'] as string | undefined) ?? '',
  }
}

export function fillRecord(fill: ContractFill, look: Look): NumberRecord {
  const view = tradeView(fill, look)
  const { time: create_time, time_ms: create_time_ms } = timesOf(fill.at)
  return {
    id: String(fill.trade_id),
    create_time,
    create_time_ms,
    ...picked(
      view,
      ['contract', 'order_id', 'size', 'close_size', 'price', 'role', 'text'],
      ['fee', 'point_fee'],
    ),
  }
}

const NO_STOP = { rule: 0, trigger_price: '', order_price: '' }
/** As REST has it, texts and all; of one that protects what an order opens what it stops at. */
export function priceOrderRecord(order: ContractPriceOrder): NumberRecord {
  const { finish_time = 0, finish_as = '', ...view } = priceOrderView(order)
  const stops = order.me_order_id !== 0
  return {
    ...(view as NumberRecord),
    finish_time: finish_time as number,
    finish_as: finish_as as string,
    name: 'price_autoorders',
    is_stop_order: stops,
    stop_trigger: stops
      ? { rule: order.rule, trigger_price: format(order.trigger_price), order_price: order.initial.price }
      : NO_STOP,
  }
}

/** What the row says is of the command; what depends on prices and the account's other positions is of now. */
export function positionRecord(state: State, row: Position, look: Look): NumberRecord {
  const figures = positionFigures(state, row)
  const rules = state.world.mustContract(row.contract)
  const realised = (row.pnl + row.fee + row.fund) as Amount
  return {
    contract: shownContract(row.contract),
    size: look.sizes(row.size),
    mode: row.mode,
    leverage: numberOf(format(toldLeverage(row, rules))),
    leverage_max: numberOf(shown(figures.leverage_max)),
    cross_leverage_limit: numberOf(format(allowedLeverage(row.cross_limit, rules))),
    entry_price: numberOf(shown(figures.entry_price)),
    liq_price: numberOf(shown(figures.liq_price)),
    maintenance_rate: numberOf(shown(figures.maintenance_rate)),
    margin: numberOf(shown(figures.margin)),
    realised_pnl: numberOf(format(realised)),
    realised_point: numberOf(format(row.point_fee)),
    history_pnl: numberOf(format(row.history_pnl)),
    history_point: numberOf(format(row.history_point)),
    last_close_pnl: numberOf(format(row.last_close_pnl)),
    risk_limit: numberOf(shown(figures.risk_limit)),
    ...timesOf(row.update_at),
    user: String(row.user_id),
    update_id: row.update_id,
  }
}
/** A liquidation has closed a part of it, and ended so many of its orders. */
export function reductionRecord(state: State, row: Position, cancelled: number): NumberRecord {
  const figures = positionFigures(state, row)
  return {
    contract: shownContract(row.contract),
    cancel_orders: cancelled,
    leverage_max: numberOf(shown(figures.leverage_max)),
    liq_price: numberOf(shown(figures.liq_price)),
    maintenance_rate: numberOf(shown(figures.maintenance_rate)),
    risk_limit: numberOf(shown(figures.risk_limit)),
    ...timesOf(row.update_at),
    user: String(row.user_id),
  }
}

export function bookRecord(line: ContractBookLine): NumberRecord {
  const { text, type, ...view } = bookView(line)
  return {
    balance: numberOf(view.balance),
    change: numberOf(view.change),
    text,
    ...timesOf(line.at),
    type,
    user: String(line.user_id),
    // What is paid in points is no money of the account's currency.
    currency: type.startsWith('point_') ? 'point' : line.account.slice(line.account.indexOf('/') + 1),
  }
}
export const liquidateRecord = (row: Liquidate, look: Look): NumberRecord => ({
  ...picked(
    liquidateView(row, look),
    ['contract', 'order_id', 'size', 'left'],
    ['entry_price', 'fill_price', 'leverage', 'liq_price', 'margin', 'mark_price', 'order_price'],
  ),
  ...timesOf(row.at),
  user: String(row.user_id),
})
export const deleverageRecord = (row: AutoDeleverage, look: Look): NumberRecord => ({
  ...picked(
    deleverageView(row, look),
    ['contract', 'position_size', 'trade_size'],
    ['entry_price', 'fill_price'],
  ),
  ...timesOf(row.at),
  user: String(row.user_id),
})
export const closeRecord = (close: PositionClose): NumberRecord => ({
  ...picked(closeView(close, sizeText), ['contract', 'side', 'text'], ['pnl']),
  ...timesOf(close.at),
  user: String(close.user_id),
})
