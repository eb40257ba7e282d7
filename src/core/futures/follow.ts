import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { afterMark } from './after-mark.ts'
import { followPrice } from './prices.ts'
import { look } from './risk.ts'

/** A contract's book has changed, and positions with it: its prices follow, then who is too near the edge. */
export function followBook(ctx: Ctx, contract: Contract): void {
  if (followPrice(ctx, contract)) afterMark(ctx, contract.id)
  look(ctx)
}
/** The same of several. */
export function followBooks(ctx: Ctx, contracts: Iterable<string>): void {
  for (const id of new Set(contracts)) followBook(ctx, ctx.state.world.mustContract(id))
}
