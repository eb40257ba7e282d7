import { custodyOf, PLATFORM } from '../ledger/accounts.ts'
import { ZERO, amountOf, subtract, type Amount } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { next } from '../flow.ts'
import { move, type Line } from '../ledger/ledger.ts'
import { FINAL_DEPTH } from '../tables/tips.ts'
import type { Ctx, State } from '../state.ts'
import { familyOwes } from '../family.ts'
import { FROZEN, clearHold } from './decide.ts'
import { heldIn, isRefundable } from './refund-of.ts'
import { postNetworkFee } from './network-fee.ts'
import { IN_FLIGHT, change, stepTo, withdrawalAt } from './settle.ts'
import { WITHDRAWAL_FLOW } from '../tables/withdrawal.flow.ts'
import type { Intent, Withdrawal } from '../tables/withdrawals.ts'

/** What the receiver gets. */
export const netOf = ({ amount, fee }: Withdrawal): Amount => subtract(amount, fee)

/** REQUEST → PROCES: from here on it can't be cancelled. null: somebody else was first. */
export function claimWithdrawal(ctx: Ctx, input: { id: number }): Withdrawal | null {
  const { state } = ctx
  const withdrawal = state.wallet.withdrawals.table.get(input.id)
  if (withdrawal === undefined) return null
  const status = next(WITHDRAWAL_FLOW, withdrawal.status, 'claim')
  if (status === undefined || withdrawal.internal_to !== 0) return null
  // Since it was asked for a reorganisation may have taken something back, or the account been frozen.
  const reason = whyNot(state, withdrawal)
  if (reason !== undefined) {
    const holds = [{ status: 'REVIEW', reason } as const]
    change(ctx, withdrawal, { status: stepTo(withdrawal, 'review'), holds })
    return null
  }
  state.ledger.post(ctx, {
    kind: 'withdraw_sent',
    ref: `withdrawal:${withdrawal.id}`,
    lines: move(heldIn(withdrawal), IN_FLIGHT, withdrawal.currency, withdrawal.amount),
  })
  return change(ctx, withdrawal, { status })
}
function whyNot(state: State, { user_id, refund_of }: Withdrawal): string | undefined {
  if (refund_of !== 0) return isRefundable(state, refund_of) ? undefined : GONE
  return state.users.must(user_id).state === 2 ? FROZEN : familyOwes(state, user_id)
}
/** Others' money lies beside it. */
const GONE = 'the deposit is gone from its chain; there is nothing to send back'
/** The hot wallet can't pay it now. */
export function holdForFunds(ctx: Ctx, input: { id: number }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.status !== 'REQUEST') return null
  return change(ctx, withdrawal, {
    status: stepTo(withdrawal, 'dmove'),
    holds: [{ status: 'DMOVE', reason: SHORT }],
  })
}
/** The hot wallet can pay again: back to the sender. */
export function releaseForFunds(ctx: Ctx, input: { id: number }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  return withdrawal !== undefined && waitsForFunds(withdrawal) ? clearHold(ctx, withdrawal) : null
}
const SHORT = 'the hot wallet is short'
/** What an operator has put there stays, whatever its reason says. */
export const waitsForFunds = ({ status, holds }: Withdrawal): boolean =>
  status === 'DMOVE' && holds[0]?.by === undefined && holds[0]?.reason === SHORT

/** PROCES → PEND: the signed transaction is on the disk before anybody outside hears of it. */
export function intendWithdrawal(ctx: Ctx, input: { id: number; intent: Intent }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.status !== 'PROCES') return null
  return change(ctx, withdrawal, {
    status: stepTo(withdrawal, 'sign'),
    intent: input.intent,
    txid: input.intent.txid,
    attempt: withdrawal.attempt + 1,
  })
}
/** PEND → EXTPEND: the chain has it. */
export function sentWithdrawal(ctx: Ctx, input: { id: number; txid: string }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.status !== 'PEND' || withdrawal.txid !== input.txid) return null
  return change(ctx, withdrawal, { status: stepTo(withdrawal, 'broadcast') })
}
/**
 * PEND or EXTPEND → PROCES: somebody else used the key, and so deep that the signed transaction is dead. It is signed
 * anew; the chain was asked, and nothing of it was paid.
 */
export function displaceWithdrawal(ctx: Ctx, input: { id: number; txid: string }): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.txid !== input.txid) return null
  const status = next(WITHDRAWAL_FLOW, withdrawal.status, 'displace')
  if (status === undefined) return null
  schedule(ctx, ctx.at, 'chain.wake', { chain: withdrawal.chain })
  return change(ctx, withdrawal, { status, intent: null, txid: '', block_number: 0, network_fee: ZERO })
}
/** A dearer copy of the same payment (same nonce) takes its place; only one of them can ever be mined. */
export function replaceIntent(
  ctx: Ctx,
  input: { id: number; txid: string; intent: Intent },
): Withdrawal | null {
  const withdrawal = ctx.state.wallet.withdrawals.table.get(input.id)
  if (withdrawal?.status !== 'EXTPEND' || withdrawal.txid !== input.txid) return null
  return change(ctx, withdrawal, { intent: input.intent, txid: input.intent.txid })
}

