import type { Flow } from '../flow.ts'

/** NONE is not shown: a blocked deposit about whose refund nobody has decided. */
export const REFUND_STATUSES = ['NONE', 'REFUNDING', 'REFUNDED', 'REFUND_FAILED', 'REJECTED'] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]
export type RefundEvent = 'refund' | 'pay' | 'fail' | 'reject' | 'reorganise'

/** What becomes of the coins of a blocked deposit. */
export const REFUND_FLOW: Flow<RefundStatus, RefundEvent> = {
  NONE: { refund: 'REFUNDING', reject: 'REJECTED' },
  REFUNDING: { pay: 'REFUNDED', fail: 'REFUND_FAILED' },
  REFUNDED: { reorganise: 'REFUNDING' },
  REFUND_FAILED: { refund: 'REFUNDING', reject: 'REJECTED' },
  REJECTED: { refund: 'REFUNDING' },
}
const KEPT = 'deposits.unclaimed'
export const REFUND_MONEY: Readonly<Record<RefundStatus, string>> = {
  NONE: KEPT,
  REFUNDING: `${KEPT} until the sender claims it, then withdrawal.in_flight`,
  REFUNDED: 'custody (net) and fees',
  REFUND_FAILED: KEPT,
  REJECTED: KEPT,
}
