import { MODES, requireShared, requireUnified } from '../../core/unified/accounts.ts'
import { UNIFIED } from '../../core/unified/loan-book.ts'
import { borrowable, transferable } from '../../core/unified/loans.ts'
import { lentCurrency } from '../../core/unified/modes.ts'
import { debtsOf, payableOf } from '../../core/unified/quick-repay.ts'
import { owedOf } from '../../core/unified/portfolio.ts'
import { mainIdOf, subAccountNamed } from '../../core/users/users.ts'
import { format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Call } from '../endpoint.ts'
import {
  flag,
  id,
  listOf,
  object,
  oneOf,
  oneOfNumbers,
  optional,
  text,
  withDefault,
  type Field,
} from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, bool, decimalText, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'
import { leverageView } from './leverage.ts'
import { accountShape, accountView, down, modeShape, modeView } from './views.ts'

const ACCESS = signed('unified')
const amountShape = shape({ currency: str, amount: decimalText })
const settingsField = object({
  usdt_futures: optional(flag()),
  spot_hedge: optional(flag()),
  use_funding: optional(flag()),
  options: optional(flag()),
})
const NO_SETTINGS = { usdt_futures: null, spot_hedge: null, use_funding: null, options: null } as const
const modeBody = object({ mode: oneOf(...MODES), settings: optional(settingsField) })
type ModeBody = typeof modeBody extends Field<infer B> ? B : never
async function changeMode({ desk, caller, body }: Call<unknown, unknown, ModeBody>): Promise<void> {
  const { mode, settings } = body
  const user_id = caller.user.user_id
  await desk.core.submit('margin.mode', { user_id, mode, settings: settings ?? NO_SETTINGS })
}
const MODE_LABELS = ['MODE_SET', 'USER_LIAB', 'USER_PENDING_ORDERS'] as const

/** GET endpoints that tell one figure for a currency, or for several. */
const figures = [
  { one: 'borrowable', many: 'batch_borrowable', max: 10, figure: borrowable, what: 'can be borrowed' },
  {
    one: 'transferable',
    many: 'transferables',
    max: 100,
    figure: transferable,
    what: 'can leave the account',
  },
] as const

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
  ...figures.flatMap(({ one, many, max, figure, what }) => [
    endpoint({
      method: 'GET',
      path: `/unified/${one}`,
      summary: `Tells the most of a currency that ${what}`,
      access: ACCESS,
      limit: LIMITS.otherPrivate,
      query: { currency: currencyField },
      status: 200,
      reply: amountShape,
      refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
      handle: async ({ desk, caller, query }) =>
        desk.core.read((state) => {
          requireUnified(state, caller.user.user_id)
          const { currency } = state.world.currency(query.currency)
          return { currency, amount: format(figure(state, caller.user.user_id, UNIFIED.scope, currency)) }
        }),
    }),
    endpoint({
      method: 'GET',
      path: `/unified/${many}`,
      summary: `Tells the same for up to ${max} currencies`,
      access: ACCESS,
      limit: LIMITS.otherPrivate,
      query: { currencies: listOf(currencyField, max) },
      status: 200,
      reply: array(amountShape),
      refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
      handle: async ({ desk, caller, query }) =>
        desk.core.read((state) => {
          requireUnified(state, caller.user.user_id)
          return query.currencies.map((name) => {
            const { currency } = state.world.currency(name)
            return { currency, amount: format(figure(state, caller.user.user_id, UNIFIED.scope, currency)) }
          })
        }),
    }),
  ]),
  endpoint({
    method: 'GET',
    path: '/unified/unified_mode',
    summary: "Shows the account's mode and its settings",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: modeShape,
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => modeView(state.margin.of(caller.user.user_id))),
  }),
  endpoint({
    method: 'PUT',
    path: '/unified/unified_mode',
    summary: "Switches the account's mode, or settings within it",
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: modeBody,
    status: 204,
    reply: null,
    refuses: MODE_LABELS,
    handle: changeMode,
  }),
  endpoint({
    method: 'GET',
    path: '/unified/account_mode',
    summary: 'Shows the mode as older clients know it',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: modeShape,
    refuses: [],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => modeView(state.margin.of(caller.user.user_id))),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/account_mode',
    summary: 'Switches the mode as older clients do',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: modeBody,
    status: 200,
    reply: modeShape,
    refuses: MODE_LABELS,
    handle: async (call) => {
      await changeMode(call)
      return modeView(call.desk.core.state.margin.of(call.caller.user.user_id))
    },
  }),
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
  endpoint({
    method: 'GET',
    path: '/unified/estimated_quick_repayment',
    summary: 'Shows what is owed and what it could be repaid with',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({
      debt_currencies: array(
        shape({
          currency: str,
          debt_amount: decimalText,
          estimated_usd: decimalText,
          borrowed: decimalText,
          neg_balance: decimalText,
        }),
      ),
      available_currencies: array(
        shape({ currency: str, available: decimalText, estimated_usd: decimalText }),
      ),
    }),
    refuses: ['ACCOUNT_EXCEPTION', 'MARGIN_NOT_SUPPORTED'],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => {
        const userId = caller.user.user_id
        requireShared(state, userId)
        return {
          debt_currencies: debtsOf(state, userId).map(({ currency, owed, usd }) => ({
            currency,
            debt_amount: format(owed),
            estimated_usd: down(usd),
            borrowed: format(owedOf(state, userId, UNIFIED, currency).principal),
            neg_balance: '0',
          })),
          available_currencies: payableOf(state, userId).map(({ currency, available, usd }) => ({
            currency,
            available: format(available),
            estimated_usd: down(usd),
          })),
        }
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/quick_repayment',
    summary: 'Repays named debts with named currencies at index prices',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({
      debt_currencies: listOf(currencyField, 100),
      available_currencies: listOf(currencyField, 100),
    }),
    status: 200,
    reply: shape({
      order_id: str,
      repaid_infos: array(shape({ currency: str, repaid: decimalText, left: decimalText })),
      used_infos: array(shape({ currency: str, used: decimalText })),
    }),
    refuses: [
      'ACCOUNT_EXCEPTION',
      'MARGIN_NOT_SUPPORTED',
      'INVALID_CURRENCY',
      'LOAN_NOT_FOUND',
      'BALANCE_NOT_ENOUGH',
      'TRADE_RESTRICTED',
    ],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('margin.quick_repay', { user_id: caller.user.user_id, ...body }),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/delta_neutral',
    summary: 'Tells whether delta-neutral trading is on',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: shape({ enabled: bool }),
    refuses: ['ACCOUNT_EXCEPTION'],
    handle: async ({ desk, caller }) =>
      desk.core.read((state) => ({ enabled: requireUnified(state, caller.user.user_id).delta_neutral })),
  }),
  endpoint({
    method: 'POST',
    path: '/unified/delta_neutral',
    summary: 'Switches delta-neutral trading; needs VIP 4 and multi_currency mode',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    body: object({ enabled: flag() }),
    status: 200,
    reply: shape({ enabled: bool }),
    refuses: ['ACCOUNT_EXCEPTION', 'FORBIDDEN'],
    handle: async ({ desk, caller, body }) => {
      const { state } = desk.core
      requireUnified(state, caller.user.user_id)
      const { vip } = state.users.must(mainIdOf(caller.user))
      await desk.core.submit('margin.delta_neutral', { user_id: caller.user.user_id, vip, ...body })
      return { enabled: body.enabled }
    },
  }),
]
