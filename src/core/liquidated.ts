import type { Amount } from '../money/amount.ts'
import { nextId } from './counters.ts'
import type { Ctx } from './state.ts'
import { LIQUIDATION_STEP } from './tables/unified/records.ts'

/** A liquidation under way. */
export interface Liquidated {
  readonly id: number
  readonly user_id: number
  /** The unified account, the market of an isolated one, or of contracts: a position's contract, or the account of cross ones. */
  readonly scope: string
}
export type Step =
  | 'warned'
  | 'restricted'
  | 'recovered'
  | 'locked'
  | 'order_cancelled'
  | 'repaid'
  | 'sold'
  | 'hedge_closed'
  | 'liquidated'
  | 'taken_over'
  | 'deleveraged'
  | 'insured'
  | 'socialised'
  | 'unlocked'

/** Every step towards a liquidation, and of it, is a record. */
export function note(
  ctx: Ctx,
  { id, user_id, scope }: Liquidated,
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
