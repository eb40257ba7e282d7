import { SHORT_PAGES, historyCurrency, windowFields } from '../history.ts'
import { positiveAmount } from '../../core/positive.ts'
import { requireUnified } from '../../core/unified/accounts.ts'
import { UNIFIED, loanAccountsOf } from '../../core/tables/unified/loan-accounts.ts'
import {
  INTEREST_RECORD,
  LOAN_RECORD,
  type InterestRecord,
  type LoanRecord,
} from '../../core/tables/unified/records.ts'
import { totalOwed } from '../../core/unified/loans.ts'
import type { State } from '../../core/state.ts'
import { refuse } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import { endpoint, signed, type AnyEndpoint, type Call, type Desk } from '../endpoint.ts'
import { decimal, flag, object, oneOf, optional, text, untilMicros, withDefault } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { once } from '../missing.ts'
import { array, decimalText, int, int64, shape, str } from '../shapes.ts'
import { currencyField } from '../wallet.ts'

const ACCESS = signed('unified')
const typeField = oneOf('platform', 'margin')
/** Loans of accounts and pairs are margin loans; the platform's own collateral loans are none of them. */
const LOAN_TYPE = 'margin'
const millis = (micros: number): number => Math.floor(micros / 1000)

export const loanShape = shape({
  currency: str,
  currency_pair: str,
  amount: decimalText,
  type: str,
  create_time: int64,
  update_time: int64,
  change_time: int64,
})
export interface Page {
  readonly page: number
  readonly limit: number
}
/** What is owed now; `ours` chooses the books. */
export function loanViews(
  state: State,
  userId: number,
  ours: (scope: string) => boolean,
  currency: string | null,
  { page, limit }: Page,
) {
  return state.margin
    .loansOf(userId)
    .filter((loan) => ours(loan.scope) && (currency === null || loan.currency === currency))
    .slice((page - 1) * limit, page * limit)
    .map((loan) => ({
      currency: loan.currency,
      currency_pair: loanAccountsOf(loan.scope).pair,
      amount: format(totalOwed(state, userId, loanAccountsOf(loan.scope), loan.currency)),
      type: LOAN_TYPE,
      create_time: millis(loan.create_at),
      update_time: millis(loan.update_at),
      change_time: millis(loan.update_at),
    }))
}

export const recordShape = shape({
  id: int64,
  type: str,
  repayment_type: str,
  'borrow_type?': str,
  currency_pair: str,
  currency: str,
  amount: decimalText,
  margin_mode: str,
  create_time: int64,
})
/** Clients know no word for what a liquidation repaid. */
export const repaymentType = ({ repayment_type: type }: LoanRecord): string =>
  type === 'liquidation' ? 'auto_repay' : type
const recordView = (record: LoanRecord) => ({
  id: record.id,
  type: record.type,
  repayment_type: repaymentType(record),
  ...(record.borrow_type !== '' && { borrow_type: record.borrow_type }),
  currency_pair: record.pair,
  currency: record.currency,
  amount: format(record.amount),
  margin_mode: record.kind === 'unified' ? 'cross' : 'isolated',
  create_time: millis(record.at),
})
export interface Filter extends Page {
  readonly kind: 'unified' | 'margin'
  readonly currency: string | null
  readonly pair: string | null
}
/** Conditions and values that both kinds of record share. */
function conditions(userId: number, filter: Filter): { where: string[]; values: (string | number)[] } {
  const where = ['"user_id" = ?', '"kind" = ?']
  const values: (string | number)[] = [userId, filter.kind]
  for (const [column, value] of [
    ['currency', filter.currency],
    ['pair', filter.pair],
  ] as const)
    if (value !== null) {
      where.push(`"${column}" = ?`)
      values.push(value)
    }
  return { where, values }
}
/** Borrowings and repayments, newest first. */
export async function loanRecords(
  desk: Desk,
  userId: number,
  filterOf: (state: State) => Filter & { type: 'borrow' | 'repay' | null },
) {
  const filter = await desk.core.read(filterOf)
  const { where, values } = conditions(userId, filter)
  if (filter.type !== null) {
    where.push('"type" = ?')
    values.push(filter.type)
  }
  const records = await desk.store.select(
    LOAN_RECORD,
    `where ${where.join(' and ')} order by "id" desc limit ? offset ?`,
    [...values, filter.limit, (filter.page - 1) * filter.limit],
  )
  return records.map(recordView)
}

