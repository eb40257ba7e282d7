import type { Amount, Rate } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import { mainIdOf } from '../users/users.ts'
import { dayOf } from './activity.ts'

const DAYS = 7
const DAY_SECONDS = 86_400
const SETTING = 'spot.ratios'

/** Runs at every start: sees to it that the daily figures are due. */
export function beginSpot(ctx: Ctx, _input: Record<string, never>): null {
  const { state, tx } = ctx
  const due = state.world.settings.get(SETTING)?.value as { due_id: number } | undefined
  if (due !== undefined && state.due.table.get(due.due_id) !== undefined) return null
  const midnight = (dayOf(ctx.at) + 1) * DAY_SECONDS * 1e6
  tx.put(state.world.settings, {
    name: SETTING,
    value: { due_id: schedule(ctx, midnight, 'spot.ratios', {}) },
  })
  return null
}

/** Due at 00:00 UTC: the fill ratio of each account over the last seven days, and the next midnight. */
export function computeRatios(ctx: Ctx, input: { due_at: number }): null {
  const { state, tx } = ctx
  const { activity } = state.spot
  const today = dayOf(input.due_at)
  const own = new Map<number, Sum>()
  const mains = new Map<number, Sum>()
  for (const row of [...activity.days.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (row.day < today - DAYS) {
      tx.remove(activity.days, row.id)
      continue
    }
    if (row.day >= today) continue
    add(own, row.user_id, row.requests, row.volume)
    add(mains, mainIdOf(state.users.must(row.user_id)), row.requests, row.volume)
  }
  for (const row of [...activity.ratios.values()])
    if (!own.has(row.user_id)) tx.remove(activity.ratios, row.user_id)
  for (const [user_id, sum] of own)
    tx.put(activity.ratios, {
      user_id,
      ratio: ratioOf(sum),
      main_ratio: ratioOf(mains.get(mainIdOf(state.users.must(user_id)))!),
      updated_at: today * DAY_SECONDS,
    })
  const due_id = schedule(ctx, (today + 1) * DAY_SECONDS * 1e6, 'spot.ratios', {})
  tx.put(state.world.settings, { name: SETTING, value: { due_id } })
  return null
}

interface Sum {
  requests: number
  volume: bigint
}
function add(sums: Map<number, Sum>, userId: number, requests: number, volume: Amount): void {
  const sum = sums.get(userId) ?? { requests: 0, volume: 0n }
  sum.requests += requests
  sum.volume += volume
  sums.set(userId, sum)
}
/** USDT traded for each request; an account whose resting orders traded without a request counts as one. */
const ratioOf = ({ requests, volume }: Sum): Rate => (volume / BigInt(Math.max(1, requests))) as Rate
