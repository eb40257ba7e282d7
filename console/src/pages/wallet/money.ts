import { call, type Reply } from '../../api/client.ts'
import { useOwn, useShared } from '../../api/query.ts'
import { dec, mul, type Decimal } from '../../lib/decimal.ts'
import { useTickers } from '../trade/market.ts'

export type Currency = Reply<'GET /api/v4/spot/currencies'>[number]
export type Deposit = Reply<'GET /console/v1/deposits'>[number]
export type Withdrawal = Reply<'GET /console/v1/withdrawals'>[number]

export const useCurrencies = () =>
  useShared(['currencies'], () => call('GET /api/v4/spot/currencies'), { stale: 60_000 })
/** Whether addresses of a chain have a tag beside them. */
export const useTagged = (currency: string | undefined, chain: string | undefined): boolean =>
  useShared(
    ['currency-chains', currency],
    () => call('GET /api/v4/wallet/currency_chains', { query: { currency: currency ?? '' } }),
    { enabled: currency !== undefined, stale: 60_000 },
  ).data?.some((one) => one.chain === chain && one.is_tag === 1) ?? false
/** While something is under way it is looked at often; there is no stream for it. */
export const useDeposits = () =>
  useOwn(['deposits'], () => call('GET /console/v1/deposits', { query: { limit: 50 } }), {
    every: 3_000,
    stale: 0,
  })
export const useWithdrawals = () =>
  useOwn(['withdrawals'], () => call('GET /console/v1/withdrawals', { query: { limit: 50 } }), {
    every: 3_000,
    stale: 0,
  })
export const useSpotBalances = () =>
  useOwn(['balances'], () => call('GET /api/v4/spot/accounts'), { every: 15_000 })

/** What one of each currency is worth in USDT, as far as a market tells. */
export function usePrices(): (currency: string) => Decimal | undefined {
  const tickers = useTickers().data
  return (currency) => {
    if (currency === 'USDT') return dec('1')
    const last = tickers?.find(({ currency_pair }) => currency_pair === `${currency}_USDT`)?.last
    return last === undefined ? undefined : dec(last)
  }
}
export function worthOf(amount: Decimal, price: Decimal | undefined): Decimal | undefined {
  return price === undefined ? undefined : mul(amount, price)
}
