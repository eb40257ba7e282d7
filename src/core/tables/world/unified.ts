import {
  ONE_RATE,
  amountOf,
  parseAmount,
  parseRate,
  rateOf,
  type Amount,
  type Rate,
} from '../../../money/amount.ts'
import type { DiscountSlice, MarginSlice } from '../../risk/risk.ts'

/** The tables of lending and margin, as the configuration writes them. Limits of tiers are units of the currency. */
export interface DiscountTier {
  readonly tier: string
  readonly discount: string
  readonly lower_limit: string
  /** "+" where there is no end. */
  readonly upper_limit: string
  readonly leverage: string
}
export interface MarginTier {
  readonly tier: string
  readonly margin_rate: string
  readonly lower_limit: string
  /** "" where there is no end. */
  readonly upper_limit: string
  readonly leverage: string
}
/** The hourly rate by utilisation: a line from `base` at 0 to `at_kink` at `kink`, and one to `full` at 1. */
export interface RateCurve {
  readonly base: string
  readonly kink: string
  readonly at_kink: string
  readonly full: string
}
export interface LoanCurrency {
  readonly currency: string
  readonly loan_status: 'enable' | 'disable'
  readonly min_borrow_amount: string
  /** USDT. */
  readonly user_max_borrow_amount: string
  readonly total_max_borrow_amount: string
  readonly discount_tiers: readonly DiscountTier[]
  readonly margin_tiers: readonly MarginTier[]
  readonly rate: RateCurve
  /** What the sandbox's lending pool and insurance fund begin with. */
  readonly supply: string
  readonly insurance: string
}
/** Tiers of an isolated margin account, by what is owed in the quote currency. */
export interface IsolatedTier {
  /** "" where there is no end. */
  readonly upper_limit: string
  readonly mmr: string
  readonly leverage: string
}
export interface IsolatedMarket {
  readonly currency_pair: string
  readonly base_min_borrow_amount: string
  readonly quote_min_borrow_amount: string
  readonly max_quote_amount: string
  readonly tiers: readonly IsolatedTier[]
}
export interface UnifiedConfig {
  readonly currencies: readonly LoanCurrency[]
  readonly isolated: readonly IsolatedMarket[]
  /** Which part of paid interest the lenders get; the rest is the platform's. */
  readonly lender_share: string
  /** Quick repayment takes this part more than index prices say; left out: 0.005. */
  readonly quick_repay_spread?: string
  /** And takes in, or gives out, at most so much USDT worth of each currency in an hour; left out: 200000. */
  readonly quick_repay_hour_usdt?: string
  /** How many times the hourly rate a VIP tier pays, from tier 0; the last goes for all above. Left out: 1. */
  readonly tier_up_rates?: readonly string[]
}

export interface LoanTerms {
  readonly config: LoanCurrency
  readonly discounts: readonly DiscountSlice[]
  readonly tiers: readonly {
    readonly upTo: Amount | undefined
    readonly leverage: Rate
    readonly maintenance: Rate
  }[]
  readonly maxLeverage: Rate
  readonly minBorrow: Amount
  readonly userMax: Amount
  readonly totalMax: Amount
}
const bound = (text: string): Amount | undefined => (text === '' || text === '+' ? undefined : amountOf(text))

export function compileTerms(config: LoanCurrency): LoanTerms {
  const tiers = config.margin_tiers.map(({ upper_limit, leverage, margin_rate }) => ({
    upTo: bound(upper_limit),
    leverage: rateOf(leverage),
    maintenance: rateOf(margin_rate),
  }))
  return {
    config,
    discounts: config.discount_tiers.map(({ upper_limit, discount }) => ({
      upTo: bound(upper_limit),
      discount: rateOf(discount),
    })),
    tiers,
    maxLeverage: tiers.reduce((most, { leverage }) => (leverage > most ? leverage : most), ONE_RATE),
    minBorrow: amountOf(config.min_borrow_amount),
    userMax: amountOf(config.user_max_borrow_amount),
    totalMax: amountOf(config.total_max_borrow_amount),
  }
}
/** The initial rate of a slice is 1 / leverage: the tier's, or the user's where it is lower. */
export const marginSlices = (terms: LoanTerms, own: Rate | undefined): MarginSlice[] =>
  terms.tiers.map(({ upTo, leverage, maintenance }) => ({
    upTo,
    leverage: own !== undefined && own < leverage ? own : leverage,
    maintenance,
  }))

/** The message says where a configuration is wrong. */
export function checkUnified(config: UnifiedConfig): void {
  for (const row of config.currencies) {
    const where = `unified.currencies ${row.currency}`
    const terms = compileTerms(row)
    if (terms.discounts.at(-1)?.upTo !== undefined || terms.tiers.at(-1)?.upTo !== undefined)
      throw new TypeError(`${where}: the last tier must have no upper limit`)
    for (const list of [terms.discounts, terms.tiers])
      list.forEach(({ upTo }, i) => {
        const next = list[i + 1]
        if (next !== undefined && (upTo === undefined || (next.upTo !== undefined && next.upTo <= upTo)))
          throw new TypeError(`${where}: the limits of tiers must rise`)
      })
    terms.discounts.forEach(({ discount }, i) => {
      if (discount > ONE_RATE || (i > 0 && discount > terms.discounts[i - 1]!.discount))
        throw new TypeError(`${where}: discounts are at most 1 and must not rise from tier to tier`)
    })
    terms.tiers.forEach(({ leverage, maintenance }, i) => {
      if (leverage < ONE_RATE || maintenance <= 0n || (maintenance * leverage) / ONE_RATE >= ONE_RATE)
        throw new TypeError(`${where}: a tier's margin_rate must be above 0 and below 1 / leverage`)
      if (i > 0 && maintenance < terms.tiers[i - 1]!.maintenance)
        throw new TypeError(`${where}: margin rates must not fall from tier to tier`)
    })
    const kink = rateOf(row.rate.kink)
    if (kink <= 0n || kink >= ONE_RATE) throw new TypeError(`${where}: rate.kink must be between 0 and 1`)
    for (const text of [row.rate.base, row.rate.at_kink, row.rate.full, row.supply, row.insurance])
      amountOf(text)
  }
  for (const { currency_pair, tiers } of config.isolated)
    if (tiers.length === 0 || tiers.at(-1)!.upper_limit !== '')
      throw new TypeError(`unified.isolated ${currency_pair}: the last tier must have no upper_limit`)
  for (const text of config.tier_up_rates ?? [])
    if (rateOf(text) <= 0n) throw new TypeError('unified.tier_up_rates must be above 0')
  const spread = parseRate(config.quick_repay_spread ?? '0')
  if (spread === undefined || spread >= ONE_RATE)
    throw new TypeError('unified.quick_repay_spread must be a decimal string below 1')
  if (parseAmount(config.quick_repay_hour_usdt ?? '0') === undefined)
    throw new TypeError('unified.quick_repay_hour_usdt must be a decimal string')
  if (rateOf(config.lender_share) > ONE_RATE) throw new TypeError('unified.lender_share must be at most 1')
}
