import type { ContractConfig, TierConfig } from '../../src/core/tables/world/contracts.ts'
import type { WorldConfig } from '../../src/core/tables/world/config.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'

/** limit / maintenance rate / leverage_max, as section 5 of the specification lists them. */
const tiers = (text: string): TierConfig[] =>
  text.split(' ').map((tier) => {
    const [risk_limit, maintenance_rate, leverage_max] = tier.split('/') as [string, string, string]
    return { risk_limit, maintenance_rate, leverage_max }
  })
const BTC_TIERS = tiers(
  '1000000/0.004/125 1500000/0.0045/111 2000000/0.005/100 3000000/0.007/75 5000000/0.0075/66 10000000/0.01/50 20000000/0.02/25 50000000/0.05/10',
)
const ETH_TIERS = tiers(
  '500000/0.005/100 1000000/0.006/80 2000000/0.01/50 5000000/0.02/25 10000000/0.05/10 20000000/0.1/5',
)
const USD_TIERS = tiers('20/0.005/100 50/0.01/50 100/0.02/25 200/0.05/10 400/0.1/5')

const PLAIN: ContractConfig = {
  group: 'futures',
  settle: 'usdt',
  name: 'BTC_USDT',
  underlying: 'BTC_USDT',
  type: 'direct',
  quanto_multiplier: '0.0001',
  order_price_round: '0.1',
  mark_price_round: '0.01',
  order_size_min: 1,
  order_size_max: 1_000_000,
  market_order_size_max: '0',
  leverage_min: '1',
  leverage_max: '125',
  cross_leverage_default: '10',
  maker_fee_rate: '0.0002',
  taker_fee_rate: '0.0005',
  order_price_deviate: '0.2',
  market_order_slip_ratio: '0.05',
  funding_interval: 28_800,
  interest_rate: '0.0003',
  funding_rate_limit: '0.003',
  funding_impact_value: '60000',
  orders_limit: 100,
  risk_limit_table: 'BTC_USDT_20260101',
  tiers: BTC_TIERS,
  mark_bound: '0.03',
  mark_bound_year: '0',
  status: 'trading',
  create_time: 0,
  launch_time: 0,
  delisting_time: 0,
  delisted_time: 0,
  config_change_time: 0,
  cycle: '',
  expire_time: 0,
  settle_fee_rate: '0',
  basis_impact_value: '0',
}
/** Unix seconds: a Friday, 08:00 UTC; a little more than a month after the clock of `Engine` begins. */
export const EXPIRY = 1_703_836_800
/** Of section 5; the dated one is there for what dated contracts do otherwise. */
export const CONTRACTS = {
  BTC_USDT: PLAIN,
  ETH_USDT: {
    ...PLAIN,
    name: 'ETH_USDT',
    underlying: 'ETH_USDT',
    quanto_multiplier: '0.01',
    order_price_round: '0.01',
    leverage_max: '100',
    funding_impact_value: '40000',
    risk_limit_table: 'ETH_USDT_20260101',
    tiers: ETH_TIERS,
  },
  BTC_USD: {
    ...PLAIN,
    settle: 'btc',
    name: 'BTC_USD',
    underlying: 'BTC_USD',
    type: 'inverse',
    quanto_multiplier: '0',
    order_size_max: 10_000_000,
    leverage_max: '100',
    funding_impact_value: '20000',
    risk_limit_table: 'BTC_USD_20260101',
    tiers: USD_TIERS,
  },
  DATED: {
    ...PLAIN,
    group: 'delivery',
    name: 'BTC_USDT_20231229',
    mark_bound: '0.05',
    mark_bound_year: '0.04',
    cycle: 'QUARTERLY',
    expire_time: EXPIRY,
    settle_fee_rate: '0.00015',
    basis_impact_value: '100000',
  },
} as const satisfies Readonly<Record<string, ContractConfig>>

export const BTC_USDT = 'futures/usdt/BTC_USDT'
export const ETH_USDT = 'futures/usdt/ETH_USDT'
export const BTC_USD = 'futures/btc/BTC_USD'
export const DATED = 'delivery/usdt/BTC_USDT_20231229'

/** The built-in world with these contracts: what tests of the core configure. */
export const futuresWorld = (
  contracts: readonly ContractConfig[] = Object.values(CONTRACTS),
): WorldConfig => ({
  ...BUILT_IN_WORLD,
  contracts,
})
