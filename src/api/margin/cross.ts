import { SHORT_PAGES, historyCurrency, windowFields } from '../history.ts'
import { endpoint, signed, type AnyEndpoint } from '../endpoint.ts'
import { UNIFIED } from '../../core/tables/unified/loan-accounts.ts'
import { LOAN_RECORD } from '../../core/tables/unified/records.ts'
import { refuse } from '../../labels.ts'
import { format, negate, subtract } from '../../money/amount.ts'
import { crossShape, crossView } from '../cross-margin.ts'
import {
  flag,
  integer,
  object,
  oneOfNumbers,
  optional,
  positiveDecimal,
  text,
  withDefault,
} from '../fields.ts'
import { Filter, listedPage, storedPage } from '../futures/lists.ts'
import { LIMITS } from '../limits.ts'
import { array, decimalText, int, int64, shape, str } from '../shapes.ts'
import { interestRecords, interestShape, repaymentType } from '../unified/loans.ts'
import { currencyField } from '../wallet.ts'

/**
 * Cross margin, the unified account's predecessor. Accounts in a unified mode see their unified account here,
 * so that older clients find their balances and debts; nobody opens a cross margin account any more.
 */
const ACCESS = signed('spot')
const offsetFields = {
  limit: withDefault(integer(1, 100), 100),
  offset: withDefault(integer(0, 1_000_000), 0),
  reverse: withDefault(flag(), true),
}
const crossLoanShape = shape({
  id: str,
  create_time: int64,
  update_time: int64,
  currency: str,
  amount: decimalText,
  text: str,
  status: int,
  repaid: decimalText,
  repaid_interest: decimalText,
  unpaid_interest: decimalText,
})
const millis = (micros: number): number => Math.floor(micros / 1000)

export const crossMarginEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/margin/cross/accounts',
    summary: 'Shows the unified account as older clients read it; deprecated',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    status: 200,
    reply: crossShape,
    refuses: [],
    handle: async ({ desk, caller }) => desk.core.read((state) => crossView(state, caller.user)),
  }),
  ...(['/margin/cross/loans', '/margin/cross/repayments'] as const).map((path) =>
    endpoint({
      method: 'POST',
      path,
      summary: 'Retired: POST /unified/loans borrows and repays',
      access: ACCESS,
      limit: LIMITS.otherPrivate,
      body: object({ currency: currencyField, amount: positiveDecimal() }),
      status: 200,
      reply: crossLoanShape,
      refuses: ['REQUEST_FORBIDDEN'],
      handle: () =>
        refuse(
          'REQUEST_FORBIDDEN',
          'cross margin is retired; PUT /unified/unified_mode, then POST /unified/loans does the same',
        ),
    }),
  ),
  endpoint({
    method: 'GET',
    path: '/margin/cross/loans',
    summary: 'Lists loans of the unified account as older clients read them; deprecated',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { status: oneOfNumbers(1, 2, 3), currency: optional(currencyField), ...offsetFields },
    status: 200,
    reply: array(crossLoanShape),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query, set }) => {
      return desk.core.read((state) => {
        const currency = query.currency === null ? null : historyCurrency(state, query.currency)
        // Only what is owed now is known as a loan: 2 is borrowed, 1 failed and 3 repaid ones are records.
        if (query.status !== 2) return listedPage(set, [], query)
        const userId = caller.user.user_id
        const loans = state.margin
          .loansOf(userId)
          .filter((loan) => loan.scope === UNIFIED.scope && (currency === null || loan.currency === currency))
        if (query.reverse) loans.reverse()
        return listedPage(set, loans, query).map((loan) => ({
          id: `${userId}-${loan.currency}`,
          create_time: millis(loan.create_at),
          update_time: millis(loan.update_at),
          currency: loan.currency,
          amount: format(negate(state.ledger.balance(userId, UNIFIED.debt, loan.currency))),
          text: '',
          status: 2,
          repaid: '0',
          repaid_interest: '0',
          unpaid_interest: format(negate(state.ledger.balance(userId, UNIFIED.interest, loan.currency))),
        }))
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/cross/repayments',
    summary: 'Lists repayments of the unified account as older clients read them; deprecated',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: optional(currencyField), loan_id: optional(text({ max: 64 })), ...offsetFields },
    status: 200,
    reply: array(
      shape({
        id: str,
        create_time: int64,
        loan_id: str,
        currency: str,
        principal: decimalText,
        interest: decimalText,
        repayment_type: str,
      }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query, set }) => {
      const userId = caller.user.user_id
      // A loan's id is its borrower's and its currency's: see GET /margin/cross/loans.
      const [borrower, of = null] = query.loan_id?.split('-') ?? [String(userId)]
      const currency = await desk.core.read((state) =>
        query.currency === null ? of : historyCurrency(state, query.currency),
      )
      if (borrower !== String(userId) || (of !== null && of !== currency)) return listedPage(set, [], query)
      const filter = new Filter()
        .and(`"user_id" = ? and "kind" = 'unified' and "type" = 'repay'`, userId)
        .and('"currency" = ?', currency)
      const order = query.reverse ? '"id" desc' : '"id" asc'
      const records = await storedPage(desk, set, LOAN_RECORD, filter, order, query)
      return records.map((record) => ({
        id: String(record.id),
        create_time: millis(record.at),
        loan_id: `${userId}-${record.currency}`,
        currency: record.currency,
        principal: format(subtract(record.amount, record.interest)),
        interest: format(record.interest),
        repayment_type: repaymentType(record),
      }))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/margin/cross/interest_records',
    summary: 'Lists interest of the unified account as older clients read it; deprecated',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: {
      currency: optional(currencyField),
      ...SHORT_PAGES,
      ...windowFields,
    },
    status: 200,
    reply: array(interestShape),
    refuses: ['INVALID_CURRENCY'],
    handle: async (call) => {
      const { query } = call
      return interestRecords(call, (state) => ({
        ...query,
        kind: 'unified',
        pair: null,
        currency: query.currency === null ? null : historyCurrency(state, query.currency),
      }))
    },
  }),
]
