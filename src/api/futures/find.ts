import type { AccountPath } from '../../core/futures/inputs.ts'
import { isOrderId } from '../../core/spot/cancel.ts'
import type { State } from '../../core/state.ts'
import { CONTRACT_ORDER, isClientText, type Order } from '../../core/tables/exchange/order.ts'
import { Refusal, notFound } from '../../labels.ts'
import type { Desk } from '../endpoint.ts'
import { Filter, ofAccount } from './lists.ts'

const accountOf = ({ group, settle }: AccountPath): string => `${group}/${settle}`
/** Another account's order is not found: that it exists is not told. */
const isOwn = (order: Order | undefined, path: AccountPath): order is Order =>
  order?.user_id === path.user_id && order.pair.startsWith(`${accountOf(path)}/`)

/** An order by id or text, open or long finished. */
export async function findOrder<R>(
  desk: Desk,
  path: AccountPath,
  name: string,
  view: (state: State, order: Order) => R,
): Promise<R> {
  const known = await desk.core.read((state) => {
    const { futures } = state
    const order = isOrderId(name)
      ? futures.orders.get(Number(name))
      : futures.openWithText(path.user_id, name, accountOf(path))
    return isOwn(order, path) ? { view: view(state, order) } : undefined
  })
  if (known !== undefined) return known.view
  const order = await stored(desk, path, name)
  if (!isOwn(order, path)) return missing(path, name)
  return desk.core.read((state) => view(state, order))
}

/** A text may be used again: the newest order wins. */
async function stored(desk: Desk, path: AccountPath, name: string): Promise<Order | undefined> {
  if (isOrderId(name)) {
    const id = Number(name)
    if (!Number.isSafeInteger(id)) return undefined
    return (await desk.store.select(CONTRACT_ORDER, 'where "id" = ?', [id]))[0]
  }
  if (!isClientText(name)) return undefined
  const filter = new Filter().and('"user_id" = ?', path.user_id).and('"text" = ?', name)
  const { sql, values } = ofAccount(filter, 'pair', accountOf(path))
  return (await desk.store.select(CONTRACT_ORDER, `${sql} order by "id" desc limit 1`, values))[0]
}
const missing = (path: AccountPath, name: string): never =>
  notFound('ORDER_NOT_FOUND', `this account has no order ${name} in ${path.group} ${path.settle}`)

/**
 * Runs a command on an open order. Memory knows those alone: of one that it does not know, the store tells whether it
 * has ended or never was.
 */
export async function orEnded<R>(desk: Desk, path: AccountPath, name: string, run: Promise<R>): Promise<R> {
  try {
    return await run
  } catch (error) {
    throw (error instanceof Refusal && (await ending(desk, path, name, error))) || error
  }
}
/** What became of an order, in place of the refusal that nobody knows it; undefined where that stands. */
export async function ending(
  desk: Desk,
  path: AccountPath,
  name: string,
  { label }: Pick<Refusal, 'label'>,
): Promise<Refusal | undefined> {
  if (label !== 'ORDER_NOT_FOUND') return undefined
  const order = await stored(desk, path, name)
  if (!isOwn(order, path) || order.status === 'open') return undefined
  return new Refusal('ORDER_FINISHED', `order ${order.id} has ended already (${order.finish_as})`)
}

/** Orders that exist, in the order of the ids; those that have left memory come from the store. */
export async function ordersById(desk: Desk, ids: readonly number[]): Promise<Order[]> {
  const found = await desk.core.read(({ futures }) => ids.map((id) => futures.orders.get(id)))
  return Promise.all(
    found.map(async (order, i) => {
      if (order !== undefined) return order
      const [row] = await desk.store.select(CONTRACT_ORDER, 'where "id" = ?', [ids[i]!])
      return row!
    }),
  )
}
