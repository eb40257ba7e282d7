import type { Ctx } from '../state.ts'

/** Public trades of contracts that the store has kept for long enough: as those of spot, by their numbers alone. */
export function forgetContractTrades(ctx: Ctx, input: { ids: readonly number[] }): null {
  for (const id of input.ids) ctx.tx.remove(ctx.state.futures.trades.table, id)
  return null
}
