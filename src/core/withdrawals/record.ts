import { ZERO, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import type { Hold, Withdrawal } from '../tables/withdrawals.ts'
import type { CurrencyConfig } from '../tables/world/config.ts'

/** What a new withdrawal is told; the rest of its record begins the same for all. */
export interface WithdrawalBegun extends Pick<
  Withdrawal,
  | 'user_id'
  | 'refund_of'
  | 'withdraw_order_id'
  | 'chain'
  | 'address'
  | 'memo'
  | 'requested_by'
  | 'internal_to'
  | 'send_at'
> {
  readonly currency: CurrencyConfig
  readonly amount: Amount
  readonly fee: Amount
  readonly usdt: Amount
  readonly holds: readonly Hold[]
}
/** Draws its numbers; whoever asks puts it, and moves the money. */
export function newWithdrawal({ state, tx, at }: Ctx, given: WithdrawalBegun): Withdrawal {
  const { user_id, holds } = given
  const { currency, asset_class, approvals } = given.currency
  const id = nextId(tx, state.counters, 'withdrawal')
  const ordinal = (name: string): number => nextId(tx, state.counters, `w:${user_id}${name}`)
  return {
    id,
    user_id,
    refund_of: given.refund_of,
    withdraw_order_id: given.withdraw_order_id,
    currency,
    chain: given.chain,
    address: given.address,
    memo: given.memo,
    amount: given.amount,
    fee: given.fee,
    usdt: given.usdt,
    asset_class,
    status: holds[0]?.status ?? 'REQUEST',
    holds,
    approvals: [],
    approvals_needed: approvals,
    requested_by: given.requested_by,
    internal_to: given.internal_to,
    txid: '',
    intent: null,
    attempt: 0,
    block_number: 0,
    network_fee: ZERO,
    fail_reason: '',
    send_at: given.send_at,
    at,
    done_at: 0,
    final: false,
    ordinal: ordinal(''),
    currency_ordinal: ordinal(`:${currency}`),
    class_ordinal: ordinal(`:@${asset_class}`),
  }
}
