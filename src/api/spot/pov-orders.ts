import { LONG_PAGES } from '../history.ts'
import { SPOT_POV_ORDER, type PovOrder } from '../../core/tables/spot/pov-orders.ts'
import { refuseFinished } from '../../core/spot/pov.ts'
import { notFound, refuse } from '../../labels.ts'
import { canonical, format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { number, object, oneOf, optional, text } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { orElse } from '../missing.ts'
import { array, decimalText, int64, num, shape, str } from '../shapes.ts'
import { pairField } from '../wallet.ts'
import { refuseStale } from './find.ts'
import { hasOwnText, positiveOrderDecimal, sideField } from './order-fields.ts'
import { skipped } from './span.ts'
import { historyPair } from './views.ts'

const ACCESS = signed('spot')
const TTL_MAX = 86_400
const ORDER_ID = { order_id: text({ max: 64 }) }
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const

const povShape = shape({
  id: str,
  currency_pair: str,
  side: str,
  amount: decimalText,
  filled_amount: decimalText,
  participation_rate: num,
  ttl: str,
  limit_price: str,
  trigger_price: str,
  status: str,
  terminated_as: str,
  reason: str,
  start_time_ms: int64,
  end_time_ms: int64,
  expire_time_ms: int64,
  create_time_ms: int64,
  update_time_ms: int64,
  text: str,
})
const ms = (micros: number): number => Math.floor(micros / 1000)
/** As it was asked for; empty: none. */
const priceText = (text: string): string => (text === '' ? '' : canonical(text))
const view = (order: PovOrder) => ({
  id: String(order.id),
  currency_pair: order.pair,
  side: order.side,
  amount: format(order.amount),
  filled_amount: format((order.amount - order.left) as PovOrder['amount']),
  participation_rate: Number(format(order.participation_rate)),
  ttl: String(order.ttl),
  limit_price: priceText(order.limit_price),
  trigger_price: priceText(order.trigger_price),
  status: order.status,
  terminated_as: order.terminated_as,
  reason: order.reason,
  start_time_ms: ms(order.start_at),
  end_time_ms: ms(order.end_at),
  expire_time_ms: ms(order.expire_at),
  create_time_ms: ms(order.create_at),
  update_time_ms: ms(order.update_at),
  text: order.text,
})

function idOf(name: string): number {
  if (!/^\d{1,15}$/.test(name)) notFound('ORDER_NOT_FOUND', `this account has no POV order "${name}"`)
  return Number(name)
}
async function find(desk: Desk, userId: number, id: number): Promise<PovOrder> {
  const known = await desk.core.read(({ spot }) => spot.povOrders.table.get(id))
  const order = known ?? (await desk.store.select(SPOT_POV_ORDER, 'where "id" = ?', [id]))[0]
  if (order?.user_id !== userId) notFound('ORDER_NOT_FOUND', `this account has no POV order ${id}`)
  return order
}
/** Shown as it is, a JSON number has four decimals at most. */
function rateText(rate: number): string {
  if (Number(rate.toFixed(4)) !== rate)
    refuse(
      'INVALID_PARAM_VALUE',
      `participation_rate: ${rate} must be a number with at most 4 decimals, such as 0.1`,
    )
  return String(rate)
}
/** Seconds, which a client sends as a text. */
function seconds(ttl: string): number {
  const value = Number(ttl)
  if (!/^\d{1,6}$/.test(ttl) || value < 1 || value > TTL_MAX)
    refuse('INVALID_PARAM_VALUE', `ttl: "${ttl}" must be whole seconds from 1 to ${TTL_MAX}`)
  return value
}

/** Orders that take a share of what others trade (percentage of volume). */
export const povOrderEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/spot/pov_orders',
    summary:
      'Creates an order that takes a share of the volume of others until it is filled or its time is over',
    access: ACCESS,
    limit: LIMITS.spot,
    body: object({
      currency_pair: pairField,
      side: sideField,
      amount: positiveOrderDecimal(),
      participation_rate: number(0, 1),
      ttl: text({ max: 10, example: '3600' }),
      limit_price: optional(positiveOrderDecimal()),
      trigger_price: optional(positiveOrderDecimal()),
      text: optional(text({ max: 64 })),
    }),
    once: hasOwnText,
    status: 201,
    reply: povShape,
    refuses: [
      ...PAIR_LABELS,
      'INVALID_PRECISION',
      'AMOUNT_TOO_LITTLE',
      'AMOUNT_TOO_MUCH',
      'TRADE_RESTRICTED',
      'ORDER_BOOK_NOT_FOUND',
      'BALANCE_NOT_ENOUGH',
      'TOO_MANY_ORDERS',
      'DUPLICATE_REQUEST',
      'REQUEST_EXPIRED',
    ],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const order = await desk.core.submit('spot.pov.create', {
        ...body,
        user_id: caller.user.user_id,
        participation_rate: rateText(body.participation_rate),
        ttl: seconds(body.ttl),
      })
      return view(order)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/pov_orders',
    summary: 'Lists POV orders, newest first',
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      status: oneOf('open', 'finished'),
      currency_pair: optional(pairField),
      side: optional(sideField),
      ...LONG_PAGES,
    },
    status: 200,
    reply: array(povShape),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) => {
      const userId = caller.user.user_id
      const { status, side, limit } = query
      const skip = skipped(query.page, limit)
      const { pair, open } = await desk.core.read((state) => ({
        pair: query.currency_pair === null ? null : historyPair(state, query.currency_pair),
        open: state.spot.povOrders.openOf(userId).reverse(),
      }))
      if (status === 'open')
        return open
          .filter((order) => (pair === null || order.pair === pair) && (side === null || order.side === side))
          .slice(skip, skip + limit)
          .map(view)
      const conditions = ['"user_id" = ?', `"status" <> 'open'`]
      const values: (string | number)[] = [userId]
      for (const [column, value] of Object.entries({ pair, side }))
        if (value !== null) {
          conditions.push(`"${column}" = ?`)
          values.push(value)
        }
      const where = `where ${conditions.join(' and ')} order by "id" desc limit ? offset ?`
      return (await desk.store.select(SPOT_POV_ORDER, where, [...values, limit, skip])).map(view)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/pov_orders',
    summary: 'Cancels all open POV orders, of one market or side where they are named',
    access: ACCESS,
    limit: LIMITS.spot,
    query: { currency_pair: optional(pairField), side: optional(sideField) },
    status: 200,
    reply: array(povShape),
    refuses: [...PAIR_LABELS, 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, query } = call
      const user_id = caller.user.user_id
      return (await desk.core.submit('spot.pov.cancel_all', { user_id, ...query })).map(view)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/pov_orders/{order_id}',
    summary: 'Shows one POV order',
    access: ACCESS,
    limit: LIMITS.spot,
    params: ORDER_ID,
    status: 200,
    reply: povShape,
    refuses: ['ORDER_NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      view(await find(desk, caller.user.user_id, idOf(path.order_id))),
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/pov_orders/{order_id}',
    summary: 'Cancels an open POV order',
    access: ACCESS,
    limit: LIMITS.spot,
    params: ORDER_ID,
    status: 200,
    reply: povShape,
    refuses: ['ORDER_NOT_FOUND', 'ORDER_CLOSED', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path } = call
      const user_id = caller.user.user_id
      const id = idOf(path.order_id)
      // Memory holds the open ones: of another one, the store tells whether it has ended or never was.
      const run = desk.core.submit('spot.pov.cancel', { user_id, id })
      return view(
        await orElse(run, 'ORDER_NOT_FOUND', async () => refuseFinished(await find(desk, user_id, id))),
      )
    },
  }),
]
