import type { AccountPath } from '../../core/futures/inputs.ts'
import type { State } from '../../core/state.ts'
import { CONTRACT_ORDER, type Order } from '../../core/tables/exchange/order.ts'
import { refuse } from '../../labels.ts'
import { endpoint, type AnyEndpoint, type Caller, type Desk } from '../endpoint.ts'
import { flag, id, integer, object, oneOf, optional, text, withDefault } from '../fields.ts'
import { windowFields } from '../history.ts'
import { array, int64, shape } from '../shapes.ts'
import { refuseStale } from '../spot/find.ts'
import { actionModeField, channelOf, hasOwnText } from '../spot/order-fields.ts'
import { findOrder, orEnded, ordersById } from './find.ts'
import { Filter, listFields, listedPage, ofAccount, storedPage } from './lists.ts'
import {
  amendFields,
  amendment,
  bboFields,
  bboOrder,
  newOrder,
  orderFields,
  orderName,
} from './order-fields.ts'
import {
  lookOf,
  orderInMode,
  orderShape,
  orderTimerangeShape,
  orderView,
  timerangeView,
} from './order-views.ts'
import { SETTLE, contractField, historyContract, settledOf, type Group } from './paths.ts'

/** Of an order that is amended, and so of every other one. */
const AMEND_LABELS = [
  'TRADE_RESTRICTED',
  'CONTRACT_IN_DELISTING',
  'INVALID_PRECISION',
  'POSITION_IN_LIQUIDATION',
  'SIZE_TOO_SMALL',
  'SIZE_TOO_LARGE',
  'PRICE_TOO_DEVIATED',
  'REDUCE_EXCEEDED',
  'PRICE_OVER_BANKRUPT',
  'RISK_LIMIT_EXCEEDED',
  'INSUFFICIENT_AVAILABLE',
  'REQUEST_EXPIRED',
] as const
/** Of one that a chase places: it never takes, and closes nothing whole. */
export const CHASE_LABELS = [
  ...AMEND_LABELS,
  'CONTRACT_NOT_FOUND',
  'USER_NOT_FOUND',
  'USER_PORTFOLIO_MARGIN',
  'TOO_MANY_ORDERS',
  'DUPLICATE_REQUEST',
  'POSITION_EMPTY',
  'INCREASE_POSITION',
  'CONTRACT_NO_COUNTER',
] as const
const BBO_LABELS = [
  ...CHASE_LABELS,
  'POSITION_IN_CLOSE',
  'ORDER_POC_IMMEDIATE',
  'ORDER_FOK',
  'LIQUIDATE_IMMEDIATELY',
] as const
export const PLACE_LABELS = [
  ...BBO_LABELS,
  'AUTO_TRIGGER_PRICE_LESS_LAST',
  'AUTO_TRIGGER_PRICE_GREATE_LAST',
] as const
export const pathOf = (group: Group, { user }: Caller, settle: string): AccountPath => ({
  user_id: user.user_id,
  group: group.name,
  settle,
})
const ORDER_PATH = { ...SETTLE, order_id: orderName() }
const byNumber = (a: number, b: number): number => a - b
/** Seconds of a countdown: as many as a client's integer holds. */
const TIMEOUT_MAX = 2_147_483_647

