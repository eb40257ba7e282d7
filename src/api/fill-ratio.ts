import type { State } from '../core/state.ts'
import type { Activity, FillRatio } from '../core/tables/exchange/activity.ts'
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
  const row = ratiosOf(state, activity, user)
  const { ratio = NO_RATIO, main_ratio: mainRatio = NO_RATIO } = row ?? {}
  const best = ratio > mainRatio ? ratio : mainRatio
  const { tier, requests } = hasTiers(state, user) ? TIERS.findLast(({ from }) => best >= from)! : TIERS[0]!
  return { tier, requests, ratio, mainRatio, updatedAt: row?.updated_at }
}
/** What that allows, without more looks than it takes: it is asked of each placement. */
export const tieredRequests = (state: State, activity: Activity, user: User): number =>
  hasTiers(state, user) ? ratioTier(state, activity, user).requests : TIERS[0]!.requests

const hasTiers = ({ users }: State, user: User): boolean => users.must(mainIdOf(user)).vip >= RATIO_VIP
/**
 * Who has done nothing for seven days has no row; what its family has in common stands in any other one of it. Who came
 * after that midnight waits for the next.
 */
function ratiosOf({ users }: State, { ratios }: Activity, user: User): FillRatio | undefined {
  const own = ratios.get(user.user_id)
  if (own !== undefined) return own
  const main = mainIdOf(user)
  const row =
    ratios.get(main) ??
    users
      .subAccountsOf(main)
      .map(({ user_id }) => ratios.get(user_id))
      .find((one) => one !== undefined)
  return row === undefined || row.updated_at <= user.create_time ? undefined : { ...row, ratio: NO_RATIO }
}
