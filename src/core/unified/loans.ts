import { refuse } from '../../labels.ts'
import { ZERO, add, decimalsOf, format, min, parseAmount, unitOf, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import type { Market } from '../world/markets.ts'
import { familyOwes, refuseOwing } from '../wallet/family.ts'
import { requireShared } from './accounts.ts'
import { UNIFIED, bookOf, type LoanBook } from './loan-book.ts'
import type { BorrowType, Loan, LoanRecord, RepaymentType } from './records.ts'
import { lendingPortfolio, lendingRoom, refuseOnLocks } from './locks.ts'
import { lendLines, lendingCap, settleLines } from './lending.ts'
import { isRestricted } from './levels.ts'
import { figuresOf, owedOf, portfolioOf } from './portfolio.ts'
import { availableAfterLoan, borrowableOf, transferableOf } from './risk.ts'

/** Everything of one currency that an account owes to one book. */
export function totalOwed(state: State, userId: number, book: LoanBook, currency: string): Amount {
  const { principal, interest } = owedOf(state, userId, book, currency)
  return add(principal, interest)
}
/** The most that an account may borrow; nothing while it is being liquidated. */
export function borrowable(state: State, userId: number, scope: string, currency: string): Amount {
  if (state.margin.isLocked(userId, scope)) return ZERO
  if (scope === UNIFIED.scope && state.margin.modeOf(userId) === 'single_currency') return ZERO
  const unit = unitOf(state.world.currency(currency).precision)
  if (familyOwes(state, userId) !== undefined) return ZERO
  const input = lendingPortfolio(state, userId, scope, [currency])
  const cap = lendingRoom(state, userId, currency, lendingCap(state, userId, currency))
  return borrowableOf(input, currency, cap, unit)
}
/** The most that may leave. */
export function transferable(state: State, userId: number, scope: string, currency: string): Amount {
  if (state.margin.isLocked(userId, scope)) return ZERO
  const unit = unitOf(state.world.currency(currency).precision)
  return transferableOf(portfolioOf(state, userId, scope, [currency], 'firm'), currency, unit)
}

export interface NewLoan {
  readonly user_id: number
  /** Whose account it is into: the unified one's scope, or a market. */
  readonly scope?: string
  /** The isolated account of this market, in a client's own spelling: never a scope. */
  readonly currency_pair?: string
  readonly currency: string
  readonly type: 'borrow' | 'repay'
  /** Null: with repaid_all. */
  readonly amount: string | null
  readonly repaid_all: boolean
  readonly text: string | null
  /** A record with this text that has left memory: the endpoint looked it up. */
  readonly known_id: number | null
}
export function loan(ctx: Ctx, input: NewLoan): LoanRecord {
  const { state } = ctx
  const book = readBook(state, input)
  const { currency, precision } = state.world.currency(input.currency)
  if (book.pair !== '') requireSide(state, book.pair, currency)
  if (input.repaid_all && input.type === 'borrow')
    refuse('INVALID_PARAM_VALUE', 'repaid_all: true is for repayments; leave it out when borrowing')
  const amount = input.repaid_all ? null : readLoanAmount(input.amount, currency, precision)
  refuseKnown(state, input)
  return input.type === 'borrow'
    ? borrow(ctx, input.user_id, book, currency, amount!, input.text)
    : repayAsked(ctx, input.user_id, book, currency, amount, input.text)
}
function readBook(state: State, input: NewLoan): LoanBook {
  if (input.currency_pair === undefined && input.scope === UNIFIED.scope) {
    requireShared(state, input.user_id)
    return UNIFIED
  }
  return bookOf(state.world.market(input.currency_pair ?? input.scope ?? '').id)
}
export function requireSide(state: State, pair: string, currency: string): void {
  const market = state.world.market(pair)
  if (currency !== market.base && currency !== market.quote)
    refuse(
      'INVALID_PARAM_VALUE',
      `currency: a ${pair} margin account holds ${market.base} and ${market.quote}, not ${currency}`,
    )
}
function readLoanAmount(text: string | null, currency: string, precision: number): Amount {
  if (text === null)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: amount (or repaid_all true)')
  const amount = parseAmount(text)
  if (amount === undefined || amount === 0n)
    refuse('INVALID_PARAM_VALUE', `amount: "${text}" is not a positive decimal such as "1.5"`)
  if (decimalsOf(amount) > precision)
    refuse('INVALID_PARAM_VALUE', `amount: "${text}" has more than the ${precision} decimals of ${currency}`)
  return amount
}
function refuseKnown(state: State, { user_id, text, known_id }: NewLoan): void {
  if (text === null) return
  const known = known_id ?? state.margin.byText.get(`${user_id}/${text}`)?.id
  if (known !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      `text: "${text}" was used before, for loan record ${known}; nothing was moved now`,
    )
}

function borrow(
  ctx: Ctx,
  userId: number,
  book: LoanBook,
  currency: string,
  amount: Amount,
  text: string | null,
): LoanRecord {
  const { state } = ctx
  const terms = state.world.loanTerms(currency)
  if (terms === undefined || terms.config.loan_status !== 'enable')
    refuse('INVALID_CURRENCY', `currency: ${currency} is not lent; GET /unified/currencies tells what is`)
  if (book.pair !== '') refuseDelisting(state.world.market(book.pair))
  const least = minimumOf(state, book, currency)
  if (amount < least)
    refuse(
      'AMOUNT_TOO_LITTLE',
      `amount: ${format(amount)} ${currency} is below the minimum loan of ${format(least)}`,
    )
  state.prices.requireFirm(currency, 'it is not lent')
  const cap = lendingCap(state, userId, currency)
  if (amount > cap)
    refuse(
      'AMOUNT_TOO_MUCH',
      `amount: ${format(amount)} ${currency} is above what may still be lent: ${format(cap)}`,
    )
  refuseRestricted(state, userId, book.scope)
  refuseOwing(state, userId)
  refuseOnLocks(state, userId, currency, amount)
  const input = lendingPortfolio(state, userId, book.scope, [currency])
  if (input.unpriced !== undefined)
    state.prices.requireFirm(input.unpriced, 'nothing is lent to this account')
  const after = availableAfterLoan(input, currency, amount)
  if (after < 0n)
    refuse(
      'INITIAL_MARGIN_TOO_LOW',
      `amount: a loan of ${format(amount)} ${currency} would leave the margin ${format(-after as Amount)} short; at most ${format(borrowable(state, userId, book.scope, currency))} can be borrowed`,
    )
  return lend(ctx, userId, book, currency, amount, 'manual_borrow', text)
}
/** Nothing new begins in a market that is being delisted. */
export function refuseDelisting({ id, config }: Market): void {
  if (config.status === 'delisting')
    refuse(
      'TRADE_RESTRICTED',
      `currency_pair: ${id} is being delisted; what is there can be repaid and taken out`,
    )
}
/** Nothing is lent to an account that is below 100 % of its initial margin already. */
export function refuseRestricted(state: State, userId: number, scope: string): void {
  if (state.margin.isLocked(userId, scope))
    refuse('TRADE_RESTRICTED', 'this account is being liquidated; nothing is lent to it')
  if (!state.margin.owes(userId, scope)) return
  const figures = figuresOf(state, userId, scope, 'firm')
  if (isRestricted(figures))
    refuse(
      'TRADE_RESTRICTED',
      `this account's margin is ${format(-figures.available as Amount)} short of what its debts need; nothing is lent to it until it has repaid or added money`,
    )
}
export function minimumOf(state: State, book: LoanBook, currency: string): Amount {
  const market = book.pair === '' ? undefined : state.world.isolatedMarket(book.pair)
  if (book.pair === '') return state.world.loanTerms(currency)!.minBorrow
  if (market === undefined)
    refuse(
      'MARGIN_NOT_SUPPORTED',
      `currency_pair: ${book.pair} has no margin trading; GET /margin/uni/currency_pairs lists the pairs`,
    )
  const base = state.world.market(book.pair).base === currency
  return parseAmount(base ? market.base_min_borrow_amount : market.quote_min_borrow_amount)!
}

/** pool → user, checked by the caller. */
export function lend(
  ctx: Ctx,
  userId: number,
  book: LoanBook,
  currency: string,
  amount: Amount,
  borrow_type: BorrowType,
  text: string | null,
): LoanRecord {
  const { state, tx, at } = ctx
  const record = keepRecord(ctx, userId, book, {
    currency,
    type: 'borrow',
    repayment_type: 'none',
    borrow_type,
    amount,
    interest: ZERO,
    text,
  })
  const lines = lendLines(userId, book, currency, amount)
  state.ledger.post(ctx, { kind: 'borrow', ref: `loan:${record.id}`, lines })
  const known = state.margin.loans.get(`${userId}/${book.scope}/${currency}`)
  tx.put(state.margin.loans, {
    user_id: userId,
    scope: book.scope,
    currency,
    create_at: known?.create_at ?? at,
    update_at: at,
  })
  return record
}

function repayAsked(
  ctx: Ctx,
  userId: number,
  book: LoanBook,
  currency: string,
  amount: Amount | null,
  text: string | null,
): LoanRecord {
  const { state } = ctx
  const owed = totalOwed(state, userId, book, currency)
  if (owed === 0n)
    refuse(
      'LOAN_NOT_FOUND',
      `currency: this account owes no ${currency}; GET ${book.pair === '' ? '/unified/loans' : '/margin/uni/loans'} lists what it owes`,
    )
  if (amount !== null && amount > owed)
    refuse(
      'REPAY_TOO_MUCH',
      `amount: ${format(amount)} ${currency} is more than the ${format(owed)} owed; repaid_all true repays everything`,
    )
  return repay(ctx, userId, book, currency, amount ?? owed, 'manual_repay', text)
}
/** The user's free money → the pool; interest first. */
export function repay(
  ctx: Ctx,
  userId: number,
  book: LoanBook,
  currency: string,
  amount: Amount,
  repayment_type: RepaymentType,
  text: string | null = null,
): LoanRecord {
  const { state } = ctx
  const interest = min(amount, owedOf(state, userId, book, currency).interest)
  const payer = { owner: userId, name: book.free }
  const principal = (amount - interest) as Amount
  const record = keepRecord(ctx, userId, book, {
    currency,
    type: 'repay',
    repayment_type,
    borrow_type: '',
    amount,
    interest,
    text,
  })
  const lines = settleLines(state, payer, userId, book, currency, principal, interest)
  state.ledger.post(ctx, { kind: 'repay', ref: `loan:${record.id}`, lines })
  closeIfPaid(ctx, userId, book, currency)
  return record
}
/** The loan's row follows the ledger: gone when nothing is owed. */
export function closeIfPaid(ctx: Ctx, userId: number, book: LoanBook, currency: string): void {
  const { state, tx } = ctx
  const key = `${userId}/${book.scope}/${currency}`
  const row: Loan | undefined = state.margin.loans.get(key)
  if (row === undefined) return
  if (totalOwed(state, userId, book, currency) === 0n) tx.remove(state.margin.loans, key)
  else tx.put(state.margin.loans, { ...row, update_at: ctx.at })
}
function keepRecord(
  ctx: Ctx,
  userId: number,
  book: LoanBook,
  what: Omit<LoanRecord, 'id' | 'user_id' | 'kind' | 'pair' | 'at'>,
): LoanRecord {
  const { state, tx, at } = ctx
  const record: LoanRecord = {
    id: nextId(tx, state.counters, 'loan_record'),
    user_id: userId,
    kind: book.pair === '' ? 'unified' : 'margin',
    pair: book.pair,
    ...what,
    at,
  }
  tx.put(state.margin.records, record)
  return record
}
