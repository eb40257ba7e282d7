import type { Price } from '../../money/amount.ts'
import { abs } from '../contracts/terms.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import type { Ctx } from '../state.ts'
import { contractsIn } from '../tables/world/contracts.ts'
import { deleverage } from './deleverage.ts'
import { nearIndex } from './figures.ts'
import { fundWorth, scheduleUnwind } from './insurance.ts'
import { matchTaker, takerOf } from './place.ts'
import { ontoTick, platformOrder } from './platform-orders.ts'
import { positionOf, putPosition } from './positions.ts'

/** How far from the mark the fund sells or buys what it took over. */
const UNWIND_BOUND = 200n
const UNWIND_PART = 10n
/** Due, each second while the fund holds a position: a tenth of it, near the mark. */
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
  const mark = state.futures.markOf(contract.id)
  const held = abs(contractsIn(fund.size))
  if (fundWorth(state, contract) <= 0n)
    deleverage(ctx, contract, fund, held, nearIndex(state)(contract.id), { text: 'insurance' })
  else {
    const part = held / UNWIND_PART
    const away = mark / UNWIND_BOUND
    const side = fund.size > 0n ? 'sell' : 'buy'
    // Near the index too: who has moved the mark would else choose what the fund pays.
    const index = state.futures.indexOf(contract.id)
    const off = index / UNWIND_BOUND
    const worst = side === 'sell' ? larger(mark - away, index - off) : smaller(mark + away, index + off)
    const bound = ontoTick(contract, worst as Price, side)
    const order = platformOrder(ctx, contract, fund, part === 0n ? 1n : part, bound, 'insurance')
    matchTaker(ctx, takerOf(contract, order, bound), order.id, (end) => (end === 'filled' ? 'filled' : 'ioc'))
  }
  scheduleUnwind(ctx, contract)
  return null
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
