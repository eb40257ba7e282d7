import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { id } from '../api/fields.ts'
import { shown } from '../api/futures/order-views.ts'
import { DELIVERY, PERPETUAL, SETTLE, settledOf } from '../api/futures/paths.ts'
import { array, bool, decimalText, int64, map, shape, str } from '../api/shapes.ts'
import {
  accountFigures,
  equityOf,
  isCross,
  leverageOf,
  orderMarginIn,
  positionFigures,
  type AccountFigures,
} from '../core/futures/figures.ts'
import { cashName, debtOf, isSharedFor, isUnifiedFor, type Settled } from '../core/futures/money.ts'
import { bankruptcyOf } from '../core/futures/rules.ts'
import { tierOf } from '../core/contracts/terms.ts'
import { ratesOf } from '../core/futures/venue.ts'
import type { State } from '../core/state.ts'
import type { Position } from '../core/tables/futures/positions.ts'
import { accountOfContract, type Contract } from '../core/tables/world/contracts.ts'
import { notFound } from '../labels.ts'
import { ZERO, format } from '../money/amount.ts'

/** Every figure of an account of contracts, with the formula of the specification (2.6, 2.11) and what goes into it. */

const figureShape = shape({ value: decimalText, formula: str })
const figure = (value: string, formula: string) => ({ value, formula })

const FORMULAS: Readonly<Record<keyof AccountFigures, string>> = {
  total: 'cash + debt; isolated margins are in it',
  unrealised_pnl: 'sum over all positions',
  position_margin: 'cross_initial_margin + isolated_position_margin',
  order_margin: 'sum over contracts of what their open orders need',
  available: 'min(cash + debt - isolated margins above 0, cross_available), not below 0',
  position_initial_margin: 'sum over all positions',
  maintenance_margin: 'sum over all positions',
  cross_order_margin: 'sum over cross contracts of what their open orders need',
  cross_initial_margin:
    'sum over cross positions; of two sides that of the larger + taker_fee_rate x the smaller',
  cross_maintenance_margin:
    'sum over cross positions; of two sides that of the larger + taker_fee_rate x the smaller',
  cross_unrealised_pnl: 'sum over cross positions',
  cross_available: 'cross_margin_balance - cross_initial_margin - order_margin, not below 0',
  cross_margin_balance: 'cash + debt - isolated_position_margin + cross_unrealised_pnl',
  cross_mmr: 'cross_margin_balance / cross_maintenance_margin; 0 without positions',
  cross_imr: 'cross_margin_balance / cross_initial_margin; 0 without positions',
  isolated_position_margin: 'sum of the margins of isolated positions',
}
const UNIFIED_TOTAL = { total: '0: the money is that of the unified account' }
/** What a unified account's other money has a say in: GET /users/{uid}/risk/explain goes on from here. */
const SHARED: Partial<Readonly<Record<keyof AccountFigures, string>>> = {
  cross_initial_margin: 'sum over cross positions, or risk units',
  cross_maintenance_margin: 'sum over cross positions, or risk units',
  available: 'min(TAM, (TAM x leverage + max(USDT available + unrealised PnL, 0)) / (1 + leverage))',
  cross_available: 'total_available_margin of the unified account (TAM), not below 0',
  cross_margin_balance: 'total_margin_balance of the unified account',
  cross_mmr: 'cross_margin_balance / total_maintenance_margin of the unified account',
  cross_imr: 'cross_margin_balance / total_initial_margin of the unified account',
}

const explanationShape = shape({
  user_id: int64,
  group: str,
  settle: str,
  currency: str,
  unified: bool,
  in_dual_mode: bool,
  in_liquidation: bool,
  inputs: shape({ cash: decimalText, debt: decimalText }),
  figures: map(figureShape),
  positions: array(
    shape({
      contract: str,
      type: str,
      mode: str,
      margin_mode: str,
      size: decimalText,
      cost: decimalText,
      quanto_multiplier: decimalText,
      leverage: decimalText,
      taker_fee_rate: decimalText,
      mark_price: decimalText,
      index_price: decimalText,
      tier: shape({
        tier: int64,
        risk_limit: decimalText,
        maintenance_rate: decimalText,
        leverage_max: decimalText,
        deduction: decimalText,
      }),
      entry_price: figureShape,
      value: figureShape,
      unrealised_pnl: figureShape,
      margin: figureShape,
      initial_margin: figureShape,
      maintenance_margin: figureShape,
      equity: figureShape,
      liq_price: figureShape,
      bankruptcy_price: figureShape,
    }),
  ),
  orders: array(
    shape({
      contract: str,
      open: int64,
      mark_price: decimalText,
      account_taker_rate: decimalText,
      order_margin: figureShape,
    }),
  ),
})

/** By type and side, n contracts of q each, at the mark: E is the equity, m what stands behind it, C the cost. */
const PRICES = {
  direct: {
    long: { liq: '(C - m - deduction) / (n q (1 - rate - tf))', bankrupt: '(value - E) / (n q (1 - tf))' },
    short: { liq: '(C + m + deduction) / (n q (1 + rate + tf))', bankrupt: '(value + E) / (n q (1 + tf))' },
  },
  inverse: {
    long: { liq: 'n (1 + rate + tf) / (m + C + deduction)', bankrupt: 'n (1 + tf) / (value + E)' },
    short: { liq: 'n (1 - rate - tf) / (C - m - deduction)', bankrupt: 'n (1 - tf) / (value - E)' },
  },
} as const
const BEHIND = {
  cross: 'm = cross_margin_balance - own PnL - maintenance margin of the others',
  isolated: 'm = margin',
} as const

