import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { followPrices } from './prices.ts'
import { lookAt } from './risk.ts'

/** A contract's book has changed, and with it the positions of some: its prices follow, then who is too near the edge. */
export function followBook(ctx: Ctx, contract: Contract, touched: Iterable<number>): void {
  followPrices(ctx, [contract.id])
  for (const userId of touched) lookAt(ctx, userId, contract)
}
