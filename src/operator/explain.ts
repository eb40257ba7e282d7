import { array, bool, decimalText, int64, map, shape, str } from '../api/shapes.ts'
import { wholeOf } from '../api/unified/views.ts'
import { distanceOf, mustLiquidate } from '../core/risk/levels.ts'
import { UNIFIED_CONTRACTS, isUnifiedFor } from '../core/contract-margin/cash.ts'
import { isCross, positionFigures } from '../core/futures/figures.ts'
import { bankruptcyOf } from '../core/futures/rules.ts'
import {
  leverageOf,
  riskOf,
  type AssetFigures,
  type RiskFigures,
  type UnitFigures,
} from '../core/risk/risk.ts'
import type { State } from '../core/state.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import { portfolioOf } from '../core/unified/portfolio.ts'
import { ZERO, format, type Amount, type Rate } from '../money/amount.ts'

const figureShape = shape({ value: decimalText, formula: str })
export const explanationShape = shape({
  user_id: int64,
  mode: str,
  scope: str,
  locked: bool,
  level: str,
  below_maintenance: bool,
  distance: decimalText,
  figures: map(figureShape),
  currencies: array(
    shape({
      currency: str,
      price: decimalText,
      price_source: str,
      available: decimalText,
      freeze: decimalText,
      borrowed: decimalText,
      interest: decimalText,
      locked_deposits: decimalText,
      collateral: bool,
      equity: figureShape,
      counted_value: figureShape,
      initial_margin: figureShape,
      maintenance_margin: figureShape,
      liability: decimalText,
      discount_tiers: array(shape({ up_to: str, discount: decimalText })),
      margin_tiers: array(
        shape({ up_to: str, initial_leverage: decimalText, maintenance_rate: decimalText }),
      ),
    }),
  ),
  orders: array(shape({ gives: str, given: decimalText, gets: str, got: decimalText })),
  contracts: array(
    shape({
      contract: str,
      size: decimalText,
      margin_mode: str,
      mark_price: decimalText,
      index_price: decimalText,
      unrealised_pnl: figureShape,
      initial_margin: figureShape,
      maintenance_margin: figureShape,
      liq_price: decimalText,
      bankruptcy_price: decimalText,
    }),
  ),
  risk_units: array(
    shape({
      currency: str,
      price: decimalText,
      delta: decimalText,
      spot_in_use: decimalText,
      buys: decimalText,
      sells: decimalText,
      initial_margin: figureShape,
      maintenance_margin: figureShape,
      order_margin: figureShape,
    }),
  ),
})

