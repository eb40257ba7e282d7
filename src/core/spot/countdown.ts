import { schedule, unschedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { cancelAllOf } from './cancel-all.ts'

/** Answers when it will strike, in milliseconds; 0 when it was stopped. */
export function setCountdown(
  ctx: Ctx,
  input: { user_id: number; timeout: number; currency_pair: string | null },
): { triggerTime: number } {
  const { state, tx, at } = ctx
  const { table } = state.spot.countdowns
  const pair = input.currency_pair === null ? '' : state.world.market(input.currency_pair).id
  const id = `${input.user_id}/${pair}`
  const running = table.get(id)
  if (running !== undefined) {
    unschedule(ctx, running.due_id)
    tx.remove(table, id)
  }
  if (input.timeout === 0) return { triggerTime: 0 }
  const strikes = at + input.timeout * 1e6
  const due_id = schedule(ctx, strikes, 'spot.countdown.strike', { id })
  tx.put(table, { id, user_id: input.user_id, pair, due_id })
  return { triggerTime: Math.floor(strikes / 1000) }
}
/** Due. */
export function strikeCountdown(ctx: Ctx, input: { id: string }): null {
  const { table } = ctx.state.spot.countdowns
  const countdown = table.get(input.id)
  if (countdown === undefined) return null
  ctx.tx.remove(table, input.id)
  // It may be of a market that is gone.
  if (countdown.pair !== '' && ctx.state.world.findMarket(countdown.pair) === undefined) return null
  cancelAllOf(ctx, countdown.user_id, countdown.pair === '' ? null : countdown.pair)
  return null
}
