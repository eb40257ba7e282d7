import type { Ctx } from '../state.ts'

/** Days after which a public trade leaves the store. Its two sides stay for ever, as the accounts' own trades. */
export const TRADE_DAYS = 90

/** The store holds these older than that; nobody needs them in memory to forget them. */
export function forgetTrades(ctx: Ctx, input: { ids: readonly number[] }): null {
  for (const id of input.ids) ctx.tx.remove(ctx.state.spot.trades.table, id)
  return null
}
