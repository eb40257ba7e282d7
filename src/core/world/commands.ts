import type { Ctx } from '../state.ts'
import { audit, type Actor } from '../operators/audit.ts'
import type { WorldConfig } from './world.ts'

/** Takes the configuration into the state: at first start, and when the file has changed since. */
export function configureWorld(ctx: Ctx, input: { config: WorldConfig }): null {
  ctx.tx.put(ctx.state.world.settings, { name: 'world', value: input.config })
  return null
}

/** Marks a new database with the mode that it is made in; it stays that. */
export function markMode(ctx: Ctx, input: { mode: 'sandbox' | 'live' }): null {
  const { settings } = ctx.state.world
  if (settings.get('mode') === undefined) ctx.tx.put(settings, { name: 'mode', value: input.mode })
  return null
}

/** The sandbox clock's distance from the wall clock; kept so that it survives a restart. */
export function setClock(ctx: Ctx, input: { offset: number; actor: Actor }): null {
  ctx.tx.put(ctx.state.world.settings, { name: 'clock', value: { offset: input.offset } })
  audit(ctx, input.actor, 'clock.set', { offset_seconds: input.offset / 1e6 })
  return null
}
