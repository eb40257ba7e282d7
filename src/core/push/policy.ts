import { HOUR } from '../time.ts'
import { refuse } from '../../labels.ts'
import { amountOf, format, type Amount } from '../../money/amount.ts'
import type { Ctx } from '../state.ts'
import { holdsOf, type PolicyFacts } from '../withdrawals/policy.ts'
import { passwordHours } from '../withdrawals/request.ts'
import { countWithdrawal, dayAllowance, recentUsage, uncountWithdrawal } from '../withdrawals/usage.ts'
import type { CurrencyConfig } from '../tables/world/config.ts'
import type { Push, PushPolicy } from '../tables/push.ts'

const NO_LIMIT = '1000000000000000'

/** A push under the rules of withdrawals (`push_transfers: checked`): limits first, as they refuse. */
export function checkPushLimits(ctx: Ctx, userId: number, config: CurrencyConfig, amount: Amount): void {
  const { state, at } = ctx
  const { currency } = config
  if (!config.withdraw_enabled)
    refuse('API_WITHDRAW_DISABLED', `currency: ${currency} can't leave an account for now`)
  const one = amountOf(config.withdraw_eachtime_limit)
  // What is on no chain has no limits of its own; the account's limit in USDT is for everything.
  const chained = config.chains.length > 0
  if (chained && amount > one)
    refuse(
      'WITHDRAWAL_OVER_LIMIT',
      `amount: ${format(amount)} ${currency} is above the limit of ${format(one)} for one payment`,
    )
  const limits = chained ? config : { ...config, withdraw_day_limit: NO_LIMIT }
  const { remain } = dayAllowance(state, state.users.must(userId), limits, at)
  if (amount > remain)
    refuse(
      'WITHDRAWAL_OVER_LIMIT',
      `amount: ${format(amount)} ${currency} is above what is left of the day's limit: ${format(remain)}`,
    )
}

/** What operators must look at before it goes; a receiver is new until it has been sent to for some time. */
export function judgePush(
  ctx: Ctx,
  userId: number,
  receiver: number,
  config: CurrencyConfig,
  amount: Amount,
): PushPolicy {
  const { state, tx, at } = ctx
  const { policy } = state.world
  const usdt = state.prices.worth(config.currency, amount)
  const contact = state.wallet.contacts.get(`${userId}/${receiver}`)
  if (contact === undefined)
    tx.put(state.wallet.contacts, { push_uid: userId, receive_uid: receiver, since: at })
  const facts: PolicyFacts = {
    amount,
    usdt,
    priced: !state.world.live || state.prices.of(config.currency) !== 0n,
    approvalAmount: config.chains.length > 0 ? amountOf(config.approval_amount) : amount,
    addressHours: contact === undefined ? null : (at - contact.since) / HOUR,
    freshness: 'the receiver was first sent to',
    passwordHours: passwordHours(state.users.must(userId), at),
    recent: recentUsage(state, userId, at, policy.velocity.hours),
    internal: true,
    chainPaused: false,
  }
  const holds = holdsOf(policy, facts)
  return {
    usdt: format(usdt),
    hold: holds.map(({ reason }) => reason).join('; '),
    needed: holds.some(({ status }) => status === 'MANUAL') ? config.approvals : 0,
    approvals: [],
  }
}
/** An operator's yes; with enough of them nothing holds it any more. */
export function approvePush(ctx: Ctx, push: Push, policy: PushPolicy, actor: string): Push {
  const { state, at } = ctx
  const approvals = state.operators.withApproval(policy.approvals, actor, at, 'operator')
  const needed =
    policy.needed === 0 ? 1 : Math.max(policy.needed, state.world.currency(push.currency).approvals)
  const done = approvals.length >= needed
  return { ...push, policy: { ...policy, approvals, ...(done && { hold: '' }) } }
}
/** A receiver that operators have refused is a stranger again. */
export function forgetContact({ state, tx }: Ctx, { push_uid, receive_uid }: Push): void {
  const key = `${push_uid}/${receive_uid}`
  if (state.wallet.contacts.get(key) !== undefined) tx.remove(state.wallet.contacts, key)
}

const spent = ({ push_uid, currency, amount, policy, at }: Push) => ({
  user_id: push_uid,
  currency,
  amount,
  usdt: amountOf(policy!.usdt),
  at,
})
export function countPush(ctx: Ctx, push: Push): void {
  const { user_id, currency, amount, usdt } = spent(push)
  countWithdrawal(ctx, user_id, currency, amount, usdt)
}
export const uncountPush = (ctx: Ctx, push: Push): void => uncountWithdrawal(ctx, spent(push))
