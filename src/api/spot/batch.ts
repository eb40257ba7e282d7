import type { ItemResult } from '../../core/spot/commands.ts'
import { BALANCES, isUnified } from '../../core/spot/accounts.ts'
import { orderNamed } from '../../core/spot/cancel.ts'
import type { State } from '../../core/state.ts'
import { Refusal, refuse } from '../../labels.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from '../endpoint.ts'
import {
  anyObject,
  listOf,
  optional,
  readFields,
  text,
  type Field,
  type Fields,
  type Values,
} from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, nullable, shape, str } from '../shapes.ts'
import { pairField } from '../wallet.ts'
import { ending, refuseStale, type OrderName } from './find.ts'
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
} from './order-fields.ts'
import { orderInMode, orderView, type ActionMode } from './views.ts'

const ACCESS = signed('spot')
const PAIRS_MAX = 4
const ORDERS_PER_PAIR_MAX = 10
const CANCEL_MAX = 20
const AMEND_MAX = 5

type Item = Readonly<Record<string, unknown>>
type Fault = { readonly label: string; readonly message: string }
/** An item that was understood, or why it was not: one bad item does not spoil the others. */
type Read<T> = { readonly value: T } | { readonly fault: Fault }
const asFault = (error: unknown): Fault => {
  if (!(error instanceof Refusal)) throw error
  return { label: error.label, message: error.message }
}
function readItem<F extends Fields>(fields: F, item: Item): Read<Values<F>> {
  try {
    return { value: readFields(fields, item) }
  } catch (error) {
    return { fault: asFault(error) }
  }
}

const failedShape = shape({ text: str, succeeded: bool, label: str, message: str })
const batchReply = array({
  anyOf: [
    ...(orderInMode({ order_id: str, succeeded: bool, label: str, message: str })['anyOf'] as object[]),
    failedShape,
    shape({ id: str, text: str, succeeded: bool, label: str, message: str }),
  ],
})
function resultView(state: State, result: ItemResult, mode: ActionMode, failed: Item): Item {
  if ('label' in result) return { ...failed, succeeded: false, label: result.label, message: result.message }
  return {
    ...orderView(state, result.order, mode),
    order_id: String(result.order.id),
    succeeded: true,
    label: '',
    message: '',
  }
}
/** Puts the results of the items that ran back among those that were not understood. */
function weave<T, R>(
  reads: readonly Read<T>[],
  results: readonly R[],
  fault: (fault: Fault, i: number) => R,
): R[] {
  let next = 0
  return reads.map((read, i) => ('fault' in read ? fault(read.fault, i) : results[next++]!))
}
const understood = <T>(reads: readonly Read<T>[]): T[] =>
  reads.flatMap((read) => ('value' in read ? [read.value] : []))
/** What the client sent as a name, given back as it was. */
const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
const textOf = (item: Item): string => (typeof item['text'] === 'string' ? item['text'] : '')

