import type { ContractConfig, TierConfig } from '../tables/world/contracts.ts'
import { completeContract, type GivenContract } from '../tables/world/contract-rules.ts'

/** risk_limit / maintenance_rate / leverage_max of each tier. */
const tiers = (...rows: readonly string[]): TierConfig[] =>
  rows.map((row) => {
    const [risk_limit, maintenance_rate, leverage_max] = row.split(' / ') as [string, string, string]
    return { risk_limit, maintenance_rate, leverage_max }
  })

/** 2026-01-01: the day that the tables of tiers are named by. */
const FIRST_DAY = 1_767_225_600
type Rules = Omit<GivenContract, 'group' | 'settle' | 'type'> & { readonly underlying: string }
const BTC: Rules = {
  underlying: 'BTC_USDT',
  quanto_multiplier: '0.0001',
  order_price_round: '0.1',
  mark_price_round: '0.01',
  leverage_max: '125',
  funding_impact_value: '60000',
  risk_limit_table: 'BTC_USDT_20260101',
  tiers: tiers(
    '1000000 / 0.004 / 125',
    '1500000 / 0.0045 / 111',
    '2000000 / 0.005 / 100',
    '3000000 / 0.007 / 75',
    '5000000 / 0.0075 / 66',
    '10000000 / 0.01 / 50',
    '20000000 / 0.02 / 25',
    '50000000 / 0.05 / 10',
  ),
}
const ETH: Rules = {
  underlying: 'ETH_USDT',
  quanto_multiplier: '0.01',
  order_price_round: '0.01',
  mark_price_round: '0.01',
  leverage_max: '100',
  funding_impact_value: '40000',
  risk_limit_table: 'ETH_USDT_20260101',
  tiers: tiers(
    '500000 / 0.005 / 100',
    '1000000 / 0.006 / 80',
    '2000000 / 0.01 / 50',
    '5000000 / 0.02 / 25',
    '10000000 / 0.05 / 10',
    '20000000 / 0.1 / 5',
  ),
}
const SOL: Rules = {
  underlying: 'SOL_USDT',
  quanto_multiplier: '1',
  order_price_round: '0.01',
  mark_price_round: '0.001',
  order_size_max: 100_000,
  leverage_max: '50',
  order_price_deviate: '0.25',
  funding_rate_limit: '0.0075',
  funding_impact_value: '10000',
  risk_limit_table: 'SOL_USDT_20260101',
  tiers: tiers(
    '100000 / 0.01 / 50',
    '250000 / 0.015 / 33',
    '500000 / 0.025 / 20',
    '1000000 / 0.05 / 10',
    '3000000 / 0.1 / 5',
  ),
}
const BTC_USD: Rules = {
  underlying: 'BTC_USD',
  quanto_multiplier: '0',
  order_price_round: '0.1',
  mark_price_round: '0.01',
  order_size_max: 10_000_000,
  leverage_max: '100',
  funding_impact_value: '20000',
  risk_limit_table: 'BTC_USD_20260101',
  tiers: tiers('20 / 0.005 / 100', '50 / 0.01 / 50', '100 / 0.02 / 25', '200 / 0.05 / 10', '400 / 0.1 / 5'),
}
const linear = (group: ContractConfig['group'], rules: Rules): ContractConfig =>
  completeContract({ group, settle: 'usdt', type: 'direct', ...dated(group), ...rules })
/** A template has no day of its own. */
const dated = (group: ContractConfig['group']): Partial<ContractConfig> =>
  group === 'delivery' ? {} : { create_time: FIRST_DAY, launch_time: FIRST_DAY }

/** The sandbox's contracts where no configuration file names any: perpetual ones, and what dated ones are made of. */
export const BUILT_IN_CONTRACTS: readonly ContractConfig[] = [
  linear('futures', BTC),
  linear('futures', ETH),
  linear('futures', SOL),
  completeContract({ group: 'futures', settle: 'btc', type: 'inverse', ...dated('futures'), ...BTC_USD }),
  linear('delivery', BTC),
  linear('delivery', ETH),
]
