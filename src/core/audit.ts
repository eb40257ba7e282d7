import type { Ctx } from './state.ts'
import { nextId } from './counters.ts'
import { AUDIT, GENESIS_HASH, auditHash, type Actor } from './tables/audit.ts'

export function audit(ctx: Ctx, actor: Actor, action: string, detail: Record<string, unknown>): void {
  if (actor === null) return
  const { state, tx, at } = ctx
  const previous_hash = state.auditHeads.get('operator')?.hash ?? GENESIS_HASH
  const record = {
    id: nextId(tx, state.counters, 'audit'),
    at,
    operator: actor,
    action,
    detail,
    previous_hash,
  }
  const hash = auditHash(record)
  tx.append(AUDIT, { ...record, hash })
  tx.put(state.auditHeads, { chain: 'operator', hash })
}

/** For what an operator does outside the core's state, such as the sandbox's faults. */
export function auditNote(
  ctx: Ctx,
  input: { actor: string; action: string; detail: Record<string, unknown> },
): null {
  audit(ctx, input.actor, input.action, input.detail)
  return null
}
