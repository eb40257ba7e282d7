import { isMeant } from '../../core/spot/accounts.ts'
import { isOrderId, orderNamed, placeWords, refuseEnded, type Place } from '../../core/spot/cancel.ts'
import { SPOT_ORDER, isClientText, type Order, type OrderAccount } from '../../core/tables/exchange/order.ts'
import type { State } from '../../core/state.ts'
import { Refusal, notFound, refuse } from '../../labels.ts'
import type { Desk } from '../endpoint.ts'
import { historyPair } from './views.ts'

/** How a call names an order: by its id or its text, the market and perhaps the account. */
export interface OrderName {
  readonly user_id: number
  readonly id: string
  readonly currency_pair: string
  readonly account: OrderAccount | null
}
const isAt = (state: State, order: Order | undefined, userId: number, place: Place): order is Order =>
  order?.user_id === userId && order.pair === place.pair && isMeant(state, order, place.account)

/** An order by id or text, open or long finished, as `view` shows it. Pair and account must be those that were named. */
export async function findOrder<R>(
  desk: Desk,
  name: OrderName,
  view: (state: State, order: Order) => R,
): Promise<R> {
  const { user_id, id, account } = name
  const shown = (state: State, order: Order | undefined): R => {
    const place = { pair: historyPair(state, name.currency_pair), account }
    return isAt(state, order, user_id, place) ? view(state, order) : missing(id, place)
  }
  const known = await desk.core.read((state) => {
    const order = orderNamed(state.spot, user_id, id)
    return order === undefined ? undefined : { view: shown(state, order) }
  })
  if (known !== undefined) return known.view
  const order = await stored(desk, user_id, id)
  return desk.core.read((state) => shown(state, order))
}

/**
 * Runs a command on an open order. Memory knows those alone: of one that it does not know, the store tells whether it
 * has ended or never was.
 */
export async function orEnded<R>(desk: Desk, name: OrderName, run: Promise<R>): Promise<R> {
  try {
    return await run
  } catch (error) {
    throw (error instanceof Refusal && (await ending(desk, name, error))) || error
  }
}
/** What became of an order, in place of the refusal that nobody knows it; undefined where that stands. */
export async function ending(
  desk: Desk,
  { user_id, id, currency_pair, account }: OrderName,
  { label }: Pick<Refusal, 'label'>,
): Promise<Refusal | undefined> {
  if (label !== 'ORDER_NOT_FOUND' && label !== 'CLIENT_ID_NOT_FOUND') return undefined
  const order = await stored(desk, user_id, id)
  return desk.core.read((state) => {
    // The market may have been removed since the command looked: then nothing more is known, and nobody else's outcome is lost.
    const market = state.world.findMarket(currency_pair)
    if (market === undefined || !isAt(state, order, user_id, { pair: market.id, account })) return undefined
    try {
      refuseEnded(order)
    } catch (ended) {
      return ended as Refusal
    }
    return undefined
  })
}

/** A text may be used again: the newest order wins. */
const BY_TEXT = `where "user_id" = ? and "text" = ? and "text" <> 'apiv4' order by "id" desc limit 1`
async function stored(desk: Desk, userId: number, name: string): Promise<Order | undefined> {
  if (!isOrderId(name)) {
    // What only tells where an order came from names none.
    if (!isClientText(name)) return undefined
    return (await desk.store.select(SPOT_ORDER, BY_TEXT, [userId, name]))[0]
  }
  const id = Number(name)
  if (!Number.isSafeInteger(id)) return undefined
  return (await desk.store.select(SPOT_ORDER, 'where "id" = ?', [id]))[0]
}
function missing(name: string, place: Place): never {
  const where = placeWords(place)
  if (isOrderId(name)) notFound('ORDER_NOT_FOUND', `this account has no order ${name}${where}`)
  return notFound('CLIENT_ID_NOT_FOUND', `Order with client ID ${name} not found${where}`)
}

/** A client may bound how long its order call is good for. */
export function refuseStale(call: { desk: Desk; header(name: string): string | undefined }): void {
  const value = call.header('x-gate-exptime') ?? call.header('x-svc-exptime')
  if (value === undefined || value === '') return
  if (!/^\d{1,15}$/.test(value))
    refuse('INVALID_PARAM_VALUE', `x-gate-exptime: "${value}" must be a Unix time in milliseconds`)
  const { clock } = call.desk
  const now = Math.floor(clock.peek() / 1000)
  const end = Number(value)
  if (now > end && (clock.real === undefined || clock.real() / 1000 > end))
    refuse('REQUEST_EXPIRED', `x-gate-exptime: ${value} has passed; the platform's clock is at ${now} ms`)
}

/** Orders that exist, in the order of the ids; those that have left memory come from the store. */
export async function ordersById(desk: Desk, ids: readonly number[]): Promise<Order[]> {
  const found = await desk.core.read(({ spot }) => ids.map((id) => spot.orders.get(id)))
  return Promise.all(
    found.map(async (order, i) => {
      if (order !== undefined) return order
      const [row] = await desk.store.select(SPOT_ORDER, 'where "id" = ?', [ids[i]!])
      return row!
    }),
  )
}
