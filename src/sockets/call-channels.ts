import type { AnyEndpoint } from '../api/endpoint.ts'
import type { Route } from '../api/passage.ts'
import { batchEndpoints } from '../api/spot/batch.ts'
import { orderEndpoints } from '../api/spot/orders.ts'
import { priceOrderEndpoints } from '../api/spot/price-orders.ts'
import { PORTION } from '../core/spot/cancel-all.ts'
import { refuse } from '../labels.ts'
import {
  NONE,
  TEXT,
  inBody,
  inQuery,
  isAbsent,
  objectOf,
  orderIdIn,
  routeTo,
  standsFor,
  withText,
  type CallChannel,
  type Param,
  type Translated,
} from './call-forms.ts'
import { CONTRACT_CALLS } from './contract-calls.ts'
import { isObject } from './credentials.ts'
import { PRODUCTS, prefixOf } from './products.ts'
import { LOGIN } from './result-shapes.ts'

const ENDPOINTS: readonly AnyEndpoint[] = [...orderEndpoints, ...batchEndpoints, ...priceOrderEndpoints]
const ORDER = routeTo(ENDPOINTS, 'POST', '/spot/orders')
const BATCH = routeTo(ENDPOINTS, 'POST', '/spot/batch_orders')
const PRICE_ORDER = routeTo(ENDPOINTS, 'POST', '/spot/price_orders')
const CANCEL = routeTo(ENDPOINTS, 'DELETE', '/spot/orders/{order_id}')
const CANCEL_IDS = routeTo(ENDPOINTS, 'POST', '/spot/cancel_batch_orders')
const CANCEL_ALL = routeTo(ENDPOINTS, 'DELETE', '/spot/orders')
const AMEND = routeTo(ENDPOINTS, 'PATCH', '/spot/orders/{order_id}')
const STATUS = routeTo(ENDPOINTS, 'GET', '/spot/orders/{order_id}')
const LIST = routeTo(ENDPOINTS, 'GET', '/spot/orders')

/** In a batch each order must have one. */
const withBatchText = (order: unknown): unknown =>
  isObject(order) && order['text'] === '-' ? { ...order, text: TEXT } : order

function placement(param: unknown): Translated {
  if (Array.isArray(param)) return inBody(BATCH, param.map(withBatchText))
  if (isObject(param) && Object.hasOwn(param, 'put') && Object.hasOwn(param, 'trigger'))
    return inBody(PRICE_ORDER, param)
  return inBody(ORDER, withText(param ?? {}))
}
/** Over a socket the market must be named: who writes its name wrong must not cancel everything. */
function marketNamed(param: Param): Param {
  if (isAbsent(param['currency_pair']))
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency_pair')
  return NONE
}

const logins: readonly CallChannel[] = [...new Set(PRODUCTS.map(prefixOf))].map((prefix) => ({
  channel: `${prefix}.login`,
  summary: 'Says whose the calls on this connection are: api_key, timestamp and signature in the payload',
  kind: 'login',
  acks: false,
  limited: false,
  rest: [],
  result: LOGIN,
}))
const spot = (
  name: string,
  summary: string,
  kind: 'command' | 'query',
  translate: (param: unknown) => Translated,
  routes: readonly Route[],
  more: Partial<CallChannel> = {},
): CallChannel => ({
  channel: `spot.${name}`,
  summary,
  kind,
  acks: false,
  limited: false,
  ...standsFor(routes),
  translate,
  ...more,
})

const SPOT_CALLS: readonly CallChannel[] = [
  spot(
    'order_place',
    'Places an order; of an array several; of {put, trigger} a price order',
    'command',
    placement,
    [ORDER, BATCH, PRICE_ORDER],
    { acks: true, limited: true },
  ),
  spot(
    'order_cancel',
    'Cancels one order, by its id or text',
    'command',
    (param) => inQuery(CANCEL, param, orderIdIn),
    [CANCEL],
  ),
  spot(
    'order_cancel_ids',
    'Cancels several orders by id or text',
    'command',
    (param) => inBody(CANCEL_IDS, param),
    [CANCEL_IDS],
  ),
  spot(
    'order_cancel_cp',
    'Cancels all open orders of a market, which must be named',
    'command',
    (param) => inQuery(CANCEL_ALL, param, marketNamed),
    [CANCEL_ALL],
    {
      portions: ({ spot: orders, world }, userId, param) => {
        const name = isObject(param) ? param['currency_pair'] : undefined
        const market = typeof name === 'string' ? world.findMarket(name) : undefined
        return market !== undefined && orders.openCount(userId, market.id) > PORTION
      },
    },
  ),
  spot(
    'order_amend',
    'Amends an open order',
    'command',
    (param) => ({
      route: AMEND,
      given: {
        body: param,
        named: () => ({ params: orderIdIn(objectOf(param)), query: NONE }),
      },
    }),
    [AMEND],
    { limited: true },
  ),
  spot(
    'order_status',
    'Shows one order, by its id or text',
    'query',
    (param) => inQuery(STATUS, param, orderIdIn),
    [STATUS],
  ),
  spot(
    'order_list',
    'Lists open orders of a market, or finished ones',
    'query',
    (param) => inQuery(LIST, param),
    [LIST],
  ),
]

export const CALL_CHANNELS: readonly CallChannel[] = [...logins, ...SPOT_CALLS, ...CONTRACT_CALLS]
