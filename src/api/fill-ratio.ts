import type { State } from '../core/state.ts'
import type { Activity } from '../core/tables/exchange/activity.ts'
import { mainIdOf, type User } from '../core/tables/users.ts'
import { rateOf, type Rate } from '../money/amount.ts'
import { FILL_RATIO_TIERS } from './limits.ts'

/** Tiers are for high VIP levels; the better of the account's and the main account's ratio counts. */
const RATIO_VIP = 14
const NO_RATIO = rateOf('0')
const TIERS = FILL_RATIO_TIERS.map((tier) => ({ ...tier, from: rateOf(String(tier.from)) }))

export interface RatioTier {
  readonly tier: number
  /** Placements and amendments of perpetual contracts in a second. */
  readonly requests: number
  readonly ratio: Rate
  readonly mainRatio: Rate
  /** Seconds; undefined: it has none, and the lowest tier. */
  readonly updatedAt: number | undefined
}
/** By the ratios of the last midnight. */
export function ratioTier(state: State, activity: Activity, user: User): RatioTier {
  const row = activity.ratios.get(user.user_id)
  const ratio = row?.ratio ?? NO_RATIO
  const mainRatio = row?.main_ratio ?? NO_RATIO
  const best = ratio > mainRatio ? ratio : mainRatio
  const { vip } = state.users.must(mainIdOf(user))
  const { tier, requests } = vip < RATIO_VIP ? TIERS[0]! : TIERS.findLast(({ from }) => best >= from)!
  return { tier, requests, ratio, mainRatio, updatedAt: row?.updated_at }
}
