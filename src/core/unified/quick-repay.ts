import { HOUR } from '../time.ts'
import { EQUITY, spotOf } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import {
  ONE_RATE,
  format,
  min,
  overUp,
  overDown,
  roundDown,
  roundUp,
  timesDown,
  timesUp,
  ZERO,
  add,
  amountOf,
  max,
  rateOf,
  subtract,
  type Amount,
  type Price,
  type Rate,
} from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { requireShared } from './accounts.ts'
import { freeToRepay } from './contracts.ts'
import { keepCovered } from './guard.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { repay, totalOwed } from './loans.ts'

const QUOTA = 'quick_repayment'
interface HourSums {
  readonly hour: number
  /** USDT worth by currency, taken in and given out. */
  readonly sums: Readonly<Record<string, string>>
}
/** What quick repayments have exchanged of each currency in this hour of the clock: sums, kept in one row. */
class Quota {
  private readonly ctx: Ctx
  private readonly hour: number
  private readonly most: Amount
  private readonly sums: Map<string, Amount>
  /** The currency whose quota left something owed. */
  full: string | undefined
  constructor(ctx: Ctx) {
    this.ctx = ctx
    this.hour = Math.floor(ctx.at / HOUR)
    this.most = amountOf(ctx.state.world.quickRepay.hourUsdt)
    const kept = ctx.state.world.settings.get(QUOTA)?.value as HourSums | undefined
    const sums = kept?.hour === this.hour ? kept.sums : {}
    this.sums = new Map(Object.entries(sums).map(([currency, text]) => [currency, amountOf(text)]))
  }
  room(from: string, to: string): Amount {
    return min(this.left(from), this.left(to))
  }
  private left(currency: string): Amount {
    return max(ZERO, subtract(this.most, this.sums.get(currency) ?? ZERO))
  }
  /** Remembers which of the two there was too little of. */
  short(from: string, to: string): void {
    this.full = this.left(from) < this.left(to) ? from : to
  }
  use(from: string, to: string, usdt: Amount): void {
    for (const currency of [from, to]) this.sums.set(currency, add(this.sums.get(currency) ?? ZERO, usdt))
  }
  keep(): void {
    if (this.sums.size === 0) return
    const sums = Object.fromEntries([...this.sums].map(([currency, usdt]) => [currency, format(usdt)]))
    const value: HourSums = { hour: this.hour, sums }
    this.ctx.tx.put(this.ctx.state.world.settings, { name: QUOTA, value })
  }
}

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
    .map(({ currency }) => ({ currency, amount: freeToRepay(state, userId, UNIFIED, currency) }))
    .filter(
      ({ currency, amount }) =>
        amount > 0n &&
        !owed.has(currency) &&
        !state.world.isLeaving(currency) &&
        state.prices.quote(currency).firm > 0n,
    )
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
 * Repays named debts with named currencies at index prices and a spread, in the order in which they are named: the
 * platform's own equity is the other side of the exchange. What is taken is rounded up by at most one unit. It is
 * for debts, not for trading: an hour takes in, and gives out, only so much of each currency.
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
  if (debts.length === 0 || means.length === 0)
    refuse('INVALID_PARAM_VALUE', 'debt_currencies, available_currencies: name at least one currency in each')
  for (const currency of debts)
    if (totalOwed(state, input.user_id, UNIFIED, currency) === 0n)
      refuse('LOAN_NOT_FOUND', `debt_currencies: this account owes no ${currency}`)
  for (const currency of means) {
    // What is owed is repaid with itself: no price is needed for that.
    if (debts.includes(currency)) continue
    if (state.world.isLeaving(currency))
      refuse(
        'TRADE_RESTRICTED',
        `available_currencies: ${currency} is being delisted, so it can't be used for a quick repayment`,
      )
    state.prices.requireFirm(currency, "it can't be used for a quick repayment")
    for (const debt of debts) state.prices.requireFirm(debt, "it can't be bought for a quick repayment")
  }
  const payable = new Set(payableOf(state, input.user_id).map(({ currency }) => currency))
  for (const currency of means)
    if (!payable.has(currency) && !debts.includes(currency))
      refuse(
        'BALANCE_NOT_ENOUGH',
        totalOwed(state, input.user_id, UNIFIED, currency) === 0n
          ? `available_currencies: there is no ${currency} that could repay`
          : `available_currencies: ${currency} is owed itself; name it in debt_currencies too`,
      )
  const id = nextId(tx, state.counters, 'quick_repayment')
  const quota = new Quota(ctx)
  const used = new Map<string, bigint>()
  const repaid = new Map<string, bigint>()
  for (const debt of debts)
    for (const currency of means) {
      const owed = totalOwed(state, input.user_id, UNIFIED, debt)
      if (owed === 0n) break
      const amount =
        currency === debt
          ? min(owed, freeToRepay(state, input.user_id, UNIFIED, debt))
          : exchange(currency, debt, owed)
      if (amount <= 0n) continue
      repay(ctx, input.user_id, UNIFIED, debt, amount, 'different_currencies_repayment')
      repaid.set(debt, (repaid.get(debt) ?? 0n) + amount)
      if (currency === debt) used.set(debt, (used.get(debt) ?? 0n) + amount)
    }
  if (repaid.size === 0 && quota.full !== undefined)
    refuse(
      'AMOUNT_TOO_MUCH',
      `quick repayments have used up this hour's quota of ${quota.full}; place an order, or try again in the next hour`,
    )
  quota.keep()
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
    const [priceFrom, index] = [state.prices.quote(from).firm, state.prices.quote(to).firm]
    const { precision } = state.world.currency(to)
    const spread = rateOf(state.world.quickRepay.spread)
    const priceTo = timesUp(index as bigint as Amount, (ONE_RATE + spread) as Rate) as bigint as Price
    const wanted = min(owed, roundDown(overDown(quota.room(from, to), priceTo), precision))
    if (wanted < owed) quota.short(from, to)
    const needed = roundUp(overUp(timesUp(wanted, priceTo), priceFrom), state.world.currency(from).precision)
    const taken = min(needed, freeToRepay(state, input.user_id, UNIFIED, from))
    const brought =
      taken === needed ? wanted : roundDown(overDown(timesDown(taken, priceFrom), priceTo), precision)
    if (taken <= 0n || brought <= 0n) return 0n as Amount
    quota.use(from, to, timesUp(brought, priceTo))
    const user = spotOf(input.user_id)
    const lines = [...move(user, EQUITY, from, taken), ...move(EQUITY, user, to, brought)]
    const ref = `quick_repayment:${id}`
    state.ledger.post(ctx, { kind: 'quick_repay', ref, lines })
    used.set(from, (used.get(from) ?? 0n) + taken)
    return brought
  }
}
