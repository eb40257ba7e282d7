import { refuse } from '../../labels.ts'
import { decimalsOf, format, min, type Amount } from '../../money/amount.ts'
import { audit } from '../audit.ts'
import { nextId } from '../counters.ts'
import { EQUITY, PLATFORM, contractInsurance, spotOf } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import { positiveAmount } from '../positive.ts'
import type { Ctx, State } from '../state.ts'
import type { Actor } from '../tables/audit.ts'
import type { Transfer } from '../tables/transfers.ts'

/** What the platform earns, and may pay out. */
export const EARNINGS = ['fees', 'interest'] as const
export type Earning = (typeof EARNINGS)[number]

export interface Payout {
  readonly from: Earning
  readonly currency: string
  readonly amount: string
  readonly user_id: number
  readonly reason: string
  readonly actor: Actor
}

/** So much of an earning may go: not what the networks' fees have eaten already. */
export function payableOf({ ledger }: State, from: Earning, currency: string): Amount {
  const balance = (name: Earning | 'network_fees'): Amount => ledger.balance(PLATFORM, name, currency)
  const earned = (balance('fees') + balance('interest') + balance('network_fees')) as Amount
  const payable = min(balance(from), earned)
  return payable > 0n ? payable : (0n as Amount)
}

/**
 * Earnings → a main account's spot account. From there they leave as anybody's money does: by a withdrawal, under the
 * policy and the approvals that hold for all.
 */
export function payEarnings(ctx: Ctx, input: Payout): Transfer {
  const { state, tx, at } = ctx
  const user = state.users.get(input.user_id) ?? refuse('USER_NOT_FOUND', `no user ${input.user_id}`)
  if (user.parent_id !== 0)
    refuse('INVALID_PARAM_VALUE', `user_id: ${user.user_id} is a sub-account; name a main account`)
  const { currency } = state.world.currency(input.currency)
  const amount = positiveAmount(input.amount)
  const payable = payableOf(state, input.from, currency)
  if (amount > payable)
    refuse(
      'BALANCE_NOT_ENOUGH',
      `amount: ${format(payable)} ${currency} of the ${input.from} can be paid out; what the networks took is not among it`,
    )
  const tx_id = nextId(tx, state.counters, 'transfer')
  state.ledger.post(ctx, {
    // In the account book money from outside is a deposit: clients know no other word for it.
    kind: 'deposit',
    ref: `transfer:${tx_id}`,
    lines: move({ owner: PLATFORM, name: input.from }, spotOf(user.user_id), currency, amount),
  })
  const record: Transfer = {
    tx_id,
    kind: 'credit',
    user_id: user.user_id,
    from_user: PLATFORM,
    from_account: 'unknown',
    to_user: user.user_id,
    to_account: 'spot',
    currency,
    amount,
    settle: '',
    currency_pair: '',
    client_order_id: null,
    at,
  }
  tx.put(state.transfers, record)
  const { from, reason } = input
  audit(ctx, input.actor, 'treasury.payout', {
    from,
    currency,
    amount: format(amount),
    user_id: user.user_id,
    reason,
    tx_id,
  })
  return record
}

/** Operator equity → the insurance fund of contracts of a settle currency. */
export function fundInsurance(ctx: Ctx, input: { settle: string; amount: string; actor: Actor }): null {
  const { state, tx } = ctx
  const settle = input.settle.toLowerCase()
  const known = new Set([...state.world.settles('futures'), ...state.world.settles('delivery')])
  if (!known.has(settle))
    refuse('INVALID_PARAM_VALUE', `settle: "${input.settle}" is not one of ${[...known].join(', ')}`)
  const { currency, precision } = state.world.currency(settle)
  const amount = positiveAmount(input.amount)
  if (decimalsOf(amount) > precision)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: "${input.amount}" has more than ${currency}'s ${precision} decimals`,
    )
  const ref = `fund:${nextId(tx, state.counters, 'fund')}`
  state.ledger.post(ctx, {
    kind: 'fund',
    ref,
    lines: move(EQUITY, contractInsurance(settle), currency, amount),
  })
  audit(ctx, input.actor, 'insurance.fund', { settle, amount: format(amount) })
  return null
}
