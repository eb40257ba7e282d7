import type { Call } from './house.ts'

/**
 * Calls of accounts that no model follows: contracts, unified accounts, loans, orders that wait, pushes. What they do is
 * held against the invariants alone, so they never touch the market that the model has.
 */
export const CONTRACTS = ['ETH_USDT', 'SOL_USDT'] as const
const PAIR = 'ETH_USDT'
export interface Stray {
  readonly n: readonly number[]
  readonly others: readonly number[]
}
const at = <T>(items: readonly T[], n: number): T => items[n % items.length]!
const around = (middle: number, n: number, share = 0.1): string =>
  (middle * (1 - share + (2 * share * (n % 1000)) / 1000)).toFixed(2)
const PRICES: Readonly<Record<string, number>> = { ETH_USDT: 3000, SOL_USDT: 150 }

type Make = (stray: Stray) => Call
const size = (n: number): number => (n % 2 === 0 ? 1 : -1) * (1 + (n % 60))
export const STRAYS: Readonly<Record<string, Make>> = {
  'contract order': ({ n }) => {
    const contract = at(CONTRACTS, n[1]!)
    const market = n[2]! % 5 === 0
    return {
      method: 'POST',
      path: '/futures/usdt/orders',
      body: {
        contract,
        size: size(n[3]!),
        price: market ? '0' : around(PRICES[contract]!, n[4]!, 0.02),
        tif: market ? 'ioc' : at(['gtc', 'gtc', 'ioc', 'poc', 'fok'], n[5]!),
        ...(n[6]! % 6 === 0 && { reduce_only: true }),
      },
    }
  },
  'contract orders gone': ({ n }) => ({
    method: 'DELETE',
    path: '/futures/usdt/orders',
    query: { contract: at(CONTRACTS, n[1]!) },
  }),
  leverage: ({ n }) => ({
    method: 'POST',
    path: `/futures/usdt/positions/${at(CONTRACTS, n[1]!)}/leverage`,
    query: { leverage: String(n[2]! % 40) },
  }),
  margin: ({ n }) => ({
    method: 'POST',
    path: `/futures/usdt/positions/${at(CONTRACTS, n[1]!)}/margin`,
    query: { change: `${n[2]! % 2 === 0 ? '' : '-'}${n[3]! % 200}` },
  }),
  close: ({ n }) => ({
    method: 'POST',
    path: '/futures/usdt/orders',
    body: { contract: at(CONTRACTS, n[1]!), size: 0, price: '0', tif: 'ioc', close: true },
  }),
  'stop of a contract': ({ n }) => ({
    method: 'POST',
    path: '/futures/usdt/price_orders',
    body: {
      initial: { contract: at(CONTRACTS, n[1]!), size: size(n[2]!), price: '0', tif: 'ioc' },
      trigger: {
        strategy_type: 0,
        price_type: n[3]! % 3,
        price: around(PRICES[at(CONTRACTS, n[1]!)]!, n[4]!, 0.05),
        rule: 1 + (n[5]! % 2),
        expiration: 86_400,
      },
    },
  }),
  'spot order': ({ n }) => ({
    method: 'POST',
    path: '/spot/orders',
    body: {
      currency_pair: PAIR,
      side: at(['buy', 'sell'], n[1]!),
      amount: ((1 + (n[2]! % 300)) / 100).toFixed(2),
      price: around(3000, n[3]!, 0.02),
      time_in_force: at(['gtc', 'gtc', 'ioc', 'poc'], n[4]!),
      account: at(['spot', 'spot', 'unified'], n[5]!),
      ...(n[6]! % 5 === 0 && { auto_borrow: true }),
    },
  }),
  'spot orders gone': () => ({ method: 'DELETE', path: '/spot/orders', query: { currency_pair: PAIR } }),
  'stop of spot': ({ n }) => ({
    method: 'POST',
    path: '/spot/price_orders',
    body: {
      market: PAIR,
      trigger: { price: around(3000, n[1]!, 0.03), rule: at(['>=', '<='], n[2]!), expiration: 3600 },
      put: {
        type: 'limit',
        side: at(['buy', 'sell'], n[3]!),
        price: around(3000, n[4]!, 0.03),
        amount: '0.05',
        account: 'normal',
        time_in_force: 'gtc',
      },
    },
  }),
  transfer: ({ n }) => ({
    method: 'POST',
    path: '/wallet/transfers',
    body: {
      currency: 'USDT',
      from: at(['spot', 'futures'], n[1]!),
      to: at(['futures', 'spot'], n[1]!),
      amount: String(1 + (n[2]! % 3000)),
      settle: 'usdt',
    },
  }),
  push: ({ n, others }) => ({
    method: 'POST',
    path: '/withdrawals/push',
    body: {
      receive_uid: at(others, n[1]!),
      currency: at(['ETH', 'USDT'], n[2]!),
      amount: String(1 + (n[3]! % 5)),
    },
  }),
  mode: ({ n }) => ({
    method: 'PUT',
    path: '/unified/unified_mode',
    body: {
      mode: at(['single_currency', 'multi_currency', 'portfolio'], n[1]!),
      ...(n[1]! % 3 === 1 && { settings: { usdt_futures: n[2]! % 2 === 0 } }),
    },
  }),
  borrow: ({ n }) => ({
    method: 'POST',
    path: '/unified/loans',
    body: {
      currency: at(['ETH', 'USDT'], n[1]!),
      type: at(['borrow', 'borrow', 'repay'], n[2]!),
      amount: String(1 + (n[3]! % (n[1]! % 2 === 0 ? 4 : 9000))),
    },
  }),
  look: ({ n }) => ({
    method: 'GET',
    path: at(
      ['/unified/accounts', '/futures/usdt/positions', '/futures/usdt/accounts', '/spot/accounts'],
      n[1]!,
    ),
  }),
}
/** What makes the others possible comes most often. */
const OFTEN = [
  'contract order',
  'contract order',
  'contract order',
  'contract order',
  'spot order',
  'spot order',
]
const NAMES = [...OFTEN, ...Object.keys(STRAYS)]
export const strayOf = (n: number): string => NAMES[n % NAMES.length]!
