import type { AnyEndpoint, Method } from '../api/endpoint.ts'
import type { Route } from '../api/passage.ts'
import type { GivenCall } from '../api/pipeline.ts'
import { batchEndpoints } from '../api/spot/batch.ts'
import { orderEndpoints } from '../api/spot/orders.ts'
import { priceOrderEndpoints } from '../api/spot/price-orders.ts'
import { PORTION } from '../core/spot/cancel-all.ts'
import type { State } from '../core/state.ts'
import { refuse } from '../labels.ts'
import { isObject } from './credentials.ts'
import { PRODUCTS, prefixOf } from './products.ts'

type Param = Readonly<Record<string, unknown>>
/** The REST call that a call over a socket is. */
export interface Translated {
  readonly route: Route
  readonly given: GivenCall
}
/** A channel of the trading API, declared once: serving, reference and tests walk these. */
export interface CallChannel {
  readonly channel: string
  readonly summary: string
  /** Commands are answered in the order of their coming; a query may be answered later. */
  readonly kind: 'login' | 'command' | 'query'
  /** "Received" is told before the command runs. */
  readonly acks: boolean
  /** Counts in its endpoint's windows, together with REST. */
  readonly limited: boolean
  /** The endpoints that it stands for, such as `POST /spot/orders`. */
  readonly rest: readonly string[]
  /** What req_param asks for; left out of a login. */
  readonly translate?: (param: unknown) => Translated
  /** It takes several commands: what comes behind it waits for its answer. */
  readonly portions?: (state: State, userId: number, param: unknown) => boolean
}

const ENDPOINTS: readonly AnyEndpoint[] = [...orderEndpoints, ...batchEndpoints, ...priceOrderEndpoints]
function routeTo(method: Method, path: string): Route {
  const endpoint = ENDPOINTS.find((one) => one.method === method && one.path === path)
  if (endpoint === undefined) throw new TypeError(`there is no ${method} ${path}`)
  return { endpoint, path: `/api/v4${path}` }
}
const ORDER = routeTo('POST', '/spot/orders')
const BATCH = routeTo('POST', '/spot/batch_orders')
const PRICE_ORDER = routeTo('POST', '/spot/price_orders')
const CANCEL = routeTo('DELETE', '/spot/orders/{order_id}')
const CANCEL_IDS = routeTo('POST', '/spot/cancel_batch_orders')
const CANCEL_ALL = routeTo('DELETE', '/spot/orders')
const AMEND = routeTo('PATCH', '/spot/orders/{order_id}')
const STATUS = routeTo('GET', '/spot/orders/{order_id}')
const LIST = routeTo('GET', '/spot/orders')

const NONE: Param = {}
/** Absent and null are an object without members, as a body without anything is. */
function objectOf(param: unknown): Param {
  if (param === undefined || param === null || param === '') return NONE
  return isObject(param) ? param : refuse('INVALID_REQUEST_BODY', 'req_param must be a JSON object')
}
/** An id may come as a number. */
function orderIdIn(param: Param): Param {
  const { order_id } = param
  return { order_id: typeof order_id === 'number' ? String(order_id) : order_id }
}
const inBody = (route: Route, body: unknown): Translated => ({
  route,
  given: { body, named: () => ({ params: NONE, query: NONE }) },
})
const inQuery = (route: Route, param: unknown, read: (source: Param) => Param = () => NONE): Translated => ({
  route,
  given: {
    body: undefined,
    named: () => {
      const query = objectOf(param)
      return { params: read(query), query }
    },
  },
})

/** Where an order came from, when its client did not name it. */
const TEXT = 'apiv4-ws'
const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''
const withText = (order: unknown): unknown =>
  isObject(order) && (isAbsent(order['text']) || order['text'] === '-') ? { ...order, text: TEXT } : order
/** In a batch each order must have one. */
const withBatchText = (order: unknown): unknown =>
  isObject(order) && order['text'] === '-' ? { ...order, text: TEXT } : order

function placement(param: unknown): Translated {
  if (Array.isArray(param)) return inBody(BATCH, param.map(withBatchText))
  if (isObject(param) && Object.hasOwn(param, 'put') && Object.hasOwn(param, 'trigger'))
    return inBody(PRICE_ORDER, param)
  return inBody(ORDER, withText(param ?? NONE))
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
  rest: routes.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`),
  translate,
  ...more,
})

export const CALL_CHANNELS: readonly CallChannel[] = [
  ...logins,
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
