import type { Ctx } from '../state.ts'
import { lookAtMark } from './risk.ts'

/** What looks at a contract whose mark, index or last price is another one now: liquidation. */
export type MarkHook = (ctx: Ctx, contract: string) => void
const HOOKS: readonly MarkHook[] = [lookAtMark]

export function afterMark(ctx: Ctx, contract: string): void {
  for (const hook of HOOKS) hook(ctx, contract)
}
