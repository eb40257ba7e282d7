import { notFound, refuse } from '../../labels.ts'
import { schedule } from '../due.ts'
import { next } from '../flow.ts'
import { PLATFORM } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import { followRefund, givenBackTo, heldIn } from './refund-of.ts'
import { uncountWithdrawal } from './usage.ts'
import {
  DIVERSIONS,
  WITHDRAWAL_FLOW,
  type WithdrawalEvent,
  type WithdrawalStatus,
} from '../tables/withdrawal.flow.ts'
import { withdrawalId, type Withdrawal } from '../tables/withdrawals.ts'

export const IN_FLIGHT = { owner: PLATFORM, name: 'withdrawal.in_flight' } as const

/** One that is not over; what is over has left memory, and a caller can't change it either. */
export function withdrawalAt(ctx: Ctx, id: number): Withdrawal {
  return (
    ctx.state.wallet.withdrawals.table.get(id) ??
    notFound('INVALID_WITHDRAW_ID', `no withdrawal ${withdrawalId(id)}, or it was over long ago`)
  )
}
/** What operators may ask for in a status, by the names of their calls: the other events are the sender's and the chain's. */
function decisionsIn(status: WithdrawalStatus): string {
  const row = WITHDRAWAL_FLOW[status]
  const can = (['approve', 'reject', 'fail', 'retry'] as const).filter((event) => event in row)
  const held = Object.values(DIVERSIONS).some((event) => event in row)
  return [...can, ...(held ? ['divert'] : [])].join(', ') || 'nothing'
}
/** The status that an event leads to; an operator who asks for the impossible is told what is possible. */
export function stepTo(withdrawal: Withdrawal, event: WithdrawalEvent): WithdrawalStatus {
  const { status, id } = withdrawal
  return (
    next(WITHDRAWAL_FLOW, status, event) ??
    refuse(
      'INVALID_PARAM_VALUE',
      `withdrawal ${withdrawalId(id)} is ${status}: "${event}" is not possible now; operators can ask for ${decisionsIn(status)}`,
    )
  )
}
export function change(ctx: Ctx, withdrawal: Withdrawal, to: Partial<Withdrawal>): Withdrawal {
  const changed: Withdrawal = { ...withdrawal, ...to }
  ctx.tx.put(ctx.state.wallet.withdrawals.table, changed)
  if (changed.status !== withdrawal.status) followRefund(ctx, changed)
  return changed
}

/** spot.locked or in flight → spot. The day's limit comes back with it. */
export function refund(
  ctx: Ctx,
  withdrawal: Withdrawal,
  from: 'locked' | 'in_flight',
  kind: 'cancel_withdraw' | 'withdraw_rej',
): void {
  const { state } = ctx
  // What blocked a deposit has it still.
  if (from === 'locked' && withdrawal.refund_of !== 0) return
  const source = from === 'locked' ? heldIn(withdrawal) : IN_FLIGHT
  const back = givenBackTo(state, withdrawal)
  state.ledger.post(ctx, {
    kind,
    ref: `withdrawal:${withdrawal.id}`,
    lines: move(source, back, withdrawal.currency, withdrawal.amount),
  })
  uncountWithdrawal(ctx, withdrawal)
}

/** The owner takes it back. Against the sender's claim exactly one of the two wins, because both are commands. */
export function cancelWithdrawal(ctx: Ctx, input: { user_id: number; id: number }): Withdrawal {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.user_id !== input.user_id)
    notFound('INVALID_WITHDRAW_ID', `this account has no withdrawal ${withdrawalId(input.id)}`)
  const status = next(WITHDRAWAL_FLOW, withdrawal.status, 'cancel') ?? refuseUncancellable(withdrawal)
  const { cancel_seconds } = ctx.state.world.policy
  const cancelled = change(ctx, withdrawal, { status, holds: [], approvals: [] })
  // The answer is the record as the cancellation left it: nobody waits in vain for a state that is passed through.
  if (cancel_seconds === 0) refundCancelled(ctx, input)
  else schedule(ctx, ctx.at + cancel_seconds * 1e6, 'withdrawal.refund', { id: input.id })
  return cancelled
}
export const refuseUncancellable = ({ id, status }: Withdrawal): never =>
  refuse(
    'INVALID_WITHDRAW_CANCEL_STATUS',
    `withdrawal ${withdrawalId(id)} is ${status}; it can be cancelled only before it is sent`,
  )
/** Ends a cancellation; does nothing when it has been ended. */
export function refundCancelled(ctx: Ctx, input: { id: number }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.status !== 'CANCELPEND') return null
  refund(ctx, withdrawal, 'locked', 'cancel_withdraw')
  return change(ctx, withdrawal, {
    status: stepTo(withdrawal, 'refund'),
    fail_reason: 'cancelled by the user',
    done_at: ctx.at,
    final: true,
  })
}
