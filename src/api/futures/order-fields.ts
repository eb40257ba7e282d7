import type { Amendment, SentContractOrder } from '../../core/futures/inputs.ts'
import type { Mutable } from '../../machine/table.ts'
import { TIMES_IN_FORCE } from '../../core/tables/exchange/order.ts'
import { described, flag, integer, oneOf, optional, text, type Field, type Values } from '../fields.ts'
import { actionModeField, orderDecimal, stpActField } from '../spot/order-fields.ts'
import { contractField } from './paths.ts'
import { sizeField } from './sizes.ts'

/** "-" and "" are what clients send where nothing was chosen. */
export function unlessDash<T>(inner: Field<T>): Field<T | null> {
  return {
    ...inner,
    required: false,
    read: (value, name, unknown) => (value === '-' ? null : inner.read(value, name, unknown)),
    absent: () => null,
  }
}
const flagFields = {
  tif: optional(oneOf(...TIMES_IN_FORCE)),
  text: optional(described(text({ max: 64, example: 't-my-order-1' }), 'client id, begins with t-')),
  iceberg: optional(sizeField()),
  close: optional(flag()),
  reduce_only: optional(flag()),
  auto_size: unlessDash(oneOf('close_long', 'close_short')),
  stp_act: stpActField,
}
export const orderFields = {
  contract: contractField,
  size: described(sizeField(), 'contracts, signed: above zero buys; 0 with close or auto_size'),
  price: described(orderDecimal(), '"0" is a market order'),
  ...flagFields,
  market_order_slip_ratio: optional(orderDecimal()),
  pos_margin_mode: unlessDash(oneOf('isolated', 'cross')),
  tpsl_tp_trigger_price: optional(orderDecimal()),
  tpsl_sl_trigger_price: optional(orderDecimal()),
  action_mode: actionModeField,
}
export const bboFields = {
  contract: contractField,
  size: described(sizeField(), 'contracts, with the sign of the direction'),
  direction: oneOf('buy', 'sell'),
  level: integer(1, 20),
  ...flagFields,
}

/** What a client sends, as the core takes it. Put on one by one: most orders say little, and what they say is kept for ever. */
export function newOrder(body: Values<typeof orderFields>, channel: string | undefined): SentContractOrder {
  const { contract, size, price } = body
  const order: Mutable<SentContractOrder> = { contract, size, price }
  putFlags(order, body, channel)
  if (body.market_order_slip_ratio !== null) order.market_order_slip_ratio = body.market_order_slip_ratio
  if (body.pos_margin_mode !== null) order.pos_margin_mode = body.pos_margin_mode
  if (body.tpsl_tp_trigger_price !== null) order.tpsl_tp_trigger_price = body.tpsl_tp_trigger_price
  if (body.tpsl_sl_trigger_price !== null) order.tpsl_sl_trigger_price = body.tpsl_sl_trigger_price
  return order
}
export function bboOrder(body: Values<typeof bboFields>, channel: string | undefined): SentContractOrder {
  const { contract, size, level, direction } = body
  // The price is the level's.
  const order: Mutable<SentContractOrder> = { contract, size, price: '0', bbo: { level, direction } }
  putFlags(order, body, channel)
  return order
}
function putFlags(
  order: Mutable<SentContractOrder>,
  body: Values<typeof flagFields>,
  channel: string | undefined,
): void {
  if (body.tif !== null) order.tif = body.tif
  if (body.text !== null) order.text = body.text
  if (body.iceberg !== null) order.iceberg = body.iceberg
  if (body.close !== null) order.close = body.close
  if (body.reduce_only !== null) order.reduce_only = body.reduce_only
  if (body.auto_size !== null) order.auto_size = body.auto_size
  if (body.stp_act !== null) order.stp_act = body.stp_act
  if (channel !== undefined) order.channel = channel
}

/** Other members, such as those that a client adds to the call of every product, are ignored. */
export const amendFields = {
  size: optional(described(sizeField(), 'the new total, what is filled included')),
  price: optional(orderDecimal()),
  amend_text: optional(text({ max: 64 })),
  action_mode: actionModeField,
}
export const amendment = ({ size, price, amend_text }: Omit<Amendment, 'id'>): Omit<Amendment, 'id'> => ({
  size,
  price,
  amend_text,
})

/** An order's id or text; clients send ids as numbers, or as digits in a string. */
export function orderName(): Field<string> {
  const inner = text({ max: 64, example: '12345' })
  return {
    ...inner,
    read: (value, name) => inner.read(typeof value === 'number' ? String(value) : value, name),
  }
}
/** As how many requests a list counts that nobody has checked yet. */
export const countOf =
  (most: number) =>
  (body: unknown): number =>
    Array.isArray(body) ? Math.min(Math.max(body.length, 1), most) : 1
