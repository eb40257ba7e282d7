import type { Settled } from '../../core/futures/money.ts'
import { entryPrice } from '../../core/contracts/position.ts'
import { riskLimit } from '../../core/contracts/margin.ts'
import { abs, tierOf, type Terms } from '../../core/contracts/terms.ts'
import {
  AUTO_DELEVERAGE,
  CONTRACT_FILL,
  LIQUIDATE,
  POSITION_CHANGE,
  POSITION_CLOSE,
  SETTLEMENT,
  type AutoDeleverage,
  type ContractFill,
  type Liquidate,
  type PositionChange,
  type PositionClose,
} from '../../core/tables/futures/records.ts'
import { contractsIn } from '../../core/tables/world/contracts.ts'
import { format, type Amount } from '../../money/amount.ts'
import { endpoint, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { id, integer, oneOf, optional, time } from '../fields.ts'
import { windowFields } from '../history.ts'
import { array, decimalText, int64, num, shape, str } from '../shapes.ts'
import { Filter, listFields, storedPage } from './lists.ts'
import { everContract } from './market-data.ts'
import { floatSeconds, lookOf, shown, wholeSeconds, type Look } from './order-views.ts'
import { SETTLE, contractField, historyContract, settledOf, shownContract, type Group } from './paths.ts'
import { sizeNumber, sizeShape, sizeText, type Sizes } from './sizes.ts'

const withSign = (amount: Amount, negative: boolean): Amount => (negative ? -amount : amount) as Amount

const tradeMembers = {
  create_time: num,
  contract: str,
  order_id: str,
  size: sizeShape,
  close_size: sizeShape,
  price: decimalText,
  role: str,
  text: str,
  fee: decimalText,
  point_fee: decimalText,
}
const tradeShape = shape({ id: int64, ...tradeMembers, 'trade_value?': decimalText })
const timerangeShape = shape({ trade_id: str, ...tradeMembers })
/** Both sizes have the sign of the fill. */
export function tradeView(fill: ContractFill, { sizes }: Look): Record<string, unknown> {
  const sells = fill.side === 'sell'
  return {
    create_time: floatSeconds(fill.at),
    contract: shownContract(fill.contract),
    order_id: String(fill.order_id),
    size: sizes(withSign(fill.size, sells)),
    close_size: sizes(withSign(fill.close_size, sells)),
    price: format(fill.price),
    role: fill.role,
    text: fill.text,
    fee: format(fill.fee),
    point_fee: format(fill.point_fee),
  }
}

/** Perpetual contracts tell these sizes as texts whoever asks, dated ones as numbers like all of theirs. */
const closeShape = ({ texts }: Group) =>
  shape({
    time: num,
    contract: str,
    side: str,
    pnl: decimalText,
    pnl_pnl: decimalText,
    pnl_fund: decimalText,
    pnl_fee: decimalText,
    text: str,
    max_size: texts ? decimalText : int64,
    accum_size: texts ? decimalText : int64,
    first_open_time: int64,
    long_price: decimalText,
    short_price: decimalText,
  })
export const closeView = (close: PositionClose, sizes: Sizes) => ({
  time: floatSeconds(close.at),
  contract: shownContract(close.contract),
  side: close.side,
  pnl: format(close.pnl),
  pnl_pnl: format(close.pnl_pnl),
  pnl_fund: format(close.pnl_fund),
  pnl_fee: format(close.pnl_fee),
  text: close.text,
  max_size: sizes(close.max_size),
  accum_size: sizes(close.accum_size),
  first_open_time: wholeSeconds(close.first_open_at),
  long_price: shown(close.long_price),
  short_price: shown(close.short_price),
})

const liquidateShape = shape({
  time: int64,
  contract: str,
  leverage: decimalText,
  size: sizeShape,
  margin: decimalText,
  entry_price: decimalText,
  liq_price: decimalText,
  mark_price: decimalText,
  order_id: int64,
  order_price: decimalText,
  fill_price: decimalText,
  left: sizeShape,
})
export const liquidateView = (row: Liquidate, { sizes }: Look) => ({
  time: wholeSeconds(row.at),
  contract: shownContract(row.contract),
  leverage: format(row.leverage),
  size: sizes(row.size),
  margin: shown(row.margin),
  entry_price: shown(row.entry_price),
  liq_price: shown(row.liq_price),
  mark_price: format(row.mark_price),
  order_id: row.order_id,
  order_price: format(row.order_price),
  fill_price: shown(row.fill_price),
  left: sizes(row.left),
})

const deleverageShape = shape({
  time: int64,
  user: int64,
  order_id: int64,
  contract: str,
  leverage: decimalText,
  cross_leverage_limit: decimalText,
  entry_price: decimalText,
  fill_price: decimalText,
  trade_size: sizeShape,
  position_size: sizeShape,
})
export const deleverageView = (row: AutoDeleverage, { sizes }: Look) => ({
  time: wholeSeconds(row.at),
  user: row.user_id,
  order_id: row.order_id,
  contract: shownContract(row.contract),
  leverage: format(row.leverage),
  cross_leverage_limit: format(row.cross_limit),
  entry_price: shown(row.entry_price),
  fill_price: shown(row.fill_price),
  trade_size: sizes(row.trade_size),
  position_size: sizes(row.position_size),
})

const changeShape = shape({
  contract: str,
  size: sizeShape,
  leverage: decimalText,
  risk_limit: decimalText,
  leverage_max: decimalText,
  maintenance_rate: decimalText,
  margin: decimalText,
  liq_price: decimalText,
  realised_pnl: decimalText,
  history_pnl: decimalText,
  last_close_pnl: decimalText,
  realised_point: decimalText,
  history_point: decimalText,
  mode: str,
  cross_leverage_limit: decimalText,
  entry_price: decimalText,
  time: int64,
})
/** Tier and limit are those of what the position cost, by the contract's present table. */
function changeView(terms: Terms, row: PositionChange, { sizes }: Look): Record<string, unknown> {
  const tier = tierOf(terms, abs(row.cost) as Amount)
  const limit = riskLimit(terms, row.leverage === 0n ? row.cross_limit : row.leverage)
  return {
    contract: shownContract(row.contract),
    size: sizes(row.size),
    leverage: format(row.leverage),
    risk_limit: format(row.risk_limit > 0n && row.risk_limit < limit ? row.risk_limit : limit),
    leverage_max: format(tier.leverageMax),
    maintenance_rate: format(tier.maintenance),
    margin: shown(row.margin),
    liq_price: shown(row.liq_price),
    realised_pnl: format(row.realised_pnl),
    history_pnl: format(row.history_pnl),
    last_close_pnl: format(row.last_close_pnl),
    realised_point: format(row.realised_point),
    history_point: format(row.history_point),
    mode: row.mode,
    cross_leverage_limit: format(row.cross_limit),
    entry_price: shown(entryPrice(terms, { size: contractsIn(row.size), cost: row.cost })),
    time: wholeSeconds(row.at),
  }
}

/** The rows of an account, of one contract where it is named. */
async function ofCaller(
  desk: Desk,
  userId: number,
  settled: Settled,
  contract: string | null,
): Promise<Filter> {
  const known =
    contract === null ? null : await desk.core.read((state) => historyContract(state, settled, contract))
  return new Filter()
    .and('"user_id" = ?', userId)
    .and('"account" = ?', settled.account)
    .and('"contract" = ?', known)
}
const countField = optional(integer(0, 1))
const BY_TRADE = '"at" desc, "trade_id" desc, "role" desc'
/** Of one order: it has one role in a trade. */
const BY_TRADE_ID = '"trade_id" desc'
const tradesBy = (order: number | null): string => (order === null ? BY_TRADE : BY_TRADE_ID)
const BY_ID = '"at" desc, "id" desc'
/** Amounts are texts in one of the databases; only their sign is asked. */
const PROFITS = 'cast("pnl" as real) > 0'
const LOSSES = 'cast("pnl" as real) < 0'
/** One moment, as some calls ask for it: that second. 0, which is what the samples of the official clients send, is none. */
const atField = optional(time())
const spanOf = (query: {
  readonly from?: number | null
  readonly to?: number | null
  readonly at: number | null
}) =>
  query.at === null || query.at === 0
    ? { from: query.from ?? null, to: query.to ?? null }
    : { from: Math.floor(query.at), to: Math.floor(query.at) }

/** Of both groups. */
export const recordEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/my_trades`,
    summary: "Lists the account's own trades, newest first",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: {
      contract: optional(contractField),
      order: optional(id()),
      // How ccxt asks for the trades of an order; it takes all that it gets for that order's.
      order_id: optional(id()),
      // So it asks for a span, too; of perpetual contracts it uses the call that is there for that.
      ...(!group.texts && windowFields),
      ...listFields,
      last_id: optional(id()),
      count_total: countField,
    },
    status: 200,
    reply: array(tradeShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const filter = await ofCaller(desk, caller.user.user_id, settledOf(group, path.settle), query.contract)
      const order = query.order ?? query.order_id
      const { from = null, to = null } = query
      filter.and('"order_id" = ?', order).and('"trade_id" < ?', query.last_id).between('at', { from, to })
      const fills = await storedPage(desk, set, CONTRACT_FILL, filter, tradesBy(order), query)
      return fills.map((fill) => ({
        id: fill.trade_id,
        ...tradeView(fill, look),
        ...(group.texts && { trade_value: format(fill.value) }),
      }))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/position_close`,
    summary: 'Lists positions that ended, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: {
      contract: optional(contractField),
      ...listFields,
      ...windowFields,
      side: optional(oneOf('long', 'short')),
      pnl: optional(oneOf('profit', 'loss')),
    },
    status: 200,
    reply: array(closeShape(group)),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async ({ desk, caller, path, query, set }) => {
      const settled = settledOf(group, path.settle)
      const filter = await ofCaller(desk, caller.user.user_id, settled, query.contract)
      filter.and('"side" = ?', query.side).between('at', query)
      if (query.pnl !== null) filter.and(query.pnl === 'profit' ? PROFITS : LOSSES)
      const rows = await storedPage(desk, set, POSITION_CLOSE, filter, BY_ID, query)
      return rows.map((row) => closeView(row, group.texts ? sizeText : sizeNumber))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/liquidates`,
    summary: "Lists the liquidations of the account's positions, newest first",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField), ...listFields, ...windowFields, at: atField },
    status: 200,
    reply: array(liquidateShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const settled = settledOf(group, path.settle)
      const filter = await ofCaller(desk, caller.user.user_id, settled, query.contract)
      filter.between('at', spanOf(query))
      const rows = await storedPage(desk, set, LIQUIDATE, filter, BY_ID, query)
      return rows.map((row) => liquidateView(row, look))
    },
  }),
]

const settlementShape = shape({
  time: int64,
  contract: str,
  leverage: decimalText,
  size: int64,
  margin: decimalText,
  entry_price: decimalText,
  settle_price: decimalText,
  profit: decimalText,
  fee: decimalText,
})
/** Of dated contracts alone. */
export const datedRecordEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/settlements`,
    summary: 'Lists positions that ended with their contracts, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField), ...listFields, ...windowFields, at: atField },
    status: 200,
    reply: array(settlementShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async ({ desk, caller, path, query, set }) => {
      const settled = settledOf(group, path.settle)
      const filter = await ofCaller(desk, caller.user.user_id, settled, query.contract)
      filter.between('at', spanOf(query))
      const rows = await storedPage(desk, set, SETTLEMENT, filter, BY_ID, query)
      return rows.map((row) => ({
        time: wholeSeconds(row.at),
        contract: shownContract(row.contract),
        leverage: format(row.leverage),
        size: sizeNumber(row.size),
        margin: shown(row.margin),
        entry_price: shown(row.entry_price),
        settle_price: format(row.settle_price),
        profit: format(row.profit),
        fee: format(row.fee),
      }))
    },
  }),
]

