import { requireShared } from '../../core/unified/accounts.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import { owedOf } from '../../core/unified/portfolio.ts'
import { debtsOf, payableOf } from '../../core/unified/quick-repay.ts'
import { format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { listOf, object } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'
import { down } from './views.ts'

const ACCESS = signed('unified')

export const quickRepaymentEndpoints: readonly AnyEndpoint[] = [
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
    summary:
      'Repays named debts with named currencies at index prices and a spread, up to a quota by the hour',
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
      'INITIAL_MARGIN_TOO_LOW',
      'TRADE_RESTRICTED',
      'AMOUNT_TOO_MUCH',
    ],
    handle: async ({ desk, caller, body }) =>
      desk.core.submit('margin.quick_repay', { user_id: caller.user.user_id, ...body }),
  }),
]
