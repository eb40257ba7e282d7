import { amountOf, overUp, rateOf, type Amount, type Rate } from '../../money/amount.ts'
import type { DiscountSlice, MarginSlice } from './risk.ts'

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
const ONE = rateOf('1')
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
    maxLeverage: tiers.reduce((most, { leverage }) => (leverage > most ? leverage : most), ONE),
    minBorrow: amountOf(config.min_borrow_amount),
    userMax: amountOf(config.user_max_borrow_amount),
    totalMax: amountOf(config.total_max_borrow_amount),
  }
}
/** The initial rate of a slice is 1 / leverage: the tier's, or the user's where it is lower. Rounded up. */
export const marginSlices = (terms: LoanTerms, own: Rate | undefined): MarginSlice[] =>
  terms.tiers.map(({ upTo, leverage, maintenance }) => ({
    upTo,
    initial: overUp(
      ONE as bigint as Amount,
      own !== undefined && own < leverage ? own : leverage,
    ) as bigint as Rate,
    maintenance,
  }))

const tierRows = <T>(
  rows: readonly (readonly [upTo: string, rate: string, leverage: string])[],
  make: (tier: string, lower: string, upper: string, rate: string, leverage: string) => T,
): T[] =>
  rows.map(([upTo, rate, leverage], i) =>
    make(String(i + 1), i === 0 ? '0' : rows[i - 1]![0], upTo, rate, leverage),
  )

type Rows = readonly (readonly [upTo: string, rate: string, leverage: string])[]
const loanCurrency = (
  currency: string,
  min_borrow_amount: string,
  limits: readonly [user: string, total: string],
  discounts: Rows,
  margins: Rows,
  pool: readonly [supply: string, insurance: string],
  rate: RateCurve = { base: '0.000002', kink: '0.8', at_kink: '0.00001', full: '0.0001' },
): LoanCurrency => ({
  currency,
  loan_status: 'enable',
  min_borrow_amount,
  user_max_borrow_amount: limits[0],
  total_max_borrow_amount: limits[1],
  discount_tiers: tierRows(discounts, (tier, lower_limit, upper_limit, discount, leverage) => ({
    tier,
    discount,
    lower_limit,
    upper_limit: upper_limit === '' ? '+' : upper_limit,
    leverage,
  })),
  margin_tiers: tierRows(margins, (tier, lower_limit, upper_limit, margin_rate, leverage) => ({
    tier,
    margin_rate,
    lower_limit,
    upper_limit,
    leverage,
  })),
  rate,
  supply: pool[0],
  insurance: pool[1],
})
const isolated = (
  currency_pair: string,
  minimum: readonly [base: string, quote: string],
  limits: readonly [first: string, second: string],
): IsolatedMarket => ({
  currency_pair,
  base_min_borrow_amount: minimum[0],
  quote_min_borrow_amount: minimum[1],
  max_quote_amount: '5000000',
  tiers: [
    { upper_limit: limits[0], mmr: '0.05', leverage: '10' },
    { upper_limit: limits[1], mmr: '0.08', leverage: '5' },
    { upper_limit: '', mmr: '0.15', leverage: '3' },
  ],
})
const MAJOR = ['2000000', '50000000'] as const
const MINOR = ['500000', '10000000'] as const

