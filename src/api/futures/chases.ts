import { refuseEndedChase } from '../../core/futures/chases.ts'
import type { AccountPath } from '../../core/futures/inputs.ts'
import type { State } from '../../core/state.ts'
import { CHASE_ORDER, type ChaseOrder } from '../../core/tables/futures/chases.ts'
import { contractsIn } from '../../core/tables/world/contracts.ts'
import { refuse } from '../../labels.ts'
import { format, overDown, type Price } from '../../money/amount.ts'
import { endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { described, flag, object, oneOf, oneOfNumbers, optional, text, withDefault } from '../fields.ts'
import { orElse } from '../missing.ts'
import { array, bool, decimalText, int, int64, shape, str } from '../shapes.ts'
import { refuseStale } from '../spot/find.ts'
import { hasOwnText, orderDecimal } from '../spot/order-fields.ts'
import {
  STATUS_CODES,
  autoListFields,
  checkSpan,
  digitsId,
  offsetField,
  pageOf,
  positionWords,
  precise,
  shownOffset,
  sideWords,
} from './auto-orders.ts'
import { endedAuto, findAuto, nameOf, waitingAuto } from './auto-lists.ts'
import { listedPage } from './lists.ts'
import { unlessDash } from './order-fields.ts'
import { shown, wholeSeconds } from './order-views.ts'
import { CHASE_LABELS, pathOf } from './orders.ts'
import { SETTLE, contractField, settledOf, shownContract, type Group } from './paths.ts'
import { sizeField } from './sizes.ts'

const chaseShape = shape({
  id: str,
  user: str,
  contract: str,
  settle: str,
  amount: str,
  price_limit: decimalText,
  reduce_only: bool,
  text: str,
  create_time: int64,
  finish_time: int64,
  updated_at: int64,
  original_status: int,
  status: str,
  reason: str,
  fill_amount: str,
  average_fill_price: decimalText,
  suborder_id: str,
  is_dual_mode: bool,
  side_label: str,
  position_side_output: str,
  chase_price: decimalText,
  interval_sec: int,
  suborder_price: decimalText,
  suborder_ongoing: bool,
  suborder_finish_as: str,
  price_type: int,
  price_gap_type: str,
  price_gap_value: str,
  status_code: str,
  create_time_precise: str,
  finish_time_precise: str,
  pos_margin_mode: str,
  position_mode: str,
  leverage: str,
  error_label: str,
})
function chaseView(state: State, chase: ChaseOrder): Record<string, unknown> {
  const { created_at, ended_at } = chase
  // While it chases its order tells; what that was in the end is written down.
  const order = ended_at === 0 ? state.futures.orders.get(chase.suborder_id) : undefined
  const filled = order?.filled ?? chase.filled
  const filledTotal = order?.filled_total ?? chase.filled_total
  const { margin, leverage } = positionWords(state, state.world.findContract(chase.contract), chase)
  const code = STATUS_CODES[chase.status]
  return {
    id: String(chase.id),
    user: String(chase.user_id),
    contract: shownContract(chase.contract),
    settle: chase.account.split('/')[1],
    amount: String(contractsIn(chase.amount)),
    price_limit: format(chase.limit),
    reduce_only: chase.reduce_only,
    text: chase.text === '' ? 'api' : chase.text,
    create_time: wholeSeconds(created_at),
    finish_time: wholeSeconds(ended_at),
    updated_at: wholeSeconds(chase.updated_at),
    original_status: code,
    status: ended_at === 0 ? 'open' : 'finished',
    reason: chase.reason,
    fill_amount: String(contractsIn(filled)),
    average_fill_price: filled === 0n ? '0' : shown(overDown(filledTotal, filled as bigint as Price)),
    suborder_id: String(chase.suborder_id),
    is_dual_mode: chase.dual,
    side_label: chase.side,
    position_side_output: sideWords(chase.side, chase.reduce_only),
    chase_price: format(chase.chase_price),
    interval_sec: 1,
    suborder_price: format(order?.price ?? chase.suborder_price),
    suborder_ongoing: order !== undefined,
    suborder_finish_as: chase.suborder_finish_as,
    price_type: chase.price_type,
    price_gap_type: chase.price_type === 1 ? '' : chase.gap_kind === 'distance' ? '1' : '2',
    price_gap_value: shownOffset(chase.price_gap_value),
    status_code: String(code),
    create_time_precise: precise(created_at),
    finish_time_precise: precise(ended_at),
    pos_margin_mode: chase.pos_margin_mode || margin,
    position_mode: chase.dual ? 'dual' : 'single',
    leverage,
    error_label: chase.error_label,
  }
}
const orderReply = shape({ order: chaseShape })
const ordersReply = shape({ orders: array(chaseShape) })

const find = (desk: Desk, path: AccountPath, id: number): Promise<ChaseOrder> =>
  findAuto(
    desk,
    'chase',
    ({ futures }) => futures.waiting.chases.table.get(id),
    () => desk.store.select(CHASE_ORDER, 'where "id" = ?', [id]),
    { ...path, id },
  )

export const chaseEndpoints = (group: Group): readonly AnyEndpoint[] => {
  const base = `${group.base}/autoorder/v1/chase` as const
  const common = { access: group.access, limit: group.other, params: SETTLE } as const
  return [
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/create`,
      summary: 'Creates a post-only order that is kept at the best price of its side, or at a gap from it',
      body: object({
        contract: contractField,
        amount: described(sizeField(), 'contracts, signed: above zero buys'),
        price_limit: optional(described(orderDecimal(), '"0" is none; needed without offset_limit')),
        offset_limit: optional(
          described(offsetField(), 'from the first best price: a distance, or a part with %'),
        ),
        reduce_only: withDefault(flag(), false),
        text: optional(text({ max: 64 })),
        price_type: withDefault(described(oneOfNumbers(1, 2), '1 best price, 2 at a gap from it'), 1),
        price_gap_type: optional(described(oneOfNumbers(1, 2), '1 absolute, 2 percent')),
        price_gap_value: optional(orderDecimal()),
        is_dual_mode: optional(flag()),
        pos_margin_mode: unlessDash(oneOf('isolated', 'cross')),
        position_mode: unlessDash(oneOf('single', 'dual')),
      }),
      once: hasOwnText,
      status: 200,
      reply: shape({ id: str }),
      refuses: CHASE_LABELS,
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const input = { ...pathOf(group, caller, path.settle), ...body }
        const { id } = await desk.core.submit('futures.chase.create', input)
        return { id: String(id) }
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/stop`,
      summary: 'Stops a chase order, by its id or text, and cancels what it placed',
      body: object({ id: optional(digitsId()), text: optional(text({ max: 64 })) }),
      status: 200,
      reply: orderReply,
      refuses: ['ORDER_NOT_FOUND', 'ORDER_FINISHED', 'REQUEST_EXPIRED'],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const at = pathOf(group, caller, path.settle)
        const run = desk.core.submit('futures.chase.stop', { ...at, id: nameOf(body) }, (state, chase) => ({
          order: chaseView(state, chase),
        }))
        // Memory holds those that chase: of another one, the store tells whether it has ended or never was.
        return orElse(run, 'ORDER_NOT_FOUND', async () => {
          if (body.id !== null) refuseEndedChase(await find(desk, at, body.id))
        })
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `${base}/stop_all`,
      summary: 'Stops all chase orders, of one contract or margin mode where they are named',
      body: object({
        contract: optional(contractField),
        pos_margin_mode: unlessDash(oneOf('isolated', 'cross')),
      }),
      status: 200,
      reply: ordersReply,
      refuses: ['CONTRACT_NOT_FOUND', 'REQUEST_EXPIRED'],
      handle: async (call) => {
        refuseStale(call)
        const { desk, caller, path, body } = call
        const input = { ...pathOf(group, caller, path.settle), ...body }
        return desk.core.submit('futures.chase.stop_all', input, (state, chases) => ({
          orders: chases.map((chase) => chaseView(state, chase)),
        }))
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${base}/list`,
      summary: 'Lists chase orders that go on, or that have ended, newest first',
      query: { ...autoListFields, sort_by: described(oneOfNumbers(1, 2), '1 created, 2 finished') },
      status: 200,
      reply: ordersReply,
      refuses: ['CONTRACT_NOT_FOUND'],
      handle: async (call) => {
        const { desk, caller, path, query, set } = call
        const settled = settledOf(group, path.settle)
        const { user_id } = caller.user
        const page = pageOf(query)
        checkSpan(query)
        if (!query.is_finished)
          return desk.core.read((state) => {
            const found = waitingAuto(
              state,
              settled,
              query,
              state.futures.waiting.chases.of(user_id, settled.account),
            )
            return { orders: listedPage(set, found, page).map((chase) => chaseView(state, chase)) }
          })
        for (const name of ['start_at', 'end_at'] as const)
          if (query[name] === null)
            refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${name} (with is_finished)`)
        const rows = await endedAuto(call, CHASE_ORDER, user_id, settled, query)
        return desk.core.read((state) => ({ orders: rows.map((chase) => chaseView(state, chase)) }))
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${base}/detail`,
      summary: 'Shows one chase order',
      query: { id: digitsId() },
      status: 200,
      reply: orderReply,
      refuses: ['ORDER_NOT_FOUND'],
      handle: async ({ desk, caller, path, query }) => {
        const chase = await find(desk, pathOf(group, caller, path.settle), query.id)
        return desk.core.read((state) => ({ order: chaseView(state, chase) }))
      },
    }),
  ]
}
