import { SHORT_PAGES, historyCurrency } from './history.ts'
import { SMALL_BALANCE } from '../core/tables/small-balances.ts'
import { dustOf } from '../core/wallet/small-balance.ts'
import { refuse } from '../labels.ts'
import { format, roundDown } from '../money/amount.ts'
import { endpoint, signed, type AnyEndpoint } from './endpoint.ts'
import { flag, listOf, object, optional, withDefault } from './fields.ts'
import { LIMITS } from './limits.ts'
import { array, decimalText, int64, shape, str } from './shapes.ts'
import { currencyField } from './wallet.ts'

export const smallBalanceEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/wallet/small_balance',
    summary: 'Lists spot balances worth less than 1 USDT, which can be turned into GT',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    status: 200,
    reply: array(
      shape({
        currency: str,
        available_balance: decimalText,
        estimated_as_btc: decimalText,
        convertible_to_gt: decimalText,
      }),
    ),
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) =>
        dustOf(state, caller.user.user_id).map(({ currency, amount, gt, usdt }) => ({
          currency,
          available_balance: format(amount),
          estimated_as_btc: format(roundDown(state.prices.fromUsdt('BTC', usdt), 8)),
          convertible_to_gt: format(gt),
        })),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/wallet/small_balance',
    summary: 'Turns small balances into GT at index prices, rounded down; 100 USDT worth an hour',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    body: object({
      currency: withDefault(listOf(currencyField, 200), []),
      is_all: withDefault(flag(), false),
    }),
    status: 200,
    reply: null,
    refuses: ['INVALID_CURRENCY', 'TRADE_RESTRICTED', 'AMOUNT_TOO_MUCH', 'BALANCE_NOT_ENOUGH'],
    handle: async ({ desk, caller, body }) => {
      if (body.currency.length === 0 && !body.is_all)
        refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: currency (a list) or is_all')
      return desk.core.submit('small_balance.convert', { user_id: caller.user.user_id, ...body })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/small_balance_history',
    summary: 'Lists what was turned into GT, newest first',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: {
      currency: optional(currencyField),
      ...SHORT_PAGES,
    },
    status: 200,
    reply: array(
      shape({ id: str, currency: str, amount: decimalText, gt_amount: decimalText, create_time: int64 }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) => {
      const user_id = caller.user.user_id
      const { currency, last } = await desk.core.read((state) => {
        const currency = query.currency === null ? null : historyCurrency(state, query.currency)
        const counter = currency === null ? `g:${user_id}` : `g:${user_id}:${currency}`
        return { currency, last: state.counters.get(counter)?.value ?? 0 }
      })
      const top = last - (query.page - 1) * query.limit
      const where =
        currency === null
          ? 'where "user_id" = ? and "ordinal" <= ? order by "ordinal" desc limit ?'
          : 'where "user_id" = ? and "currency" = ? and "currency_ordinal" <= ? order by "currency_ordinal" desc limit ?'
      const scope = currency === null ? [user_id] : [user_id, currency]
      const rows = await desk.store.select(SMALL_BALANCE, where, [...scope, top, query.limit])
      return rows.map(({ id, currency, amount, gt_amount, at }) => ({
        id: String(id),
        currency,
        amount: format(amount),
        gt_amount: format(gt_amount),
        create_time: Math.floor(at / 1e6),
      }))
    },
  }),
]
