import { lockedName } from '../../core/ledger/accounts.ts'
import type { State } from '../../core/state.ts'
import { MODE_SETTINGS, SETTINGS_OF, type MarginAccount } from '../../core/tables/unified/accounts.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import { unifiedPortfolio } from '../../core/unified/portfolio.ts'
import { leverageOf, riskOf, type AssetFigures, type RiskFigures } from '../../core/risk/risk.ts'
import { UNIFIED_CONTRACTS, debtOf, isUnifiedFor, tradesContracts } from '../../core/contract-margin/cash.ts'
import { accountFigures } from '../../core/futures/figures.ts'
import { CASH } from '../../core/unified/contracts.ts'
import {
  ZERO,
  add,
  format,
  max,
  negate,
  roundDown,
  roundUp,
  subtract,
  type Amount,
  type Rate,
} from '../../money/amount.ts'
import { bool, decimalText, int64, map, num, shape, str } from '../shapes.ts'

/** Money of figures is shown with 8 decimals: what is there rounded down, what is owed or needed rounded up. */
const SHOWN = 8
const RATE_SHOWN = 4
export const down = (amount: Amount): string =>
  format(amount < 0n ? negate(roundUp(negate(amount), SHOWN)) : roundDown(amount, SHOWN))
export const up = (amount: Amount): string => format(roundUp(amount, SHOWN))
const rate = (value: Rate): string =>
  format(
    (value < 0n
      ? -roundUp(-value as Amount, RATE_SHOWN)
      : roundDown(value as bigint as Amount, RATE_SHOWN)) as Amount,
  )

const BALANCE_FIELDS = [
  'available',
  'freeze',
  'borrowed',
  'negative_liab',
  'futures_pos_liab',
  'equity',
  'total_freeze',
  'total_liab',
  'spot_in_use',
  'funding',
  'funding_version',
  'cross_balance',
  'iso_balance',
  'im',
  'mm',
  'imr',
  'mmr',
  'margin_balance',
  'available_margin',
] as const
export const accountShape = shape({
  mode: str,
  user_id: int64,
  refresh_time: int64,
  locked: bool,
  risk_level: str,
  balances: map(
    shape({
      ...Object.fromEntries(BALANCE_FIELDS.map((name) => [name, decimalText])),
      enabled_collateral: bool,
      balance_version: num,
    }),
  ),
  ...Object.fromEntries(
    [
      'total',
      'borrowed',
      'total_initial_margin',
      'total_margin_balance',
      'total_maintenance_margin',
      'total_initial_margin_rate',
      'total_maintenance_margin_rate',
      'total_available_margin',
      'unified_account_total',
      'unified_account_total_liab',
      'unified_account_total_equity',
      'leverage',
      'spot_order_loss',
      'options_order_loss',
    ].map((name) => [name, decimalText]),
  ),
  spot_hedge: bool,
  use_funding: bool,
  is_all_collateral: bool,
})

const ZEROS = Object.fromEntries(BALANCE_FIELDS.map((name) => [name, '0'])) as Readonly<
  Record<(typeof BALANCE_FIELDS)[number], string>
>
/** In single_currency mode each currency stands for itself, and what it has is its own margin; USDT shows it. */
function balanceView(state: State, account: MarginAccount, figures: AssetFigures, inUse: Amount) {
  const { asset, liability } = figures
  const { currency } = asset
  const { user_id: userId, mode } = account
  const single = mode === 'single_currency'
  const own = single && currency === CASH
  const locked = state.ledger.find(userId, lockedName('spot'), currency)
  const free = state.ledger.find(userId, 'spot', currency)
  const negative = max(ZERO, negate(asset.available))
  const isolated = max(ZERO, asset.isolated ?? ZERO)
  const contracts = currency === CASH ? contractLosses(state, userId) : NO_LOSSES
  // There what contracts have left owing is none of the figures of currencies.
  const beside = single ? contracts.owed : ZERO
  const equity = subtract(figures.equity, beside)
  return {
    ...ZEROS,
    available: format(subtract(asset.available, isolated)),
    freeze: format(asset.freeze),
    borrowed: format(single ? ZERO : subtract(asset.borrowed, contracts.owed)),
    negative_liab: format(add(negative, add(contracts.borrowed, contracts.owed))),
    equity: format(equity),
    total_freeze: format(locked?.amount ?? ZERO),
    total_liab: format((liability + beside + negative) as Amount),
    funding: format(state.ledger.balance(userId, 'earn', currency)),
    funding_version: String(state.ledger.find(userId, 'earn', currency)?.version ?? 0),
    cross_balance: mode === 'portfolio' ? '0' : format((asset.available + asset.freeze - isolated) as Amount),
    iso_balance: format(isolated),
    spot_in_use: format(inUse < 0n ? negate(inUse) : inUse),
    ...(own && { margin_balance: format(equity), available_margin: format(equity) }),
    ...(own && ownMargin(state, userId, equity)),
    enabled_collateral: asset.collateral,
    balance_version: (free?.version ?? 0) + (locked?.version ?? 0),
  }
}

