import { numberedPages, windowFields } from '../history.ts'
import { SPOT_ORDER, type Order, type OrderAccount } from '../../core/tables/exchange/order.ts'
import { accountsMeant, isMeant } from '../../core/spot/accounts.ts'
import type { State } from '../../core/state.ts'
import { refuse } from '../../labels.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { integer, object, oneOf, optional, text, untilMicros, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, int, int64, shape, str } from '../shapes.ts'
import { currencyField, pairField } from '../wallet.ts'
import { findOrder, orEnded, ordersById, refuseStale } from './find.ts'
import {
  accountField,
  actionModeField,
  amendFields,
  amendment,
  bodyMarkets,
  channelOf,
  hasOwnText,
  newOrder,
  orderFields,
  positiveOrderDecimal,
  sideField,
} from './order-fields.ts'
import { orderInMode, orderShape, orderView, historyPair } from './views.ts'
import { skipped } from './span.ts'

const ACCESS = signed('spot')
const byNumber = (a: number, b: number): number => a - b
const ORDER_ID = { order_id: text({ max: 64, example: '12345' }) }
/** Seconds of a countdown: as many as a client's integer holds. */
const TIMEOUT_MAX = 2_147_483_647

/** Of an order that is amended, and so of every other one. */
const AMEND_LABELS = [
  'TOO_MANY_ORDERS',
  'INVALID_CURRENCY',
  'INVALID_CURRENCY_PAIR',
  'INVALID_PRECISION',
  'AMOUNT_TOO_LITTLE',
  'AMOUNT_TOO_MUCH',
  'BALANCE_NOT_ENOUGH',
  'MARGIN_BALANCE_NOT_ENOUGH',
  'POC_FILL_IMMEDIATELY',
  'PRICE_THRESHOLD_EXCEEDED',
  'TRADE_RESTRICTED',
] as const
const PLACE_LABELS = [
  ...AMEND_LABELS,
  'ACCOUNT_EXCEPTION',
  'MARGIN_NOT_SUPPORTED',
  'AUTO_BORROW_TOO_MUCH',
  'NEGATIVE_ASSETS',
  'FOK_NOT_FILL',
  'ORDER_BOOK_NOT_FOUND',
  'DUPLICATE_REQUEST',
] as const
/** A limit order that rests, out of a unified account, and that borrows nothing: much can't become of it. */
const BUY_BACK_LABELS = [
  'REQUEST_FORBIDDEN',
  'INVALID_CURRENCY',
  'INVALID_CURRENCY_PAIR',
  'INVALID_PRECISION',
  'AMOUNT_TOO_LITTLE',
  'AMOUNT_TOO_MUCH',
  'PRICE_THRESHOLD_EXCEEDED',
  'BALANCE_NOT_ENOUGH',
  'TRADE_RESTRICTED',
  'TOO_MANY_ORDERS',
  'DUPLICATE_REQUEST',
] as const
const FIND_LABELS = [
  'INVALID_CURRENCY',
  'INVALID_CURRENCY_PAIR',
  'ORDER_NOT_FOUND',
  'CLIENT_ID_NOT_FOUND',
] as const

const OPEN_LIMIT_MAX = 100
const ORDER_PAGES = numberedPages(100_000, 1000)

