import { ZERO, type Amount } from '../../money/amount.ts'
import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'
import type { AccountPath } from './inputs.ts'

/** What the fill ratio of perpetual contracts is made of; dated ones have no such limit. */

/** A placement, cancellation or amendment. */
export function countRequest(ctx: Ctx, { user_id, group }: AccountPath): void {
  if (group === 'futures') ctx.state.futures.activity.add(ctx.tx, user_id, ctx.at, 1, ZERO)
}

/** Weights: by contract in tenths, by role in hundredths. */
const FULL_WEIGHT = new Set(['futures/usdt/BTC_USDT', 'futures/usdt/ETH_USDT'])
const ROLE_WEIGHT = { maker: 100n, taker: 90n }
export function countVolume(
  ctx: Ctx,
  contract: Contract,
  userId: number,
  role: 'maker' | 'taker',
  value: Amount,
): void {
  if (contract.group !== 'futures') return
  const { state, tx, at } = ctx
  const weight = (FULL_WEIGHT.has(contract.id) ? 10n : 4n) * ROLE_WEIGHT[role]
  const inUsdt = contract.currency === 'USDT' ? value : state.prices.worth(contract.currency, value)
  state.futures.activity.add(tx, userId, at, 0, ((inUsdt * weight) / 1000n) as Amount)
}