export const interestShape = shape({
  currency: str,
  currency_pair: str,
  actual_rate: decimalText,
  interest: decimalText,
  status: int,
  type: str,
  create_time: int64,
})
const interestView = (record: InterestRecord) => ({
  currency: record.currency,
  currency_pair: record.pair,
  actual_rate: format(record.rate),
  interest: format(record.interest),
  status: 1,
  type: LOAN_TYPE,
  create_time: millis(record.at),
})
/** Interest of full hours, newest first. */
export async function interestRecords(
  { desk, caller, set }: Pick<Call<unknown, unknown, unknown>, 'desk' | 'caller' | 'set'>,
  filterOf: (state: State) => Filter & { from: number | null; to: number | null },
) {
  const filter = await desk.core.read(filterOf)
  const { where, values } = conditions(caller.user.user_id, filter)
  const from = filter.from ?? 0
  const to = filter.to ?? Math.max(desk.clock.seconds(), from)
  if (from > to) refuse('INVALID_PARAM_VALUE', `from: ${from} is after to, ${to}`)
  set('X-Applied-From', Math.floor(from))
  set('X-Applied-To', Math.floor(to))
  where.push('"at" >= ?', '"at" <= ?')
  values.push(Math.round(from * 1e6), untilMicros(to))
  const records = await desk.store.select(
    INTEREST_RECORD,
    `where ${where.join(' and ')} order by "at" desc, "id" desc limit ? offset ?`,
    [...values, filter.limit, (filter.page - 1) * filter.limit],
  )
  return records.map(interestView)
}
/** The record that a text was used for, when it has left memory. */
async function knownLoan(desk: Desk, userId: number, given: string): Promise<number | null> {
  const [record] = await desk.store.select(LOAN_RECORD, 'where "user_id" = ? and "text" = ? limit 1', [
    userId,
    given,
  ])
  return record?.id ?? null
}
/** With repaid_all the amount is not looked at: clients that must send one send "0". */
export const LOAN_AMOUNT = { amount: optional(decimal()), repaid_all: withDefault(flag(), false) }
export function refuseZero(body: { readonly amount: string | null; readonly repaid_all: boolean }): void {
  if (body.amount !== null && !body.repaid_all) positiveAmount(body.amount)
}
export const LOAN_LABELS = [
  'INVALID_CURRENCY',
  'AMOUNT_TOO_LITTLE',
  'AMOUNT_TOO_MUCH',
  'INITIAL_MARGIN_TOO_LOW',
  'TRADE_RESTRICTED',
  'REPAY_TOO_MUCH',
  'LOAN_NOT_FOUND',
  'NEGATIVE_ASSETS',
  'MARGIN_NOT_SUPPORTED',
] as const

const nameOf = (state: State, currency: string | null): string | null =>
  currency === null ? null : historyCurrency(state, currency)

export const unifiedLoanEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'POST',
    path: '/unified/loans',
    summary: 'Borrows, or repays; repaid_all repays everything that is owed of the currency',
    access: ACCESS,
    limit: LIMITS.unifiedLoans,
    body: object({
      currency: currencyField,
      type: oneOf('borrow', 'repay'),
      ...LOAN_AMOUNT,
      text: optional(text({ max: 64 })),
    }),
    once: (body) => body.text !== null,
    status: 200,
    reply: shape({ tran_id: int64 }),
    refuses: ['ACCOUNT_EXCEPTION', 'DUPLICATE_REQUEST', 'BALANCE_NOT_ENOUGH', ...LOAN_LABELS],
    handle: async ({ desk, caller, body }) => {
      const user_id = caller.user.user_id
      const { text } = body
      refuseZero(body)
      const lend = (known_id: number | null, fresh?: (state: State) => void) =>
        desk.core.submit(
          'margin.loan',
          { user_id, scope: UNIFIED.scope, ...body, known_id },
          (state, { id }) => {
            fresh?.(state)
            return { tran_id: id }
          },
        )
      if (text === null) return lend(null)
      const look = () => knownLoan(desk, user_id, text)
      return once(desk, ({ margin }) => margin.records, look, lend)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/unified/loans',
    summary: 'Lists what is owed, interest included',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { currency: optional(currencyField), ...SHORT_PAGES, type: optional(typeField) },
    status: 200,
    reply: array(loanShape),
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        requireUnified(state, caller.user.user_id)
        const currency = nameOf(state, query.currency)
        if (query.type === 'platform') return []
        const ours = (scope: string): boolean => scope === UNIFIED.scope
        return loanViews(state, caller.user.user_id, ours, currency, query)
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/loan_records',
    summary: 'Lists borrowings and repayments, newest first',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: { type: optional(oneOf('borrow', 'repay')), currency: optional(currencyField), ...SHORT_PAGES },
    status: 200,
    reply: array(recordShape),
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      loanRecords(desk, caller.user.user_id, (state) => {
        requireUnified(state, caller.user.user_id)
        return { ...query, kind: 'unified', pair: null, currency: nameOf(state, query.currency) }
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/unified/interest_records',
    summary: 'Lists the interest of each full hour, newest first',
    access: ACCESS,
    limit: LIMITS.otherPrivate,
    query: {
      currency: optional(currencyField),
      ...SHORT_PAGES,
      ...windowFields,
      type: withDefault(typeField, LOAN_TYPE),
    },
    status: 200,
    reply: array(interestShape),
    refuses: ['ACCOUNT_EXCEPTION', 'INVALID_CURRENCY'],
    handle: async (call) => {
      const { caller, query } = call
      const records = await interestRecords(call, (state) => {
        requireUnified(state, caller.user.user_id)
        return { ...query, kind: 'unified', pair: null, currency: nameOf(state, query.currency) }
      })
      return query.type === 'platform' ? [] : records
    },
  }),
]