export const orderEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/spot/orders',
    summary: 'Places an order',
    access: ACCESS,
    limit: LIMITS.spotPlace,
    markets: bodyMarkets,
    body: object(orderFields),
    once: hasOwnText,
    status: 201,
    reply: orderInMode(),
    refuses: [...PLACE_LABELS, 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      return desk.core.submit(
        'spot.place',
        { user_id: caller.user.user_id, order: newOrder(body, channelOf(call)) },
        (state, order) => orderView(state, order, body.action_mode),
      )
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/orders',
    summary: 'Lists open orders of a market, or finished ones by the time they finished',
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      status: oneOf('open', 'finished'),
      currency_pair: optional(pairField),
      ...ORDER_PAGES,
      account: optional(accountField),
      ...windowFields,
      side: optional(sideField),
    },
    status: 200,
    reply: array(orderShape),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'],
    handle: async ({ desk, caller, query }) => {
      const userId = caller.user.user_id
      const skip = skipped(query.page, query.limit)
      if (query.status === 'finished') {
        const orders = await finished(desk, userId, query, skip)
        return desk.core.read((state) => orders.map((order) => orderView(state, order)))
      }
      const { currency_pair } = query
      if (currency_pair === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency_pair (for open)')
      if (query.limit > OPEN_LIMIT_MAX)
        refuse(
          'INVALID_PARAM_VALUE',
          `limit: ${query.limit} is above ${OPEN_LIMIT_MAX}, the most for open orders`,
        )
      return desk.core.read((state) =>
        state.spot
          .openOrders(userId, historyPair(state, currency_pair))
          .filter((order) => isMeant(state, order, query.account))
          .filter((order) => query.side === null || order.side === query.side)
          .reverse()
          .slice(skip, skip + query.limit)
          .map((order) => orderView(state, order)),
      )
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/open_orders',
    summary: 'Lists the open orders of all markets; pages count within each market',
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      page: withDefault(integer(1, 100_000), 1),
      limit: withDefault(integer(1, OPEN_LIMIT_MAX), OPEN_LIMIT_MAX),
      account: optional(accountField),
    },
    status: 200,
    reply: array(shape({ currency_pair: str, total: int, orders: array(orderShape) })),
    refuses: [],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const byPair = new Map<string, Order[]>()
        for (const order of state.spot.openOrders(caller.user.user_id).reverse()) {
          if (!isMeant(state, order, query.account)) continue
          const list = byPair.get(order.pair)
          if (list === undefined) byPair.set(order.pair, [order])
          else list.push(order)
        }
        const skip = skipped(query.page, query.limit)
        return [...byPair]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([currency_pair, orders]) =>
            orders.slice(skip, skip + query.limit).map((o) => [currency_pair, o] as const),
          )
          .filter((page) => page.length > 0)
          .map((page) => ({
            currency_pair: page[0]![0],
            total: page.length,
            orders: page.map(([, order]) => orderView(state, order)),
          }))
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/orders',
    summary: 'Cancels all open orders, of one market, side or account where they are named',
    access: ACCESS,
    limit: LIMITS.spotCancel,
    query: {
      currency_pair: optional(pairField),
      side: optional(sideField),
      account: optional(accountField),
      trade_quote: optional(currencyField),
      action_mode: actionModeField,
    },
    status: 200,
    reply: array(orderInMode({ succeeded: bool, label: str, message: str })),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, query } = call
      const { action_mode, ...which } = query
      const user_id = caller.user.user_id
      const shown = (state: State, order: Order) => ({
        ...orderView(state, order, action_mode),
        succeeded: true,
        label: '',
        message: '',
      })
      const { ids, rest, done, ...first } = await desk.core.submit(
        'spot.cancel_all',
        { user_id, ...which },
        (state, all) => ({
          ...all,
          done:
            all.due_id === 0
              ? all.ids.sort(byNumber).map((id) => shown(state, state.spot.orders.get(id)!))
              : [],
        }),
      )
      if (first.due_id === 0) return done
      // Portion by portion: others get their turn in between, and a restart goes on with what is left.
      for (let { due_id } = first; due_id !== 0;)
        ({ due_id } = await desk.core.submit('spot.cancel_next', { due_id, rest }))
      const orders = await ordersById(desk, ids.sort(byNumber))
      return desk.core.read((state) => orders.map((order) => shown(state, order)))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/orders/{order_id}',
    summary: 'Shows one order, by its id or by the text that the client gave it',
    access: ACCESS,
    limit: LIMITS.spot,
    params: ORDER_ID,
    query: { currency_pair: pairField, account: optional(accountField) },
    status: 200,
    reply: orderShape,
    refuses: FIND_LABELS,
    handle: async ({ desk, caller, path, query: { currency_pair, account } }) =>
      findOrder(
        desk,
        { user_id: caller.user.user_id, id: path.order_id, currency_pair, account },
        (state, order) => orderView(state, order),
      ),
  }),
  endpoint({
    method: 'DELETE',
    path: '/spot/orders/{order_id}',
    summary: 'Cancels one order, by its id or text',
    access: ACCESS,
    limit: LIMITS.spotCancel,
    params: ORDER_ID,
    query: { currency_pair: pairField, account: optional(accountField), action_mode: actionModeField },
    status: 200,
    reply: orderInMode(),
    refuses: [...FIND_LABELS, 'ORDER_CLOSED', 'ORDER_CANCELLED', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, query } = call
      const { currency_pair, account, action_mode } = query
      const name = { user_id: caller.user.user_id, id: path.order_id, currency_pair, account }
      const run = desk.core.submit('spot.cancel', name, (state, order) =>
        orderView(state, order, action_mode),
      )
      return orEnded(desk, name, run)
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/spot/orders/{order_id}',
    summary: 'Amends an open order; parameters may be in the body or the query, the body wins',
    access: ACCESS,
    limit: LIMITS.spotPlace,
    markets: bodyMarkets,
    params: ORDER_ID,
    query: amendFields,
    body: object(amendFields),
    status: 200,
    reply: orderInMode(),
    refuses: [
      ...FIND_LABELS,
      ...AMEND_LABELS,
      'ORDER_CLOSED',
      'ORDER_CANCELLED',
      'NO_CHANGE',
      'REQUEST_EXPIRED',
    ],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, query, body } = call
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
      const change = { ...query, ...given } as typeof body
      if (change.currency_pair === null)
        refuse(
          'MISSING_REQUIRED_PARAM',
          'Missing required parameter: currency_pair (in the query or the body)',
        )
      const { currency_pair, account } = change
      const name = { user_id: caller.user.user_id, id: path.order_id, currency_pair, account }
      const run = desk.core.submit('spot.amend', { ...name, ...amendment(change) }, (state, order) =>
        orderView(state, order, change.action_mode ?? 'FULL'),
      )
      return orEnded(desk, name, run)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/spot/cross_liquidate_orders',
    summary:
      'Buys a currency whose market is closed for buying, to repay a debt of the unified account in it',
    access: ACCESS,
    limit: LIMITS.spot,
    body: object({
      text: optional(text({ max: 64 })),
      currency_pair: pairField,
      amount: positiveOrderDecimal(),
      price: positiveOrderDecimal(),
      action_mode: actionModeField,
    }),
    once: hasOwnText,
    status: 201,
    reply: orderInMode(),
    refuses: [...BUY_BACK_LABELS, 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const { action_mode, ...order } = body
      const user_id = caller.user.user_id
      return desk.core.submit('spot.cross_liquidate', { user_id, ...order }, (state, placed) =>
        orderView(state, placed, action_mode),
      )
    },
  }),
  endpoint({
    method: 'POST',
    path: '/spot/countdown_cancel_all',
    summary: 'Cancels all orders unless called again in time; 0 stops the countdown',
    access: ACCESS,
    limit: LIMITS.spot,
    body: object({ timeout: integer(0, TIMEOUT_MAX), currency_pair: optional(pairField) }),
    status: 200,
    reply: shape({ triggerTime: int64 }),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      if (body.timeout > 0 && body.timeout < 5)
        refuse(
          'INVALID_PARAM_VALUE',
          `timeout: ${body.timeout} is too short; at least 5 seconds, or 0 to stop`,
        )
      return desk.core.submit('spot.countdown.set', { user_id: caller.user.user_id, ...body })
    },
  }),
]

