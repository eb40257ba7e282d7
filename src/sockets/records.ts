import { priceOrderView } from '../api/spot/price-orders.ts'
import { bizInfo, fillView, orderView } from '../api/spot/views.ts'
import type { State } from '../core/state.ts'
import type { Order } from '../core/tables/exchange/order.ts'
import type { FillEvent, OrderEvent, PriceOrderEvent } from '../events/event.ts'

/** What private channels push: the records that REST gives, in the types that these channels have. */

const WORDS: Readonly<Record<OrderEvent['change'], string>> = {
  placed: 'put',
  changed: 'update',
  ended: 'finish',
}
const FEES = ['fee', 'point_fee', 'gt_fee', 'rebated_fee']

export function orderRecord(state: State, { after, user_id, change }: OrderEvent): Record<string, unknown> {
  const record = orderView(state, after)
  record['create_time_ms'] = String(record['create_time_ms'])
  record['update_time_ms'] = String(record['update_time_ms'])
  record['user'] = user_id
  record['event'] = WORDS[change]
  return record
}
export const orderV2Record = (state: State, event: OrderEvent): Record<string, unknown> =>
  without(orderRecord(state, event), FEES)

/** `order`: the one that was filled, as the command left it. */
export function fillRecord({ fill }: FillEvent, order: Order | undefined): Record<string, unknown> {
  const view = fillView(fill)
  return {
    id: fill.trade_id,
    user_id: fill.user_id,
    order_id: view['order_id'],
    currency_pair: view['currency_pair'],
    create_time: Number(view['create_time']),
    create_time_ms: view['create_time_ms'],
    side: view['side'],
    amount: view['amount'],
    role: view['role'],
    price: view['price'],
    fee: view['fee'],
    fee_currency: view['fee_currency'],
    point_fee: view['point_fee'],
    gt_fee: view['gt_fee'],
    text: view['text'],
    amend_text: view['amend_text'],
    biz_info: order === undefined ? '-' : bizInfo(order),
    id_market: fill.sequence,
  }
}
const FILL_FEES = ['fee', 'fee_currency', 'point_fee', 'gt_fee']
export const fillV2Record = (event: FillEvent, order: Order | undefined): Record<string, unknown> =>
  without(fillRecord(event, order), FILL_FEES)

const millis = (micros: number): string => String(Math.floor(micros / 1000))

export function priceOrderRecord({ after: order }: PriceOrderEvent): Record<string, unknown> {
  const { market, fired_order_id, status, reason, trigger, put } = priceOrderView(order)
  const [currency_type, exchange_type] = market.split('_')
  return {
    market,
    uid: String(order.user_id),
    id: String(order.id),
    currency_type,
    exchange_type,
    reason,
    err_msg: status === 'failed' ? reason : '',
    fired_order_id,
    instant_cancel: false,
    trigger_price: trigger.price,
    trigger_rule: trigger.rule,
    trigger_expiration: trigger.expiration,
    price: put.price,
    amount: put.amount,
    source: put.text === 'web' ? 'web' : 'api',
    order_type: put.type,
    side: put.side,
    engine_type: put.account,
    is_stop_order: order.parent_id !== 0,
    stop_trigger_price: '',
    stop_trigger_rule: '',
    stop_price: '',
    ctime: millis(order.created_at),
    ftime: millis(order.ended_at),
    status,
    trigger,
    put,
  }
}

function without(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
