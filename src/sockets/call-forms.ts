import type { AnyEndpoint, Method } from '../api/endpoint.ts'
import type { JsonSchema } from '../api/fields.ts'
import type { LimitRule } from '../api/limits.ts'
import type { Route } from '../api/passage.ts'
import type { GivenCall } from '../api/pipeline.ts'
import type { State } from '../core/state.ts'
import { refuse } from '../labels.ts'
import { isObject } from './credentials.ts'

export type Param = Readonly<Record<string, unknown>>
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
  /** Counts in this window, together with other calls. */
  readonly window?: LimitRule
  /** Of contracts: dated ones do not have it. */
  readonly perpetual?: boolean
  /** The endpoints that it stands for, such as `POST /spot/orders`. */
  readonly rest: readonly string[]
  /** The shape of its result: that of one of them. */
  readonly result: JsonSchema
  /** What req_param asks for; left out of a login. `settle`: the currency of the address, of contracts. */
  readonly translate?: (param: unknown, settle: string) => Translated
  /** It takes several commands: what comes behind it waits for its answer. */
  readonly portions?: (state: State, userId: number, param: unknown, settle: string) => boolean
}

/** Endpoints that a call stands for, and what they answer. */
export function standsFor(routes: readonly Route[]): Pick<CallChannel, 'rest' | 'result'> {
  const replies = routes.map(({ endpoint }) => endpoint.reply!)
  return {
    rest: routes.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`),
    result: replies.length === 1 ? replies[0]! : { anyOf: replies },
  }
}
export function routeTo(endpoints: readonly AnyEndpoint[], method: Method, path: string): Route {
  const endpoint = endpoints.find((one) => one.method === method && one.path === path)
  if (endpoint === undefined) throw new TypeError(`there is no ${method} ${path}`)
  return { endpoint, path: `/api/v4${path}` }
}
export const NONE: Param = {}
/** Absent and null are an object without members, as a body without anything is. */
export function objectOf(param: unknown): Param {
  if (param === undefined || param === null || param === '') return NONE
  return isObject(param) ? param : refuse('INVALID_REQUEST_BODY', 'req_param must be a JSON object')
}
/** An id may come as a number. */
export function orderIdIn(param: Param): Param {
  const { order_id } = param
  return { order_id: typeof order_id === 'number' ? String(order_id) : order_id }
}
export const inBody = (route: Route, body: unknown, params = NONE): Translated => ({
  route,
  given: { body, named: () => ({ params, query: NONE }) },
})
export const inQuery = (
  route: Route,
  param: unknown,
  read: (source: Param) => Param = () => NONE,
): Translated => ({
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
export const TEXT = 'apiv4-ws'
export const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''
/** In place: a copy of each order would be of a shape of its own, which makes everything slower that reads it. */
export function withText(order: unknown): unknown {
  if (isObject(order) && (isAbsent(order['text']) || order['text'] === '-'))
    (order as Record<string, unknown>)['text'] = TEXT
  return order
}
