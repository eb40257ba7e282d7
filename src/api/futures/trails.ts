import { refuseEndedTrail, relatedTo, suborderText } from '../../core/futures/trails.ts'
import type { AccountPath } from '../../core/futures/inputs.ts'
import { trailFigures } from '../../core/futures/waiting.ts'
import type { State } from '../../core/state.ts'
import { TRAIL_CHANGE, TRAIL_ORDER, type TrailOrder } from '../../core/tables/futures/trails.ts'
import type { PriceType } from '../../core/tables/futures/triggers.ts'
import { contractsIn } from '../../core/tables/world/contracts.ts'
import { format } from '../../money/amount.ts'
import { endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { described, flag, object, oneOf, oneOfNumbers, optional, text, withDefault } from '../fields.ts'
import { orElse } from '../missing.ts'
import { array, bool, decimalText, int, int64, shape, str } from '../shapes.ts'
import { refuseStale } from '../spot/find.ts'
import { hasOwnText, orderDecimal } from '../spot/order-fields.ts'
import {
  NAMED,
  STATUS_CODES,
  autoListFields,
  checkSpan,
  digitsId,
  offsetField,
  pageFields,
  pageOf,
  positionWords,
  precise,
  shownOffset,
  sideWords,
} from './auto-orders.ts'
import { endedAuto, findAuto, nameOf, waitingAuto } from './auto-lists.ts'
import { Filter, listedPage, storedPage } from './lists.ts'
import { unlessDash } from './order-fields.ts'
import { wholeSeconds } from './order-views.ts'
import { pathOf } from './orders.ts'
import { SETTLE, contractField, settledOf, shownContract, type Group } from './paths.ts'
import { sizeField } from './sizes.ts'

/** As these calls number them, from 1 on. */
const PRICE_NUMBERS = ['last', 'index', 'mark'] as const satisfies readonly PriceType[]
const numberOf = (type: PriceType): number => PRICE_NUMBERS.indexOf(type) + 1
const related = (number: 1 | 2 | null) => (number === null ? null : number === 1 ? 'long' : 'short')
const priceOffset = described(offsetField(), 'a distance, or a part of the price with %')

const trailShape = shape({
  id: int64,
  user_id: int64,
  user: int64,
  suborder_id: int64,
  contract: str,
  settle: str,
  amount: str,
  is_gte: bool,
  activation_price: decimalText,
  price_type: int,
  price_offset: str,
  text: str,
  reduce_only: bool,
  position_related: bool,
  is_dual_mode: bool,
  created_at: int64,
  activated_at: int64,
  finished_at: int64,
  create_time: int64,
  active_time: int64,
  finish_time: int64,
  updated_at: int64,
  reason: str,
  suborder_text: str,
  trigger_price: str,
  extremum_price: decimalText,
  side_label: str,
  position_side_output: str,
  original_status: int,
  status_code: str,
  status: str,
  status_label: str,
  created_at_precise: str,
  finished_at_precise: str,
  activated_at_precise: str,
  pos_margin_mode: str,
  position_mode: str,
  error_label: str,
  leverage: str,
})
function trailView(state: State, trail: TrailOrder): Record<string, unknown> {
  const { extremum, trigger } = trailFigures(state, trail)
  const { margin, leverage } = positionWords(state, state.world.findContract(trail.contract), trail)
  const { created_at, activated_at, ended_at } = trail
  const code = STATUS_CODES[trail.status]
  return {
    id: trail.id,
    user_id: trail.user_id,
    user: trail.user_id,
    suborder_id: trail.suborder_id,
    contract: shownContract(trail.contract),
    settle: trail.account.split('/')[1],
    amount: String(contractsIn(trail.amount)),
    is_gte: trail.is_gte,
    activation_price: format(trail.activation_price),
    price_type: numberOf(trail.price_type),
    price_offset: shownOffset(trail.price_offset),
    text: trail.text === '' ? 'api' : trail.text,
    reduce_only: trail.reduce_only,
    position_related: trail.position_related,
    is_dual_mode: trail.dual,
    created_at: wholeSeconds(created_at),
    activated_at: wholeSeconds(activated_at),
    finished_at: wholeSeconds(ended_at),
    create_time: wholeSeconds(created_at),
    active_time: wholeSeconds(activated_at),
    finish_time: wholeSeconds(ended_at),
    updated_at: wholeSeconds(trail.updated_at),
    reason: trail.reason,
    suborder_text: trail.suborder_id === 0 ? '' : suborderText(trail.id),
    trigger_price: format(trigger),
    extremum_price: format(extremum),
    side_label: trail.side,
    position_side_output: sideWords(trail.side, trail.reduce_only),
    original_status: code,
    status_code: String(code),
    status: ended_at === 0 ? 'open' : 'finished',
    status_label: trail.status,
    created_at_precise: precise(created_at),
    finished_at_precise: precise(ended_at),
    activated_at_precise: precise(activated_at),
    pos_margin_mode: trail.pos_margin_mode || margin,
    position_mode: trail.dual ? 'dual' : 'single',
    error_label: trail.error_label,
    leverage,
  }
}
const orderReply = shape({ order: trailShape })
const ordersReply = shape({ orders: array(trailShape) })
const wrapped = (data: ReturnType<typeof shape>) => shape({ code: int, message: str, data, timestamp: int64 })
const wrap = (desk: Desk, data: unknown) => ({
  code: 0,
  message: 'success',
  data,
  timestamp: Math.floor(desk.clock.now() / 1000),
})

const find = (desk: Desk, path: AccountPath, id: number): Promise<TrailOrder> =>
  findAuto(
    desk,
    'trail',
    ({ futures }) => futures.waiting.trails.table.get(id),
    () => desk.store.select(TRAIL_ORDER, 'where "id" = ?', [id]),
    { ...path, id },
  )
/** Memory holds the waiting ones: of another one, the store tells whether it has ended or never was. */
const orEnded = <R>(desk: Desk, path: AccountPath, id: number | null, run: Promise<R>): Promise<R> =>
  orElse(run, 'ORDER_NOT_FOUND', async () => {
    if (id !== null) refuseEndedTrail(await find(desk, path, id))
  })

const CREATE_LABELS = [
  'CONTRACT_NOT_FOUND',
  'TRADE_RESTRICTED',
  'CONTRACT_IN_DELISTING',
  'USER_NOT_FOUND',
  'INVALID_PRECISION',
  'POSITION_IN_LIQUIDATION',
  'SIZE_TOO_SMALL',
  'SIZE_TOO_LARGE',
  'TOO_MANY_ORDERS',
  'POSITION_EMPTY',
  'REQUEST_EXPIRED',
] as const

export const trailEndpoints = (group: Group): readonly AnyEndpoint[] => {
  const base = `${group.base}/autoorder/v1/trail` as const
  const common = { access: group.access, limit: group.other, params: SETTLE } as const
  return [
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/create`,
      summary: 'Creates an order that follows the best price and is placed when the price has come back',
      body: object({
        contract: contractField,
        amount: described(sizeField(), 'contracts, signed: above zero buys'),
        activation_price: withDefault(described(orderDecimal(), '"0" is at once'), '0'),
        is_gte: optional(flag()),
        price_type: withDefault(described(oneOfNumbers(1, 2, 3), '1 last, 2 index, 3 mark price'), 1),
        price_offset: priceOffset,
        reduce_only: withDefault(flag(), false),
        position_related: withDefault(flag(), false),
        text: optional(text({ max: 64 })),
        pos_margin_mode: unlessDash(oneOf('isolated', 'cross')),
        position_mode: unlessDash(oneOf('single', 'dual')),
      }),
      once: hasOwnText,
      status: 201,
      reply: wrapped(shape({ id: int64 })),
      refuses: [...CREATE_LABELS, 'DUPLICATE_REQUEST'],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const price_type = PRICE_NUMBERS[body.price_type - 1]!
        const input = { ...pathOf(group, caller, path.settle), ...body, price_type }
        const { id } = await desk.core.submit('futures.trail.create', input)
        return wrap(desk, { id })
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/stop`,
      summary: 'Cancels a trail order, by its id or text',
      body: object(NAMED),
      status: 200,
      reply: orderReply,
      refuses: ['ORDER_NOT_FOUND', 'ORDER_FINISHED', 'REQUEST_EXPIRED'],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const at = pathOf(group, caller, path.settle)
        const run = desk.core.submit('futures.trail.stop', { ...at, id: nameOf(body) }, (state, trail) => ({
          order: trailView(state, trail),
        }))
        return orEnded(desk, at, body.id, run)
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/stop_all`,
      summary: 'Cancels all trail orders, of one contract or side of a position where they are named',
      body: object({
        contract: optional(contractField),
        related_position: optional(described(oneOfNumbers(1, 2), '1 long, 2 short')),
      }),
      status: 200,
      reply: ordersReply,
      refuses: ['CONTRACT_NOT_FOUND', 'REQUEST_EXPIRED'],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const input = {
          ...pathOf(group, caller, path.settle),
          contract: body.contract,
          related: related(body.related_position),
        } as const
        return desk.core.submit('futures.trail.stop_all', input, (state, trails) => ({
          orders: trails.map((trail) => trailView(state, trail)),
        }))
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${base}/list`,
      summary: 'Lists trail orders that wait, or that have ended, newest first',
      query: {
        ...autoListFields,
        sort_by: withDefault(described(oneOfNumbers(1, 2), '1 created, 2 finished'), 1),
        related_position: optional(oneOfNumbers(1, 2)),
        sort_by_trigger: withDefault(flag(), false),
      },
      status: 200,
      reply: ordersReply,
      refuses: ['CONTRACT_NOT_FOUND'],
      handle: async (call) => {
        const { desk, caller, path, query, set } = call
        const settled = settledOf(group, path.settle)
        const { user_id } = caller.user
        const side = related(query.related_position)
        checkSpan(query)
        const page = pageOf(query)
        if (!query.is_finished)
          return desk.core.read((state) => {
            const found = waitingAuto(
              state,
              settled,
              query,
              state.futures.waiting.trails.of(user_id, settled.account),
            ).filter((trail) => side === null || relatedTo(trail) === side)
            if (query.sort_by_trigger)
              found.sort((a, b) => (nextPrice(state, a) < nextPrice(state, b) ? -1 : 1))
            return { orders: listedPage(set, found, page).map((trail) => trailView(state, trail)) }
          })
        const rows = await endedAuto(call, TRAIL_ORDER, user_id, settled, query, (filter) => {
          if (side !== null)
            filter.and('"position_related"').and('"side" = ?', side === 'long' ? 'sell' : 'buy')
        })
        return desk.core.read((state) => ({ orders: rows.map((trail) => trailView(state, trail)) }))
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${base}/detail`,
      summary: 'Shows one trail order',
      query: { id: digitsId() },
      status: 200,
      reply: wrapped(orderReply),
      refuses: ['ORDER_NOT_FOUND'],
      handle: async ({ desk, caller, path, query }) => {
        const trail = await find(desk, pathOf(group, caller, path.settle), query.id)
        return desk.core.read((state) => wrap(desk, { order: trailView(state, trail) }))
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/update`,
      summary: 'Changes a trail order that waits',
      body: object({
        id: digitsId(),
        amount: optional(described(sizeField(), '0 keeps it')),
        activation_price: optional(orderDecimal()),
        is_gte_str: optional(oneOf('true', 'false', '')),
        price_type: optional(described(oneOfNumbers(0, 1, 2, 3), '0 keeps it')),
        price_offset: optional(priceOffset),
      }),
      status: 200,
      reply: orderReply,
      refuses: [
        'ORDER_NOT_FOUND',
        'ORDER_FINISHED',
        'NO_CHANGE',
        'INVALID_PRECISION',
        'SIZE_TOO_SMALL',
        'SIZE_TOO_LARGE',
        'REQUEST_EXPIRED',
      ],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const at = pathOf(group, caller, path.settle)
        const { amount, activation_price, is_gte_str, price_type, price_offset } = body
        const input = {
          ...at,
          id: body.id,
          amount: amount === '0' ? null : amount,
          activation_price,
          is_gte: is_gte_str === null || is_gte_str === '' ? null : is_gte_str === 'true',
          price_type: price_type === null || price_type === 0 ? null : PRICE_NUMBERS[price_type - 1]!,
          price_offset: price_offset === '' ? null : price_offset,
        }
        const run = desk.core.submit('futures.trail.update', input, (state, trail) => ({
          order: trailView(state, trail),
        }))
        return orEnded(desk, at, body.id, run)
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${base}/change_log`,
      summary: 'What a trail order was when it was created, and after each change; newest first',
      query: { id: digitsId(), ...pageFields },
      status: 200,
      reply: shape({
        change_log: array(
          shape({
            updated_at: int64,
            amount: str,
            is_gte: bool,
            activation_price: decimalText,
            price_type: int,
            price_offset: str,
            is_create: bool,
          }),
        ),
      }),
      refuses: ['ORDER_NOT_FOUND'],
      handle: async ({ desk, caller, path, query, set }) => {
        const { id } = await find(desk, pathOf(group, caller, path.settle), query.id)
        const filter = new Filter().and('"trail_id" = ?', id)
        const rows = await storedPage(desk, set, TRAIL_CHANGE, filter, '"id" desc', pageOf(query))
        return {
          change_log: rows.map((row) => ({
            updated_at: wholeSeconds(row.at),
            amount: String(contractsIn(row.amount)),
            is_gte: row.is_gte,
            activation_price: format(row.activation_price),
            price_type: numberOf(row.price_type),
            price_offset: shownOffset(row.price_offset),
            is_create: row.is_create,
          })),
        }
      },
    }),
  ]
}
/** Where it fires, or is activated. */
function nextPrice(state: State, trail: TrailOrder): bigint {
  return trail.status === 'active' ? trailFigures(state, trail).trigger : trail.activation_price
}