/** Money counts in full, large coins nearly so; the more of a coin one holds, the less its next unit counts. */
export const BUILT_IN_UNIFIED: UnifiedConfig = {
  currencies: [
    loanCurrency(
      'USDT',
      '1',
      ['5000000', '200000000'],
      [['', '1', '10']],
      [
        ['1000000', '0.03', '10'],
        ['5000000', '0.05', '5'],
        ['', '0.1', '3'],
      ],
      ['100000000', '5000000'],
    ),
    loanCurrency(
      'USDC',
      '1',
      MAJOR,
      [
        ['1000000', '0.99', '10'],
        ['', '0.95', '5'],
      ],
      [
        ['1000000', '0.03', '10'],
        ['', '0.06', '5'],
      ],
      ['20000000', '100000'],
    ),
    loanCurrency(
      'BTC',
      '0.0001',
      ['5000000', '200000000'],
      [
        ['100', '0.98', '10'],
        ['500', '0.95', '5'],
        ['', '0.9', '3'],
      ],
      [
        ['20', '0.04', '10'],
        ['100', '0.06', '5'],
        ['', '0.1', '3'],
      ],
      ['1000', '10'],
    ),
    loanCurrency(
      'ETH',
      '0.001',
      ['5000000', '100000000'],
      [
        ['1000', '0.97', '10'],
        ['5000', '0.93', '5'],
        ['', '0.88', '3'],
      ],
      [
        ['300', '0.04', '10'],
        ['2000', '0.06', '5'],
        ['', '0.1', '3'],
      ],
      ['20000', '100'],
    ),
    loanCurrency(
      'SOL',
      '0.01',
      MAJOR,
      [
        ['10000', '0.9', '5'],
        ['', '0.8', '3'],
      ],
      [
        ['5000', '0.06', '5'],
        ['', '0.12', '3'],
      ],
      ['100000', '1000'],
    ),
    loanCurrency(
      'XRP',
      '1',
      MAJOR,
      [
        ['1000000', '0.9', '5'],
        ['', '0.8', '3'],
      ],
      [
        ['1000000', '0.06', '5'],
        ['', '0.12', '3'],
      ],
      ['10000000', '50000'],
    ),
    loanCurrency(
      'DOGE',
      '5',
      MINOR,
      [
        ['2000000', '0.85', '5'],
        ['', '0.7', '3'],
      ],
      [
        ['2000000', '0.08', '5'],
        ['', '0.15', '3'],
      ],
      ['20000000', '100000'],
    ),
    loanCurrency(
      'TRX',
      '5',
      MINOR,
      [
        ['1000000', '0.85', '5'],
        ['', '0.7', '3'],
      ],
      [
        ['1000000', '0.08', '5'],
        ['', '0.15', '3'],
      ],
      ['10000000', '50000'],
    ),
    loanCurrency(
      'GT',
      '0.1',
      MINOR,
      [
        ['50000', '0.85', '5'],
        ['', '0.7', '3'],
      ],
      [
        ['20000', '0.08', '5'],
        ['', '0.15', '3'],
      ],
      ['500000', '1000'],
    ),
  ],
  isolated: [
    isolated('BTC_USDT', ['0.0001', '1'], ['1000000', '5000000']),
    isolated('ETH_USDT', ['0.001', '1'], ['1000000', '5000000']),
    isolated('ETH_BTC', ['0.001', '0.0001'], ['20', '100']),
    isolated('SOL_USDT', ['0.01', '1'], ['200000', '1000000']),
    isolated('XRP_USDT', ['1', '1'], ['200000', '1000000']),
    isolated('DOGE_USDT', ['5', '1'], ['100000', '500000']),
    isolated('USDC_USDT', ['1', '1'], ['200000', '1000000']),
    isolated('GT_USDT', ['0.1', '1'], ['50000', '200000']),
  ],
  lender_share: '0.85',
}

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
      if (discount > ONE || (i > 0 && discount > terms.discounts[i - 1]!.discount))
        throw new TypeError(`${where}: discounts are at most 1 and must not rise from tier to tier`)
    })
    terms.tiers.forEach(({ leverage, maintenance }, i) => {
      if (leverage < ONE || maintenance <= 0n || (maintenance * leverage) / 10n ** 18n >= 10n ** 18n)
        throw new TypeError(`${where}: a tier's margin_rate must be above 0 and below 1 / leverage`)
      if (i > 0 && maintenance < terms.tiers[i - 1]!.maintenance)
        throw new TypeError(`${where}: margin rates must not fall from tier to tier`)
    })
    const kink = rateOf(row.rate.kink)
    if (kink <= 0n || kink >= ONE) throw new TypeError(`${where}: rate.kink must be between 0 and 1`)
    for (const text of [row.rate.base, row.rate.at_kink, row.rate.full, row.supply, row.insurance])
      amountOf(text)
  }
  for (const { currency_pair, tiers } of config.isolated)
    if (tiers.length === 0 || tiers.at(-1)!.upper_limit !== '')
      throw new TypeError(`unified.isolated ${currency_pair}: the last tier must have no upper_limit`)
  if (rateOf(config.lender_share) > ONE) throw new TypeError('unified.lender_share must be at most 1')
}
