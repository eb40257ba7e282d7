import { SHORT_PAGES, historyCurrency, windowFields } from '../history.ts'
import type { State } from '../../core/state.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import type { IsolatedMarket } from '../../core/tables/world/unified.ts'
import { borrowable, requireOfPair } from '../../core/unified/loans.ts'
import { notFound } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import { PUBLIC, endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { listOf, object, oneOf, optional } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int, map, num, shape, str } from '../shapes.ts'
import {
  LOAN_AMOUNT,
  LOAN_LABELS,
  interestRecords,
  interestShape,
  loanRecords,
  loanShape,
  loanViews,
  recordShape,
  refuseZero,
} from '../unified/loans.ts'
import { rateMap } from '../unified/tables.ts'
import { pairNamed } from './views.ts'
import { currencyField, pairField } from '../wallet.ts'

const ACCESS = signed('spot')
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const
const listFields = { currency_pair: optional(pairField), currency: optional(currencyField), ...SHORT_PAGES }

/** Names of a query as the records have them. */
function named(
  state: State,
  userId: number,
  query: { currency_pair: string | null; currency: string | null },
) {
  return {
    pair: query.currency_pair === null ? null : pairNamed(state, userId, query.currency_pair),
    currency: query.currency === null ? null : historyCurrency(state, query.currency),
  }
}
const pairShape = shape({
  currency_pair: str,
  base_min_borrow_amount: decimalText,
  quote_min_borrow_amount: decimalText,
  leverage: decimalText,
  status: str,
  delisted_time: num,
})
const pairView = (state: State, { currency_pair, ...row }: IsolatedMarket) => ({
  currency_pair,
  base_min_borrow_amount: row.base_min_borrow_amount,
  quote_min_borrow_amount: row.quote_min_borrow_amount,
  leverage: row.tiers[0]!.leverage,
  status: '1',
  delisted_time: state.world.market(currency_pair).config.delisting_time,
})
const oldPairShape = shape({
  id: str,
  base: str,
  quote: str,
  leverage: num,
  min_base_amount: decimalText,
  min_quote_amount: decimalText,
  max_quote_amount: decimalText,
  status: int,
})
function oldPairView(state: State, row: IsolatedMarket) {
  const { id, base, quote } = state.world.market(row.currency_pair)
  return {
    id,
    base,
    quote,
    leverage: Number(row.tiers[0]!.leverage),
    min_base_amount: row.base_min_borrow_amount,
    min_quote_amount: row.quote_min_borrow_amount,
    max_quote_amount: row.max_quote_amount,
    status: 1,
  }
}
/** A pair that the path names. */
function isolatedAt(state: State, name: string): IsolatedMarket {
  const pair = state.world.findMarket(name)?.id ?? name
  return (
    state.world.isolatedMarket(pair) ??
    notFound('INVALID_CURRENCY_PAIR', `currency_pair: "${name}" has no isolated margin`)
  )
}

export const marginLoanEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/margin/uni/currency_pairs',
    summary: 'Lists the pairs with isolated margin',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(pairShape),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) => state.world.isolatedMarkets.map((row) => pairView(state, row))),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/currency_pairs/{currency_pair}',
    summary: 'Shows one of them',
    access: PUBLIC,
    limit: LIMITS.public,
    params: { currency_pair: pairField },
    status: 200,
    reply: pairShape,
    refuses: ['INVALID_CURRENCY_PAIR'],
    handle: async ({ desk, path }) =>
      desk.core.read((state) => pairView(state, isolatedAt(state, path.currency_pair))),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/currency_pairs',
    summary: 'Lists the same as older clients read it',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(oldPairShape),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) => state.world.isolatedMarkets.map((row) => oldPairView(state, row))),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/currency_pairs/{currency_pair}',
    summary: 'Shows one of them as older clients read it',
    access: PUBLIC,
    limit: LIMITS.public,
    params: { currency_pair: pairField },
    status: 200,
    reply: oldPairShape,
    refuses: ['INVALID_CURRENCY_PAIR'],
    handle: async ({ desk, path }) =>
      desk.core.read((state) => oldPairView(state, isolatedAt(state, path.currency_pair))),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/estimate_rate',
    summary: 'Tells the present hourly rates of up to 10 currencies; empty where nothing is lent',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currencies: listOf(currencyField, 10) },
    status: 200,
    reply: map(str),
    refuses: [],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => rateMap(state, caller.user, query.currencies)),
  }),
  endpoint({
    method: 'POST',
    path: '/margin/uni/loans',
    summary: 'Borrows into, or repays from, an isolated margin account',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({
      currency: currencyField,
      type: oneOf('borrow', 'repay'),
      ...LOAN_AMOUNT,
      currency_pair: pairField,
    }),
    status: 204,
    reply: null,
    refuses: [...PAIR_LABELS, ...LOAN_LABELS, 'MARGIN_BALANCE_NOT_ENOUGH'],
    handle: async ({ desk, caller, body }) => {
      const { currency_pair, ...loan } = body
      refuseZero(body)
      const user_id = caller.user.user_id
      return desk.core.submit('margin.loan', {
        user_id,
        currency_pair,
        ...loan,
        text: null,
        known_id: null,
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/loans',
    summary: 'Lists what isolated margin accounts owe, interest included',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: listFields,
    status: 200,
    reply: array(loanShape),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) => {
      return desk.core.read((state) => {
        const { pair, currency } = named(state, caller.user.user_id, query)
        const ours = (scope: string): boolean => (pair === null ? scope !== UNIFIED.scope : scope === pair)
        return loanViews(state, caller.user.user_id, ours, currency, query)
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/loan_records',
    summary: 'Lists borrowings and repayments of isolated margin, newest first',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { type: optional(oneOf('borrow', 'repay')), ...listFields },
    status: 200,
    reply: array(recordShape),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      loanRecords(desk, caller.user.user_id, (state) => ({
        ...query,
        kind: 'margin',
        ...named(state, caller.user.user_id, query),
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/interest_records',
    summary: 'Lists the interest of isolated margin of each full hour, newest first',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { ...listFields, ...windowFields },
    status: 200,
    reply: array(interestShape),
    refuses: PAIR_LABELS,
    handle: async (call) =>
      interestRecords(call, (state) => ({
        ...call.query,
        kind: 'margin',
        ...named(state, call.caller.user.user_id, call.query),
      })),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/uni/borrowable',
    summary: 'Tells the most that can be borrowed into an isolated margin account',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: currencyField, currency_pair: pairField },
    status: 200,
    reply: shape({ currency: str, currency_pair: str, borrowable: decimalText }),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const { currency } = state.world.currency(query.currency)
        const pair = state.world.market(query.currency_pair).id
        requireOfPair(state, pair, currency)
        const amount =
          state.world.isolatedMarket(pair) === undefined
            ? '0'
            : format(borrowable(state, caller.user.user_id, pair, currency))
        return { currency, currency_pair: pair, borrowable: amount }
      }),
  }),
]
