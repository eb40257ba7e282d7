import { notFound } from '../labels.ts'
import { nextId } from './counters.ts'
import { audit } from './audit.ts'
import type { Actor } from './tables/audit.ts'
import type { Ctx } from './state.ts'
import type { DueWork, DueCommand, FailedItem } from './tables/due.ts'

export function schedule<C extends DueCommand>(ctx: Ctx, at: number, command: C, input: DueWork[C]): number {
  const id = nextId(ctx.tx, ctx.state.counters, 'due')
  ctx.tx.put(ctx.state.due.table, { id, at, command, input })
  return id
}
export function unschedule(ctx: Ctx, id: number): void {
  if (ctx.state.due.table.get(id) !== undefined) ctx.tx.remove(ctx.state.due.table, id)
}

/** The ticker's answer to an item that failed: a bug in one kind of work must not stop all others. */
export function setAside(ctx: Ctx, input: { id: number; error: string }): null {
  const { due } = ctx.state
  const item = due.table.get(input.id)
  if (item === undefined) return null
  ctx.tx.remove(due.table, item.id)
  ctx.tx.put(due.failed, { ...item, error: input.error, failed_at: ctx.at })
  return null
}
interface Decision {
  readonly id: number
  readonly actor: Actor
}
function decided(ctx: Ctx, { id, actor }: Decision, action: string): FailedItem {
  const item = ctx.state.due.failed.get(id) ?? notFound('NOT_FOUND', `no due item ${id} has been put aside`)
  ctx.tx.remove(ctx.state.due.failed, id)
  audit(ctx, actor, action, { id, command: item.command, input: item.input })
  return item
}
/** Back among what is due, at the time it always had. */
export function retryFailed(ctx: Ctx, input: Decision): FailedItem {
  const item = decided(ctx, input, 'due.retry')
  const { id, at, command, input: given } = item
  ctx.tx.put(ctx.state.due.table, { id, at, command, input: given })
  return item
}
export const dropFailed = (ctx: Ctx, input: Decision): FailedItem => decided(ctx, input, 'due.drop')