interface FinishedQuery {
  readonly currency_pair: string | null
  readonly account: OrderAccount | null
  readonly side: string | null
  readonly limit: number
  readonly from: number | null
  readonly to: number | null
}
/** By finish time, newest first; without a time there is no bound. */
async function finished(desk: Desk, userId: number, query: FinishedQuery, skip: number): Promise<Order[]> {
  const { pair, accounts } = await desk.core.read((state) => ({
    pair: query.currency_pair === null ? null : historyPair(state, query.currency_pair),
    accounts: query.account === null ? null : accountsMeant(state, userId, query.account),
  }))
  const conditions = [`"user_id" = ?`, `"status" <> 'open'`]
  const values: (string | number)[] = [userId]
  const { from, to } = query
  if (from !== null && to !== null && from > to)
    refuse('INVALID_PARAM_VALUE', `from: ${from} is after to, ${to}`)
  if (from !== null) {
    conditions.push('"update_at" >= ?')
    values.push(Math.floor(from * 1e6))
  }
  if (to !== null) {
    conditions.push('"update_at" <= ?')
    values.push(untilMicros(to))
  }
  for (const [column, value] of [
    ['pair', pair],
    ['side', query.side],
  ] as const)
    if (value !== null) {
      conditions.push(`"${column}" = ?`)
      values.push(value)
    }
  if (accounts !== null) {
    conditions.push(`"account" in (${accounts.map(() => '?').join(', ')})`)
    values.push(...accounts)
  }
  const where = `where ${conditions.join(' and ')} order by "update_at" desc, "id" desc limit ? offset ?`
  return desk.store.select(SPOT_ORDER, where, [...values, query.limit, skip])
}