/** Figures over all currencies, each with the formula that it comes from. */
const FORMULAS: readonly (readonly [
  name: string,
  formula: string,
  of: (figures: RiskFigures) => Amount | Rate,
])[] = [
  [
    'spot_order_loss',
    'sum over open orders of max(0, counted value given - counted value got less the fee)',
    (f) => f.orderLoss,
  ],
  [
    'total_margin_balance',
    'sum of counted_value - spot_order_loss - options_order_loss',
    (f) => f.marginBalance,
  ],
  ['contracts_unrealised_pnl', 'sum over cross positions, at the mark', (f) => f.contracts?.pnl ?? ZERO],
  [
    'contracts_initial_margin',
    'sum over cross positions, or risk units',
    (f) => f.contracts?.initial ?? ZERO,
  ],
  ['contracts_order_margin', 'what open orders in contracts need', (f) => f.contracts?.orders ?? ZERO],
  [
    'contracts_maintenance_margin',
    'sum over cross positions, or risk units',
    (f) => f.contracts?.maintenance ?? ZERO,
  ],
  [
    'total_initial_margin',
    'sum of initial_margin + contracts_initial_margin + contracts_order_margin',
    (f) => f.initialMargin,
  ],
  [
    'total_maintenance_margin',
    'sum of maintenance_margin + contracts_maintenance_margin',
    (f) => f.maintenanceMargin,
  ],
  ['total_available_margin', 'total_margin_balance - total_initial_margin', (f) => f.available],
  [
    'total_initial_margin_rate',
    'total_margin_balance / total_initial_margin; 0 when nothing is owed',
    (f) => f.initialRate,
  ],
  [
    'total_maintenance_margin_rate',
    'total_margin_balance / total_maintenance_margin; 0 when nothing is owed',
    (f) => f.maintenanceRate,
  ],
  [
    'unified_account_total',
    'sum of (available + freeze) x price + unrealised PnL of cross positions',
    (f) => f.total,
  ],
  ['unified_account_total_liab', 'sum of (borrowed + interest) x price', (f) => f.liability],
  ['unified_account_total_equity', 'unified_account_total - unified_account_total_liab', (f) => f.equity],
]
const LEVERAGE = '(unified_account_total_liab + value of cross positions) / unified_account_total_equity'
function currencyView(
  state: State,
  { asset, equity, liability, counted, initial, maintenance }: AssetFigures,
) {
  return {
    currency: asset.currency,
    price: format(asset.price),
    price_source: state.prices.quote(asset.currency).source,
    available: format(asset.available),
    freeze: format(asset.freeze),
    borrowed: format(asset.borrowed),
    interest: format(asset.interest),
    locked_deposits: format(asset.locked ?? ZERO),
    collateral: asset.collateral,
    equity: {
      value: format(equity),
      formula:
        asset.pnl === undefined
          ? 'available + freeze - borrowed - interest'
          : 'available + freeze - borrowed - interest + unrealised PnL of cross positions - isolated margins',
    },
    counted_value: {
      value: format(counted),
      formula:
        equity < 0n
          ? 'equity x price'
          : asset.collateral
            ? '(equity - locked_deposits) x discount of each slice x price'
            : '0: it is no collateral',
    },
    initial_margin: {
      value: format(initial),
      formula: '(borrowed + interest) / leverage of each slice x price',
    },
    maintenance_margin: {
      value: format(maintenance),
      formula: '(borrowed + interest) x maintenance rate of each slice x price',
    },
    liability: format(liability),
    discount_tiers: asset.discounts.map(({ upTo, discount }) => ({
      up_to: upTo === undefined ? '' : format(upTo),
      discount: format(discount),
    })),
    margin_tiers: asset.margins.map((slice) => ({
      up_to: slice.upTo === undefined ? '' : format(slice.upTo),
      initial_leverage: format(slice.leverage),
      maintenance_rate: format(slice.maintenance),
    })),
  }
}
const TIERED = 'value x maintenance_rate - deduction + value x taker_fee_rate'
/** Positions of a unified account, and what each adds to its figures. */
function contractViews(state: State, userId: number, scope: string) {
  if (scope !== UNIFIED.scope || !isUnifiedFor(state, userId, UNIFIED_CONTRACTS)) return []
  return [...state.futures.positions.heldBy(userId, UNIFIED_CONTRACTS.account)].map((position) => {
    const contract = state.world.mustContract(position.contract)
    const figures = positionFigures(state, position)
    return {
      contract: contract.name,
      size: format(position.size),
      margin_mode: isCross(position) ? 'cross' : 'isolated',
      mark_price: format(figures.mark_price),
      index_price: format(state.futures.indexOf(contract.id)),
      unrealised_pnl: { value: format(figures.unrealised_pnl), formula: 'size x multiplier x mark - cost' },
      initial_margin: {
        value: format(figures.initial_margin),
        formula: 'value / leverage + value x taker_fee_rate',
      },
      maintenance_margin: { value: format(figures.maintenance_margin), formula: TIERED },
      liq_price: format(figures.liq_price),
      bankruptcy_price: format(bankruptcyOf(state, contract, position) ?? ZERO),
    }
  })
}
const unitView = ({ unit, inUse, initial, maintenance, orders }: UnitFigures) => ({
  currency: unit.currency,
  price: format(unit.price),
  delta: format(unit.delta),
  spot_in_use: format(inUse),
  buys: format(unit.buys),
  sells: format(unit.sells),
  initial_margin: { value: format(initial), formula: '1.2 x maintenance_margin' },
  maintenance_margin: { value: format(maintenance), formula: '0.15 x |delta + spot_in_use| x price' },
  order_margin: {
    value: format(orders),
    formula: 'the larger of the initial margins with all buys and with all sells, less initial_margin',
  },
})
/** Every figure of an account's margin with its inputs, prices, tiers and formula. */
export function explain(state: State, userId: number, scope: string) {
  const input = portfolioOf(state, userId, scope)
  const figures = riskOf(input)
  const whole = scope === UNIFIED.scope ? wholeOf(state, userId, figures) : figures
  return {
    user_id: userId,
    mode: state.margin.modeOf(userId),
    scope,
    locked: state.margin.isLocked(userId, scope),
    level: state.margin.riskLevelOf(userId, scope),
    below_maintenance: mustLiquidate(figures),
    distance: format(distanceOf(input, figures, state.margin.riskLevelOf(userId, scope))),
    figures: {
      ...Object.fromEntries(
        FORMULAS.map(([name, formula, of]) => [name, { value: format(of(whole)), formula }]),
      ),
      leverage: { value: format(leverageOf(input, whole)), formula: LEVERAGE },
    },
    currencies: figures.assets.map((one) => currencyView(state, one)),
    orders: input.orders.map(({ gives, given, gets, got }) => ({
      gives,
      given: format(given),
      gets,
      got: format(got),
    })),
    contracts: contractViews(state, userId, scope),
    risk_units: (figures.contracts?.units ?? []).map(unitView),
  }
}
