import { refuseEnded, type NewContractPriceOrder } from '../../core/futures/price-orders.ts'
import type { AccountPath } from '../../core/futures/inputs.ts'
import {
  CONTRACT_PRICE_ORDER,
  POSITION_KINDS,
  type ContractPriceOrder,
} from '../../core/tables/futures/price-orders.ts'
import { notFound, refuse } from '../../labels.ts'
import { endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import {
  described,
  flag,
  integer,
  object,
  oneOf,
  oneOfNumbers,
  optional,
  text,
  withDefault,
  type Field,
} from '../fields.ts'
import { orElse } from '../missing.ts'
import { array, int64, shape, str } from '../shapes.ts'
import { refuseStale } from '../spot/find.ts'
import { hasOwnText, orderDecimal } from '../spot/order-fields.ts'
import { Filter, listFields, listedPage, storedPage } from './lists.ts'
import { orderName, unlessDash } from './order-fields.ts'
import { pathOf } from './orders.ts'
import { SETTLE, contractField, historyContract, settledOf, type Group } from './paths.ts'
import { PRICE_NUMBERS, priceOrderShape, priceOrderView } from './price-order-views.ts'
import { sizeField } from './sizes.ts'

const YEAR_SECONDS = 365 * 86_400
const autoSizeField = unlessDash(oneOf('close_long', 'close_short'))
const sizeFields = {
  size: optional(described(sizeField(), 'contracts, signed; 0 with close or auto_size')),
  amount: optional(described(sizeField(), 'the same as size, as a text; it wins')),
}
const priceTypeField: Field<0 | 1 | 2> = described(oneOfNumbers(0, 1, 2), '0 last, 1 mark, 2 index price')
const ID_PATH = { ...SETTLE, order_id: orderName() }
const idReply = shape({ id: int64, id_string: str })
const named = ({ id }: ContractPriceOrder) => ({ id, id_string: String(id) })

/** Of one that is there already, and so of a new one. */
const READ_LABELS = [
  'TRADE_RESTRICTED',
  'CONTRACT_IN_DELISTING',
  'INVALID_PRECISION',
  'POSITION_IN_LIQUIDATION',
  'SIZE_TOO_SMALL',
  'SIZE_TOO_LARGE',
  'AUTO_TRIGGER_PRICE_GREATE_LAST',
  'AUTO_TRIGGER_PRICE_LESS_LAST',
  'REQUEST_EXPIRED',
] as const
const CREATE_LABELS = [
  'CONTRACT_NOT_FOUND',
  'USER_NOT_FOUND',
  'TOO_MANY_ORDERS',
  'DUPLICATE_REQUEST',
  'POSITION_EMPTY',
  ...READ_LABELS,
] as const

function idOf(name: string): number {
  // What is no number is nobody's order, like a number that nobody has.
  if (!/^\d{1,15}$/.test(name)) notFound('ORDER_NOT_FOUND', `this account has no price order "${name}"`)
  return Number(name)
}
/** One that waits, or that ended long ago. Another account's is not found. */
async function find(desk: Desk, path: AccountPath, id: number): Promise<ContractPriceOrder> {
  const known = await desk.core.read(({ futures }) => futures.waiting.prices.table.get(id))
  const order = known ?? (await desk.store.select(CONTRACT_PRICE_ORDER, 'where "id" = ?', [id]))[0]
  if (order?.user_id !== path.user_id || order.account !== `${path.group}/${path.settle}`)
    return notFound(
      'ORDER_NOT_FOUND',
      `this account has no price order ${id} in ${path.group} ${path.settle}`,
    )
  return order
}
/** Memory holds the waiting ones: of another one, the store tells whether it has ended or never was. */
const orEnded = <R>(desk: Desk, path: AccountPath, id: number, run: Promise<R>): Promise<R> =>
  orElse(run, 'ORDER_NOT_FOUND', async () => refuseEnded(await find(desk, path, id)))

/** Of both groups. */
export const priceOrderEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: `${group.base}/price_orders`,
    summary: 'Creates an order that is placed when a price of its contract reaches a trigger',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    body: object({
      initial: object({
        contract: contractField,
        ...sizeFields,
        price: described(orderDecimal(), '"0" is a market order'),
        tif: optional(oneOf('gtc', 'ioc')),
        text: optional(text({ max: 64, example: 't-my-stop-1' })),
        close: withDefault(flag(), false),
        reduce_only: withDefault(flag(), false),
        auto_size: autoSizeField,
      }),
      trigger: object({
        strategy_type: withDefault(oneOfNumbers(0), 0),
        price_type: withDefault(priceTypeField, 0),
        price: orderDecimal(),
        rule: described(oneOfNumbers(1, 2), '1: at or above the price; 2: at or below it'),
        expiration: withDefault(described(integer(0, 10 * YEAR_SECONDS), 'seconds; 0: none'), 0),
      }),
      order_type: optional(oneOf(...POSITION_KINDS)),
      pos_margin_mode: unlessDash(oneOf('isolated', 'cross')),
    }),
    once: ({ initial }) => hasOwnText(initial),
    status: 201,
    reply: idReply,
    refuses: CREATE_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const { size, amount, ...initial } = body.initial
      const input: NewContractPriceOrder = {
        ...pathOf(group, caller, path.settle),
        initial: { ...initial, size: amount ?? size ?? '0' },
        trigger: {
          price: body.trigger.price,
          price_type: PRICE_NUMBERS[body.trigger.price_type],
          rule: body.trigger.rule,
          expiration: body.trigger.expiration,
        },
        order_type: body.order_type ?? '',
        pos_margin_mode: body.pos_margin_mode,
      }
      return named(await desk.core.submit('futures.price_order.create', input))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/price_orders`,
    summary: 'Lists price orders that wait, or that have ended, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { status: oneOf('open', 'finished'), contract: optional(contractField), ...listFields },
    status: 200,
    reply: array(priceOrderShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async ({ desk, caller, path, query, set }) => {
      const settled = settledOf(group, path.settle)
      const userId = caller.user.user_id
      const { contract, open } = await desk.core.read((state) => ({
        contract: query.contract === null ? null : historyContract(state, settled, query.contract),
        open: query.status === 'open' ? state.futures.waiting.prices.of(userId, settled.account) : [],
      }))
      if (query.status === 'open') {
        const wanted = open.filter((order) => contract === null || order.contract === contract).reverse()
        return listedPage(set, wanted, query).map(priceOrderView)
      }
      const filter = new Filter()
        .and('"user_id" = ?', userId)
        .and('"account" = ?', settled.account)
        .and(`"status" in ('finished', 'invalid')`)
        .and('"contract" = ?', contract)
      const rows = await storedPage(desk, set, CONTRACT_PRICE_ORDER, filter, '"id" desc', query)
      return rows.map(priceOrderView)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${group.base}/price_orders`,
    summary: group.texts
      ? 'Cancels all waiting price orders, of one contract where it is named'
      : 'Cancels all waiting price orders of a contract',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField) },
    status: 200,
    reply: array(priceOrderShape),
    refuses: ['CONTRACT_NOT_FOUND', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, query } = call
      if (!group.texts && query.contract === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
      const input = { ...pathOf(group, caller, path.settle), ...query }
      return (await desk.core.submit('futures.price_order.cancel_all', input)).map(priceOrderView)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/price_orders/{order_id}`,
    summary: 'Shows one price order',
    access: group.access,
    limit: group.other,
    params: ID_PATH,
    status: 200,
    reply: priceOrderShape,
    refuses: ['ORDER_NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      priceOrderView(await find(desk, pathOf(group, caller, path.settle), idOf(path.order_id))),
  }),
  endpoint({
    method: 'DELETE',
    path: `${group.base}/price_orders/{order_id}`,
    summary: 'Cancels a waiting price order',
    access: group.access,
    limit: group.other,
    params: ID_PATH,
    status: 200,
    reply: priceOrderShape,
    refuses: ['ORDER_NOT_FOUND', 'ORDER_FINISHED', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path } = call
      const at = pathOf(group, caller, path.settle)
      const id = idOf(path.order_id)
      const run = desk.core.submit('futures.price_order.cancel', { ...at, id })
      return priceOrderView(await orEnded(desk, at, id, run))
    },
  }),
]

const amendFields = {
  ...sizeFields,
  price: optional(orderDecimal()),
  trigger_price: optional(orderDecimal()),
  price_type: optional(priceTypeField),
  auto_size: autoSizeField,
  close: optional(flag()),
}
const AMEND_LABELS = ['ORDER_NOT_FOUND', 'ORDER_FINISHED', 'NO_CHANGE', ...READ_LABELS] as const
interface Change {
  readonly size: string | null
  readonly amount: string | null
  readonly price: string | null
  readonly trigger_price: string | null
  readonly price_type: 0 | 1 | 2 | null
  readonly auto_size: 'close_long' | 'close_short' | null
  readonly close: boolean | null
}
async function amend(desk: Desk, at: AccountPath, name: string, change: Change) {
  const id = idOf(name)
  const { size, amount, price, trigger_price, price_type, auto_size, close } = change
  const run = desk.core.submit('futures.price_order.amend', {
    ...at,
    id,
    size: amount ?? size,
    price,
    trigger_price,
    price_type: price_type === null ? null : PRICE_NUMBERS[price_type],
    auto_size,
    close,
  })
  return named(await orEnded(desk, at, id, run))
}

/** Of perpetual contracts alone. */
export const perpetualPriceOrderEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'PUT',
    path: `${group.base}/price_orders/amend`,
    summary: 'Changes a waiting price order, which the body names',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    body: object({ order_id: orderName(), ...amendFields }),
    status: 200,
    reply: idReply,
    refuses: AMEND_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      return amend(desk, pathOf(group, caller, path.settle), body.order_id, body)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${group.base}/price_orders/{order_id}`,
    summary: 'Changes a waiting price order',
    access: group.access,
    limit: group.other,
    params: ID_PATH,
    body: object(amendFields),
    status: 200,
    reply: idReply,
    refuses: AMEND_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      return amend(desk, pathOf(group, caller, path.settle), path.order_id, body)
    },
  }),
]
