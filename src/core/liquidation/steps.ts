import type { Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'
import { LIQUIDATION_STEP } from '../tables/unified/records.ts'

/** A liquidation under way, as its commands carry it. */
export interface Liquidation {
  readonly id: number
  readonly user_id: number
  readonly scope: string
  readonly tries: number
}
export type Step =
  | 'warned'
  | 'restricted'
  | 'recovered'
  | 'locked'
  | 'order_cancelled'
  | 'repaid'
  | 'sold'
  | 'liquidated'
  | 'taken_over'
  | 'insured'
  | 'socialised'
  | 'unlocked'

/** Every step towards a liquidation, and of it, is a record. */
export function note(
  ctx: Ctx,
  { id, user_id, scope }: Omit<Liquidation, 'tries'>,
  step: Step,
  currency: string,
  amount: Amount,
  detail: Readonly<Record<string, unknown>> = {},
): void {
  ctx.tx.append(LIQUIDATION_STEP, {
    id: nextId(ctx.tx, ctx.state.counters, 'liquidation_step'),
    liquidation: id,
    user_id,
    scope,
    step,
    currency,
    amount,
    detail,
    at: ctx.at,
  })
}
