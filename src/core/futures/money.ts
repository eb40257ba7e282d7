import { ZERO, format, type Amount } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import { changeAccount, note } from '../contract-margin/accounts.ts'
import { debtOf, isSharedFor, isUnifiedFor, type Settled } from '../contract-margin/cash.ts'
import { pledgedBy } from '../contract-margin/needs.ts'
import { EQUITY, PLATFORM, type AccountKey } from '../ledger/accounts.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { freeToRepay } from '../unified/contracts.ts'
import { poolFree } from '../unified/lending.ts'
import { lend, repay } from '../unified/loans.ts'
import { owedOf } from '../unified/portfolio.ts'

export { accountOf, changeAccount, hasAccount, note, noteTransfer } from '../contract-margin/accounts.ts'
export {
  POINTS,
  cashName,
  debtOf,
  isSharedFor,
  isUnifiedFor,
  settledIn,
  settledOf,
  totalOf,
  type Settled,
} from '../contract-margin/cash.ts'

/** The fund that takes over positions has an account for each settle currency, whatever the group. */
export const insuranceOf = (settle: string): AccountKey =>
  ({ owner: PLATFORM, name: `insurance:futures.${settle}` }) as const
export interface CashBooking {
  readonly user_id: number
  readonly contract: Contract
  readonly type: 'pnl' | 'fee' | 'fund'
  /** From the user's side, signed. */
  readonly change: Amount
  readonly text: string
  readonly trade_id: number
  /** Where it comes from or goes to. */
  readonly other: AccountKey
  /** Of the ledger's entry, and what it belongs to: a record's noun with its number, or a text that says it all. */
  readonly kind: string
  readonly ref: string
  readonly record?: number
  /** Of an isolated position: so much less is set apart for it afterwards. */
  readonly freed?: bigint
}
/**
 * Between a user's cash and another account. What the cash can't pay is lent to an account whose currencies carry each
 * other, and else owed, and the next credit pays that first: the rules of margin see to it that something covers it. The
 * fund (user 0) pays from insurance.
 */
export function bookCash(ctx: Ctx, booking: CashBooking): void {
  const { state } = ctx
  const { user_id, contract, change, other } = booking
  if (change === 0n) return
  if (user_id !== PLATFORM && !isUnifiedFor(state, user_id, contract)) {
    bookOwn(ctx, booking)
    return
  }
  const shared = user_id !== PLATFORM && isSharedFor(state, user_id, contract)
  if (shared && change < 0n) borrowMissing(ctx, booking)
  const lines: Line[] = user_id === PLATFORM ? fundLines(ctx, contract, change) : userLines(state, booking)
  const { currency } = contract
  const opposite = { owner: other.owner, name: other.name, currency, amount: -change as Amount }
  // Who pays comes first: it may refuse.
  if (change > 0n) lines.unshift(opposite)
  else lines.push(opposite)
  state.ledger.post(ctx, { kind: booking.kind, ref: refOf(booking), lines })
  if (user_id === PLATFORM) return
  if (shared && change > 0n) {
    const kept = larger(-(booking.freed ?? 0n), 0n)
    repayBorrowed(ctx, contract, user_id, (change - kept) as Amount)
  }
  const { type, text, trade_id } = booking
  note(ctx, contract, { user_id, type, change, text, contract: contract.id, trade_id })
}
const refOf = ({ ref, record }: CashBooking): string => (record === undefined ? ref : `${ref}:${record}`)
/** The same for whoever stands on the cash of contracts alone, as nearly all bookings do: no line is made to be read again. */
function bookOwn(ctx: Ctx, booking: CashBooking): void {
  const { ledger } = ctx.state
  const { user_id, contract, change, other, kind } = booking
  const { cash, debt, currency } = contract
  const [ofCash, ofDebt] = [ledger.purpose(cash, currency), ledger.purpose(debt, currency)]
  const has = ledger.under(ofCash, user_id)?.amount ?? ZERO
  const owes = ledger.under(ofDebt, user_id)?.amount ?? ZERO
  const onCash = change > 0n ? larger(change + owes, 0n) : larger(change, -larger(has, 0n))
  const onDebt = change - onCash
  const entry = ledger.open(ctx, kind, booking.ref, booking.record)
  const opposite = ledger.purpose(other.name, currency)
  // Who pays comes first: it may refuse.
  if (change > 0n) entry.line(other.owner, opposite, -change as Amount)
  if (onDebt !== 0n) entry.line(user_id, ofDebt, onDebt as Amount)
  if (onCash !== 0n) entry.line(user_id, ofCash, onCash as Amount)
  if (change < 0n) entry.line(other.owner, opposite, -change as Amount)
  entry.close()
  const { type, text, trade_id } = booking
  const balance = (has + owes + change) as Amount
  note(ctx, contract, { user_id, type, change, text, contract: contract.id, trade_id }, balance)
}
/**
 * What an account's money can pay a loss with. Where currencies carry each other that is not what is set apart for isolated
 * positions: they would stand on nothing then, and nobody would watch what the account owes them.
 */
