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
    const leverage = row === undefined ? contract.crossDefault : leverageOf(row, contract)
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
  let cross = 0n
  let all = 0n
  for (const id of state.futures.openIn(userId)) {
    const contract = state.world.mustContract(id)
    if (contract.account !== account) continue
    const margin = orderMarginIn(state, userId, contract)
    all += margin
    if (modeIn(state, userId, contract) === 'cross') cross += margin
  }
  return { cross: cross as Amount, all: all as Amount }
}
export const marginModeOf = (state: State, userId: number, contract: string): 'cross' | 'isolated' =>
  modeIn(state, userId, { id: contract, account: accountOfContract(contract) })
function modeIn(
  { futures }: State,
  userId: number,
  { id, account }: Pick<Contract, 'id' | 'account'>,
): 'cross' | 'isolated' {
  const { positions, accounts } = futures
  const dual = accounts.get(userId, account)?.dual === true
  const row = positions.get(userId, id, dual ? 'dual_long' : 'single')
  return row === undefined || isCross(row) ? 'cross' : 'isolated'
}
