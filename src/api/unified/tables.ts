import { SHORT_PAGES } from '../history.ts'
import { LOAN_RATE } from '../../core/tables/unified/records.ts'
import { hourlyRate, tierRate } from '../../core/unified/lending.ts'
import { lentCurrency } from '../../core/unified/modes.ts'
import { requireUnified } from '../../core/unified/accounts.ts'
import { mainIdOf, type User } from '../../core/tables/users.ts'
import type { State } from '../../core/state.ts'
import { canonical, format, unitOf, type Rate } from '../../money/amount.ts'
import { PUBLIC, endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { integer, listOf, optional, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int64, map, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'

/** The rows of all currencies that are lent, or of one. */
const rowsOf = (state: State, currency: string | null) =>
  (currency === null ? state.world.loanCurrencyNames : [state.world.currency(currency).currency]).flatMap(
    (name) => state.world.loanTerms(name)?.config ?? [],
  )
/** The hourly rate of each currency for an account; an empty text where it is not lent. */
export const rateMap = (state: State, user: User, currencies: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    currencies.map((name) => {
      const currency = state.world.findCurrency(name)?.currency ?? name
      const rate = hourlyRate(state, currency)
      const { vip } = state.users.must(mainIdOf(user))
      return [currency, rate === undefined ? '' : format(tierRate(state, vip, rate))]
    }),
  )

export const unifiedTableEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/unified/currencies',
    summary: 'Lists the currencies that are lent, with their limits',
    access: PUBLIC,
    limit: LIMITS.public,
    query: { currency: optional(currencyField) },
    status: 200,
    reply: array(
      shape({
        name: str,
        prec: str,
        min_borrow_amount: decimalText,
        user_max_borrow_amount: decimalText,
        total_max_borrow_amount: decimalText,
        loan_status: str,
      }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, query }) =>
      desk.core.read((state) =>
        rowsOf(state, query.currency).map((row) => ({
          name: row.currency,
          prec: format(unitOf(state.world.currency(row.currency).precision)),
          min_borrow_amount: row.min_borrow_amount,
          user_max_borrow_amount: row.user_max_borrow_amount,
          total_max_borrow_amount: row.total_max_borrow_amount,
          loan_status: row.loan_status,
        })),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/currency_discount_tiers',
    summary: 'Lists how far each currency counts as collateral, slice by slice',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(
      shape({
        currency: str,
        discount_tiers: array(
          shape({
            tier: str,
            discount: decimalText,
            lower_limit: decimalText,
            upper_limit: str,
            leverage: decimalText,
          }),
        ),
      }),
    ),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) =>
        rowsOf(state, null).map(({ currency, discount_tiers }) => ({ currency, discount_tiers })),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/loan_margin_tiers',
    summary: 'Lists the margin that debts of each currency need, slice by slice',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(
      shape({
        currency: str,
        margin_tiers: array(
          shape({
            tier: str,
            margin_rate: decimalText,
            lower_limit: decimalText,
            upper_limit: str,
            leverage: decimalText,
          }),
        ),
      }),
    ),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) =>
        rowsOf(state, null).map(({ currency, margin_tiers }) => ({ currency, margin_tiers })),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/history_loan_rate',
    summary: 'Lists the hourly rates of a currency, newest first, as a VIP tier pays them',
    access: PUBLIC,
    limit: LIMITS.public,
    query: { currency: currencyField, tier: withDefault(integer(0, 100), 0), ...SHORT_PAGES },
    status: 200,
    reply: shape({
      currency: str,
      tier: str,
      tier_up_rate: decimalText,
      rates: array(shape({ time: int64, rate: decimalText })),
    }),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, query }) => {
      const currency = await desk.core.read((state) => {
        const { currency } = state.world.currency(query.currency)
        lentCurrency(state, currency)
        return currency
      })
      const rows = await desk.store.select(
        LOAN_RATE,
        'where "currency" = ? order by "at" desc limit ? offset ?',
        [currency, query.limit, (query.page - 1) * query.limit],
      )
      return desk.core.read((state) => ({
        currency,
        tier: String(query.tier),
        tier_up_rate: canonical(state.world.tierUpRate(query.tier)),
        rates: rows.map(({ at, rate }) => ({
          time: Math.floor(at / 1000),
          rate: format(tierRate(state, query.tier, rate as bigint as Rate)),
        })),
      }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/unified/estimate_rate',
    summary: 'Tells the present hourly rates of up to 10 currencies; empty where nothing is lent',
    access: signed('unified'),
    limit: LIMITS.otherPrivate,
    query: { currencies: listOf(currencyField, 10) },
    status: 200,
    reply: map(str),
    refuses: ['ACCOUNT_EXCEPTION'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        requireUnified(state, caller.user.user_id)
        return rateMap(state, caller.user, query.currencies)
      }),
  }),
]