/** Of both groups. */
export const orderEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: `${group.base}/orders`,
    summary: 'Places an order',
    access: group.access,
    limit: group.place,
    params: SETTLE,
    body: object(orderFields),
    once: hasOwnText,
    status: 201,
    reply: orderInMode,
    // Dated contracts are of no unified account.
    refuses:
      group.name === 'delivery'
        ? PLACE_LABELS.filter((label) => label !== 'USER_PORTFOLIO_MARGIN')
        : PLACE_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const look = lookOf(group, call)
      const { user_id } = caller.user
      const order = newOrder(body, channelOf(call))
      const input = { user_id, group: group.name, settle: path.settle, order }
      return desk.core.submit('futures.place', input, (state, placed) =>
        orderView(state, placed, look, body.action_mode),
      )
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/orders`,
    summary: 'Lists open orders, or finished ones by the time they finished, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: {
      status: oneOf('open', 'finished'),
      contract: optional(contractField),
      ...listFields,
      last_id: optional(id()),
      count_total: optional(integer(0, 1)),
    },
    status: 200,
    reply: array(orderShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const settled = settledOf(group, path.settle)
      const userId = caller.user.user_id
      if (query.status === 'open')
        return desk.core.read((state) => {
          const pair = query.contract === null ? undefined : historyContract(state, settled, query.contract)
          const orders = state.futures
            .openOrders(userId, pair)
            .filter((order) => order.pair.startsWith(`${settled.account}/`))
            .filter((order) => query.last_id === null || order.id < query.last_id)
            .reverse()
          return listedPage(set, orders, query).map((order) => orderView(state, order, look))
        })
      const pair = await pairOf(desk, settled, query.contract)
      const filter = new Filter().and('"user_id" = ?', userId).and(`"status" <> 'open'`)
      if (pair === null) ofAccount(filter, 'pair', settled.account)
      else filter.and('"pair" = ?', pair)
      if (query.last_id !== null) await after(desk, filter, userId, query.last_id)
      const order = '"update_at" desc, "id" desc'
      const orders = await storedPage(desk, set, CONTRACT_ORDER, filter, order, query)
      return desk.core.read((state) => orders.map((one) => orderView(state, one, look)))
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${group.base}/orders`,
    summary: group.texts
      ? 'Cancels all open orders, of one contract, side or text where they are named'
      : 'Cancels all open orders of a contract',
    access: group.access,
    limit: group.cancel,
    params: SETTLE,
    query: {
      contract: optional(contractField),
      side: optional(oneOf('bid', 'ask')),
      exclude_reduce_only: withDefault(flag(), false),
      text: optional(text({ max: 64 })),
      action_mode: actionModeField,
    },
    status: 200,
    reply: array(orderInMode),
    refuses: ['CONTRACT_NOT_FOUND', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, query } = call
      const { action_mode, side, ...which } = query
      if (!group.texts && which.contract === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
      const look = lookOf(group, call)
      const shown = (state: State, order: Order) => orderView(state, order, look, action_mode)
      const input = {
        ...pathOf(group, caller, path.settle),
        ...which,
        side: side === null ? null : side === 'bid' ? ('buy' as const) : ('sell' as const),
      }
      const { ids, rest, done, ...first } = await desk.core.submit(
        'futures.cancel_all',
        input,
        (state, all) => ({
          ...all,
          done:
            all.due_id === 0
              ? all.ids.sort(byNumber).map((one) => shown(state, state.futures.orders.get(one)!))
              : [],
        }),
      )
      if (first.due_id === 0) return done
      // Portion by portion: others get their turn in between, and a restart goes on with what is left.
      for (let { due_id } = first; due_id !== 0;)
        ({ due_id } = await desk.core.submit('futures.cancel_next', { due_id, rest }))
      const orders = await ordersById(desk, ids.sort(byNumber))
      return desk.core.read((state) => orders.map((order) => shown(state, order)))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/orders/{order_id}`,
    summary: 'Shows one order, by its id or by the text that the client gave it',
    access: group.access,
    limit: group.other,
    params: ORDER_PATH,
    status: 200,
    reply: orderShape,
    refuses: ['ORDER_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path } = call
      const look = lookOf(group, call)
      return findOrder(desk, pathOf(group, caller, path.settle), path.order_id, (state, order) =>
        orderView(state, order, look),
      )
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${group.base}/orders/{order_id}`,
    summary: 'Cancels one order, by its id or text',
    access: group.access,
    limit: group.cancel,
    params: ORDER_PATH,
    query: { action_mode: actionModeField },
    status: 200,
    reply: orderInMode,
    refuses: ['ORDER_NOT_FOUND', 'ORDER_FINISHED', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, query } = call
      const look = lookOf(group, call)
      const at = pathOf(group, caller, path.settle)
      const run = desk.core.submit('futures.cancel', { ...at, id: path.order_id }, (state, order) =>
        orderView(state, order, look, query.action_mode),
      )
      return orEnded(desk, at, path.order_id, run)
    },
  }),
]