function positionView(state: State, position: Position) {
  const contract = state.world.mustContract(position.contract)
  const { terms, shown: config, name } = contract
  const figures = positionFigures(state, position)
  const tier = tierOf(terms, figures.value)
  const margin_mode = isCross(position) ? 'cross' : 'isolated'
  const direct = config.type === 'direct'
  const prices = PRICES[config.type][position.size > 0n ? 'long' : 'short']
  return {
    contract: name,
    type: config.type,
    mode: position.mode,
    margin_mode,
    size: format(position.size),
    cost: format(position.cost),
    quanto_multiplier: config.quanto_multiplier,
    leverage: format(leverageOf(position, contract)),
    taker_fee_rate: config.taker_fee_rate,
    mark_price: format(figures.mark_price),
    index_price: format(state.futures.indexOf(contract.id)),
    tier: {
      tier: terms.tiers.indexOf(tier) + 1,
      risk_limit: format(tier.limit),
      maintenance_rate: format(tier.maintenance),
      leverage_max: format(tier.leverageMax),
      deduction: format(tier.deduction),
    },
    entry_price: figure(shown(figures.entry_price), direct ? '|cost| / (n q)' : 'n / |cost|'),
    value: figure(shown(figures.value), direct ? 'n q mark' : 'n / mark'),
    unrealised_pnl: figure(
      shown(figures.unrealised_pnl),
      direct ? 'size q mark - cost' : 'cost - size / mark',
    ),
    margin: figure(
      shown(figures.margin),
      margin_mode === 'cross' ? 'initial_margin' : 'what fills, changes and funding left there',
    ),
    initial_margin: figure(shown(figures.initial_margin), 'value / leverage + value x taker_fee_rate'),
    maintenance_margin: figure(
      shown(figures.maintenance_margin),
      'value x maintenance_rate - deduction + value x taker_fee_rate; of two isolated sides the rate of the larger',
    ),
    equity: figure(
      shown(equityOf(state, position)),
      margin_mode === 'cross'
        ? 'maintenance_margin x cross_margin_balance / cross_maintenance_margin'
        : 'margin + unrealised_pnl',
    ),
    liq_price: figure(shown(figures.liq_price), `${prices.liq}, ${BEHIND[margin_mode]}`),
    bankruptcy_price: figure(shown(bankruptcyOf(state, contract, position) ?? ZERO), prices.bankrupt),
  }
}
function ordersView(state: State, userId: number, contract: Contract) {
  return {
    contract: contract.name,
    open: state.futures.openCount(userId, contract.id),
    mark_price: format(state.futures.markOf(contract.id)),
    account_taker_rate: format(ratesOf(state, userId, contract).taker),
    order_margin: figure(
      shown(orderMarginIn(state, userId, contract)),
      'over what opens: v / leverage + v x taker_fee_rate + v x account_taker_rate + max(0, its loss at the mark); the larger side, of two isolated sides the sum',
    ),
  }
}
function explainContracts(state: State, userId: number, settled: Settled) {
  const { futures, ledger, world } = state
  const { account, group, settle, currency } = settled
  const figures = accountFigures(state, userId, settled)
  const unified = isUnifiedFor(state, userId, settled)
  const formulas = {
    ...FORMULAS,
    ...(unified && UNIFIED_TOTAL),
    ...(isSharedFor(state, userId, settled) && SHARED),
  }
  const row = futures.accounts.get(userId, account)
  const names = Object.keys(FORMULAS) as (keyof AccountFigures)[]
  const contracts = futures
    .openPairs(userId)
    .filter((pair) => accountOfContract(pair) === account)
    .map((pair) => world.mustContract(pair))
  return {
    user_id: userId,
    group,
    settle,
    currency,
    unified,
    in_dual_mode: row?.dual === true,
    in_liquidation: (row?.liquidating ?? 0) !== 0,
    inputs: {
      cash: format(ledger.balance(userId, cashName(state, userId, settled), currency)),
      debt: format(debtOf(state, userId, settled)),
    },
    figures: Object.fromEntries(names.map((name) => [name, figure(shown(figures[name]), formulas[name])])),
    positions: [...futures.positions.heldBy(userId, account)].map((position) =>
      positionView(state, position),
    ),
    orders: contracts.map((contract) => ordersView(state, userId, contract)),
  }
}

export const explainContractEndpoints: readonly AnyEndpoint[] = [PERPETUAL, DELIVERY].map((group) =>
  endpoint({
    method: 'GET',
    path: `/users/{uid}/${group.name}/{settle}/explain`,
    summary: `Shows each figure of an account of ${group.name} with its inputs, prices, tier and formula`,
    access: operatorOf('viewer'),
    limit: null,
    params: { uid: id(), ...SETTLE },
    status: 200,
    reply: explanationShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path }) =>
      desk.core.read((state) => {
        if (state.users.get(path.uid) === undefined) notFound('USER_NOT_FOUND', `no user ${path.uid}`)
        return explainContracts(state, path.uid, settledOf(group, path.settle))
      }),
  }),
)
