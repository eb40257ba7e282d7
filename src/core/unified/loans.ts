import { positiveAmount } from '../positive.ts'
import { refuse } from '../../labels.ts'
import {
  ZERO,
  add,
  amountOf,
  decimalsOf,
  format,
  max,
  min,
  parseAmount,
  subtract,
  unitOf,
  type Amount,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { refuseShortage } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import type { Market } from '../tables/world/markets.ts'
import { familyOwes, refuseOwing } from '../family.ts'
import { UNIFIED_CONTRACTS } from '../contract-margin/cash.ts'
import { requireShared } from './accounts.ts'
import { ContractAccountRow } from '../tables/futures/accounts.ts'
import { UNIFIED, loanAccountsOf, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import type { BorrowType, Loan, LoanRecord, RepaymentType } from '../tables/unified/records.ts'
import type { IsolatedMarket } from '../tables/world/unified.ts'
import { lendingPortfolio, lendingRoom, refuseOnLocks } from './locks.ts'
import { lendLines, lendingCap, settleLines } from './lending.ts'
import { isRestricted } from '../risk/levels.ts'
import { CASH, freeToRepay, isEngaged } from './contracts.ts'
import { figuresOf, owedOf, portfolioOf } from './portfolio.ts'
import { availableAfterLoan, borrowableOf, transferableOf } from '../risk/risk.ts'

/** Everything of one currency that an account owes in one scope. */
export function totalOwed(state: State, userId: number, accounts: LoanAccounts, currency: string): Amount {
  const { principal, interest } = owedOf(state, userId, accounts, currency)
  return add(principal, interest)
}
/** The most that an account may borrow; nothing while it is being liquidated. */
export function borrowable(state: State, userId: number, scope: string, currency: string): Amount {
  if (state.margin.isLocked(userId, scope)) return ZERO
  if (scope === UNIFIED.scope && state.margin.modeOf(userId) === 'single_currency') return ZERO
  const unit = unitOf(state.world.currency(currency).precision)
  if (familyOwes(state, userId) !== undefined) return ZERO
  const input = lendingPortfolio(state, userId, scope, [currency])
  const most = capOf(state, userId, loanAccountsOf(scope), currency)
  const cap = lendingRoom(state, userId, currency, most)
  return borrowableOf(input, currency, cap, unit)
}
/** What may still be lent to an account; of a pair's quote currency besides no more than the pair's own maximum. */
function capOf(state: State, userId: number, accounts: LoanAccounts, currency: string): Amount {
  const cap = lendingCap(state, userId, currency)
  const { pair } = accounts
  const most = pair === '' ? undefined : state.world.isolatedMarket(pair)?.max_quote_amount
  if (most === undefined || currency !== state.world.market(pair).quote) return cap
  return max(ZERO, min(cap, subtract(amountOf(most), owedOf(state, userId, accounts, currency).principal)))
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
  const accounts = readScope(state, input)
  const { currency, precision } = state.world.currency(input.currency)
  if (accounts.pair !== '') requireOfPair(state, accounts.pair, currency)
  if (input.repaid_all && input.type === 'borrow')
    refuse('INVALID_PARAM_VALUE', 'repaid_all: true is for repayments; leave it out when borrowing')
  const amount = input.repaid_all ? null : readLoanAmount(input.amount, currency, precision)
  refuseKnown(state, input)
  return input.type === 'borrow'
    ? borrow(ctx, input.user_id, accounts, currency, amount!, input.text)
    : repayAsked(ctx, input.user_id, accounts, currency, amount, input.text)
}
function readScope(state: State, input: NewLoan): LoanAccounts {
  if (input.currency_pair === undefined && input.scope === UNIFIED.scope) {
    requireShared(state, input.user_id)
    return UNIFIED
  }
  return loanAccountsOf(state.world.market(input.currency_pair ?? input.scope ?? '').id)
}
export function requireOfPair(state: State, pair: string, currency: string): void {
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
  const amount = positiveAmount(text)
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
  accounts: LoanAccounts,
  currency: string,
  amount: Amount,
  text: string | null,
): LoanRecord {
  const { state } = ctx
  const terms = state.world.loanTerms(currency)
  if (terms === undefined || terms.config.loan_status !== 'enable')
    refuse('INVALID_CURRENCY', `currency: ${currency} is not lent; GET /unified/currencies tells what is`)
  if (accounts.pair !== '') refuseDelisting(state.world.market(accounts.pair))
  const least = minimumOf(state, accounts, currency)
  if (amount < least)
    refuse(
      'AMOUNT_TOO_LITTLE',
      `amount: ${format(amount)} ${currency} is below the minimum loan of ${format(least)}`,
    )
  state.prices.requireFirm(currency, 'it is not lent')
  const cap = capOf(state, userId, accounts, currency)
  if (amount > cap)
    refuse(
      'AMOUNT_TOO_MUCH',
      `amount: ${format(amount)} ${currency} is above what may still be lent: ${format(cap)}`,
    )
  refuseRestricted(state, userId, accounts.scope)
  refuseOwing(state, userId)
  refuseOnLocks(state, userId, currency, amount)
  const input = lendingPortfolio(state, userId, accounts.scope, [currency])
  if (input.unpriced !== undefined)
    state.prices.requireFirm(input.unpriced, 'nothing is lent to this account')
  const after = availableAfterLoan(input, currency, amount)
  if (after < 0n)
    refuse(
      'INITIAL_MARGIN_TOO_LOW',
      `amount: a loan of ${format(amount)} ${currency} would leave the margin ${format(-after as Amount)} short; at most ${format(borrowable(state, userId, accounts.scope, currency))} can be borrowed`,
    )
  return lend(ctx, userId, accounts, currency, amount, 'manual_borrow', text)
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
  if (!isEngaged(state, userId, scope)) return
  const figures = figuresOf(state, userId, scope, 'firm')
  if (isRestricted(figures))
    refuse(
      'TRADE_RESTRICTED',
      `this account's margin is ${format(-figures.available as Amount)} short of what its debts need; nothing is lent to it until it has repaid or added money`,
    )
}
export function minimumOf(state: State, accounts: LoanAccounts, currency: string): Amount {
  if (accounts.pair === '') return state.world.loanTerms(currency)!.minBorrow
  const market = requireIsolated(state, accounts.pair)
  const base = state.world.market(accounts.pair).base === currency
  return parseAmount(base ? market.base_min_borrow_amount : market.quote_min_borrow_amount)!
}
/** Only what the configuration lists is lent to by itself: money can be in the margin account of any market. */
export function requireIsolated(state: State, pair: string): IsolatedMarket {
  return (
    state.world.isolatedMarket(pair) ??
    refuse(
      'MARGIN_NOT_SUPPORTED',
      `currency_pair: ${pair} has no margin trading; GET /margin/uni/currency_pairs lists the pairs`,
    )
  )
}

/** pool → user, checked by the caller. */
export function lend(
  ctx: Ctx,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  amount: Amount,
  borrow_type: BorrowType,
  text: string | null,
): LoanRecord {
  const { state, tx, at } = ctx
  const record = keepRecord(ctx, userId, accounts, {
    currency,
    type: 'borrow',
    repayment_type: 'none',
    borrow_type,
    amount,
    interest: ZERO,
    text,
  })
  const lines = lendLines(userId, accounts, currency, amount)
  state.ledger.post(ctx, { kind: 'borrow', ref: `loan:${record.id}`, lines })
  const known = state.margin.loans.get(`${userId}/${accounts.scope}/${currency}`)
  tx.put(state.margin.loans, {
    user_id: userId,
    scope: accounts.scope,
    currency,
    create_at: known?.create_at ?? at,
    update_at: at,
  })
  return record
}

function repayAsked(
  ctx: Ctx,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  amount: Amount | null,
  text: string | null,
): LoanRecord {
  const { state } = ctx
  const owed = totalOwed(state, userId, accounts, currency)
  if (owed === 0n)
    refuse(
      'LOAN_NOT_FOUND',
      `currency: this account owes no ${currency}; GET ${accounts.pair === '' ? '/unified/loans' : '/margin/uni/loans'} lists what it owes`,
    )
  if (amount !== null && amount > owed)
    refuse(
      'REPAY_TOO_MUCH',
      `amount: ${format(amount)} ${currency} is more than the ${format(owed)} owed; repaid_all true repays everything`,
    )
  const asked = amount ?? owed
  const free = freeToRepay(state, userId, accounts, currency)
  const there = state.ledger.balance(userId, accounts.free, currency)
  if (asked > there) refuseShortage(accounts.free, currency, there, asked)
  if (asked > free)
    refuse(
      'BALANCE_NOT_ENOUGH',
      `amount: ${format(asked)} ${currency} is more than what is not set apart for isolated positions in contracts; at most ${format(free)} can repay`,
    )
  return repay(ctx, userId, accounts, currency, asked, 'manual_repay', text)
}
/** The user's free money → the pool; interest first. */
export function repay(
  ctx: Ctx,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  amount: Amount,
  repayment_type: RepaymentType,
  text: string | null = null,
): LoanRecord {
  const { state } = ctx
  const interest = min(amount, owedOf(state, userId, accounts, currency).interest)
  const payer = { owner: userId, name: accounts.free }
  const principal = (amount - interest) as Amount
  const record = keepRecord(ctx, userId, accounts, {
    currency,
    type: 'repay',
    repayment_type,
    borrow_type: '',
    amount,
    interest,
    text,
  })
  const lines = settleLines(state, payer, userId, accounts, currency, principal, interest)
  state.ledger.post(ctx, { kind: 'repay', ref: `loan:${record.id}`, lines })
  closeIfPaid(ctx, userId, accounts, currency)
  return record
}
/** The loan's row follows the ledger: gone when nothing is owed. */
export function closeIfPaid(ctx: Ctx, userId: number, accounts: LoanAccounts, currency: string): void {
  const { state, tx } = ctx
  const key = `${userId}/${accounts.scope}/${currency}`
  const row: Loan | undefined = state.margin.loans.get(key)
  if (row === undefined) return
  if (accounts.pair === '' && currency === CASH) forgetBorrowed(ctx, userId)
  if (totalOwed(state, userId, accounts, currency) === 0n) tx.remove(state.margin.loans, key)
  else tx.put(state.margin.loans, { ...row, update_at: ctx.at })
}
/** No more of a loan is what contracts have lost than there is of it. */
function forgetBorrowed(ctx: Ctx, userId: number): void {
  const { state, tx } = ctx
  const account = state.futures.accounts.get(userId, UNIFIED_CONTRACTS.account)
  if (account === undefined || account.borrowed === 0n) return
  const { principal } = owedOf(state, userId, UNIFIED, CASH)
  if (account.borrowed <= principal) return
  const row = new ContractAccountRow(account)
  row.borrowed = principal
  tx.put(state.futures.accounts.table, row)
}
function keepRecord(
  ctx: Ctx,
  userId: number,
  accounts: LoanAccounts,
  what: Omit<LoanRecord, 'id' | 'user_id' | 'kind' | 'pair' | 'at'>,
): LoanRecord {
  const { state, tx, at } = ctx
  const record: LoanRecord = {
    id: nextId(tx, state.counters, 'loan_record'),
    user_id: userId,
    kind: accounts.pair === '' ? 'unified' : 'margin',
    pair: accounts.pair,
    ...what,
    at,
  }
  tx.put(state.margin.records, record)
  return record
}
