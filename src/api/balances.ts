import { SHORT_PAGES } from './history.ts'
import { lockedName } from '../core/ledger/accounts.ts'
import { accountFigures } from '../core/futures/figures.ts'
import { hasAccount } from '../core/futures/money.ts'
import { settledBy } from '../core/futures/transfers.ts'
import type { Account } from '../core/ledger/ledger.ts'
import type { State } from '../core/state.ts'
import { subAccountNamed, type User } from '../core/tables/users.ts'
import {
  ZERO,
  add,
  format,
  negate,
  overDown,
  rateOf,
  roundDown,
  timesDown,
  type Amount,
} from '../money/amount.ts'
import { crossShape, crossView } from './cross-margin.ts'
import { endpoint, signed, signedMain, type AnyEndpoint, type Desk } from './endpoint.ts'
import { ids, oneName, optional, withDefault } from './fields.ts'
import { accountShape, accountView } from './futures/account-views.ts'
import { PERPETUAL, settledOf } from './futures/paths.ts'
import { LIMITS } from './limits.ts'
import { marginAccountShape, marginAccountView, openedPairs } from './margin/views.ts'
import { array, decimalText, map, shape, str } from './shapes.ts'
import { KINDS, type Kind, type Worth } from './valuation.ts'

const SHOWN_DECIMALS = 8
const CACHE_SECONDS = 60
const CACHE_MAX = 10_000

const WITH_PNL = new Set<Kind>(['futures', 'delivery', 'options'])
const WITH_BORROWED = new Set<Kind>(['margin', 'cross_margin'])

/** Which kind a ledger account belongs to. */
function kindOf(name: string): Kind {
  const base = name
    .replace(/^debt\.(interest\.)?/, '')
    .replace(/\.locked$/, '')
    .split(':')[0]!
  if (base === 'earn') return 'finance'
  // A unified account's money is its spot money; what it owes is shown where cross margin was.
  if (base === 'unified') return 'cross_margin'
  return (KINDS as readonly string[]).includes(base) ? (base as Kind) : 'spot'
}
/** What an account holds and owes, in USDT at index prices. */
function worthOf(state: State, userId: number): Worth {
  const amounts = new Map<Kind, Amount>()
  const borrowed = new Map<Kind, Amount>()
  for (const { name, currency, amount } of state.ledger.ownedBy(userId)) {
    const kind = kindOf(name)
    const usdt = state.prices.worth(currency, amount)
    // What a contract account owes is no loan: its total is less by it.
    if (name.startsWith('debt.') && !WITH_PNL.has(kind))
      borrowed.set(kind, add(borrowed.get(kind) ?? ZERO, negate(usdt)))
    else amounts.set(kind, add(amounts.get(kind) ?? ZERO, usdt))
  }
  const unrealised = new Map<Kind, Amount>()
  for (const kind of ['futures', 'delivery'] as const)
    for (const settle of state.world.settles(kind)) {
      const settled = settledBy(kind, settle)!
      if (!state.futures.positions.holds(userId, settled.account)) continue
      const { unrealised_pnl } = accountFigures(state, userId, settled)
      const usdt = state.prices.worth(settled.currency, unrealised_pnl)
      unrealised.set(kind, add(unrealised.get(kind) ?? ZERO, usdt))
      amounts.set(kind, add(amounts.get(kind) ?? ZERO, usdt))
    }
  return { amounts, borrowed, unrealised }
}
const CURRENCIES = ['BTC', 'CNY', 'USD', 'USDT'] as const
function inCurrency(state: State, usdt: Amount, currency: (typeof CURRENCIES)[number]): string {
  const turn = (amount: Amount): Amount => {
    if (currency === 'USDT') return amount
    if (currency === 'BTC') {
      const price = state.prices.of('BTC')
      return price === 0n ? ZERO : overDown(amount, price)
    }
    return timesDown(amount, rateOf(state.world.exchangeRates[currency]!))
  }
  const turned = roundDown(turn((usdt < 0n ? -usdt : usdt) as Amount), SHOWN_DECIMALS)
  return format(usdt < 0n ? negate(turned) : turned)
}
function totalView(
  state: State,
  { amounts, borrowed, unrealised }: Worth,
  currency: (typeof CURRENCIES)[number],
) {
  const shown = (usdt: Amount): string => inCurrency(state, usdt, currency)
  const sum = (values: ReadonlyMap<Kind, Amount>): Amount => [...values.values()].reduce(add, ZERO)
  const details = KINDS.map((kind): [Kind, object] => [
    kind,
    {
      currency,
      amount: shown(amounts.get(kind) ?? ZERO),
      ...(WITH_BORROWED.has(kind) && { borrowed: shown(borrowed.get(kind) ?? ZERO) }),
      ...(WITH_PNL.has(kind) && { unrealised_pnl: shown(unrealised.get(kind) ?? ZERO) }),
    },
  ])
  return {
    details: Object.fromEntries(details),
    total: {
      currency,
      amount: shown(sum(amounts)),
      unrealised_pnl: shown(sum(unrealised)),
      borrowed: shown(sum(borrowed)),
    },
  }
}
function cachedWorth(desk: Desk, state: State, userId: number): Worth {
  const { valuations: cache } = desk
  const now = desk.clock.peek()
  const known = cache.get(userId)
  // A valuation from the future is one from before a reset.
  if (known !== undefined && known.at <= now && now - known.at < CACHE_SECONDS * 1e6) return known.worth
  const worth = worthOf(state, userId)
  cache.delete(userId)
  if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value!)
  cache.set(userId, { at: now, worth })
  return worth
}

