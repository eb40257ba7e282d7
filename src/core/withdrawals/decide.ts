import { refuse } from '../../labels.ts'
import { ZERO, format, parseAmount } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { audit } from '../audit.ts'
import type { Ctx, State } from '../state.ts'
import { next } from '../flow.ts'
import { refuseOwing } from '../family.ts'
import { payInternally } from './internal.ts'
import { PAUSED } from './policy.ts'
import { refuseFrozen } from './request.ts'
import { postNetworkFee } from './network-fee.ts'
import { change, refund, stepTo, withdrawalAt } from './settle.ts'
import { DIVERSIONS, HOLD_STATUSES, WITHDRAWAL_FLOW, type HoldStatus } from '../tables/withdrawal.flow.ts'
import { withdrawalId, type Hold, type Withdrawal } from '../tables/withdrawals.ts'

/** What the operator saw when approving; members that are given must be what is recorded. */
export interface Statement {
  readonly amount?: string
  readonly currency?: string
  readonly chain?: string
  readonly address?: string
}
function checkStatement(withdrawal: Withdrawal, statement: Statement): void {
  const differs = (name: keyof Statement, recorded: string): void => {
    const given = statement[name]
    if (given !== undefined && given !== recorded)
      refuse(
        'INVALID_PARAM_VALUE',
        `${name}: the approval says "${given}", the withdrawal says "${recorded}"; nothing was approved`,
      )
  }
  if (statement.amount !== undefined && parseAmount(statement.amount) !== withdrawal.amount)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: the approval says "${statement.amount}", the withdrawal says another`,
    )
  differs('currency', withdrawal.currency)
  differs('chain', withdrawal.chain)
  differs('address', withdrawal.address)
}

interface Decision {
  readonly id: number
  readonly reason: string
  readonly actor: string
  /** The one that its chain was asked about: of another one nobody knows whether the chain still pays it. */
  readonly attempt?: number
}
function refuseResent(withdrawal: Withdrawal, { attempt }: Decision): void {
  if (attempt !== undefined && attempt !== withdrawal.attempt)
    refuse(
      'INVALID_PARAM_VALUE',
      `withdrawal ${withdrawalId(withdrawal.id)} was sent again meanwhile, as attempt ${withdrawal.attempt}; look at it, and decide again`,
    )
}
/** One operator's yes to the present hold. With enough of them the next hold, or the sender, has it. */
export function approveWithdrawal(ctx: Ctx, input: Decision & { statement: Statement }): Withdrawal {
  const withdrawal = withdrawalAt(ctx, input.id)
  stepTo(withdrawal, 'approve')
  const { state } = ctx
  if (withdrawal.requested_by === input.actor)
    refuse('FORBIDDEN', `operator "${input.actor}" asked for this withdrawal; somebody else must approve it`)
  if (state.world.live && withdrawal.holds[0]?.by === input.actor)
    refuse('FORBIDDEN', `operator "${input.actor}" put this withdrawal here; somebody else must approve it`)
  if (withdrawal.refund_of === 0) refuseLeaving(state, withdrawal)
  checkStatement(withdrawal, input.statement)
  audit(ctx, input.actor, 'withdrawal.approve', {
    id: withdrawalId(withdrawal.id),
    status: withdrawal.status,
    reason: input.reason,
    // What was approved, in full, whether the operator repeated it or not.
    statement: {
      amount: format(withdrawal.amount),
      currency: withdrawal.currency,
      chain: withdrawal.chain,
      address: withdrawal.address,
      memo: withdrawal.memo,
    },
  })
  const approvals = state.operators.withApproval(withdrawal.approvals, input.actor, ctx.at, 'operator')
  const needed = withdrawal.status === 'MANUAL' ? approvalsNeeded(state, withdrawal) : 1
  if (approvals.length < needed) return change(ctx, withdrawal, { approvals })
  return clearHold(ctx, { ...withdrawal, approvals })
}
/** N is what it was when it was asked for; a higher one since counts, a lower one does not. */
const approvalsNeeded = (state: State, { currency, approvals_needed }: Withdrawal): number =>
  Math.max(approvals_needed, state.world.currency(currency).approvals)

/** Nothing is let go for somebody who is frozen or owes, nor to a frozen account. */
function refuseLeaving(state: State, { id, user_id, internal_to }: Withdrawal): void {
  if (state.users.must(user_id).state === 2)
    refuse('RISK_ERROR', `withdrawal ${withdrawalId(id)}: account ${user_id} is frozen; lift that first`)
  refuseOwing(state, user_id)
  if (internal_to !== 0) refuseFrozen(state, internal_to, 'address')
}
/** The first hold is cleared; the next one, the sender or the receiver comes next. */
export function clearHold(ctx: Ctx, withdrawal: Withdrawal): Withdrawal {
  const holds = withdrawal.holds.slice(1)
  const following = holds[0]
  if (following !== undefined)
    return change(ctx, withdrawal, { status: following.status, holds, approvals: [] })
  const released = change(ctx, withdrawal, { status: 'REQUEST', holds, send_at: ctx.at })
  if (released.internal_to !== 0) return payInternally(ctx, released)
  schedule(ctx, ctx.at, 'chain.wake', { chain: withdrawal.chain })
  return released
}

/** Before it was sent: REJECT. After it failed on its chain: CANCEL. The money goes back either way. */
export function rejectWithdrawal(ctx: Ctx, input: Decision): Withdrawal {
  const withdrawal = withdrawalAt(ctx, input.id)
  refuseResent(withdrawal, input)
  const status = stepTo(withdrawal, 'reject')
  const failed = withdrawal.status === 'FAIL'
  refund(ctx, withdrawal, failed ? 'in_flight' : 'locked', failed ? 'cancel_withdraw' : 'withdraw_rej')
  const fallback = failed ? 'failed on its chain' : 'rejected by the platform'
  audit(ctx, input.actor, 'withdrawal.reject', { id: withdrawalId(withdrawal.id), reason: input.reason })
  return change(ctx, withdrawal, {
    status,
    holds: [],
    fail_reason: input.reason === '' ? withdrawal.fail_reason || fallback : input.reason,
    done_at: ctx.at,
    final: true,
  })
}

/** Puts it before a hold of the operator's choice, or ends it as INVALID with a refund. */
export function divertWithdrawal(ctx: Ctx, input: Decision & { status: string }): Withdrawal {
  const withdrawal = withdrawalAt(ctx, input.id)
  const { status } = input
  audit(ctx, input.actor, 'withdrawal.divert', {
    id: withdrawalId(withdrawal.id),
    status,
    reason: input.reason,
  })
  if (status === 'INVALID') {
    const to = stepTo(withdrawal, 'invalidate')
    refund(ctx, withdrawal, 'locked', 'withdraw_rej')
    return change(ctx, withdrawal, {
      status: to,
      holds: [],
      fail_reason: input.reason || 'invalid',
      done_at: ctx.at,
      final: true,
    })
  }
  if (!(HOLD_STATUSES as readonly string[]).includes(status))
    refuse('INVALID_PARAM_VALUE', `status: "${status}" is not one of ${HOLD_STATUSES.join(', ')}, INVALID`)
  const hold = status as HoldStatus
  stepTo(withdrawal, DIVERSIONS[hold])
  const others = withdrawal.holds.filter((other) => other.status !== hold)
  return change(ctx, withdrawal, {
    status: hold,
    holds: [{ status: hold, reason: input.reason || 'diverted by an operator', by: input.actor }, ...others],
    approvals: [],
  })
}

/** The chain's word, or an operator's after the chain was told to forget the transaction. */
export function failWithdrawal(ctx: Ctx, input: Decision): Withdrawal {
  const withdrawal = withdrawalAt(ctx, input.id)
  refuseResent(withdrawal, input)
  // The chain's own report may have come first.
  if (withdrawal.status === 'FAIL') return withdrawal
  const status = stepTo(withdrawal, 'fail')
  audit(ctx, input.actor, 'withdrawal.fail', { id: withdrawalId(withdrawal.id), reason: input.reason })
  // It is in a block: what the chain took for it is spent.
  if (withdrawal.block_number > 0) postNetworkFee(ctx, withdrawal, withdrawal.network_fee, 'withdraw_failed')
  return change(ctx, withdrawal, { status, fail_reason: input.reason || 'failed by an operator' })
}
/** Signs and sends it again, as a new transaction: the failed one can't be mined any more. */
export function retryWithdrawal(ctx: Ctx, input: Decision): Withdrawal {
  const withdrawal = withdrawalAt(ctx, input.id)
  refuseResent(withdrawal, input)
  const status = stepTo(withdrawal, 'retry')
  audit(ctx, input.actor, 'withdrawal.retry', { id: withdrawalId(withdrawal.id), reason: input.reason })
  schedule(ctx, ctx.at, 'chain.wake', { chain: withdrawal.chain })
  return change(ctx, withdrawal, {
    status,
    intent: null,
    txid: '',
    block_number: 0,
    network_fee: ZERO,
    fail_reason: '',
  })
}
/** Withdrawals that one command looks at; the rest follows at once. The sender claims nothing of a paused chain. */
const PORTION = 100
/** Pausing a chain holds what was not sent yet; going on releases what the pause held. */
export function pauseWithdrawals(ctx: Ctx, input: { chain: string; paused: boolean; after: number }): null {
  const { chain, paused } = input
  // It has been paused, or has gone on, since this portion was planned.
  if (ctx.state.world.findChain(chain)?.paused !== paused) return null
  const portion: Withdrawal[] = []
  for (const withdrawal of ctx.state.wallet.withdrawals.unsettledAfter(chain, input.after)) {
    portion.push(withdrawal)
    if (portion.length === PORTION) break
  }
  for (const withdrawal of portion) {
    if (paused && withdrawal.status === 'REQUEST')
      change(ctx, withdrawal, { status: 'LOCKED', holds: [{ status: 'LOCKED', reason: PAUSED }] })
    else if (!paused && isPauseHold(withdrawal.holds[0])) clearHold(ctx, withdrawal)
  }
  if (portion.length === PORTION)
    schedule(ctx, ctx.at, 'chain.pause', { chain, paused, after: portion.at(-1)!.id })
  return null
}
/** Only what the pause itself held: an operator's own hold stays, whatever its reason says. */
const isPauseHold = (hold: Hold | undefined): boolean =>
  hold?.status === 'LOCKED' && hold.by === undefined && hold.reason === PAUSED

/** What is left of a freeze: up to `count` of an account's withdrawals that the sender has not claimed go to REVIEW. */
export function reviewWaiting(ctx: Ctx, userId: number, upTo: number, count: number): number {
  let done = 0
  for (const withdrawal of ctx.state.wallet.withdrawals.waitingOf(userId)) {
    if (done === count || withdrawal.id > upTo) break
    const status = next(WITHDRAWAL_FLOW, withdrawal.status, 'review')
    if (status === undefined || isFreezeHold(withdrawal.holds[0])) continue
    const others = withdrawal.holds.filter((hold) => hold.status !== 'REVIEW')
    const holds = [{ status: 'REVIEW', reason: FROZEN } as const, ...others]
    change(ctx, withdrawal, { status, holds, approvals: [] })
    done++
  }
  return done
}
export const FROZEN = 'the account was frozen'
const isFreezeHold = (hold: Hold | undefined): boolean =>
  hold?.status === 'REVIEW' && hold.by === undefined && hold.reason === FROZEN