function payableBy(state: State, { user_id, contract, freed = 0n }: CashBooking): bigint {
  const free = state.ledger.balance(user_id, UNIFIED.free, contract.currency)
  if (!isSharedFor(state, user_id, contract)) return larger(free, 0n)
  const stays = pledgedBy(state, user_id, contract.account) - larger(freed, 0n)
  return larger(free - larger(stays, 0n), 0n)
}
/** Of a unified account: a credit pays the debt first; a loss takes the cash first. */
function userLines(state: State, booking: CashBooking): Line[] {
  const { user_id: owner, contract, change, type } = booking
  const { debt, currency } = contract
  const name = UNIFIED.free
  const onCash =
    change > 0n
      ? larger(change + debtOf(state, owner, contract), 0n)
      : larger(change, -payableBy(state, booking))
  const onDebt = change - onCash
  const lines: Line[] = []
  if (onDebt !== 0n) lines.push({ owner, name: debt, currency, amount: onDebt as Amount })
  if (onCash === 0n) return lines
  // Among the lines of a spot account it has a word of its own.
  lines.push({ owner, name, currency, amount: onCash as Amount, kind: `futures_${type}` })
  return lines
}
/** An ordinary loan, whatever the account's own cap; as much as the pool has. */
function borrowMissing(ctx: Ctx, booking: CashBooking): void {
  const { state } = ctx
  const { user_id: userId, contract } = booking
  const { account, currency } = contract
  if (state.world.loanTerms(currency)?.config.loan_status !== 'enable') return
  const missing = -booking.change - payableBy(state, booking)
  const pool = poolFree(state, currency)
  const lent = missing < pool ? missing : pool
  if (lent <= 0n) return
  lend(ctx, userId, UNIFIED, currency, lent as Amount, 'auto_borrow', null)
  const borrowed = borrowedBy(state, userId, account, currency)
  changeAccount(ctx, userId, account, { borrowed: (borrowed + lent) as Amount })
}
/** How much of the loan is what contracts have lost. */
function borrowedBy(state: State, userId: number, account: string, currency: string): bigint {
  const { principal } = owedOf(state, userId, UNIFIED, currency)
  const borrowed = state.futures.accounts.get(userId, account)?.borrowed ?? ZERO
  return borrowed < principal ? borrowed : principal
}
/** Money has come that a loan of contracts' losses is repaid with, before anything else is done with it. */
export function repayBorrowed(ctx: Ctx, settled: Settled, userId: number, come: Amount): void {
  const { state } = ctx
  const { account, currency } = settled
  const borrowed = borrowedBy(state, userId, account, currency)
  if (borrowed <= 0n) return
  const { interest } = owedOf(state, userId, UNIFIED, currency)
  const free = freeToRepay(state, userId, UNIFIED, currency)
  const amount = smaller(smaller(come, free), borrowed + interest)
  if (amount <= 0n) return
  repay(ctx, userId, UNIFIED, currency, amount as Amount, 'auto_repay')
  const left = borrowed - larger(amount - interest, 0n)
  changeAccount(ctx, userId, account, { borrowed: left as Amount })
}
/** The fund never goes below zero: what it lacks the operator's own money pays, and somebody is told. */
function fundLines(ctx: Ctx, { settle, currency, name }: Contract, change: Amount): Line[] {
  const fund = insuranceOf(settle)
  const has = ctx.state.ledger.balance(PLATFORM, fund.name, currency)
  const onFund = larger(change, -has) as Amount
  const missing = (change - onFund) as Amount
  if (missing === 0n) return [{ ...fund, currency, amount: onFund }]
  audit(ctx, 'machine', 'futures.insured_by_equity', {
    contract: name,
    settle,
    amount: format(-missing as Amount),
  })
  const lines: Line[] = [{ ...EQUITY, currency, amount: missing }]
  if (onFund !== 0n) lines.push({ ...fund, currency, amount: onFund })
  return lines
}
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
