import { DAY_SECONDS, dayOf } from '../time.ts'
import type { Rate } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import type { Ctx } from '../state.ts'
import type { Activity } from '../tables/exchange/activity.ts'
import { isMain, type User } from '../tables/users.ts'

const DAYS = 7
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

/** Accounts of one command: midnight must not be a pause for everybody. */
const PORTION = 500

/**
 * Due at 00:00 UTC: the fill ratio of each account over the last seven days, main accounts in the order of their ids,
 * each with its sub-accounts; what one portion leaves is due at once, and in the end the next midnight.
 */
export function computeRatios(ctx: Ctx, input: { due_at: number; day?: number; after?: number }): null {
  const { state, tx } = ctx
  const today = input.day ?? dayOf(input.due_at)
  let accounts = 0
  let next: number | undefined
  for (const id of state.users.idsAfter(input.after ?? 0)) {
    if (accounts >= PORTION) {
      next = id
      break
    }
    const user = state.users.must(id)
    accounts++
    if (!isMain(user)) continue
    const family = [user, ...state.users.subAccountsOf(id)]
    accounts += family.length - 1
    for (const activity of [state.spot.activity, state.futures.activity])
      ratiosOf(ctx, activity, family, today)
  }
  const due_id =
    next === undefined
      ? schedule(ctx, (today + 1) * DAY_SECONDS * 1e6, 'spot.ratios', {})
      : schedule(ctx, ctx.at, 'spot.ratios', { day: today, after: next - 1 })
  tx.put(state.world.settings, { name: SETTING, value: { due_id } })
  return null
}
function ratiosOf({ tx }: Ctx, activity: Activity, family: readonly User[], today: number): void {
  const all: Sum = { requests: 0, volume: 0n }
  const own = family.map(({ user_id }) => {
    const sum: Sum = { requests: 0, volume: 0n }
    let active = false
    for (const row of [...activity.of(user_id)].sort((a, b) => a.day - b.day)) {
      if (row.day < today - DAYS) tx.remove(activity.days, row.id)
      if (row.day < today - DAYS || row.day >= today) continue
      active = true
      for (const of of [sum, all]) {
        of.requests += row.requests
        of.volume += row.volume
      }
    }
    return active ? sum : undefined
  })
  for (const [i, { user_id }] of family.entries()) {
    const sum = own[i]
    if (sum !== undefined)
      tx.put(activity.ratios, {
        user_id,
        ratio: ratioOf(sum),
        main_ratio: ratioOf(all),
        updated_at: today * DAY_SECONDS,
      })
    else if (activity.ratios.get(user_id) !== undefined) tx.remove(activity.ratios, user_id)
  }
}

interface Sum {
  requests: number
  volume: bigint
}
/** USDT traded for each request; an account whose resting orders traded without a request counts as one. */
const ratioOf = ({ requests, volume }: Sum): Rate => (volume / BigInt(Math.max(1, requests))) as Rate
