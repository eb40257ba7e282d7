import { type FreeName } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import {
  ZERO,
  amountOf,
  format,
  max,
  min,
  roundUp,
  subtract,
  timesDown,
  type Amount,
} from '../../money/amount.ts'
import type { Order, OrderAccount, OrderExtras, Side } from '../tables/exchange/order.ts'
import type { Ctx, State } from '../state.ts'
import { refuseOwing } from '../family.ts'
import type { Market } from '../tables/world/markets.ts'
import { UNIFIED, loanAccountsOf, type LoanAccounts } from '../tables/unified/loan-accounts.ts'
import { CASH, cashSpared, freeToRepay, hasContracts, isEngaged } from './contracts.ts'
import {
  borrowable,
  lend,
  refuseRestricted,
  repay,
  requireIsolated,
  totalOwed,
  transferable,
} from './loans.ts'
import { mustLiquidate } from '../risk/levels.ts'
import { figuresOf, portfolioOf } from './portfolio.ts'
import type { RepaymentType } from '../tables/unified/records.ts'
import { judgeOrder, type Guarded } from './restricted.ts'
import { availableAfterLeaving, riskOf } from '../risk/risk.ts'

/** Where orders, transfers and withdrawals meet the rules of margin. */
function accountsBehind(
  state: State,
  userId: number,
  account: OrderAccount,
  pair: string,
): LoanAccounts | undefined {
  if (account === 'margin') return loanAccountsOf(pair)
  return state.margin.isUnified(userId) ? UNIFIED : undefined
}

/**
 * Runs what places or changes an order. Whoever owes money must have margin left afterwards; who has none before may
 * place what `judgeOrder` lets pass, and below the maintenance margin nothing: the look is here, in the command, because
 * the watcher comes later.
 */
export function guardOrder<T>(ctx: Ctx, userId: number, order: Guarded, run: () => T): T {
  const { state } = ctx
  const accounts = accountsBehind(state, userId, order.account, order.market.id)
  if (accounts === undefined) return run()
  const { scope } = accounts
  if (state.margin.isLocked(userId, scope))
    refuse('TRADE_RESTRICTED', 'this account is being liquidated; it can not trade until that is over')
  if (isEngaged(state, userId, scope)) {
    const input = portfolioOf(state, userId, scope, [], 'firm')
    const figures = riskOf(input)
    if (mustLiquidate(figures) && mustLiquidate(figuresOf(state, userId, scope)))
      refuse(
        'TRADE_RESTRICTED',
        'this account is below its maintenance margin; it can not trade until it has repaid or added money',
      )
    if (input.unpriced !== undefined || figures.available < 0n) {
      judgeOrder(ctx, userId, scope, order)
      return keepingCash(state, userId, scope, order, run)
    }
  }
  const result = keepingCash(state, userId, scope, order, run)
  if (!isEngaged(state, userId, scope)) return result
  const input = portfolioOf(state, userId, scope, [], 'firm')
  const { available } = riskOf(input)
  if (input.unpriced === undefined && available >= 0n) return result
  return refuse(
    'TRADE_RESTRICTED',
    `this order would leave the margin ${format(-available as Amount)} short of what the account's debts and contracts need; repay or add money first`,
  )
}
/** What contracts need of their own currency is not spent on another one, not even on one that is owed. */
function keepingCash<T>(
  state: State,
  userId: number,
  scope: string,
  { market, side }: Guarded,
  run: () => T,
): T {
  const gives = side === 'buy' ? market.quote : market.base
  if (scope !== UNIFIED.scope || gives !== CASH) return run()
  const before = cashSpared(state, userId)
  const result = run()
  const spare = cashSpared(state, userId)
  // Who is overdrawn by what the marks have done may ask for less.
  if (spare !== undefined && spare < 0n && (before === undefined || spare < before))
    refuse(
      'BALANCE_NOT_ENOUGH',
      `this order would take ${format(-spare as Amount)} ${CASH} that positions and orders in contracts need; order less, or close some of them`,
    )
  return result
}
/** Runs a change of an account; one that would leave its debts uncovered is refused, unless it makes nothing worse. */
export function keepCovered<T>(state: State, userId: number, scope: string, what: string, run: () => T): T {
  const before = isEngaged(state, userId, scope) ? figuresOf(state, userId, scope, 'firm').available : ZERO
  const result = run()
  if (!isEngaged(state, userId, scope)) return result
  const after = figuresOf(state, userId, scope, 'firm').available
  if (after < 0n && after < before)
    refuse(
      'INITIAL_MARGIN_TOO_LOW',
      `${what} would leave the margin ${format(-after as Amount)} short of what the account's debts need`,
    )
  return result
}

