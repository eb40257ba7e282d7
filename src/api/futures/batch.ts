import type { AccountPath, ItemResult } from '../../core/futures/inputs.ts'
import { refuse } from '../../labels.ts'
import { endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { listOf, object, optional, text } from '../fields.ts'
import { array, bool, int64, shape, str } from '../shapes.ts'
import { refuseStale } from '../spot/find.ts'
import { channelOf, hasOwnText } from '../spot/order-fields.ts'
import { ending } from './find.ts'
import { amendFields, amendment, countOf, newOrder, orderFields, orderName } from './order-fields.ts'
import { batchShape, itemView, lookOf } from './order-views.ts'
import { PLACE_LABELS, pathOf } from './orders.ts'
import { SETTLE, type Group } from './paths.ts'

const PLACE_MAX = 10
const AMEND_MAX = 10
const CANCEL_MAX = 20

const notEmpty = (items: readonly unknown[]): void => {
  if (items.length === 0) refuse('INVALID_PARAM_VALUE', 'the body must be a list with at least one item')
}
const amendItem = object({
  ...amendFields,
  order_id: optional(orderName()),
  text: optional(text({ max: 64 })),
})
const isText = (name: string): boolean => !/^\d+$/.test(name)

export const batchEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: `${group.base}/batch_orders`,
    summary:
      'Places several orders; what the market refuses fails by itself, what can not be read fails the call',
    access: group.access,
    limit: group.place,
    cost: countOf(PLACE_MAX),
    params: SETTLE,
    body: listOf(object(orderFields), PLACE_MAX),
    check: notEmpty,
    once: (items) => items.some(hasOwnText),
    status: 200,
    reply: array(batchShape),
    refuses: PLACE_LABELS,
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const look = lookOf(group, call)
      const channel = channelOf(call)
      const input = {
        ...pathOf(group, caller, path.settle),
        orders: body.map((order) => newOrder(order, channel)),
      }
      return desk.core.submit('futures.place_batch', input, (state, results) =>
        results.map((result, i) => itemView(state, result, look, body[i]!.action_mode, body[i]!.text ?? '')),
      )
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/batch_amend_orders`,
    summary: 'Amends several orders, in the order of the list',
    access: group.access,
    limit: group.place,
    cost: countOf(AMEND_MAX),
    params: SETTLE,
    body: listOf(amendItem, AMEND_MAX),
    check: notEmpty,
    status: 200,
    reply: array(batchShape),
    refuses: ['REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body } = call
      const look = lookOf(group, call)
      const at = pathOf(group, caller, path.settle)
      const orders = body.map((item, i) => ({
        id:
          item.order_id ??
          item.text ??
          refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: [${i}].order_id (or its text)`),
        ...amendment(item),
      }))
      const { results, views } = await desk.core.submit(
        'futures.amend_batch',
        { ...at, orders },
        (state, all) => ({
          results: all,
          views: all.map((result, i) => {
            const { id } = orders[i]!
            return itemView(state, result, look, body[i]!.action_mode, isText(id) ? id : '')
          }),
        }),
      )
      const ends = await endings(desk, at, orders, results)
      return views.map((view, i) => {
        const end = ends[i]
        return end === undefined ? view : { ...view, label: end.label, detail: end.message }
      })
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/batch_cancel_orders`,
    summary: 'Cancels several orders by id or text',
    access: group.access,
    limit: group.cancel,
    params: SETTLE,
    body: listOf(orderName(), CANCEL_MAX),
    check: notEmpty,
    status: 200,
    reply: array(shape({ id: str, user_id: int64, succeeded: bool, message: str })),
    refuses: ['REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, path, body: ids } = call
      const at = pathOf(group, caller, path.settle)
      const results = await desk.core.submit('futures.cancel_batch', { ...at, ids })
      const ends = await endings(
        desk,
        at,
        ids.map((id) => ({ id })),
        results,
      )
      return results.map((result, i) => {
        const failed = 'label' in result ? (ends[i] ?? result) : undefined
        const id = 'label' in result ? ids[i]! : String(result.order.id)
        return { id, user_id: at.user_id, succeeded: failed === undefined, message: failed?.label ?? '' }
      })
    },
  }),
]

/** What the store knows of the orders that memory did not: they have ended, or never were. */
const endings = (
  desk: Desk,
  path: AccountPath,
  orders: readonly { readonly id: string }[],
  results: readonly ItemResult[],
) =>
  Promise.all(
    results.map(async (result, i) =>
      'label' in result ? ending(desk, path, orders[i]!.id, result) : undefined,
    ),
  )
