import type { IsolatedMarket, LoanCurrency, RateCurve, UnifiedConfig } from '../tables/world/unified.ts'

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
