import { useEffect, useMemo, useRef, useState } from 'react'
import { call, type Arguments, type Name, type Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { client, notBefore, refreshOwn, useOwn, useShared } from '../../api/query.ts'
import { dec, placesOf } from '../../lib/decimal.ts'
import { useStream } from '../../live/hooks.ts'
import { pushed, type CandlePush, type CandleSource } from '../trade/candles.ts'
import type { Look } from '../trade/market.ts'

export type Group = 'futures' | 'delivery'
export type Settle = 'usdt' | 'btc'
/** Contracts of a group and a settle currency share an account and a socket. */
export interface Scope {
  readonly group: Group
  readonly settle: Settle
}
export const SCOPES: readonly Scope[] = [
  { group: 'futures', settle: 'usdt' },
  { group: 'futures', settle: 'btc' },
  { group: 'delivery', settle: 'usdt' },
  { group: 'delivery', settle: 'btc' },
]
export const scopeWords = ({ group, settle }: Scope): string =>
  `${group === 'futures' ? 'Perpetual' : 'Dated'} ${settle.toUpperCase()}`

type Perpetual = Reply<'GET /api/v4/futures/{settle}/contracts'>[number]
type Dated = Reply<'GET /api/v4/delivery/{settle}/contracts'>[number]
export type Contract = Scope &
  Pick<Perpetual, keyof Dated & keyof Perpetual> &
  Partial<Omit<Perpetual, keyof Dated>> &
  Partial<Omit<Dated, keyof Perpetual>>
export type Ticker = Reply<'GET /api/v4/delivery/{settle}/tickers'>[number]
export type Position = Reply<'GET /api/v4/futures/{settle}/positions'>[number]
export type Order = Reply<'GET /api/v4/futures/{settle}/orders'>[number]
export type Fill = Reply<'GET /api/v4/futures/{settle}/my_trades'>[number]
export type Account = Reply<'GET /api/v4/futures/{settle}/accounts'>

/** Endpoints that both groups have, by their name in that of perpetual contracts. */
type Twin = {
  [N in Name]: N extends `${infer Method} /api/v4/futures/${infer Rest}`
    ? `${Method} /api/v4/delivery/${Rest}` extends Name
      ? N
      : never
    : never
}[Name]
export function ask<N extends Twin>(group: Group, name: N, args: Arguments<N>): Promise<Reply<N>> {
  const found = group === 'futures' ? name : name.replace('/futures/', '/delivery/')
  return (call as (name: string, args: unknown) => Promise<unknown>)(found, args) as Promise<Reply<N>>
}

/** Every contract that is listed, of both groups. */
export const useContracts = () =>
  useShared(
    ['contracts'],
    async () => {
      const lists = await Promise.all(
        SCOPES.map(async (scope) => {
          const list = await ask(scope.group, 'GET /api/v4/futures/{settle}/contracts', {
            path: { settle: scope.settle },
            query: {},
          })
          return list.map((one) => ({ ...one, ...scope }))
        }),
      )
      return lists.flat()
    },
    { stale: 10_000, every: 30_000 },
  )
export const isInverse = ({ type }: Pick<Contract, 'type'>): boolean => type === 'inverse'
export const currencyOf = ({ settle }: Pick<Scope, 'settle'>): string => settle.toUpperCase()
/** For the parts that spot has too: amounts are whole contracts. */
export function lookOf({ name, order_price_round }: Contract): Look {
  return {
    id: name,
    base: 'contracts',
    counted: 'Contracts',
    quote: name.split('_')[1] ?? '',
    precision: placesOf(dec(order_price_round)),
    amount_precision: 0,
    tick: order_price_round,
  }
}

/** Of every contract, in the order of SCOPES. */
export const useTickers = () =>
  useShared(
    ['contract-tickers'],
    () =>
      Promise.all(
        SCOPES.map(({ group, settle }) =>
          ask(group, 'GET /api/v4/futures/{settle}/tickers', { path: { settle }, query: {} }),
        ),
      ),
    { stale: 5_000, every: 15_000 },
  )
/** The figures of a contract, as they move. */
export function useTicker({ group, settle, name }: Contract): Ticker | undefined {
  const [live, setLive] = useState<Ticker | undefined>(undefined)
  const rest = useShared(['contract-ticker', group, settle, name], () =>
    ask(group, 'GET /api/v4/futures/{settle}/tickers', { path: { settle }, query: { contract: name } }),
  )
  useStream('futures.tickers', [name], (result) => {
    const next = (result as readonly Ticker[]).find(({ contract }) => contract === name)
    if (next !== undefined) setLive(next)
  })
  const first = rest.data?.[0] as Ticker | undefined
  return live === undefined ? first : { ...first, ...live }
}

const KEPT = 60
type PublicTrade = Reply<'GET /api/v4/futures/{settle}/trades'>[number]
export function useTradesOf({ group, settle, name }: Contract) {
  const key = ['shared', 'contract-trades', group, settle, name] as const
  const rest = useShared(
    key.slice(1),
    () =>
      ask(group, 'GET /api/v4/futures/{settle}/trades', {
        path: { settle },
        query: { contract: name, limit: KEPT },
      }),
    { stale: Infinity },
  )
  useStream(
    'futures.trades',
    [name],
    (result) => {
      const fresh = (result as readonly PublicTrade[]).filter(({ contract }) => contract === name)
      client.setQueryData<PublicTrade[]>(key, (list) => {
        if (list === undefined) return list
        const known = new Set(list.map(({ id }) => id))
        const news = fresh.filter(({ id }) => !known.has(id)).sort((a, b) => b.id - a.id)
        return news.length === 0 ? list : [...news, ...list].slice(0, KEPT)
      })
      notBefore(key)
    },
    () => void client.invalidateQueries({ queryKey: key }),
  )
  const list = useMemo(
    () =>
      (rest.data ?? []).map(({ id, price, size, create_time }) => ({
        id: String(id),
        price,
        amount: String(size).replace('-', ''),
        side: String(size).startsWith('-') ? 'sell' : 'buy',
        create_time_ms: String(create_time * 1000),
      })),
    [rest.data],
  )
  return { list, ready: rest.data !== undefined }
}

/** Candles of a contract, or of the mark price that its margins are reckoned with. */
export function candlesOf({ group, settle, name }: Contract, kind: 'last' | 'mark'): CandleSource {
  const contract = kind === 'mark' ? `mark_${name}` : name
  return {
    key: kind === 'mark' ? `${name} mark price` : name,
    load: async (interval) => {
      type Known = NonNullable<Arguments<'GET /api/v4/futures/{settle}/candlesticks'>['query']>['interval']
      const rows = await ask(group, 'GET /api/v4/futures/{settle}/candlesticks', {
        path: { settle },
        query: { contract, interval: interval as NonNullable<Known>, limit: 500 },
      })
      return rows.map(({ t, o, h, l, c, v = 0 }) => ({
        time: t,
        open: Number(o),
        high: Number(h),
        low: Number(l),
        close: Number(c),
        volume: Number(v),
      }))
    },
    channel: 'futures.candlesticks',
    payload: (interval) => [interval, contract],
    // Both ways count contracts, so that bars of one chart can be compared.
    read: (result, interval) =>
      (result as readonly (CandlePush & { readonly v?: number | string })[])
        .filter(({ n }) => n === `${interval}_${contract}`)
        .map((push) => ({ ...pushed(push), volume: Number(push.v ?? 0) })),
  }
}

const words = ({ group, settle }: Scope, ...more: readonly unknown[]): readonly unknown[] => [
  'contracts',
  group,
  settle,
  ...more,
]
/** What moves with the mark price is looked at every two seconds; everything else comes by the streams. */
const MARK_MS = 2_000
/** Null: the account has never had money here. */
export const useContractAccount = (scope: Scope) =>
  useOwn(
    words(scope, 'account'),
    async (): Promise<Account | null> => {
      try {
        return await ask(scope.group, 'GET /api/v4/futures/{settle}/accounts', {
          path: { settle: scope.settle },
        })
      } catch (error) {
        if (error instanceof ApiError && error.label === 'USER_NOT_FOUND') return null
        throw error
      }
    },
    { every: MARK_MS, stale: 0 },
  )
/** One for each contract, or two in dual mode, held or not: leverage and mode stand there. */
export const usePositions = (scope: Scope) =>
  useOwn(
    words(scope, 'positions'),
    () =>
      ask(scope.group, 'GET /api/v4/futures/{settle}/positions', {
        path: { settle: scope.settle },
        query: { limit: 100 },
      }),
    { every: MARK_MS, stale: 0 },
  )
export const isHeld = ({ size }: Position): boolean => Number(size) !== 0
/** Cross margin is leverage 0, and what it is limited to stands beside it. */
export const isCross = ({ leverage }: Position): boolean => dec(leverage) === 0n
export const leverageOf = (position: Position): string =>
  isCross(position) ? position.cross_leverage_limit : position.leverage

export const useOrders = (scope: Scope, status: 'open' | 'finished', contract?: string) =>
  useOwn(words(scope, 'orders', status, contract), () =>
    ask(scope.group, 'GET /api/v4/futures/{settle}/orders', {
      path: { settle: scope.settle },
      query: { status, limit: 100, ...(contract !== undefined && { contract }) },
    }),
  )
export const useFills = (scope: Scope, contract?: string) =>
  useOwn(words(scope, 'fills', contract), () =>
    ask(scope.group, 'GET /api/v4/futures/{settle}/my_trades', {
      path: { settle: scope.settle },
      query: { limit: 100, ...(contract !== undefined && { contract }) },
    }),
  )
export const useCloses = (scope: Scope, contract?: string) =>
  useOwn(words(scope, 'closes', contract), () =>
    ask(scope.group, 'GET /api/v4/futures/{settle}/position_close', {
      path: { settle: scope.settle },
      query: { limit: 100, ...(contract !== undefined && { contract }) },
    }),
  )
export const useTriggers = (scope: Scope, contract?: string) =>
  useOwn(words(scope, 'triggers', contract), () =>
    ask(scope.group, 'GET /api/v4/futures/{settle}/price_orders', {
      path: { settle: scope.settle },
      query: { status: 'open', limit: 100, ...(contract !== undefined && { contract }) },
    }),
  )
export const useTrails = (scope: Scope, contract?: string) =>
  useOwn(
    words(scope, 'trails', contract),
    () =>
      call('GET /api/v4/futures/{settle}/autoorder/v1/trail/list', {
        path: { settle: scope.settle },
        query: { is_finished: false, page_size: 100, ...(contract !== undefined && { contract }) },
      }),
    { every: MARK_MS, stale: 0, enabled: scope.group === 'futures' },
  )
export const useChases = (scope: Scope, contract?: string) =>
  useOwn(
    words(scope, 'chases', contract),
    () =>
      call('GET /api/v4/futures/{settle}/autoorder/v1/chase/list', {
        path: { settle: scope.settle },
        query: {
          sort_by: 1,
          is_finished: false,
          page_size: 100,
          ...(contract !== undefined && { contract }),
        },
      }),
    { every: MARK_MS, stale: 0, enabled: scope.group === 'futures' },
  )
export const useFee = (scope: Scope, contract: string) =>
  useOwn(
    words(scope, 'fee', contract),
    () => call('GET /api/v4/futures/{settle}/fee', { path: { settle: scope.settle }, query: { contract } }),
    { stale: 60_000, enabled: scope.group === 'futures' },
  ).data?.[contract]
export const refreshContracts = (scope: Scope, ...more: readonly unknown[]): Promise<void> =>
  refreshOwn(...words(scope, ...more))

/** Many pushes of one moment are one reading. */
const SOON_MS = 120
/** Keeps what belongs to the account up to date while a page that shows it stands. */
export function useContractStreams(scope: Scope): void {
  const due = useRef(new Map<string, ReturnType<typeof setTimeout>>())
  const soon = (...kinds: readonly string[]): void => {
    for (const kind of kinds) {
      if (due.current.has(kind)) continue
      const timer = setTimeout(() => {
        due.current.delete(kind)
        void refreshContracts(scope, kind)
      }, SOON_MS)
      due.current.set(kind, timer)
    }
  }
  useEffect(() => {
    const timers = due.current
    return () => {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    }
  }, [scope])
  const orders = (): void => soon('orders', 'account')
  const positions = (): void => soon('positions', 'account')
  useStream('futures.orders', ['me', '!all'], orders, orders)
  useStream('futures.positions', ['me', '!all'], positions, positions)
  useStream(
    'futures.usertrades',
    ['me', '!all'],
    () => soon('fills'),
    () => soon('fills'),
  )
  useStream(
    'futures.position_closes',
    ['me', '!all'],
    () => soon('closes'),
    () => soon('closes'),
  )
  useStream(
    'futures.autoorders',
    ['me', '!all'],
    () => soon('triggers'),
    () => soon('triggers'),
  )
  useStream(
    'futures.balances',
    ['me'],
    () => soon('account'),
    () => soon('account'),
  )
}
