import { refuse } from '../../labels.ts'
import { ZERO, format, roundDown, type Amount } from '../../money/amount.ts'
import { ownFree } from '../contract-margin/available.ts'
import { UNIFIED_CONTRACTS } from '../contract-margin/cash.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import type { AccountKind } from '../tables/transfers.ts'
import { POINTS, cashName, debtOf, isUnifiedFor, repayBorrowed, settledIn, type Settled } from './money.ts'

/** Of an account that money is moved to or from; undefined where it is none of contracts. */
export function settledBy(kind: AccountKind, settle: string): Settled | undefined {
  if (kind !== 'futures' && kind !== 'delivery') return undefined
  return settledIn(kind, settle)
}
/** In a unified mode the account has no money of its own that could be moved. */
export function refuseUnified(state: State, userId: number, settled: Settled): void {
  if (isUnifiedFor(state, userId, settled))
    refuse(
      'ACCOUNT_EXCEPTION',
      `contracts settled in ${settled.settle} use the unified balance of account ${userId}: nothing has to be moved to ${settled.group} ${settled.settle}, and nothing is there`,
    )
}
/** Of what a transfer may be told to move. */
const NAMED_DECIMALS = 8
/** What positions and orders need stays, and unrealised profit never leaves. */
export function guardContractOutflow(
  state: State,
  userId: number,
  settled: Settled,
  currency: string,
  amount: Amount,
): void {
  if (currency === POINTS) return
  const own = ownFree(state, userId, settled)
  if (amount <= own) return
  refuse(
    'FUTURES_BALANCE_NOT_ENOUGH',
    `not enough ${currency} in the ${cashName(state, userId, settled)} account: ${format(own < 0n ? ZERO : roundDown(own, NAMED_DECIMALS))} available, ${format(amount)} needed`,
  )
}
/** Where money that comes to a spot account goes: losses of contracts that are still owed are paid first. */
export function spotInflowLines(state: State, userId: number, currency: string, amount: Amount): Line[] {
  if (currency !== UNIFIED_CONTRACTS.currency || !isUnifiedFor(state, userId, UNIFIED_CONTRACTS))
    return [{ owner: userId, name: 'spot', currency, amount }]
  return inflowLines(state, userId, UNIFIED_CONTRACTS, currency, amount)
}
/** And then a loan that they made. */
export function repayFromInflow(ctx: Ctx, userId: number, currency: string, amount: Amount): void {
  if (currency === UNIFIED_CONTRACTS.currency && isUnifiedFor(ctx.state, userId, UNIFIED_CONTRACTS))
    repayBorrowed(ctx, UNIFIED_CONTRACTS, userId, amount)
}
/** Where money that comes in goes: what realised losses left owing is paid first, in the same entry. */
export function inflowLines(
  state: State,
  userId: number,
  settled: Settled,
  currency: string,
  amount: Amount,
): Line[] {
  const cash = cashName(state, userId, settled)
  const owed = currency === POINTS ? 0n : -debtOf(state, userId, settled)
  const paid = owed < amount ? owed : amount
  const lines: Line[] = []
  if (paid > 0n)
    lines.push({
      owner: userId,
      name: settled.debt,
      currency,
      amount: paid as Amount,
    })
  if (paid < amount) lines.push({ owner: userId, name: cash, currency, amount: (amount - paid) as Amount })
  return lines
}
