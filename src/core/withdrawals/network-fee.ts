import { custodyOf, PLATFORM } from '../ledger/accounts.ts'
import type { Amount } from '../../money/amount.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx } from '../state.ts'
import type { Withdrawal } from '../tables/withdrawals.ts'

/** Custody pays what the chain took; below zero it is taken back. */
export function postNetworkFee(ctx: Ctx, withdrawal: Withdrawal, fee: Amount, kind: string): void {
  if (fee === 0n) return
  const { state } = ctx
  const { chain, native } = state.world.mustChain(withdrawal.chain)
  const lines: Line[] = [
    { owner: PLATFORM, name: 'network_fees', currency: native, amount: -fee as Amount },
    { ...custodyOf(chain), currency: native, amount: fee },
  ]
  state.ledger.post(ctx, { kind, ref: `withdrawal:${withdrawal.id}`, lines })
}
