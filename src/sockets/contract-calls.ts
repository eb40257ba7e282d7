import { batchEndpoints } from '../api/futures/batch.ts'
import { orderEndpoints, perpetualOrderEndpoints } from '../api/futures/orders.ts'
import { PERPETUAL } from '../api/futures/paths.ts'
import { priceOrderEndpoints } from '../api/futures/price-orders.ts'
import { LIMITS } from '../api/limits.ts'
import type { Method } from '../api/endpoint.ts'
import type { Route } from '../api/passage.ts'
import { PORTION } from '../core/futures/cancel.ts'
import { contractId } from '../core/tables/world/contracts.ts'
import { refuse } from '../labels.ts'
import {
  NONE,
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
import { isObject } from './credentials.ts'

const ENDPOINTS = [
  ...orderEndpoints(PERPETUAL),
  ...perpetualOrderEndpoints(PERPETUAL),
  ...batchEndpoints(PERPETUAL),
  ...priceOrderEndpoints(PERPETUAL),
]
const route = (method: Method, path: string): Route => routeTo(ENDPOINTS, method, `${PERPETUAL.base}${path}`)
const ORDER = route('POST', '/orders')
const BATCH = route('POST', '/batch_orders')
const PRICE_ORDER = route('POST', '/price_orders')
const CANCEL = route('DELETE', '/orders/{order_id}')
const CANCEL_IDS = route('POST', '/batch_cancel_orders')
const CANCEL_ALL = route('DELETE', '/orders')
const AMEND = route('PUT', '/orders/{order_id}')
const STATUS = route('GET', '/orders/{order_id}')
const LIST = route('GET', '/orders')

/** Over a socket the contract must be named: who writes its name wrong must not cancel everything. */
function contractNamed(param: Param): void {
  if (isAbsent(param['contract'])) refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
}
const ofOrder =
  (to: Route) =>
  (param: unknown, settle: string): Translated =>
    inQuery(to, param, (source) => ({ settle, ...orderIdIn(source) }))

const call = (
  name: string,
  summary: string,
  kind: 'command' | 'query',
  to: readonly Route[],
  translate: CallChannel['translate'] & object,
  more: Partial<CallChannel> = {},
): CallChannel => ({
  channel: `futures.${name}`,
  summary,
  kind,
  perpetual: true,
  acks: false,
  limited: false,
  ...(kind === 'command' && { window: LIMITS.futuresCalls }),
  ...standsFor(to),
  translate,
  ...more,
})
const PLACES = { acks: true, limited: true }

/** The trading API of perpetual contracts; the settle currency is the address's. */
export const CONTRACT_CALLS: readonly CallChannel[] = [
  call(
    'order_place',
    'Places an order; of {initial, trigger} a price order',
    'command',
    [ORDER, PRICE_ORDER],
    (param, settle) =>
      isObject(param) && Object.hasOwn(param, 'initial') && Object.hasOwn(param, 'trigger')
        ? inBody(PRICE_ORDER, param, { settle })
        : inBody(ORDER, withText(param ?? {}), { settle }),
    PLACES,
  ),
  call(
    'order_batch_place',
    'Places several orders',
    'command',
    [BATCH],
    (param, settle) => inBody(BATCH, Array.isArray(param) ? param.map(withText) : param, { settle }),
    PLACES,
  ),
  call('order_cancel', 'Cancels one order, by its id or text', 'command', [CANCEL], ofOrder(CANCEL)),
  call('order_cancel_ids', 'Cancels several orders by id or text', 'command', [CANCEL_IDS], (param, settle) =>
    inBody(CANCEL_IDS, param, { settle }),
  ),
  call(
    'order_cancel_cp',
    'Cancels all open orders of a contract, which must be named',
    'command',
    [CANCEL_ALL],
    (param, settle) =>
      inQuery(CANCEL_ALL, param, (source) => {
        contractNamed(source)
        return { settle }
      }),
    {
      portions: ({ futures }, userId, param, settle) => {
        const name = isObject(param) ? param['contract'] : undefined
        return (
          typeof name === 'string' &&
          futures.openCount(userId, contractId('futures', settle, name.toUpperCase())) > PORTION
        )
      },
    },
  ),
  call(
    'order_amend',
    'Amends an open order',
    'command',
    [AMEND],
    (param, settle) => ({
      route: AMEND,
      given: {
        body: param,
        named: () => ({ params: { settle, ...orderIdIn(objectOf(param)) }, query: NONE }),
      },
    }),
    { limited: true },
  ),
  call('order_status', 'Shows one order, by its id or text', 'query', [STATUS], ofOrder(STATUS)),
  call('order_list', 'Lists open orders, or finished ones', 'query', [LIST], (param, settle) =>
    inQuery(LIST, param, () => ({ settle })),
  ),
]
