import { ZERO, type Amount } from '../../money/amount.ts'
import type { State } from '../state.ts'
import type { OrderRow, Side } from '../tables/exchange/order.ts'
import type { OrderSide } from '../tables/futures/order-sides.ts'
import type { Position } from '../tables/futures/positions.ts'
import { mainIdOf } from '../tables/users.ts'
import { accountOfContract, contractsIn, type Contract } from '../tables/world/contracts.ts'
import { contractRates } from './fees.ts'
import { isCross, leverageOf } from './needs.ts'

/** What the open orders of an account need in one contract, beside its position there. */
export function orderMarginIn(state: State, userId: number, contract: Contract): Amount {
  const { futures } = state
  const [buy, sell] = [
    futures.sides.of(userId, contract.id, 'buy'),
    futures.sides.of(userId, contract.id, 'sell'),
  ]
  if (buy === undefined || sell === undefined) return ZERO
  const { positions, accounts } = state.futures
  const dual = accounts.get(userId, contract.account)?.dual === true
  const long = positions.get(userId, contract.id, dual ? 'dual_long' : 'single')
  const short = dual ? positions.get(userId, contract.id, 'dual_short') : long
  const mark = state.futures.markOf(contract.id)
  const takerRate = contractRates(vipOf(state, userId), contract).taker
  const need = (side: Side, orders: OrderSide, row: Position | undefined): Amount => {
    // In dual mode a side adds to its own position: nothing that it has is reduced.
    const held = dual || row === undefined ? 0n : contractsIn(row.size)
    const reduces = side === 'buy' ? (held < 0n ? -held : 0n) : held > 0n ? held : 0n
    const leverage = row === undefined ? contract.crossDefault : leverageOf(row)
    return orders.marginOf(contract, reduces, { leverage, takerRate, mark })
  }
  const [buys, sells] = [need('buy', buy, long), need('sell', sell, short)]
  const apart = dual && long !== undefined && !isCross(long)
  return apart ? ((buys + sells) as Amount) : buys > sells ? buys : sells
}
const vipOf = ({ users }: State, userId: number): number => users.must(mainIdOf(users.must(userId))).vip
export const reducesOnly = ({ more }: Pick<OrderRow, 'more'>): boolean => more?.reduce_only === true
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