/** Before an order's money is held: auto_borrow finds what is missing, and tells how much that was. */
export function borrowForOrder(
  ctx: Ctx,
  userId: number,
  account: OrderAccount,
  market: Market,
  side: Side,
  needed: Amount,
): Amount {
  const { state } = ctx
  const accounts = accountsBehind(state, userId, account, market.id)
  if (accounts === undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `auto_borrow: true is for accounts that can borrow, and this order's account is ${account}; leave it out`,
    )
  if (accounts.pair !== '') requireIsolated(state, accounts.pair)
  const currency = side === 'buy' ? market.quote : market.base
  // What isolated positions stand on is not there for it.
  const free = freeToRepay(state, userId, accounts, currency)
  const missing = roundUp(subtract(needed, free), state.world.currency(currency).precision)
  if (missing <= 0n) return ZERO
  state.prices.requireFirm(currency, 'it is not lent')
  refuseRestricted(state, userId, accounts.scope)
  refuseOwing(state, userId)
  const most = borrowable(state, userId, accounts.scope, currency)
  if (missing > most)
    refuse(
      'AUTO_BORROW_TOO_MUCH',
      `auto_borrow: the order needs ${format(missing)} ${currency} more than there is, and at most ${format(most)} can be borrowed`,
    )
  lend(ctx, userId, accounts, currency, missing, 'auto_borrow', null)
  return missing
}
/** After an order's end: what it brought, and what an unfilled one had borrowed and gave back, goes to the debts. */
export function repayFromOrder(ctx: Ctx, order: Order, more: OrderExtras | null): void {
  const { state } = ctx
  const userId = order.user_id
  const accounts = accountsBehind(state, userId, order.account, order.pair)
  if (accounts === undefined || !state.margin.owes(userId, accounts.scope)) return
  const wanted = accounts.pair === '' ? more?.auto_repay === true : state.margin.of(userId).auto_repay
  if (!wanted) return
  const market = state.world.market(order.pair)
  const [gets, gives] = order.side === 'buy' ? [market.base, market.quote] : [market.quote, market.base]
  const received = (
    order.side === 'buy' ? order.filled - order.fee : order.filled_total - order.fee
  ) as Amount
  payBack(ctx, userId, accounts, gets, received, 'auto_repay')
  if (more?.borrowed === undefined || order.status !== 'cancelled') return
  payBack(ctx, userId, accounts, gives, min(amountOf(more.borrowed), unspentOf(order)), 'cancel_auto_repay')
}
/** What is left of an order, in the currency that it pays with. */
const unspentOf = ({ side, type, left, price }: Order): Amount =>
  side === 'buy' && type === 'limit' ? timesDown(left, price) : left
function payBack(
  ctx: Ctx,
  userId: number,
  accounts: LoanAccounts,
  currency: string,
  most: Amount,
  why: RepaymentType,
): void {
  const { state } = ctx
  const owed = totalOwed(state, userId, accounts, currency)
  const amount = min(min(owed, most), freeToRepay(state, userId, accounts, currency))
  if (amount > 0n) repay(ctx, userId, accounts, currency, amount, why)
}

/** What may leave a user's account, as far as its debts have a say; undefined: they have none. */
export function leavingLimit(
  state: State,
  userId: number,
  name: FreeName,
  currency: string,
): Amount | undefined {
  const scope = scopeOf(name)
  if (scope === undefined) return undefined
  const spare = scope === UNIFIED.scope && currency === CASH ? cashSpared(state, userId) : undefined
  const limit =
    isEngaged(state, userId, scope) || state.margin.isLocked(userId, scope)
      ? transferable(state, userId, scope, currency)
      : undefined
  if (spare === undefined) return limit
  const most = max(ZERO, spare)
  return limit === undefined ? most : min(limit, most)
}
const scopeOf = (name: FreeName): string | undefined =>
  name === UNIFIED.free ? UNIFIED.scope : name.startsWith('margin:') ? name.slice(7) : undefined
/** Money on its way out of an account: no more than its debts can spare. A plain shortage is the ledger's to refuse. */
export function guardOutflow(
  state: State,
  userId: number,
  name: FreeName,
  currency: string,
  amount: Amount,
): void {
  const scope = scopeOf(name)
  if (scope === undefined || amount > state.ledger.balance(userId, name, currency)) return
  if (scope === UNIFIED.scope && currency === CASH) {
    const spare = cashSpared(state, userId)
    if (spare !== undefined && amount > spare)
      refuse(
        'BALANCE_NOT_ENOUGH',
        `amount: ${format(amount)} ${currency} is more than positions and orders in contracts spare; at most ${format(max(ZERO, spare))} can be moved`,
      )
  }
  if (!state.margin.owes(userId) && !hasContracts(state, userId)) return
  if (!isEngaged(state, userId, scope)) return
  const input = portfolioOf(state, userId, scope, [currency], 'firm')
  const locked = state.margin.isLocked(userId, scope) || input.unpriced !== undefined
  if (!locked && availableAfterLeaving(input, currency, amount) >= 0n) return
  const most = format(transferable(state, userId, scope, currency))
  refuse(
    scope === UNIFIED.scope ? 'BALANCE_NOT_ENOUGH' : 'MARGIN_TRANSFER_FAILED',
    `amount: ${format(amount)} ${currency} is more than this account's debts and contracts can spare; at most ${most} is transferable`,
  )
}
