import type { Ctx } from '../state.ts'
import { audit, type Actor } from '../operators/audit.ts'
import { LIVE, type WorldConfig } from './world.ts'

/** Takes the configuration into the state: at first start, and when the file has changed since. */
export function configureWorld(ctx: Ctx, input: { config: WorldConfig }): null {
  ctx.tx.put(ctx.state.world.settings, { name: 'world', value: input.config })
  return null
}

/** Whether money is real here: told at every start, so that the rules that depend on it are replayed as they were. */
export function setLive(ctx: Ctx, input: { live: boolean }): null {
  ctx.tx.put(ctx.state.world.settings, { name: LIVE, value: { live: input.live } })
  return null
}

/** The sandbox clock's distance from the wall clock; kept so that it survives a restart. */
export function setClock(ctx: Ctx, input: { offset: number; actor: Actor }): null {
  ctx.tx.put(ctx.state.world.settings, { name: 'clock', value: { offset: input.offset } })
  audit(ctx, input.actor, 'clock.set', { offset_seconds: input.offset / 1e6 })
  return null
}
