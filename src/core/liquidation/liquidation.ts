import { ZERO, format, min } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { schedule } from '../due.ts'
import { cancelOpen } from '../spot/cancel.ts'
import { cancelPovOrders } from '../spot/pov.ts'
import type { Ctx } from '../state.ts'
import { coverShortfall, takeOver } from './insurance.ts'
import { cancelContractOrders, contractPart, reduceContracts, repayContractDebt } from './contracts.ts'
import { isRestricted, mustLiquidate, riskLevelOf, type RiskLevel } from '../risk/levels.ts'
import { UNIFIED, loanAccountsOf, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import { repay, totalOwed } from '../unified/loans.ts'
import { freeToRepay, isEngaged } from '../unified/contracts.ts'
import { figuresOf, portfolioOf } from '../unified/portfolio.ts'
import { riskOf, type RiskFigures } from '../risk/risk.ts'
import { planRecheck } from './recheck.ts'
import { slackOf, ofScope } from '../unified/restricted.ts'
import { collateral, debtsByWorth, hasUnvalued, isHealthy, sellSome } from './selling.ts'
import { note, type Liquidated } from '../liquidated.ts'

/** As its commands carry it. */
interface Liquidation extends Liquidated {
  readonly tries: number
}
/** Work of one command; what is left is due at once, as a command of its own. */
const CANCELS_MAX = 100
const SALES_MAX = 6
/** Tries without a sale, a second apart, before the insurance fund takes the collateral over. */
const TRIES_MAX = 10
const RETRY = 1e6
/** Neither a market nor the fund can take it: tried again each minute, the account stays locked. */
const RETRY_SLOWLY = 60e6

/**
 * Looks at an account: tells it a new level, and records it; below 100 % maintenance it is locked and its
 * liquidation is due at once. True when it was locked.
 */
export function checkAccount(ctx: Ctx, userId: number, scope: string): boolean {
  const { margin } = ctx.state
  if (margin.isLocked(userId, scope)) return false
  const before = margin.riskLevelOf(userId, scope)
  if (!isEngaged(ctx.state, userId, scope)) {
    tell(ctx, userId, scope, 'normal', {})
    return false
  }
  const figures = figuresOf(ctx.state, userId, scope)
  const level = riskLevelOf(figures, before)
  if (level === 'locked') lock(ctx, userId, scope, figures)
  else {
    tell(ctx, userId, scope, level, summary(figures))
    // What was let in with margin to spare may not be let in without.
    if (isRestricted(figures) && (level !== before || (slackOf(ctx.state, userId, scope) ?? 0n) < 0n))
      planRecheck(ctx, userId, scope)
  }
  return level === 'locked'
}
function tell(
  ctx: Ctx,
  user_id: number,
  scope: string,
  level: Exclude<RiskLevel, 'locked'>,
  detail: Readonly<Record<string, unknown>>,
): void {
  const { state, tx, at } = ctx
  if (state.margin.riskLevelOf(user_id, scope) === level) return
  if (level === 'normal') tx.remove(state.margin.alerts, `${user_id}/${scope}`)
  else tx.put(state.margin.alerts, { user_id, scope, level, since: at })
  note(ctx, { id: 0, user_id, scope }, level === 'normal' ? 'recovered' : level, '', ZERO, detail)
}
function lock(ctx: Ctx, userId: number, scope: string, figures: RiskFigures): void {
  const { state, tx } = ctx
  const account = state.margin.of(userId)
  const alert = `${userId}/${scope}`
  if (state.margin.alerts.get(alert) !== undefined) tx.remove(state.margin.alerts, alert)
  tx.put(state.margin.table, { ...account, locked: [...account.locked, scope] })
  const id = nextId(tx, state.counters, 'liquidation')
  const liquidation = { id, user_id: userId, scope, tries: 0 }
  note(ctx, liquidation, 'locked', '', ZERO, summary(figures))
  schedule(ctx, ctx.at, 'margin.liquidate', { ...liquidation })
}
const summary = (figures: RiskFigures) => ({
  margin_balance: format(figures.marginBalance),
  initial_margin: format(figures.initialMargin),
  maintenance_margin: format(figures.maintenanceMargin),
  maintenance_rate: format(figures.maintenanceRate),
})
/** The watcher's command: looks at accounts again, a bounded number at a time. */
export function checkAccounts(
  ctx: Ctx,
  input: { accounts: readonly { user_id: number; scope: string }[] },
): number {
  return input.accounts.filter(({ user_id, scope }) => checkAccount(ctx, user_id, scope)).length
}

/** Due: one bounded round. Cancels, repays from what is there, reduces or sells, and ends or plans the next round. */
export function liquidate(ctx: Ctx, input: Liquidation): null {
  const { state } = ctx
  const { user_id, scope } = input
  if (!state.margin.isLocked(user_id, scope)) return null
  const again = (after: number, tries: number): null => {
    schedule(ctx, ctx.at + after, 'margin.liquidate', { ...input, tries })
    return null
  }
  if (cancelOrders(ctx, input)) return again(0, input.tries)
  const accounts = loanAccountsOf(scope)
  let sold = false
  for (let sale = 0; sale < SALES_MAX; sale++) {
    repayFree(ctx, input, accounts)
    const portfolio = portfolioOf(state, user_id, scope)
    const figures = riskOf(portfolio)
    if (!isEngaged(state, user_id, scope) || isHealthy(figures)) return end(ctx, input, figures)
    const [sells, contracts] = [collateral(figures).length > 0, contractPart(figures)]
    if (contracts === 'larger' || (contracts === 'some' && !sells)) {
      // One position a command: it may meet a whole book.
      if (reduceContracts(ctx, input)) return again(0, 0)
      // Nobody is there to take it at a fair price, and it can wait: so does the account.
      if (!mustLiquidate(figures) && input.tries + 1 >= TRIES_MAX) return end(ctx, input, figures)
      return again(RETRY, input.tries + 1)
    }
    if (!sells) {
      // What nobody can value is not nothing: nobody else pays while it is there.
      if (hasUnvalued(figures)) return again(RETRY_SLOWLY, input.tries)
      coverShortfall(ctx, input, accounts)
      return end(ctx, input, figuresOf(state, user_id, scope))
    }
    if (debtsByWorth(figures).length === 0) return end(ctx, input, figures)
    if (sellSome(ctx, input, portfolio, figures)) sold = true
    else if (sold) break
    else if (input.tries + 1 < TRIES_MAX) return again(RETRY, input.tries + 1)
    else if (!takeOver(ctx, input, accounts)) {
      if (contracts === 'some' && reduceContracts(ctx, input)) return again(0, 0)
      return again(RETRY_SLOWLY, input.tries)
    }
  }
  return again(0, 0)
}
function end(ctx: Ctx, input: Liquidation, figures: RiskFigures): null {
  const { state, tx } = ctx
  const account = state.margin.of(input.user_id)
  tx.put(state.margin.table, { ...account, locked: account.locked.filter((scope) => scope !== input.scope) })
  note(ctx, input, 'unlocked', '', ZERO, summary(figures))
  return null
}

/** True when there are more orders than one command cancels. */
function cancelOrders(ctx: Ctx, input: Liquidation): boolean {
  if (input.scope === UNIFIED.scope)
    cancelPovOrders(ctx, { user_id: input.user_id, currency_pair: null, side: null })
  if (input.scope === UNIFIED.scope && cancelContractOrders(ctx, input)) return true
  const open = ctx.state.spot.openOrders(input.user_id).filter(ofScope(input.scope))
  for (const order of cancelOpen(ctx, open.slice(0, CANCELS_MAX), 'liquidate_cancelled'))
    note(ctx, input, 'order_cancelled', '', ZERO, { order_id: order.id, currency_pair: order.pair })
  return open.length > CANCELS_MAX
}
/** What the account owes and has in the same currency goes first: no market is needed for it. Not what isolated positions have. */
function repayFree(ctx: Ctx, input: Liquidation, accounts: LoanAccounts): void {
  const { state } = ctx
  if (input.scope === UNIFIED.scope) repayContractDebt(ctx, input)
  for (const { scope, currency } of state.margin.loansOf(input.user_id)) {
    if (scope !== input.scope) continue
    const free = freeToRepay(state, input.user_id, accounts, currency)
    const amount = min(free, totalOwed(state, input.user_id, accounts, currency))
    if (amount <= 0n) continue
    repay(ctx, input.user_id, accounts, currency, amount, 'liquidation')
    note(ctx, input, 'repaid', currency, amount)
  }
}
