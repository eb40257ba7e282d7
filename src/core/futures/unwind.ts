import { abs } from '../contracts/terms.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { Ctx } from '../state.ts'
import { contractsIn } from '../tables/world/contracts.ts'
import { deleverage } from './deleverage.ts'
import { nearIndex } from './figures.ts'
import { closingSide, fundWorth, isMet, unwindBound } from './insurance.ts'
import { matchTaker, takerOf } from './place.ts'
import { platformOrder } from './platform-orders.ts'
import { positionOf, putPosition } from './positions.ts'

const UNWIND_PART = 10n
/** Due, each second while the fund holds a position that something stands against: a tenth of it, near the mark. */
export function unwind(ctx: Ctx, input: { contract: string }): null {
  const { state } = ctx
  const contract = state.world.findContract(input.contract)
  if (contract === undefined) return null
  const before = positionOf(state, PLATFORM, contract, 'single')
  if (before.size === 0n) {
    if (before.liquidating !== 0) putPosition(ctx, { ...before, liquidating: 0 })
    return null
  }
  const fund = putPosition(ctx, { ...before, liquidating: 0 })
  const held = abs(contractsIn(fund.size))
  if (fundWorth(state, contract) <= 0n)
    deleverage(ctx, contract, fund, held, nearIndex(state)(contract.id), { text: 'insurance' })
  else if (isMet(ctx, contract, fund)) {
    const part = held / UNWIND_PART
    const bound = unwindBound(state, contract, closingSide(fund))
    const order = platformOrder(ctx, contract, fund, part === 0n ? 1n : part, bound, 'insurance')
    matchTaker(ctx, takerOf(contract, order, bound), order.id, (end) => (end === 'filled' ? 'filled' : 'ioc'))
  }
  return null
}
