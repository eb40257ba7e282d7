import { PLATFORM, insuranceName, type PlatformAccountName } from '../core/ledger/accounts.ts'
import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { id, integer, object, oneOf, positiveDecimal, withDefault } from '../api/fields.ts'
import { anything, array, bool, decimalText, int64, map, shape, str } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import type { State } from '../core/state.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import { LIQUIDATION_STEP } from '../core/tables/unified/records.ts'
import { hourlyRate, poolFree, poolLent, utilisationOf } from '../core/unified/lending.ts'
import { portfolioOf } from '../core/unified/portfolio.ts'
import { distanceOf, mustLiquidate } from '../core/risk/levels.ts'
import { riskOf, type AssetFigures, type RiskFigures } from '../core/risk/risk.ts'
import { notFound } from '../labels.ts'
import { ZERO, format, type Amount, type Rate } from '../money/amount.ts'

const UID = { uid: id() }
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
  ['total_initial_margin', 'sum of initial_margin', (f) => f.initialMargin],
  ['total_maintenance_margin', 'sum of maintenance_margin', (f) => f.maintenanceMargin],
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
  ['unified_account_total', 'sum of (available + freeze) x price', (f) => f.total],
  ['unified_account_total_liab', 'sum of (borrowed + interest) x price', (f) => f.liability],
  ['unified_account_total_equity', 'unified_account_total - unified_account_total_liab', (f) => f.equity],
  ['leverage', 'unified_account_total_liab / unified_account_total_equity', (f) => f.leverage],
]
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
    equity: { value: format(equity), formula: 'available + freeze - borrowed - interest' },
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
function explain(state: State, userId: number, scope: string) {
  const input = portfolioOf(state, userId, scope)
  const figures = riskOf(input)
  return {
    user_id: userId,
    mode: state.margin.modeOf(userId),
    scope,
    locked: state.margin.isLocked(userId, scope),
    level: state.margin.riskLevelOf(userId, scope),
    below_maintenance: mustLiquidate(figures),
    distance: format(distanceOf(input, figures, state.margin.riskLevelOf(userId, scope))),
    figures: Object.fromEntries(
      FORMULAS.map(([name, formula, of]) => [name, { value: format(of(figures)), formula }]),
    ),
    currencies: figures.assets.map((one) => currencyView(state, one)),
    orders: input.orders.map(({ gives, given, gets, got }) => ({
      gives,
      given: format(given),
      gets,
      got: format(got),
    })),
  }
}

export const operatorLendingEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/{uid}/risk/explain',
    summary: "Shows each figure of an account's margin with its inputs, prices, tiers and formula",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { scope: withDefault(currencyField, UNIFIED.scope) },
    status: 200,
    reply: shape({
      user_id: int64,
      mode: str,
      scope: str,
      locked: bool,
      level: str,
      below_maintenance: bool,
      distance: decimalText,
      figures: map(shape({ value: decimalText, formula: str })),
      currencies: array(anything),
      orders: array(shape({ gives: str, given: decimalText, gets: str, got: decimalText })),
    }),
    refuses: ['USER_NOT_FOUND', 'INVALID_CURRENCY_PAIR', 'INVALID_CURRENCY'],
    handle: async ({ desk, path, query }) =>
      desk.core.read((state) => {
        if (state.users.get(path.uid) === undefined) notFound('USER_NOT_FOUND', `no user ${path.uid}`)
        const scope = query.scope === UNIFIED.scope ? query.scope : state.world.market(query.scope).id
        return explain(state, path.uid, scope)
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/liquidations',
    summary: "Lists an account's warnings, restrictions and steps of liquidations, newest first",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { limit: withDefault(integer(1, 1000), 100) },
    status: 200,
    reply: array(
      shape({
        id: int64,
        liquidation: int64,
        user_id: int64,
        scope: str,
        step: str,
        currency: str,
        amount: decimalText,
        detail: map(anything),
        at: int64,
      }),
    ),
    refuses: [],
    handle: async ({ desk, path, query }) => {
      await desk.core.read(() => null)
      const where = 'where "user_id" = ? order by "id" desc limit ?'
      const steps = await desk.store.select(LIQUIDATION_STEP, where, [path.uid, query.limit])
      return steps.map((step) => ({ ...step, amount: format(step.amount), at: Math.floor(step.at / 1000) }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/lending',
    summary: 'Lists the lending pools and insurance funds',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(
      shape({
        currency: str,
        pool: decimalText,
        lent: decimalText,
        accrued: decimalText,
        utilisation: decimalText,
        hourly_rate: str,
        insurance: decimalText,
        insurance_margin: decimalText,
      }),
    ),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) =>
        state.world.loanCurrencyNames.map((currency) => {
          const rate = hourlyRate(state, currency)
          const balance = (name: PlatformAccountName): string =>
            format(state.ledger.balance(PLATFORM, name, currency))
          return {
            currency,
            pool: format(poolFree(state, currency)),
            lent: format(poolLent(state, currency)),
            accrued: balance('lending.accrued'),
            utilisation: format(utilisationOf(state, currency)),
            hourly_rate: rate === undefined ? '' : format(rate),
            insurance: balance(insuranceName('unified')),
            insurance_margin: balance(insuranceName('margin')),
          }
        }),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/lending/fund',
    summary: 'Puts operator equity into a lending pool or an insurance fund',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    body: object({
      currency: currencyField,
      fund: oneOf('pool', 'insurance', 'insurance:margin'),
      amount: positiveDecimal(),
    }),
    status: 204,
    reply: null,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, body, operator }) =>
      desk.core.submit('lending.fund', { ...body, actor: operator }),
  }),
]
