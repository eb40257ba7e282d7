import { hourOf, dayOf } from '../time.ts'
import { ZERO, add, amountOf, format, max, min, subtract, type Amount } from '../../money/amount.ts'
import type { Ctx, State } from '../state.ts'
import type { User } from '../tables/users.ts'
import type { CurrencyConfig } from '../tables/world/config.ts'
import type { Withdrawal, WithdrawalUsage } from '../tables/withdrawals.ts'

const NOTHING: Omit<WithdrawalUsage, 'user_id'> = { day: 0, day_usdt: '0', day_amounts: {}, hours: [] }

/** The day is the UTC day of the platform's clock. */
function today(state: State, userId: number, at: number): Omit<WithdrawalUsage, 'user_id'> {
  const usage = state.wallet.withdrawals.usage.get(userId) ?? NOTHING
  return usage.day === dayOf(at) ? usage : { ...NOTHING, hours: usage.hours, day: dayOf(at) }
}

/** What the account may withdraw a day, in USDT: its own setting, else its tier's. */
export function dayLimitUsdt(state: State, user: User): Amount {
  if (user.settings.withdraw_day_limit !== null) return amountOf(user.settings.withdraw_day_limit)
  const tiers = state.world.policy.day_limit_usdt
  return amountOf(tiers[Math.min(user.vip, tiers.length - 1)]!)
}

export interface Allowance {
  /** In units of the currency, with the account's USDT limit turned into it. */
  readonly limit: Amount
  readonly remain: Amount
}
/** The narrower of the currency's own day limit and the account's limit in USDT. */
export function dayAllowance(state: State, user: User, config: CurrencyConfig, at: number): Allowance {
  const { day_usdt, day_amounts } = today(state, user.user_id, at)
  const used = amountOf(day_amounts[config.currency] ?? '0')
  const own = amountOf(config.withdraw_day_limit)
  const limitUsdt = dayLimitUsdt(state, user)
  const leftUsdt = max(ZERO, subtract(limitUsdt, amountOf(day_usdt)))
  const leftOwn = max(ZERO, subtract(own, used))
  if (state.prices.of(config.currency) === 0n) return { limit: own, remain: leftOwn }
  return {
    limit: min(own, state.prices.fromUsdt(config.currency, limitUsdt)),
    remain: min(leftOwn, state.prices.fromUsdt(config.currency, leftUsdt)),
  }
}

export function countWithdrawal(
  ctx: Ctx,
  userId: number,
  currency: string,
  amount: Amount,
  usdt: Amount,
): void {
  const { state, tx, at } = ctx
  const usage = today(state, userId, at)
  const hour = hourOf(at)
  const from = hour - state.world.policy.velocity.hours
  const hours = usage.hours.filter(([earlier]) => earlier > from)
  const last = hours.at(-1)
  if (last?.[0] === hour) hours[hours.length - 1] = [hour, last[1] + 1, format(add(amountOf(last[2]), usdt))]
  else hours.push([hour, 1, format(usdt)])
  tx.put(state.wallet.withdrawals.usage, {
    user_id: userId,
    day: usage.day,
    day_usdt: format(add(amountOf(usage.day_usdt), usdt)),
    day_amounts: {
      ...usage.day_amounts,
      [currency]: format(add(amountOf(usage.day_amounts[currency] ?? '0'), amount)),
    },
    hours,
  })
}
/** A refund on the same day gives the day's limit back; the velocity rule still counts the request. */
export function uncountWithdrawal(
  ctx: Ctx,
  withdrawal: Pick<Withdrawal, 'user_id' | 'currency' | 'amount' | 'usdt' | 'at'>,
): void {
  const { state, tx, at } = ctx
  if (dayOf(withdrawal.at) !== dayOf(at)) return
  const usage = state.wallet.withdrawals.usage.get(withdrawal.user_id)
  if (usage?.day !== dayOf(at)) return
  const { currency } = withdrawal
  tx.put(state.wallet.withdrawals.usage, {
    ...usage,
    day_usdt: format(max(ZERO, subtract(amountOf(usage.day_usdt), withdrawal.usdt))),
    day_amounts: {
      ...usage.day_amounts,
      [currency]: format(
        max(ZERO, subtract(amountOf(usage.day_amounts[currency] ?? '0'), withdrawal.amount)),
      ),
    },
  })
}
/** Requests and worth of the last hours, in whole hours of the clock. */
export function recentUsage(
  state: State,
  userId: number,
  at: number,
  hours: number,
): { readonly count: number; readonly usdt: Amount } {
  const from = hourOf(at) - hours
  let count = 0
  let usdt = ZERO
  for (const [hour, requests, worth] of state.wallet.withdrawals.usage.get(userId)?.hours ?? []) {
    if (hour <= from) continue
    count += requests
    usdt = add(usdt, amountOf(worth))
  }
  return { count, usdt }
}