/** Whether contracts belong to the unified account, and there are some or they have left something owing. */
const hasContracts = (state: State, userId: number): boolean =>
  isUnifiedFor(state, userId, UNIFIED_CONTRACTS) &&
  (tradesContracts(state, userId) || contractLosses(state, userId).owed > 0n)
/** What losses in contracts have made of a loan, and what they left owing beside it. */
function contractLosses(state: State, userId: number): { borrowed: Amount; owed: Amount } {
  if (!isUnifiedFor(state, userId, UNIFIED_CONTRACTS)) return NO_LOSSES
  return {
    borrowed: state.futures.accounts.get(userId, UNIFIED_CONTRACTS.account)?.borrowed ?? ZERO,
    owed: negate(debtOf(state, userId, UNIFIED_CONTRACTS)),
  }
}
const NO_LOSSES = { borrowed: ZERO, owed: ZERO }
/** In single_currency mode: what contracts stand on, and what they need. */
function ownMargin(state: State, userId: number, equity: Amount) {
  if (!tradesContracts(state, userId)) return {}
  const figures = accountFigures(state, userId, UNIFIED_CONTRACTS)
  const pnl = figures.cross_unrealised_pnl
  return {
    equity: format(add(equity, pnl)),
    cross_balance: format(subtract(figures.cross_margin_balance, pnl)),
    iso_balance: format(max(ZERO, figures.isolated_position_margin)),
    im: up(add(figures.cross_initial_margin, figures.order_margin)),
    mm: up(figures.cross_maintenance_margin),
    imr: format(figures.cross_imr),
    mmr: format(figures.cross_mmr),
    margin_balance: down(figures.cross_margin_balance),
    available_margin: down(figures.cross_available),
  }
}

/**
 * In single_currency mode contracts are no part of the margin of all currencies: what their cross positions have won or
 * lost, and what losses have left owing, belongs to the account all the same.
 */
export function wholeOf(state: State, userId: number, figures: RiskFigures): RiskFigures {
  if (state.margin.modeOf(userId) !== 'single_currency') return figures
  const profit = tradesContracts(state, userId)
    ? accountFigures(state, userId, UNIFIED_CONTRACTS).cross_unrealised_pnl
    : ZERO
  const { owed } = contractLosses(state, userId)
  const { total, equity } = figures
  return { ...figures, total: add(total, profit), equity: subtract(add(equity, profit), owed) }
}

/** Every figure of GET /unified/accounts. In single_currency mode the figures over all currencies are 0. */
export function accountView(state: State, userId: number, seconds: number, only: string | null) {
  const account = state.margin.of(userId)
  // Contracts are told with their currency, be there anything of it or not.
  const named = hasContracts(state, userId) ? [CASH] : []
  const input = unifiedPortfolio(state, userId, only === null ? named : [only])
  const figures = wholeOf(state, userId, riskOf(input))
  const shared = account.mode !== 'single_currency'
  const when = (text: string): string => (shared ? text : '0')
  const total = down(figures.total)
  return {
    mode: account.mode,
    user_id: userId,
    refresh_time: seconds,
    locked: shared && account.locked.includes(UNIFIED.scope),
    risk_level: state.margin.riskLevelOf(userId, UNIFIED.scope),
    balances: Object.fromEntries(
      figures.assets
        .filter(({ asset }) => only === null || asset.currency === only)
        .map((one) => {
          const { currency } = one.asset
          const unit = figures.contracts?.units.find((each) => each.unit.currency === currency)
          return [currency, balanceView(state, account, one, unit?.inUse ?? ZERO)]
        }),
    ),
    total,
    borrowed: when(up(figures.borrowed)),
    total_initial_margin: when(up(figures.initialMargin)),
    total_margin_balance: when(down(figures.marginBalance)),
    total_maintenance_margin: when(up(figures.maintenanceMargin)),
    total_initial_margin_rate: when(rate(figures.initialRate)),
    total_maintenance_margin_rate: when(rate(figures.maintenanceRate)),
    total_available_margin: when(down(figures.available)),
    unified_account_total: total,
    unified_account_total_liab: when(up(figures.liability)),
    unified_account_total_equity: down(figures.equity),
    leverage: when(rate(leverageOf(input, figures))),
    spot_order_loss: when(up(figures.orderLoss)),
    options_order_loss: '0',
    spot_hedge: account.settings.spot_hedge === true,
    use_funding: account.settings.use_funding === true,
    is_all_collateral: account.not_collateral.length === 0,
  }
}
export const modeView = (account: MarginAccount) => ({
  mode: account.mode,
  // A classic account has none of its own; clients read all four of it.
  settings: Object.fromEntries(
    (account.mode === 'classic' ? MODE_SETTINGS : SETTINGS_OF[account.mode]).map((name) => [
      name,
      account.settings[name] === true,
    ]),
  ),
})
export const modeShape = shape({
  mode: str,
  settings: shape({ 'usdt_futures?': bool, 'spot_hedge?': bool, 'use_funding?': bool, 'options?': bool }),
})