/** What a chain says of a transaction that we sent. */
export interface Outcome {
  readonly txid: string
  /** null: in no block (waiting, or unknown to the chain). */
  readonly height: number | null
  /** Whether it moved the money; a failed one is in its block too. */
  readonly ok: boolean
  /** What the chain took for it, in its own coin. */
  readonly network_fee: string
}
/** Brings a withdrawal in line with its chain; called for each one inside `chain.observe`. */
export function settleOutcome(ctx: Ctx, id: number, outcome: Outcome, tip: number): void {
  let withdrawal = withdrawalAt(ctx, id)
  if (withdrawal.txid !== outcome.txid) {
    if (withdrawal.intent?.replaced?.includes(outcome.txid) !== true) return
    withdrawal = change(ctx, withdrawal, { txid: outcome.txid })
  }
  const chain = ctx.state.world.mustChain(withdrawal.chain)
  const block_number = outcome.height ?? 0
  const confirms = outcome.height === null ? 0 : tip - outcome.height + 1
  if (withdrawal.status === 'DONE') {
    if (confirms >= FINAL_DEPTH && outcome.ok) {
      change(ctx, withdrawal, { block_number, final: true })
      return
    }
    if (outcome.height === null || !outcome.ok) {
      post(ctx, withdrawal, -1n)
      const status = stepTo(withdrawal, 'reorganise')
      change(ctx, withdrawal, { status, block_number, network_fee: ZERO, done_at: 0 })
    } else if (block_number !== withdrawal.block_number) change(ctx, withdrawal, { block_number })
    return
  }
  if (withdrawal.status === 'FAIL') {
    const gone = outcome.height === null || outcome.ok
    if (withdrawal.block_number === 0) {
      // An operator's word came before the chain's: what the chain took for it is an expense all the same.
      if (gone) return
      const network_fee = amountOf(outcome.network_fee)
      postNetworkFee(ctx, withdrawal, network_fee, 'withdraw_failed')
      change(ctx, withdrawal, { block_number, network_fee })
      return
    }
    if (!gone) {
      if (block_number !== withdrawal.block_number) change(ctx, withdrawal, { block_number })
      return
    }
    // A reorganisation revived it: it is on its way again, and pays if the chain says so.
    postNetworkFee(ctx, withdrawal, -withdrawal.network_fee as Amount, 'withdraw_reorganised')
    const status = stepTo(withdrawal, 'reorganise')
    withdrawal = change(ctx, withdrawal, { status, block_number: 0, network_fee: ZERO, fail_reason: '' })
  }
  if (withdrawal.status !== 'EXTPEND') return
  // A failure counts when it is as deep as a success must be: a reorganisation may turn it round.
  if (confirms >= chain.min_confirms) {
    if (!outcome.ok) {
      const status = stepTo(withdrawal, 'fail')
      const network_fee = amountOf(outcome.network_fee)
      postNetworkFee(ctx, withdrawal, network_fee, 'withdraw_failed')
      change(ctx, withdrawal, { status, block_number, network_fee, fail_reason: FAILED })
      return
    }
    const paid = { ...withdrawal, network_fee: amountOf(outcome.network_fee) }
    post(ctx, paid, 1n)
    change(ctx, paid, { status: stepTo(withdrawal, 'confirm'), block_number, done_at: ctx.at })
  } else if (block_number !== withdrawal.block_number) {
    const network_fee = outcome.height === null ? ZERO : amountOf(outcome.network_fee)
    change(ctx, withdrawal, { block_number, network_fee, fail_reason: outcome.ok ? '' : FAILED })
  }
}
const FAILED = 'failed on its chain'
/** in flight → custody (net) and fees; the chain's own fee is the platform's expense. */
function post(ctx: Ctx, withdrawal: Withdrawal, sign: 1n | -1n): void {
  const { state } = ctx
  const { currency, amount, fee, network_fee: networkFee } = withdrawal
  const chain = state.world.mustChain(withdrawal.chain)
  const custody = custodyOf(chain.chain)
  const times = (value: Amount): Amount => (value * sign) as Amount
  const paid: Line[] = [
    { ...IN_FLIGHT, currency, amount: times(-amount as Amount) },
    { ...custody, currency, amount: times(netOf(withdrawal)) },
  ]
  if (fee > 0n) paid.push({ owner: PLATFORM, name: 'fees', currency, amount: times(fee) })
  const ref = `withdrawal:${withdrawal.id}`
  const kind = sign === 1n ? 'withdraw_done' : 'withdraw_reorganised'
  state.ledger.post(ctx, { kind, ref, lines: paid })
  postNetworkFee(ctx, withdrawal, times(networkFee), kind)
}
