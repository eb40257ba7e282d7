import { next } from '../flow.ts'
import { EQUITY, UNCLAIMED, lockedName, spotOf } from '../ledger/accounts.ts'
import { REFUND_FLOW, type RefundEvent } from '../tables/refund.flow.ts'
import type { Ctx, State } from '../state.ts'
import type { Deposit } from '../tables/deposits.ts'
import type { WithdrawalStatus } from '../tables/withdrawal.flow.ts'
import { isWaiting, type Withdrawal } from '../tables/withdrawals.ts'

/** Where the money waits for the sender: what blocked a deposit still has, or what the user's account holds for it. */
export const heldIn = ({ user_id, refund_of }: Withdrawal) =>
  refund_of === 0 ? { owner: user_id, name: lockedName('spot') } : UNCLAIMED
/** Where it goes when nothing comes of it. For a deposit that is gone from its chain the operator has stood in. */
export function givenBackTo(state: State, { user_id, refund_of }: Withdrawal) {
  if (refund_of === 0) return spotOf(user_id)
  return isRefundable(state, refund_of) ? UNCLAIMED : EQUITY
}
/** The coins of the deposit are there. One that has left memory is too deep in its chain to be taken away. */
export const isRefundable = ({ wallet }: State, depositId: number): boolean =>
  wallet.deposits.table.get(depositId)?.booked !== 'none'
/**
 * Whose money a deposit is that is nobody's yet: what waits for a decision, or, once its refund is on the way, the
 * operator's. He has paid for it, so he bears it when the deposit goes, and has it back when it comes again.
 */
export const unclaimedOf = (state: State, deposit: Deposit) => (hasLeft(state, deposit) ? EQUITY : UNCLAIMED)
function hasLeft({ wallet }: State, { id, chain, refund_status }: Deposit): boolean {
  if (refund_status !== 'REFUNDING') return refund_status === 'REFUNDED'
  return wallet.withdrawals.unsettled(chain).some((one) => one.refund_of === id && !isWaiting(one))
}

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
