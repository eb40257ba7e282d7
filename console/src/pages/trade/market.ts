import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { client, notBefore, own, refreshOwn, useOwn, useShared } from '../../api/query.ts'
import { dec } from '../../lib/decimal.ts'
import { useStream } from '../../live/hooks.ts'

export type Pair = Reply<'GET /api/v4/spot/currency_pairs'>[number]
export type Ticker = Reply<'GET /api/v4/spot/tickers'>[number]
export type Order = Reply<'GET /api/v4/spot/orders'>[number]
export type PublicTrade = Reply<'GET /api/v4/spot/trades'>[number]
export type Fill = Reply<'GET /api/v4/spot/my_trades'>[number]
export type Balance = Reply<'GET /api/v4/spot/accounts'>[number]
export type PriceOrder = Reply<'GET /api/v4/spot/price_orders'>[number]

/** What book, trades and depth must know of a market. */
export interface Look {
  readonly id: string
  /** What amounts are counted in. */
  readonly base: string
  readonly quote: string
  readonly precision: number
  readonly amount_precision: number
  /** The heading of amounts, where it is not that and the base. */
  readonly counted?: string
  /** The step of prices, where it is not one of the last decimal. */
  readonly tick?: string
}

/** An order whose line was dragged to another price. */
export interface Dragged {
  readonly id: string
  readonly price: string
}

export const usePairs = () =>
  useShared(['pairs'], () => call('GET /api/v4/spot/currency_pairs'), { stale: 60_000 })
export const useTickers = () =>
  useShared(['tickers'], () => call('GET /api/v4/spot/tickers'), { stale: 5_000, every: 15_000 })

/** The figures of a market, as they move. */
export function useTicker(pair: string): Ticker | undefined {
  const [ticker, setTicker] = useState<Ticker | undefined>(undefined)
  const rest = useShared(['ticker', pair], () =>
    call('GET /api/v4/spot/tickers', { query: { currency_pair: pair } }),
  )
  useStream('spot.tickers', [pair], (result) => {
    const next = result as Ticker
    if (next.currency_pair === pair) setTicker(next)
  })
  return ticker?.currency_pair === pair ? ticker : rest.data?.[0]
}

/** What the currencies of a market are worth by their index prices; undefined while unknown. */
export function useIndexPrice(pair: string): string | undefined {
  const { data } = useShared(
    ['index', pair],
    () => call('GET /console/v1/index_price', { query: { currency_pair: pair } }),
    { stale: 1_000, every: 3_000 },
  )
  return data === undefined || dec(data.price) === 0n ? undefined : data.price
}

const KEPT = 60
/** The last trades of a market, the newest first. */
export function useTrades(pair: string): { readonly list: readonly PublicTrade[]; readonly ready: boolean } {
  const key = ['shared', 'trades', pair] as const
  const rest = useShared(
    ['trades', pair],
    () => call('GET /api/v4/spot/trades', { query: { currency_pair: pair, limit: KEPT } }),
    { stale: Infinity },
  )
  useStream(
    'spot.trades',
    [pair],
    (result) => {
      const raw = result as Omit<PublicTrade, 'id'> & { readonly id: number }
      if (raw.currency_pair !== pair) return
      const trade = { ...raw, id: String(raw.id) }
      client.setQueryData<PublicTrade[]>(key, (list) =>
        list === undefined || list.some(({ id }) => id === trade.id) ? list : [trade, ...list].slice(0, KEPT),
      )
      notBefore(key)
    },
    () => void client.invalidateQueries({ queryKey: key }),
  )
  return { list: rest.data ?? [], ready: rest.data !== undefined }
}

/** Open orders of the account in all markets: read once, then as the stream tells. */
export function useOpenOrders() {
  return useOwn(['orders', 'open'], async () => {
    const groups = await call('GET /api/v4/spot/open_orders', { query: { limit: 100 } })
    return groups.flatMap(({ orders }) => orders as readonly Order[])
  })
}
export const useBalances = () => useOwn(['balances'], () => call('GET /api/v4/spot/accounts'))
export const balanceOf = (list: readonly Balance[] | undefined, currency: string): string | undefined =>
  list === undefined ? undefined : (list.find((one) => one.currency === currency)?.available ?? '0')

type OrderPush = Order & { readonly event: 'put' | 'update' | 'finish' }
interface BalancePush {
  readonly currency: string
  readonly available: string
  readonly freeze: string
}
/** Keeps what belongs to the account up to date while a page that shows it stands. */
export function useAccountStreams(): void {
  useStream(
    'spot.orders',
    ['!all'],
    (result) => {
      for (const order of result as readonly OrderPush[]) {
        client.setQueryData<readonly Order[]>(own('orders', 'open'), (list) => {
          if (list === undefined) return list
          const at = list.findIndex(({ id }) => id === order.id)
          if (order.event === 'finish') return at === -1 ? list : list.toSpliced(at, 1)
          return at === -1 ? [order, ...list] : list.with(at, order)
        })
        if (order.event === 'finish') void refreshOwn('orders', 'finished')
      }
      notBefore(own('orders', 'open'))
    },
    () => void refreshOwn('orders'),
  )
  useStream(
    'spot.balances',
    [],
    (result) => {
      client.setQueryData<readonly Balance[]>(own('balances'), (list) => {
        if (list === undefined) return list
        const next = [...list]
        for (const { currency, available, freeze } of result as readonly BalancePush[]) {
          const at = next.findIndex((one) => one.currency === currency)
          const row = { currency, available, locked: freeze, update_id: next[at]?.update_id ?? 0 }
          if (at === -1) next.push(row)
          else next[at] = row
        }
        return next
      })
      notBefore(own('balances'))
    },
    () => void refreshOwn('balances'),
  )
  useStream(
    'spot.usertrades',
    ['!all'],
    () => void refreshOwn('fills'),
    () => void refreshOwn('fills'),
  )
  useStream(
    'spot.priceorders',
    ['!all'],
    () => void refreshOwn('triggers'),
    () => void refreshOwn('triggers'),
  )
}
