import { ZERO, type Amount } from '../../money/amount.ts'
import { sideMargin, type RestingOrder } from '../contracts/margin.ts'
import type { Holding } from '../contracts/position.ts'
import type { State } from '../state.ts'
import type { OrderRow } from '../tables/exchange/order.ts'
import type { CountedWith } from '../tables/futures/order-margins.ts'
import type { Position } from '../tables/futures/positions.ts'
import { mainIdOf } from '../tables/users.ts'
import { accountOfContract, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { contractRates } from './fees.ts'
import { heldContracts, isCross, leverageOf } from './needs.ts'

/** What the open orders of an account need in one contract, beside its position there. */
export function orderMarginIn(state: State, userId: number, contract: Contract): Amount {
  const { futures } = state
  if (futures.openCount(userId, contract.id) === 0) return ZERO
  const counted = {
    contract,
    dual: futures.accounts.get(userId, contract.account)?.dual === true,
    mark: futures.markOf(contract.id),
    takerRate: contractRates(vipOf(state, userId), contract).taker,
  }
  const known = futures.orderMargins.get(userId, contract.id, counted)
  if (known !== undefined) return known
  const margin = countOrderMargin(state, userId, counted)
  futures.orderMargins.keep(userId, contract.id, { ...counted, margin })
  return margin
}
/** The same, counted anew. */
export function countOrderMargin(
  { futures }: State,
  userId: number,
  { contract, dual, mark, takerRate }: CountedWith,
): Amount {
  const orders = futures.openOrders(userId, contract.id)
  const { positions } = futures
  const long = positions.get(userId, contract.id, dual ? 'dual_long' : 'single')
  const short = dual ? positions.get(userId, contract.id, 'dual_short') : long
  const need = (side: 'buy' | 'sell', row: Position | undefined): Amount => {
    // In dual mode a side adds to its own position: nothing that it has is reduced.
    const held = dual || row === undefined ? NOTHING : heldContracts(row)
    const leverage = row === undefined ? contract.crossDefault : leverageOf(row)
    const reduces = (side === 'buy') === held.size < 0n && held.size !== 0n
    return sideMargin(contract.terms, side, sideOf(orders, side, reduces), held, {
      leverage,
      takerRate,
      mark,
    })
  }
  const [buys, sells] = [need('buy', long), need('sell', short)]
  const apart = dual && long !== undefined && !isCross(long)
  return apart ? ((buys + sells) as Amount) : buys > sells ? buys : sells
}
const NOTHING: Holding = { size: 0n, cost: ZERO }
const vipOf = ({ users }: State, userId: number): number => users.must(mainIdOf(users.must(userId))).vip
export const reducesOnly = ({ more }: Pick<OrderRow, 'more'>): boolean => more?.reduce_only === true
/** Best price first, then oldest, where that matters: it decides which of them reduce a position. */
function sideOf(orders: readonly OrderRow[], side: 'buy' | 'sell', sorted: boolean): RestingOrder[] {
  const sign = side === 'buy' ? -1 : 1
  const own = orders.filter((order) => order.side === side)
  if (sorted) own.sort((a, b) => (a.price === b.price ? a.id - b.id : a.price < b.price ? -sign : sign))
  return own.map((order) => ({
    left: contractsIn(order.left),
    price: order.price,
    reduceOnly: reducesOnly(order),
  }))
}
/** Over all contracts of an account: of cross contracts, and all. */
export function orderMargins(
  state: State,
  userId: number,
  account: string,
): { readonly cross: Amount; readonly all: Amount } {
  let [cross, all] = [0n, 0n]
  for (const id of state.futures.openPairs(userId)) {
    if (accountOfContract(id) !== account) continue
    const contract = state.world.mustContract(id)
    const margin = orderMarginIn(state, userId, contract)
    all += margin
    if (marginModeOf(state, userId, id) === 'cross') cross += margin
  }
  return { cross: cross as Amount, all: all as Amount }
}
export function marginModeOf(state: State, userId: number, contract: string): 'cross' | 'isolated' {
  const { positions, accounts } = state.futures
  const dual = accounts.get(userId, accountOfContract(contract))?.dual === true
  const row = positions.get(userId, contract, dual ? 'dual_long' : 'single')
  return row === undefined || isCross(row) ? 'cross' : 'isolated'
}
