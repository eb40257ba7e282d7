import type { ContractPriceOrder } from '../../core/tables/futures/price-orders.ts'
import type { PriceType } from '../../core/tables/futures/triggers.ts'
import { format } from '../../money/amount.ts'
import { bool, decimalText, int, int64, num, shape, str } from '../shapes.ts'
import { floatSeconds } from './order-views.ts'
import { shownContract } from './paths.ts'

/** As the calls of price orders number them. */
export const PRICE_NUMBERS = ['last', 'mark', 'index'] as const satisfies readonly PriceType[]

export const priceOrderShape = shape({
  id: int64,
  id_string: str,
  user: int64,
  create_time: num,
  'finish_time?': num,
  trade_id: int64,
  status: str,
  'finish_as?': str,
  reason: str,
  order_type: str,
  me_order_id: int64,
  pos_margin_mode: str,
  initial: shape({
    contract: str,
    size: int64,
    amount: str,
    price: decimalText,
    close: bool,
    tif: str,
    text: str,
    reduce_only: bool,
    auto_size: str,
    is_reduce_only: bool,
    is_close: bool,
    iceberg: int,
  }),
  trigger: shape({ strategy_type: int, price_type: int, price: decimalText, rule: int, expiration: int64 }),
})

/** Sizes are always numbers here, and their texts beside them. */
export function priceOrderView(order: ContractPriceOrder): Record<string, unknown> {
  const { id, initial, finish_as, ended_at } = order
  return {
    id,
    id_string: String(id),
    user: order.user_id,
    create_time: floatSeconds(order.created_at),
    ...(ended_at !== 0 && { finish_time: floatSeconds(ended_at) }),
    trade_id: order.trade_id,
    status: order.status,
    ...(finish_as !== '' && { finish_as }),
    reason: order.reason,
    order_type: order.order_type,
    me_order_id: order.me_order_id,
    pos_margin_mode: order.pos_margin_mode,
    initial: {
      contract: shownContract(order.contract),
      size: Number(initial.size),
      amount: initial.size,
      price: initial.price,
      close: initial.close,
      tif: initial.tif,
      text: initial.text === '' ? 'api' : initial.text,
      reduce_only: initial.reduce_only,
      auto_size: initial.auto_size,
      is_reduce_only: initial.reduce_only,
      is_close: initial.close || initial.auto_size !== '',
      iceberg: 0,
    },
    trigger: {
      strategy_type: 0,
      price_type: PRICE_NUMBERS.indexOf(order.price_type),
      price: format(order.trigger_price),
      rule: order.rule,
      expiration: order.expiration,
    },
  }
}