/** Of perpetual contracts alone. */
export const perpetualRecordEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/my_trades_timerange`,
    summary: "Lists the account's own trades of a span of time, newest first",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: {
      contract: optional(contractField),
      ...windowFields,
      ...listFields,
      role: optional(oneOf('maker', 'taker')),
      order_id: optional(id()),
    },
    status: 200,
    reply: array(timerangeShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const settled = settledOf(group, path.settle)
      const filter = await ofCaller(desk, caller.user.user_id, settled, query.contract)
      filter.and('"order_id" = ?', query.order_id).and('"role" = ?', query.role).between('at', query)
      const fills = await storedPage(desk, set, CONTRACT_FILL, filter, tradesBy(query.order_id), query)
      return fills.map((fill) => ({ trade_id: String(fill.trade_id), ...tradeView(fill, look) }))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/positions_timerange`,
    summary: "Lists what a contract's position was after each change, newest first",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: contractField, ...windowFields, ...listFields },
    status: 200,
    reply: array(changeShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const { id, terms } = await desk.core.read((state) =>
        everContract(state, group, path.settle, query.contract),
      )
      const filter = new Filter()
        .and('"user_id" = ?', caller.user.user_id)
        .and('"contract" = ?', id)
        .between('at', query)
      const rows = await storedPage(desk, set, POSITION_CHANGE, filter, BY_ID, query)
      return rows.map((row) => changeView(terms, row, look))
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/auto_deleverages`,
    summary: 'Lists what the account was made to give up by auto-deleveraging, newest first',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField), ...listFields, ...windowFields, at: atField },
    status: 200,
    reply: array(deleverageShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const look = lookOf(group, call)
      const settled = settledOf(group, path.settle)
      const filter = await ofCaller(desk, caller.user.user_id, settled, query.contract)
      filter.between('at', spanOf(query))
      const rows = await storedPage(desk, set, AUTO_DELEVERAGE, filter, BY_ID, query)
      return rows.map((row) => deleverageView(row, look))
    },
  }),
]