const SUB_UID = { sub_uid: optional(ids(100)) }
/** The named sub-accounts, or all of them. */
function subAccounts(state: State, main: number, named: readonly number[] | null): User[] {
  if (named === null) return state.users.subAccountsOf(main)
  return [...new Set(named)].map((userId) => subAccountNamed(state.users, main, userId))
}
const balances = (accounts: Iterable<Account>): Record<string, string> =>
  Object.fromEntries(
    [...accounts]
      .filter(({ amount }) => amount !== 0n)
      .map(({ currency, amount }): [string, string] => [currency, format(amount)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

export const balanceEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/wallet/total_balance',
    summary: "Values all of the account's holdings at index prices; up to a minute old",
    access: signed('wallet'),
    limit: LIMITS.walletTransfers,
    query: { currency: withDefault(oneName(...CURRENCIES), 'USDT') },
    status: 200,
    reply: shape({
      details: map(
        shape({
          currency: str,
          amount: decimalText,
          'unrealised_pnl?': decimalText,
          'borrowed?': decimalText,
        }),
      ),
      total: shape({
        currency: str,
        amount: decimalText,
        unrealised_pnl: decimalText,
        borrowed: decimalText,
      }),
    }),
    refuses: [],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) =>
        totalView(state, cachedWorth(desk, state, caller.user.user_id), query.currency),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/sub_account_balances',
    summary: 'Spot balances of the sub-accounts',
    access: signedMain('wallet'),
    limit: LIMITS.walletTransfers,
    query: {
      ...SUB_UID,
      ...SHORT_PAGES,
    },
    status: 200,
    reply: array(shape({ uid: str, available: map(decimalText), locking: map(decimalText) })),
    refuses: ['SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const start = (query.page - 1) * query.limit
        return subAccounts(state, caller.user.user_id, query.sub_uid)
          .slice(start, start + query.limit)
          .map(({ user_id }) => ({
            uid: String(user_id),
            available: balances(state.ledger.named(user_id, 'spot')),
            locking: balances(state.ledger.named(user_id, lockedName('spot'))),
          }))
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/sub_account_margin_balances',
    summary: 'Isolated margin balances of the sub-accounts',
    access: signedMain('wallet'),
    limit: LIMITS.walletTransfers,
    query: SUB_UID,
    status: 200,
    reply: array(
      shape({
        uid: str,
        available: array(marginAccountShape),
      }),
    ),
    refuses: ['SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) =>
        subAccounts(state, caller.user.user_id, query.sub_uid).map(({ user_id }) => ({
          uid: String(user_id),
          available: openedPairs(state, user_id).map((pair) => marginAccountView(state, user_id, pair)),
        })),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/sub_account_futures_balances',
    summary: 'Perpetual futures balances of the sub-accounts, by settle currency',
    access: signedMain('wallet'),
    limit: LIMITS.walletTransfers,
    query: { ...SUB_UID, settle: optional(oneName('btc', 'usd', 'usdt')) },
    status: 200,
    reply: array(shape({ uid: str, available: map(accountShape) })),
    refuses: ['SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const settles = state.world
          .settles('futures')
          .filter((settle) => query.settle === null || settle === query.settle)
        return subAccounts(state, caller.user.user_id, query.sub_uid).map(({ user_id }) => ({
          uid: String(user_id),
          available: Object.fromEntries(
            settles
              .filter((settle) => hasAccount(state, user_id, settledOf(PERPETUAL, settle)))
              .map((settle) => [settle, accountView(state, user_id, settledOf(PERPETUAL, settle))]),
          ),
        }))
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/sub_account_cross_margin_balances',
    summary: 'Cross margin balances of the sub-accounts; user_id 0 where there is no such account',
    access: signedMain('wallet'),
    limit: LIMITS.walletTransfers,
    query: SUB_UID,
    status: 200,
    reply: array(shape({ uid: str, available: crossShape })),
    refuses: ['SUB_ACCOUNT_NOT_FOUND'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) =>
        subAccounts(state, caller.user.user_id, query.sub_uid).map((user) => ({
          uid: String(user.user_id),
          available: crossView(state, user),
        })),
      ),
  }),
]
