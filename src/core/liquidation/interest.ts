import { HOUR } from '../time.ts'
import { ZERO, rateOf, roundUp, timesUp, type Amount, type Rate } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import type { Ctx, State } from '../state.ts'
import { mainIdOf } from '../tables/users.ts'
import { loanAccountsOf } from '../tables/unified/loan-accounts.ts'
import { INTEREST_RECORD, type Loan } from '../tables/unified/records.ts'
import { accrueLines, planHour, recordRates, tierRate } from '../unified/lending.ts'
import { totalOwed } from '../unified/loans.ts'
import { checkAccount } from './liquidation.ts'

/** Loans that one command charges; the rest of the hour follows in commands of its own. */
const CHUNK = 250

/** Due at each full hour UTC: fixes the hour's rates, and plans the charges and the next hour. */
export function startHour(ctx: Ctx, input: { due_at: number }): null {
  const rates = recordRates(ctx, input.due_at)
  planHour(ctx, input.due_at + HOUR)
  charge(ctx, input.due_at, rates, '')
  return null
}
/** Due: the next loans of an hour. */
export function chargeHour(
  ctx: Ctx,
  input: { hour: number; rates: Readonly<Record<string, string>>; after: string },
): null {
  charge(ctx, input.hour, input.rates, input.after)
  return null
}

/** A sub-account borrows under its main account's tier. */
function rateOfBorrower(state: State, loan: Loan, rate: Rate): Rate {
  const { vip } = state.users.must(mainIdOf(state.users.must(loan.user_id)))
  return tierRate(state, vip, rate)
}
const keyOf = (loan: Loan): string => `${loan.user_id}/${loan.scope}/${loan.currency}`
function charge(ctx: Ctx, hour: number, rates: Readonly<Record<string, string>>, after: string): void {
  const { state } = ctx
  const loans = state.margin.loansAfter(after, CHUNK)
  const touched = new Map<string, Loan>()
  for (const loan of loans) {
    // Borrowed after the hour had struck: this hour is not his.
    if (loan.create_at > hour) continue
    const text = rates[loan.currency]
    if (text !== undefined) chargeLoan(ctx, loan, rateOfBorrower(ctx.state, loan, rateOf(text)), hour)
    touched.set(`${loan.user_id}/${loan.scope}`, loan)
  }
  for (const { user_id, scope } of touched.values()) checkAccount(ctx, user_id, scope)
  if (loans.length === CHUNK)
    schedule(ctx, ctx.at, 'lending.charge', { hour, rates, after: keyOf(loans.at(-1)!) })
}

/** On what is owed with its unpaid interest, rounded up to the currency's smallest unit. */
export function interestOf(owed: Amount, rate: Rate, precision: number): Amount {
  return owed <= 0n ? ZERO : roundUp(timesUp(owed, rate), precision)
}
function chargeLoan(ctx: Ctx, loan: Loan, rate: Rate, hour: number): void {
  const { state, tx, at } = ctx
  const accounts = loanAccountsOf(loan.scope)
  const { precision } = state.world.currency(loan.currency)
  const interest = interestOf(totalOwed(state, loan.user_id, accounts, loan.currency), rate, precision)
  if (interest === 0n) return
  const id = nextId(tx, state.counters, 'interest_record')
  const lines = accrueLines(loan.user_id, accounts, loan.currency, interest)
  state.ledger.post(ctx, { kind: 'interest', ref: `interest:${id}`, lines })
  tx.append(INTEREST_RECORD, {
    id,
    user_id: loan.user_id,
    kind: accounts.pair === '' ? 'unified' : 'margin',
    pair: accounts.pair,
    currency: loan.currency,
    rate: rate as bigint as Amount,
    interest,
    at: hour,
  })
  tx.put(state.margin.loans, { ...loan, update_at: at })
}
