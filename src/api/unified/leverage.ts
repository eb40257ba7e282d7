import type { State } from '../../core/state.ts'
import { requireShared } from '../../core/unified/accounts.ts'
import { marginSlices } from '../../core/tables/world/unified.ts'
import { lendingCap } from '../../core/unified/lending.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import { borrowable, totalOwed } from '../../core/unified/loans.ts'
import { lentCurrency, minLeverage } from '../../core/unified/modes.ts'
import { unifiedPortfolio } from '../../core/unified/portfolio.ts'
import { borrowableOf, riskOf } from '../../core/risk/risk.ts'
import { format, unitOf } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { object, optional, text } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'
import { down } from './views.ts'

const ACCESS = signed('unified')

/** The leverage of a currency; except_leverage_borrowable is what the tiers alone would allow. */
function leverageView(state: State, userId: number, name: string) {
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

export const unifiedLeverageEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/unified/leverage/user_currency_config',
    summary: 'Shows the leverage of a currency, its bounds, and what can be borrowed with it',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: currencyField },
    status: 200,
    reply: shape({
      current_leverage: decimalText,
      min_leverage: decimalText,
      max_leverage: decimalText,
      debit: decimalText,
      available_margin: decimalText,
      borrowable: decimalText,
      except_leverage_borrowable: decimalText,
    }),
    refuses: ['ACCOUNT_EXCEPTION', 'MARGIN_NOT_SUPPORTED', 'INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => leverageView(state, caller.user.user_id, query.currency)),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/leverage/user_currency_setting',
    summary: "Shows the account's leverage of a currency, or of all",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: optional(currencyField) },
    status: 200,
    reply: array(shape({ currency: str, leverage: decimalText })),
    refuses: ['ACCOUNT_EXCEPTION', 'MARGIN_NOT_SUPPORTED', 'INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const account = requireShared(state, caller.user.user_id)
        const names =
          query.currency === null
            ? state.world.loanCurrencyNames
            : [state.world.currency(query.currency).currency]
        return names.map((currency) => ({
          currency,
          leverage: account.leverage[currency] ?? format(lentCurrency(state, currency).maxLeverage),
        }))
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/leverage/user_currency_setting',
    summary: "Sets the account's leverage of a currency",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({ currency: currencyField, leverage: text({ max: 16, example: '3' }) }),
    status: 204,
    reply: null,
    refuses: [
      'ACCOUNT_EXCEPTION',
      'MARGIN_NOT_SUPPORTED',
      'INVALID_CURRENCY',
      'LEVERAGE_TOO_HIGH',
      'LEVERAGE_TOO_LOW',
      'INITIAL_MARGIN_TOO_LOW',
    ],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('margin.leverage', { user_id: caller.user.user_id, ...body }),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/leverage/user_setting',
    summary: "Sets the account's leverage of every currency; tells those that it does not fit",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({ leverage: text({ max: 16, example: '3' }) }),
    status: 200,
    reply: array(shape({ currency: str, reason: str })),
    refuses: ['ACCOUNT_EXCEPTION', 'MARGIN_NOT_SUPPORTED', 'INITIAL_MARGIN_TOO_LOW'],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('margin.leverage.all', { user_id: caller.user.user_id, ...body }),
  }),
]
