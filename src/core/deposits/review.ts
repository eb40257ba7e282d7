import { notFound, refuse } from '../../labels.ts'
import { nextId } from '../counters.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'
import { depositId } from '../tables/withdrawals.ts'
import { DEPOSIT_FLOW, type DepositEvent, type DepositStatus } from '../tables/deposit.flow.ts'
import type { Deposit } from '../tables/deposits.ts'
import { depositStep, settleDeposit } from './observe.ts'

interface Decision {
  readonly id: number
  readonly reason: string
  readonly actor: string
}
/** What operators may ask for in a status: the other events are the chain's. */
const decisionsIn = (status: DepositStatus): string =>
  (['hold', 'release', 'block'] as const).filter((event) => event in DEPOSIT_FLOW[status]).join(', ') ||
  'nothing'
function decide(ctx: Ctx, input: Decision, event: DepositEvent): Deposit {
  const deposit =
    ctx.state.wallet.deposits.table.get(input.id) ??
    notFound('NOT_FOUND', `no deposit ${depositId(input.id)}, or it was over long ago`)
  const status =
    depositStep(deposit, event) ??
    refuse(
      'INVALID_PARAM_VALUE',
      `deposit ${depositId(input.id)} is ${deposit.status}: "${event}" is not possible now; operators can ask for ${decisionsIn(deposit.status)}`,
    )
  if (deposit.refund_status === 'REFUNDING' || deposit.refund_status === 'REFUNDED')
    refuse(
      'INVALID_PARAM_VALUE',
      `deposit ${depositId(input.id)} is ${deposit.refund_status}: its coins are on their way back`,
    )
  audit(ctx, input.actor, `deposit.${event}`, { id: depositId(input.id), reason: input.reason })
  const changed: Deposit = { ...deposit, status, reason: input.reason, refund_status: 'NONE' }
  ctx.tx.put(ctx.state.wallet.deposits.table, changed)
  return changed
}
const settled = (ctx: Ctx, deposit: Deposit): Deposit =>
  settleDeposit(ctx, deposit, ctx.state.wallet.tips.get(deposit.chain)?.height ?? 0)

/** Before it is credited: REVIEW. */
export function holdDeposit(ctx: Ctx, input: Decision): Deposit {
  const reason = input.reason === '' ? 'held by an operator' : input.reason
  return settled(ctx, decide(ctx, { ...input, reason }, 'hold'))
}
export function blockDeposit(ctx: Ctx, input: Decision): Deposit {
  const reason = input.reason === '' ? 'blocked by an operator' : input.reason
  return settled(ctx, decide(ctx, { ...input, reason }, 'block'))
}
/** Goes on as far as its depth allows. What came without a known memo needs to be told whose it is. */
export function releaseDeposit(ctx: Ctx, input: Decision & { user_id: number | null }): Deposit {
  const { state, tx } = ctx
  const known = state.wallet.deposits.table.get(input.id)
  let owner = known?.user_id ?? 0
  if (owner === 0 && known !== undefined) {
    if (input.user_id === null)
      refuse(
        'MISSING_REQUIRED_PARAM',
        `Missing required parameter: user_id; nobody's memo came with ${depositId(input.id)}`,
      )
    owner = (state.users.get(input.user_id) ?? refuse('USER_NOT_FOUND', `user_id: no user ${input.user_id}`))
      .user_id
  }
  const deposit = decide(ctx, input, 'release')
  if (deposit.user_id === owner) return settled(ctx, deposit)
  const assigned: Deposit = {
    ...deposit,
    user_id: owner,
    at: ctx.at,
    ordinal: nextId(tx, state.counters, `d:${owner}`),
    currency_ordinal: nextId(tx, state.counters, `d:${owner}:${deposit.currency}`),
  }
  tx.put(state.wallet.deposits.table, assigned)
  return settled(ctx, assigned)
}
