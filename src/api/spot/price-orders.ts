import { SPOT_PRICE_ORDER, type PriceOrder, type PutOrder } from '../../core/tables/spot/price-orders.ts'
import { isClientText } from '../../core/tables/exchange/order.ts'
import { checkText } from '../../core/spot/rules.ts'
import { SOURCES, putAccountsMeant, refuseNotWaiting } from '../../core/spot/triggers.ts'
import { notFound, refuse } from '../../labels.ts'
import { canonical, format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { flag, integer, object, oneOf, optional, text, withDefault } from '../fields.ts'
import { paginationHeaders } from '../history.ts'
import { LIMITS } from '../limits.ts'
import { orElse } from '../missing.ts'
import { array, bool, decimalText, int64, shape, str } from '../shapes.ts'
import { pairField } from '../wallet.ts'
import { refuseStale } from './find.ts'
import { hasOwnText, orderDecimal, positiveOrderDecimal, sideField } from './order-fields.ts'
import { historyPair } from './views.ts'

const ACCESS = signed('spot')
const accountField = oneOf('normal', 'margin', 'unified')
const DAY_SECONDS = 86_400

export const priceOrderShape = shape({
  id: int64,
  user: int64,
  market: str,
  ctime: int64,
  ftime: int64,
  fired_order_id: int64,
  status: str,
  reason: str,
  trigger: shape({ price: decimalText, rule: str, expiration: int64, 'text?': str }),
  put: shape({
    type: str,
    side: str,
    price: decimalText,
    amount: decimalText,
    account: str,
    time_in_force: str,
    auto_borrow: bool,
    auto_repay: bool,
    text: str,
  }),
})
const seconds = (micros: number): number => Math.floor(micros / 1e6)
export const priceOrderView = (order: PriceOrder) => ({
  id: order.id,
  user: order.user_id,
  market: order.pair,
  ctime: seconds(order.created_at),
  ftime: seconds(order.ended_at),
  fired_order_id: order.fired_order_id,
  status: order.status,
  reason: order.reason,
  trigger: {
    price: format(order.trigger_price),
    rule: order.rule,
    expiration: order.expiration,
    // Where ccxt looks for the client's own id.
    ...(isClientText(order.put.text) && { text: order.put.text }),
  },
  put: { ...order.put, price: canonical(order.put.price), amount: canonical(order.put.amount) },
})

/** ccxt sends the client's own id here, without the prefix that it gives it elsewhere. */
const ownText = (text: string): string => (SOURCES.has(text) || isClientText(text) ? text : `t-${text}`)
function idOf(name: string): number {
  // What is no number is nobody's order, like a number that nobody has.
  if (!/^\d{1,15}$/.test(name)) notFound('ORDER_NOT_FOUND', `this account has no price order "${name}"`)
  return Number(name)
}
async function find(desk: Desk, userId: number, orderId: number): Promise<PriceOrder> {
  const known = await desk.core.read(({ spot }) => spot.priceOrders.table.get(orderId))
  const order = known ?? (await desk.store.select(SPOT_PRICE_ORDER, 'where "id" = ?', [orderId]))[0]
  if (order?.user_id !== userId) notFound('ORDER_NOT_FOUND', `this account has no price order ${orderId}`)
  return order
}

export const priceOrderEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/spot/price_orders',
    summary: 'Creates an order that is placed when the last price reaches its trigger',
    access: ACCESS,
    limit: LIMITS.spot,
    body: object({
      market: pairField,
      trigger: object({
        price: positiveOrderDecimal(),
        rule: oneOf('>=', '<='),
        expiration: withDefault(integer(1, 30 * DAY_SECONDS), DAY_SECONDS),
        text: optional(text({ max: 64 })),
      }),
      put: object({
        type: withDefault(oneOf('limit', 'market'), 'limit'),
        side: sideField,
        price: optional(orderDecimal()),
        amount: positiveOrderDecimal(),
        account: withDefault(accountField, 'normal'),
        time_in_force: withDefault(oneOf('gtc', 'ioc'), 'gtc'),
        auto_borrow: withDefault(flag(), false),
        auto_repay: withDefault(flag(), false),
        text: optional(text({ max: 64 })),
      }),
    }),
    once: ({ trigger, put }) => hasOwnText(put) || hasOwnText(trigger),
    status: 201,
    reply: shape({ id: int64, id_string: str }),
    refuses: [
      'INVALID_CURRENCY',
      'INVALID_CURRENCY_PAIR',
      'INVALID_PRECISION',
      'ACCOUNT_EXCEPTION',
      'AUTO_TRIGGER_PRICE_LESS_LAST',
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
      'TRADE_RESTRICTED',
      'TOO_MANY_ORDERS',
      'DUPLICATE_REQUEST',
      'REQUEST_EXPIRED',
    ],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const { text: triggerText, ...trigger } = body.trigger
      const { price, type } = body.put
      if (price === null && type === 'limit')
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: put.price (of a limit order)')
      const named = triggerText === null ? '' : ownText(triggerText)
      if (isClientText(named) && body.put.text === null) checkText(named, 'trigger.text')
      const put: PutOrder = { ...body.put, price: price ?? '0', text: body.put.text ?? named }
      const order = await desk.core.submit('spot.price_order.create', {
        user_id: caller.user.user_id,
        market: body.market,
        trigger,
        put,
      })
      return { id: order.id, id_string: String(order.id) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/price_orders',
    summary: 'Lists price orders, newest first',
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      status: oneOf('open', 'finished'),
      market: optional(pairField),
      account: optional(accountField),
      limit: withDefault(integer(1, 1000), 100),
      offset: withDefault(integer(0, 100_000), 0),
    },
    status: 200,
    reply: array(priceOrderShape),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'],
    handle: async (call) => {
      const { desk, caller, query } = call
      const userId = caller.user.user_id
      const paged = (total: number): void =>
        paginationHeaders((name, value) => call.set(name, value), query, total)
      const { pair, accounts, open } = await desk.core.read((state) => ({
        pair: query.market === null ? null : historyPair(state, query.market, 'market'),
        accounts: query.account === null ? null : putAccountsMeant(state, userId, query.account),
        open: state.spot.priceOrders.openOf(userId).reverse(),
      }))
      if (query.status === 'open') {
        const wanted = open
          .filter((order) => pair === null || order.pair === pair)
          .filter(({ put }) => accounts?.includes(put.account) ?? true)
        paged(wanted.length)
        return wanted.slice(query.offset, query.offset + query.limit).map(priceOrderView)
      }
      const conditions = ['"user_id" = ?', `"status" <> 'open'`]
      const values: (string | number)[] = [userId]
      if (pair !== null) {
        conditions.push('"pair" = ?')
        values.push(pair)
      }
      if (accounts !== null) {
        conditions.push(`(${accounts.map(() => '"put" like ?').join(' or ')})`)
        values.push(...accounts.map((account) => `%"account":"${account}"%`))
      }
      const where = `where ${conditions.join(' and ')}`
      const [[total]] = (await desk.store.query(
        `select count(*) from spot_price_order ${where}`,
        values,
      )) as [[number]]
      paged(total)
      const ended = await desk.store.select(
        SPOT_PRICE_ORDER,
        `${where} order by "id" desc limit ? offset ?`,
        [...values, query.limit, query.offset],
      )
      return ended.map(priceOrderView)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/price_orders',
    summary: 'Cancels all waiting price orders, of one market or account where they are named',
    access: ACCESS,
    limit: LIMITS.spot,
    query: { market: optional(pairField), account: optional(accountField) },
    status: 200,
    reply: array(priceOrderShape),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, query } = call
      const orders = await desk.core.submit('spot.price_order.cancel_all', {
        user_id: caller.user.user_id,
        ...query,
      })
      return orders.map(priceOrderView)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/price_orders/{order_id}',
    summary: 'Shows one price order',
    access: ACCESS,
    limit: LIMITS.spot,
    params: { order_id: text({ max: 64 }) },
    status: 200,
    reply: priceOrderShape,
    refuses: ['ORDER_NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      priceOrderView(await find(desk, caller.user.user_id, idOf(path.order_id))),
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/price_orders/{order_id}',
    summary: 'Cancels a waiting price order',
    access: ACCESS,
    limit: LIMITS.spot,
    params: { order_id: text({ max: 64 }) },
    status: 200,
    reply: priceOrderShape,
    refuses: ['ORDER_NOT_FOUND', 'ORDER_CLOSED', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path } = call
      const user_id = caller.user.user_id
      const id = idOf(path.order_id)
      // Memory holds the waiting ones: of another one, the store tells whether it has ended or never was.
      const run = desk.core.submit('spot.price_order.cancel', { user_id, id })
      return priceOrderView(
        await orElse(run, 'ORDER_NOT_FOUND', async () => refuseNotWaiting(await find(desk, user_id, id))),
      )
    },
  }),
]
