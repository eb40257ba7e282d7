import { next } from '../flow.ts'
import { UNCLAIMED, lockedName, spotOf } from '../ledger/accounts.ts'
import { REFUND_FLOW, type RefundEvent } from '../tables/refund.flow.ts'
import type { Ctx } from '../state.ts'
import type { WithdrawalStatus } from '../tables/withdrawal.flow.ts'
import type { Withdrawal } from '../tables/withdrawals.ts'

/** Where the money waits for the sender: what blocked a deposit still has, or what the user's account holds for it. */
export const heldIn = ({ user_id, refund_of }: Withdrawal) =>
  refund_of === 0 ? { owner: user_id, name: lockedName('spot') } : UNCLAIMED
/** Where it goes when nothing comes of it. */
export const givenBackTo = ({ user_id, refund_of }: Withdrawal) =>
  refund_of === 0 ? spotOf(user_id) : UNCLAIMED

const EVENTS: Partial<Record<WithdrawalStatus, RefundEvent>> = {
  DONE: 'pay',
  CANCEL: 'fail',
  REJECT: 'fail',
  INVALID: 'fail',
  EXTPEND: 'reorganise',
}
/** A deposit shows how far its refund is. */
export function followRefund({ state, tx }: Ctx, { refund_of, status }: Withdrawal): void {
  const { table } = state.wallet.deposits
  const deposit = refund_of === 0 ? undefined : table.get(refund_of)
  const event = EVENTS[status]
  if (deposit === undefined || event === undefined) return
  const refund_status = next(REFUND_FLOW, deposit.refund_status, event)
  if (refund_status !== undefined) tx.put(table, { ...deposit, refund_status })
}
