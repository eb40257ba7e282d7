import {
  accountFigures,
  allowedLeverage,
  isCross,
  leverageOf,
  positionFigures,
  toldLeverage,
} from '../../core/futures/figures.ts'
import { POINTS, cashName, isSharedFor, isUnifiedFor, type Settled } from '../../core/futures/money.ts'
import { isDual } from '../../core/futures/positions.ts'
import type { State } from '../../core/state.ts'
import type { ContractAccount } from '../../core/tables/futures/accounts.ts'
import type { Position } from '../../core/tables/futures/positions.ts'
import type { Mode } from '../../core/tables/unified/accounts.ts'
import { ZERO, format, type Amount } from '../../money/amount.ts'
import { bool, decimalText, int, int64, nullable, shape, str } from '../shapes.ts'
import { shown, wholeSeconds, type Look } from './order-views.ts'
import { shownContract } from './paths.ts'
import { shownRanking } from './queues.ts'
import { sizeShape } from './sizes.ts'

const FIGURES = [
  'total',
  'unrealised_pnl',
  'position_margin',
  'order_margin',
  'available',
  'position_initial_margin',
  'maintenance_margin',
  'cross_order_margin',
  'cross_initial_margin',
  'cross_maintenance_margin',
  'cross_unrealised_pnl',
  'cross_available',
  'cross_margin_balance',
  'cross_mmr',
  'cross_imr',
  'isolated_position_margin',
] as const
const decimals = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, decimalText]))
export const accountShape = shape({
  ...decimals(FIGURES),
  point: decimalText,
  bonus: decimalText,
  currency: str,
  in_dual_mode: bool,
  enable_credit: bool,
  enable_evolved_classic: bool,
  enable_new_dual_mode: bool,
  enable_tiered_mm: bool,
  enable_dual_plus: bool,
  margin_mode: int,
  margin_mode_name: str,
  position_mode: str,
  update_id: int64,
  update_time: int64,
  user: int64,
  history: shape(
    decimals([
      'dnw',
      'pnl',
      'fee',
      'refr',
      'fund',
      'point_dnw',
      'point_fee',
      'point_refr',
      'bonus_dnw',
      'bonus_offset',
      'cross_settle',
    ]),
  ),
})
/** The account as its margin stands now; the caller knows that there is one. */
export function accountView(state: State, userId: number, settled: Settled): Record<string, unknown> {
  const figures = accountFigures(state, userId, settled)
  const row = state.futures.accounts.get(userId, settled.account)
  const points = state.ledger.balance(userId, cashName(state, userId, settled), POINTS)
  const dual = isDual(state, userId, settled.account)
  const unified = isUnifiedFor(state, userId, settled)
  const mode = unified ? state.margin.modeOf(userId) : 'classic'
  const shared = isSharedFor(state, userId, settled)
  return {
    ...Object.fromEntries(FIGURES.map((name) => [name, shown(figures[name])])),
    point: format(points),
    bonus: '0',
    currency: settled.currency,
    in_dual_mode: dual,
    enable_credit: shared,
    enable_evolved_classic: false,
    enable_new_dual_mode: false,
    enable_tiered_mm: true,
    enable_dual_plus: false,
    margin_mode: MARGIN_MODES[mode],
    margin_mode_name: mode,
    position_mode: dual ? 'dual' : 'single',
    update_id: row?.update_id ?? 0,
    update_time: wholeSeconds(row?.update_at ?? 0),
    user: userId,
    history: {
      // Money that came before the account had a row of its own.
      dnw: format(row?.dnw ?? figures.total),
      pnl: format(row?.pnl ?? ZERO),
      fee: format(row?.fee ?? ZERO),
      refr: '0',
      fund: format(row?.fund ?? ZERO),
      point_dnw: format(row?.point_dnw ?? points),
      point_fee: format(row?.point_fee ?? ZERO),
      point_refr: '0',
      bonus_dnw: '0',
      bonus_offset: '0',
      cross_settle: row === undefined ? '0' : format(settledElsewhere(row, figures.total)),
    },
  }
}
/** As clients know them. */
const MARGIN_MODES: Readonly<Record<Mode, number>> = {
  classic: 0,
  multi_currency: 1,
  portfolio: 2,
  single_currency: 3,
}
/** What was booked here while the money was a unified account's: it is in no total of this one. */
const settledElsewhere = ({ dnw, pnl, fee, fund }: ContractAccount, total: Amount): Amount =>
  (total - dnw - pnl - fee - fund) as Amount

const POSITION_FIGURES = [
  'risk_limit',
  'leverage_max',
  'maintenance_rate',
  'value',
  'margin',
  'entry_price',
  'liq_price',
  'mark_price',
  'initial_margin',
  'maintenance_margin',
  'unrealised_pnl',
  'average_maintenance_rate',
] as const
const REALISED = [
  'realised_pnl',
  'pnl_pnl',
  'pnl_fund',
  'pnl_fee',
  'history_pnl',
  'last_close_pnl',
  'realised_point',
  'history_point',
] as const
export const positionShape = shape({
  user: int64,
  contract: str,
  size: sizeShape,
  leverage: decimalText,
  ...decimals(POSITION_FIGURES),
  ...decimals(REALISED),
  adl_ranking: int,
  pending_orders: int,
  close_order: nullable(shape({ id: int64, price: decimalText, is_liq: bool })),
  mode: str,
  cross_leverage_limit: decimalText,
  'update_time?': int64,
  update_id: int64,
  open_time: int64,
  risk_limit_table: str,
  'pid?': int,
  pos_margin_mode: str,
  'lever?': decimalText,
  trade_max_size: decimalText,
})
export function positionView(
  state: State,
  position: Position,
  { sizes, group }: Look,
): Record<string, unknown> {
  const figures = positionFigures(state, position)
  const { close_order } = figures
  const contract = state.world.mustContract(position.contract)
  const realised = (position.pnl + position.fee + position.fund) as Amount
  return {
    user: position.user_id,
    contract: shownContract(position.contract),
    size: sizes(position.size),
    leverage: format(toldLeverage(position, contract)),
    ...Object.fromEntries(POSITION_FIGURES.map((name) => [name, shown(figures[name])])),
    realised_pnl: format(realised),
    pnl_pnl: format(position.pnl),
    pnl_fund: format(position.fund),
    pnl_fee: format(position.fee),
    history_pnl: format(position.history_pnl),
    last_close_pnl: format(position.last_close_pnl),
    realised_point: format(position.point_fee),
    history_point: format(position.history_point),
    adl_ranking: shownRanking(state, contract, position),
    pending_orders: figures.pending_orders,
    close_order: close_order === null ? null : { ...close_order, price: format(close_order.price) },
    mode: position.mode,
    cross_leverage_limit: format(allowedLeverage(position.cross_limit, contract)),
    ...(group.texts && { update_time: wholeSeconds(position.update_at) }),
    update_id: position.update_id,
    open_time: wholeSeconds(position.open_at),
    risk_limit_table: contract.config.risk_limit_table,
    ...(group.texts && { pid: 0 }),
    pos_margin_mode: isCross(position) ? 'cross' : 'isolated',
    ...(group.texts && { lever: format(leverageOf(position, contract)) }),
    trade_max_size: '0',
  }
}
