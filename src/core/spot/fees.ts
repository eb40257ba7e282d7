import { rateOf, type Rate } from '../../money/amount.ts'
import type { State } from '../state.ts'
import { mainIdOf, type User } from '../tables/users.ts'
import type { Market } from '../tables/world/markets.ts'

/** Spot rates by VIP tier, from 0 to 16: maker, taker. A market's own fee is the most that anybody pays there. */
const TIERS: readonly (readonly [maker: string, taker: string])[] = [
  ['0.002', '0.002'],
  ['0.00185', '0.00195'],
  ['0.00175', '0.00185'],
  ['0.00165', '0.00175'],
  ['0.00155', '0.00165'],
  ['0.00145', '0.00155'],
  ['0.00135', '0.00145'],
  ['0.00125', '0.00135'],
  ['0.00115', '0.00125'],
  ['0.00105', '0.00115'],
  ['0.00095', '0.00105'],
  ['0.00085', '0.00095'],
  ['0.0007', '0.00085'],
  ['0.0005', '0.00075'],
  ['0.0003', '0.0006'],
  ['0.0001', '0.0004'],
  ['0', '0.00025'],
]
/** Paying in the platform token costs 90 % of the rate. */
const GT_SHARE = 90n

export interface Rates {
  readonly maker: Rate
  readonly taker: Rate
}
const RATES: readonly Rates[] = TIERS.map(([maker, taker]) => ({
  maker: rateOf(maker),
  taker: rateOf(taker),
}))

/** How an account pays its fees: 1 in the platform token, 2 in points, 3 in the received currency. */
export type DebitFee = 1 | 2 | 3
/** A sub-account trades under its main account's tier and setting. */
export function feeSetting(state: State, user: User): { readonly vip: number; readonly debit: DebitFee } {
  const main = state.users.must(mainIdOf(user))
  return { vip: main.vip, debit: main.settings.debit_fee ?? 3 }
}
export function ratesOf(vip: number, market?: Market): Rates {
  const tier = RATES[Math.min(vip, RATES.length - 1)]!
  if (market === undefined || market.feeMax >= tier.taker) return tier
  const most = market.feeMax
  return { maker: tier.maker < most ? tier.maker : most, taker: most }
}
export const withToken = (rate: Rate): Rate => ((rate * GT_SHARE) / 100n) as Rate