/** Of perpetual contracts alone. */
export const perpetualOrderEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: `${group.base}/bbo_orders`,
    summary: 'Places an order at the level-th price of the other side of the book',
    access: group.access,
    limit: group.place,
    params: SETTLE,
    body: object(bboFields),
    once: hasOwnText,
    status: 201,
    reply: orderShape,
    refuses: BBO_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const look = lookOf(group, call)
      const input = { ...pathOf(group, caller, path.settle), order: bboOrder(body, channelOf(call)) }
      return desk.core.submit('futures.place', input, (state, order) => orderView(state, order, look))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/orders_timerange`,
    summary: 'Lists all orders by the time they were placed, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField), ...windowFields, ...listFields },
    status: 200,
    reply: array(orderTimerangeShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const settled = settledOf(group, path.settle)
      const pair = await pairOf(desk, settled, query.contract)
      const filter = new Filter().and('"user_id" = ?', caller.user.user_id).between('create_at', query)
      if (pair === null) ofAccount(filter, 'pair', settled.account)
      else filter.and('"pair" = ?', pair)
      const order = '"create_at" desc, "id" desc'
      const orders = await storedPage(desk, set, CONTRACT_ORDER, filter, order, query)
      return desk.core.read((state) => orders.map((one) => timerangeView(state, one, look)))
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${group.base}/orders/{order_id}`,
    summary: 'Amends an open order: its total size, its price',
    access: group.access,
    limit: group.place,
    params: ORDER_PATH,
    body: object(amendFields),
    status: 200,
    reply: orderInMode,
    refuses: [
      'ORDER_NOT_FOUND',
      'ORDER_FINISHED',
      'NO_CHANGE',
      'ORDER_POC_IMMEDIATE',
      'LIQUIDATE_IMMEDIATELY',
      ...AMEND_LABELS,
    ],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const look = lookOf(group, call)
      const at = pathOf(group, caller, path.settle)
      const input = { ...at, id: path.order_id, ...amendment(body) }
      const run = desk.core.submit('futures.amend', input, (state, order) =>
        orderView(state, order, look, body.action_mode),
      )
      return orEnded(desk, at, path.order_id, run)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/countdown_cancel_all`,
    summary: 'Cancels all orders unless called again in time; 0 stops the countdown',
    access: group.access,
    limit: group.cancel,
    params: SETTLE,
    body: object({ timeout: integer(0, TIMEOUT_MAX), contract: optional(contractField) }),
    status: 200,
    reply: shape({ triggerTime: int64 }),
    refuses: ['CONTRACT_NOT_FOUND', 'REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      if (body.timeout > 0 && body.timeout < 5)
        refuse(
          'INVALID_PARAM_VALUE',
          `timeout: ${body.timeout} is too short; at least 5 seconds, or 0 to stop`,
        )
      return desk.core.submit('futures.countdown', { ...pathOf(group, caller, path.settle), ...body })
    },
  }),
]

const pairOf = async (
  desk: Desk,
  settled: ReturnType<typeof settledOf>,
  contract: string | null,
): Promise<string | null> =>
  contract === null ? null : desk.core.read((state) => historyContract(state, settled, contract))
/** What comes after an order in the list of finished ones. */
async function after(desk: Desk, filter: Filter, userId: number, lastId: number): Promise<void> {
  const [last] = await desk.store.select(CONTRACT_ORDER, 'where "id" = ? and "user_id" = ?', [lastId, userId])
  if (last === undefined) filter.and('"id" < ?', lastId)
  else
    filter.and('("update_at" < ? or ("update_at" = ? and "id" < ?))', last.update_at, last.update_at, lastId)
}
