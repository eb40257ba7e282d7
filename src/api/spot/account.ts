import { LONG_PAGES, historyCurrency, windowFields } from '../history.ts'
import { bookCode, bookKinds } from '../../core/ledger/book-words.ts'
import { lockedName } from '../../core/ledger/accounts.ts'
import { accountsMeant } from '../../core/spot/accounts.ts'
import { SPOT_FILL, type Fill } from '../../core/tables/exchange/trades.ts'
import { refuse } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { id, optional, text } from '../fields.ts'
import { newestLines } from '../ledger-lines.ts'
import { Conditions, newestRows, type Newest } from '../newest.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int64, shape, str } from '../shapes.ts'
import { currencyField, pairField } from '../wallet.ts'
import { accountField } from './order-fields.ts'
import { fillView, myTradeShape, historyPair } from './views.ts'
import { skipped, timeSpan } from './span.ts'

const ACCESS = signed('spot')
const LOCKED = lockedName('spot')
/** An order may meet one of its owner's: then one trade is two of his fills. */
const NEWEST_FILLS: Newest<Fill> = {
  by: ['at', 'trade_id'],
  name: ({ trade_id, role }) => `${trade_id} ${role}`,
}

export const spotAccountEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/spot/accounts',
    summary: 'Lists the spot balances',
    access: ACCESS,
    limit: LIMITS.spot,
    query: { currency: optional(currencyField) },
    status: 200,
    reply: array(shape({ currency: str, available: decimalText, locked: decimalText, update_id: int64 })),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read(({ ledger, world }) => {
        const userId = caller.user.user_id
        const names =
          query.currency === null
            ? [
                ...new Set(
                  (['spot', LOCKED] as const).flatMap((name) =>
                    [...ledger.named(userId, name)].map((row) => row.currency),
                  ),
                ),
              ].sort()
            : [world.currency(query.currency).currency]
        return names.map((currency) => {
          const free = ledger.find(userId, 'spot', currency)
          const locked = ledger.find(userId, LOCKED, currency)
          return {
            currency,
            available: format(ledger.balance(userId, 'spot', currency)),
            locked: format(ledger.balance(userId, LOCKED, currency)),
            update_id: (free?.version ?? 0) + (locked?.version ?? 0),
          }
        })
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/account_book',
    summary: 'Every change of the spot balances, newest first; code wins over type',
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      currency: optional(currencyField),
      ...windowFields,
      ...LONG_PAGES,
      type: optional(text({ max: 64 })),
      code: optional(text({ max: 16 })),
    },
    status: 200,
    reply: array(
      shape({
        id: str,
        time: int64,
        currency: str,
        change: decimalText,
        balance: decimalText,
        type: str,
        code: str,
        text: str,
      }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async (call) => {
      const { desk, caller, query } = call
      const { from, to } = timeSpan(call, query, { usual: 7, most: 30 })
      const kinds =
        query.code !== null ? bookKinds(query.code) : query.type !== null ? [query.type] : undefined
      const accounts = await desk.core.read((state) => {
        const currency = query.currency === null ? null : historyCurrency(state, query.currency)
        return [...state.ledger.named(caller.user.user_id, 'spot')].filter(
          (account) => currency === null || account.currency === currency,
        )
      })
      if (kinds?.length === 0) return []
      const offset = skipped(query.page, query.limit)
      const lines = await newestLines(desk, accounts, { from, to, kinds, limit: query.limit, offset })
      return lines.map((line) => ({
        id: String(line.id),
        time: Math.floor(line.at / 1000),
        currency: line.currency,
        change: format(line.amount),
        balance: format(line.after),
        type: line.kind,
        code: bookCode(line.kind),
        text: line.ref,
      }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/spot/my_trades',
    summary: "Lists the account's own trades, newest first",
    access: ACCESS,
    limit: LIMITS.spot,
    query: {
      currency_pair: optional(pairField),
      ...LONG_PAGES,
      order_id: optional(id()),
      account: optional(accountField),
      ...windowFields,
    },
    status: 200,
    reply: array(myTradeShape),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR'],
    handle: async (call) => {
      const { desk, caller, query } = call
      const { pair, accounts } = await desk.core.read((state) => ({
        pair: query.currency_pair === null ? null : historyPair(state, query.currency_pair),
        accounts: query.account === null ? null : accountsMeant(state, caller.user.user_id, query.account),
      }))
      const conditions = new Conditions<Fill>().is('user_id', caller.user.user_id)
      if (query.order_id !== null) {
        if (pair === null)
          refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency_pair (with order_id)')
        conditions.is('order_id', query.order_id)
      }
      if (query.order_id === null || query.from !== null || query.to !== null) {
        const { from, to } = timeSpan(call, query, { usual: 7, most: 30 })
        conditions.within('at', from, to)
      }
      if (pair !== null) conditions.is('pair', pair)
      if (accounts !== null) conditions.among('account', accounts)
      const part = { limit: query.limit, skip: skipped(query.page, query.limit) }
      const fills = await newestRows(desk, SPOT_FILL, conditions, NEWEST_FILLS, part)
      return fills.map(fillView)
    },
  }),
]
