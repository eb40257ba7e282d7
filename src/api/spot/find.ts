import { isMeant } from '../../core/spot/accounts.ts'
import { placeWords, refuseEnded, type Place } from '../../core/spot/cancel.ts'
import { SPOT_ORDER, type Order } from '../../core/tables/spot/order.ts'
import { notFound, refuse, type Refusal } from '../../labels.ts'
import type { Desk } from '../endpoint.ts'

/** Orders have ids of digits; anything else is a text that the client chose. */
const isId = (name: string): boolean => /^\d+$/.test(name)
/** Longer ones are nobody's. */
const ID_LENGTH_MAX = 15

/** An order by id or text, open or long finished. Pair and account must be those that were named. */
export async function findOrder(desk: Desk, userId: number, name: string, place: Place): Promise<Order> {
  const order = isId(name) ? await byId(desk, name) : await byText(desk, userId, name)
  const { state } = desk.core
  if (order?.user_id !== userId || order.pair !== place.pair || !isMeant(state, order, place.account))
    return missing(name, place)
  return order
}
/**
 * The id of an order that is about to change. Open ones are in memory; for others the store tells whether
 * they are finished or never were.
 */
export async function openId(desk: Desk, userId: number, name: string, place: Place): Promise<number> {
  const { spot } = desk.core.state
  if (isId(name)) {
    if (spot.orders.get(Number(name)) !== undefined) return Number(name)
  } else {
    const open = spot.openWithText(userId, name)
    if (open !== undefined) return open.id
  }
  const order = await findOrder(desk, userId, name, place)
  refuseEnded(order)
  return order.id
}

async function byId(desk: Desk, name: string): Promise<Order | undefined> {
  if (name.length > ID_LENGTH_MAX) return undefined
  const id = Number(name)
  const known = await desk.core.read(({ spot }) => spot.orders.get(id))
  return known ?? (await desk.store.select(SPOT_ORDER, 'where "id" = ?', [id]))[0]
}
/** A text may be used again: the newest order wins. */
async function byText(desk: Desk, userId: number, text: string): Promise<Order | undefined> {
  const open = await desk.core.read(({ spot }) => spot.openWithText(userId, text))
  if (open !== undefined) return open
  const where = `where "user_id" = ? and "text" = ? and "text" <> 'apiv4' order by "id" desc limit 1`
  return (await desk.store.select(SPOT_ORDER, where, [userId, text]))[0]
}
function missing(name: string, place: Place): never {
  const where = placeWords(place)
  if (isId(name)) notFound('ORDER_NOT_FOUND', `this account has no order ${name}${where}`)
  return notFound('CLIENT_ID_NOT_FOUND', `Order with client ID ${name} not found${where}`)
}

/** A client may bound how long its order call is good for. */
export function refuseStale(call: { desk: Desk; header(name: string): string | undefined }): void {
  const value = call.header('x-gate-exptime') ?? call.header('x-svc-exptime')
  if (value === undefined || value === '') return
  if (!/^\d{10,15}$/.test(value))
    refuse('INVALID_PARAM_VALUE', `x-gate-exptime: "${value}" must be a Unix time in milliseconds`)
  const { clock } = call.desk
  const now = Math.floor(clock.peek() / 1000)
  const end = Number(value)
  if (now > end && (clock.real === undefined || clock.real() / 1000 > end))
    refuse('REQUEST_EXPIRED', `x-gate-exptime: ${value} has passed; the platform's clock is at ${now} ms`)
}
export const itemFault = (error: unknown): { label: string; message: string } => {
  const { label, message } = error as Refusal
  return { label, message }
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
