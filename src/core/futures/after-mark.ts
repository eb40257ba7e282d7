import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { lookAtMarks } from './risk.ts'

/** Of these contracts mark, index or last price is another one now: for liquidations, and for what waits for a price. */
export function afterMarks(ctx: Ctx, contracts: readonly Contract[]): void {
  lookAtMarks(ctx, contracts)
  for (const { id } of contracts) ctx.state.futures.waiting.touch(id)
}
