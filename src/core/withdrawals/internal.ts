import { spotOf, lockedName } from '../ledger/accounts.ts'
import { nextId } from '../counters.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import type { Deposit } from '../tables/deposits.ts'
import { withdrawalId, type Withdrawal } from '../tables/withdrawals.ts'

/** sender's spot.locked → receiver's spot: no fee, no chain, both records DONE at once. */
export function payInternally(ctx: Ctx, withdrawal: Withdrawal): Withdrawal {
  const { state, tx, at } = ctx
  const { id, currency, amount, chain, address, memo } = withdrawal
  const receiver = withdrawal.internal_to
  const txid = `internal-${withdrawalId(id)}`
  state.ledger.post(ctx, {
    kind: 'deposit',
    ref: `withdrawal:${id}`,
    lines: move({ owner: withdrawal.user_id, name: lockedName('spot') }, spotOf(receiver), currency, amount),
  })
  const deposit: Deposit = {
    id: nextId(tx, state.counters, 'deposit'),
    user_id: receiver,
    chain,
    txid,
    output: 0,
    currency,
    amount,
    address,
    memo,
    status: 'DONE',
    height: null,
    booked: 'user',
    reason: '',
    refund_status: 'NONE',
    final: true,
    at,
    ordinal: nextId(tx, state.counters, `d:${receiver}`),
    currency_ordinal: nextId(tx, state.counters, `d:${receiver}:${currency}`),
  }
  tx.put(state.wallet.deposits.table, deposit)
  const done: Withdrawal = { ...withdrawal, status: 'DONE', holds: [], txid, done_at: at, final: true }
  tx.put(state.wallet.withdrawals.table, done)
  return done
}
