import type { Amount } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { atIndex, isDoubtful, isFlattered, nearIndex } from './believed.ts'
import type { Settled } from './cash.ts'
import { crossCash, marginBalance, unitOf, type Unit } from './needs.ts'
import { orderMargins } from './orders.ts'

/**
 * What new cross orders may use of an account whose positions stand on its own cash, by the mark and by what is believed
 * of it; below zero where it is overdrawn.
 */
export function ownAvailable(
  state: State,
  userId: number,
  settled: Settled,
  unit = unitOf(state, userId, settled),
): Amount {
  const { all } = orderMargins(state, userId, settled.account)
  const free = (one: Unit): bigint => marginBalance(one) - one.initial - all
  let cross = free(unit)
  if (isDoubtful(state, userId, settled.account)) {
    const other = free(unitOf(state, userId, settled, undefined, 0n, nearIndex(state)))
    if (other < cross) cross = other
  }
  return cross as Amount
}
/** What may leave it: never profit that is not realised, and never what keeps it above maintenance at the index. */
export function ownFree(state: State, userId: number, settled: Settled): Amount {
  const unit = unitOf(state, userId, settled)
  const [cash, cross] = [crossCash(unit), ownAvailable(state, userId, settled, unit)]
  const free = cash < cross ? cash : cross
  if (!isFlattered(state, userId, settled.account)) return free
  const there = unitOf(state, userId, settled, undefined, 0n, atIndex(state))
  const spare = marginBalance(there) - there.maintenance - 1n
  return (there.maintenance > 0n && spare < free ? spare : free) as Amount
}
