import { PREMIUM, indexOf } from '../../core/futures/prices.ts'
import type { State } from '../../core/state.ts'
import { FUNDING, LIQUIDATE, type Liquidate } from '../../core/tables/futures/records.ts'
import { nameOfContract, type Contract } from '../../core/tables/world/contracts.ts'
import { notFound, refuse } from '../../labels.ts'
import { format, type Amount } from '../../money/amount.ts'
import { PUBLIC, endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { integer, listOf, object, oneOf, optional, text, withDefault } from '../fields.ts'
import { windowFields } from '../history.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int64, map, num, shape, str } from '../shapes.ts'
import { candlesOf, toldRange } from '../spot/candles.ts'
import { contractShape, contractView, tableShape, tierViews } from './contract-views.ts'
import { adlRisk } from './insurance.ts'
import { contractInterval, contractRange } from './intervals.ts'
import { Filter, listFields, refuseBackwards } from './lists.ts'
import { contractsOf, everContract, priceView, somePage, somePageFields } from './market-data.ts'
import { lookOf, shown, wholeSeconds, type Look } from './order-views.ts'
import { PERPETUAL, SETTLE, contractField, isListed } from './paths.ts'
import { sizeShape } from './sizes.ts'
import {
  STATS_MAX,
  STATS_USUAL,
  STAT_INTERVALS,
  contractStats,
  statShape,
  type StatInterval,
} from './stats.ts'

const GROUP = PERPETUAL
const FUNDINGS_USUAL = 100
const fundingShape = array(shape({ t: int64, r: decimalText }))
interface FundingQuery {
  readonly limit: number
  readonly from: number | null
  readonly to: number | null
}
/** Fundings that were applied, newest first; those from before the first start are made up in a sandbox. */
async function fundings(desk: Desk, id: string, { limit, ...query }: FundingQuery) {
  // They are of whole seconds, whatever part of one was asked for.
  refuseBackwards(query.from, query.to)
  const from = query.from === null ? null : Math.ceil(query.from)
  const to = query.to === null ? null : Math.floor(query.to)
  const { made } = await desk.core.read(({ futures }) => ({ made: futures.history?.fundings(id) ?? [] }))
  const filter = new Filter().and('"contract" = ?', id).and('"t" >= ?', from).and('"t" <= ?', to)
  const applied = await desk.store.select(FUNDING, `${filter.sql} order by "t" desc limit ?`, [
    ...filter.values,
    limit,
  ])
  const before = made.filter(
    ({ t }) =>
      (from === null || t >= from) && (to === null || t <= to) && t < (applied.at(-1)?.t ?? Infinity),
  )
  return [...applied, ...before].slice(0, limit).map(({ t, r }) => ({ t, r: format(r) }))
}

const LIQUIDATIONS_SPAN = 3_600
const liquidationShape = shape({
  time: int64,
  contract: str,
  size: sizeShape,
  order_size: sizeShape,
  order_price: decimalText,
  fill_price: decimalText,
  left: sizeShape,
})
const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
/** The order has the other sign than the position; what it left has the position's, by which clients know what was done. */
export function liquidationView(row: Liquidate, { sizes }: Look) {
  const sign = row.size < 0n ? -1n : 1n
  return {
    time: wholeSeconds(row.at),
    contract: nameOfContract(row.contract),
    size: sizes(row.size),
    order_size: sizes((-sign * size(row.order_size)) as Amount),
    order_price: format(row.order_price),
    fill_price: shown(row.fill_price),
    left: sizes((sign * size(row.left)) as Amount),
  }
}
/** An hour at most: from one of its ends, or the last one. */
export function liquidationSpan(
  { from, to }: { readonly from: number | null; readonly to: number | null },
  now: number,
): { readonly from: number; readonly to: number } {
  const end = to ?? (from === null ? now : from + LIQUIDATIONS_SPAN)
  // Where the beginning is ours, an end that lies in the future makes it no later, and the span no longer.
  const begin = from ?? Math.min(now, end) - LIQUIDATIONS_SPAN
  refuseBackwards(begin, end)
  if (from !== null && end - begin > LIQUIDATIONS_SPAN)
    refuse(
      'INVALID_PARAM_VALUE',
      `from, to: they are ${end - begin} seconds apart; at most ${LIQUIDATIONS_SPAN} for each request`,
    )
  return { from: begin, to: end }
}

/** Who says the price that an index is: our own market, or who was asked instead. */
function constituents(state: State, contract: Contract) {
  const { source } = state.prices.quote(contract.base)
  const own = source === 'agents' || source === 'configured'
  return source === 'none'
    ? []
    : [
        {
          exchange: own ? 'Kontor' : source,
          symbols: [own ? `${contract.base}_USDT` : contract.config.underlying],
          price: format(indexOf(state, contract)),
          weight: '1',
        },
      ]
}

const PREMIUM_POINTS = 1_000
const PREMIUM_INTERVALS = ['1m', '5m', '15m', '30m', '1h', '4h', '8h', '1d', '7d'] as const
const NOT_FOUND = ['CONTRACT_NOT_FOUND', 'INVALID_PARAM_VALUE'] as const
const common = { access: PUBLIC, limit: LIMITS.public, status: 200, params: SETTLE } as const

/** Public market data of perpetual contracts alone. */
export const perpetualDataEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/contracts_all',
    summary: 'Lists the contracts of a settle currency, also those that were delisted',
    query: somePageFields,
    reply: array(contractShape),
    refuses: ['INVALID_PARAM_VALUE'],
    handle: async (call) => {
      const { desk, path, query } = call
      const look = lookOf(GROUP, call)
      return desk.core.read((state) => {
        const all = state.world.contracts.all.filter(
          ({ group, settle }) => group === GROUP.name && settle === path.settle,
        )
        return somePage(call.set, all, query).map((contract) =>
          contractView(state, contract, desk.clock.seconds(), look),
        )
      })
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/adl_risk_states',
    summary: 'How near each contract is to auto-deleveraging, by what the insurance fund has lost in a day',
    reply: shape({ settle: str, states: map(shape({ state: str, calculated_at_ms: int64 })) }),
    refuses: ['INVALID_PARAM_VALUE'],
    handle: async ({ desk, path }) => {
      const { settle } = path
      const state = await adlRisk(desk, settle)
      const calculated_at_ms = Math.floor(desk.clock.peek() / 1000)
      const names = await desk.core.read((core) => contractsOf(core, GROUP, settle).map(({ name }) => name))
      return { settle, states: Object.fromEntries(names.map((name) => [name, { state, calculated_at_ms }])) }
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/premium_index',
    summary: 'Candles of how far the book is above the index, oldest first',
    query: {
      contract: contractField,
      ...windowFields,
      limit: optional(integer(1, PREMIUM_POINTS)),
      interval: withDefault(oneOf(...PREMIUM_INTERVALS), '5m'),
    },
    reply: array(shape({ t: num, c: decimalText, h: decimalText, l: decimalText, o: decimalText })),
    refuses: NOT_FOUND,
    handle: async (call) => {
      const { desk, path, query } = call
      const interval = contractInterval(query.interval)
      const list = await candlesOf(
        desk,
        (state) => {
          const { id, config } = everContract(state, GROUP, path.settle, query.contract)
          return { exchange: state.futures, pair: PREMIUM + id, ended: config.status === 'delisted' }
        },
        interval,
        () => toldRange(call, contractRange(query, interval, desk.clock.seconds(), PREMIUM_POINTS)),
      )
      return list.map(priceView)
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/funding_rate',
    summary: 'Funding rates that were applied, newest first',
    query: { contract: contractField, limit: listFields.limit, ...windowFields },
    reply: fundingShape,
    refuses: NOT_FOUND,
    handle: async ({ desk, path, query }) => {
      const { id } = await desk.core.read((state) => everContract(state, GROUP, path.settle, query.contract))
      return fundings(desk, id, query)
    },
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/futures/{settle}/funding_rates',
    summary: 'The last 100 funding rates of several contracts, in the order asked',
    body: object({ contracts: listOf(contractField, 50) }),
    reply: array(shape({ contract: str, data: fundingShape })),
    refuses: NOT_FOUND,
    handle: async ({ desk, path, body }) => {
      if (body.contracts.length === 0)
        refuse('INVALID_PARAM_VALUE', 'contracts: name 1 to 50 contracts, such as ["BTC_USDT"]')
      const contracts = await desk.core.read((state) =>
        body.contracts.map((name) => everContract(state, GROUP, path.settle, name)),
      )
      const all = { limit: FUNDINGS_USUAL, from: null, to: null }
      return Promise.all(
        contracts.map(async ({ id, name }) => ({ contract: name, data: await fundings(desk, id, all) })),
      )
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/contract_stats',
    summary: 'What takers and liquidations did, and who holds a contract, by spans of time, oldest first',
    query: {
      contract: contractField,
      from: windowFields.from,
      interval: withDefault(oneOf(...(Object.keys(STAT_INTERVALS) as StatInterval[])), '5m'),
      limit: withDefault(integer(1, STATS_MAX), STATS_USUAL),
    },
    reply: array(statShape),
    refuses: NOT_FOUND,
    handle: async (call) => contractStats(call.desk, call.path.settle, call.query, lookOf(GROUP, call)),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/index_constituents/{index}',
    summary: 'What an index price is made of',
    params: { ...SETTLE, index: text({ max: 64, example: 'BTC_USDT' }) },
    reply: shape({
      index: str,
      constituents: array(
        shape({ exchange: str, symbols: array(str), price: decimalText, weight: decimalText }),
      ),
    }),
    refuses: NOT_FOUND,
    handle: async ({ desk, path }) =>
      desk.core.read((state) => {
        const index = path.index.toUpperCase()
        const contract =
          contractsOf(state, GROUP, path.settle).find(({ config }) => config.underlying === index) ??
          notFound('CONTRACT_NOT_FOUND', `index: no contract of futures/${path.settle} is on "${path.index}"`)
        return { index, constituents: constituents(state, contract) }
      }),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/liq_orders',
    summary: 'Orders that liquidated positions, newest first; an hour at most',
    query: { contract: optional(contractField), ...windowFields, limit: listFields.limit },
    reply: array(liquidationShape),
    refuses: NOT_FOUND,
    handle: async (call) => {
      const { desk, path, query } = call
      const look = lookOf(GROUP, call)
      const span = liquidationSpan(query, desk.clock.seconds())
      call.set('X-Applied-From', Math.floor(span.from))
      call.set('X-Applied-To', Math.floor(span.to))
      const id = await desk.core.read((state) =>
        query.contract === null ? null : everContract(state, GROUP, path.settle, query.contract).id,
      )
      const filter = new Filter()
        .and('"account" = ?', `${GROUP.name}/${path.settle}`)
        .between('at', span)
        .and('"contract" = ?', id)
      const sql = `${filter.sql} order by "at" desc, "id" desc limit ?`
      const rows = await desk.store.select(LIQUIDATE, sql, [...filter.values, query.limit])
      return rows.map((row) => liquidationView(row, look))
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/futures/{settle}/risk_limit_table',
    summary: "The tiers of a table, by the name that a position's risk_limit_table tells",
    query: { table_id: text({ max: 96, example: 'BTC_USDT_20260101' }) },
    reply: array(tableShape),
    refuses: ['INVALID_PARAM_VALUE'],
    handle: async ({ desk, path, query }) =>
      desk.core.read(({ world }) => {
        const named = world.contracts.all.filter(
          ({ settle, config }) => settle === path.settle && config.risk_limit_table === query.table_id,
        )
        // A file may call those of dated contracts the same; one that has ended is asked last.
        const contract =
          named.find((one) => one.group === GROUP.name && isListed(one)) ??
          named.find(isListed) ??
          named[0] ??
          refuse(
            'INVALID_PARAM_VALUE',
            `table_id: "${query.table_id}" is no table of futures/${path.settle}; a position's risk_limit_table names one`,
          )
        return tierViews(contract)
      }),
  }),
]
