import {
  ORDER_ACCOUNTS,
  ORDER_TYPES,
  SIDES,
  STP_ACTS,
  TIMES_IN_FORCE,
  isClientText,
} from '../../core/tables/exchange/order.ts'
import type { Mutable } from '../../machine/table.ts'
import type { SentOrder } from '../../core/spot/place.ts'
import type { Amendment } from '../../core/spot/commands.ts'
import {
  decimal,
  described,
  flag,
  object,
  oneOf,
  optional,
  positiveDecimal,
  text,
  withDefault,
  type Field,
  type Values,
} from '../fields.ts'
import { currencyField, pairField } from '../wallet.ts'
import { ACTION_MODES } from './views.ts'

export const accountField = oneOf(...ORDER_ACCOUNTS)
export const sideField = oneOf(...SIDES)
export const actionModeField = withDefault(oneOf(...ACTION_MODES), 'FULL')
/** What an order says of amounts and prices: too many decimals have a label of their own there. */
export const orderDecimal = (): Field<string> => decimal('INVALID_PRECISION')
export const positiveOrderDecimal = (): Field<string> => positiveDecimal('INVALID_PRECISION')
const stopField = object({
  trigger_price: positiveOrderDecimal(),
  order_price: withDefault(orderDecimal(), '0'),
})
/** An SDK sends "-" where nothing was chosen. */
export const stpActField = (() => {
  const inner = oneOf(...STP_ACTS)
  return {
    ...inner,
    required: false,
    read: (value: unknown, name: string) => (value === '-' ? null : inner.read(value, name)),
    absent: () => null,
  } satisfies Field<(typeof STP_ACTS)[number] | null>
})()
/** "0" is what a client may send for a market order's price. */
export const orderFields = {
  text: optional(described(text({ max: 64, example: 't-my-order-1' }), 'client id, begins with t-')),
  currency_pair: pairField,
  type: withDefault(oneOf(...ORDER_TYPES), 'limit'),
  account: optional(accountField),
  side: sideField,
  amount: described(positiveOrderDecimal(), 'base; of a market buy: quote'),
  price: optional(orderDecimal()),
  time_in_force: optional(oneOf(...TIMES_IN_FORCE)),
  iceberg: optional(orderDecimal()),
  auto_borrow: optional(flag()),
  auto_repay: optional(flag()),
  stp_act: stpActField,
  slippage: optional(decimal()),
  stop_profit: optional(stopField),
  stop_loss: optional(stopField),
  trade_quote: optional(currencyField),
  action_mode: actionModeField,
}
/**
 * What a client sends, as the core takes it; `channel` is the program that sends it. Put on one by one: most orders say
 * little, and what they say is kept for ever.
 */
export function newOrder(body: Values<typeof orderFields>, channel: string | undefined): SentOrder {
  const { currency_pair, type, side, amount } = body
  const order: Mutable<SentOrder> = { currency_pair, type, side, amount }
  if (body.price !== null) order.price = body.price
  if (body.time_in_force !== null) order.time_in_force = body.time_in_force
  if (body.text !== null) order.text = body.text
  if (body.account !== null) order.account = body.account
  if (body.iceberg !== null) order.iceberg = body.iceberg
  if (body.auto_borrow !== null) order.auto_borrow = body.auto_borrow
  if (body.auto_repay !== null) order.auto_repay = body.auto_repay
  if (body.stp_act !== null) order.stp_act = body.stp_act
  if (body.slippage !== null) order.slippage = body.slippage
  if (body.stop_profit !== null) order.stop_profit = body.stop_profit
  if (body.stop_loss !== null) order.stop_loss = body.stop_loss
  if (channel !== undefined) order.channel = channel
  if (body.trade_quote !== null) order.trade_quote = body.trade_quote
  return order
}
/** Some clients name themselves in a header; what is no short name is ignored. */
export function channelOf(call: { header(name: string): string | undefined }): string | undefined {
  const value = call.header('x-gate-channel-id') ?? call.header('x-svc-channel-id')
  return value !== undefined && /^[\w.-]{1,32}$/.test(value) ? value : undefined
}

export const amendFields = {
  currency_pair: optional(pairField),
  account: optional(accountField),
  amount: optional(positiveOrderDecimal()),
  price: optional(positiveOrderDecimal()),
  amend_text: optional(text({ max: 64 })),
  action_mode: optional(oneOf(...ACTION_MODES)),
  stop_profit: optional(stopField),
  stop_loss: optional(stopField),
}
export const amendment = ({ amount, price, amend_text, stop_profit, stop_loss }: Amendment): Amendment => ({
  amount,
  price,
  amend_text,
  stop_profit,
  stop_loss,
})

/** An order's text is its idempotency id, when the client chose it. */
export const hasOwnText = ({ text }: { readonly text?: unknown }): boolean =>
  typeof text === 'string' && isClientText(text)

/** The markets of a body that nobody has checked yet, for the rate limit by market. */
export function bodyMarkets(body: unknown, query: Readonly<Record<string, string>> = {}): string[] {
  const items = Array.isArray(body) ? body : [body]
  const pairs = new Set<string>()
  for (const item of items.slice(0, 100)) {
    const own = (item as { currency_pair?: unknown } | null | undefined)?.currency_pair
    // An empty text is an absent one, here as where the body is read.
    const pair = own === undefined || own === null || own === '' ? query['currency_pair'] : own
    if (typeof pair === 'string') pairs.add(pair)
  }
  return [...pairs]
}
