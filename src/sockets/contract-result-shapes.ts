import type { JsonSchema } from '../api/fields.ts'
import { priceOrderShape } from '../api/futures/price-order-views.ts'
import { sizeShape } from '../api/futures/sizes.ts'
import { statShape } from '../api/futures/stats.ts'
import { array, bool, decimalText, extended, int, int64, num, shape, str } from '../api/shapes.ts'
import { PRICE_OR_NONE } from './result-shapes.ts'

/** What the channels of contracts push, as JSON Schema: of private ones prices and money are numbers. */

const all = (schema: JsonSchema, ...names: readonly string[]): Record<string, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, schema]))
const LEVELS = array(shape({ p: decimalText, s: sizeShape }))

export const TICKERS = array(
  shape({
    contract: str,
    last: decimalText,
    ...all(decimalText, 'change_percentage', 'total_size', 'low_24h', 'high_24h'),
    ...all(decimalText, 'volume_24h', 'volume_24h_btc', 'volume_24h_usd', 'volume_24h_base'),
    ...all(decimalText, 'volume_24h_quote', 'volume_24h_settle', 'mark_price'),
    index_price: decimalText,
    // Dated contracts have none.
    ...all(str, 'funding_rate', 'funding_rate_indicative', 'quanto_base_rate'),
  }),
)
export const TRADES = array(
  shape({
    id: int64,
    create_time: int64,
    create_time_ms: int64,
    contract: str,
    size: sizeShape,
    price: decimalText,
    'is_internal?': bool,
  }),
)
export const BOOK_TICKER = shape({
  t: int64,
  u: int64,
  s: str,
  b: PRICE_OR_NONE,
  B: sizeShape,
  a: PRICE_OR_NONE,
  A: sizeShape,
})
export const BOOK = shape({ t: int64, id: int64, contract: str, asks: LEVELS, bids: LEVELS, l: str })
export const BOOK_UPDATE = shape({
  t: int64,
  'full?': bool,
  s: str,
  l: str,
  U: int64,
  u: int64,
  b: LEVELS,
  a: LEVELS,
})
export const CANDLES = array(
  shape({ t: int64, v: sizeShape, ...all(decimalText, 'c', 'h', 'l', 'o'), n: str, a: decimalText, w: bool }),
)
export const STATS = array(extended(statShape, { contract: str }))
export const PUBLIC_LIQUIDATES = array(shape({ price: num, size: sizeShape, time_ms: int64, contract: str }))

const times = { time: int64, time_ms: int64 }
export const ORDERS = array(
  shape({
    id: int64,
    user: str,
    contract: str,
    ...all(
      int64,
      'create_time',
      'create_time_ms',
      'update_time',
      'update_id',
      'finish_time',
      'finish_time_ms',
    ),
    ...all(str, 'status', 'finish_as', 'tif', 'text', 'stp_act', 'amend_text', 'biz_info'),
    ...all(sizeShape, 'size', 'left', 'iceberg'),
    ...all(num, 'price', 'fill_price', 'tkfr', 'mkfr', 'refr'),
    refu: int64,
    ...all(bool, 'is_close', 'is_liq', 'is_reduce_only'),
    stp_id: int64,
    ...all(str, 'stop_profit_price', 'stop_loss_price'),
  }),
)
export const FILLS = array(
  shape({
    id: str,
    create_time: int64,
    create_time_ms: int64,
    ...all(str, 'contract', 'order_id', 'role', 'text'),
    ...all(sizeShape, 'size', 'close_size'),
    price: decimalText,
    ...all(num, 'fee', 'point_fee'),
  }),
)
export const PRICE_ORDERS = array(
  extended(priceOrderShape, {
    finish_time: num,
    finish_as: str,
    name: str,
    is_stop_order: bool,
    stop_trigger: shape({ rule: int, trigger_price: str, order_price: str }),
  }),
)
export const POSITIONS = array(
  shape({
    contract: str,
    size: sizeShape,
    mode: str,
    ...all(num, 'leverage', 'leverage_max', 'cross_leverage_limit', 'entry_price', 'liq_price'),
    ...all(num, 'maintenance_rate', 'margin', 'realised_pnl', 'realised_point', 'history_pnl'),
    ...all(num, 'history_point', 'last_close_pnl', 'risk_limit'),
    ...times,
    user: str,
    update_id: int64,
  }),
)
export const BALANCES = array(
  shape({ balance: num, change: num, text: str, ...times, type: str, user: str, currency: str }),
)
export const LIQUIDATES = array(
  shape({
    contract: str,
    order_id: int64,
    ...all(sizeShape, 'size', 'left'),
    ...all(num, 'entry_price', 'fill_price', 'leverage', 'liq_price', 'margin', 'mark_price', 'order_price'),
    ...times,
    user: str,
  }),
)
export const DELEVERAGES = array(
  shape({
    contract: str,
    ...all(sizeShape, 'position_size', 'trade_size'),
    ...all(num, 'entry_price', 'fill_price'),
    ...times,
    user: str,
  }),
)
export const CLOSES = array(shape({ contract: str, pnl: num, side: str, text: str, ...times, user: str }))
export const REDUCTIONS = array(
  shape({
    contract: str,
    cancel_orders: int,
    ...all(num, 'leverage_max', 'liq_price', 'maintenance_rate', 'risk_limit'),
    ...times,
    user: str,
  }),
)
