import { lockedName } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import { unifiedPortfolio } from '../core/unified/portfolio.ts'
import { riskOf } from '../core/risk/risk.ts'
import type { User } from '../core/tables/users.ts'
import { format, overDown, roundDown, subtract, type Amount, type Rate } from '../money/amount.ts'
import { bool, decimalText, int64, map, shape } from './shapes.ts'
import { down, up } from './unified/views.ts'

/** An account that shares its margin across currencies: a cross-margin sub-account, or one in such a mode. */
const isOpen = (state: State, user: User): boolean =>
  user.type === 3 || ['multi_currency', 'portfolio'].includes(state.margin.modeOf(user.user_id))

const SHOWN = 4
const ratio = (value: Amount, of: Amount): string =>
  of > 0n && value > 0n ? format(roundDown(overDown(value, of as bigint as Rate), SHOWN)) : '0'
const FIGURES = [
  'total',
  'borrowed',
  'borrowed_net',
  'net',
  'leverage',
  'interest',
  'risk',
  'total_initial_margin',
  'total_margin_balance',
  'total_maintenance_margin',
  'total_initial_margin_rate',
  'total_maintenance_margin_rate',
  'total_available_margin',
] as const

/** The unified account in the words of cross margin; user_id 0 where there is none. Values in USDT. */
export function crossView(state: State, user: User) {
  if (!isOpen(state, user))
    return {
      user_id: 0,
      locked: false,
      balances: {},
      ...Object.fromEntries(FIGURES.map((name) => [name, '0'])),
    }
  const figures = riskOf(unifiedPortfolio(state, user.user_id))
  const interest = subtract(figures.liability, figures.borrowed)
  return {
    user_id: user.user_id,
    locked: user.state === 2 || state.margin.isLocked(user.user_id, UNIFIED.scope),
    balances: Object.fromEntries(
      figures.assets.map(({ asset }) => [
        asset.currency,
        {
          available: format(asset.available),
          freeze: format(state.ledger.balance(user.user_id, lockedName('spot'), asset.currency)),
          borrowed: format(asset.borrowed),
          interest: format(asset.interest),
        },
      ]),
    ),
    total: down(figures.total),
    borrowed: up(figures.borrowed),
    borrowed_net: up(figures.borrowed),
    net: down(figures.equity),
    leverage: ratio(figures.total, figures.equity),
    interest: interest > 0n ? up(interest) : '0',
    risk: ratio(figures.total, figures.liability),
    total_initial_margin: up(figures.initialMargin),
    total_margin_balance: down(figures.marginBalance),
    total_maintenance_margin: up(figures.maintenanceMargin),
    total_initial_margin_rate: ratio(figures.marginBalance, figures.initialMargin),
    total_maintenance_margin_rate: ratio(figures.marginBalance, figures.maintenanceMargin),
    total_available_margin: down(figures.available),
  }
}
export const crossShape = shape({
  user_id: int64,
  locked: bool,
  balances: map(
    shape({ available: decimalText, freeze: decimalText, borrowed: decimalText, interest: decimalText }),
  ),
  ...Object.fromEntries(FIGURES.map((name) => [name, decimalText])),
})