/** Bounds of a whole batch: few markets, few orders in each, one kind of account. */
function checkBatch(items: readonly Item[]): void {
  if (items.length === 0) refuse('INVALID_PARAM_VALUE', 'the body must be a list with at least one order')
  const counts = new Map<string, number>()
  for (const item of items) {
    const pair = typeof item['currency_pair'] === 'string' ? item['currency_pair'].toUpperCase() : ''
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  if (counts.size > PAIRS_MAX)
    refuse('TOO_MANY_CURRENCY_PAIRS', `a batch may name ${PAIRS_MAX} markets at most, not ${counts.size}`)
  for (const [pair, count] of counts)
    if (count > ORDERS_PER_PAIR_MAX)
      refuse(
        'TOO_MANY_ORDERS',
        `a batch may hold ${ORDERS_PER_PAIR_MAX} orders of a market at most; ${pair} has ${count}`,
      )
  const accounts = accountsOf(items)
  // Several names of the spot balances are one kind where they are unified, which only the handler can know.
  if (accounts.size > 1 && ![...accounts].every((name) => BALANCE_NAMES.includes(name))) refuseMixed(accounts)
}
const BALANCE_NAMES: readonly string[] = BALANCES
const accountsOf = (items: readonly Item[]): Set<string> =>
  new Set(items.map(({ account }) => (typeof account === 'string' && account !== '' ? account : 'spot')))
const refuseMixed = (accounts: Iterable<string>): never =>
  refuse('MIXED_ACCOUNT_TYPE', `a batch trades from one kind of account, not ${[...accounts].join(' and ')}`)
const batchFields = { ...orderFields, text: text({ max: 64 }) }

/** An order's id or text; some clients send ids as numbers. */
function orderName(): Field<string> {
  const inner = text({ max: 64 })
  return {
    ...inner,
    read: (value, name) => inner.read(typeof value === 'number' ? String(value) : value, name),
  }
}
const cancelFields = {
  currency_pair: pairField,
  id: orderName(),
  account: optional(accountField),
  action_mode: actionModeField,
}
const amendItemFields = { ...amendFields, order_id: orderName(), currency_pair: pairField }

export const batchEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/spot/batch_orders',
    summary: 'Places several orders; each item succeeds or fails by itself',
    access: ACCESS,
    limit: LIMITS.spotPlace,
    markets: bodyMarkets,
    body: listOf(anyObject(batchFields), PAIRS_MAX * ORDERS_PER_PAIR_MAX * 5),
    check: checkBatch,
    once: (items) => items.some(hasOwnText),
    status: 200,
    reply: batchReply,
    refuses: [
      'TOO_MANY_CURRENCY_PAIRS',
      'TOO_MANY_ORDERS',
      'MIXED_ACCOUNT_TYPE',
      'DUPLICATE_REQUEST',
      'REQUEST_EXPIRED',
    ],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const accounts = accountsOf(body)
      if (accounts.size > 1 && !(await desk.core.read((state) => isUnified(state, caller.user))))
        refuseMixed(accounts)
      const reads = body.map((item) => readItem(batchFields, item))
      const orders = understood(reads)
      const placed = { user_id: caller.user.user_id, orders: orders.map((o) => newOrder(o, channelOf(call))) }
      const results =
        orders.length === 0
          ? []
          : await desk.core.submit('spot.place_batch', placed, (state, all) =>
              all.map((result, i) =>
                resultView(state, result, orders[i]!.action_mode, { text: orders[i]!.text }),
              ),
            )
      return weave(reads, results, (fault, i) => ({ text: textOf(body[i]!), succeeded: false, ...fault }))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/spot/cancel_batch_orders',
    summary: 'Cancels several orders by id or text',
    access: ACCESS,
    limit: LIMITS.spotCancel,
    body: listOf(anyObject(cancelFields), CANCEL_MAX),
    status: 200,
    reply: array(
      shape({
        currency_pair: str,
        id: str,
        text: str,
        account: str,
        succeeded: bool,
        label: nullable(str),
        message: nullable(str),
      }),
    ),
    refuses: ['REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const userId = caller.user.user_id
      const reads = body.map((item) => readItem(cancelFields, item))
      const names = understood(reads).map(({ action_mode: _, ...name }) => name)
      const results =
        names.length === 0
          ? []
          : await desk.core.submit('spot.cancel_batch', { user_id: userId, orders: names })
      const ends = await endings(desk, userId, names, results)
      const view = (item: Item, more: Item): Item => ({
        currency_pair: shown(item['currency_pair']),
        id: shown(item['id']),
        text: '',
        account: shown(item['account']),
        succeeded: true,
        label: '',
        message: '',
        ...more,
      })
      return weave(
        reads,
        results.map((result, i) => {
          const item = body.filter((_, j) => 'value' in reads[j]!)[i]!
          if ('label' in result) return view(item, { succeeded: false, ...(ends[i] ?? result) })
          const { id, text: orderText, account, pair } = result.order
          return view(item, { id: String(id), text: orderText, account, currency_pair: pair })
        }),
        (fault, i) => view(body[i]!, { succeeded: false, ...fault }),
      )
    },
  }),
  endpoint({
    method: 'POST',
    path: '/spot/amend_batch_orders',
    summary: 'Amends several orders, in the order of the list',
    access: ACCESS,
    limit: LIMITS.spotPlace,
    markets: bodyMarkets,
    body: listOf(anyObject(amendItemFields), AMEND_MAX),
    status: 200,
    reply: batchReply,
    refuses: ['REQUEST_EXPIRED'],
    handle: async (call) => {
      refuseStale(call)
      const { desk, caller, body } = call
      const userId = caller.user.user_id
      const reads = body.map((item) => readItem(amendItemFields, item))
      const items = understood(reads)
      const names = items.map(({ order_id: id, currency_pair, account }) => ({ id, currency_pair, account }))
      const orders = names.map((name, i) => ({ ...name, ...amendment(items[i]!) }))
      const { results, views } =
        items.length === 0
          ? { results: [], views: [] }
          : await desk.core.submit('spot.amend_batch', { user_id: userId, orders }, (state, all) => ({
              results: all,
              views: all.map((result, i) => {
                const { id } = names[i]!
                const failed = { id: String(orderNamed(state.spot, userId, id)?.id ?? id), text: '' }
                return resultView(state, result, items[i]!.action_mode ?? 'FULL', failed)
              }),
            }))
      const ends = await endings(desk, userId, names, results)
      return weave(
        reads,
        views.map((view, i) => ({ ...view, ...ends[i] })),
        (fault, i) => ({ id: shown(body[i]!['order_id']), text: '', succeeded: false, ...fault }),
      )
    },
  }),
]

/** What the store knows of the orders that memory did not: they have ended, or never were. */
const endings = (
  desk: Desk,
  user_id: number,
  names: readonly Omit<OrderName, 'user_id'>[],
  results: readonly ItemResult[],
): Promise<(Fault | undefined)[]> =>
  Promise.all(
    results.map(async (result, i) => {
      if (!('label' in result)) return undefined
      const ended = await ending(desk, { user_id, ...names[i]! }, result)
      return ended && asFault(ended)
    }),
  )
