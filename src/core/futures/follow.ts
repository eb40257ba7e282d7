import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { afterMarks } from './after-mark.ts'
import { followPrice } from './prices.ts'
import { look } from './risk.ts'

/** A contract's book has changed, and positions with it: its prices follow, then who is too near the edge. */
export function followBook(ctx: Ctx, contract: Contract): void {
  if (followPrice(ctx, contract)) afterMarks(ctx, [contract])
  look(ctx)
}
/** The same of several. */
export function followBooks(ctx: Ctx, ids: Iterable<string>): void {
  const contracts = [...new Set(ids)].map((id) => ctx.state.world.mustContract(id))
  afterMarks(
    ctx,
    contracts.filter((contract) => followPrice(ctx, contract)),
  )
}
