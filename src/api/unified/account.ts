import { setImmediate as turn } from 'node:timers/promises'
import { requireUnified } from '../../core/unified/accounts.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import { CASH, cashSpared } from '../../core/unified/contracts.ts'
import { borrowable, transferable } from '../../core/unified/loans.ts'
import { subAccountNamed } from '../../core/tables/users.ts'
import { ZERO, format, max, min, roundDown } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Desk } from '../endpoint.ts'
import { id, listOf, object, oneOfNumbers, optional, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, decimalText, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'
import { accountShape, accountView } from './views.ts'

const ACCESS = signed('unified')
const amountShape = shape({ currency: str, amount: decimalText })

type Figure = typeof borrowable
/** In single_currency mode contracts stand on the free money itself, which no figure of margin tells. */
const leaving: Figure = (state, userId, scope, currency) => {
  const most = transferable(state, userId, scope, currency)
  const spare = currency === CASH ? cashSpared(state, userId) : undefined
  if (spare === undefined) return most
  return roundDown(max(ZERO, min(most, spare)), state.world.currency(currency).precision)
}
/** One figure of the caller's account, for each currency that is named. */
async function amounts(desk: Desk, userId: number, figure: Figure, names: readonly string[]) {
  const wanted = await desk.core.read(({ world }) => names.map((name) => world.currency(name).currency))
  const found = new Map<string, string>()
  // A currency that is named twice is looked at once, and others get their turn after each.
  for (const currency of new Set(wanted)) {
    const amount = await desk.core.read((state) => {
      requireUnified(state, userId)
      return format(figure(state, userId, UNIFIED.scope, currency))
    })
    found.set(currency, amount)
    if (wanted.length > 1) await turn()
  }
  return wanted.map((currency) => ({ currency, amount: found.get(currency)! }))
}
const forOne = (path: `/${string}`, summary: string, figure: Figure): AnyEndpoint =>
  endpoint({
    method: 'GET',
    path,
    summary,
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: currencyField },
    status: 200,
    reply: amountShape,
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      (await amounts(desk, caller.user.user_id, figure, [query.currency]))[0]!,
  })
const forMany = (path: `/${string}`, summary: string, figure: Figure, max: number): AnyEndpoint =>
  endpoint({
    method: 'GET',
    path,
    summary,
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currencies: listOf(currencyField, max) },
    status: 200,
    reply: array(amountShape),
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
    handle: ({ desk, caller, query }) => amounts(desk, caller.user.user_id, figure, query.currencies),
  })

export const unifiedAccountEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/unified/accounts',
    summary: 'Shows the unified account: balances, debts and every figure of its margin',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: optional(currencyField), sub_uid: optional(id()) },
    status: 200,
    reply: accountShape,
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY', 'SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const { user_id } =
          query.sub_uid === null
            ? caller.user
            : subAccountNamed(state.users, caller.user.user_id, query.sub_uid)
        requireUnified(state, user_id)
        const only = query.currency === null ? null : state.world.currency(query.currency).currency
        return accountView(state, user_id, Math.floor(desk.clock.seconds()), only)
      }),
  }),
  forOne('/unified/borrowable', 'Tells the most of a currency that can be borrowed', borrowable),
  forMany('/unified/batch_borrowable', 'Tells the same for up to 10 currencies', borrowable, 10),
  forOne('/unified/transferable', 'Tells the most of a currency that can leave the account', leaving),
  forMany('/unified/transferables', 'Tells the same for up to 100 currencies', leaving, 100),
  endpoint({
    method: 'POST',
    path: '/unified/collateral_currencies',
    summary: 'Chooses which currencies are collateral: 0 all, 1 all but those disabled; acts at once',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({
      collateral_type: withDefault(oneOfNumbers(0, 1), 1),
      enable_list: withDefault(listOf(currencyField, 100), []),
      disable_list: withDefault(listOf(currencyField, 100), []),
    }),
    status: 200,
    reply: shape({ is_success: bool }),
    refuses: ['ACCOUNT_EXCEPTION', 'MARGIN_NOT_SUPPORTED', 'INVALID_CURRENCY', 'INITIAL_MARGIN_TOO_LOW'],
    handle: async ({ desk, caller, body }) => {
      await desk.core.submit('margin.collateral', { user_id: caller.user.user_id, ...body })
      return { is_success: true }
    },
  }),
]
