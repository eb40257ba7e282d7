import {
  ZERO,
  add,
  format,
  max,
  min,
  overDown,
  overUp,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  type Amount,
} from '../../money/amount.ts'
import { PLATFORM, insuranceName } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { settleLines, writeOffLines } from './lending.ts'
import type { LoanBook } from './loan-book.ts'
import { closeIfPaid, totalOwed } from './loans.ts'
import { owedOf } from './portfolio.ts'
import type { AssetFigures, RiskFigures } from './risk.ts'
import { collateral, debtsByWorth } from './selling.ts'
import { note, type Liquidation } from './steps.ts'

/** The insurance fund of a book. It pays with what it has: no currency of it ever goes below zero. */
const fundOf = (book: LoanBook) =>
  ({ owner: PLATFORM, name: insuranceName(book.pair === '' ? 'unified' : 'margin') }) as const
const inFund = (state: State, book: LoanBook, currency: string): Amount =>
  max(ZERO, state.ledger.balance(PLATFORM, fundOf(book).name, currency))

/**
 * No market takes the collateral: the insurance fund does, at index prices, as far as it can pay for it in the
 * currencies that are owed. False when it could take nothing.
 */
export function takeOver(ctx: Ctx, input: Liquidation, book: LoanBook, figures: RiskFigures): boolean {
  let taken = false
  for (const debt of debtsByWorth(figures))
    for (const one of collateral(figures)) if (takeOne(ctx, input, book, one, debt)) taken = true
  return taken
}
function takeOne(
  ctx: Ctx,
  input: Liquidation,
  book: LoanBook,
  { asset }: AssetFigures,
  debt: AssetFigures,
): boolean {
  const { state } = ctx
  const { currency: owedCurrency, price: owedPrice } = debt.asset
  const user = { owner: input.user_id, name: book.free }
  const owed = totalOwed(state, input.user_id, book, owedCurrency)
  const payable = min(owed, inFund(state, book, owedCurrency))
  const held = state.ledger.balance(input.user_id, book.free, asset.currency)
  if (payable <= 0n || held <= 0n) return false
  const { precision } = state.world.currency(asset.currency)
  const { precision: owedPrecision } = state.world.currency(owedCurrency)
  const needed = roundUp(overUp(timesUp(payable, owedPrice), asset.price), precision)
  const taken = min(held, needed)
  const worth = roundDown(overDown(timesDown(taken, asset.price), owedPrice), owedPrecision)
  const paid = taken === needed ? payable : min(payable, worth)
  const interest = min(paid, owedOf(state, input.user_id, book, owedCurrency).interest)
  const principal = (paid - interest) as Amount
  const fund = fundOf(book)
  const lines = [
    ...move(user, fund, asset.currency, taken),
    ...settleLines(state, fund, input.user_id, book, owedCurrency, principal, interest),
  ]
  const ref = `liquidation:${input.id}`
  state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
  closeIfPaid(ctx, input.user_id, book, owedCurrency)
  note(ctx, input, 'taken_over', asset.currency, taken, { repaid: format(paid), currency: owedCurrency })
  return true
}

/** Nothing is left to sell: the insurance fund pays as far as it goes, the lenders bear the rest together. */
export function coverShortfall(ctx: Ctx, input: Liquidation, book: LoanBook): void {
  const { state } = ctx
  const ref = `liquidation:${input.id}`
  for (const { scope, currency } of state.margin.loansOf(input.user_id)) {
    if (scope !== input.scope) continue
    const fund = fundOf(book)
    const owed = owedOf(state, input.user_id, book, currency)
    const has = inFund(state, book, currency)
    const interest = min(has, owed.interest)
    const principal = min((has - interest) as Amount, owed.principal)
    const lines = settleLines(state, fund, input.user_id, book, currency, principal, interest)
    if (lines.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
      note(ctx, input, 'insured', currency, add(principal, interest))
    }
    const left = owedOf(state, input.user_id, book, currency)
    const written = writeOffLines(input.user_id, book, currency, left.principal, left.interest)
    if (written.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines: written })
      note(ctx, input, 'socialised', currency, add(left.principal, left.interest))
    }
    closeIfPaid(ctx, input.user_id, book, currency)
  }
}
