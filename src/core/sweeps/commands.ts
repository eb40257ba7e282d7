import { custodyOf, PLATFORM } from '../ledger/accounts.ts'
import { ZERO, amountOf, type Amount } from '../../money/amount.ts'
import { FINAL_DEPTH } from '../tables/tips.ts'
import { nextId } from '../counters.ts'
import { next } from '../flow.ts'
import type { Ctx } from '../state.ts'
import type { Outcome } from '../withdrawals/send.ts'
import type { Intent } from '../tables/withdrawals.ts'
import { SWEEP_FLOW, type SweepEvent } from '../tables/sweep.flow.ts'
import type { Sweep } from '../tables/sweeps.ts'

export interface NewSweep {
  readonly chain: string
  readonly kind: Sweep['kind']
  readonly currency: string
  readonly amount: string
  readonly address: string
  readonly intent: Intent
}
/** What is signed is on the disk before anybody outside hears of it. null: the address has one on its way. */
export function intendSweep(ctx: Ctx, input: NewSweep): Sweep | null {
  const { state, tx, at } = ctx
  const { sweeps, addresses } = state.wallet
  const { chain } = state.world.mustChain(input.chain)
  const owner = addresses.owner(chain, input.address, '')
  if (owner === undefined || sweeps.isBusy(chain, input.address)) return null
  const sweep: Sweep = {
    id: nextId(tx, state.counters, 'sweep'),
    chain,
    kind: input.kind,
    currency: input.currency,
    amount: amountOf(input.amount),
    address: input.address,
    user_id: owner.user_id,
    status: 'SIGNED',
    txid: input.intent.txid,
    intent: input.intent,
    block_number: 0,
    network_fee: ZERO,
    at,
    done_at: 0,
    final: false,
  }
  tx.put(sweeps.table, sweep)
  return sweep
}
function change(ctx: Ctx, sweep: Sweep, to: Partial<Sweep>): Sweep {
  const changed = { ...sweep, ...to }
  ctx.tx.put(ctx.state.wallet.sweeps.table, changed)
  return changed
}
/** null where the flow has no such step: somebody else was first. */
function step(ctx: Ctx, id: number, event: SweepEvent, to: Partial<Sweep> = {}): Sweep | null {
  const sweep = ctx.state.wallet.sweeps.table.get(id)
  const status = sweep === undefined ? undefined : next(SWEEP_FLOW, sweep.status, event)
  return status === undefined ? null : change(ctx, sweep!, { ...to, status })
}
export const sentSweep = (ctx: Ctx, input: { id: number }): Sweep | null => step(ctx, input.id, 'broadcast')
/** Its nonce was used by another transaction, so deep that this one is dead. */
export const dropSweep = (ctx: Ctx, input: { id: number }): Sweep | null =>
  step(ctx, input.id, 'drop', { done_at: ctx.at, final: true })
/** A dearer copy with the same nonce takes its place. */
export function replaceSweep(ctx: Ctx, input: { id: number; txid: string; intent: Intent }): Sweep | null {
  const sweep = ctx.state.wallet.sweeps.table.get(input.id)
  if (sweep?.status !== 'SENT' || sweep.txid !== input.txid) return null
  return change(ctx, sweep, { intent: input.intent, txid: input.intent.txid })
}

/** Brings a sweep in line with its chain; called for each one inside `chain.observe`. */
export function settleSweep(ctx: Ctx, id: number, outcome: Outcome, tip: number): void {
  let sweep = ctx.state.wallet.sweeps.table.get(id)
  if (sweep === undefined || sweep.status === 'SIGNED') return
  if (sweep.txid !== outcome.txid) {
    if (sweep.intent.replaced?.includes(outcome.txid) !== true) return
    sweep = change(ctx, sweep, { txid: outcome.txid })
  }
  const { min_confirms } = ctx.state.world.mustChain(sweep.chain)
  const confirms = outcome.height === null ? 0 : tip - outcome.height + 1
  const network_fee = outcome.height === null ? ZERO : amountOf(outcome.network_fee)
  if (sweep.status !== 'SENT') {
    const same = outcome.ok === (sweep.status === 'DONE') && network_fee === sweep.network_fee
    if (confirms > 0 && same) {
      const final = confirms >= FINAL_DEPTH
      if (final || outcome.height !== sweep.block_number)
        change(ctx, sweep, { block_number: outcome.height!, final })
      return
    }
    // A reorganisation took it, or turned it round: the fee comes back, and it settles anew.
    bookFee(ctx, sweep, -sweep.network_fee as Amount)
    const status = next(SWEEP_FLOW, sweep.status, 'reorganise')!
    sweep = change(ctx, sweep, { status, block_number: 0, network_fee: ZERO, done_at: 0 })
  }
  const block_number = outcome.height ?? 0
  if (confirms >= min_confirms) {
    const status = next(SWEEP_FLOW, sweep.status, outcome.ok ? 'confirm' : 'fail')!
    bookFee(ctx, sweep, network_fee)
    change(ctx, sweep, { status, block_number, network_fee, done_at: ctx.at })
  } else if (block_number !== sweep.block_number) change(ctx, sweep, { block_number, network_fee })
}
/** Custody pays what the chain took; below zero it is taken back. */
function bookFee(ctx: Ctx, { id, chain }: Sweep, fee: Amount): void {
  if (fee === 0n) return
  const { state } = ctx
  const { native: currency } = state.world.mustChain(chain)
  state.ledger.post(ctx, {
    kind: 'sweep_fee',
    ref: `sweep:${id}`,
    lines: [
      { owner: PLATFORM, name: 'network_fees', currency, amount: -fee as Amount },
      { ...custodyOf(chain), currency, amount: fee },
    ],
  })
}
