import { tickerShape } from '../api/spot/tickers.ts'
import { orderMembers } from '../api/spot/views.ts'
import { array, bool, decimalText, extended, int, int64, map, num, shape, str } from '../api/shapes.ts'
import { priceOrderShape } from '../api/spot/price-orders.ts'
import type { JsonSchema } from '../api/fields.ts'

/** What the channels of spot and of unified accounts push, as JSON Schema: REST's records, in the types of these channels. */

/** [price, amount]; a price that is gone has the amount 0. */
export const LEVELS = array({ ...array(decimalText), description: 'price, amount' })
/** An empty side has none. */
export const PRICE_OR_NONE = { ...str, description: 'a price, or empty' }

export const TRADE = shape({
  id: int64,
  id_market: int64,
  create_time: int64,
  create_time_ms: str,
  side: str,
  currency_pair: str,
  amount: decimalText,
  price: decimalText,
  range: str,
})
export const TICKER = tickerShape
export const CANDLE = shape({
  t: str,
  v: decimalText,
  c: decimalText,
  h: decimalText,
  l: decimalText,
  o: decimalText,
  n: str,
  a: decimalText,
  w: bool,
})
export const BOOK_TICKER = shape({
  t: int64,
  u: int64,
  s: str,
  b: PRICE_OR_NONE,
  B: decimalText,
  a: PRICE_OR_NONE,
  A: decimalText,
})
export const BOOK = shape({ t: int64, lastUpdateId: int64, s: str, l: str, bids: LEVELS, asks: LEVELS })
export const BOOK_UPDATE = shape({
  t: int64,
  'full?': bool,
  l: str,
  e: str,
  E: int64,
  s: str,
  U: int64,
  u: int64,
  b: LEVELS,
  a: LEVELS,
})
/** A whole picture has no first id. */
export const OBU = shape({ t: int64, 'full?': bool, s: str, 'U?': int64, u: int64, b: LEVELS, a: LEVELS })

const orderPushed = { ...orderMembers, create_time_ms: str, update_time_ms: str, user: int64, event: str }
const without = (members: Readonly<Record<string, JsonSchema>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
export const ORDERS = array(shape(orderPushed))
export const ORDERS_V2 = array(shape(without(orderPushed, ['fee', 'point_fee', 'gt_fee', 'rebated_fee'])))

const fillPushed = {
  id: int64,
  user_id: int64,
  order_id: str,
  currency_pair: str,
  create_time: int64,
  create_time_ms: str,
  side: str,
  amount: decimalText,
  role: str,
  price: decimalText,
  fee: decimalText,
  fee_currency: str,
  point_fee: decimalText,
  gt_fee: decimalText,
  text: str,
  amend_text: str,
  biz_info: str,
  id_market: int64,
}
export const FILLS = array(shape(fillPushed))
export const FILLS_V2 = array(shape(without(fillPushed, ['fee', 'fee_currency', 'point_fee', 'gt_fee'])))

const orderMembersOf = (name: string): JsonSchema =>
  (priceOrderShape['properties'] as Readonly<Record<string, JsonSchema>>)[name]!
export const PRICE_ORDER = shape({
  market: str,
  uid: str,
  id: str,
  currency_type: str,
  exchange_type: str,
  reason: str,
  err_msg: str,
  fired_order_id: int64,
  instant_cancel: bool,
  trigger_price: decimalText,
  trigger_rule: str,
  trigger_expiration: int64,
  price: str,
  amount: str,
  source: str,
  order_type: str,
  side: str,
  engine_type: str,
  is_stop_order: bool,
  stop_trigger_price: str,
  stop_trigger_rule: str,
  stop_price: str,
  ctime: str,
  ftime: str,
  status: str,
  trigger: orderMembersOf('trigger'),
  put: orderMembersOf('put'),
})

const moment = { timestamp: str, timestamp_ms: str, user: str }
export const BALANCES = array(
  shape({
    ...moment,
    currency: str,
    change: decimalText,
    total: decimalText,
    available: decimalText,
    freeze: decimalText,
    freeze_change: decimalText,
    change_type: str,
    update_id: int64,
  }),
)
export const MARGIN_BALANCES = array(
  shape({
    ...moment,
    currency_pair: str,
    currency: str,
    change: decimalText,
    available: decimalText,
    freeze: decimalText,
    borrowed: decimalText,
    interest: decimalText,
  }),
)
export const FUNDING_BALANCES = array(
  shape({ ...moment, currency: str, change: decimalText, freeze: decimalText, lent: decimalText }),
)
export const LOAN = shape({
  timestamp: int64,
  user: str,
  currency: str,
  change: decimalText,
  total: decimalText,
  available: decimalText,
  borrowed: decimalText,
  interest: decimalText,
})

const figures = (...names: readonly string[]): Record<string, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, decimalText]))
export const ASSETS = shape({ u: int64, t: int64, ...figures('r', 'R', 'b', 'e', 'l', 'T', 'a') })
const detail = shape(figures('a', 'f', 'e', 'tl', 'b'))
/** In single_currency mode USDT has what contracts stand on, too. */
const single = extended(detail, figures('cb', 'mb', 'im', 'mm', 'imr', 'mmr', 'am', 'iam'))
export const ASSET_DETAIL = shape({ u: int64, t: int64, dts: map({ anyOf: [detail, single] }) })

/** The answer of a login. */
export const LOGIN = shape({ api_key: str, uid: str })
/** What waits, as figures of the frame around a push. */
export const PUSH_FRAME = { time: int64, time_ms: int64, channel: str, event: str }
export const CALL_HEADER = shape({
  response_time: str,
  status: str,
  channel: str,
  event: str,
  client_id: str,
  x_in_time: num,
  x_out_time: num,
  conn_id: str,
  conn_trace_id: str,
  trace_id: str,
  'x_gate_ratelimit_requests_remain?': int,
  'x_gate_ratelimit_limit?': int,
  'x_gate_ratelimit_reset_timestamp?': int64,
  'x_gat_ratelimit_reset_timestamp?': int64,
})
