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
  type Price,
} from '../../money/amount.ts'
import { PLATFORM, insuranceName } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { settleLines, writeOffLines } from '../unified/lending.ts'
import type { LoanAccounts } from '../tables/unified/loan-accounts.ts'
import { closeIfPaid } from '../unified/loans.ts'
import { owedOf, portfolioOf } from '../unified/portfolio.ts'
import { assetIn, freeOf, riskOf, type AssetFigures, type RiskInput } from '../risk/risk.ts'
import { coverContractDebt } from './contracts.ts'
import { collateral, debtsByWorth, isHealthy, keptAtLeast, neededPayment } from './selling.ts'
import { note, type Liquidated } from '../liquidated.ts'

/** The insurance fund of a scope. It pays with what it has: no currency of it ever goes below zero. */
const fundOf = (accounts: LoanAccounts) =>
  ({ owner: PLATFORM, name: insuranceName(accounts.pair === '' ? 'unified' : 'margin') }) as const
const inFund = (state: State, accounts: LoanAccounts, currency: string): Amount =>
  max(ZERO, state.ledger.balance(PLATFORM, fundOf(accounts).name, currency))

/**
 * No market takes the collateral near the index: the insurance fund does, at the index less what a market may take, so
 * that nobody sells to it what he could not sell; no more than the account needs to be healthy, and as far as the fund
 * can pay in the currencies that are owed. False when it could take nothing.
 */
export function takeOver(ctx: Ctx, input: Liquidated, accounts: LoanAccounts): boolean {
  const { state } = ctx
  let taken = false
  const now = (): RiskInput => portfolioOf(state, input.user_id, input.scope)
  const first = riskOf(now())
  for (const { asset: owed } of debtsByWorth(first))
    for (const { asset } of collateral(first)) {
      const portfolio = now()
      const figures = riskOf(portfolio)
      if (isHealthy(figures)) return taken
      const debt = figures.assets.find((one) => one.asset.currency === owed.currency)
      if (
        debt !== undefined &&
        debt.liability > 0n &&
        takeOne(ctx, input, accounts, portfolio, asset.currency, debt)
      )
        taken = true
    }
  return taken
}
function takeOne(
  ctx: Ctx,
  input: Liquidated,
  accounts: LoanAccounts,
  portfolio: RiskInput,
  currency: string,
  debt: AssetFigures,
): boolean {
  const { state } = ctx
  const { currency: owedCurrency, price: owedPrice } = debt.asset
  const asset = assetIn(portfolio, currency)
  if (asset === undefined || freeOf(asset) <= 0n) return false
  if ([currency, owedCurrency].some((name) => state.prices.quote(name).firm === 0n)) return false
  const kept = keptAtLeast(state, currency, owedCurrency)
  const price = timesDown(asset.price as bigint as Amount, kept) as bigint as Price
  const { precision } = state.world.currency(currency)
  const { precision: owedPrecision } = state.world.currency(owedCurrency)
  const wanted = roundUp(neededPayment(portfolio, asset, debt, kept), owedPrecision)
  const payable = min(min(wanted, debt.liability), inFund(state, accounts, owedCurrency))
  if (payable <= 0n || price === 0n) return false
  const needed = roundUp(overUp(timesUp(payable, owedPrice), price), precision)
  const taken = min(freeOf(asset), needed)
  const worth = roundDown(overDown(timesDown(taken, price), owedPrice), owedPrecision)
  const paid = taken === needed ? payable : min(payable, worth)
  const interest = min(paid, owedOf(state, input.user_id, accounts, owedCurrency).interest)
  const principal = (paid - interest) as Amount
  const fund = fundOf(accounts)
  const lines = [
    ...move({ owner: input.user_id, name: accounts.free }, fund, currency, taken),
    ...settleLines(state, fund, input.user_id, accounts, owedCurrency, principal, interest),
  ]
  const ref = `liquidation:${input.id}`
  state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
  closeIfPaid(ctx, input.user_id, accounts, owedCurrency)
  note(ctx, input, 'taken_over', currency, taken, { repaid: format(paid), currency: owedCurrency })
  return true
}

/** Nothing is left to sell: the insurance fund pays as far as it goes, the lenders bear the rest together. */
export function coverShortfall(ctx: Ctx, input: Liquidated, accounts: LoanAccounts): void {
  const { state } = ctx
  const ref = `liquidation:${input.id}`
  if (accounts.pair === '') coverContractDebt(ctx, input)
  for (const { scope, currency } of state.margin.loansOf(input.user_id)) {
    if (scope !== input.scope) continue
    const fund = fundOf(accounts)
    const owed = owedOf(state, input.user_id, accounts, currency)
    const has = inFund(state, accounts, currency)
    const interest = min(has, owed.interest)
    const principal = min((has - interest) as Amount, owed.principal)
    const lines = settleLines(state, fund, input.user_id, accounts, currency, principal, interest)
    if (lines.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines })
      note(ctx, input, 'insured', currency, add(principal, interest))
    }
    const left = owedOf(state, input.user_id, accounts, currency)
    const written = writeOffLines(input.user_id, accounts, currency, left.principal, left.interest)
    if (written.length > 0) {
      state.ledger.post(ctx, { kind: 'liquidation', ref, lines: written })
      note(ctx, input, 'socialised', currency, add(left.principal, left.interest))
    }
    closeIfPaid(ctx, input.user_id, accounts, currency)
  }
}
