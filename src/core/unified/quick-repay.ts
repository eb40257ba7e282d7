import { refuse } from '../../labels.ts'
import {
  format,
  min,
  overUp,
  overDown,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  type Amount,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { requireShared } from './accounts.ts'
import { keepCovered } from './guard.ts'
import { UNIFIED } from './loan-book.ts'
import { repay, totalOwed } from './loans.ts'

/** What an account owes and what it could pay with, in the order of the currencies' names. */
export function debtsOf(state: State, userId: number): { currency: string; owed: Amount; usd: Amount }[] {
  return state.margin
    .loansOf(userId)
    .filter(({ scope }) => scope === UNIFIED.scope)
    .map(({ currency }) => {
      const owed = totalOwed(state, userId, UNIFIED, currency)
      return { currency, owed, usd: timesUp(owed, state.prices.of(currency)) }
    })
}
export function payableOf(
  state: State,
  userId: number,
): { currency: string; available: Amount; usd: Amount }[] {
  const owed = new Set(debtsOf(state, userId).map(({ currency }) => currency))
  return [...state.ledger.named(userId, UNIFIED.free)]
    .filter(({ currency, amount }) => amount > 0n && !owed.has(currency) && state.prices.of(currency) > 0n)
    .map(({ currency, amount }) => ({
      currency,
      available: amount,
      usd: state.prices.worth(currency, amount),
    }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

export interface QuickRepayment {
  readonly order_id: string
  readonly repaid_infos: readonly {
    readonly currency: string
    readonly repaid: string
    readonly left: string
  }[]
  readonly used_infos: readonly { readonly currency: string; readonly used: string }[]
}
/** Repays what the account can spare; a unit that is rounded up must not uncover another debt. */
export function quickRepay(ctx: Ctx, input: QuickRepay): QuickRepayment {
  requireShared(ctx.state, input.user_id)
  return keepCovered(ctx.state, input.user_id, UNIFIED.scope, 'this repayment', () =>
    exchangeAndRepay(ctx, input),
  )
}
interface QuickRepay {
  readonly user_id: number
  readonly debt_currencies: readonly string[]
  readonly available_currencies: readonly string[]
}
/**
 * Repays named debts with named currencies at index prices, in the order in which they are named: the
 * platform's own equity is the other side of the exchange. What is taken is rounded up by at most one unit.
 */
function exchangeAndRepay(ctx: Ctx, input: QuickRepay): QuickRepayment {
  const { state, tx } = ctx
  if (state.margin.isLocked(input.user_id, UNIFIED.scope))
    refuse('TRADE_RESTRICTED', 'this account is being liquidated; it repays by itself')
  const names = (list: readonly string[]): string[] => [
    ...new Set(list.map((name) => state.world.currency(name).currency)),
  ]
  const debts = names(input.debt_currencies)
  const means = names(input.available_currencies)
  for (const currency of debts)
    if (totalOwed(state, input.user_id, UNIFIED, currency) === 0n)
      refuse('LOAN_NOT_FOUND', `debt_currencies: this account owes no ${currency}`)
  const payable = new Set(payableOf(state, input.user_id).map(({ currency }) => currency))
  for (const currency of means)
    if (!payable.has(currency) && !debts.includes(currency))
      refuse('BALANCE_NOT_ENOUGH', `available_currencies: there is no ${currency} that could repay`)
  const id = nextId(tx, state.counters, 'quick_repayment')
  const used = new Map<string, bigint>()
  const repaid = new Map<string, bigint>()
  for (const debt of debts)
    for (const currency of means) {
      const owed = totalOwed(state, input.user_id, UNIFIED, debt)
      if (owed === 0n) break
      const amount =
        currency === debt
          ? min(owed, state.ledger.balance(input.user_id, 'spot', debt))
          : exchange(currency, debt, owed)
      if (amount <= 0n) continue
      repay(ctx, input.user_id, UNIFIED, debt, amount, 'different_currencies_repayment')
      repaid.set(debt, (repaid.get(debt) ?? 0n) + amount)
      if (currency === debt) used.set(debt, (used.get(debt) ?? 0n) + amount)
    }
  return {
    order_id: String(id),
    repaid_infos: debts.map((currency) => ({
      currency,
      repaid: format((repaid.get(currency) ?? 0n) as Amount),
      left: format(totalOwed(state, input.user_id, UNIFIED, currency)),
    })),
    used_infos: means.map((currency) => ({ currency, used: format((used.get(currency) ?? 0n) as Amount) })),
  }

  /** user's money → equity, and equity's → the user; tells how much of the debt's currency it brought. */
  function exchange(from: string, to: string, owed: Amount): Amount {
    const [priceFrom, priceTo] = [state.prices.of(from), state.prices.of(to)]
    const needed = roundUp(overUp(timesUp(owed, priceTo), priceFrom), state.world.currency(from).precision)
    const taken = min(needed, state.ledger.balance(input.user_id, 'spot', from))
    const brought =
      taken === needed
        ? owed
        : roundDown(overDown(timesDown(taken, priceFrom), priceTo), state.world.currency(to).precision)
    if (taken <= 0n || brought <= 0n) return 0n as Amount
    const user = { owner: input.user_id, name: 'spot' }
    const equity = { owner: PLATFORM, name: 'equity' }
    const lines = [...move(user, equity, from, taken), ...move(equity, user, to, brought)]
    const ref = `quick_repayment:${id}`
    state.ledger.post(ctx, { kind: 'quick_repay', ref, lines })
    used.set(from, (used.get(from) ?? 0n) + taken)
    return brought
  }
}
