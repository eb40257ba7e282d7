import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { flag, id, integer, oneOf, optional, withDefault } from '../api/fields.ts'
import { array, int, int64, shape, str } from '../api/shapes.ts'
import { orderMembers, orderView } from '../api/spot/views.ts'
import { pairField } from '../api/wallet.ts'
import { AGENT_LOGINS } from '../core/tables/agents.ts'
import type { OrderRow, Side } from '../core/tables/exchange/order.ts'
import type { State } from '../core/state.ts'
import { refuse } from '../labels.ts'

const LIMIT_MAX = 1_000
interface Which {
  readonly user_id: number | null
  readonly currency_pair: string | null
  readonly side: Side | null
}

/** An account's open orders oldest first, else those of the books, best price first; as they are asked for. */
function* openOrders({ spot, world, users }: State, which: Which): Generator<OrderRow> {
  const { user_id, currency_pair, side } = which
  const pair = currency_pair === null ? undefined : world.market(currency_pair).id
  if (user_id !== null) {
    if (users.get(user_id) === undefined) refuse('USER_NOT_FOUND', `user_id: no user ${user_id}`)
    for (const order of spot.openOrders(user_id, pair)) if (side === null || order.side === side) yield order
    return
  }
  for (const { id } of world.allMarkets)
    if (pair === undefined || id === pair)
      for (const one of ['buy', 'sell'] as const)
        if (side === null || side === one) yield* spot.book(id).queue(one)
}
const agentsOf = ({ users }: State): ReadonlySet<number | undefined> =>
  new Set(AGENT_LOGINS.map((login) => users.byLogin.get(login)?.user_id))

const LABELS = ['USER_NOT_FOUND', 'INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const
const orderShape = shape({ user_id: int64, login_name: str, ...orderMembers })
const SIDE = { side: optional(oneOf('buy', 'sell')) }
const WHICH = { user_id: optional(id()), currency_pair: optional(pairField), ...SIDE }

export const operatorOrderEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/orders',
    summary:
      "Lists open orders: an account's, a market's, of one side, or all; agents=false leaves out the market agents'",
    access: operatorOf('viewer'),
    limit: null,
    query: {
      ...WHICH,
      limit: withDefault(integer(1, LIMIT_MAX), 100),
      agents: withDefault(flag(), true),
    },
    status: 200,
    reply: array(orderShape),
    refuses: LABELS,
    handle: async ({ desk, query }) =>
      desk.core.read((state) => {
        const left = query.agents || query.user_id !== null ? new Set() : agentsOf(state)
        const views: object[] = []
        for (const order of openOrders(state, query)) {
          if (left.has(order.user_id)) continue
          const { user_id, login_name } = state.users.must(order.user_id)
          if (views.push({ user_id, login_name, ...orderView(state, order) }) === query.limit) break
        }
        return views
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/orders',
    summary: "Cancels open orders: an account's, a market's, an account's in one market; of one side or both",
    access: operatorOf('operator'),
    limit: null,
    query: WHICH,
    status: 200,
    reply: shape({ cancelled: int }),
    refuses: LABELS,
    handle: async ({ desk, operator, query }) => {
      const { user_id, currency_pair, side } = query
      if (user_id === null && currency_pair === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: user_id or currency_pair')
      const owners = await desk.core.read((state) => {
        const owners = new Set<number>()
        for (const order of openOrders(state, query)) owners.add(order.user_id)
        return owners
      })
      const detail = { user_id, currency_pair, ...(side !== null && { side }), accounts: owners.size }
      await desk.core.submit('audit.note', { actor: operator, action: 'orders.cancel', detail })
      let cancelled = 0
      // Each account's as if it had asked itself: what is placed from now on stays, so that this comes to an end.
      for (const owner of owners) {
        const which = { user_id: owner, currency_pair, side, account: null }
        const { ids, rest, ...first } = await desk.core.submit('spot.cancel_all', which)
        cancelled += ids.length
        for (let { due_id } = first; due_id !== 0;)
          ({ due_id } = await desk.core.submit('spot.cancel_next', { due_id, rest }))
      }
      return { cancelled }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/orders/{order_id}',
    summary: "Cancels one open order, whoever's it is",
    access: operatorOf('operator'),
    limit: null,
    params: { order_id: id() },
    status: 200,
    reply: orderShape,
    refuses: ['ORDER_NOT_FOUND'],
    handle: async ({ desk, operator, path }) => {
      const input = { order_id: path.order_id, actor: operator }
      return desk.core.submit('order.cancel', input, (state, ended) => {
        const { user_id, login_name } = state.users.must(ended.user_id)
        return { user_id, login_name, ...orderView(state, ended) }
      })
    },
  }),
]
