import { LONG_PAGES, historyCurrency, windowFields } from '../history.ts'
import { marginName } from '../../core/ledger/accounts.ts'
import type { State } from '../../core/state.ts'
import { requireOfPair, transferable } from '../../core/unified/loans.ts'
import { refuse } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import { PUBLIC, endpoint, signed, type AnyEndpoint, type Call } from '../endpoint.ts'
import { object, oneOf, optional, text } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int64, shape, str } from '../shapes.ts'
import { skipped, timeSpan } from '../spot/span.ts'
import { newestLines } from '../ledger-lines.ts'
import { currencyField, pairField } from '../wallet.ts'
import { marginAccountShape, marginAccountView, openedPairs, pairNamed } from './views.ts'

const ACCESS = signed('spot')
const PAIR_LABELS = ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'] as const

async function accounts({ desk, caller, query }: Call<unknown, { currency_pair: string | null }, unknown>) {
  return desk.core.read((state) =>
    (query.currency_pair === null
      ? openedPairs(state, caller.user.user_id)
      : [pairNamed(state, caller.user.user_id, query.currency_pair)]
    ).map((pair) => marginAccountView(state, caller.user.user_id, pair)),
  )
}
const tiersOf = (state: State, name: string) =>
  (state.world.isolatedMarket(state.world.market(name).id)?.tiers ?? []).map((tier) => ({
    tier_amount: tier.upper_limit,
    ...tier,
  }))
const tierShape = array(
  shape({ upper_limit: str, tier_amount: str, mmr: decimalText, leverage: decimalText }),
)
const statusShape = shape({ status: str })
const statusField = oneOf('on', 'off')

export const marginAccountEndpoints: readonly AnyEndpoint[] = [
  ...(['/margin/accounts', '/margin/user/account'] as const).map((path) =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Lists the isolated margin accounts; a named pair is shown even when nothing was ever in it',
      access: ACCESS,
      limit: LIMITS.otherPrivate,
      query: { currency_pair: optional(pairField) },
      status: 200,
      reply: array(marginAccountShape),
      refuses: PAIR_LABELS,
      handle: accounts,
    }),
  ),
  endpoint({
    method: 'GET',
    path: '/margin/account_book',
    summary: 'Every change of the isolated margin balances, newest first',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: {
      currency: optional(currencyField),
      currency_pair: optional(pairField),
      type: optional(text({ max: 64 })),
      ...windowFields,
      ...LONG_PAGES,
    },
    status: 200,
    reply: array(
      shape({
        id: str,
        time: str,
        time_ms: int64,
        currency: str,
        currency_pair: str,
        change: decimalText,
        balance: decimalText,
        type: str,
      }),
    ),
    refuses: PAIR_LABELS,
    handle: async (call) => {
      const { desk, caller, query } = call
      if (query.currency !== null && query.currency_pair === null)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency_pair (with currency)')
      const accounts = await desk.core.read((state) => {
        const { ledger } = state
        const pairs =
          query.currency_pair === null
            ? openedPairs(state, caller.user.user_id)
            : [pairNamed(state, caller.user.user_id, query.currency_pair)]
        const currency = query.currency === null ? null : historyCurrency(state, query.currency)
        return pairs
          .flatMap((pair) => [...ledger.named(caller.user.user_id, marginName(pair))])
          .filter((account) => currency === null || account.currency === currency)
      })
      const { from, to } = timeSpan(call, query, { usual: 7, most: 30 })
      const lines = await newestLines(desk, accounts, {
        from,
        to,
        kinds: query.type === null ? undefined : [query.type],
        limit: query.limit,
        offset: skipped(query.page, query.limit),
      })
      return lines.map((line) => ({
        id: String(line.id),
        time: String(Math.floor(line.at / 1e6)),
        time_ms: Math.floor(line.at / 1000),
        currency: line.currency,
        currency_pair: line.name.slice('margin:'.length),
        change: format(line.amount),
        balance: format(line.after),
        type: line.kind,
      }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/funding_accounts',
    summary: 'Lists what the account could lend, and lends',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: optional(currencyField) },
    status: 200,
    reply: array(
      shape({
        currency: str,
        available: decimalText,
        locked: decimalText,
        lent: decimalText,
        total_lent: decimalText,
      }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read(({ ledger, world }) => {
        const only = query.currency === null ? null : world.currency(query.currency).currency
        const lent = (currency: string): string =>
          format(ledger.balance(caller.user.user_id, 'earn', currency))
        return [...ledger.named(caller.user.user_id, 'spot')]
          .filter(({ currency }) =>
            only === null ? world.loanTerms(currency) !== undefined : currency === only,
          )
          .map(({ currency, amount }) => ({
            currency,
            available: format(amount),
            locked: '0',
            lent: lent(currency),
            total_lent: lent(currency),
          }))
          .sort((a, b) => (a.currency < b.currency ? -1 : 1))
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/auto_repay',
    summary: 'Tells whether orders of isolated margin repay by themselves',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: statusShape,
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => ({ status: state.margin.of(caller.user.user_id).auto_repay ? 'on' : 'off' })),
  }),
  endpoint({
    method: 'POST',
    path: '/margin/auto_repay',
    summary: 'Switches that on or off; status is taken from the query or the body',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { status: optional(statusField) },
    body: object({ status: optional(statusField) }),
    status: 200,
    reply: statusShape,
    refuses: [],
    handle: async ({ desk, caller, query, body }) => {
      const status = query.status ?? body.status
      if (status === null)
        refuse(
          'MISSING_REQUIRED_PARAM',
          'Missing required parameter: status (on or off, in the query or the body)',
        )
      await desk.core.submit('margin.auto_repay', { user_id: caller.user.user_id, on: status === 'on' })
      return { status }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/transferable',
    summary: 'Tells the most that can leave an isolated margin account',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: currencyField, currency_pair: optional(pairField) },
    status: 200,
    reply: shape({ currency: str, currency_pair: str, amount: decimalText }),
    refuses: PAIR_LABELS,
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const { currency } = state.world.currency(query.currency)
        if (query.currency_pair === null)
          refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency_pair')
        const pair = state.world.market(query.currency_pair).id
        requireOfPair(state, pair, currency)
        const amount = format(transferable(state, caller.user.user_id, pair, currency))
        return { currency, currency_pair: pair, amount }
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/loan_margin_tiers',
    summary: "Lists a pair's tiers: up to which debt, in the quote currency, which leverage and margin",
    access: PUBLIC,
    limit: LIMITS.public,
    query: { currency_pair: pairField },
    status: 200,
    reply: tierShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, query }) => desk.core.read((state) => tiersOf(state, query.currency_pair)),
  }),
  endpoint({
    method: 'GET',
    path: '/margin/user/loan_margin_tiers',
    summary: 'Lists the same tiers for the account that asks',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency_pair: pairField },
    status: 200,
    reply: tierShape,
    refuses: PAIR_LABELS,
    handle: async ({ desk, query }) => desk.core.read((state) => tiersOf(state, query.currency_pair)),
  }),
  endpoint({
    method: 'POST',
    path: '/margin/leverage/user_market_setting',
    summary: 'Sets the leverage of an isolated margin account',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({ currency_pair: pairField, leverage: text({ max: 16, example: '3' }) }),
    status: 204,
    reply: null,
    refuses: [
      ...PAIR_LABELS,
      'MARGIN_NOT_SUPPORTED',
      'LEVERAGE_TOO_HIGH',
      'LEVERAGE_TOO_LOW',
      'INITIAL_MARGIN_TOO_LOW',
    ],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('margin.leverage.pair', { user_id: caller.user.user_id, ...body }),
  }),
]
