import type { State } from '../../core/state.ts'
import { requireShared } from '../../core/unified/accounts.ts'
import { UNIFIED } from '../../core/unified/loan-book.ts'
import { marginSlices } from '../../core/unified/config.ts'
import { lendingCap } from '../../core/unified/lending.ts'
import { borrowable, totalOwed } from '../../core/unified/loans.ts'
import { lentCurrency, minLeverage } from '../../core/unified/modes.ts'
import { unifiedPortfolio } from '../../core/unified/portfolio.ts'
import { borrowableOf, riskOf } from '../../core/unified/risk.ts'
import { format, unitOf } from '../../money/amount.ts'
import { down } from './views.ts'

/** The leverage of a currency; except_leverage_borrowable is what the tiers alone would allow. */
export function leverageView(state: State, userId: number, name: string) {
  const account = requireShared(state, userId)
  const { currency, precision } = state.world.currency(name)
  const terms = lentCurrency(state, currency)
  const input = unifiedPortfolio(state, userId, [currency])
  const byTiers = {
    ...input,
    assets: input.assets.map((asset) =>
      asset.currency === currency ? { ...asset, margins: marginSlices(terms, undefined) } : asset,
    ),
  }
  const cap = lendingCap(state, userId, currency)
  return {
    current_leverage: account.leverage[currency] ?? format(terms.maxLeverage),
    min_leverage: format(minLeverage),
    max_leverage: format(terms.maxLeverage),
    debit: format(totalOwed(state, userId, UNIFIED, currency)),
    available_margin: down(riskOf(input).available),
    borrowable: format(borrowable(state, userId, UNIFIED.scope, currency)),
    except_leverage_borrowable: format(borrowableOf(byTiers, currency, cap, unitOf(precision))),
  }
}
