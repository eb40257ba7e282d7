import { newWithdrawal } from '../withdrawals/record.ts'
import { notFound, refuse } from '../../labels.ts'
import { amountOf, format } from '../../money/amount.ts'
import { readAddress, readTag } from '../chains/addresses.ts'
import { next } from '../flow.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'
import { PAUSED } from '../withdrawals/policy.ts'
import { withdrawalFee } from '../withdrawals/request.ts'
import { depositId, withdrawalId, type Hold } from '../tables/withdrawals.ts'
import type { Deposit } from '../tables/deposits.ts'
import { REFUND_FLOW, type RefundEvent, type RefundStatus } from '../tables/refund.flow.ts'

const refundStep = ({ id, refund_status }: Deposit, event: RefundEvent): RefundStatus =>
  next(REFUND_FLOW, refund_status, event) ??
  refuse(
    'INVALID_PARAM_VALUE',
    `deposit ${depositId(id)}: its refund is ${refund_status}; "${event}" is not possible now`,
  )
function blockedAt(ctx: Ctx, id: number): Deposit {
  const deposit =
    ctx.state.wallet.deposits.table.get(id) ??
    notFound('NOT_FOUND', `no deposit ${depositId(id)}, or it was over long ago`)
  if (deposit.status !== 'BLOCKED')
    refuse(
      'INVALID_PARAM_VALUE',
      `deposit ${depositId(id)} is ${deposit.status}; only a BLOCKED one is refunded`,
    )
  return deposit
}
function put(ctx: Ctx, deposit: Deposit, refund_status: RefundStatus): Deposit {
  const changed: Deposit = { ...deposit, refund_status }
  ctx.tx.put(ctx.state.wallet.deposits.table, changed)
  return changed
}

export interface NewRefund {
  readonly id: number
  readonly address: string
  readonly memo: string | null
  readonly reason: string
  readonly actor: string
}
/**
 * Sends the coins of a blocked deposit back, less the chain's withdrawal fee. The payment is a withdrawal of
 * nobody's (user 0), so that everything that holds for withdrawals holds for it: intent first, approvals, no second payment.
 */
export function refundDeposit(ctx: Ctx, input: NewRefund): Deposit {
  const { state, tx, at } = ctx
  const deposit = blockedAt(ctx, input.id)
  const refund_status = refundStep(deposit, 'refund')
  const chain = state.world.mustChain(deposit.chain)
  const confirms =
    deposit.height === null ? 0 : (state.wallet.tips.get(chain.chain)?.height ?? 0) - deposit.height + 1
  if (deposit.booked !== 'unclaimed' || confirms < chain.unlock_confirms)
    refuse(
      'INVALID_PARAM_VALUE',
      `deposit ${depositId(deposit.id)} has ${confirms} confirmations; it is refunded from ${chain.unlock_confirms} on`,
    )
  const address = readAddress(chain, input.address)
  const memo = readTag(chain, input.memo ?? '', 'memo')
  if (state.wallet.addresses.owner(chain.chain, address, memo) !== undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `address: ${address} belongs to this platform; refund to where it came from`,
    )
  const currency = state.world.currency(deposit.currency)
  const fee = withdrawalFee(state.world.currencyChain(currency, chain.chain), deposit.amount)
  if (deposit.amount <= fee)
    refuse(
      'AMOUNT_TOO_LITTLE',
      `deposit ${depositId(deposit.id)}: ${format(deposit.amount)} ${currency.currency} does not cover the fee of ${format(fee)}`,
    )
  const holds: Hold[] = []
  if (chain.paused) holds.push({ status: 'LOCKED', reason: PAUSED })
  // It leaves for an address that one operator has named: another one always looks at it.
  holds.push({
    status: 'MANUAL',
    reason:
      deposit.amount > amountOf(currency.approval_amount)
        ? `a refund, and above the approval amount of ${currency.approval_amount}`
        : 'a refund: another operator approves it',
  })
  const withdrawal = newWithdrawal(ctx, {
    user_id: 0,
    refund_of: deposit.id,
    withdraw_order_id: null,
    currency,
    chain: chain.chain,
    address,
    memo,
    amount: deposit.amount,
    fee,
    usdt: state.prices.worth(deposit.currency, deposit.amount),
    holds,
    requested_by: input.actor,
    internal_to: 0,
    send_at: at,
  })
  tx.put(state.wallet.withdrawals.table, withdrawal)
  const id = depositId(deposit.id)
  const detail = { id, withdrawal: withdrawalId(withdrawal.id), address, reason: input.reason }
  audit(ctx, input.actor, 'deposit.refund', detail)
  return put(ctx, deposit, refund_status)
}
/** The sender's wish for a refund is turned down; the coins stay with the platform. */
export function rejectRefund(ctx: Ctx, input: { id: number; reason: string; actor: string }): Deposit {
  const deposit = blockedAt(ctx, input.id)
  audit(ctx, input.actor, 'deposit.reject_refund', { id: depositId(input.id), reason: input.reason })
  return put(ctx, deposit, refundStep(deposit, 'reject'))
}
