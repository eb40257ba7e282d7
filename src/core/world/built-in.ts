import {
  BUILT_IN_CHAINS,
  BUILT_IN_POLICY,
  BUILT_IN_RATES,
  BUILT_IN_RULES,
  BUILT_IN_TRANSPORT,
} from './built-in-chains.ts'
import { BUILT_IN_CONTRACTS } from './built-in-contracts.ts'
import { BUILT_IN_UNIFIED } from './built-in-unified.ts'
import { marketOf } from '../tables/world/markets.ts'
import { completePolicy } from '../tables/world/policy.ts'
import type { CurrencyConfig, WorldConfig } from '../tables/world/config.ts'

const currency = (
  name: string,
  long: string,
  precision: number,
  more: Partial<CurrencyConfig> = {},
): CurrencyConfig => ({
  currency: name,
  name: long,
  precision,
  asset_class: 'SPOT',
  low_cap: false,
  ...BUILT_IN_TRANSPORT[name]!,
  ...more,
})

/** The world of the first start when no configuration file is named. */
export const BUILT_IN_WORLD: WorldConfig = {
  currencies: [
    currency('BTC', 'Bitcoin', 8),
    currency('ETH', 'Ethereum', 8),
    currency('USDT', 'Tether', 8),
    currency('USDC', 'USD Coin', 8),
    currency('SOL', 'Solana', 8),
    currency('XRP', 'XRP', 8),
    currency('DOGE', 'Dogecoin', 8),
    currency('TRX', 'TRON', 8),
    currency('GT', 'Platform Token', 8),
    currency('POINT', 'Point Card', 8),
    currency('PEPU', 'Pepe Unchained', 8, { asset_class: 'PILOT', low_cap: true }),
  ],
  chains: BUILT_IN_CHAINS,
  policy: BUILT_IN_POLICY,
  exchange_rates: BUILT_IN_RATES,
  markets: [
    marketOf('BTC_USDT', 1, 6, '60000'),
    marketOf('ETH_USDT', 2, 5, '3000'),
    marketOf('ETH_BTC', 5, 3, '0.05', { min_quote_amount: '0.00005', max_quote_amount: '100' }),
    marketOf('SOL_USDT', 2, 4, '150'),
    marketOf('XRP_USDT', 4, 2, '0.5'),
    marketOf('DOGE_USDT', 5, 1, '0.15'),
    marketOf('USDC_USDT', 4, 2, '1'),
    marketOf('GT_USDT', 3, 3, '8'),
  ],
  contracts: BUILT_IN_CONTRACTS,
  settle: { futures: ['usdt', 'btc'], delivery: ['usdt'] },
  unified: BUILT_IN_UNIFIED,
  limits: { keys_max: 20, contract_ceiling: '100000000' },
}

/** As a mode has it by itself. A live platform offers the contracts that its file names, and no others. */
export function builtInWorld(live: boolean): WorldConfig {
  const { contracts, ...world } = BUILT_IN_WORLD
  return {
    ...world,
    ...(!live && { contracts: contracts! }),
    policy: completePolicy(BUILT_IN_RULES, live),
  }
}
