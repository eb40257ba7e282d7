import type { Amount } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { atIndex, isDoubtful, isFlattered, nearIndex } from './believed.ts'
import type { Settled } from './cash.ts'
import { cashLeft, isCross, marginBalance, unitOf, type Unit } from './needs.ts'
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
  // Where one has no price to rely on, nothing is known to be left.
  return (cross >= 0n && unpricedFor(state, userId, settled) !== undefined ? -1n : cross) as Amount
}
/** What the cross positions of an account follow that has no price to rely on. */
export function unpricedFor(state: State, userId: number, { account }: Settled): string | undefined {
  const { futures, prices, world } = state
  for (const row of futures.positions.heldBy(userId, account)) {
    const { base } = world.mustContract(row.contract)
    if (isCross(row) && prices.quote(base).firm === 0n) return base
  }
  return undefined
}
/** What may leave it: never profit that is not realised, and never what keeps it above maintenance at the index. */
export function ownFree(state: State, userId: number, settled: Settled): Amount {
  const unit = unitOf(state, userId, settled)
  const [cash, cross] = [cashLeft(unit), ownAvailable(state, userId, settled, unit)]
  const free = cash < cross ? cash : cross
  if (!isFlattered(state, userId, settled.account)) return free
  const there = unitOf(state, userId, settled, undefined, 0n, atIndex(state))
  const spare = marginBalance(there) - there.maintenance - 1n
  return (there.maintenance > 0n && spare < free ? spare : free) as Amount
}
