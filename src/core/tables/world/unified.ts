import {
  ONE_RATE,
  ZERO,
  amountOf,
  canonical,
  format,
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

/** As clients are told it: every figure a canonical decimal, and each list's own sign for no end. */
export const canonicalLoan = (row: LoanCurrency): LoanCurrency => ({
  ...row,
  min_borrow_amount: canonical(row.min_borrow_amount),
  user_max_borrow_amount: canonical(row.user_max_borrow_amount),
  total_max_borrow_amount: canonical(row.total_max_borrow_amount),
  discount_tiers: row.discount_tiers.map((tier) => ({
    ...tier,
    discount: canonical(tier.discount),
    lower_limit: canonical(tier.lower_limit),
    upper_limit: canonicalLimit(tier.upper_limit, '+'),
    leverage: canonical(tier.leverage),
  })),
  margin_tiers: row.margin_tiers.map((tier) => ({
    ...tier,
    margin_rate: canonical(tier.margin_rate),
    lower_limit: canonical(tier.lower_limit),
    upper_limit: canonicalLimit(tier.upper_limit, ''),
    leverage: canonical(tier.leverage),
  })),
})
export const canonicalIsolated = (row: IsolatedMarket): IsolatedMarket => ({
  ...row,
  base_min_borrow_amount: canonical(row.base_min_borrow_amount),
  quote_min_borrow_amount: canonical(row.quote_min_borrow_amount),
  max_quote_amount: canonical(row.max_quote_amount),
  tiers: row.tiers.map(({ upper_limit, mmr, leverage }) => ({
    upper_limit: canonicalLimit(upper_limit, ''),
    mmr: canonical(mmr),
    leverage: canonical(leverage),
  })),
})
const canonicalLimit = (text: string, open: '' | '+'): string =>
  bound(text) === undefined ? open : canonical(text)

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

/** Slices from 0 up, one where the other ends, and the last without end: what no slice covers would need no margin. */
function checkLimits(
  where: string,
  tiers: readonly { readonly lower_limit?: string; readonly upper_limit: string }[],
): void {
  let from: Amount | undefined = ZERO
  for (const { lower_limit, upper_limit } of tiers) {
    if (from === undefined) throw new TypeError(`${where}: only the last tier may have no upper_limit`)
    if (lower_limit !== undefined && amountOf(lower_limit) !== from)
      throw new TypeError(
        `${where}: lower_limit "${lower_limit}" must be ${format(from)}, where the slice begins`,
      )
    const upTo = bound(upper_limit)
    if (upTo !== undefined && upTo <= from)
      throw new TypeError(`${where}: upper_limit "${upper_limit}" must be above ${format(from)}`)
    from = upTo
  }
  if (from !== undefined) throw new TypeError(`${where}: the last tier must have no upper_limit`)
}
/** What is owed in a tier is liquidated later than it is lent, and never without margin; a larger debt needs no less. */
function checkRates(
  where: string,
  tiers: readonly { readonly leverage: Rate; readonly maintenance: Rate }[],
): void {
  tiers.forEach(({ leverage, maintenance }, i) => {
    if (leverage <= 0n || maintenance <= 0n || maintenance * leverage >= ONE_RATE * ONE_RATE)
      throw new TypeError(`${where}: the maintenance rate must be above 0 and below the initial rate`)
    const before = tiers[i - 1]
    if (before === undefined) return
    if (maintenance < before.maintenance)
      throw new TypeError(`${where}: maintenance rates must not fall from tier to tier`)
    if (leverage > before.leverage) throw new TypeError(`${where}: leverage must not rise from tier to tier`)
  })
}
const checkOnce = (where: string, names: readonly string[]): void => {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new TypeError(`${where} ${twice} is there twice`)
}

/** The message says where a configuration is wrong. */
export function checkUnified(config: UnifiedConfig): void {
  checkOnce(
    'unified.currencies',
    config.currencies.map(({ currency }) => currency),
  )
  for (const row of config.currencies) {
    const where = `unified.currencies ${row.currency}`
    const terms = compileTerms(row)
    // Without discount tiers it is lent, and is no collateral.
    if (row.discount_tiers.length > 0) checkLimits(`${where} discount_tiers`, row.discount_tiers)
    checkLimits(`${where} margin_tiers`, row.margin_tiers)
    terms.discounts.forEach(({ discount }, i) => {
      if (discount < 0n || discount > ONE_RATE || (i > 0 && discount > terms.discounts[i - 1]!.discount))
        throw new TypeError(`${where}: discounts are from 0 to 1 and must not rise from tier to tier`)
    })
    for (const { leverage } of row.discount_tiers)
      if (rateOf(leverage) <= 0n) throw new TypeError(`${where} discount_tiers: leverage must be above 0`)
    for (const { leverage } of terms.tiers)
      if (leverage < ONE_RATE) throw new TypeError(`${where} margin_tiers: leverage must be at least 1`)
    checkRates(`${where} margin_tiers`, terms.tiers)
    const kink = rateOf(row.rate.kink)
    if (kink <= 0n || kink >= ONE_RATE) throw new TypeError(`${where}: rate.kink must be between 0 and 1`)
    for (const text of [row.rate.base, row.rate.at_kink, row.rate.full, row.supply, row.insurance])
      amountOf(text)
  }
  checkOnce(
    'unified.isolated',
    config.isolated.map(({ currency_pair }) => currency_pair),
  )
  for (const { currency_pair, tiers } of config.isolated) {
    const where = `unified.isolated ${currency_pair} tiers`
    checkLimits(where, tiers)
    for (const { leverage } of tiers)
      if (rateOf(leverage) <= ONE_RATE) throw new TypeError(`${where}: leverage must be above 1`)
    // Leverage L lends L - 1 times the own money.
    const rates = tiers.map(({ leverage, mmr }) => ({
      leverage: (rateOf(leverage) - ONE_RATE) as Rate,
      maintenance: rateOf(mmr),
    }))
    checkRates(where, rates)
  }
  for (const text of config.tier_up_rates ?? [])
    if (rateOf(text) <= 0n) throw new TypeError('unified.tier_up_rates must be above 0')
  const spread = parseRate(config.quick_repay_spread ?? '0')
  if (spread === undefined || spread >= ONE_RATE)
    throw new TypeError('unified.quick_repay_spread must be a decimal string below 1')
  if (parseAmount(config.quick_repay_hour_usdt ?? '0') === undefined)
    throw new TypeError('unified.quick_repay_hour_usdt must be a decimal string')
  if (rateOf(config.lender_share) > ONE_RATE) throw new TypeError('unified.lender_share must be at most 1')
}
