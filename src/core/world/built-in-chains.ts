import type { ChainConfig, CurrencyChain, CurrencyTransport } from '../tables/world/chains.ts'
import { completePolicy, type Policy } from '../tables/world/policy.ts'

/** The chains, fees and policy of the built-in world. docs/CONFIG.md explains every member. */
const chain = (
  name: string,
  long: string,
  more: Pick<
    ChainConfig,
    'address_format' | 'network_fee' | 'min_confirms' | 'unlock_confirms' | 'auto_mine_seconds'
  > &
    Partial<ChainConfig>,
): ChainConfig => ({
  chain: name,
  name_en: long,
  name_cn: long,
  kind: 'simulated',
  tagged: false,
  native: name,
  send_delay_seconds: 2,
  paused: false,
  sender_stops_at: null,
  ...more,
})

export const BUILT_IN_CHAINS: readonly ChainConfig[] = [
  chain('BTC', 'Bitcoin', {
    address_format: 'bitcoin',
    network_fee: '0.00002',
    min_confirms: 2,
    unlock_confirms: 6,
    auto_mine_seconds: 60,
  }),
  chain('ETH', 'Ethereum (ERC20)', {
    address_format: 'evm',
    network_fee: '0.0005',
    min_confirms: 12,
    unlock_confirms: 24,
    auto_mine_seconds: 30,
  }),
  chain('TRX', 'TRON (TRC20)', {
    address_format: 'tron',
    network_fee: '1.1',
    min_confirms: 20,
    unlock_confirms: 40,
    auto_mine_seconds: 30,
  }),
  chain('SOL', 'Solana', {
    address_format: 'solana',
    network_fee: '0.000005',
    min_confirms: 20,
    unlock_confirms: 40,
    auto_mine_seconds: 30,
  }),
  chain('XRP', 'XRP Ledger', {
    address_format: 'ripple',
    network_fee: '0.00001',
    min_confirms: 2,
    unlock_confirms: 4,
    auto_mine_seconds: 30,
    tagged: true,
  }),
  chain('DOGE', 'Dogecoin', {
    address_format: 'dogecoin',
    network_fee: '0.01',
    min_confirms: 12,
    unlock_confirms: 24,
    auto_mine_seconds: 60,
  }),
  chain('GT', 'Platform Chain', {
    address_format: 'evm',
    network_fee: '0.0001',
    min_confirms: 6,
    unlock_confirms: 12,
    auto_mine_seconds: 30,
  }),
]

const on = (
  name: string,
  decimal: number,
  min_deposit_amount: string,
  withdraw_amount_mini: string,
  withdraw_fix: string,
  more: Partial<CurrencyChain> = {},
): CurrencyChain => ({
  chain: name,
  contract_address: '',
  decimal,
  deposit_enabled: true,
  withdraw_enabled: true,
  min_deposit_amount,
  withdraw_amount_mini,
  withdraw_fix,
  withdraw_percent: '0',
  hot_wallet: 'auto',
  ...more,
})
/** Limits in units of the currency: a day, one withdrawal, and the amount that needs approval. */
const moves = (
  name_cn: string,
  index_price: string,
  [withdraw_day_limit, withdraw_eachtime_limit, approval_amount]: readonly [string, string, string],
  chains: readonly CurrencyChain[],
): CurrencyTransport => ({
  name_cn,
  deposit_enabled: true,
  withdraw_enabled: true,
  withdraw_day_limit,
  withdraw_eachtime_limit,
  approval_amount,
  approvals: 1,
  index_price,
  chains,
})

export const BUILT_IN_TRANSPORT: Readonly<Record<string, CurrencyTransport>> = {
  BTC: moves('比特币', '60000', ['1000', '500', '400'], [on('BTC', 8, '0.0001', '0.001', '0.0003')]),
  ETH: moves('以太坊', '3000', ['20000', '10000', '8000'], [on('ETH', 8, '0.001', '0.01', '0.002')]),
  USDT: moves(
    '泰达币',
    '1',
    ['50000000', '20000000', '15000000'],
    [
      on('ETH', 6, '1', '10', '3', { contract_address: '0xdAC17F958D2ee523a2206206994597C13D831ec7' }),
      on('TRX', 6, '1', '5', '1', { contract_address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }),
      on('SOL', 6, '1', '5', '1', { contract_address: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' }),
    ],
  ),
  USDC: moves(
    'USD Coin',
    '1',
    ['50000000', '20000000', '15000000'],
    [
      on('ETH', 6, '1', '10', '3', { contract_address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' }),
      on('SOL', 6, '1', '5', '1', { contract_address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }),
    ],
  ),
  SOL: moves('索拉纳', '150', ['400000', '200000', '150000'], [on('SOL', 8, '0.01', '0.1', '0.01')]),
  XRP: moves('瑞波币', '0.5', ['100000000', '50000000', '40000000'], [on('XRP', 6, '1', '20', '0.25')]),
  DOGE: moves('狗狗币', '0.1', ['500000000', '200000000', '150000000'], [on('DOGE', 8, '5', '20', '5')]),
  TRX: moves('波场', '0.12', ['400000000', '200000000', '150000000'], [on('TRX', 6, '1', '10', '1')]),
  GT: moves('平台币', '8', ['5000000', '2000000', '1500000'], [on('GT', 8, '0.1', '1', '0.1')]),
  POINT: moves('点卡', '0', ['0', '0', '0'], []),
  PEPU: moves('PEPU', '0.001', ['0', '0', '0'], []),
}

/** What depends on the mode is left out: `completePolicy` says it. */
export const BUILT_IN_RULES = {
  address_book_only: true,
  new_address_hours: 24,
  changed_password_hours: 24,
  velocity: { hours: 1, count: 1000, usdt: '100000000' },
  verify_above_usdt: null,
  face_verify_above_usdt: null,
  deposit_review_usdt: null,
  cancel_seconds: 0,
  day_limit_usdt: ['100000000'],
} satisfies Partial<Policy>
export const BUILT_IN_POLICY: Policy = completePolicy(BUILT_IN_RULES, false)
export const BUILT_IN_RATES = { USD: '1', CNY: '7.2' }
