import type { Ctx } from '../state.ts'
import { lookAtMark } from './risk.ts'

/** What looks at a contract whose mark, index or last price is another one now: liquidation, and what waits for a price. */
export type MarkHook = (ctx: Ctx, contract: string) => void
const HOOKS: readonly MarkHook[] = [
  lookAtMark,
  ({ state }, contract) => state.futures.waiting.touch(contract),
]

export function afterMark(ctx: Ctx, contract: string): void {
  for (const hook of HOOKS) hook(ctx, contract)
}
